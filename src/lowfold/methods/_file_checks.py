"""Whether the parts of a model that was read from a file fit each other: compiled loops and LAPACK trust them.

A file with right checksums may still be made by anybody; sizes are named by letters here, and a letter has one value in
the whole model: n points, d columns of the output, D features. What slips through all of this and is then found out by
NumPy is told in words (`told_as_damage`).
"""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lowfold._core.errors import FileProblem, LowfoldError
from lowfold._core.file_words import refuse
from lowfold._core.rounding import LARGEST as LARGEST_VALUE
from lowfold._core.sparse_rows import SparseRows
from lowfold.graph._search import SEARCHES
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Sheet
from lowfold.graph._types import Graph, Neighbors
from lowfold.lowrank._random_projection import RANDOM_KINDS
from lowfold.methods._fit import Trained
from lowfold.methods._placing.trust import misread

SHAPES: Mapping[str, Mapping[str, str]] = {
    "AffineMap": {"mean": "D", "W": "D d", "B": "d D"},
    "Combined": {"coordinates": "n c", "W": "c d"},
    "ConditionalScores": {"mean": "D", "V": "D d", "W": "D d"},
    "DiffusionRow": {
        **dict.fromkeys(("local", "densities", "degrees", "kth_distance", "factors", "logs"), "n"),
        "values": "d",
        "earlier": "p n",
    },
    "FeatureProjection": {"mean": "f", "U": "f d"},
    "FixedPoint": {"values": "d", "vectors": "n d"},
    "GramRow": {"row_means": "n", "values": "d", "vectors": "n d"},
    "HarmonicRow": {"values": "d", "kth_distance": "n", "local": "n"},
    "KernelExpansion": {"alpha": "n d", "offset": "d"},
    "KernelRow": {"row_means": "n", "values": "d", "vectors": "n d"},
    "LandmarkRow": {"row_means": "m", "values": "d", "vectors": "m d", "landmarks": "m", "factors": "n"},
    "LinearBack": {"mean": "D", "B": "d D"},
    "MergedRow": {"weights": "k"},
    "MultilinearMap": {"mean": "*", "V": "c d"},
    "NonnegativeRow": {"H": "d D"},
    "PatchMap": {"indptr": "p", "members": "q"},
    "Piece": {"rows": "n", "offset": "d"},
    "Pieces": {"piece_of": "n"},
    "PlaneMap": {"knots": "h F", "tangents": "h F t", "at": "h d", "slope": "h t d"},
    "RandomMap": {"kept": "D d", "mean": "D", "turn": "d d"},
    "SparseErrorRow": {"mean": "D", "V": "D d"},
    "StressRow": {"knots": "h", "heights": "h"},
    "ThroughLandmarks": {"landmarks": "m"},
    "Unknown": {"at": "d", "mean": "D", "apart": "u"},
    "VectorRow": {
        "densities": "n",
        "degrees": "n",
        "bases": "n F t",
        "values": "e",
        "fields": "n t e",
        "pairs": "d 2",
        "kth_distance": "n",
    },
    "WeightedRow": {"row_means": "k n", "weights": "k d"},
}
"""Part -> its arrays -> their sides; m landmarks, k matrices, the other letters of the part alone. "*": any shape."""

BOUNDS: Mapping[tuple[str, str], str] = {
    ("LandmarkRow", "landmarks"): "n",
    ("PatchMap", "members"): "n",
    ("PatchMap", "indptr"): "q+",
    ("Piece", "rows"): "N",
    ("Pieces", "piece_of"): "P-",
    ("ThroughLandmarks", "landmarks"): "n",
    ("Unknown", "apart"): "n",
    ("VectorRow", "pairs"): "e",
}
"""Whole numbers -> the letter that they stay below; q+ may reach it, P- may be -1 as well; all others are floats."""

ABOVE_ZERO = (
    ("DiffusionRow", "densities"),
    ("LandmarkRow", "factors"),
    ("VectorRow", "degrees"),
    ("VectorRow", "densities"),
)
"""What new points are divided by."""

READ_FROM: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # models that came from a file, and which
LARGEST = 1e150  # squares of the largest data (1e70) and what is left of them after a division
ENDLESS = ("kth_distance", "local", "distances")  # inf is one of their values
PLAIN = {"float": (int, float), "int": (int,), "bool": (bool,), "str": (str,)}
POSITIVE = ("scale", "pca_scale", "perplexity", "gamma", "reg", "n_components", "max_iter")


def misfit(model: Any) -> str | None:
    """What does not belong together, in words; None where everything does."""
    try:
        return _misfit(model)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return f"a part is of another kind ({type(error).__name__})"


