"""IDX files, the format of the MNIST digits: two zero bytes, a type, the number of axes, their lengths, the data."""

from __future__ import annotations

import gzip
import struct
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold.datasets._file_table import Table, numbered, small_float
from lowfold.datasets._images import binarize_invert

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP_LIMIT = 1040


def read_idx(
    path: str | Path, *, labels: str | Path | None = None, binarize: float | None = None, invert: bool = False
) -> Table:
    """Read images (or vectors) from an IDX file, plain or gzipped, one per row.

    Parameters
    ----------
    labels : an IDX file with one value per image.
    binarize : pixels of at least this value become 1, the others 0.
    invert : swap dark and light (largest value of the pixel type minus pixel; 0 and 1 after `binarize`), so that
        writing on white paper becomes sparse.
    """
    array = _idx(path)
    if array.ndim == 0 or array.size == 0:
        refuse(path, "holds no points")
    images = array.reshape(len(array), -1)
    if binarize is not None:
        X = binarize_invert(images, binarize)
        X = (X if invert else 1 - X).astype(np.float32)
    elif invert:
        top = np.iinfo(images.dtype).max if images.dtype.kind in "iu" else images.max()
        X = (top - images.astype(np.float64)).astype(small_float(images.dtype))
    else:
        X = images.astype(small_float(images.dtype))
    kept = {} if labels is None else {"label": _label_vector(labels, len(X))}
    shape = tuple(int(side) for side in array.shape[1:])
    return Table(X, numbered(X.shape[1]), kept, source=str(path), point_shape=shape if len(shape) in (2, 3) else None)


def _label_vector(path: str | Path, n: int) -> NDArray[Any]:
    values = _idx(path)
    if values.shape != (n,):
        refuse(path, f"must hold one label for each of {n} images; its shape is {values.shape}")
    return values


def _idx(path: str | Path) -> NDArray[Any]:
    """The array; the lengths in the header are compared with the file before anything is read."""
    file = existing_file(path)
    size = file.stat().st_size
    with parsing(path, "IDX file"):
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(file, "rb") if packed else file.open("rb") as stream:
            start = stream.read(4)
            if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in TYPES:
                refuse(path, "is not an IDX file (it must begin with two zero bytes and a known type)")
            dtype, axes = np.dtype(TYPES[start[2]]), start[3]
            lengths = stream.read(4 * axes)
            if len(lengths) < 4 * axes:
                refuse(path, "is truncated inside its header")
            shape = struct.unpack(f">{axes}I", lengths)
            n_bytes = prod(shape) * dtype.itemsize
            available = size * GZIP_LIMIT if packed else size - 4 - 4 * axes
            if n_bytes > available or axes > 32:
                refuse(path, f"the header promises shape {shape}, {n_bytes} bytes, more than the file holds")
            require_room(path, n_bytes, f"an array of shape {shape}")
            data = stream.read(n_bytes + 1)
    if len(data) != n_bytes:
        came = "more" if len(data) > n_bytes else f"{len(data)}"
        refuse(path, f"the header promises {n_bytes} bytes of data, the file has {came}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
