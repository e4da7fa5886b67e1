"""The stage between eigenvectors and coordinates: the leading ones, or combinations that do not repeat each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.errors import DependenceWarning
from lowfold._core.parallel import COPIED, block_slices
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._search import nearest
from lowfold.graph._source import Points, euclidean_rows
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Connected, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._independent import NO_EXTENT, PATCHES, ZETA, dependence, evenness, independent, n_candidates
from lowfold.spectral._types import REPEATED

VECTORS = ("right_vectors_", "left_vectors_")  # fitted attributes with a column for every eigenvector
SMALLEST = 1e-100  # factor of a candidate: one that has died away is not brought back
PATCH = 20  # points of a neighbourhood in which gradients are compared
LOOSER = 0.05  # of the variance: combinations that the earlier coordinates tell so much more of are not independent
ENOUGH_TO_TELL = 500  # points: of fewer, neighbourhoods are so wide that coordinates which are right seem uneven
FLAT = 0.9  # of the variance of neighbourhoods in d directions: less, and the data are no surface with d coordinates


@dataclass(frozen=True)
class Doubt:
    """When a coordinate of long data is called a mixture: set on 120 sheets; of 98 others that were right (worse
    coordinate R^2 > 0.85) one was told, at 0.86.

    The data are `long` times as long as wide by the roots of the energies, and the coordinate is less even than
    `uneven`, or the earlier ones tell more than `told` of it and it is less even than `partly`.
    """

    long: float
    told: float
    uneven: float
    partly: float
    way_out: str


CHOSEN = Doubt(3.5, 0.25, 0.37, 1.0, "use LTSA or Isomap, or more points")
CHOSEN_ROUGH = replace(CHOSEN, told=0.11)  # coordinates of reconstruction weights are nearly linear where right
LEADING_ROUGH = Doubt(1.5, 0.24, 0.45, 0.67, "use select='independent', or LTSA, whose coordinates keep lengths")


@dataclass(frozen=True, eq=False)
class Combined(Extension):
    """New points of combined coordinates: placed among all candidates, then combined as the training points were."""

    extend: Extension
    coordinates: Floats
    W: Floats

    @property
    def looks(self) -> Looks:  # type: ignore[override]
        """What the candidates' own extension looks for."""
        return self.extend.looks

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        placed = self.extend.place(replace(trained, coordinates=self.coordinates), queries, found, run)
        return np.asarray(placed @ self.W)


def selected(
    fit_of: Callable[[int], Fit],
    data: Connected,
    d: int,
    how: str,
    energies: Callable[[Floats], Floats],
    run: Run,
    *,
    factors: Callable[[Floats], Floats] | None = None,
    zeta: float = ZETA,
    doubts: tuple[Doubt | None, Doubt] = (None, CHOSEN),
) -> Fit:
    """The fit with d coordinates: the leading ones, or those of `independent` among more; `selected_` (m, d) says how
    they are made of the m candidates. Eigenvalues of combinations are their Rayleigh quotients.

    `factors` of the eigenvalues are those that eigenvectors have as coordinates: a combination of eigenvectors has that
    of its own eigenvalue. `zeta` is the say of the energies; `doubts` tell mixtures among leading ones and among
    combinations.
    """
    m = d if how == "leading" else n_candidates(d, data.n)
    fit = fit_of(m)
    if m == d or fit.pairs is None:
        if doubts[0] is not None and how == "leading" and fit.pairs is not None:
            _tell_mixture(fit.coordinates, energies(fit.pairs.values), data, doubts[0], run)
        return replace(fit, extra={**fit.extra, "selected_": np.eye(d)})
    values = fit.pairs.values
    factor = np.ones(m) if factors is None else np.maximum(factors(values), SMALLEST)
    patches = _patches(data, run)
    V = fit.coordinates / factor
    W = independent(V, energies(values), patches, d, _extents(data, patches), zeta)
    if dependence(V @ W, run).max() > dependence(V[:, :d], run).max() + LOOSER:
        W = np.eye(m, d)  # a sharp bend has uneven gradients: the leading ones may be right, and less dependent
    _tell_mixture(V @ W, (W**2).T @ energies(values), data, doubts[1], run)
    pairs = replace(fit.pairs, values=(W**2).T @ values, vectors=fit.pairs.vectors @ W)
    turned: dict[str, Floats] = {name: value @ W for name, value in fit.extra.items() if name in VECTORS}
    own = np.ones(d) if factors is None else factors(pairs.values)
    W = W / factor[:, None] * own
    return replace(combined(fit, W), pairs=pairs, extra={**fit.extra, **turned, "selected_": W})


