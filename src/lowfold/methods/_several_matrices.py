"""Methods that take several matrices of dissimilarities of the same points: reading, merging, placing new points."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import Floats
from lowfold.graph._source import Pairs
from lowfold.methods._base import Method
from lowfold.methods._descent import symmetric_dissimilarities
from lowfold.methods._fit import Data
from lowfold.metrics._dissimilarity import similarity_to_distance

MATRIX_KINDS: Limits = {"metric": (Choice(("precomputed", "precomputed_squared", "precomputed_similarity")),)}


@dataclass(frozen=True, eq=False)
class Stack(Data):
    """Data with the matrices (m, n, n) that its source was merged from."""

    matrices: Floats | None = None


def read_stack(X: Any, kind: str, *, square: bool) -> Floats:
    """Distances (m, rows, n) from a 3-D array or a list of matrices; a single matrix is a stack of one."""
    if issparse(X) or (isinstance(X, (list, tuple)) and any(issparse(part) for part in X)):
        raise InvalidInput("several matrices are passed dense, with NaN for unmeasured pairs; got a sparse one")
    try:
        A = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"X must be an array (matrices, n, n) or a list of n x n matrices of one size, all numbers ({error})"
        ) from error
    A = A[None] if A.ndim == 2 else A
    if A.ndim != 3 or A.shape[0] < 1 or A.shape[1] < 1 or (square and A.shape[1] != A.shape[2]):
        raise InvalidInput(f"X must be an array (matrices, n, n) or a list of n x n matrices; got shape {np.shape(X)}")
    if square and A.shape[1] < 2:
        raise InvalidInput(f"at least 2 points are needed; got n_samples = {A.shape[1]}")
    if kind == "precomputed_similarity":
        if not square:
            raise InvalidInput("new points need distances to the training points, not similarities: s(x, x) is unknown")
        return np.stack([similarity_to_distance(part) for part in A])
    if (A < 0).any():
        raise InvalidInput(f"distances must be 0 or more, NaN where unmeasured; the smallest is {np.nanmin(A):g}")
    return np.sqrt(A) if kind == "precomputed_squared" else A


def merge(matrices: Floats, rule: str, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean or root mean square of the measured entries, NaN without any, and the weight behind each."""
    known = np.isfinite(matrices)
    w = known.astype(np.float64) if weights is None else known * weights[:, None, None]
    values = np.where(known, matrices, 0.0)
    total = w.sum(axis=0)
    sums = (w * (values if rule == "mean" else values**2)).sum(axis=0)
    mean = np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)
    return (mean if rule == "mean" else np.sqrt(mean)), total


def aligned(Y: Floats, target: Floats) -> Floats:
    """Y turned and reflected, not scaled, so that sum ||y_i - target_i||^2 is least (orthogonal Procrustes)."""
    U, _, Vt = stacked_svd(Y.T @ target)
    return np.asarray(Y @ (U @ Vt))


class SeveralMatrices(Method):
    """Base of ReplicatedMDS and WeightedMDS."""

    @abstractmethod
    def _merged(self, matrices: Floats) -> Floats:
        """The one matrix that stands for all of them."""

    @abstractmethod
    def _place(self, matrices: Floats, merged: Floats) -> Floats:
        """Natural coordinates of new points from their distances (m, q, n) to the training points."""

    def _merged_distances(self) -> NDArray[np.floating]:
        assert isinstance(self._trained.source, Pairs)
        return self._trained.source.distances

    def _read(self, X: Any) -> Data:
        matrices = read_stack(X, self.metric, square=True)
        matrices = np.stack([np.asarray(symmetric_dissimilarities(D), dtype=np.float64) for D in matrices])
        self.n_features_in_ = matrices.shape[2]
        self.n_matrices_ = len(matrices)
        return Stack(Pairs(self._merged(matrices)), matrices=matrices)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Place new points from their distances to the training points: (matrices, new points, n)."""
        check_is_fitted(self)
        queries = read_stack(X, self.metric, square=False)
        if len(queries) != self.n_matrices_ or queries.shape[2] != self.n_features_in_:
            raise InvalidInput(
                f"X must have shape ({self.n_matrices_}, new points, {self.n_features_in_}), one matrix for each of "
                f"the fit; got {queries.shape}"
            )
        merged = self._merged(queries)
        known = (merged == 0).any(axis=1)
        out = np.empty((len(merged), self.embedding_.shape[1]), dtype=self.embedding_.dtype)
        out[known] = self.embedding_[np.argmax(merged[known] == 0, axis=1)]
        if not known.all():
            with single_threaded_blas():
                out[~known] = self._finish(self._place(queries[:, ~known], merged[~known]))
        return out
