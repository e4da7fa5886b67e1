"""From what a user has (paths, memory maps, Zarr, HDF5, Parquet, Dask) to `Rows`; what is in memory is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core._dask_rows import DaskRows, is_dask
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.memory import fits
from lowfold._core.rows import ArrayRows, Rows, StoredRows, block_rows, cut

MAPPED = 1 / 4  # of the memory budget: a memory map up to this size is worked on as an array, which copies it
PARQUET, ZARR, HDF5 = (".parquet", ".pq"), (".zarr",), (".h5", ".hdf5")
ENDINGS = (".npy", *PARQUET, *ZARR, *HDF5)


def as_rows(X: Any) -> Rows | None:
    """X as rows in blocks; None for what is in memory already.

    Rows, the path of a file that `open_rows` knows, arrays of Zarr, HDF5 and Dask, tables of Dask, and memory maps of
    more than a quarter of the memory budget.
    """
    if isinstance(X, (StoredRows, DaskRows)):
        return X
    if isinstance(X, (str, Path)):
        return open_rows(X)
    if is_dask(X):
        return DaskRows.of(X)
    if isinstance(X, np.memmap):
        return None if fits(8.0 * X.size, share=MAPPED) or X.ndim != 2 else ArrayRows(X, open_again=_again(X))
    package = type(X).__module__.split(".")[0]
    if package == "zarr" and hasattr(X, "shape"):
        return ArrayRows(X, open_again=partial(_itself, X))
    if package == "h5py" and hasattr(X, "shape"):
        return ArrayRows(X, open_again=partial(_h5_array, Path(X.file.filename), X.name))
    return None


def open_rows(
    path: str | Path, *, variable: str | None = None, columns: Iterable[str] | None = None, dask: bool = False
) -> Rows:
    """Open a file of numbers as rows in blocks: nothing is read but its head.

    .npy; .parquet (extra `tables`; `columns` names those to take, else all but an index and
    categories of pandas, which must be numbers); .zarr (extra
    `zarr`) and .h5 (extra `hdf5`), where `variable` names the array if there are several. With `dask` (extra `dask`)
    the blocks are read and worked on by the workers of the scheduler that Dask uses, a cluster's for instance; the path
    must be theirs too. A method that takes blocks fits on the result, and every fitted model transforms it.

    >>> import numpy, tempfile, pathlib, lowfold
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "X.npy")
    ...     numpy.save(path, numpy.arange(12.0).reshape(6, 2))
    ...     lowfold.PCA(1).fit(lowfold.datasets.read(path, blocks=True).X).mean_.tolist()
    [5.0, 6.0]
    """
    file = Path(path)
    if not file.exists():
        raise FileProblem(f"{path} does not exist; rows in blocks are {', '.join(ENDINGS)}")
    file = file.absolute()  # a worker may have another folder
    ending = file.suffix.lower()
    if columns is not None and ending not in PARQUET:
        raise InvalidInput(f"{path}: columns belong to a Parquet file")
    if ending == ".npy":
        rows: StoredRows = _opened(partial(_npy_array, file))
    elif ending in PARQUET:
        rows = ParquetRows(file, None if columns is None else list(columns))
    elif ending in ZARR:
        rows = _opened(partial(_zarr_array, file, variable))
    elif ending in HDF5:
        rows = _opened(partial(_h5_array, file, variable))
    else:
        raise FileProblem(
            f"{path}: is read in blocks only as {', '.join(ENDINGS)}; lowfold.datasets.read(path) reads other files"
        )
    return DaskRows.over(rows) if dask else rows


def _opened(make: partial[Any]) -> ArrayRows:
    return ArrayRows(make(), open_again=make)


def _itself(array: Any) -> Any:
    return array


def _again(array: np.memmap[Any, Any]) -> partial[Any] | None:
    """How to map the same rows in another process; None for a part of a map, whose place in the file is not known."""
    if array.filename is None or isinstance(array.base, np.memmap):
        return None
    order = "C" if array.flags.c_contiguous else "F"
    return partial(np.memmap, array.filename, array.dtype, "r", array.offset, array.shape, order)


def _npy_array(path: Path) -> NDArray[Any]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileProblem(f"{path} cannot be read as a .npy file of numbers: {error}") from error
    return _numbers(array, path)  # type: ignore[no-any-return]


def _zarr_array(path: Path, variable: str | None) -> Any:
    zarr = load_extra("zarr", "zarr", "reading Zarr in blocks")
    try:
        found = zarr.open(str(path), mode="r")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FileProblem(f"{path} cannot be read as a Zarr array: {error}") from error
    return _numbers(_member(found, variable, path), path)


def _h5_array(path: Path, variable: str | None) -> Any:
    h5py = load_extra("h5py", "hdf5", "reading HDF5 in blocks")
    try:
        found = h5py.File(path, "r")
    except OSError as error:
        raise FileProblem(f"{path} cannot be read as HDF5: {error}") from error
    return _numbers(_member(found, variable, path), path)


def _member(found: Any, variable: str | None, path: Path) -> Any:
    """The array, or the named or only one of a group."""
    if hasattr(found, "shape"):
        return found
    names = sorted(found.keys())
    if variable is None and len(names) != 1:
        raise FileProblem(f"{path} is a group of arrays ({', '.join(names)}); say which with variable=NAME")
    try:
        array = found[names[0] if variable is None else variable]
    except KeyError:
        raise FileProblem(f"{path}: there is no array {variable!r}; there are {', '.join(names)}") from None
    if not hasattr(array, "shape"):
        raise FileProblem(f"{path}: {variable or names[0]!r} is a group; name an array, as {variable or names[0]}/NAME")
    return array


def _numbers(array: Any, path: Path) -> Any:
    if np.dtype(array.dtype).kind not in "fiub":  # before anything is read: objects can be stored as pickles
        raise FileProblem(f"{path} must be an array of numbers; it holds {array.dtype}")
    if len(array.shape) != 2:
        raise FileProblem(f"{path}: must have rows and columns; its shape is {tuple(array.shape)}")
    return array


def _parquet_file(path: Path) -> Any:
    parquet = load_extra("pyarrow.parquet", "tables", "reading Parquet in blocks")
    arrow = load_extra("pyarrow", "tables", "reading Parquet in blocks")
    if path.is_dir():
        raise FileProblem(
            f"{path} is a folder; for blocks write one file, or let datasets.read({str(path)!r}) read it whole"
        )
    try:
        return parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise FileProblem(f"{path} cannot be read as a Parquet file: {error}") from error


class ParquetRows(StoredRows):
    """Columns of numbers of a Parquet file (extra `tables`). A block is a run of row groups, or a part of a large one,
    which is then decoded from its beginning: files with row groups of some 10 MB are read quickest.
    """

    def __init__(self, path: Path, columns: list[str] | None = None) -> None:
        arrow = load_extra("pyarrow", "tables", "reading Parquet in blocks")
        self.path = path
        with _parquet_file(self.path) as file:
            self.names = _numeric_columns(file.schema_arrow, columns, path, arrow)
            counts = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
            single = all(arrow.types.is_float32(file.schema_arrow.field(name).type) for name in self.names)
        if sum(counts) == 0:
            raise FileProblem(f"{path}: holds no rows")
        self.blocks = _runs(counts, block_rows(len(self.names)))
        starts = np.cumsum([0, *(stop - first for _, first, stop in self.blocks)])
        super().__init__(starts, len(self.names), np.float32 if single else np.float64)

    def read(self, i: int) -> NDArray[Any]:
        return self.table(i, self.names, self.dtype)

    def table(self, i: int, names: list[str], dtype: Any) -> NDArray[Any]:
        """Some columns of block i, as an array of one type."""
        found = self.arrow(i, names)
        out = np.empty((found.num_rows, len(names)), dtype=dtype)
        for j, column in enumerate(found.columns):
            out[:, j] = column.to_numpy()
        return out

    def arrow(self, i: int, names: list[str]) -> Any:
        """Some columns of block i, as pyarrow has them."""
        arrow = load_extra("pyarrow", "tables", "reading Parquet in blocks")
        groups, first, stop = self.blocks[i]
        with _parquet_file(self.path) as file:
            if len(groups) > 1 or (first == 0 and stop == file.metadata.row_group(groups[0]).num_rows):
                return file.read_row_groups(groups, columns=names).select(names)
            batches, seen = [], 0
            for batch in file.iter_batches(batch_size=65_536, row_groups=groups, columns=names):
                low, high = max(first - seen, 0), min(stop - seen, batch.num_rows)
                if high > low:
                    batches.append(batch.slice(low, high - low))
                seen += batch.num_rows
                if seen >= stop:
                    break
            return arrow.Table.from_batches(batches).select(names)

    def others(self) -> list[str]:
        """Columns that are not among the numbers taken."""
        with _parquet_file(self.path) as file:
            return [name for name in file.schema_arrow.names if name not in self.names]


def numeric_names(path: Path) -> list[str]:
    """Names of the columns of a Parquet file that hold numbers, its index and its categories aside."""
    arrow = load_extra("pyarrow", "tables", "reading Parquet in blocks")
    with _parquet_file(path) as file:
        schema = file.schema_arrow
    aside = no_measurements(schema)
    fields = [field for field in schema if field.name not in aside]
    return [f.name for f in fields if arrow.types.is_floating(f.type) or arrow.types.is_integer(f.type)]


def lists_in(path: Path) -> str:
    """The first column of a Parquet file that no block can have, and what it holds; nothing where there is none."""
    with _parquet_file(path) as file:  # `is_nested` of pyarrow 15 knows no lists of a fixed length
        nested = next((field for field in file.schema_arrow if field.type.num_fields), None)
    return "" if nested is None else f"column {nested.name!r} holds {nested.type}"


def no_measurements(schema: Any) -> set[str]:
    """Columns that pandas wrote as the index of its table or as categories, which may be numbers all the same."""
    try:
        words = schema.pandas_metadata or {}
        index = {name for name in words.get("index_columns", []) if isinstance(name, str)}
        kinds = {str(one.get("field_name")): one.get("pandas_type") for one in words.get("columns", [])}
    except (ValueError, AttributeError, TypeError):  # written by others under the same key
        return set()
    return (index | {name for name, kind in kinds.items() if kind == "categorical"}) & set(schema.names)


def _numeric_columns(schema: Any, asked: list[str] | None, path: Path, arrow: Any) -> list[str]:
    kinds = arrow.types
    if len(set(schema.names)) < len(schema.names):
        raise FileProblem(f"{path}: two columns have the same name")
    absent = [name for name in asked or [] if name not in schema.names]
    if absent:
        raise FileProblem(f"{path}: there is no column {absent[0]!r}; there are {', '.join(schema.names[:30])}")
    aside = no_measurements(schema)
    taken = [name for name in schema.names if name not in aside] if asked is None else asked
    words = [n for n in taken if not (kinds.is_floating(t := schema.field(n).type) or kinds.is_integer(t))]
    if words:
        raise FileProblem(f"{path} has columns that are not numbers: {', '.join(words[:5])}; leave them out")
    if not taken:
        raise FileProblem(f"{path}: no column is left to read")
    return list(taken)


def _runs(counts: list[int], most: int) -> list[tuple[list[int], int, int]]:
    """(row groups, first row, last row + 1 in them) of every block: small groups joined, large ones cut.

    >>> _runs([2, 2, 7], 4)
    [([0, 1], 0, 4), ([2], 0, 4), ([2], 4, 7)]
    """
    out: list[tuple[list[int], int, int]] = []
    for g, count in enumerate(counts):
        if out and out[-1][1] == 0 and out[-1][0][-1] != g and out[-1][2] + count <= most and _whole(out[-1], counts):
            out[-1] = ([*out[-1][0], g], 0, out[-1][2] + count)
        else:
            starts = cut(count, most)
            out += [([g], int(a), int(b)) for a, b in pairwise(starts) if b > a]
    return out


def _whole(run: tuple[list[int], int, int], counts: list[int]) -> bool:
    return run[2] == sum(counts[g] for g in run[0])
