"""The variables of a MATLAB 5 to 7 file, numbers and words, read here because SciPy's reader crashes on damaged ones.

The file is a header of 128 bytes and a row of elements, each a type, a length and data; a variable is an element of
type 14, or of type 15 when it is packed by zlib. Inside a variable: flags, dimensions, name, values (column by column).
A struct has the names of its fields before their variables, a cell its variables alone. Every length is compared with
what is there before it is used.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.file_words import refuse, require_room

MATRIX, PACKED = 14, 15
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
CELL, STRUCT, CHARS, SPARSE = 1, 2, 4, 5
LETTERS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16"}
DEEP = 8  # structs in structs
WORDS_AT_MOST = 1 << 24  # bytes of a variable that is looked at for words beside the numbers
WORDS = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function", 17: "object"}
COMPLEX_FLAG = 0x0800
DEFLATE_LIMIT = 1040  # zlib makes nothing more than about 1032 times smaller
PEEK = 1 << 12  # enough for flags, dimensions and name


@dataclass(frozen=True)
class Variable:
    """One variable of the file, not yet read."""

    name: str
    shape: tuple[int, ...]
    kind: int
    is_complex: bool
    start: int
    length: int
    packed: bool
    body: bytes | None = None  # of a field of a struct

    @property
    def is_numeric(self) -> bool:
        """Whether it is a full or sparse matrix of real numbers."""
        return (self.kind in NUMBERS or self.kind == SPARSE) and not self.is_complex

    @property
    def may_be_words(self) -> bool:
        """Whether it is a matrix of letters, or a cell, and not large."""
        return self.kind in (CHARS, CELL) and self.length <= WORDS_AT_MOST

    @property
    def is_struct(self) -> bool:
        """Whether it is one struct, and no array of them."""
        return self.kind == STRUCT and prod(self.shape) == 1

    @property
    def word(self) -> str:
        """What it is, in a word."""
        return "complex matrix" if self.is_complex else WORDS.get(self.kind, "matrix")


class MatlabFile:
    """The bytes of a file and the byte order in which they are written."""

    def __init__(self, data: bytes, source: object) -> None:
        self.data = data
        self.source = source
        if len(data) < 128 or data[126:128] not in (b"IM", b"MI"):
            refuse(source, "is not a MATLAB file of format 5 to 7; save it with -v7")
        self.order = "<" if data[126:128] == b"IM" else ">"

    def variables(self) -> list[Variable]:
        """All variables, in the order of the file."""
        found = []
        position = 128
        while position < len(self.data):
            kind, length = self._words(self.data, position)
            position += 8
            if length > len(self.data) - position:
                refuse(self.source, f"is truncated: {length} bytes were promised at byte {position}")
            if kind in (MATRIX, PACKED):
                found.append(self._variable(position, length, kind == PACKED))
            position += length + (0 if kind == PACKED else -length % 8)
        return found

    def load(self, variable: Variable) -> NDArray[Any]:
        """The values of a numeric variable."""
        n = prod(variable.shape)
        require_room(self.source, 8 * n, f"variable {variable.name!r} of shape {variable.shape}")
        parts = self._values(variable)
        if variable.kind == SPARSE:
            return self._sparse(parts, variable)
        values = self._numbers(next(parts, None), variable)
        if len(values) != n:
            refuse(self.source, f"variable {variable.name!r} has {len(values)} values for shape {variable.shape}")
        return values.astype(NUMBERS[variable.kind]).reshape(variable.shape, order="F")

    def fields(self, variable: Variable, depth: int = DEEP) -> list[Variable]:
        """The variables in a struct, and in the structs in it, by names as data.X; none of what is no struct."""
        if not variable.is_struct or not depth:
            return []
        parts = self._values(variable)
        width, names = next(parts, (0, b"")), next(parts, (0, b""))
        each = int.from_bytes(width[1], "little" if self.order == "<" else "big") if len(width[1]) == 4 else 0
        if not 0 < each <= len(names[1]):
            return []
        found = []
        for start, (kind, body) in zip(range(0, len(names[1]), each), parts):
            name = names[1][start : start + each].split(b"\0")[0].decode("latin-1")
            if kind != MATRIX or not body:
                continue
            field = self._headed(body, f"{variable.name}.{name}", variable.start, len(body), packed=False, kept=body)
            found += [field, *self.fields(field, depth - 1)]
        return found

    def words(self, variable: Variable) -> NDArray[np.str_] | None:
        """The rows of a matrix of letters, or the words in a cell; None where it holds something else."""
        parts = self._values(variable)
        if variable.kind == CHARS:
            return self._letters(next(parts, None), variable.shape)
        found = []
        for kind, body in parts:
            one = self._headed(body, variable.name, variable.start, len(body), packed=False, kept=body)
            row = self.words(one) if kind == MATRIX and one.kind == CHARS else None
            if row is None or len(row) != 1:
                return None
            found.append(row[0])
        return np.array(found, dtype=np.str_) if found else None

    def _letters(self, part: tuple[int, bytes] | None, shape: tuple[int, ...]) -> NDArray[np.str_] | None:
        if len(shape) != 2 or part is None or part[0] not in LETTERS:
            return None
        kind = LETTERS[part[0]]
        text = part[1].decode(f"{kind}-{'le' if self.order == '<' else 'be'}" if kind == "utf-16" else kind, "replace")
        if not shape[1]:
            return np.array([""] * min(shape[0], 1), dtype=np.str_)
        if len(text) != prod(shape):
            return None
        return np.array(["".join(text[i :: shape[0]]).rstrip() for i in range(shape[0])], dtype=np.str_)

    def _values(self, variable: Variable) -> Iterator[tuple[int, bytes]]:
        """The elements behind flags, dimensions and name."""
        body = variable.body
        if body is None:
            body = self.data[variable.start : variable.start + variable.length]
            if variable.packed:
                body = self._unpacked(body, variable)
        parts = self._parts(body)
        for _ in range(3):
            next(parts, None)
        return parts

    def _words(self, data: bytes, position: int) -> tuple[int, int]:
        if position + 8 > len(data):
            refuse(self.source, f"is truncated at byte {position}")
        first, second = struct.unpack_from(f"{self.order}2I", data, position)
        return int(first), int(second)

    def _variable(self, start: int, length: int, packed: bool) -> Variable:
        body = self.data[start : start + length]
        if packed:
            body = zlib.decompressobj().decompress(body, PEEK)[8:]
        return self._headed(body, None, start, length, packed=packed)

    def _headed(
        self, body: bytes, title: str | None, start: int, length: int, *, packed: bool, kept: bytes | None = None
    ) -> Variable:
        """The variable as its first elements say; it has its own name where no `title` is given."""
        parts = self._parts(body[:PEEK])
        flags, dimensions, name = (next(parts, (0, b"")) for _ in range(3))
        if len(flags[1]) != 8 or not dimensions[1] or len(dimensions[1]) % 4:
            refuse(self.source, f"the variable at byte {start} is damaged")
        word = struct.unpack(f"{self.order}2I", flags[1])[0]
        shape = tuple(int(side) for side in np.frombuffer(dimensions[1], dtype=f"{self.order}i4"))
        if len(shape) < 2 or len(shape) > 32 or min(shape) < 0:
            refuse(self.source, f"the variable at byte {start} is damaged: its shape is {shape[:8]}")
        called = name[1].decode("latin-1") if title is None else title
        return Variable(called, shape, word & 0xFF, bool(word & COMPLEX_FLAG), start, length, packed, kept)

    def _unpacked(self, body: bytes, variable: Variable) -> bytes:
        unpack = zlib.decompressobj()
        head = unpack.decompress(body, 8)
        length = self._words(head, 0)[1]
        if length > DEFLATE_LIMIT * len(body):
            refuse(self.source, f"variable {variable.name!r} promises {length} bytes from {len(body)} packed ones")
        require_room(self.source, length, f"variable {variable.name!r}")
        return unpack.decompress(unpack.unconsumed_tail, max(length, 1))

    def _parts(self, body: bytes) -> Iterator[tuple[int, bytes]]:
        """(type, data) of the elements inside a variable; up to four bytes of data may stand in the tag itself."""
        position = 0
        while position + 8 <= len(body):
            kind, length = self._words(body, position)
            if kind >> 16:
                kind, length = kind & 0xFFFF, kind >> 16
                data, step = body[position + 4 : position + 4 + length], 8
                whole = length <= 4
            else:
                data = body[position + 8 : position + 8 + length]
                step = 8 + length + -length % 8
                whole = len(data) == length
            if not whole:
                return
            yield kind, data
            position += step

    def _numbers(self, part: tuple[int, bytes] | None, variable: Variable) -> NDArray[Any]:
        if part is None or part[0] not in STORED:
            refuse(self.source, f"the values of variable {variable.name!r} are cut short or of an unknown type")
        dtype = np.dtype(self.order + STORED[part[0]])
        if len(part[1]) % dtype.itemsize:
            refuse(self.source, f"the values of variable {variable.name!r} are damaged")
        return np.frombuffer(part[1], dtype=dtype)

    def _sparse(self, parts: Iterator[tuple[int, bytes]], variable: Variable) -> NDArray[np.float64]:
        """Compressed columns: rows of the entries, where each column begins, values."""
        rows, begins, values = (self._numbers(next(parts, None), variable) for _ in range(3))
        m, n = variable.shape[0], prod(variable.shape[1:])
        begins = begins.astype(np.int64)
        count = int(begins[-1]) if len(begins) == n + 1 else -1
        sound = 0 <= count <= min(len(rows), len(values)) and begins[0] == 0 and (np.diff(begins) >= 0).all()
        rows = rows[: max(count, 0)].astype(np.int64)
        if not sound or (rows < 0).any() or (rows >= m).any():
            refuse(self.source, f"the sparse variable {variable.name!r} is damaged")
        dense = np.zeros((m, n))
        dense[rows, np.repeat(np.arange(n), np.diff(begins))] = values[:count]
        return dense
