"""The value that a neighbour search receives: a distance, and the map after which it is Euclidean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats

PointMap = Callable[[AnyFloats], AnyFloats]
Elementwise = Callable[[AnyFloats], AnyFloats]
Block = Callable[[AnyFloats, AnyFloats], AnyFloats]


@dataclass(frozen=True, eq=False)
class Metric:
    """A distance between rows: distance = finish(||feature_map(x) - feature_map(a)||), or what `block` computes.

    Attributes
    ----------
    name : the name in `METRICS`, or "callable".
    feature_map : X (n, D) -> F (n, p), float32 kept; None when the metric is not Euclidean after a map.
    finish : increasing function applied to the Euclidean distance of features; None is the identity.
    unfinish : inverse of `finish`, for a search by radius; None is the identity.
    params : plain arrays, numbers and strings; `resolve_metric(name, params, None)` gives the metric back.
    linear : the map is linear, so that a shift common to all rows may be taken off first.
    prepare : metrics without a map: X -> what `block` and `matched` compare.
    block : metrics without a map: prepared (m, q), (n, q) -> distances (m, n), float64.
    matched : metrics without a map: prepared (m, q), (m, q) -> distances of matching rows (m,), float64.
    """

    name: str
    feature_map: PointMap | None = None
    finish: Elementwise | None = None
    unfinish: Elementwise | None = None
    params: dict[str, Any] = field(default_factory=dict)
    linear: bool = False
    prepare: PointMap | None = None
    block: Block | None = None
    matched: Block | None = None

    def pairwise(self, A: AnyFloats, B: AnyFloats) -> AnyFloats:
        """All distances between rows of A (m, D) and B (n, D) as (m, n), on this thread, float32 kept."""
        from lowfold.metrics._pairwise import distances

        return distances(self, A, B, n_jobs=1)

    def rowwise(self, A: AnyFloats, B: AnyFloats) -> NDArray[np.float64]:
        """Distances of matching rows of A and B, both (m, D), in float64 and by direct differences.

        Rows that are equal get exactly 0.
        """
        if isinstance(A, SparseRows):
            assert self.matched is not None
            return np.asarray(self.matched(A, B))
        A64, B64 = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
        if self.feature_map is None:
            assert self.matched is not None
            if self.prepare is None:
                return np.asarray(self.matched(A64, B64))
            d = np.asarray(self.matched(self.prepare(A64), self.prepare(B64)), dtype=np.float64)
            d[(A64 == B64).all(axis=1)] = 0
            return d
        # a linear map commutes with the difference, which is exact for nearby rows far from the origin
        difference = self.feature_map(A64 - B64) if self.linear else self.feature_map(A64) - self.feature_map(B64)
        d = row_norms(difference)
        if not self.linear:
            d[(A64 == B64).all(axis=1)] = 0
        return d if self.finish is None else np.asarray(self.finish(d))


def row_norms(X: AnyFloats) -> NDArray[np.float64]:
    """||row|| in float64, without overflow or underflow of the squares."""
    largest = np.abs(X).max(axis=1, initial=0).astype(np.float64)
    e = np.frexp(largest)[1]
    return np.asarray(np.ldexp(np.linalg.norm(np.ldexp(X, -e[:, None]), axis=1), e), dtype=np.float64)
