"""Arrays: NumPy's npy and npz, MATLAB's mat. Nothing in a file is executed, nothing is allocated on a header's word."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold._core.types import AnyFloats
from lowfold.datasets._file_table import Table, numbered, small_float
from lowfold.datasets._gaps import are_distances
from lowfold.datasets._read_hdf5 import Matlab73File, is_hdf5
from lowfold.datasets._read_matlab import DEFLATE_LIMIT, MatlabFile
from lowfold.datasets._read_sparse import MEMBERS, sparse_table


def read_npy(path: str | Path, *, points: Literal["rows", "columns"] = "rows") -> Table:
    """Read an array saved by `numpy.save`: rows (or columns) are points, stacks of images are flattened."""
    file = existing_file(path)
    with parsing(path, "npy file"), file.open("rb") as stream:
        array = _npy(stream, file.stat().st_size, path)
    return _table({"X": array}, "X", points, path)


def read_npz(path: str | Path, *, variable: str | None = None, points: Literal["rows", "columns"] = "rows") -> Table:
    """Read one array of an archive saved by `numpy.savez`; vectors with one value per point become labels.

    `variable` names the array; without it the only one is taken, or the one called X. A matrix saved by
    `scipy.sparse.save_npz` stays sparse.
    """
    file = existing_file(path)
    arrays: dict[str, NDArray[Any]] = {}
    with parsing(path, "npz file"), zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        sparse = members.keys() >= MEMBERS
        name = "" if sparse else _chosen(list(members), variable, path)
        for key, info in members.items():
            packed = min(info.compress_size, file.stat().st_size)
            if info.file_size > DEFLATE_LIMIT * packed + 1024:
                refuse(path, f"array {key!r} claims {info.file_size} bytes from {info.compress_size}; it is damaged")
            with archive.open(info) as stream:
                if sparse or key == name:
                    kinds = "SU" if sparse and key == "format" else "fiub"
                    arrays[key] = _npy(stream, info.file_size, f"{path}, array {key!r}", kinds)
                elif info.file_size <= 1 << 26:
                    arrays |= _label_or_nothing(key, stream, info.file_size, path)
        if sparse:
            return sparse_table(arrays, path)
    return _table(arrays, name, points, path)


def read_mat(path: str | Path, *, variable: str | None = None, points: Literal["rows", "columns"] = "rows") -> Table:
    """Read one numeric variable of a MATLAB file; vectors, words in rows or in a cell, one per point, become labels.

    Formats 5 to 7 are read here, 7.3 by h5py (extra `matlab`). Objects and functions are refused. `variable` names the
    matrix, one in a struct as data.X; without it the only numeric one is taken, the one called X, or the only one that
    is no vector, first among those outside of structs.
    """
    file = existing_file(path)
    with parsing(path, "MATLAB file"):
        with file.open("rb") as stream:
            hdf5 = is_hdf5(stream.read(16))
        if not hdf5:
            arrays, name = _variables(MatlabFile(file.read_bytes(), path), variable, path)
        else:
            with Matlab73File(file) as matlab:
                arrays, name = _variables(matlab, variable, path)
    return _table(arrays, name, points, path)


def _variables(
    matlab: MatlabFile | Matlab73File, variable: str | None, path: object
) -> tuple[dict[str, NDArray[Any]], str]:
    """The matrix that is meant and the vectors beside it, and its name."""
    found: dict[str, Any] = {v.name: v for v in matlab.variables()}
    within = "" if variable is None else variable.rpartition(".")[0]
    if within or not any(v.is_numeric for v in found.values()):
        fields: list[Any] = [v for top in list(found.values()) for v in matlab.fields(top)]
        arrays_and_words = {v.name: v for v in fields if not v.is_numeric or prod(v.shape) > 1}
        found = arrays_and_words if any(v.is_numeric for v in arrays_and_words.values()) else found
    if variable in found and not found[variable].is_numeric:
        refuse(path, f"variable {variable!r} is a {found[variable].word}, not a matrix of real numbers")
    numeric = {name: v for name, v in found.items() if v.is_numeric}
    if not numeric and found:
        there = ", ".join(f"{name} ({v.word})" for name, v in list(found.items())[:30])
        refuse(path, f"holds no array of numbers; there are {there}: save what is in them as variables of their own")
    wide = [name for name, v in numeric.items() if _vector_length(v.shape) is None]
    name = _chosen(
        wide if len(wide) == 1 and variable is None and "X" not in numeric else list(numeric), variable, path
    )
    beside = name.rpartition(".")[0]
    wanted = [key for key, v in numeric.items() if key == name or _vector_length(v.shape) is not None]
    arrays = {key: matlab.load(numeric[key]) for key in wanted}
    words = {key: matlab.words(v) for key, v in found.items() if v.may_be_words}
    arrays |= {key: array for key, array in words.items() if array is not None}
    if not beside:
        return arrays, name
    named = {key.removeprefix(f"{beside}."): array for key, array in arrays.items() if key.startswith(f"{beside}.")}
    return named, name.removeprefix(f"{beside}.")


def _refuse_kind(dtype: np.dtype[Any], source: object) -> NoReturn:
    """Name what is no real number, with the way to have it read."""
    if dtype.hasobject:
        refuse(source, "holds Python objects, which are never loaded; save numbers, as array.astype(float) makes them")
    way = "; save real and imaginary parts as columns, np.hstack([X.real, X.imag])" if dtype.kind == "c" else ""
    refuse(source, f"holds {dtype}, not real numbers{way}")


def _npy(stream: IO[bytes], size: int, source: object, kinds: str = "fiub") -> NDArray[Any]:
    """One npy stream of `size` bytes; its header is compared with the size before anything is allocated."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        refuse(source, f"npy format {version[0]}.{version[1]} holds no plain matrix of numbers")
    if dtype.kind not in kinds:
        _refuse_kind(dtype, source)
    n_bytes = prod(int(side) for side in shape) * dtype.itemsize
    if any(side < 0 for side in shape) or n_bytes > size:
        refuse(source, f"the header promises shape {shape} of {dtype}, {n_bytes} bytes, but the file has {size}")
    require_room(source, n_bytes, f"an array of shape {shape}")
    data = stream.read(n_bytes)
    if len(data) < n_bytes:
        refuse(source, f"is truncated: {n_bytes} bytes of data were promised, {len(data)} are there")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")


