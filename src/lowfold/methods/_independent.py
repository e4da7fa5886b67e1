"""Coordinates that repeat each other: how far one is a function of the earlier ones, and how to choose others.

On a long rectangle the second eigenfunction of the Laplacian is a function of the first, cos(2 pi x) after cos(pi x).
Dsilva, Talmon, Coifman & Kevrekidis (2018), doi:10.1016/j.acha.2015.06.008, tell such harmonics by local linear
regression; Chen & Meila (2019), Advances in Neural Information Processing Systems 32, choose by the volume that the
differentials span, less a multiple of the eigenvalues. In a sample neighbouring eigenvectors mix, so that none of them
need be the missing coordinate; here it is looked for among their combinations, as in Blau & Michaeli (2017),
doi:10.1007/978-3-319-71249-9_16.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lowfold._core.finite import finite_rows
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral._types import REPEATED

SAMPLE = 500  # points at which a coordinate is predicted from the earlier ones
NEAR = 30  # points near in the earlier coordinates that the prediction rests on
CANDIDATES = 12  # eigenvectors looked at for every coordinate: a strip 10 times as long as wide has 9 harmonics first
PATCHES = 500  # neighbourhoods in which gradients are compared
SUBSPACE = 16  # directions among which combinations are looked for: the smoothest with a gradient of their own
STEPS = 60  # of the fixed point, after which it hardly moves
FLIPS = 8  # the volume has local maxima, where a coordinate changes its sign half way: so often it is turned back
ZETA = 1.0  # weight of the logarithm of the eigenvalue: of two coordinates as independent the smoother is taken
GAIN = 1e-3  # of the logarithm of the volume: a turn that gains less has changed the order of a few patches
NO_EXTENT = 1e-6  # of the mean gradient: a patch with less has no extent along the coordinate, and no say
EVEN = 0.3  # of its size: a product of constant fields varies by less on a few hundred points, one of others by more
RIDGE = 1e-9  # relative, where neighbourhoods span fewer directions than there are coordinates


def dependence(Y: Floats, run: Run) -> Floats:
    """(d,) share of each column's variance that a local linear regression on the earlier columns predicts.

    0 for the first; near 1 a column repeats the earlier ones. The value at a point is predicted from its NEAR nearest
    points, itself left out.

    >>> x = np.linspace(0, 1, 200)
    >>> dependence(np.column_stack([np.cos(np.pi * x), np.cos(2 * np.pi * x)]), Run()).round(2).tolist()
    [0.0, 1.0]
    """
    inside = finite_rows(Y)
    rows = np.arange(len(Y)) if inside.all() else np.flatnonzero(inside)
    if len(rows) > SAMPLE:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), SAMPLE, replace=False))]
    Y = Y[rows]
    d = Y.shape[1]
    size = Y.std(axis=0)
    Z = (Y - Y.mean(axis=0)) / np.where(size > 0, size, 1.0)
    out = np.zeros(d)
    for c in range(1, d):
        if len(Z) > c + 3 and size[c] > 0:
            left = Z[:, c] - _predicted(Z[:, c], Z[:, :c], run)
            out[c] = max(0.0, 1.0 - float((left**2).mean()))
    return out


def _predicted(y: Floats, Z: Floats, run: Run) -> Floats:
    """Local linear regression of y on the columns of Z at each row, from other rows."""
    k = min(NEAR, len(Z) - 1)
    near = nearest(Points(np.ascontiguousarray(Z), resolve_metric("euclidean", None, None)), k, run=run)
    index = near.indices.reshape(-1, k)
    A = np.concatenate([np.ones((len(Z), k, 1)), Z[index] - Z[:, None]], axis=2)
    G = A.transpose(0, 2, 1) @ A
    G += _ridge(G)
    b = (A.transpose(0, 2, 1) @ y[index][:, :, None])[:, :, 0]
    return np.asarray(np.linalg.solve(G, b[:, :, None])[:, 0, 0])


def _ridge(G: Floats) -> Floats:
    size = np.trace(G, axis1=1, axis2=2) + np.finfo(np.float64).tiny
    return np.asarray(RIDGE * size[:, None, None] * np.eye(G.shape[1]))


def telling_columns(F: Floats, d: int, run: Run) -> Ints:
    """The first d columns of F that vary and are no function of those before; for want of such, the first others."""
    varies = varying(F)
    chosen: list[int] = []
    for c in np.flatnonzero(varies).tolist():
        if len(chosen) == d:
            break
        if not chosen or dependence(F[:, np.array([*chosen, c])], run)[-1] <= REPEATED:
            chosen.append(c)
    rest = [c for c in (*np.flatnonzero(varies), *np.flatnonzero(~varies)) if c not in chosen]
    return np.sort(np.asarray([*chosen, *rest[: d - len(chosen)]], dtype=np.int64))


def varying(F: Floats) -> NDArray[np.bool_]:
    """Whether each column is neither constant nor zero up to the sample: it varies by EVEN of its size."""
    size = np.sqrt((F**2).mean(axis=0))
    return np.asarray(F.std(axis=0) > EVEN * np.maximum(size, EVEN * size.max(initial=0.0)))


def n_candidates(d: int, n: int) -> int:
    """How many eigenvectors are looked at for d coordinates of n points."""
    return min(CANDIDATES * d, max(d, n // 4), n - 1)


def independent(V: Floats, energies: Floats, patches: Ints, d: int) -> Floats:
    """W (m, d): the coordinates V W, of which the first is the first column of V and every other one maximises

        mean_i log g_i(w) - (1 + zeta) log mean_i t_i(w) + zeta log |w|^2

    over combinations w of the m columns. t_i is the squared gradient of V w in patch i (rows of `patches`, indices of
    points), g_i the part of it that the coordinates before do not have. The first two terms are largest where the
    gradient is independent everywhere and as long in one place as in another; the last prefer slow functions.
    `energies` are the columns' eigenvalues, 0 for a constant.
    """
    if len(patches) > PATCHES:
        patches = patches[np.linspace(0, len(patches) - 1, PATCHES).astype(np.int64)]
    D = V[patches] - V[patches].mean(axis=1, keepdims=True)
    m = V.shape[1]
    T = np.einsum("ska,skb->ab", D, D) / len(D)
    T += RIDGE * np.trace(T) / m * np.eye(m)
    W = np.eye(m, d)
    for c in range(1, d):
        E = _own_part(D, D @ W[:, :c])
        basis = _smooth_and_own(E, np.maximum(energies, RIDGE * energies.max()))
        w = basis @ _unflipped(_Volume(E @ basis, basis.T @ T @ basis), V @ basis, V @ W[:, :c])
        W[:, c] = w / np.linalg.norm(w)
    return _signed(V, W)


def _own_part(D: Floats, Z: Floats) -> Floats:
    """What is left of the differences D in every patch when those of earlier coordinates, Z, are regressed out."""
    G = Z.transpose(0, 2, 1) @ Z
    G += _ridge(G)
    return np.asarray(D - Z @ np.linalg.solve(G, Z.transpose(0, 2, 1) @ D))


def _smooth_and_own(E: Floats, energies: Floats) -> Floats:
    """Orthonormal basis (m, q) of the combinations with the least energy for the gradient that is their own."""
    m = E.shape[2]
    H = np.einsum("ska,skb->ab", E, E) / len(E)
    root = 1.0 / np.sqrt(energies)
    vectors = stacked_eigh(root[:, None] * H * root)[1][:, ::-1][:, : min(SUBSPACE, m)]
    return np.asarray(np.linalg.qr(root[:, None] * vectors)[0])


@dataclass(frozen=True, eq=False)
class _Volume:
    """What `independent` maximises, for rows of combinations R: E are the patches' own differences, T as there."""

    E: Floats
    T: Floats

    @cached_property
    def H(self) -> Floats:
        """(patches, q * q) Gram matrices of the differences."""
        return np.asarray((self.E.transpose(0, 2, 1) @ self.E).reshape(len(self.E), -1))

    def climb(self, R: Floats) -> tuple[Floats, float]:
        """The best row and its volume after STEPS fixed-point steps w = T^-1 (A(w) w + zeta w / |w|^2)."""
        q, inverse = len(self.T), np.linalg.inv(self.T)
        for _ in range(STEPS):
            R = R / np.sqrt(np.einsum("ra,ab,rb->r", R, self.T, R))[:, None]
            A = (1.0 / _gradients(R, self.H) @ self.H / len(self.E)).reshape(-1, q, q)
            R = ((A @ R[:, :, None])[:, :, 0] + ZETA * R / (R**2).sum(axis=1)[:, None]) @ inverse
        t = np.einsum("ra,ab,rb->r", R, self.T, R)
        found = np.log(_gradients(R, self.H)).mean(axis=1) - (1 + ZETA) * np.log(t) + ZETA * np.log((R**2).sum(axis=1))
        return np.asarray(R[np.argmax(found)]), float(found.max())


