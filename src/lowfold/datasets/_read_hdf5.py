"""MATLAB 7.3 files, which are HDF5, by h5py (the extra "matlab"): full and sparse matrices of real numbers, and
words.

Axes stand in reverse order. Links and parts kept in other files are never followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.extras import load_extra
from lowfold._core.file_words import refuse, require_room

NUMBERS = ("double", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
WORDS_AT_MOST = 1 << 24  # letters, or words, of a variable that is looked at for words beside the numbers
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(start: bytes) -> bool:
    """Whether the first bytes are those of a MATLAB 7.3 file."""
    return start.startswith((SIGNATURE, b"MATLAB 7.3"))


@dataclass(frozen=True)
class Variable:
    """One variable of the file, not yet read."""

    name: str
    shape: tuple[int, ...]
    word: str
    is_numeric: bool

    @property
    def may_be_words(self) -> bool:
        """Whether it is a matrix of letters, or a cell, and not large."""
        return self.word in ("char", "cell") and prod(self.shape) <= WORDS_AT_MOST


def _class_of(stored: Any) -> str:
    kind = stored.attrs.get("MATLAB_class", b"")
    return kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)


class Matlab73File:
    """An open file and its variables."""

    def __init__(self, path: Path) -> None:
        h5py = load_extra("h5py", "matlab", "a MATLAB 7.3 (HDF5) file")
        self.source = path
        self._hard = h5py.HardLink
        self._file = h5py.File(path, "r", locking=False)

    def __enter__(self) -> Matlab73File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def variables(self) -> list[Variable]:
        """All variables; MATLAB's own folders begin with #."""
        names = [str(name) for name in self._file if not str(name).startswith("#")]
        return [self._variable(name) for name in names if self._own(self._file, name)]

    def fields(self, variable: Variable) -> list[Variable]:
        """The variables in a struct, and in the structs in it, by names as data.X; none of what is no struct."""
        group = self._file[self._place(variable)]
        if variable.word != "struct" or not hasattr(group, "keys"):
            return []
        inside = [self._variable(f"{variable.name}.{name}") for name in group if self._own(group, name)]
        return [one for field in inside for one in (field, *self.fields(field))]

    def words(self, variable: Variable) -> NDArray[np.str_] | None:
        """The rows of a matrix of letters, or the words in a cell; None where it holds something else."""
        stored = self._file[self._place(variable)]
        if variable.word == "char":
            return self._letters(stored)
        found = [self._letters(self._file[one]) for one in self._values(stored).ravel()]
        if not found or any(one is None or len(one) != 1 for one in found):
            return None
        return np.array([one[0] for one in found if one is not None], dtype=np.str_)

    def _letters(self, stored: Any) -> NDArray[np.str_] | None:
        if hasattr(stored, "keys") or _class_of(stored) != "char" or stored.dtype.kind not in "ui":
            return None
        if stored.attrs.get("MATLAB_empty", 0):
            return np.array([""], dtype=np.str_)
        rows = np.atleast_2d(self._values(stored)).T
        return np.array(["".join(map(chr, row.tolist())).rstrip() for row in rows], dtype=np.str_)

    def _place(self, variable: Variable) -> str:
        return variable.name.replace(".", "/")

    def load(self, variable: Variable) -> NDArray[Any]:
        """The values of a numeric variable."""
        require_room(self.source, 8 * prod(variable.shape), f"variable {variable.name!r} of shape {variable.shape}")
        stored = self._file[self._place(variable)]
        if hasattr(stored, "keys"):
            return self._sparse(stored, variable)
        if stored.attrs.get("MATLAB_empty", 0):
            return np.empty((0, 0))
        return np.ascontiguousarray(self._values(stored).T)

    def _own(self, group: Any, name: str) -> bool:
        """Whether the member lies in this file itself."""
        return isinstance(group.get(name, getlink=True), self._hard)

    def _variable(self, name: str) -> Variable:
        stored = self._file[name.replace(".", "/")]
        word = _class_of(stored)
        if hasattr(stored, "keys"):
            rows = stored.attrs.get("MATLAB_sparse")
            sparse = rows is not None and all(part in stored and self._own(stored, part) for part in ("jc",))
            shape = (int(rows), int(stored["jc"].shape[0]) - 1) if sparse else ()
            return Variable(name, shape, word or "group", sparse and word in NUMBERS)
        known = word in NUMBERS or (not word and stored.dtype.kind in "fiub")
        real = known and stored.dtype.kind in "fiub"
        return Variable(name, tuple(stored.shape[::-1]), "complex matrix" if known and not real else word, real)

    def _values(self, stored: Any) -> NDArray[Any]:
        if stored.is_virtual or stored.external:
            refuse(self.source, f"{stored.name[1:]!r} keeps its values in another file; save them into this one")
        return np.asarray(stored[()])

    def _sparse(self, group: Any, variable: Variable) -> NDArray[np.float64]:
        """Compressed columns: rows of the entries (ir), where each column begins (jc), values (data)."""
        m, n = variable.shape
        absent = np.empty(0)
        parts = {
            part: self._values(group[part]).ravel() if part in group and self._own(group, part) else absent
            for part in ("ir", "jc", "data")
        }
        rows, begins = parts["ir"].astype(np.int64), parts["jc"].astype(np.int64)
        values = parts["data"]
        sound = begins[0] == 0 and (np.diff(begins) >= 0).all() and begins[-1] == len(rows) == len(values)
        if not sound or values.dtype.kind not in "fiub" or (rows < 0).any() or (rows >= m).any():
            refuse(self.source, f"the sparse variable {variable.name!r} is damaged")
        dense = np.zeros((m, n))
        dense[rows, np.repeat(np.arange(n), np.diff(begins))] = values
        return dense
