"""Distances that no map makes Euclidean: angles on a torus, Minkowski, a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.jit import compiled
from lowfold._core.rounding import LARGEST, UNEVEN
from lowfold._core.types import AnyFloats
from lowfold._core.warn import warn

TURN = 2 * np.pi
ASKED = 8  # rows among which a function is tried: 64 calls, next to those of a fit nothing


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
    A, B = _read_only(A), _read_only(B)
    return np.array([[_called(function, a, b) for b in B] for a in A]).reshape(len(A), len(B))


def callable_matched(A: AnyFloats, B: AnyFloats, *, function: Callable[..., Any]) -> NDArray[np.float64]:
    """function(a_i, b_i) of matching rows."""
    return np.array([_called(function, a, b) for a, b in zip(_read_only(A), _read_only(B), strict=True)])


def tell_function(function: Callable[..., Any], X: AnyFloats) -> None:
    """A word where a function of the user gives some rows no distance: none from 0 to itself, or not the same back."""
    rows = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), ASKED)).astype(np.int64))]
    D = callable_block(rows, rows, function=function)
    size, own, uneven = D.max(), np.abs(np.diagonal(D)).max(), np.abs(D - D.T).max()
    if own > UNEVEN * size:
        words = f"{own:.3g} between a row and itself, where a distance is 0"
    elif uneven > UNEVEN * size:
        i, j = np.unravel_index(np.argmax(np.abs(D - D.T)), D.shape)
        words = f"{D[i, j]:.3g} from one row to another and {D[j, i]:.3g} back; (f(a, b) + f(b, a)) / 2 is the same"
    else:
        return
    warn(f"metric: the function gives {words}; what comes out may depend on the order of the rows", RepairWarning)


def _read_only(rows: AnyFloats) -> AnyFloats:
    """Rows that a function of the user cannot change, which would change X."""
    view = rows.view()
    view.flags.writeable = False
    return view


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
