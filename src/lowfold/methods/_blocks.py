"""Rows in blocks from what does not fit into memory: arrays on disk, Parquet files, or any iterable of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.extras import load_extra

BLOCK_BYTES = 64_000_000


def row_blocks(source: Any) -> Iterator[NDArray[Any]]:
    """Blocks of rows of `source`, each about 64 MB.

    An array with `shape` that can be sliced (NumPy, a memory map, Zarr, HDF5), a path of a .npy file (read as a memory
    map) or of a .parquet file (extra `tables`; numeric columns), or an iterable that yields blocks itself.
    """
    if isinstance(source, (str, Path)):
        yield from _file_blocks(Path(source))
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        yield from _sliced(source)
    elif isinstance(source, Iterable):
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
        raise FileProblem(f"{path} does not exist; give the path of a .npy or .parquet file")
    if path.suffix == ".npy":
        yield from _sliced(np.load(path, mmap_mode="r"))
    elif path.suffix in (".parquet", ".pq"):
        parquet = load_extra("pyarrow.parquet", "tables", "reading Parquet in blocks")
        with parquet.ParquetFile(path) as file:
            rows = max(1, BLOCK_BYTES // max(8 * len(file.schema_arrow), 1))
            for batch in file.iter_batches(batch_size=rows):
                yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
    else:
        raise FileProblem(f"{path} is read in blocks only as .npy or .parquet; load it and pass the array instead")