def _misfit(model: Any) -> str | None:
    sizes = _sizes(model)
    if isinstance(sizes, str):
        return sizes
    trained = model._trained
    gaps = bool(getattr(model.reader, "gaps", False))
    several, outside = model.reader.__class__.__name__ == STACKS, _in_pieces(model._extend)
    return (
        _of_trained(trained, sizes, gaps, outside=outside, several=several)
        or _of_part(model._extend, sizes)
        or _of_part(model._invert, sizes)
        or misread(model)
    )


STACKS = "SeveralSquares"  # the reader of stacked matrices, whose columns are not the features


def _sizes(model: Any) -> dict[str, int] | str:
    """n, d and D of the model, or what is wrong with them."""
    trained = model._trained
    normal: Any = getattr(model, "_normal", None)
    assert isinstance(trained, Trained)
    Y = trained.coordinates
    if _floats(Y, 2) and float(np.nanmax(np.abs(Y), initial=0.0)) > LARGEST:
        return "the coordinates are not finite"
    if not _floats(Y, 2) or not _floats(normal, 2) or normal.shape[0] != normal.shape[1] or normal.shape[0] < 1:
        return "coordinates or their map are no matrices of numbers"
    if Y.shape[1] != normal.shape[1]:
        return f"coordinates have {Y.shape[1]} columns and their map {normal.shape[1]}"
    if not _in_range(normal) or np.linalg.cond(normal) > 1 / np.finfo(float).eps:
        return "the map of the coordinates is not finite, or cannot be undone"
    embedding = getattr(model, "embedding_", None)
    if embedding is not None and not (_floats(embedding, 2) and embedding.shape[1] == normal.shape[1]):
        return "embedding_ is no matrix of numbers with a column per component"
    if getattr(model, "_dtype", "float64") not in ("float32", "float64"):
        return "its numbers are of no known type"
    sides = getattr(model, "shape_", (getattr(model, "n_matrices_", 1),))
    if not isinstance(sides, tuple) or not all(type(side) is int and side > 0 for side in sides):
        return "the shape of its samples is not made of whole numbers"
    sizes = {"d": int(normal.shape[1])}
    if len(Y):
        sizes["n"] = len(Y)
    features = getattr(model, "n_features_in_", None)
    if type(features) is bool or not isinstance(features, (int, np.integer)) or features < 1:
        return f"n_features_in_ is {str(features)[:20]!r}"
    sizes["D"] = int(features)
    return sizes


def _of_trained(
    trained: Any, sizes: Mapping[str, int], gaps: bool, *, outside: bool = False, several: bool = False
) -> str | None:
    """The training data of a model or of one of its parts, whose coordinates have `sizes`, and NaN if some points stay
    `outside` the largest piece.
    """
    if not isinstance(trained, Trained) or not _floats(trained.coordinates, 2):
        return "the training data are of another kind"
    if not outside and np.isnan(trained.coordinates).any():
        return "the coordinates are not finite"
    source = trained.source
    if isinstance(source, Points):
        words = _rows(source.X, None if several else sizes.get("D"), gaps) or _sheet(source)
        if words is not None:
            return words
    elif isinstance(source, Pairs):
        if not isinstance(source.distances, np.ndarray) or source.distances.dtype.kind != "f":
            return "the distances are no matrix of numbers"
    elif isinstance(source, Blocks):
        if source.rows.shape[1] != sizes.get("D"):
            return f"the training points have {source.rows.shape[1]} features and the model {sizes.get('D')}"
    elif source is not None and not isinstance(source, Measured):
        return "the training data are of another kind"
    if trained.graph is not None and not isinstance(trained.graph, Graph):
        return "the graph is of another kind"
    if trained.graph is not None and not _in_order(trained.graph):
        return "the rows of the graph are not in order"
    counts = {len(trained.coordinates), *(part.n for part in (source, trained.graph) if part is not None)}
    if len(counts) > 1:
        return f"points, graph and coordinates have different sizes {sorted(counts)}"
    return _rules(trained)


def _in_order(graph: Graph) -> bool:
    """Whether neighbours rise in every row: none twice. What cannot be reached would have no coordinates."""
    rises = np.diff(graph.indices) > 0
    rises[graph.indptr[1:-1][(graph.indptr[1:-1] > 0) & (graph.indptr[1:-1] < len(graph.indices))] - 1] = True
    return bool(rises.all())


def _rows(X: Any, D: int | None, gaps: bool) -> str | None:
    values = X.csr.data if isinstance(X, SparseRows) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return "the training points are no numbers"
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if largest > LARGEST_VALUE or (np.isnan(values).any() and not gaps):
        return "the training points have values that are not finite, or too large"
    width = prod(X.shape[1:])
    return None if D in (None, X.shape[1], width) else f"the training points have {width} features and the model {D}"


