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
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from lowfold._core.finite import finite_rows
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral._held import held_columns

SAMPLE = 500  # points at which a coordinate is predicted from the earlier ones
NEAR = 30  # points near in the earlier coordinates that the prediction rests on
CANDIDATES = 12  # eigenvectors looked at for every coordinate: a strip 10 times as long as wide has 9 harmonics first
PATCHES = 500  # neighbourhoods in which gradients are compared
SUBSPACE = 16  # directions among which combinations are looked for: the smoothest with a gradient of their own
# Of both where those give a mixture: longer strips need more, while on shorter ones more mix in what is rough
MORE_CANDIDATES, MORE_SUBSPACE = 20, 20
STEPS = 60  # of the fixed point, after which it hardly moves
FLIPS = 8  # the volume has local maxima, where a coordinate changes its sign half way: so often it is turned back
ZETA = 1.0  # weight of the logarithm of the energy: of two coordinates as independent the smoother is taken
STARTS = 32  # combinations drawn at random that are climbed from as well
GAIN = 1e-3  # of the logarithm of the volume: a turn that gains less has changed the order of a few patches
NO_EXTENT = 1e-6  # of the mean gradient: a patch with less has no extent along the coordinate, and no say
# Of a column, told by those before: one with more is mostly theirs. Of products of fields, where the width of
# a roll can be a tenth, a bound of 0.2 went past the first that is right to rough ones.
NEWS = 0.5
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
    Z = _sampled(Y)
    return np.array([0.0, *(_share_told(Z[:, c], Z[:, :c], run) for c in range(1, Y.shape[1]))])


def told_of(V: Floats, Y: Floats, run: Run) -> Floats:
    """The same of every column of V, predicted from all columns of Y."""
    Z, d = _sampled(np.column_stack([Y, V])), Y.shape[1]
    return np.array([_share_told(z, Z[:, :d], run) for z in Z[:, d:].T])


def _sampled(Y: Floats) -> Floats:
    """SAMPLE rows at most, without NaN, of mean 0; columns that vary have variance 1."""
    inside = finite_rows(Y)
    rows = np.arange(len(Y)) if inside.all() else np.flatnonzero(inside)
    if len(rows) > SAMPLE:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), SAMPLE, replace=False))]
    Y = Y[rows]
    size = Y.std(axis=0)
    return np.asarray((Y - Y.mean(axis=0)) / np.where(size > 0, size, 1.0))


def _share_told(z: Floats, Z: Floats, run: Run) -> float:
    if len(Z) <= Z.shape[1] + 3 or not z.any():
        return 0.0
    return max(0.0, 1.0 - float(((z - _predicted(z, Z, run)) ** 2).mean()))


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
    """The first d columns of F that vary, are not held by a few points, and of which those before tell at most NEWS;
    for want of such, those of which they tell least.
    """
    varies = varying(F)
    varies[held_columns(F)] = False
    chosen: list[int] = []
    told = np.where(varies, 1.0, 2.0)  # others come last
    for c in np.flatnonzero(varies).tolist():
        if len(chosen) == d:
            break
        told[c] = dependence(F[:, np.array([*chosen, c])], run)[-1]
        if told[c] <= NEWS:
            chosen.append(c)
    rest = [c for c in np.argsort(told, kind="stable").tolist() if c not in chosen]
    return np.sort(np.asarray([*chosen, *rest[: d - len(chosen)]], dtype=np.int64))


def varying(F: Floats) -> NDArray[np.bool_]:
    """Whether each column is neither constant nor zero up to the sample: it varies by EVEN of its size."""
    size = np.sqrt((F**2).mean(axis=0))
    return np.asarray(F.std(axis=0) > EVEN * np.maximum(size, EVEN * size.max(initial=0.0)))