def _unflipped(volume: _Volume, V: Floats, Z: Floats) -> Floats:
    """The combination of largest volume, from the smoothest ones; then again and again from that coordinate with its
    sign turned beyond a decile of an earlier one, as long as that is better.
    """
    w, best = volume.climb(np.eye(V.shape[1]))
    beyond = np.concatenate(
        [np.sign(Z[:, c, None] - np.quantile(Z[:, c], np.arange(1, 10) / 10)) for c in range(Z.shape[1])], axis=1
    )
    for _ in range(FLIPS):
        turned = np.linalg.lstsq(V, (V @ w)[:, None] * beyond, rcond=None)[0].T
        new, value = volume.climb(turned)
        if value < best + GAIN:
            break
        w, best = new, value
    return np.asarray(w)


def _gradients(R: Floats, H: Floats) -> Floats:
    """(starts, patches) w' H_i w, not below NO_EXTENT of its mean."""
    g = (R[:, :, None] * R[:, None, :]).reshape(len(R), -1) @ H.T
    return np.asarray(np.maximum(g, NO_EXTENT * g.mean(axis=1, keepdims=True) + np.finfo(np.float64).tiny))


def _signed(V: Floats, W: Floats) -> Floats:
    """The largest entry of every coordinate is positive."""
    Y = V @ W
    return np.asarray(W * np.where(Y[np.abs(Y).argmax(axis=0), np.arange(W.shape[1])] < 0, -1.0, 1.0))
