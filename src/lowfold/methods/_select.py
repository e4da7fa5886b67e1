"""The stage between eigenvectors and coordinates: the leading ones, or combinations that do not repeat each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.parallel import COPIED, block_slices
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Points, euclidean_rows
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Connected, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._independent import PATCHES, ZETA, independent, n_candidates

VECTORS = ("right_vectors_", "left_vectors_")  # fitted attributes with a column for every eigenvector
SMALLEST = 1e-100  # factor of a candidate: one that has died away is not brought back
PATCH = 20  # points of a neighbourhood in which gradients are compared


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
) -> Fit:
    """The fit with d coordinates: the leading ones, or those of `independent` among more; `selected_` (m, d) says how
    they are made of the m candidates. Eigenvalues of combinations are their Rayleigh quotients.

    `factors` of the eigenvalues are those that eigenvectors have as coordinates: a combination of eigenvectors has that
    of its own eigenvalue. `zeta` is the say of the energies.
    """
    m = d if how == "leading" else n_candidates(d, data.n)
    fit = fit_of(m)
    if m == d or fit.pairs is None:
        return replace(fit, extra={**fit.extra, "selected_": np.eye(d)})
    values = fit.pairs.values
    factor = np.ones(m) if factors is None else np.maximum(factors(values), SMALLEST)
    patches = _patches(data, run)
    W = independent(fit.coordinates / factor, energies(values), patches, d, _extents(data, patches), zeta)
    pairs = replace(fit.pairs, values=(W**2).T @ values, vectors=fit.pairs.vectors @ W)
    turned: dict[str, Floats] = {name: value @ W for name, value in fit.extra.items() if name in VECTORS}
    own = np.ones(d) if factors is None else factors(pairs.values)
    W = W / factor[:, None] * own
    return replace(combined(fit, W), pairs=pairs, extra={**fit.extra, **turned, "selected_": W})


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
