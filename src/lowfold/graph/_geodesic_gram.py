"""The centred Gram matrix of all geodesics as an operator that never holds them.

A pass makes the distances from 64 vertices at a time out of the fronts of `_minplus`, multiplies with their squares and
forgets them: exact Isomap in O(N^1.5) memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from lowfold._core.operators import LANDMARKS, landmark_start
from lowfold._core.types import Floats, Ints
from lowfold.graph._minplus import GROUPS

LABELS = 256.0  # bytes of a vertex' row of labels: 64 sources in int32


class Unheld(Protocol):
    """Geodesics of all pairs of a connected graph that are not held here: fronts that make them again (`PathFactor`),
    or workers that do, or that hold them (`_apart`).
    """

    @property
    def n(self) -> int: ...

    def distances(self, sources: Ints, *, n_jobs: int | None = None) -> Floats:
        """Rows of distances to all, in float64."""
        ...

    def times(self, V: Floats, power: int, shift: float, *, n_jobs: int | None = None) -> Floats:
        """P V for P = (D + shift)^power off the diagonal."""
        ...


def pass_bytes(n: int, columns: int, n_jobs: int) -> float:
    """What a product with `columns` columns holds beside the fronts: sums of each group, labels of each thread.

    Or what the first guess holds, the rows of its landmarks.
    """
    product = 8.0 * n * 8 * -(-(columns + 1) // 8) * (GROUPS + 3) + LABELS * n * n_jobs
    return max(product, 8.0 * n * LANDMARKS)


@dataclass(frozen=True, eq=False)
class GeodesicGram:
    """-1/2 H (D o D) H of the geodesics of a connected graph, H = I - 11'/n; with `power=1` -1/2 H D H.

    `shift` is added to every distance but those on the diagonal. A product costs about 60 additions per pair of points
    on a surface; `apply` takes as many columns as it is given for little more than one.
    """

    geodesics: Unheld
    power: int = 2
    shift: float = 0.0
    psd: bool = False
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return self.geodesics.n

    @property
    def scale(self) -> float:
        """Of the powers that `rows` gives: G = scale H P H."""
        return -0.5

    def shifted(self, shift: float, power: int = 2) -> GeodesicGram:
        """The same geodesics with another constant, or another power."""
        return replace(self, shift=shift, power=power)

    def apply(self, V: Floats) -> Floats:
        out = self._times(V - V.mean(axis=0))
        return np.asarray(-0.5 * (out - out.mean(axis=0)))

    def row_means(self) -> Floats:
        """Mean squared distance of each point to all points."""
        if "means" not in self._known:
            self._times(np.empty((self.n, 0)))
        return self._known["means"]

    def trace(self) -> float:
        """Sum of the eigenvalues, tr(G) = (1/2n) sum_ij d_ij^2."""
        return float(0.5 * self.row_means().sum())

    def dense(self) -> Floats:
        P = self.rows(np.arange(self.n))
        means = P.mean(axis=1)
        return np.asarray(-0.5 * (P - means[:, None] - means[None, :] + means.mean()))

    def start(self, width: int) -> Floats:
        """A block near the leading eigenvectors."""
        return landmark_start(self.n, self.rows, width)

    def rows(self, sources: Ints) -> Floats:
        """Powers of the distances from some points to all."""
        out = self.geodesics.distances(sources, n_jobs=self.n_jobs)
        out += self.shift
        out[np.arange(len(sources)), sources] = 0.0
        return np.power(out, self.power, out=out)

    @cached_property
    def _known(self) -> dict[str, Floats]:
        """Row means, from the first pass that is made."""
        return {}

    def _times(self, V: Floats) -> Floats:
        """P V for P = (D + shift)^power off the diagonal; the first time with the row sums."""
        fresh = "means" not in self._known
        W = np.hstack([V, np.ones((self.n, 1))]) if fresh else V
        total = self.geodesics.times(W, self.power, self.shift, n_jobs=self.n_jobs)
        if fresh:
            self._known["means"] = total[:, -1] / self.n
        return np.ascontiguousarray(total[:, : V.shape[1]])


__all__ = ["GeodesicGram", "Unheld", "pass_bytes"]
