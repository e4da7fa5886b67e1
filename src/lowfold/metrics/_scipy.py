"""SciPy's other distances, by its names: row against row without a map, in float64."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.types import AnyFloats
from lowfold._core.warn import warn
from lowfold.metrics import _maps as maps
from lowfold.metrics import _unmapped as unmapped
from lowfold.metrics._mahalanobis import numbers_of
from lowfold.metrics._metric import Metric

CITY_BLOCK = ("manhattan", "cityblock", "l1")
PLAIN = (
    "braycurtis",
    "canberra",
    "dice",
    "hamming",
    "jaccard",
    "jensenshannon",
    "matching",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "yule",
)
TRUTH = ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")  # of other numbers SciPy's are no distances
SAME = 1e-15  # what rounding leaves between equal rows
AT_ONCE = 16  # matching rows that are compared as a block: the diagonal is used


def scipy_block(A: AnyFloats, B: AnyFloats, *, name: str) -> NDArray[np.float64]:
    """Distances by `scipy.spatial.distance.cdist`; 0 where it divides 0 by 0, for rows without anything in them."""
    from scipy.spatial.distance import cdist

    kind = np.bool_ if name in TRUTH else np.float64
    d = cdist(A.astype(kind), B.astype(kind), cast("Any", name))
    d[np.isnan(d) | (d < SAME)] = 0.0
    return np.asarray(d)


def scipy_matched(A: AnyFloats, B: AnyFloats, *, name: str) -> NDArray[np.float64]:
    """The same of matching rows."""
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(A), AT_ONCE)]
    return np.concatenate([np.empty(0), *(np.diagonal(scipy_block(A[p], B[p], name=name)) for p in parts)])


def build(name: str, params: dict[str, Any], X: AnyFloats | None) -> Metric:
    """The metric of that name; `params` are those of the table."""
    if name in CITY_BLOCK or name == "chebyshev":
        p = np.inf if name == "chebyshev" else 1.0
        return Metric(
            name, block=partial(unmapped.minkowski_block, p=p), matched=partial(unmapped.minkowski_matched, p=p)
        )
    if name == "sqeuclidean":
        return Metric(name, feature_map=maps.identity, finish=maps.square, unfinish=maps.root, linear=True)
    if name == "seuclidean":
        return _standardized(params, X)
    if name == "jensenshannon" and X is not None and (np.min(X) < 0 or not (np.sum(X, axis=1) > 0).all()):
        raise InvalidInput("metric 'jensenshannon' compares distributions: rows must be 0 or more, and not all 0")
    if name in TRUTH and X is not None and not np.isin(X, (0, 1)).all():
        warn(
            f"metric {name!r} compares truth values, and X holds other numbers than 0 and 1: what is not 0 counts as "
            "true; pass X > threshold, or metric='jaccard' or 'hamming', which compare values",
            RepairWarning,
        )
    return Metric(name, block=partial(scipy_block, name=name), matched=partial(scipy_matched, name=name))


def _standardized(params: dict[str, Any], X: AnyFloats | None) -> Metric:
    if "V" not in params and X is None:
        raise InvalidInput("metric_params: metric 'seuclidean' without data needs V, the variances of the columns")
    given = params["V"] if "V" in params or X is None else np.var(X, axis=0, ddof=1, dtype=np.float64)
    V = numbers_of(given, "V of seuclidean")
    if V.ndim != 1 or (X is not None and len(V) != X.shape[1]) or not (V >= 0).all():
        raise InvalidInput(f"metric_params: V of seuclidean must have one variance per column; got shape {V.shape}")
    scale = 1.0 / np.sqrt(np.where(V > 0, V, 1.0))
    return Metric("seuclidean", feature_map=partial(scaled, scale=scale), params={"V": V}, linear=True)


def scaled(X: AnyFloats, *, scale: AnyFloats) -> AnyFloats:
    """Columns times their scale."""
    return X * scale.astype(X.dtype)