def _sheet(source: Points) -> str | None:
    """A surface known by its knots: loops follow its links."""
    if not isinstance(source, Sheet):
        return None
    parts, links = (source.knots, source.tangents, source.steps, source.turns), source.links
    if not all(_floats(part, ndim) for part, ndim in zip(parts, (2, 3, 2, 3), strict=True)):
        return "the knots of the surface are no numbers"
    h, d, marks = len(source.knots), source.steps.shape[1], source.marks
    fits = (
        isinstance(links, Neighbors)
        and links.n == links.n_points == h
        and source.tangents.shape == (*source.knots.shape, d)
        and len(source.steps) == len(links.indices)
        and source.turns.shape == (len(source.steps), d, d)
        and isinstance(marks, np.ndarray)
        and marks.dtype == np.int64
        and marks.shape == (source.n,)
        and bool(((marks >= 0) & (marks < h)).all())
    )
    return None if fits else "the knots of the surface, their links and their points do not belong together"


def _rules(trained: Trained) -> str | None:
    k, radius = trained.n_neighbors, trained.radius
    if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1):
        return f"n_neighbors is {str(k)[:20]!r}"
    if radius is not None and not (_number(radius) and radius > 0):
        return f"radius is {str(radius)[:20]!r}"
    return None if trained.search in SEARCHES else f"search is {str(trained.search)[:20]!r}"


def _of_part(part: Any, known: Mapping[str, int]) -> str | None:
    """One part, and those inside it; a part with training data of its own has their number of points."""
    name = type(part).__name__
    sizes = dict(known)
    own: Any = getattr(part, "trained", None)
    words = _plain_fields(part)
    if words is not None:
        return words
    if isinstance(own, Trained) or hasattr(part, "trained"):
        words = _of_trained(own, sizes, gaps=False, outside=_in_pieces(part))
        if words is not None:
            return words
        outer = sizes.get("n", 0)
        inner = {**sizes, "n": len(own.coordinates), "N": outer}
        words = _arrays(part, inner if name == "Piece" else {**sizes, "m": len(own.coordinates)})
        return words or _inside(part, {**sizes, "n": len(own.coordinates)})
    if name == "Pieces":
        sizes["P"] = len(part.pieces)
    if name == "MultilinearMap":
        return _modes(part, sizes)
    if name == "RandomMap" and not _drawn(part, sizes):
        return "the rule of RandomMap is for other sizes"
    if name == "VectorRow" and part.bases.shape[1] < 1:
        return "bases of VectorRow are empty"
    return _arrays(part, sizes) or _patches(part, sizes) or _inside(part, sizes)


def _in_pieces(part: Any) -> bool:
    """Whether points that belong to no piece have no coordinates."""
    inner = [getattr(part, field, None) for field in ("extend", "inner")]
    return type(part).__name__ == "Pieces" or any(_in_pieces(one) for one in inner if one is not None)


def _inside(part: Any, sizes: Mapping[str, int]) -> str | None:
    if type(part).__name__ == "Combined":  # of more columns than come out
        sizes = {**sizes, "d": part.coordinates.shape[1]}
    inner = [getattr(part, field, None) for field in ("extend", "inner", "invert", "unknown")]
    inner += list(getattr(part, "pieces", ()))
    return next((words for one in inner if one is not None and (words := _of_part(one, sizes)) is not None), None)


def _plain_fields(part: Any) -> str | None:
    """Numbers, words and truth values where the class declares them."""
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return f"a part is a {type(part).__name__}"
    for field in dataclasses.fields(part):
        value, kind = getattr(part, field.name), str(field.type).removesuffix(" | None")
        if kind not in PLAIN or (value is None and str(field.type).endswith("None")):
            continue
        right = isinstance(value, PLAIN[kind]) and (kind == "bool" or not isinstance(value, bool))
        if right and kind in ("float", "int"):
            endless = field.name == "reach" and value == np.inf
            right = endless or (abs(value) < LARGEST and (field.name not in POSITIVE or value >= 0))
        if not right:
            return f"{field.name} of {type(part).__name__} is {str(value)[:20]!r}"
    return None


