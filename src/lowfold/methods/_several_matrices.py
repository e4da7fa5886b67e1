"""Methods that take several matrices of dissimilarities of the same points: reading, merging, placing new points."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._reading import in_memory
from lowfold.graph._search import nearest
from lowfold.graph._source import Pairs, both_ways, check_distances
from lowfold.graph._types import Neighbors
from lowfold.methods._base import Method
from lowfold.methods._descent import symmetric_dissimilarities
from lowfold.methods._fit import Data, Extension, Looks, Queries, Trained, feature_rows, known_source
from lowfold.methods._input import Reader
from lowfold.methods._stages import FLOAT, Stage, Stages, read_stage
from lowfold.metrics._dissimilarity import similarity_to_distance


def read_stack(X: Any, kind: str, *, square: bool) -> AnyFloats:
    """Distances (m, rows, n) from a 3-D array or a list of matrices; a single matrix is a stack of one."""
    if issparse(X) or (isinstance(X, (list, tuple)) and any(issparse(part) for part in X)):
        raise InvalidInput("several matrices are passed dense, with NaN for unmeasured pairs; got a sparse one")
    in_memory(X)
    try:
        A = np.array(X)
        with np.errstate(over="ignore"):  # long doubles beyond float64 become infinite, and are refused for it
            A = A if A.dtype == np.float32 or A.dtype.kind == "c" else A.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"X must be an array (matrices, n, n) or a list of n x n matrices of one size, all numbers{_sizes(X)}"
        ) from error
    if A.dtype.kind == "c":
        raise InvalidInput("X holds complex numbers, and dissimilarities are real; np.abs(X) has their sizes")
    A = A[None] if A.ndim == 2 else A
    if A.ndim != 3 or A.shape[0] < 1 or A.shape[1] < 1 or (square and A.shape[1] != A.shape[2]):
        raise InvalidInput(f"X must be an array (matrices, n, n) or a list of n x n matrices; got shape {np.shape(X)}")
    if square and A.shape[1] < 2:
        raise InvalidInput(f"at least 2 points are needed; got n_samples = {A.shape[1]}")
    if kind == "precomputed_similarity":
        if not square:
            raise InvalidInput("new points need distances to the training points, not similarities: s(x, x) is unknown")
        return np.stack([similarity_to_distance(both_ways(part)) for part in A])
    if (A < 0).any():
        raise InvalidInput(f"distances must be 0 or more, NaN where unmeasured; the smallest is {np.nanmin(A):g}")
    A = np.sqrt(A) if kind == "precomputed_squared" else A
    check_distances(A)
    return np.stack([both_ways(part) for part in A]) if square else A


def _sizes(X: Any) -> str:
    """What came, where it can be told."""
    if not isinstance(X, (list, tuple)):
        return f"; got {type(X).__name__}"
    sizes = dict.fromkeys(str(np.shape(part)) for part in X if hasattr(part, "shape"))
    return f"; got matrices of shape {', '.join(sizes)}" if len(sizes) > 1 else ""


def merge(matrices: Floats, rule: str, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean or root mean square of the measured entries, NaN without any, and the weight behind each."""
    known = np.isfinite(matrices)
    w = known.astype(np.float64) if weights is None else known * weights[:, None, None]
    values = np.where(known, matrices, 0.0)
    total = w.sum(axis=0)
    sums = (w * (values if rule == "mean" else values**2)).sum(axis=0)
    mean = np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)
    return (mean if rule == "mean" else np.sqrt(mean)), total


def given_stack(data: Data) -> Floats:
    """The matrices themselves, which a model does not keep."""
    if data.given is None:
        raise InvalidInput("X must be given: the model does not keep the matrices it was fitted to")
    return data.stack()


def aligned(Y: Floats, target: Floats) -> Floats:
    """Y turned and reflected, not scaled, so that sum ||y_i - target_i||^2 is least (orthogonal Procrustes)."""
    U, _, Vt = stacked_svd(Y.T @ target)
    return np.asarray(Y @ (U @ Vt))


@dataclass(frozen=True)
class SeveralSquares:
    """Several matrices of dissimilarities of the same points, as an array (m, n, n) or a list."""

    def data(self, method: Any, X: Any, y: Any) -> Data:
        matrices = read_stack(X, method.metric, square=True)
        matrices = np.stack([np.asarray(symmetric_dissimilarities(D), dtype=matrices.dtype) for D in matrices])
        method.n_features_in_ = matrices.shape[2]
        merged = merge(matrices.astype(np.float64), *method._merging(len(matrices)))[0]
        return Data(Pairs(merged), given=matrices, kept={"n_matrices_": len(matrices)})

    def queries(self, method: Any, X: Any) -> Queries:
        rows = read_stack(X, method.metric, square=False)
        m, n = method.n_matrices_, method.n_features_in_
        if len(rows) != m or rows.shape[2] != n:
            raise InvalidInput(
                f"X must have shape ({m}, new points, {n}), one matrix for each of the fit; got {rows.shape}"
            )
        return rows.transpose(1, 0, 2)  # a row per new point

    def tags(self, method: Any, tags: Any) -> Any:
        return tags


@dataclass(frozen=True, eq=False)
class MergedRow(Extension):
    """New points from their distances (new points, m, n): merged as in the fit; one at distance 0 is that point."""

    rule: str
    weights: Floats | None
    inner: Extension
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        matrices = np.asarray(feature_rows(queries), dtype=np.float64).transpose(1, 0, 2)
        merged = merge(matrices, self.rule, self.weights)[0]
        out = np.empty((len(merged), trained.coordinates.shape[1]))
        known = (merged == 0).any(axis=1)
        out[known] = trained.coordinates[np.argmax(merged[known] == 0, axis=1)]
        new = np.flatnonzero(~known)
        if len(new):
            rows = Pairs(merged[new])
            near = nearest(known_source(trained.source), 1, queries=rows, run=run)
            out[new] = self.inner.place(trained, rows, near, run)
        return out


def _stages(method: Any, data: Data) -> list[Stage]:
    """Copies of the stack: as read, symmetric, measured, squared, centred."""
    size = FLOAT * data.stack().size
    return [read_stage(data), Stage("matrices", f"{len(data.stack())} of {data.n} x {data.n}", 5 * size)]


class SeveralMatrices(Method):
    """Base of ReplicatedMDS and WeightedMDS."""

    stages: ClassVar[Stages] = _stages

    metric: str = param(
        "precomputed",
        Choice(("precomputed", "precomputed_squared", "precomputed_similarity")),
        "What the matrices hold: distances, squared distances or similarities.",
    )

    reader: ClassVar[Reader] = SeveralSquares()

    @abstractmethod
    def _merging(self, m: int) -> tuple[str, Floats | None]:
        """Rule and weights by which m matrices become the one that stands for all of them."""

    @final
    def _merged_distances(self) -> AnyFloats:
        source = self._trained.source
        if not isinstance(source, Pairs):
            raise InvalidInput("this model keeps no matrix of distances")
        return source.distances
