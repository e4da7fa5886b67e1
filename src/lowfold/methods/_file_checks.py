"""Whether the parts of a model that was read from a file fit each other: compiled loops and LAPACK trust them.

A file with right checksums may still be made by anybody; sizes are named by letters here, and a letter has one value in
the whole model: n points, d columns of the output, D features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowfold.methods._fit import Trained

SHAPES: Mapping[str, Mapping[str, str]] = {
    "AffineMap": {"mean": "D", "W": "D d", "B": "d D"},
    "DiffusionRow": {"local": "n", "densities": "n", "degrees": "n", "values": "d"},
    "GramRow": {"row_means": "n", "values": "d", "vectors": "n d"},
    "HarmonicRow": {"values": "d", "kth_distance": "n"},
    "KernelRow": {"row_means": "n", "values": "d", "vectors": "n d"},
    "LandmarkRow": {"row_means": "m", "values": "d", "vectors": "m d", "landmarks": "m", "factors": "n"},
    "NonnegativeRow": {"H": "d D"},
    "PatchMap": {"indptr": "p", "members": "q"},
    "WeightedRow": {"row_means": "k n", "weights": "k d"},
}
"""Part -> its arrays -> their sides; m landmarks, k matrices, p and q of the part alone."""

INDICES = ("landmarks", "indptr", "members")  # whole numbers; everything else is a float


def misfit(model: Any) -> str | None:
    """What does not belong together, in words; None where everything does."""
    sizes = _sizes(model)
    if isinstance(sizes, str):
        return sizes
    extend: Any = getattr(model, "_extend", None)
    words = _of_part(extend, sizes)
    if words is None and type(extend).__name__ == "PatchMap":
        words = _patches(extend, sizes["n"])
    if words is None and type(extend).__name__ == "LandmarkRow" and extend.landmarks is not None:
        inside = len(extend.landmarks) and extend.landmarks.min() >= 0 and extend.landmarks.max() < sizes["n"]
        words = None if inside else "landmarks that are no points"
    return words


def _sizes(model: Any) -> dict[str, int] | str:
    """n, d and D of the model, or what is wrong with them."""
    trained = model._trained
    normal: Any = getattr(model, "_normal", None)
    assert isinstance(trained, Trained)
    Y = trained.coordinates
    if not _floats(Y, 2) or not _floats(normal, 2) or normal.shape[0] != normal.shape[1] or normal.shape[0] < 1:
        return "coordinates or their map are no matrices of numbers"
    if Y.shape[1] != normal.shape[1]:
        return f"coordinates have {Y.shape[1]} columns and their map {normal.shape[1]}"
    if not np.isfinite(normal).all():
        return "the map of the coordinates is not finite"
    embedding = getattr(model, "embedding_", None)
    if embedding is not None and not (_floats(embedding, 2) and embedding.shape[1] == normal.shape[1]):
        return "embedding_ is no matrix of numbers with a column per component"
    sizes = {"d": int(normal.shape[1])}
    if len(Y):
        sizes["n"] = len(Y)
    features = getattr(model, "n_features_in_", None)
    if features is not None:
        if not isinstance(features, (int, np.integer)) or features < 1:
            return f"n_features_in_ is {features!r}"
        sizes["D"] = int(features)
    return sizes


def _of_part(part: Any, known: Mapping[str, int]) -> str | None:
    name = type(part).__name__
    sizes = dict(known)
    for field, sides in SHAPES.get(name, {}).items():
        array = getattr(part, field)
        if array is None:
            continue
        letters = sides.split()
        right = _whole(array, len(letters)) if field in INDICES else _floats(array, len(letters))
        if not right:
            return f"{field} of {name} is not an array of numbers with {len(letters)} axes"
        for letter, side in zip(letters, array.shape, strict=True):
            if side < 1 or sizes.setdefault(letter, side) != side:
                return f"{field} of {name} has a side of {side} where {sizes[letter]} belongs"
    return None


def _patches(part: Any, n: int) -> str | None:
    indptr, members = part.indptr, part.members
    rising = len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(members) and (np.diff(indptr) >= 0).all()
    if not rising:
        return "the patches do not follow each other"
    return None if members.min() >= 0 and members.max() < n else "patches have members that are no points"


def _floats(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim == ndim


def _whole(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == ndim
