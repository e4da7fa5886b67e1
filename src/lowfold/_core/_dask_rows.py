"""Rows as Dask has them: the only place that knows Dask.

Every block is worked on by a pure task, so that a lost worker's tasks are repeated elsewhere; any scheduler will do
(threads, processes, `distributed` and what speaks like it). Values that all tasks need are sent once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import getitem
from typing import Any
from uuid import uuid4

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.rows import Merge, Shaped, StoredRows, block_rows, float_type, placed_in_blocks
from lowfold._core.types import AnyFloats, Ints

INLINE = 1_000_000  # bytes of a shared value that travel with the tasks; a larger one is put on every worker first
PATIENCE = 10  # seconds for a cluster to answer
WAVE = 16  # blocks that are asked for at a time where they only pass through this process


def is_dask(X: object) -> bool:
    """Whether X is an array or a table of Dask; nothing is loaded for this."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


class DaskRows(Shaped):
    """Rows whose blocks are tasks of Dask, or are read by the tasks that work on them (`over`)."""

    jobs: int | None = 1

    def __init__(self, parts: Sequence[Any], starts: Ints, columns: int, dtype: Any) -> None:
        self.parts, self.starts, self.columns, self.dtype = list(parts), starts, int(columns), float_type(dtype)

    @classmethod
    def of(cls, X: Any) -> DaskRows:
        """The rows of a Dask array or table, cut as it is cut, chunks too small for a task of their own joined."""
        if not hasattr(X, "to_delayed") or hasattr(X, "to_dask_array"):
            X = X.to_dask_array(lengths=True)
        if X.ndim != 2 or np.isnan(X.shape[0]):
            raise InvalidInput(
                f"a Dask array must have rows and columns of known numbers; got shape {X.shape}; "
                "X.compute_chunk_sizes() counts them"
            )
        D, most = int(X.shape[1]), block_rows(int(X.shape[1]))
        X = X.rechunk({0: _joined(X.chunks[0], most), 1: -1})
        return cls(list(X.to_delayed()[:, 0]), np.append(0, np.cumsum(X.chunks[0])).astype(np.int64), D, X.dtype)

    @classmethod
    def over(cls, rows: StoredRows) -> DaskRows:
        """Rows that every worker can read itself: a task reads its block, and no block is sent."""
        kept = _sent(rows)
        return cls([_Stored(kept, i) for i in range(len(rows.starts) - 1)], rows.starts, rows.columns, rows.dtype)

    def __reduce__(self) -> Any:
        raise InvalidInput("rows of a cluster belong to this session; lowfold.save copies them into the model's file")

    def _on(self, tasks: _Tasks, i: int, f: Callable[..., Any], *shared: Any) -> Any:
        part = tasks.held(*_split(self.parts[i]))
        return tasks.add(_on_block, os.getpid(), f, *part, int(self.starts[i]), self.dtype.name, *shared)

    def block(self, i: int) -> AnyFloats:
        tasks = _Tasks()
        found: AnyFloats = tasks.computed([self._on(tasks, i, _itself)])[0]
        return found

    def take(self, rows: Ints) -> AnyFloats:
        out = np.empty((len(rows), self.columns), dtype=self.dtype)
        asked, tasks = list(placed_in_blocks(self.starts, rows)), _Tasks()
        found = tasks.computed([self._on(tasks, i, _picked, within) for i, _, within in asked])
        for (_, places, _), taken in zip(asked, found):
            out[places] = taken
        return out

    def map(self, f: Callable[..., Any], *shared: Any) -> Iterator[Any]:
        sent = [_sent(value) for value in shared]
        for first in range(0, len(self.parts), WAVE):
            tasks = _Tasks()
            wave = range(first, min(first + WAVE, len(self.parts)))
            yield from tasks.computed([self._on(tasks, i, f, *tasks.held(*sent)) for i in wave])

    def fold(self, f: Callable[..., Any], merge: Merge, *shared: Any) -> Any:
        tasks = _Tasks()
        sent = tasks.held(*(_sent(value) for value in shared))
        return tasks.tree([self._on(tasks, i, f, *sent) for i in range(len(self.parts))], merge)

    def pairs(self, f: Callable[..., tuple[Any, Any]], merge: Merge, *shared: Any) -> Iterator[Any]:
        tasks = _Tasks()
        sent = tasks.held(*(_sent(value) for value in shared))
        parts = [(*tasks.held(*_split(part)), int(start)) for part, start in zip(self.parts, self.starts)]
        found: list[Any] = [None] * len(parts)

        def kept(i: int, result: Any) -> None:
            found[i] = result if found[i] is None else tasks.add(_merged, merge, found[i], result)

        for i, mine in enumerate(parts):
            for j, theirs in enumerate(parts[i:], start=i):
                pair = tasks.add(_on_pair, os.getpid(), f, *mine, *theirs, self.dtype.name, *sent)
                kept(i, tasks.add(getitem, pair, 0))
                if j > i:
                    kept(j, tasks.add(getitem, pair, 1))
        yield from tasks.computed(found)

    def lazily(self, f: Callable[..., AnyFloats], width: int, dtype: Any, *shared: Any) -> Any:
        da = load_extra("dask.array", "dask", "rows of Dask")
        tasks = _Tasks()
        sent = tasks.held(*(_sent(value) for value in shared))
        made = tasks.delayed([self._on(tasks, i, f, *sent) for i in range(len(self.parts))])
        counts = np.diff(self.starts)
        return da.concatenate([da.from_delayed(t, (int(n), width), dtype=dtype) for t, n in zip(made, counts)])

    # Work that is not on blocks: `graph._apart.Workers`.

    @property
    def room(self) -> float:
        """Bytes of memory of all workers; 0 where the work is done in this process."""
        client = _client()
        if client is None:
            return 0.0
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        return float(sum(worker["memory_limit"] for worker in workers))

    def sent(self, value: Any) -> Any:
        """A value put on every worker, for `shared` of many calls; it stays there as long as this is kept."""
        return _sent(value)

    def each(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], *shared: Any) -> Sequence[Any]:
        """f(*item, *shared) of every item."""
        tasks = _Tasks()
        return tasks.computed(tasks.of_items(f, items, shared))

    def merged(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], merge: Merge, *shared: Any) -> Any:
        """The same, merged two by two in a fixed tree."""
        tasks = _Tasks()
        return tasks.tree(tasks.of_items(f, items, shared), merge)

    def staying(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], *shared: Any) -> Sequence[Any]:
        """The same, left where it was made; a lost one is made again, as long as what was sent for it is kept."""
        dask, tasks = load_extra("dask", "dask", "rows of Dask"), _Tasks()
        kept: Sequence[Any] = dask.persist(*tasks.delayed(tasks.of_items(f, items, shared)))
        return kept