def _label_or_nothing(key: str, stream: IO[bytes], size: int, source: object) -> dict[str, NDArray[Any]]:
    """A side array that may serve as a label; one that cannot be read is no reason to refuse the data."""
    try:
        with parsing(source, "npy file"):
            return {key: _npy(stream, size, source, kinds="fiubUS")}
    except InvalidInput:
        return {}


def _chosen(names: list[str], variable: str | None, source: object) -> str:
    if variable is not None:
        if variable not in names:
            refuse(source, f"there is no array of numbers {variable!r}; there are {', '.join(names[:30]) or 'none'}")
        return variable
    if not names:
        refuse(source, "holds no array of numbers")
    if len(names) > 1 and "X" not in names:
        refuse(source, f"holds several arrays: {', '.join(names[:30])}; say which with variable=NAME")
    return names[0] if len(names) == 1 else "X"


def _vector_length(shape: tuple[int, ...]) -> int | None:
    """The length of a vector, also when it is written as one row or one column; None for anything else."""
    long = [side for side in shape if side != 1]
    return int(long[0]) if len(long) == 1 else None


def _table(arrays: Mapping[str, NDArray[Any]], name: str, points: str, source: object) -> Table:
    """The named array as points, the vectors of matching length as labels."""
    if points not in ("rows", "columns"):
        raise InvalidInput(f"points must be 'rows' or 'columns'; got {points!r}")
    X, notices = as_matrix(arrays[name], points, source)
    labels = {
        key: array.ravel()
        for key, array in arrays.items()
        if key != name and _vector_length(array.shape) == len(X) and len(X) > 1
    }
    notices += _told_columns(arrays, name, len(X), points)
    missing = int(np.isnan(X).sum())
    if missing:
        row, column = (int(i) for i in np.argwhere(np.isnan(X))[0])
        words = f"the first in row {row + 1}, column {column + 1}"
        helps = "missing='drop' or missing='mean' helps"
        way = "pairs of a distance matrix that nobody measured: MetricMDS takes them" if are_distances(X) else helps
        notices.append(f"{missing} values are NaN, {words}; {way}")
    shape = arrays[name].shape
    inner = shape[1:] if points == "rows" else shape[:-1]
    return Table(
        X,
        numbered(X.shape[1]),
        labels,
        None,
        notices,
        str(source),
        point_shape=tuple(int(s) for s in inner) if len(shape) in (3, 4) else None,
    )


def _told_columns(arrays: Mapping[str, NDArray[Any]], name: str, n: int, points: str) -> list[str]:
    """A word where vectors have one value for each column, none for each row: columns may be the points."""
    last = arrays[name].shape[-1]
    lengths = {key: _vector_length(array.shape) for key, array in arrays.items() if key != name}
    fits = [key for key, length in lengths.items() if length == last]
    if points != "rows" or arrays[name].ndim < 2 or not fits or n in lengths.values():
        return []
    return [f"{fits[0]} has {last} values, as many as there are columns; points='columns' makes those the points"]


def as_matrix(array: NDArray[Any], points: str, source: object) -> tuple[AnyFloats, list[str]]:
    """(n, D) floats: a vector is one column, a stack of images one row per image."""
    if array.dtype.kind not in "fiub":
        _refuse_kind(array.dtype, source)
    if array.ndim == 0 or array.size == 0:
        refuse(source, f"an array of shape {array.shape} holds no points")
    notices = []
    if array.ndim == 1:
        array = array[:, None]
        notices.append("a vector was read as one column")
    if points == "columns":
        array = np.moveaxis(array, -1, 0)
    if array.ndim > 2:
        notices.append(f"an array of shape {array.shape} was read as {array.shape[0]} points of {array[0].size} values")
        array = array.reshape(len(array), -1)
    native = np.dtype(array.dtype).newbyteorder("=")
    return np.array(array, dtype=small_float(native), order="C"), notices
