"""Readers and writers by name, and `read`, which chooses among them."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import refuse, require_room
from lowfold._core.open_rows import open_rows
from lowfold.datasets._file_table import Table, numbered
from lowfold.datasets._gaps import with_gaps
from lowfold.datasets._marks import marks_of
from lowfold.datasets._read_arrays import read_mat, read_npy, read_npz
from lowfold.datasets._read_envi import read_envi
from lowfold.datasets._read_h5ad import read_h5ad
from lowfold.datasets._read_idx import read_idx
from lowfold.datasets._read_images import IMAGE_SUFFIXES, STACKS, image_files, read_images
from lowfold.datasets._read_market import read_market
from lowfold.datasets._read_parquet import parquet_files, read_feather, read_parquet
from lowfold.datasets._read_table import read_table
from lowfold.datasets._read_text import read_documents, term_frequencies
from lowfold.datasets._unpack import kind_of
from lowfold.datasets._write_table import write_table
from lowfold.metrics._scales import scaling, standardized

__all__ = [
    "Table",
    "read",
    "read_documents",
    "read_envi",
    "read_feather",
    "read_h5ad",
    "read_idx",
    "read_images",
    "read_market",
    "read_mat",
    "read_npy",
    "read_npz",
    "read_parquet",
    "read_table",
    "term_frequencies",
    "write_table",
]

BY_SUFFIX: dict[str, Callable[..., Table]] = {
    ".csv": read_table,
    ".tsv": read_table,
    ".tab": read_table,
    ".txt": read_table,
    ".data": read_table,
    **dict.fromkeys((".dat", ".asc", ""), read_table),
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".feather": read_feather,
    ".arrow": read_feather,
    ".npy": read_npy,
    ".npz": read_npz,
    ".mat": read_mat,
    ".mtx": read_market,
    **dict.fromkeys(sorted(STACKS), read_images),
    ".hdr": read_envi,
    ".idx": read_idx,
    ".h5ad": read_h5ad,
}
SHEETS = (".xlsx", ".xls", ".ods", ".numbers")
GRAPHS = {".graphml": "read_graphml", ".gml": "read_gml", ".gexf": "read_gexf", ".net": "read_pajek"}
FRAMES = {
    **dict.fromkeys(
        (".rds", ".rda", ".rdata"), "; write.csv(table, 'table.csv', row.names=FALSE) in R writes one that is"
    ),
    **dict.fromkeys((".pkl", ".pickle"), "; pandas.read_pickle(file).to_parquet('table.parquet') writes one that is"),
    ".sav": "; pandas.read_spss(file).to_parquet('table.parquet') writes one that is",
    ".dta": "; pandas.read_stata(file).to_parquet('table.parquet') writes one that is",
    ".jsonl": "; pandas.read_json(file, lines=True).to_parquet('table.parquet') writes one that is",
    ".json": "; pandas.read_json(file).to_parquet('table.parquet') writes one that is",
}
IDX_NAME = re.compile(r"[.-]idx\d-ubyte(\.gz)?$")


def read(
    path: str | Path,
    *,
    standardize: str | None = "none",
    blocks: bool | str = False,
    dense: bool = False,
    **options: Any,
) -> Table:
    """Read a table, an array, a cube, a folder of images or of texts: the ending of the name says which.

    `options` are those of the reader that is chosen: `read_table` (.csv, .tsv, .txt, .dat, no ending, also packed as
    .csv.gz, .bz2 or .xz, "-" for standard input), `read_parquet`, `read_feather`, `read_npy`, `read_npz`, `read_mat`,
    `read_market` (.mtx), `read_envi` (.hdr), `read_h5ad`, `read_idx` (.idx, -idx3-ubyte[.gz]), `read_images` (folders,
    .tif, .gif) and `read_documents` (folders). `standardize` is "none", "unit" (every column less its mean, over its
    standard deviation) or "robust" (median and quartiles); `Table.scaling` has what was used. `missing`, for every kind
    of file, is "error", "keep", "drop" (rows with missing values are left out) or "mean" (they are filled in), and `na`
    a number that means a missing value, as -999, or several. `dense` writes out the zeros of a sparse matrix.

    With `blocks` nothing is read but the head of the file: X stays there, in blocks that methods work on one after the
    other (.npy, .parquet, .zarr, .h5; `variable` names one of several arrays, `columns` those of a Parquet file), or,
    with "dask", on the scheduler that Dask uses. `X.take(rows)` brings some of them here.
    """
    if blocks:
        if standardize not in (None, "none"):
            raise InvalidInput("rows in blocks are not standardized; prepare the file beforehand")
        return _in_blocks(path, dask=blocks == "dask", **options)
    reader = _reader_for(path)
    known = list(inspect.signature(reader).parameters)[1:]
    allowed = [*known, *(name for name in ("missing", "na") if name not in known)]
    for name in options:
        if name not in allowed:
            words = f"{reader.__name__} takes {', '.join(allowed)}"
            raise InvalidInput(f"{path}: there is no option {name!r} for this kind of file; {words}")
    later = {name: options.pop(name) for name in ("missing", "na") if name not in known and name in options}
    table = reader(path, **options)
    if "na" in later:
        if issparse(table.X):
            raise InvalidInput(f"{path}: na is for tables; a sparse matrix has no marks of missing values")
        table = replace(table, X=marks_of(later["na"]).blank(table.X))
    if later:
        kept = [words for words in table.notices if " are NaN" not in words]
        table = with_gaps(replace(table, notices=kept), later.get("missing", "error"))
    if dense and issparse(table.X):
        require_room(path, table.X.dtype.itemsize * math.prod(table.X.shape), "the matrix with its zeros")
        table = replace(table, X=table.X.toarray())  # type: ignore[attr-defined]
    if standardize in ("none", None):
        return table
    found = scaling(table.X, standardize)
    return replace(table, X=standardized(table.X, found), scaling=found)


def _in_blocks(path: str | Path, **options: Any) -> Table:
    rows: Any = open_rows(path, **options)
    return Table(rows, list(getattr(rows, "names", numbered(rows.shape[1]))), source=str(path))


def _way_to(file: Path) -> str:
    """How to come from a file of another kind to one that is read."""
    ending = file.suffix.lower()
    if file.with_suffix(".hdr").exists():
        return f"; the header beside it, {file.with_suffix('.hdr').name}, is the file to name"
    if ending in IMAGE_SUFFIXES:
        return "; an image is one point: name the folder that holds them all"
    if ending in SHEETS:
        return "; save the sheet as CSV"
    if ending in GRAPHS:
        return (
            f"; methods take what networkx.{GRAPHS[ending]} gives, and networkx.write_edgelist(graph, 'graph.txt', "
            "data=['weight']) writes a file of edges that is read"
        )
    return FRAMES.get(ending, "")


def _reader_for(path: str | Path) -> Callable[..., Table]:
    if str(path) == "-":
        return read_table
    if not str(path).strip():  # of an empty variable of a shell; Path makes the folder one is in of it
        refuse(repr(str(path)), "is no name of a file")
    file = Path(path)
    try:
        folder = file.is_dir()
    except (OSError, ValueError) as error:
        refuse(path, f"cannot be opened: {error}")
    if folder:
        if image_files(file):
            return read_images
        texts = next(file.rglob("*.txt"), None) is not None
        if parquet_files(file) and (not texts or file.suffix.lower() in (".parquet", ".pq")):
            return read_parquet
        if not texts:
            refuse(path, "holds neither images nor texts (.txt), nor parts of a Parquet table; name a file in it")
        return read_documents
    if IDX_NAME.search(file.name):
        return read_idx
    found = BY_SUFFIX.get(kind_of(file))
    if not file.exists():
        refuse(path, "there is no such file")
    cube = kind_of(file) in ("", ".dat") and file.with_suffix(".hdr").exists()  # as ENVI names the data of a header
    if cube or found is None or (found not in (read_table, read_market) and kind_of(file) != file.suffix.lower()):
        known = ", ".join(filter(None, BY_SUFFIX))
        way = _way_to(file)
        words = (
            f"the ending {file.suffix!r} is not known{way}; known are {known}, and of these texts with .gz, .bz2, .xz"
        )
        refuse(path, f"{words}; a table as text is read under a name that ends in .csv")
    return found
