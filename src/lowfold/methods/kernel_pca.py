"""Kernel PCA, Schoelkopf, Smola & Mueller (1998), doi:10.1162/089976698300017467.

X --kernel--> K --centre--> H K H --eigen--> (lambda, v) --> sqrt(lambda) v
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Flag, Limits, Real
from lowfold._core.operators import CentredGram, DenseOperator
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.kernels._functions import KERNEL_LIMITS, Mercer, mercer_kernel
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.methods._base import Method
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit, Queries, Trained
from lowfold.methods._parameters import LIMITS
from lowfold.methods._preimage import FixedPoint, RidgePreimage, kernel_rows
from lowfold.spectral._doors import largest

PREIMAGES = ("barycentric", "fixed_point", "ridge")


class KernelPCA(Method):
    """PCA of the feature vectors phi(x) that a kernel k(x, y) = <phi(x), phi(y)> implies, without computing them.

    The coordinates are Y = V sqrt(lambda) for the leading eigenpairs of the centred Gram matrix H K H: the projections
    of the centred phi(x_i) on their principal directions. Up to n - 1 components exist, whatever the number of
    features. With the linear kernel it is PCA; with -1/2 times squared distances as a precomputed kernel, classical
    MDS, or Isomap. The Gram matrix is never held in one piece: the upper triangle in tiles of float32, or computed anew
    in each pass.

    Parameters
    ----------
    {n_components}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    center : bool, default=True
        Centre the feature vectors. False takes K as it is (Vidal, Ma & Sastry, Algorithm 4.1).
    preimage : {"barycentric", "fixed_point", "ridge"}, default="barycentric"
        How `inverse_transform` leads back to data: barycentric weights of the nearest embedded points; the fixed point
        z = sum c_i k(z, x_i) x_i / sum c_i k(z, x_i), which minimises the distance to the point in feature space ("rbf"
        only; Mika et al. 1999); or kernel ridge regression of x on y (Bakir, Weston & Schoelkopf 2004).
    alpha : float above 0, default=0.01
        Penalty of the ridge regression.
    {normalization}
    {solver}
    {tol}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), of H K H, descending: n times the variances; one that is not positive gives
    zeros
    explained_variance_ratio_ : array (n_components,), their share of the trace
    gamma_ : float, the gamma used
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> rings = lowfold.datasets.concentric_circles(200, random_state=0)
    >>> lowfold.KernelPCA(2, gamma=1.0).fit_transform(rings.X).shape
    (200, 2)
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        **KERNEL_LIMITS,
        "center": (Flag(),),
        "preimage": (Choice(PREIMAGES),),
        "alpha": (Real(0, open_low=True),),
    }

    _extend: Any
    _trained: Any

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        center: bool = True,
        preimage: str = "barycentric",
        alpha: float = 0.01,
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel  # type: ignore[method-assign,assignment] # scikit-learn's name; the operator is gram()
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center
        self.preimage = preimage
        self.alpha = alpha
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        k = self._mercer(data)
        with run.stage("kernel matrix"):
            K = self._operator(data, k, run)
        ones = np.ones((data.n, 1)) if self.center else None
        pairs = largest(K, self.n_components, null=ones, negligible=1e-10, run=run)
        kept = np.where(pairs.values > 1e-12 * max(pairs.values[0], 0.0), pairs.values, 0.0)
        means = K.row_means() if self.center else np.zeros(data.n)
        trace = K.trace(means)
        return Fit(
            coordinates=pairs.vectors * np.sqrt(kept),
            pairs=pairs,
            graph=None,
            extend=KernelRow(k, means, kept, pairs.vectors, self.center),
            invert=self._inverse(k, means, kept, pairs.vectors),
            extra={
                "explained_variance_ratio_": pairs.values / trace if trace > 0 else np.zeros_like(pairs.values),
                "gamma_": k.gamma,
            },
        )

    def _mercer(self, data: Data) -> Mercer:
        if isinstance(data, GramData):
            return Mercer("precomputed")
        D = data.points().X.shape[1]
        return mercer_kernel(self.kernel, D, gamma=self.gamma, degree=self.degree, coef0=self.coef0)  # type: ignore[arg-type]

    def _operator(self, data: Data, k: Mercer, run: Run) -> Any:
        if isinstance(data, GramData):
            return GivenGram(data.matrix, gram=True, n_jobs=run.n_jobs) if self.center else GivenMatrix(data.matrix)
        return kernel_operator(data.points().X, k, center=self.center, run=run)

    def _inverse(self, k: Mercer, means: Floats, values: Floats, vectors: Floats) -> Any:
        if self.preimage == "fixed_point":
            if k.name != "rbf":
                raise InvalidInput(f'preimage="fixed_point" needs kernel="rbf"; got {self.kernel!r}; use "ridge"')
            return FixedPoint(k.gamma, values, vectors, self.center)
        return RidgePreimage(float(self.alpha)) if self.preimage == "ridge" else Barycentric()

    def gram(self) -> KernelOperator:
        """The operator H K H (K where `center` is False) of the training points, rebuilt."""
        check_is_fitted(self)
        if self._trained.source is None:
            raise InvalidInput("a precomputed kernel matrix is not kept; its operator cannot be rebuilt")
        return kernel_operator(self._trained.source.X, self._extend.kernel, center=self.center, run=self._run())

    def operator(self) -> KernelOperator:
        """The same as `gram()`."""
        return self.gram()

    # Precomputed kernels --------------------------------------------------------------------------------------------

    def _read(self, X: Any) -> Data:
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            return super()._read(X)
        K = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2))
        if K.shape[0] != K.shape[1]:
            raise InvalidInput(f"a precomputed kernel must be square; got {K.shape[0]} rows and {K.shape[1]} columns")
        if np.abs(K - K.T).max() > 1e-6 * max(float(np.abs(K).max()), np.finfo(float).tiny):
            raise InvalidInput("a precomputed kernel must be symmetric; this one is not: pass (K + K.T) / 2")
        return GramData(None, matrix=K)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Place new points; for a precomputed kernel X holds k(x, training point), one row per new point."""
        check_is_fitted(self)
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            return super().transform(X)
        rows = np.asarray(validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C"))
        with single_threaded_blas():
            return self._finish(self._extend.coordinates(rows.astype(np.float64)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


@dataclass(frozen=True, eq=False)
class GramData(Data):
    """Input that is a kernel matrix: used in the fit and not kept."""

    matrix: NDArray[np.floating] = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def n(self) -> int:
        return len(self.matrix)


class GivenGram(CentredGram):
    """H K H for a given matrix K."""

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues."""
        return super().trace()


