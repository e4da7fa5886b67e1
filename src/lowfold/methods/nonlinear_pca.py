"""Nonlinear PCA with an explicit feature map, Vidal, Ma & Sastry (2016), Section 4.1, doi:10.1007/978-0-387-87811-9.

X --feature map--> phi(X) --centre--> Phi --covariance | Gram--> (lambda, U) --> Phi U
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Flag, Function, Int
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.rounding import LARGEST
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.lowrank._principal import ROUTES, principal_axes
from lowfold.lowrank._scatter import Scatter
from lowfold.lowrank._veronese import Vanishing, vanishing, veronese
from lowfold.methods._base import Check
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._linear_method import LinearMethod, project
from lowfold.methods._losses import Lowered, features
from lowfold.methods._normalize import in_type
from lowfold.methods._parameters import Solved
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._stages import Stages, feature_stages


def _options_belong(method: Any, data: Data) -> None:
    if callable(method.feature_map) and (method.degree != 2 or method.weighted):
        raise InvalidInput('degree and weighted of NonlinearPCA belong to feature_map="veronese"')


class NonlinearPCA(Solved, LinearMethod):
    """PCA of features phi(x) that are computed: monomials of one degree (the Veronese map), or a function of your own.

    Data on a quadric, or on a union of subspaces, lie on a hyperplane, or in a subspace, of their monomials:
    `vanishing` finds the equations. Where features outnumber points the n x n Gram matrix is used (the dual route).

    Attributes
    ----------
    embedding_ : array (n, n_components)
    components_ : array (n_components, M), orthonormal rows; feature_mean_ : array (M,), zeros with center=False
    eigenvalues_ : array (n_components,), variances of the features along them, descending (dividing by n - 1; by n with
        center=False, where they are mean squares)
    explained_variance_ratio_ : array (n_components,)
    residual_, gap_, solver_ : what the solve was worth, and which route was taken

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> t = np.linspace(0, 6, 40)
    >>> circle = 3 * np.column_stack([np.cos(t), np.sin(t)])
    >>> found = lowfold.NonlinearPCA(2).fit(circle).vanishing(circle)  # x^2 + y^2 - 9 = 0
    >>> (found.coefficients[0] / found.coefficients[0, 0]).round(6).tolist()
    [1.0, 0.0, 1.0]
    >>> (found.constants / found.coefficients[:, 0]).round(6).tolist()
    [-9.0]
    """

    stages: ClassVar[Stages] = feature_stages
    loss: ClassVar[Lowered] = Lowered(features, "share of the variance of the features that Y does not explain")

    feature_map: str | Callable[[Any], Any] = param(
        "veronese",
        Choice(("veronese",)),
        Function("f(X) -> features"),
        "All monomials of `degree`, in degree-lexicographic order; or a function that maps an array "
        "(n, D) to features (n, M).",
    )
    degree: int = param(
        2,
        Int(1),
        "Degree of the monomials.",
    )
    weighted: bool = param(
        False,
        Flag(),
        "Multiply each monomial by the root of its multinomial coefficient: then <phi(x), phi(y)> = "
        '(x\'y)^degree, and the result is that of `KernelPCA` with kernel="poly", coef0=0, gamma=1.',
    )
    center: bool = param(
        True,
        Flag(),
        "About the mean of the features; False for linear structure through the origin, such as a union of subspaces.",
    )
    solver: str = param("auto", Choice(ROUTES), "As for `PCA`, on the features.")

    checks: ClassVar[tuple[Check, ...]] = (_options_belong,)

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        features = FeatureMap(self.feature_map if callable(self.feature_map) else None, self.degree, self.weighted)
        Phi = features(X)
        n, M = Phi.shape
        if self.n_components > min(n, M):
            raise InvalidInput(
                f"n_components of NonlinearPCA must be at most {min(n, M)} for {n} points with {M} features of degree "
                f"{self.degree}; got {self.n_components}"
            )
        mean = Phi.mean(axis=0) if self.center else np.zeros(M)
        axes = principal_axes(Phi, mean, self.n_components, divisor=None if self.center else n, run=run)
        share = axes.pairs.values / axes.total if axes.total > 0 else np.zeros_like(axes.pairs.values)
        extra = {
            "components_": axes.V.T.astype(X.dtype),
            "feature_mean_": in_type(mean, X.dtype.name),
            "explained_variance_ratio_": share,
        }
        there = FeatureProjection(features.function, self.degree, self.weighted, mean, axes.V)
        return Fit(project(Phi, mean, axes.V, run), axes.pairs, None, there, Barycentric(), extra)

    def vanishing(self, X: Any, *, tol: float = 1e-9) -> Vanishing:
        """The equations c'phi(x) + constant = 0 that X fulfils: directions with at most `tol` of the leading energy."""
        features, mean = self._extend.map(feature_rows(self.reader.queries(self, X))), self._extend.mean
        return vanishing(features, features.mean(axis=0) if self.center else np.zeros_like(mean), tol=tol)

    def _operator(self) -> DenseOperator:
        """The covariance (with center=False the second moments) of the features."""
        Phi = self._extend.map(self._trained.points.X)
        divisor = max(len(Phi) - 1, 1) if self.center else len(Phi)
        return DenseOperator(Scatter(Phi, self._extend.mean, divisor=divisor).dense(), psd=True)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """phi: the Veronese map, or a function, checked."""

    function: Callable[[Any], Any] | None
    degree: int
    weighted: bool

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        with np.errstate(over="ignore"):
            raw = veronese(X, self.degree, weighted=self.weighted) if self.function is None else self.function(X)
        out = np.asarray(raw, dtype=np.float64)
        if out.ndim != 2 or len(out) != len(X) or not np.isfinite(out).all():
            raise InvalidInput(
                f"feature_map must give one row of finite features per point; got shape {out.shape} for {len(X)} "
                "points, or values that are not finite: scale X down, or use a lower degree"
            )
        if (size := float(max(out.max(initial=0.0), -out.min(initial=0.0)))) > LARGEST:
            raise InvalidInput(
                f"the features of X reach {size:.3g}, and beyond {LARGEST:g} their squares cannot be summed; divide X "
                "by its size, or use a lower degree"
            )
        return out


@dataclass(frozen=True, eq=False)
class FeatureProjection(Extension):
    """y = U'(phi(x) - mean)."""

    function: Any
    degree: int
    weighted: bool
    mean: Floats
    U: Floats
    looks: ClassVar[Looks] = "nowhere"

    def map(self, X: NDArray[np.floating]) -> Floats:
        return FeatureMap(self.function, self.degree, self.weighted)(X)

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return project(self.map(feature_rows(queries)), self.mean, self.U, run)
