"""Methods whose new points go through a linear map: no neighbours are looked up, and no training point is special."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices, run_blocks, single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.methods._base import Method
from lowfold.methods._fit import Data, Fit, Queries, Trained
from lowfold.methods._input import check_range, read_points


@dataclass(frozen=True, eq=False)
class AffineMap:
    """y = (x - mean) W, and back x = mean + y B; B W = I, so that coordinates survive the way to and fro."""

    mean: Floats
    W: Floats
    B: Floats
    neighbors: ClassVar[bool] = False

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        assert isinstance(queries, np.ndarray)
        return project(queries, self.mean, self.W, run)

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.B + self.mean)


def project(X: NDArray[np.floating], mean: Floats, W: Floats, run: Run) -> Floats:
    """(X - mean) W by fixed blocks of rows, in float64."""
    out = np.empty((len(X), W.shape[1]))
    parts = block_slices(len(X), max(256, 2**20 // max(X.shape[1], 1)))

    def work(i: int) -> None:
        out[parts[i]] = np.subtract(X[parts[i]], mean, dtype=np.float64) @ W

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return out


def regression_back(Y: Floats, X: NDArray[np.floating], mean: Floats) -> Floats:
    """B (d, D) = (Y'Y)^+ Y'(X - mean): the linear map back to the data that errs the least on them.

    For Y = (X - mean) W of full rank B W = I.
    """
    YtX = np.zeros((Y.shape[1], X.shape[1]))
    for part in block_slices(len(Y), max(256, 2**20 // max(X.shape[1], 1))):
        YtX += Y[part].T @ np.subtract(X[part], mean, dtype=np.float64)
    return np.asarray(np.linalg.pinv(Y.T @ Y, hermitian=True) @ YtX)


class LinearMethod(Method):
    """A method with `transform` by a map of the features alone; it may be fitted without keeping an `embedding_`."""

    _recognise: ClassVar[bool] = False
    _extend: Any
    _invert: Any
    _trained: Any

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Map rows of features."""
        check_is_fitted(self)
        queries = self._read_rows(X)
        with single_threaded_blas():
            return self._finish(self._extend.place(self._trained, queries, None, self._run()))

    def inverse_transform(self, X: Any) -> NDArray[np.floating]:
        """Lead coordinates back to data space."""
        check_is_fitted(self)
        Y = np.asarray(X, dtype=np.float64)
        d = self._n_features_out
        if Y.ndim != 2 or Y.shape[1] != d:
            raise InvalidInput(f"inverse_transform takes {d} columns, as transform gives; got shape {Y.shape}")
        if not np.isfinite(Y).all():
            raise InvalidInput("inverse_transform needs finite coordinates; X has NaN or inf")
        check_range(Y)
        with single_threaded_blas():
            natural = np.linalg.solve(self._normal.T, Y.T).T
            restored = self._invert.restore(self._trained, natural, self._run())
        return np.asarray(restored, dtype=self._dtype)

    def _read_rows(self, X: Any) -> Any:
        return read_points(self, X, reset=False)

    def _keep(self, fit: Fit, data: Data, dtype: np.dtype[Any]) -> None:
        super()._keep(fit, data, dtype)
        self._dtype = np.dtype(dtype).name

    def _finish(self, natural: Floats) -> NDArray[np.floating]:
        return (natural @ self._normal).astype(self._dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self._normal.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_extend")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        return tags

    def _check(self, data: Data) -> None:
        n, D = data.points().X.shape
        if self.n_components > min(n, D):
            raise InvalidInput(
                f"n_components of {type(self).__name__} must be at most min(n_samples, n_features) = {min(n, D)} for "
                f"n_samples = {n} and n_features = {D}; got {self.n_components}"
            )
