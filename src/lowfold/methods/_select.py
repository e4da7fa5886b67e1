"""The stage between eigenvectors and coordinates: the leading ones, or combinations that do not repeat each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Connected, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._independent import PATCHES, independent, n_candidates

VECTORS = ("right_vectors_", "left_vectors_")  # fitted attributes with a column for every eigenvector
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
    fit_of: Callable[[int], Fit], data: Connected, d: int, how: str, energies: Callable[[Floats], Floats], run: Run
) -> Fit:
    """The fit with d coordinates: the leading ones, or those of `independent` among more; `selected_` (m, d) says how
    they are made of the m eigenvectors. Eigenvalues of combinations are their Rayleigh quotients.
    """
    m = d if how == "leading" else n_candidates(d, data.n)
    fit = fit_of(m)
    if m == d or fit.pairs is None:
        return replace(fit, extra={**fit.extra, "selected_": np.eye(d)})
    W = independent(fit.coordinates, energies(fit.pairs.values), _patches(data, run), d)
    pairs = replace(fit.pairs, values=(W**2).T @ fit.pairs.values, vectors=fit.pairs.vectors @ W)
    turned: dict[str, Floats] = {name: value @ W for name, value in fit.extra.items() if name in VECTORS}
    return replace(combined(fit, W), pairs=pairs, extra={**fit.extra, **turned, "selected_": W})


def combined(fit: Fit, W: Floats) -> Fit:
    """The fit with the coordinates Y W, of new points as well."""
    return replace(fit, coordinates=fit.coordinates @ W, extend=Combined(fit.extend, fit.coordinates, W))


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


def _spread(rows: Ints) -> Ints:
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), PATCHES)).astype(np.int64)]
