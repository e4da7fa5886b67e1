"""Files that are read in blocks: `embed` and `transform` of what does not fit into memory, here or on a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.cli._data import is_matrix, names_of_the_fit, refuse_existing, takes_several, tell
from lowfold.methods.registry import is_method

if TYPE_CHECKING:
    from lowfold._core.rows import Rows

SHOWN = 5  # columns kept aside that are named
STREAMED = 4  # blocks up to which a file is read whole, where nothing asks for blocks


@dataclass(frozen=True, eq=False)
class BlockTable:
    """A file as rows in blocks, and the columns of a Parquet file that travel along."""

    rows: Rows
    stored: Any
    labels: list[str] = field(default_factory=list)

    def aside(self, taken: Sequence[str]) -> Any:
        """i -> the columns kept aside of block i, under names that are free."""

        def columns(i: int) -> Mapping[str, Any]:
            if not self.labels:
                return {}
            found = self.stored.arrow(i, self.labels)
            return {name + "_" * (name in taken): found.column(name) for name in self.labels}

        return columns


@contextmanager
def in_blocks(
    files: Sequence[str], labels: Sequence[str], options: Mapping[str, str], model: Any,
    workers: int | None, cluster: str | None, *, streams: bool = False, wanted: list[str] | None = None,
) -> Iterator[BlockTable | None]:  # fmt: skip
    """The file in blocks, where it has to be: on workers, of a kind that has no other reader, or large. Else None.

    Where the result `streams`, a few blocks are large. A fitted model has `wanted` columns of a Parquet file.
    """
    asked = workers is not None or cluster is not None
    if workers is not None and cluster is not None:
        raise InvalidInput("--workers starts processes here, --cluster uses those of an address; give one of them")
    several = len(files) != 1 or takes_several(model) or is_matrix(model) or not is_method(model)
    streams = streams and not set(options) - {"variable"}
    variable = options.get("variable")
    stored = None if several else _stored(files[0], labels, asked, streams, wanted, variable)
    if stored is None:
        if asked:
            raise InvalidInput("--workers and --cluster take one file of points: .npy, .parquet, .zarr or .h5")
        yield None
        return
    if set(options) - {"variable"}:
        raise InvalidInput(f"a file that is read in blocks takes no {', '.join(options)}; prepare it beforehand")
    aside = _others(stored, labels)
    if not asked:
        yield BlockTable(stored, stored, aside)
        return
    from lowfold._core._dask_rows import DaskRows, connected

    with connected(cluster, workers):
        yield BlockTable(DaskRows.over(stored), stored, aside)


def _stored(
    file: str, labels: Sequence[str], asked: bool, streams: bool, wanted: list[str] | None, variable: str | None
) -> Any:
    """Rows of the file; None where it is read whole."""
    from lowfold._core.open_rows import ENDINGS, HDF5, PARQUET, ZARR, lists_in, numeric_names, open_rows
    from lowfold.datasets._read_columns import called_id

    path = Path(file)
    ending = path.suffix.lower()
    folder = ending in PARQUET and path.is_dir() and not asked
    if ending not in ENDINGS or not path.exists() or folder:
        return None
    if ending in PARQUET and (lists := lists_in(path)):
        if asked:
            raise FileProblem(f"{file}: {lists}; for blocks write its numbers as columns")
        return None
    columns = [name for name in numeric_names(path) if name not in labels] if ending in PARQUET else None
    if columns is not None and wanted is None:
        columns = [name for name in columns if not called_id(name)] or columns
    if ending == ".npy" and not asked and not _large(4.0 * path.stat().st_size, streams):
        return None
    if columns is not None and wanted is not None:
        columns = names_of_the_fit(columns, wanted, file)
    rows: Any = open_rows(path, columns=columns, variable=variable)
    only_so = asked or ending in (*ZARR, *HDF5)
    return rows if only_so or _large(8.0 * rows.shape[0] * rows.shape[1], streams) else None


def _large(n_bytes: float, streams: bool) -> bool:
    """Whether rows of so many bytes are read in blocks."""
    from lowfold._core.memory import fits
    from lowfold._core.open_rows import MAPPED
    from lowfold._core.rows import BLOCK_BYTES

    return not fits(n_bytes, share=MAPPED) or (streams and n_bytes > STREAMED * BLOCK_BYTES)


def _others(stored: Any, labels: Sequence[str]) -> list[str]:
    found = stored.others() if hasattr(stored, "others") else []
    for name in labels:
        if name not in found:
            raise InvalidInput(f"--label names no column {name!r} of the file; there are {', '.join(found) or 'none'}")
    return list(found)


def embed_blocks(
    model: Any, table: BlockTable, out: str | None, save: str | None, *, overwrite: bool, quiet: bool
) -> None:
    """Fit, write the coordinates block by block, save the model."""
    from lowfold.methods.files import save as save_model

    start = time.perf_counter()
    model.fit(table.rows)
    if hasattr(table.stored, "names"):
        model.input_columns_ = np.array(table.stored.names)
    if table.labels:
        some = ", ".join(table.labels[:SHOWN]) + (", ..." if len(table.labels) > SHOWN else "")
        tell([f"kept aside: {some}"], quiet=quiet)
    if out is not None:
        _write(model, _coordinates(model, table.rows), table, out, overwrite=overwrite)
    if save is not None:
        save_model(save, model, overwrite=overwrite)
    n, D = table.rows.shape
    words = f"{type(model).__name__}: {n} points in {D} columns, in blocks -> {model._n_features_out}"
    written = f"; wrote {', '.join(filter(None, (out, save)))}" if out or save else ""
    tell([f"{words}; {time.perf_counter() - start:.1f} s{written}"], quiet=quiet)


def transform_blocks(model: Any, table: BlockTable, out: str, *, inverse: bool, overwrite: bool, quiet: bool) -> None:
    """Place the rows, block by block; two blocks are in memory at a time."""
    refuse_existing(out, overwrite=overwrite)
    if getattr(model, "input_scaling_", None) is not None:
        raise InvalidInput("this model was fitted on standardized columns; a file in blocks is not standardized")
    placed = model.inverse_transform(table.rows) if inverse else model.transform(table.rows)
    _write(model, placed, table, out, overwrite=overwrite, inverse=inverse)


def _coordinates(model: Any, rows: Rows) -> Any:
    """Those of the fit, cut as the rows are; or mapped when they are written."""
    if not hasattr(model, "embedding_"):
        return model.transform(rows)
    from lowfold._core.rows import CutRows

    return CutRows(model.embedding_, rows.starts)


def _write(model: Any, Y: Any, table: BlockTable, out: str, *, overwrite: bool, inverse: bool = False) -> None:
    from lowfold._core.open_rows import as_rows
    from lowfold.datasets._write_rows import nothing, write_rows

    rows = as_rows(Y)
    assert rows is not None
    columns = [f"x{i + 1}" for i in range(rows.shape[1])] if inverse else list(map(str, model.get_feature_names_out()))
    aside = nothing if out.lower().endswith(".npy") else table.aside(columns)
    write_rows(out, rows, columns, aside=aside, overwrite=overwrite)
