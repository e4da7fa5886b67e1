"""Rows in blocks inside the file of a model: written block by block, and mapped where they stand when it is read.

Members of the file are not packed, so that an array lies in it as it would in a file of its own.
"""

from __future__ import annotations

import struct
import zipfile
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.file_words import refuse
from lowfold._core.rows import ArrayRows, Rows, first_pass
from lowfold.graph._source import Blocks
from lowfold.metrics._metric import Metric

LOCAL = struct.Struct("<26x2H")  # the head of a member in a zip: at its end the lengths of its name and of its extras
CHUNK = 16_000_000  # bytes read at a time to compare checksums


class SavedRows(ArrayRows):
    """Rows inside the file of a model, read through its map: that stays with the file though another takes its name."""

    def read(self, i: int) -> NDArray[Any]:
        return np.array(self.array[int(self.starts[i]) : int(self.starts[i + 1])])


def write_member(stream: IO[bytes], content: NDArray[Any] | Rows) -> None:
    """An array, or rows one block after the other, as npy."""
    if isinstance(content, np.ndarray):
        np.lib.format.write_array(stream, content, allow_pickle=False)
        return
    descr = np.lib.format.dtype_to_descr(content.dtype)
    head = {"descr": descr, "fortran_order": False, "shape": content.shape}
    np.lib.format.write_array_header_1_0(stream, head)
    for i in range(len(content.starts) - 1):
        stream.write(np.ascontiguousarray(content.block(i)).tobytes())


def read_blocks(archive: zipfile.ZipFile, name: str, metric: Metric, path: str) -> Blocks:
    """Rows that stay in the file, looked through once: checksum, finiteness, extent."""
    info = archive.getinfo(name)
    with archive.open(info) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            refuse(path, f"is damaged: {name} holds no rows")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        start = stream.tell()
        whole = len(shape) == 2 and dtype.kind == "f" and not fortran and min(shape) > 0
        if not whole or shape[0] * shape[1] * dtype.itemsize != info.file_size - start:
            refuse(path, f"is damaged: {name} promises rows of shape {shape}, {dtype}, in {info.file_size} bytes")
        while stream.read(CHUNK):
            pass
    with Path(path).open("rb") as file:
        file.seek(info.header_offset)
        start += info.header_offset + LOCAL.size + sum(LOCAL.unpack(file.read(LOCAL.size)))
    opened = partial(np.memmap, path, dtype, "r", start, shape)
    rows = SavedRows(opened(), open_again=opened)
    return Blocks(rows, metric, first_pass(rows))


__all__ = ["read_blocks", "write_member"]