def n_candidates(d: int, n: int, each: int = CANDIDATES) -> int:
    """How many eigenvectors are looked at for d coordinates of n points, `each` for every coordinate."""
    return min(each * d, max(d, n // 4), n - 1)


def independent(
    V: Floats,
    energies: Floats,
    patches: Ints,
    d: int,
    sizes: Floats | None = None,
    zeta: float = ZETA,
    subspace: int = SUBSPACE,
) -> Floats:
    """W (m, d): the coordinates V W, of which the first is the first column of V and every other one maximises

        mean_i log g_i(w) - log mean_i t_i(w) - zeta log e(w)

    over combinations w of the m columns. t_i is the squared gradient of V w in patch i (rows of `patches`, indices of
    points, whose extents are `sizes`), g_i the part of it that the coordinates before do not have: by the first two
    terms the gradient is independent everywhere and as long in one place as in another. e(w) is the mean of the
    columns' `energies` (their eigenvalues, 0 for a constant), weighted by w^2: the last term prefers slow functions.
    A leading column that has as much of the first two stays. The combinations are those of the `subspace` directions
    that are smoothest for the gradient of their own.
    """
    if len(patches) > PATCHES:
        kept = np.linspace(0, len(patches) - 1, PATCHES).astype(np.int64)
        patches, sizes = patches[kept], None if sizes is None else sizes[kept]
    D, m = _differences(V, patches, sizes), V.shape[1]
    T = np.einsum("ska,skb->ab", D, D) / len(D)
    T += RIDGE * np.trace(T) / m * np.eye(m)
    e = np.maximum(energies, RIDGE * energies.max())
    W = np.eye(m, d)
    for c in range(1, d):
        E = _own_part(D, D @ W[:, :c])
        basis = _smooth_and_own(E, e, subspace)
        volume = _Volume(E @ basis, basis.T @ T @ basis, (basis.T * e) @ basis, zeta)
        w = basis @ _unflipped(volume, V @ basis, V @ W[:, :c])
        if _evenness(E, T, w) > _evenness(E, T, W[:, c]):  # else the leading one is as independent, and no mixture
            W[:, c] = w / np.linalg.norm(w)
    return _signed(V, W)


def _differences(V: Floats, patches: Ints, sizes: Floats | None) -> Floats:
    """(patches, points, m) from the middle of every patch; a constant gradient differs more over a wide one."""
    D = V[patches] - V[patches].mean(axis=1, keepdims=True)
    return np.asarray(D if sizes is None else D / np.maximum(sizes, RIDGE * sizes.max())[:, None, None])


def evenness(Y: Floats, patches: Ints, sizes: Floats | None) -> Floats:
    """(d,) of every column the geometric mean of its squared gradient, less what the earlier columns have of it, over
    the mean of the squared gradient: 1 for a linear coordinate, 1/2 for a cosine, less where it hardly changes in parts
    or repeats the earlier ones there.
    """
    D = _differences(Y / Y.std(axis=0), patches, sizes)
    out = np.empty(Y.shape[1])
    for c in range(len(out)):
        own = D[:, :, c : c + 1] if c == 0 else _own_part(D[:, :, c : c + 1], D[:, :, :c])
        out[c] = np.exp(_evenness(own, np.array([[(D[:, :, c] ** 2).sum(axis=1).mean()]]), np.ones(1)))
    return out


def _own_part(D: Floats, Z: Floats) -> Floats:
    """What is left of the differences D in every patch when those of earlier coordinates, Z, are regressed out."""
    G = Z.transpose(0, 2, 1) @ Z
    G += _ridge(G)
    return np.asarray(D - Z @ np.linalg.solve(G, Z.transpose(0, 2, 1) @ D))


def _smooth_and_own(E: Floats, energies: Floats, q: int) -> Floats:
    """Orthonormal basis (m, q at most) of the combinations with the least energy for the gradient that is their own."""
    m = E.shape[2]
    H = np.einsum("ska,skb->ab", E, E) / len(E)
    root = 1.0 / np.sqrt(energies)
    vectors = stacked_eigh(root[:, None] * H * root)[1][:, ::-1][:, : min(q, m)]
    return np.asarray(np.linalg.qr(root[:, None] * vectors)[0])


@dataclass(frozen=True, eq=False)
class _Volume:
    """What `independent` maximises, for rows of combinations R: E are the patches' own differences, T as there, F the
    energies of the basis.
    """

    E: Floats
    T: Floats
    F: Floats
    zeta: float

    @cached_property
    def H(self) -> Floats:
        """(patches, q * q) Gram matrices of the differences."""
        return np.asarray((self.E.transpose(0, 2, 1) @ self.E).reshape(len(self.E), -1))

    def climb(self, R: Floats) -> tuple[Floats, float]:
        """The best row and its volume after STEPS fixed-point steps
        (T / w'Tw + zeta F / w'Fw) w' = A(w) w + zeta w / w'w.
        """
        q = len(self.T)
        for _ in range(STEPS):
            R = R / np.sqrt(_squares(R, self.T))[:, None]
            A = (1.0 / _gradients(R, self.H) @ self.H / len(self.E)).reshape(-1, q, q)
            right = (A @ R[:, :, None])[:, :, 0] + self.zeta * R / (R**2).sum(axis=1)[:, None]
            left = self.T + (self.zeta / _squares(R, self.F))[:, None, None] * self.F
            R = np.linalg.solve(left, right[:, :, None])[:, :, 0]
        energy = _squares(R, self.F) / (R**2).sum(axis=1)
        found = np.log(_gradients(R, self.H)).mean(axis=1) - np.log(_squares(R, self.T)) - self.zeta * np.log(energy)
        return np.asarray(R[np.argmax(found)]), float(found.max())


def _evenness(E: Floats, T: Floats, w: Floats) -> float:
    """mean_i log g_i(w) - log mean_i t_i(w): 0 for a gradient that is independent and of one length everywhere."""
    g = ((E @ w) ** 2).sum(axis=1)
    return float(np.log(np.maximum(g, NO_EXTENT * g.mean() + np.finfo(np.float64).tiny)).mean() - np.log(w @ T @ w))


def _squares(R: Floats, M: Floats) -> Floats:
    """w'Mw of every row."""
    return np.asarray(np.einsum("ra,ab,rb->r", R, M, R))


def _unflipped(volume: _Volume, V: Floats, Z: Floats) -> Floats:
    """The combination of largest volume, from the smoothest ones, the one that rises one way, and some others; then
    again and again from that coordinate with its sign turned beyond a decile of an earlier one, or between two, as long
    as that is better.
    """
    q = V.shape[1]
    drawn = np.random.default_rng(0).standard_normal((STARTS, q))
    w, best = volume.climb(np.vstack([np.eye(q), _one_way(volume), drawn]))
    beyond = np.concatenate([_turns(Z[:, c]) for c in range(Z.shape[1])], axis=1)
    for _ in range(FLIPS):
        turned = np.linalg.lstsq(V, (V @ w)[:, None] * beyond, rcond=None)[0].T
        new, value = volume.climb(turned)
        if value < best + GAIN:
            break
        w, best = new, value
    return np.asarray(w)


def _one_way(volume: _Volume) -> Floats:
    """The combination whose gradient is nearest to 1 in every patch, all of which point one way.

    A patch knows the gradients of all columns but not which way is up; patches side by side have nearly the same ones,
    and the tree of the most alike tells.
    """
    values, vectors = stacked_eigh(volume.H.reshape(len(volume.E), *volume.T.shape))
    h = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    unit = h / np.maximum(np.linalg.norm(h, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    alike = unit @ unit.T
    tree = minimum_spanning_tree(1.0 + RIDGE - np.minimum(np.abs(alike), 1.0))
    order, before = breadth_first_order(tree, 0, directed=False)
    sign = np.ones(len(h))
    for i in order[1:].tolist():
        sign[i] = sign[before[i]] * (1.0 if alike[i, before[i]] >= 0 else -1.0)
    return np.asarray(np.linalg.lstsq(sign[:, None] * h, np.ones(len(h)), rcond=None)[0])


def _turns(z: Floats) -> Floats:
    """Columns of 1 and -1 that change at a decile of z, or at two."""
    signs = np.sign(z[:, None] - np.quantile(z, np.arange(1, 10) / 10))
    first, second = np.triu_indices(signs.shape[1], 1)
    return np.concatenate([signs, signs[:, first] * signs[:, second]], axis=1)


def _gradients(R: Floats, H: Floats) -> Floats:
    """(starts, patches) w' H_i w, not below NO_EXTENT of its mean."""
    g = (R[:, :, None] * R[:, None, :]).reshape(len(R), -1) @ H.T
    return np.asarray(np.maximum(g, NO_EXTENT * g.mean(axis=1, keepdims=True) + np.finfo(np.float64).tiny))


def _signed(V: Floats, W: Floats) -> Floats:
    """The largest entry of every coordinate is positive."""
    Y = V @ W
    return np.asarray(W * np.where(Y[np.abs(Y).argmax(axis=0), np.arange(W.shape[1])] < 0, -1.0, 1.0))
