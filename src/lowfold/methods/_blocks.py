"""Blocks of rows one after the other, from rows that stay where they are or from any iterable of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.open_rows import as_rows
from lowfold._core.rows import ArrayRows


def row_blocks(source: Any) -> Iterator[NDArray[Any]]:
    """Blocks of rows of `source`, each about 64 MB.

    Whatever `as_rows` knows (paths, Zarr, HDF5, Dask), an array with `shape` that can be sliced, or an iterable that
    yields blocks itself.
    """
    rows = as_rows(source)
    if rows is not None:
        yield from (rows.block(i) for i in range(len(rows.starts) - 1))
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        yield from ArrayRows(source)
    elif isinstance(source, Iterable) and not isinstance(source, Mapping) and not hasattr(source, "keys"):
        yield from source
    else:
        raise InvalidInput(
            f"blocks must be an array, the path of a file, or an iterable of blocks; got {type(source).__name__}"
        )