def _tell_mixture(Y: Floats, energies: Floats, data: Connected, doubt: Doubt, run: Run) -> None:
    """Say that a coordinate of long data is a mixture of directions, where that can be seen."""
    X = euclidean_rows(data.source)
    if X is None or len(Y) < ENOUGH_TO_TELL or len(data.bridges) or energies.max() <= doubt.long**2 * energies[0]:
        return
    patches = _patches(data, run)
    sizes = np.asarray(_extents(data, patches))
    wide = sizes > NO_EXTENT * sizes.max()  # points repeated many times have no gradient
    if wide.mean() * len(Y) < ENOUGH_TO_TELL or not _is_surface(X, patches, Y.shape[1]):
        return
    told, even = dependence(Y, run), evenness(Y, patches[wide], sizes[wide])
    mixed = (even < doubt.uneven) | ((told > doubt.told) & (even < doubt.partly))
    c = int(np.argmax(mixed[1:])) + 1
    if mixed[1:].any() and told.max() <= REPEATED:  # else that is told
        warn(
            f"coordinate {c + 1} is mixed or uneven: the earlier ones tell {told[c]:.0%} of it (dependence_), "
            f"and its evenness is {even[c]:.2f} (1 for one slope everywhere), on long data; {doubt.way_out}",
            DependenceWarning,
        )


def _is_surface(X: AnyFloats, patches: Ints, d: int) -> bool:
    """Whether neighbourhoods of the points lie in d directions, as those of a surface do."""
    parts = block_slices(len(patches), max(1, COPIED // (patches.shape[1] * X.shape[1])))
    P = (X[patches[part]].astype(np.float64) for part in parts)
    squares = np.concatenate([stacked_svd(p - p.mean(axis=1, keepdims=True))[1] ** 2 for p in P])
    return bool(np.median(squares[:, :d].sum(axis=1)) > FLAT * np.median(squares.sum(axis=1)))


def combined(fit: Fit, W: Floats) -> Fit:
    """The fit with the coordinates Y W, of new points as well."""
    row, Y = fit.extend, fit.coordinates
    whole = replace(row, W=row.W @ W) if isinstance(row, Combined) else Combined(row, Y, W)
    return replace(fit, coordinates=Y @ W, extend=whole)


def _patches(data: Connected, run: Run) -> Ints:
    """(patches, points) indices: some points and their nearest ones, or their neighbours where the nearest may lie on
    another sheet.
    """
    if isinstance(data.source, Points) and len(data.shortcuts) == 0:
        rows, k = _spread(np.arange(data.n)), min(PATCH, data.n)
        return nearest(data.source, k, queries=data.source.X[rows], run=run).indices.reshape(-1, k).astype(np.int64)
    near = data.graph.neighbors()
    k = int(np.median(near.counts))
    rows = _spread(np.flatnonzero(near.counts >= k))
    return np.column_stack([rows, near.indices[near.indptr[rows][:, None] + np.arange(k)]]).astype(np.int64)


def _extents(data: Connected, patches: Ints) -> Floats | None:
    """How far the points of every patch are from their middle; None without points."""
    X = euclidean_rows(data.source)
    if X is None:
        return None
    parts = block_slices(len(patches), max(1, COPIED // (patches.shape[1] * X.shape[1])))
    return np.concatenate([np.sqrt(X[patches[part]].astype(np.float64).var(axis=1).sum(axis=1)) for part in parts])


def _spread(rows: Ints) -> Ints:
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), PATCHES)).astype(np.int64)]
