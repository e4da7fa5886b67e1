"""Methods whose new points go through a linear map: no neighbours are looked up, and no training point is special."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import row_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.methods._base import Check, Method
from lowfold.methods._fit import Data, Extension, Looks, Queries, Trained, feature_rows
from lowfold.methods._input import Reader, Rows
from lowfold.methods._stages import Stages, principal_stages


@dataclass(frozen=True, eq=False)
class AffineMap(Extension):
    """y = (x - mean) W, and back x = mean + y B; B W = I, so that coordinates survive the way to and fro."""

    mean: Floats
    W: Floats
    B: Floats
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return project(feature_rows(queries), self.mean, self.W, run)

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.B + self.mean)


def project(X: NDArray[np.floating], mean: Floats, W: Floats, run: Run) -> Floats:
    """(X - mean) W by fixed blocks of rows, in float64."""
    if isinstance(X, SparseRows):
        return np.asarray(X @ W - mean @ W)
    out = np.empty((len(X), W.shape[1]))
    parts = row_slices(len(X), X.shape[1])

    def work(i: int) -> None:
        out[parts[i]] = np.subtract(X[parts[i]], mean, dtype=np.float64) @ W

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return out


def regression_back(Y: Floats, X: NDArray[np.floating], mean: Floats) -> Floats:
    """B (d, D) = (Y'Y)^+ Y'(X - mean): the linear map back to the data that errs the least on them.

    For Y = (X - mean) W of full rank B W = I.
    """
    if isinstance(X, SparseRows):
        YtX = Y.T @ X - np.outer(Y.sum(axis=0), mean)
    else:
        YtX = np.zeros((Y.shape[1], X.shape[1]))
        for part in row_slices(len(Y), X.shape[1]):
            YtX += Y[part].T @ np.subtract(X[part], mean, dtype=np.float64)
    return np.asarray(np.linalg.pinv(Y.T @ Y, hermitian=True) @ YtX)


def at_most_rank(method: Any, data: Data) -> None:
    """n rows of D features span at most min(n, D) directions."""
    n, D = data.shape
    if isinstance(method.n_components, (int, np.integer)) and method.n_components > min(n, D):
        raise InvalidInput(
            f"n_components of {type(method).__name__} must be at most min(n_samples, n_features) = {min(n, D)} for "
            f"n_samples = {n} and n_features = {D}; got {method.n_components}"
        )


class LinearMethod(Method):
    """A method that reads rows of features and places new ones by a map of the features alone."""

    stages: ClassVar[Stages] = principal_stages

    reader: ClassVar[Reader] = Rows()
    checks: ClassVar[tuple[Check, ...]] = (at_most_rank,)
