"""Distances that no map makes Euclidean: angles on a torus, Minkowski, a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.rounding import LARGEST
from lowfold._core.types import AnyFloats

TURN = 2 * np.pi


def torus_block(P: AnyFloats, Q: AnyFloats) -> NDArray[np.float64]:
    """d_ij = sqrt(sum_k wrapped(p_ik - q_jk)^2), each difference of angles taken to [-pi, pi] by whole turns."""
    torus_pairs = compiled("lowfold.metrics._pair_loops").torus_pairs
    return np.asarray(torus_pairs(np.ascontiguousarray(P), np.ascontiguousarray(Q)), dtype=np.float64)


def torus_matched(P: AnyFloats, Q: AnyFloats) -> NDArray[np.float64]:
    """sqrt(sum_k wrapped(p_ik - q_ik)^2) of matching rows."""
    w = np.asarray(P, dtype=np.float64) - Q
    w = w - TURN * np.round(w / TURN)
    return np.asarray(np.sqrt(np.einsum("ik,ik->i", w, w)), dtype=np.float64)


def minkowski_block(A: AnyFloats, B: AnyFloats, *, p: float) -> NDArray[np.float64]:
    """d_ij = (sum_k |a_ik - b_jk|^p)^(1/p), p = inf included."""
    from scipy.spatial.distance import cdist

    if np.isinf(p):
        return cdist(A, B, "chebyshev")
    # |difference| < 1 after scaling by a power of two, so that no p overflows
    e = 1 + int(np.frexp(max(np.abs(A).max(), np.abs(B).max()))[1])
    A, B = np.ldexp(A.astype(np.float64), -e), np.ldexp(B.astype(np.float64), -e)
    return np.ldexp(cdist(A, B, "cityblock") if p == 1 else cdist(A, B, "minkowski", p=p), e)


def minkowski_matched(A: AnyFloats, B: AnyFloats, *, p: float) -> NDArray[np.float64]:
    """(sum_k |a_ik - b_ik|^p)^(1/p) of matching rows."""
    difference = np.abs(np.asarray(A, dtype=np.float64) - B)
    largest = difference.max(axis=1)
    if np.isinf(p):
        return np.asarray(largest)
    unit = np.where(largest == 0, 1, largest)
    return np.asarray(unit * ((difference / unit[:, None]) ** p).sum(axis=1) ** (1 / p))


def callable_block(A: AnyFloats, B: AnyFloats, *, function: Callable[..., Any]) -> NDArray[np.float64]:
    """d_ij = function(a_i, b_j): a Python call per pair, unless the function is compiled by Numba."""
    if _is_compiled(function):
        call_pairs = compiled("lowfold.metrics._pair_loops").call_pairs
        values = np.asarray(call_pairs(function, np.ascontiguousarray(A), np.ascontiguousarray(B)), dtype=np.float64)
        wrong = ~((values >= 0) & (values <= LARGEST))
        if wrong.any():
            raise _no_distance(values[wrong][0])
        return values
    return np.array([[_called(function, a, b) for b in B] for a in A]).reshape(len(A), len(B))


def callable_matched(A: AnyFloats, B: AnyFloats, *, function: Callable[..., Any]) -> NDArray[np.float64]:
    """function(a_i, b_i) of matching rows."""
    return np.array([_called(function, a, b) for a, b in zip(A, B, strict=True)])


def _called(function: Callable[..., Any], a: AnyFloats, b: AnyFloats) -> float:
    value = function(a, b)
    number = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(number, Real | np.bool_) or not 0 <= float(number) <= LARGEST:
        raise _no_distance(value)
    return float(number)


def _no_distance(value: Any) -> InvalidInput:
    given = value.item() if isinstance(value, np.generic) else value  # NumPy's own words for a number are long
    return InvalidInput(
        f"metric: the function must give one number from 0 to {LARGEST:g} for two rows; it gave {given!r}"
    )


def _is_compiled(function: Callable[..., Any]) -> bool:
    return type(function).__module__.startswith("numba.") and hasattr(function, "py_func")
