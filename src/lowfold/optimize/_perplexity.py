"""Gaussian neighbour probabilities of a given perplexity, Hinton & Roweis (2002).

p_{j|i} = exp(-beta_i d_ij^2) / sum_{l != i} exp(-beta_i d_il^2) with beta_i = 1 / (2 sigma_i^2), chosen so that the
perplexity 2^H(P_i), H in bits, is what the user asks for: the effective number of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from lowfold._core.rounding import LARGEST_EXPONENT, NO_DIVISOR
from lowfold._core.types import Floats, Ints

ACCURACY = 1e-9  # of the entropy, in nats
STEPS = 200  # an end for rows where no beta gives the perplexity; halving the bracket alone takes sixty
# Logarithms of beta beyond which exp leaves float64, and the width of a bracket that halving cannot make narrower.
BRACKET, NARROW, NARROW_JOINT = LARGEST_EXPONENT, 1e-14, 1e-13
STEEPEST = 100.0  # log beta, in units of the mean squared distance: beyond, only coincident points count
# beta times the least squared distance: beyond, differences of distances are their rounding, which another way to
# compute them does not repeat. Of points that are all equally far apart every row of P had a sum of 8.
SHARPEST = 1e9

Moments = Callable[[Ints, Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Bandwidths:
    """Per point beta_i and log sum_{l != i} exp(-beta_i d_il^2): all that p_{j|i} needs beside d_ij."""

    beta: Floats
    log_mass: Floats

    def of(self, part: slice) -> Bandwidths:
        """Those of some points."""
        return Bandwidths(self.beta[part], self.log_mass[part])


def row_bandwidths(squared: Floats, perplexity: float) -> Bandwidths:
    """Bandwidths of rows of squared distances (m, k); inf leaves a pair out (the point itself, an unmeasured one).

    The entropy falls as beta rises, from log k to the log of the number of nearest points. All rows are searched
    together, by Newton's method on log beta inside a bracket that halves where it would leave it. Where the nearest
    points are more than `perplexity` at one distance no beta gives it; beta then stops where only they count.

    >>> b = row_bandwidths(np.array([[1.0, 1.0, 4.0, 9.0]]), 3.0)
    >>> p = np.exp(-b.beta[:, None] * [1.0, 1.0, 4.0, 9.0] - b.log_mass[:, None])
    >>> float(2 ** -(p * np.log2(p)).sum())
    3.0
    """
    near = squared.min(axis=1, keepdims=True)
    E = squared - near  # exp(-beta E) has a 1 in every row: nothing underflows as a whole
    finite = np.isfinite(E)
    E = np.where(finite, E, 0.0)
    count = finite.sum(axis=1)
    mean = E.sum(axis=1) / np.maximum(count, 1)
    E /= np.where(mean > 0, mean, 1.0)[:, None]

    def moments(rows: Ints, b: Floats) -> tuple[Floats, Floats, Floats]:
        e, counted = (E, finite) if len(rows) == len(E) else (E[rows], finite[rows])
        w = -b[:, None] * e
        np.exp(w, out=w)
        w *= counted
        mass = w.sum(axis=1)
        w *= e
        first = w.sum(axis=1)
        w *= e
        return mass, first, w.sum(axis=1)

    return bandwidths_by(moments, near[:, 0], count, mean, perplexity)


def bandwidths_by(moments: Moments, near: Floats, count: Ints, mean: Floats, perplexity: float) -> Bandwidths:
    """The same from each row's least squared distance, its number of others, and the mean beyond the least.

    `moments(rows, b)` sums w, w e and w e^2 of some rows, w = exp(-b e), e = (d^2 - near) / mean.
    """
    target = float(np.log(perplexity))
    masses = count.astype(np.float64)
    low, high = np.full(len(near), -BRACKET), np.full(len(near), BRACKET)
    steepest = _steepest(near, mean)
    log_beta = np.minimum(0.0, steepest)
    open_rows = np.flatnonzero(mean > 0)
    for _ in range(STEPS):
        if len(open_rows) == 0:
            break
        now = log_beta[open_rows]
        b = np.exp(now)
        mass, first, second = moments(open_rows, b)
        masses[open_rows] = mass
        first, second = first / mass, second / mass
        gap = np.log(mass) + b * first - target  # entropy in nats, less the wanted one
        low[open_rows] = np.where(gap > 0, now, low[open_rows])
        high[open_rows] = np.where(gap <= 0, now, high[open_rows])
        slope = -b * b * (second - first**2)  # dH / dlog beta = -beta^2 Var(E)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = now - gap / slope
        lo, hi = low[open_rows], high[open_rows]
        middle = np.where(hi >= BRACKET, now + 2.0, np.where(lo <= -BRACKET, now - 2.0, (lo + hi) / 2))
        inside = np.isfinite(newton) & (newton > lo) & (newton < hi) & (np.abs(newton - now) < 3.0)
        most = steepest[open_rows]
        done = (np.abs(gap) <= ACCURACY) | (hi - lo < NARROW * np.maximum(1.0, np.abs(lo))) | (now >= most)
        log_beta[open_rows] = np.where(done, now, np.minimum(np.where(inside, newton, middle), most))
        open_rows = open_rows[~done]
    beta = np.exp(log_beta) / np.where(mean > 0, mean, 1.0)
    return Bandwidths(beta, np.log(np.maximum(masses, NO_DIVISOR)) - beta * near)


def _steepest(near: Floats, scale: Floats) -> Floats:
    """The largest log beta, in units of the scale: where only coincident points count, or rounding would."""
    with np.errstate(divide="ignore"):
        rounding = np.log(SHARPEST) + np.log(np.where(scale > 0, scale, 1.0)) - np.log(near)
    return np.asarray(np.minimum(STEEPEST, rounding))


def row_probabilities(squared: Floats, bandwidths: Bandwidths) -> Floats:
    """p_{j|i} for rows of squared distances; 0 where they are inf."""
    with np.errstate(invalid="ignore"):
        exponent = -bandwidths.beta[:, None] * squared - bandwidths.log_mass[:, None]
    return np.where(np.isfinite(squared), np.exp(np.minimum(exponent, 0.0)), 0.0)


def joined_probabilities(squared: Floats, part: slice, bandwidths: Bandwidths) -> Floats:
    """p_{j|i} + p_{i|j} for the rows `part` of a symmetric matrix of squared distances."""
    own = row_probabilities(squared, bandwidths.of(part))
    exponent = -bandwidths.beta * squared - bandwidths.log_mass
    return own + np.exp(np.minimum(exponent, 0.0))


def row_entropy(p: Floats) -> Floats:
    """sum_j p log p of every row."""
    return cast("Floats", (p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1))


def joint_bandwidth(blocks: Callable[[], Iterator[Floats]], n: int, perplexity: float) -> Bandwidths:
    """One beta for all pairs, p_ij = exp(-beta d_ij^2) / sum_{k != l} exp(-beta d_kl^2), with 2^H(P) = n perplexity.

    `blocks()` yields rows of squared distances, inf on the diagonal. The joint entropy of n points of equal mass with
    `perplexity` neighbours each is log2 n + log2 perplexity. `log_mass` is that of all pairs.
    """
    near, mean = np.inf, 0.0
    for block in blocks():
        near = min(near, float(block.min()))
        mean += float(np.sum(block, where=np.isfinite(block))) / (n * (n - 1))

    def sums(beta: float) -> tuple[float, float]:
        mass = moment = 0.0
        for block in blocks():
            E = block[np.isfinite(block)] - near
            w = np.exp(-beta * E)
            mass += float(w.sum())
            moment += float(w @ E)
        return mass, moment

    return joint_bandwidth_by(sums, near, mean, n, perplexity)


def joint_bandwidth_by(
    sums: Callable[[float], tuple[float, float]], near: float, mean: float, n: int, perplexity: float
) -> Bandwidths:
    """The same from the least and the mean squared distance; `sums(beta)` adds w and w E of all pairs, E = d^2 - near,
    w = exp(-beta E).
    """
    target = float(np.log(n) + np.log(perplexity))
    scale = mean - near if mean > near else 1.0
    steepest = float(_steepest(np.asarray(near), np.asarray(scale)))
    low, high, log_beta = -BRACKET, BRACKET, min(0.0, steepest)
    for _ in range(STEPS):
        beta = np.exp(log_beta) / scale
        mass, moment = sums(float(beta))
        gap = np.log(mass) + beta * moment / mass - target
        if abs(gap) <= ACCURACY or high - low < NARROW_JOINT or log_beta >= steepest:
            break
        low, high = (log_beta, high) if gap > 0 else (low, log_beta)
        if high >= BRACKET:
            log_beta += 2.0
        elif low <= -BRACKET:
            log_beta -= 2.0
        else:
            log_beta = (low + high) / 2
        log_beta = min(log_beta, steepest)
    return Bandwidths(np.full(n, beta), np.full(n, np.log(mass) - beta * near))
