"""K-means: rows as one of k centres each, X ~ Z C with Z of zeros and one 1 in a row.

Lloyd (1982), doi:10.1109/TIT.1982.1056489, from starts that are spread: each further centre is the best of a few drawn
in proportion to the squared distance from those there are (Arthur & Vassilvitskii 2007, SODA).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.parallel import block_slices
from lowfold._core.types import Floats, Ints
from lowfold.lowrank._scatter import grouped_sum

STEPS = 300  # as in scikit-learn; rarely more than 20 are taken
AT_REST = 1e-4  # of the mean variance of a column: centres that move by less in all are at rest; as in scikit-learn
ROWS = 16384  # at a time: their distances to the centres stay in the cache


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels (n,), centres (k, d) and the sum of squared distances; clusters beyond the distinct rows are empty."""

    labels: Ints
    centers: Floats
    inertia: float


def k_means(X: Floats, k: int, *, n_init: int, rng: np.random.Generator, n_jobs: int | None = None) -> Clusters:
    """The best of `n_init` runs on the rows of X (n, d)."""
    mean = X.mean(axis=0)  # distances from products lose digits far from the origin
    rows = _Rows(X - mean, n_jobs)
    found = min((rows.lowered(rows.start(k, rng)) for _ in range(n_init)), key=lambda run: run.inertia)
    return Clusters(found.labels, found.centers + mean, found.inertia)


class _Rows:
    """Centred rows, their squares, and the blocks in which they are looked at."""

    def __init__(self, X: Floats, n_jobs: int | None) -> None:
        self.X, self.n_jobs = X, n_jobs
        self.squares = np.einsum("ij,ij->i", X, X)
        self.columns = np.ascontiguousarray(X.T)  # distances stand in rows of one centre: the least is quickly found
        self.parts = block_slices(len(X), ROWS)
        self.rest = AT_REST * float(X.var(axis=0).mean())

    def start(self, k: int, rng: np.random.Generator) -> Floats:
        """k rows, far from each other."""
        chosen = [int(rng.integers(len(self.X)))]
        nearest = self._to(self.X[chosen])[0]
        tries = 2 + int(np.log(k))
        for _ in range(1, k):
            drawn = np.searchsorted(np.cumsum(nearest), rng.random(tries) * nearest.sum())
            drawn = np.minimum(drawn, len(self.X) - 1)
            left = np.minimum(nearest, self._to(self.X[drawn]))
            best = int(np.argmin(left.sum(axis=1)))
            chosen.append(int(drawn[best]))
            nearest = left[best]
        return self.X[chosen]

    def lowered(self, centers: Floats) -> Clusters:
        """Lloyd's steps until the labels or the centres rest."""
        former: Ints | None = None
        for _ in range(STEPS):
            labels, away, sums, counts = self._assigned(centers)
            if former is not None and np.array_equal(labels, former):
                break
            moved = np.where(counts > 0, sums / np.maximum(counts, 1.0), centers)
            empty = np.flatnonzero(counts[:, 0] == 0)
            if len(empty):  # they start again at the rows that are served worst
                moved[empty] = self.X[np.argsort(-away, kind="stable")[: len(empty)]]
            step, centers, former = float(np.square(moved - centers).sum()), moved, labels
            if step <= self.rest and not len(empty):
                labels, away, _, _ = self._assigned(centers)
                break
        return Clusters(labels, centers, float(away.sum()))

    def _assigned(self, centers: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """The nearest centre of each row and its squared distance; sums and numbers of the rows of each centre."""
        k, d = centers.shape
        labels, away = np.empty(len(self.X), dtype=np.int64), np.empty(len(self.X))

        def term(part: slice) -> Floats:
            D = self._to(centers, part)
            labels[part] = here = D.argmin(axis=0)
            away[part] = D.min(axis=0)
            one = csr_array((np.ones(len(here)), here, np.arange(len(here) + 1)), shape=(len(here), k))
            return np.hstack([one.T @ self.X[part], np.bincount(here, minlength=k)[:, None]])

        sums = grouped_sum(len(self.X), self.parts, term, (k, d + 1), self.n_jobs)
        return labels, away, sums[:, :d], sums[:, d:]

    def _to(self, centers: Floats, part: slice = slice(None)) -> Floats:
        D = (-2 * centers) @ self.columns[:, part]
        D += self.squares[part]
        D += np.einsum("ij,ij->i", centers, centers)[:, None]
        return np.maximum(D, 0.0, out=D)