class GivenMatrix(DenseOperator):
    """A given matrix K, uncentred."""

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues."""
        return float(np.diagonal(self.matrix).astype(np.float64).sum())


@dataclass(frozen=True, eq=False)
class KernelRow:
    """y_k = sum_i v_ik k~(x, x_i) / sqrt(lambda_k), k~ centred with the stored means of the training points.

    k~(x, x_i) = k(x, x_i) - mean_j k(x, x_j) - mean_i + grand mean; the last two drop out against centred eigenvectors
    only together, so they are all there. Directions with lambda <= 0 do not exist; their coordinate is 0.
    """

    kernel: Mercer
    row_means: Floats
    values: Floats
    vectors: Floats
    center: bool
    neighbors: ClassVar[bool] = False

    def coordinates(self, rows: Floats) -> Floats:
        if self.center:
            rows = rows - rows.mean(axis=1, keepdims=True) - self.row_means + self.row_means.mean()
        alive = self.values > 0
        return np.asarray((rows @ self.vectors) * np.where(alive, 1 / np.sqrt(np.where(alive, self.values, 1.0)), 0.0))

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        assert isinstance(queries, np.ndarray)
        X = trained.source.X  # type: ignore[union-attr]
        out = np.empty((len(queries), len(self.values)))
        for part, rows in kernel_rows(self.kernel, queries, X):
            out[part] = self.coordinates(rows)
        return out
