"""Model files made by somebody else: every member of a file changed in every way that a format allows."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

TEXT = "lowfold.json"


def forgeries(good: Path, *, scalars: bool = True) -> Iterator[tuple[str, Path]]:
    """What was changed, and the file; one at a time, under one name."""
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    target = good.with_suffix(".forged")
    for name, data in members.items():
        if name != TEXT:
            array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            for words, changed in _arrays(array):
                yield f"{name} {array.dtype}{array.shape}: {words}", written(target, {**members, name: npy(changed)})
    if scalars:
        content = json.loads(members[TEXT])
        for words, changed in _scalars(content):
            yield words, written(target, {**members, TEXT: json.dumps(changed).encode()})


def _arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "empty", np.empty((0,) * array.ndim, array.dtype)
    yield "one axis more", array[None]
    yield "complex", array.astype(complex) if array.dtype.kind in "fiub" else array
    yield "text", np.full(array.shape, "x")
    for axis in range(array.ndim):
        yield f"axis {axis} shorter", np.delete(array, 0, axis) if array.shape[axis] else array
        yield f"axis {axis} longer", np.concatenate([array, array.take([0] if array.shape[axis] else [], axis)], axis)
    if array.dtype.kind == "f":
        yield "whole numbers", np.nan_to_num(array, posinf=9.0, neginf=-9.0).astype(np.int64)
        for value in (np.nan, np.inf, -1e300):
            yield f"{value}", _with(array, value)
            yield f"all {value}", np.full_like(array, value)
    if array.dtype.kind in "iu":
        yield "floats", array.astype(np.float64)
        for value in (-1, 10**6, 2**31 - 1):
            yield f"index {value}", _with(array, value)
            yield f"all {value}", np.full_like(array, value)


def _with(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    if changed.size:
        changed.flat[changed.size // 2] = value
    return changed


def _scalars(content: Any) -> Iterator[tuple[str, Any]]:
    for path in _leaves(content["fitted"], ()):
        for value in (None, -1, 0, 10**9, 1e308, "x", True, [], {"float": "nan"}, {"array": 0}):
            changed = json.loads(json.dumps(content))
            place = changed["fitted"]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            yield f"{'.'.join(map(str, path))} = {value!r}", changed


def _leaves(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def written(target: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return target


def verdict(load: Callable[[Path], Any], file: Path, new: np.ndarray, kind: type[Exception]) -> str:
    """ "" where the file ends in our words or in finite numbers, else what happened."""
    try:
        model = load(file)
        Y = np.asarray(model.transform(new))
        back = np.asarray(model.inverse_transform(Y[:2]))
    except kind:
        return ""
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"{type(error).__name__}: {str(error)[:80]}"
    numbers = all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (Y, back))
    return "" if numbers else f"numbers that are none, {Y.dtype} {back.dtype}"
