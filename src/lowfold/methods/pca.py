"""Principal component analysis, Pearson (1901), doi:10.1080/14786440109462720; Hotelling (1933), doi:10.1037/h0071325.

X --centre--> Xc --covariance | Gram | SVD--> (lambda, V) --> Xc V
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Limits
from lowfold._core.operators import DenseOperator
from lowfold._core.run import Run
from lowfold.methods._base import Method
from lowfold.methods._extend import LinearMap
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS
from lowfold.spectral import principal_axes

SOLVERS = ("auto", "covariance", "gram", "svd")


class PCA(Method):
    """Project linearly onto the directions of largest variance.

    Of all linear maps to `n_components` dimensions this keeps the most energy: y = V'(x - mean) with V the leading
    eigenvectors of the covariance C = Xc'Xc / (n - 1).

    Parameters
    ----------
    {n_components}
    solver : {"auto", "covariance", "gram", "svd"}, default="auto"
        Eigenvectors of the D x D covariance (few features), of the n x n Gram matrix (few points), or the SVD of the
        centred data, which keeps digits of directions below 1e-7 of the first. "auto" takes the smaller matrix, and the
        SVD where the kept directions are that unequal.
    {normalization}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components)
    components_ : array (n_components, D), orthonormal rows
    mean_ : array (D,)
    eigenvalues_ : array (n_components,), variances along the components (dividing by n - 1), descending
    explained_variance_ratio_ : array (n_components,), their share of the total variance
    total_variance_ : float
    residual_, gap_, solver_ : what the solve was worth, and which route was taken

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    >>> lowfold.PCA(1).fit_transform(X).round(3).ravel().tolist()
    [-2.236, 0.0, 2.236]
    """

    limits: ClassVar[Limits] = {**LIMITS, "solver": (Choice(SOLVERS),)}
    _recognise: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = "auto",
        normalization: str = "natural",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, data: Data) -> None:
        n, D = data.points().X.shape
        if self.n_components > min(n, D):
            raise InvalidInput(
                f"n_components of PCA must be at most min(n_samples, n_features) = {min(n, D)} for n_samples = {n} and "
                f"n_features = {D}; got {self.n_components}"
            )

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        mean = X.mean(axis=0, dtype=np.float64)
        axes = principal_axes(X, mean, self.n_components, run=run)  # V, lambda, total variance
        to_axes = LinearMap(mean, axes.V)
        scores = to_axes.place(None, X, None, run)  # type: ignore[arg-type]
        share = axes.pairs.values / axes.total if axes.total > 0 else np.zeros_like(axes.pairs.values)
        return Fit(
            coordinates=scores,
            pairs=axes.pairs,
            graph=None,
            extend=to_axes,
            invert=to_axes,
            extra={
                "mean_": mean.astype(X.dtype),
                "components_": axes.V.T.astype(X.dtype),
                "explained_variance_ratio_": share,
                "total_variance_": axes.total,
            },
        )

    def kernel(self) -> DenseOperator:
        """The covariance matrix of the training data."""
        Xc = self._trained.source.X - self._extend.mean
        return DenseOperator(Xc.T @ Xc / (len(Xc) - 1), psd=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        return tags
