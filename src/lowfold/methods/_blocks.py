"""Rows in blocks from what does not fit into memory: arrays on disk, Parquet files, or any iterable of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.extras import load_extra

BLOCK_BYTES = 64_000_000  # of rows read at a time: a disk is read in long runs, and memory hardly notices


def row_blocks(source: Any) -> Iterator[NDArray[Any]]:
    """Blocks of rows of `source`, each about 64 MB.

    An array with `shape` that can be sliced (NumPy, a memory map, Zarr, HDF5), a path of a .npy file (read as a memory
    map), of a .parquet file (extra `tables`; numeric columns) or of a .zarr array (extra `zarr`), or an iterable that
    yields blocks itself.
    """
    if isinstance(source, (str, Path)):
        yield from _file_blocks(Path(source))
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        yield from _sliced(source)
    elif isinstance(source, Iterable) and not isinstance(source, Mapping) and not hasattr(source, "keys"):
        yield from source
    else:
        raise InvalidInput(
            f"blocks must be an array, the path of a file, or an iterable of blocks; got {type(source).__name__}"
        )


def _sliced(array: Any) -> Iterator[NDArray[Any]]:
    if len(array.shape) != 2:
        raise InvalidInput(f"an array read in blocks must have rows and columns; got {len(array.shape)} axes")
    rows = max(1, BLOCK_BYTES // max(8 * int(array.shape[1]), 1))
    for start in range(0, int(array.shape[0]), rows):
        yield np.asarray(array[start : start + rows])


def _file_blocks(path: Path) -> Iterator[NDArray[Any]]:
    if not path.exists():
        raise FileProblem(f"{path} does not exist; give the path of a .npy, .parquet or .zarr file")
    if path.suffix == ".npy":
        try:
            array = np.load(path, mmap_mode="r")
        except (ValueError, OSError) as error:
            raise FileProblem(f"{path} cannot be read as a .npy file of numbers: {error}") from error
        yield from _sliced(array)
    elif path.suffix in (".parquet", ".pq"):
        yield from _parquet_blocks(path)
    elif path.suffix == ".zarr":
        yield from _sliced(_zarr_array(path))
    else:
        raise FileProblem(
            f"{path} is read in blocks only as .npy, .parquet or .zarr; load it and pass the array instead"
        )


def _zarr_array(path: Path) -> Any:
    zarr = load_extra("zarr", "zarr", "reading Zarr in blocks")
    try:
        array = zarr.open(str(path), mode="r")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FileProblem(f"{path} cannot be read as a Zarr array: {error}") from error
    if not hasattr(array, "shape"):
        raise FileProblem(f"{path} is a group of arrays ({', '.join(sorted(array.keys()))}); give one of them")
    if np.dtype(array.dtype).kind not in "fiub":  # before anything is read: objects can be stored as pickles
        raise FileProblem(f"{path} must be an array of numbers; it holds {array.dtype}")
    return array


def _parquet_blocks(path: Path) -> Iterator[NDArray[Any]]:
    parquet = load_extra("pyarrow.parquet", "tables", "reading Parquet in blocks")
    arrow = load_extra("pyarrow", "tables", "reading Parquet in blocks")
    try:
        file = parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise FileProblem(f"{path} cannot be read as a Parquet file: {error}") from error
    kinds = arrow.types
    with file:
        schema = file.schema_arrow
        words = [field.name for field in schema if not (kinds.is_floating(field.type) or kinds.is_integer(field.type))]
        if words:
            raise FileProblem(f"{path} has columns that are not numbers: {', '.join(words[:5])}; leave them out")
        rows = max(1, BLOCK_BYTES // max(8 * len(schema), 1))
        for batch in file.iter_batches(batch_size=rows):
            yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