def _arrays(part: Any, known: Mapping[str, int]) -> str | None:
    name = type(part).__name__
    sizes = dict(known)
    for field, sides in SHAPES.get(name, {}).items():
        array = getattr(part, field)
        if array is None:
            continue
        letters = sides.split()
        ndim = np.ndim(array) if sides == "*" else len(letters)
        bound = BOUNDS.get((name, field))
        if not (_floats(array, ndim) if bound is None else _whole(array, ndim)):
            return f"{field} of {name} is not an array of numbers with {ndim} axes"
        if bound is None and not _in_range(array, endless=field in ENDLESS):
            return f"{field} of {name} has values that are not finite"
        if (name, field) in ABOVE_ZERO and not (array > 0).all():
            return f"{field} of {name} has values that are not above 0"
        for letter, side in zip([] if sides == "*" else letters, array.shape, strict=sides != "*"):
            fixed = int(letter) if letter.isdigit() else sizes.setdefault(letter, side)
            if fixed != side or (side < 1 and letter != "h"):
                return f"{field} of {name} has a side of {side} where {fixed} belongs"
    for (owner, field), bound in BOUNDS.items():
        array = getattr(part, field, None) if owner == name else None
        if array is not None and array.size:
            low = -1 if bound.endswith("-") else 0
            high = sizes.get(bound.rstrip("+-"), 0) + bound.endswith("+")
            if array.min() < low or array.max() >= high:
                return f"{field} of {name} points outside"
    return None


def _drawn(part: Any, sizes: Mapping[str, int]) -> bool:
    """Whether the rule of a random matrix is one of this model."""
    seeds = isinstance(part.seed, tuple) and all(type(one) is int and one >= 0 for one in part.seed)
    known = part.kind in RANDOM_KINDS and 0 < part.density <= 1
    return seeds and known and (part.D, part.k) == (sizes["D"], sizes["d"])


def _modes(part: Any, sizes: Mapping[str, int]) -> str | None:
    """A matrix for every axis of the mean, and as many columns in all as V has rows."""
    modes, mean = part.modes, part.mean
    if not _floats(mean, np.ndim(mean)) or not isinstance(modes, tuple) or len(modes) != mean.ndim:
        return "the modes of MultilinearMap are no matrices of the axes"
    for side, mode in zip(mean.shape, modes, strict=True):
        if not _floats(mode, 2) or mode.shape[0] != side or not mode.size or not np.isfinite(mode).all():
            return "the modes of MultilinearMap are no matrices of the axes"
    return _arrays(part, {**sizes, "c": prod(mode.shape[1] for mode in modes)})


def _patches(part: Any, sizes: Mapping[str, int]) -> str | None:
    if type(part).__name__ != "PatchMap":
        return None
    indptr, members = part.indptr, part.members
    n = sizes.get("n", 0)
    rising = len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(members) and (np.diff(indptr) >= 0).all()
    return None if rising else "the patches do not follow each other"


def _in_range(array: Any, *, endless: bool = False) -> bool:
    inside = array[np.isfinite(array)] if endless else array
    largest = float(np.abs(inside).max(initial=0.0))  # NaN is below nothing
    return largest < LARGEST and not np.isnan(array).any()


def _floats(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim == ndim


def _whole(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == ndim


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))


def check_members(archive: zipfile.ZipFile, file: Path, text: str) -> None:
    """Nothing is packed, so that no member can be larger than the file; no two members share bytes."""
    members = archive.infolist()
    names = [info.filename for info in members]
    if text not in names:
        refuse(file, f"is not a model of lowfold: it has no {text}")
    packed = any(info.compress_type != zipfile.ZIP_STORED for info in members)
    if packed or len(set(names)) < len(names) or sum(info.file_size for info in members) > file.stat().st_size:
        refuse(file, "is not a model that lowfold wrote: its parts are packed, doubled or larger than the file")


def checked_part(part: Any, source: str) -> Any:
    """Sizes inside a part agree: compiled loops trust them."""
    if isinstance(part, Trained):
        kept = [piece for piece in (part.source, part.graph) if piece is not None]
        sizes = {len(part.coordinates), *(piece.n for piece in kept)}
        if len(sizes) > 1 or np.ndim(part.coordinates) != 2:
            refuse(source, f"is damaged: points, graph and coordinates have different sizes {sorted(sizes)}")
    return part


@contextmanager
def told_as_damage(model: Any) -> Iterator[None]:
    """What NumPy finds wrong while a model from a file places points is the file's fault, and said so.

    Errors in what the caller passes are found before, while it is read.
    """
    try:
        yield
    except LowfoldError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, np.linalg.LinAlgError) as error:
        source = READ_FROM.get(model)
        if source is None or not _while_placing(error):
            raise
        words = " ".join(str(error).split())[:120]
        raise FileProblem(
            f"{source}: is damaged: its parts cannot place points ({words}); save the model again"
        ) from error


def _while_placing(error: BaseException) -> bool:
    trace, names = error.__traceback__, []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return bool({"place", "restore"} & set(names))
