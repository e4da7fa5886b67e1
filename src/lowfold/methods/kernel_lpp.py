"""Kernel locality preserving projections, He & Niyogi (2003); Levada (2020), Section 8.

X --kernel--> K = U S U' --> features F = U sqrt(S);  X --graph--> L, D --linear on F--> K L K a = lambda K D K a
    --> k(x) a
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, Null, Real
from lowfold._core.memory import require
from lowfold._core.operators import SparseOperator
from lowfold._core.params import fixed, param
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.graph._weights import laplacian
from lowfold.kernels._functions import KERNELS, Mercer, mercer_kernel, usual_gamma
from lowfold.kernels._gaussian import Weighting, auto_scale, weigh
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.lowrank._linearised import linearised
from lowfold.methods._base import Check
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import AsNew, Connected, Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._losses import SMOOTH, Lowered, smooth
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import MercerKernel, PointMetric, Symmetrized
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.preimages import over_kernel_rows, without_themselves
from lowfold.methods._stages import Stages, function_stages
from lowfold.methods._telling import tell_few
from lowfold.spectral._doors import largest


def _points_given(method: Any, data: Data) -> None:
    if not isinstance(data.source, Points):
        raise InvalidInput("KernelLPP needs the points themselves; the input was a graph")


class KernelLPP(MercerKernel, PointMetric, Symmetrized, GraphMethod):
    """LPP in the feature space of a kernel: Laplacian eigenmaps restricted to functions sum_i a_i k(x, x_i) + constant.

    K L K a = lambda K D K a, solved on the range of K and with the features centred by the degrees, so that the
    constant, which an invertible K contains, never appears. With the linear kernel it is LPP; with an invertible K and
    `energy=1`, Laplacian eigenmaps, with a map for new points that fits the training points alone.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: Y'D Y = I
    eigenvalues_ : array (n_components,), ascending
    alpha_ : array (n, n_components), the coefficients a; offset_ : array (n_components,)
    rank_ : int, principal axes of the features that were used; energy_ : float, their share of the sum of squares
    degrees_, scale_, gamma_, graph_, n_neighbors_, component_labels_ : the graph and what was set by rule

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(200, random_state=0)
    >>> lowfold.KernelLPP(2, gamma=0.05).fit_transform(roll.X).shape
    (200, 2)
    """

    stages: ClassVar[Stages] = function_stages
    loss: ClassVar[Lowered] = Lowered(smooth, SMOOTH, "linear")
    tuned_on: ClassVar[int | None] = 600

    kernel: str | Callable[..., float] = param(  # type: ignore[assignment] # scikit-learn's name
        "rbf",
        Choice(KERNELS),
        Function("f(x, y) -> number"),
        '"rbf" exp(-gamma |x - y|^2), "linear" x\'y, "poly" (gamma x\'y + coef0)^degree, "laplacian" '
        'exp(-gamma |x - y|_1), "sigmoid" tanh(gamma x\'y + coef0), "cosine" x\'y / |x| |y|; a function '
        'f(x, y) of two rows; or "precomputed": X itself is the matrix of the kernel. No precomputed '
        "matrix here: the graph needs the points.",
    )
    weights: Weighting = param(
        "heat",
        Choice(("heat", "binary")),
        Function("g(squared lengths) -> weights"),
        "Of the graph: exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.",
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Width of the heat weights, in squared units; "auto" is the mean squared edge length.',
    )
    n_eigenvectors: int | None = param(
        None,
        Int(1),
        Null("all of them"),
        "Use only so many leading eigenvectors of K: the way above a few thousand points. None is all, n^3 operations.",
    )
    energy: float | None = param(
        None,
        Real(0, 1, open_low=True),
        Null("1, or what the points can bear of many features"),
        "Only the leading principal axes of the features with this share of their sum of squares are used. None is 1, "
        "and at most 0.98 and an axis for every 10 points where K has more than one eigenvector for every 4: functions "
        "of all of them fit the training points, and new ones are placed badly.",
    )
    reg: float = param(
        1e-08,
        Real(0, 1, open_low=True, open_high=True),
        "Eigenvalues of K below this share of the first count as zero.",
    )
    on_disconnected: Any = fixed(default="connect", init=False)
    on_shortcut: Any = fixed(default="ignore", init=False)
    solver: Any = fixed(default="auto", init=False)
    tol: Any = fixed(default=1e-06, init=False)

    checks: ClassVar[tuple[Check, ...]] = (_points_given, *GraphMethod.checks)

    def _needs(self) -> Needs:
        return Needs(symmetrize=self.symmetrize, apart=True)  # functions of one kernel can separate pieces

    def _recipe(self, data: Connected, run: Run) -> Fit:
        graph = data.graph
        scale = auto_scale(graph) if self.scale == "auto" else float(self.scale)
        W = weigh(graph, self.weights, scale, 0.0)
        X = data.points().X
        gamma = usual_gamma(self.kernel, X, self.gamma)
        k = mercer_kernel(self.kernel, X.shape[1], gamma=gamma, degree=self.degree, coef0=self.coef0)
        U, s = self._spectrum(X, k, run)
        F, d = U * np.sqrt(s), self.n_components
        found = linearised(laplacian(W), F, d, mass=W.volumes(), energy=self.energy, run=run)
        alpha = (U / np.sqrt(s)) @ found.A  # k(x) alpha = f(x) A for the features f of x
        offset = found.mean @ found.A
        Y = (F - found.mean) @ found.A
        if data.labels.max(initial=0) == 0:  # in pieces a coordinate may rightly tell a small one
            tell_few("KernelLPP", Y, "leave these rows out, or use a smaller gamma or energy, or more n_neighbors")
        return Fit(
            coordinates=Y,
            pairs=found.pairs,
            graph=graph,
            extend=KernelExpansion(k, alpha, offset),
            invert=Barycentric(),
            extra={
                "degrees_": W.volumes(),
                "scale_": scale,
                "gamma_": k.gamma,
                "alpha_": alpha,
                "offset_": offset,
                "rank_": found.rank,
                "energy_": found.energy,
            },
        )

    def _spectrum(self, X: NDArray[np.floating], k: Mercer, run: Run) -> tuple[Floats, Floats]:
        """Eigenvectors and eigenvalues of K (not centred) that are not negligible."""
        n = len(X)
        if self.n_eigenvectors is None:
            require(4 * 8.0 * n * n, f"all eigenvectors of a {n} x {n} kernel", "give n_eigenvectors")
        count = n if self.n_eigenvectors is None else min(int(self.n_eigenvectors), n)
        pairs = largest(kernel_operator(X, k, center=False, run=run), count, negligible=1.0, run=run)
        values, U = pairs.values, pairs.vectors
        kept = values > self.reg * max(float(values[0]), np.finfo(float).tiny)
        return np.ascontiguousarray(U[:, kept]), values[kept]

    def gram(self) -> KernelOperator:
        """The operator K of the training points, not centred, rebuilt."""
        check_fitted(self)
        return kernel_operator(self._trained.points.X, self._extend.kernel, center=False, run=self._run())

    def _operator(self) -> SparseOperator:
        """The graph Laplacian L; restricted to the functions that `gram()` spans it gives the embedding."""
        return laplacian(weigh(self.graph_, self.weights, self.scale_, 0.0))


@dataclass(frozen=True, eq=False)
class KernelExpansion(Extension):
    """y = sum_i k(x, x_i) alpha_i - offset."""

    kernel: Mercer
    alpha: Floats
    offset: Floats
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        Q = feature_rows(queries)
        out = np.empty((len(Q), self.alpha.shape[1]))

        def work(part: slice, rows: Floats) -> None:
            out[part] = rows @ self.alpha - self.offset

        over_kernel_rows(self.kernel, Q, trained.points.X, work, run)
        return out

    def as_new(self, coordinates: Floats, rows: Ints, points: Points, run: Run) -> AsNew:
        return without_themselves(self.kernel, -self.offset, coordinates, rows, points, run)
