"""Sparse PCA, Zou, Hastie & Tibshirani (2006), doi:10.1198/106186006X113430.

X --centre--> Xc --dictionary learning with an L1 penalty on the loadings--> C --ridge regression of each row on C--> y
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lowfold._core import errors
from lowfold._core.limits import Int, Real
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.warn import warn
from lowfold.lowrank._component_count import components_to_compute
from lowfold.lowrank._scatter import Scatter
from lowfold.lowrank._sparse_components import sparse_components
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_method import AffineMap, LinearMethod, project
from lowfold.methods._losses import Lowered, no_loss
from lowfold.methods._parameters import AllComponents
from lowfold.methods._stages import Stages, copy_stages


class SparsePCA(AllComponents, LinearMethod):
    """Components with few loadings that are not zero, so that each can be read.

    Minimises 1/2 ||Xc - Y C||_F^2 + alpha ||C||_1 with columns of Y of bounded norm; coordinates are then the ridge
    regression y = Xc C'(C C' + ridge_alpha I)^-1. Components have unit length and are not orthogonal in general. With
    alpha near 0 they span what PCA's do.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    components_ : array (n_components, D), sparse rows; mean_ : array (D,)
    n_components_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.random.default_rng(0).normal(size=(60, 6)) * [5, 5, 1, 1, 1, 1]
    >>> int((lowfold.SparsePCA(1, alpha=20.0).fit(X).components_ != 0).sum()) < 6
    True
    """

    stages: ClassVar[Stages] = copy_stages(3, "sparse components")
    loss: ClassVar[Lowered] = no_loss("it penalises loadings, which an embedding does not have; use PCA's")

    alpha: float = param(1.0, Real(0), "Penalty; higher is sparser.")
    ridge_alpha: float = param(0.01, Real(0), "Ridge of the coordinates.")
    max_iter: int = param(
        1000,
        Int(1),
        "Steps at most.",
    )
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "Relative change of the cost at which the descent stops.",
    )

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        mean = X.mean(axis=0, dtype=np.float64)
        with run.stage("sparse components") as progress:
            found = sparse_components(
                np.subtract(X, mean, dtype=np.float64),
                components_to_compute(self.n_components, *X.shape),
                alpha=self.alpha,
                tol=self.tol,
                max_iter=self.max_iter,
                progress=progress,
            )
        if not found.settled:
            warn(
                f"SparsePCA had not come to rest after max_iter = {self.max_iter} steps; raise max_iter or tol",
                errors.AccuracyWarning,
            )
        C = found.C
        empty = int((~C.any(axis=1)).sum())
        if empty:
            warn(
                f"alpha = {self.alpha:g} leaves {empty} of {len(C)} components of SparsePCA without a loading, and "
                "their coordinates are 0; use a smaller alpha, or columns of unit variance",
                errors.AccuracyWarning,
            )
        inner = C @ C.T + self.ridge_alpha * np.eye(len(C))
        there = AffineMap(mean, C.T @ np.linalg.pinv(inner, hermitian=True), C)
        extra = {
            "mean_": mean.astype(X.dtype),
            "components_": C.astype(X.dtype),
            "n_components_": len(C),
            "n_iter_": found.steps,
        }
        return Fit(project(X, mean, there.W, run), None, None, there, there, extra)

    def _operator(self) -> DenseOperator:
        """The covariance of the training data."""
        X = self._trained.points.X
        return DenseOperator(Scatter(X, self._extend.mean, divisor=max(len(X) - 1, 1)).dense(), psd=True)
