"""Rows that stay where they are: on disk, or in the memory of a cluster. Work goes to their blocks, and what comes back
is small.

`Rows` is what methods ask of them; `StoredRows` (files and arrays that can be sliced) works on one block after another
in this process, `_dask_rows.DaskRows` on any scheduler of Dask. Results never depend on who works: blocks are fixed,
and partial results are merged in the order of the blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import AnyFloats, Ints

BLOCK_BYTES = 64_000_000  # of a block in float64: half a second of work or more, and small against any memory

Merge = Callable[[Any, Any], Any]


@runtime_checkable
class Rows(Protocol):
    """Rows in blocks. A function f of a block is called as f(block, number of its first row, *shared).

    starts  first row of every block, and the number of rows
    jobs    threads for the work on one block: None is all cores, 1 where other blocks are worked on at the same time
    """

    starts: Ints
    jobs: int | None

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def block(self, i: int) -> AnyFloats:
        """Block i, in memory."""
        ...

    def take(self, rows: Ints) -> AnyFloats:
        """Some rows, in memory, in the order asked for."""
        ...

    def map(self, f: Callable[..., Any], *shared: Any) -> Iterator[Any]:
        """f of every block, in order."""
        ...

    def fold(self, f: Callable[..., Any], merge: Merge, *shared: Any) -> Any:
        """f of every block, merged two by two in a tree that the number of blocks alone decides."""
        ...

    def pairs(self, f: Callable[..., tuple[Any, Any]], merge: Merge, *shared: Any) -> Iterator[Any]:
        """For every block i, in order: what f says of it in all pairs, merged in the order of the other block.

        f(block i, its first row, block j, its first row, *shared) -> (for i, for j) is called once for i <= j; the
        second is not used where i = j.
        """
        ...

    def lazily(self, f: Callable[..., AnyFloats], width: int, dtype: Any, *shared: Any) -> Any:
        """f of every block as rows again, `width` columns each, computed when they are asked for."""
        ...


def fold_tree(items: Iterator[Any], merge: Merge) -> Any:
    """Neighbours merged two by two, then the results of that, and so on; at most log2 of them are held.

    >>> fold_tree(iter("abcde"), lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    held: list[tuple[int, Any]] = []  # (rank, result); ranks fall
    for item in items:
        rank = 0
        while held and held[-1][0] == rank:
            item, rank = merge(held.pop()[1], item), rank + 1
        held.append((rank, item))
    if not held:
        raise InvalidInput("there are no rows; at least one block is needed")
    _, out = held.pop()
    while held:
        out = merge(held.pop()[1], out)
    return out


def cut(n: int, rows: int) -> Ints:
    """Starts of blocks of so many rows, and n."""
    return np.append(np.arange(0, max(n, 1), max(rows, 1)), n).astype(np.int64)


def block_rows(columns: int) -> int:
    """Rows of a block."""
    return max(1, BLOCK_BYTES // max(8 * columns, 1))


def existing(starts: Ints, rows: Ints) -> Ints:
    """The numbers of rows, known to be there."""
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) and not (rows.min() >= 0 and rows.max() < starts[-1]):
        raise InvalidInput(f"rows must lie in 0..{starts[-1] - 1}; got {rows.min()} to {rows.max()}")
    return rows


def placed_in_blocks(starts: Ints, rows: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """(block, places in `rows`, rows within the block) for every block that holds some of them."""
    rows = existing(starts, rows)
    home = np.searchsorted(starts, rows, side="right") - 1
    order = np.argsort(home, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        if len(places):
            i = int(home[places[0]])
            yield i, places, rows[places] - starts[i]


def float_type(dtype: Any) -> np.dtype[Any]:
    """float32 stays; all other numbers become float64."""
    given = np.dtype(dtype)
    if given.kind not in "fiub":
        raise InvalidInput(f"rows must be numbers; got {given}")
    return np.dtype(np.float32 if given == np.float32 else np.float64)


class Shaped:
    """What rows cut at `starts` are like, wherever they are."""

    starts: Ints
    columns: int
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.starts[-1]), self.columns

    @property
    def ndim(self) -> int:
        return 2

    @property
    def nbytes(self) -> int:
        """Of all rows, in the type that they are worked on."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, D = self.shape
        return f"<{type(self).__name__}: {n} x {D}, {self.dtype}, {len(self.starts) - 1} blocks>"


class StoredRows(Shaped, ABC):
    """Rows of which one block at a time is in memory. A kind of them says how a block is read."""

    jobs: int | None = None

    def __init__(self, starts: Ints, columns: int, dtype: Any) -> None:
        self.starts = np.asarray(starts, dtype=np.int64)
        self.columns = int(columns)
        self.dtype = float_type(dtype)

    @abstractmethod
    def read(self, i: int) -> NDArray[Any]:
        """Block i as it is stored."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All rows in memory: what `np.asarray(rows)` asks for. Nothing in lowfold does."""
        return np.concatenate(list(self)).astype(dtype or self.dtype, copy=False)

    def __iter__(self) -> Iterator[AnyFloats]:
        return (self.block(i) for i in range(len(self.starts) - 1))

    def block(self, i: int) -> AnyFloats:
        return np.ascontiguousarray(self.read(i), dtype=self.dtype)

    def take(self, rows: Ints) -> AnyFloats:
        out = np.empty((len(rows), self.columns), dtype=self.dtype)
        for i, places, within in placed_in_blocks(self.starts, rows):
            out[places] = self.block(i)[within]
        return out

    def map(self, f: Callable[..., Any], *shared: Any) -> Iterator[Any]:
        for i, start in enumerate(self.starts[:-1]):
            yield f(self.block(i), int(start), *shared)

    def fold(self, f: Callable[..., Any], merge: Merge, *shared: Any) -> Any:
        return fold_tree(self.map(f, *shared), merge)

    def pairs(self, f: Callable[..., tuple[Any, Any]], merge: Merge, *shared: Any) -> Iterator[Any]:
        starts = [int(start) for start in self.starts[:-1]]
        found: list[Any] = [None] * len(starts)

        def kept(i: int, result: Any) -> None:
            found[i] = result if found[i] is None else merge(found[i], result)

        for i, start in enumerate(starts):
            A = self.block(i)
            for j in range(i, len(starts)):
                mine, theirs = f(A, start, A if j == i else self.block(j), starts[j], *shared)
                kept(i, mine)
                if j > i:
                    kept(j, theirs)
            yield found[i]
            found[i] = None

    def lazily(self, f: Callable[..., AnyFloats], width: int, dtype: Any, *shared: Any) -> MappedRows:
        return MappedRows(self, f, shared, width, dtype)


class ArrayRows(StoredRows):
    """Rows of an array with `shape` that can be sliced: a memory map, Zarr, HDF5.

    `open_again` the array in another process, where it came from a file.
    """

    def __init__(self, array: Any, *, open_again: Callable[[], Any] | None = None) -> None:
        if len(array.shape) != 2 or 0 in array.shape:
            raise InvalidInput(f"an array read in blocks must have rows and columns; got shape {tuple(array.shape)}")
        n, D = (int(side) for side in array.shape)
        chunk = int((getattr(array, "chunks", None) and array.chunks[0]) or 1)  # whole chunks: each is unpacked once
        rows = block_rows(D)
        kind = array.dtype if hasattr(array, "dtype") else np.asarray(array[:1]).dtype
        super().__init__(cut(n, rows - rows % chunk if rows > chunk else rows), D, kind)
        self.array, self.open_again = array, open_again

    def read(self, i: int) -> NDArray[Any]:
        first, last = int(self.starts[i]), int(self.starts[i + 1])
        if is_whole_map(self.array):
            return _from_file(self.array, first, last)
        return np.asarray(self.array[first:last])

    def take(self, rows: Ints) -> AnyFloats:
        if isinstance(self.array, np.ndarray):  # a memory map reads the pages of these rows alone
            return np.ascontiguousarray(self.array[existing(self.starts, rows)], dtype=self.dtype)
        return super().take(rows)

    def __getstate__(self) -> dict[str, Any]:
        if self.open_again is None:
            raise InvalidInput(
                f"this {type(self.array).__name__} has no file that another process could open; give its path, or a "
                "Dask array"
            )
        return {**vars(self), "array": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.array = state["open_again"]()


def is_whole_map(array: Any) -> bool:
    """Whether rows of the array lie one after the other in a file, from its offset on."""
    if not isinstance(array, np.memmap) or isinstance(array.base, np.memmap):
        return False
    return array.filename is not None and array.flags.c_contiguous


def _from_file(array: np.memmap[Any, Any], first: int, last: int) -> NDArray[Any]:
    """Rows read, not mapped: pages of a map count as memory of the process, and a cluster ends workers with much."""
    assert array.filename is not None
    shape, offset = (last - first, array.shape[1]), array.offset + first * array.strides[0]
    return np.fromfile(array.filename, array.dtype, shape[0] * shape[1], offset=offset).reshape(shape)


class CutRows(StoredRows):
    """Rows of an array in memory, cut where others are."""

    def __init__(self, array: AnyFloats, starts: Ints) -> None:
        super().__init__(starts, array.shape[1], array.dtype)
        self.array = array

    def read(self, i: int) -> NDArray[Any]:
        return self.array[int(self.starts[i]) : int(self.starts[i + 1])]


class MappedRows(StoredRows):
    """What a function makes of the blocks of other rows, computed when a block is asked for."""

    def __init__(
        self, rows: StoredRows, f: Callable[..., AnyFloats], shared: Sequence[Any], width: int, dtype: Any
    ) -> None:
        super().__init__(rows.starts, width, dtype)
        self.rows, self.f, self.shared = rows, f, tuple(shared)

    def read(self, i: int) -> NDArray[Any]:
        return self.f(self.rows.block(i), int(self.starts[i]), *self.shared)


@dataclass(frozen=True, eq=False)
class Extent:
    """What the first pass over rows finds: the range of every column, and whether some values are missing."""

    low: AnyFloats
    high: AnyFloats
    gaps: bool

    def joined(self, other: Extent) -> Extent:
        """Of both."""
        return Extent(np.fmin(self.low, other.low), np.fmax(self.high, other.high), self.gaps or other.gaps)


def first_pass(rows: Rows, *, gaps: bool = False) -> Extent:
    """The extent of the rows; raises with row and column where a value is not finite. `gaps` allows NaN."""
    extent: Extent = rows.fold(_extent, Extent.joined, gaps)
    return extent


def _extent(block: AnyFloats, start: int, gaps: bool) -> Extent:
    missing = np.isnan(block) if gaps else None
    bad = np.argwhere(~np.isfinite(block) if missing is None else np.isinf(block))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise InvalidInput(
            f"X has {block[row, column]} at row {start + row}, column {column}; finite numbers are needed"
            + ("" if gaps else ": drop those rows, fill the gaps, or use EMPCA, which takes NaN")
        )
    low, high = np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)
    return Extent(low, high, missing is not None and bool(missing.any()))
