"""The sums of stress of few points, by NumPy: what `_stress_loops` has, without anything to compile.

Their bits differ from the loops', so the number of points decides between them, never what was loaded before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.types import AnyFloats, Floats

Ends = NDArray[np.integer]


def unit_strip(
    delta: AnyFloats,
    first: int,
    Y: AnyFloats,
    strip: AnyFloats,
    out: Floats,
    rho: Floats,
    eta: Floats,
    stress: Floats,
) -> None:
    """The sums of the loop of this name."""
    wanted = delta[:, first : first + strip.shape[1]]
    gap = strip[:, None, :] - Y[:, :, None]
    squared = np.einsum("kjt,kjt->jt", gap, gap)
    length = np.sqrt(squared)
    ratio = np.divide(wanted, length, out=np.zeros_like(length), where=squared > 0)
    eta += squared.sum(axis=0)
    rho += np.einsum("jt,jt->t", wanted, length)
    length -= wanted
    stress += np.einsum("jt,jt->t", length, length)
    out += np.einsum("jt,kjt->kt", ratio, gap)


def _indices(i: Ends, j: Ends) -> tuple[Ends, Ends]:
    """The ends as NumPy counts: it would turn shorter numbers into these in each of four to eight gathers."""
    return i.astype(np.intp, copy=False), j.astype(np.intp, copy=False)


def edge_distances(i: Ends, j: Ends, p: float, Y: Floats, out: Floats) -> None:
    """Euclidean distances of the ends of edges; p is 2."""
    i, j = _indices(i, j)
    out[:] = 0.0
    for y in np.ascontiguousarray(Y.T):
        gap = y[i]
        gap -= y[j]
        out += np.multiply(gap, gap, out=gap)
    np.sqrt(out, out=out)


def edge_pull(i: Ends, j: Ends, ratio: Floats, Y: Floats, out: Floats) -> None:
    """ratio_e (y_i - y_j) added at i and taken off at j."""
    i, j = _indices(i, j)
    for k, y in enumerate(np.ascontiguousarray(Y.T)):
        pull = y[i]
        pull -= y[j]
        pull *= ratio
        out[:, k] += np.bincount(i, pull, len(y)) - np.bincount(j, pull, len(y))


def edge_sums(
    i: Ends,
    j: Ends,
    delta: Floats,
    weight: Floats,
    Y: Floats,
    out: Floats,
    rho: Floats,
    eta: Floats,
    stress: Floats,
) -> None:
    """The sums of the loop of this name."""
    length, n = np.empty(len(i)), len(Y)
    edge_distances(i, j, 2.0, Y, length)
    w = weight if len(weight) else np.ones(len(i))
    for sums, term in (
        (stress, w * (delta - length) ** 2),
        (eta, w * length**2),
        (rho, w * delta * length),
    ):
        sums += np.bincount(i, term, n) + np.bincount(j, term, n)
    edge_pull(i, j, np.divide(w * delta, length, out=np.zeros_like(length), where=length > 0), Y, out)