class _Stored:
    """Block i of stored rows that are sent once."""

    def __init__(self, rows: Any, i: int) -> None:
        self.rows, self.i = rows, i


def _split(part: Any) -> tuple[Any, int]:
    """A task that is the block, and -1; or the stored rows and the number of the block."""
    return (part.rows, part.i) if isinstance(part, _Stored) else (part, -1)


def _joined(chunks: Sequence[int], most: int) -> tuple[int, ...]:
    """Neighbouring chunks joined as long as they have at most so many rows, larger ones cut: fixed by the array alone.

    >>> _joined((2, 2, 2, 9), 4)
    (4, 2, 4, 4, 1)
    """
    out: list[int] = []
    for size in chunks:
        if out and out[-1] + size <= most:
            out[-1] += size
        else:
            out += [most] * (size // most) + ([size % most] if size % most else [])
    return tuple(out)


# What tasks do --------------------------------------------------------------------------------------------------------


def _array(part: Any, i: int, dtype: str) -> AnyFloats:
    return np.ascontiguousarray(part if i < 0 else part.block(i), dtype=dtype)


def _on_block(home: int, f: Callable[..., Any], part: Any, i: int, start: int, dtype: str, *shared: Any) -> Any:
    _settle(home)
    return f(_array(part, i, dtype), start, *shared)


def _on_pair(
    home: int, f: Callable[..., Any], A: Any, i: int, a: int, B: Any, j: int, b: int, dtype: str, *shared: Any
) -> Any:
    _settle(home)
    return f(_array(A, i, dtype), a, _array(B, j, dtype), b, *shared)


def _on_item(home: int, f: Callable[..., Any], *args: Any) -> Any:
    _settle(home)
    return f(*args)


def _merged(merge: Merge, a: Any, b: Any) -> Any:
    return merge(a, b)


def _itself(block: AnyFloats, start: int) -> AnyFloats:
    return block


def _picked(block: AnyFloats, start: int, within: Ints) -> AnyFloats:
    return block[within]


def _settle(home: int) -> None:
    """BLAS at one thread, once in the life of a worker; in the caller's own process `_computed` does it."""
    if os.getpid() != home:
        _quiet()


@cache
def _quiet() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


# Dask itself ----------------------------------------------------------------------------------------------------------


class _Tasks:
    """The tasks of one call as one plain graph: with a layer for each, Dask walks all of them again for every one."""

    def __init__(self) -> None:
        self.graph: dict[Any, Any] = {}
        self.name = f"lowfold-{uuid4().hex}"

    def held(self, *values: Any) -> list[Any]:
        """Values as tasks have them: what is itself a task of Dask comes into the graph, and its key stands for it."""
        return [
            self._key(value) if hasattr(value, "__dask_graph__") and hasattr(value, "dask") else value
            for value in values
        ]

    def _key(self, value: Any) -> Any:
        if value.key not in self.graph:
            self.graph.update(dict(value.dask))
        return value.key

    def add(self, f: Callable[..., Any], *args: Any) -> str:
        key = f"{self.name}-{len(self.graph)}"
        self.graph[key] = (f, *args)
        return key

    def of_items(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], shared: Sequence[Any]) -> list[str]:
        """A task f(*item, *shared) for every item."""
        sent = self.held(*(_sent(value) for value in shared))
        return [self.add(_on_item, os.getpid(), f, *self.held(*item), *sent) for item in items]

    def tree(self, level: list[str], merge: Merge) -> Any:
        """The tasks merged two by two, computed."""
        while len(level) > 1:
            rest = level[len(level) // 2 * 2 :]
            level = [self.add(_merged, merge, a, b) for a, b in zip(level[::2], level[1::2])] + rest
        return self.computed(level)[0]

    def delayed(self, keys: Sequence[str]) -> list[Any]:
        made = load_extra("dask.delayed", "dask", "rows of Dask").Delayed
        return [made(key, self.graph) for key in keys]

    def computed(self, keys: Sequence[str]) -> Sequence[Any]:
        return _computed(self.delayed(keys))


def _computed(tasks: Sequence[Any]) -> Sequence[Any]:
    """What the tasks give, brought here: the one place where bytes arrive."""
    dask = load_extra("dask", "dask", "rows of Dask")
    with single_threaded_blas():
        found: Sequence[Any] = dask.compute(*tasks)
    return found


def _sent(value: Any) -> Any:
    """A value for all tasks: with them where it is small, else once to every worker."""
    if type(value).__module__.split(".")[0] in ("dask", "distributed"):  # sent before
        return value
    dask = load_extra("dask", "dask", "rows of Dask")
    cloudpickle = load_extra("cloudpickle", "dask", "rows of Dask")  # functions without a name travel too
    task, client = dask.delayed(value, traverse=False), _client()
    if client is None or len(cloudpickle.dumps(value)) <= INLINE:
        return task
    # Kept as a task, not scattered: the scheduler can make it again when the workers that hold it are lost.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PB"}):
        return client.persist(task)


def _client() -> Any:
    """The cluster's client that Dask would use, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def connected(address: str | None, workers: int | None) -> Any:
    """A client of the cluster at `address`, or of so many new processes on this machine, one thread each."""
    distributed = load_extra("distributed", "dask", "a cluster")
    if address is not None:
        try:
            return distributed.Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"no cluster answers at {address} ({error}); its scheduler prints an address such as tcp://10.0.0.1:8786"
            ) from error
    return distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
