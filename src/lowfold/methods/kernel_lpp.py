"""Kernel locality preserving projections, He & Niyogi (2003); Levada (2020), Section 8.

X --kernel--> K = U S U' --> features F = U sqrt(S);  X --graph--> L, D --linear on F--> K L K a = lambda K D K a -->
k(x) a
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, Limits, Null, Real
from lowfold._core.memory import require
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.graph._weights import laplacian
from lowfold.kernels._functions import KERNEL_LIMITS, KERNELS, Mercer, mercer_kernel
from lowfold.kernels._gaussian import auto_scale
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.lowrank._linearised import linearised
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit, Queries, Trained
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._linear_graph import LINEAR_GRAPH_LIMITS
from lowfold.methods._preimage import kernel_rows
from lowfold.methods.laplacian_eigenmaps import weigh
from lowfold.spectral._doors import largest


class KernelLPP(GraphMethod):
    """LPP in the feature space of a kernel: Laplacian eigenmaps restricted to functions sum_i a_i k(x, x_i) + constant.

    K L K a = lambda K D K a, solved on the range of K and with the features centred by the degrees, so that the
    constant, which an invertible K contains, never appears. With the linear kernel it is LPP; with an invertible K,
    Laplacian eigenmaps, with a map for new points.

    Parameters
    ----------
    {n_components}
    {kernel}
        No precomputed matrix here: the graph needs the points.
    {gamma}
    {degree}
    {coef0}
    {n_neighbors}
    {radius}
    {point_metric}
    {metric_params}
    {search}
    {symmetrize}
    weights : {"heat", "binary"} or callable, default="heat"
        Of the graph: exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.
    scale : float above 0 or "auto", default="auto"
        Width of the heat weights, in squared units; "auto" is the mean squared edge length.
    n_eigenvectors : int of at least 1 or None, default=None
        Use only so many leading eigenvectors of K: the way above a few thousand points. None is all, n^3 operations.
    reg : float above 0, default=1e-8
        Eigenvalues of K below this share of the first count as zero.
    {normalization}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: Y'D Y = I
    eigenvalues_ : array (n_components,), ascending
    alpha_ : array (n, n_components), the coefficients a; offset_ : array (n_components,)
    rank_ : int, eigenvectors of K that were used
    degrees_, scale_, gamma_, graph_, n_neighbors_, component_labels_ : the graph and what was set by rule

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(200, random_state=0)
    >>> lowfold.KernelLPP(2, gamma=0.05).fit_transform(roll.X).shape
    (200, 2)
    """

    limits: ClassVar[Limits] = {
        **LINEAR_GRAPH_LIMITS,
        **KERNEL_LIMITS,
        "kernel": (Choice(KERNELS), Function("f(x, y) -> number")),
        "weights": (Choice(("heat", "binary")), Function("g(squared lengths) -> weights")),
        "scale": (Real(0, open_low=True), Choice(("auto",))),
        "n_eigenvectors": (Int(1), Null("all of them")),
        "reg": (Real(0, 1, open_low=True, open_high=True),),
    }
    wants_components: ClassVar[bool] = True  # functions of one kernel can separate pieces; no bridges are needed

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        weights: str | Callable[[Floats], Floats] = "heat",
        scale: float | str = "auto",
        n_eigenvectors: int | None = None,
        reg: float = 1e-8,
        normalization: str = "natural",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel  # type: ignore[method-assign,assignment] # scikit-learn's name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.symmetrize = symmetrize
        self.weights = weights
        self.scale = scale
        self.n_eigenvectors = n_eigenvectors
        self.reg = reg
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        graph = self._graph(data, run)
        scale = auto_scale(graph) if self.scale == "auto" else float(self.scale)
        W = weigh(graph, self.weights, scale, 0.0)  # type: ignore[arg-type]
        X = data.points().X
        k = mercer_kernel(self.kernel, X.shape[1], gamma=self.gamma, degree=self.degree, coef0=self.coef0)  # type: ignore[arg-type]
        U, s = self._spectrum(X, k, run)
        found = linearised(laplacian(W), U * np.sqrt(s), self.n_components, mass=W.volumes(), run=run)
        alpha = (U / np.sqrt(s)) @ found.A  # k(x) alpha = f(x) A for the features f of x
        offset = found.mean @ found.A
        return Fit(
            coordinates=(U * np.sqrt(s) - found.mean) @ found.A,
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
                "rank_": len(s),
            },
        )

    def _spectrum(self, X: NDArray[np.floating], k: Mercer, run: Run) -> tuple[Floats, Floats]:
        """Eigenvectors and eigenvalues of K (not centred) that are not negligible."""
        n = len(X)
        op = kernel_operator(X, k, center=False, run=run)
        if self.n_eigenvectors is None:
            require(4 * 8.0 * n * n, f"all eigenvectors of a {n} x {n} kernel", "give n_eigenvectors")
            values, U = stacked_eigh(op.dense())
            values, U = values[::-1], U[:, ::-1]
        else:
            pairs = largest(op, min(int(self.n_eigenvectors), n), negligible=1.0, run=run)
            values, U = pairs.values, pairs.vectors
        kept = values > self.reg * max(float(values[0]), np.finfo(float).tiny)
        return np.ascontiguousarray(U[:, kept]), values[kept]

    def gram(self) -> KernelOperator:
        """The operator K of the training points, not centred, rebuilt."""
        check_is_fitted(self)
        assert isinstance(self._trained.source, Points)
        assert isinstance(self._extend, KernelExpansion)
        return kernel_operator(self._trained.source.X, self._extend.kernel, center=False, run=self._run())

    def operator(self) -> SparseOperator:
        """The graph Laplacian L; restricted to the functions that `gram()` spans it gives the embedding."""
        check_is_fitted(self)
        return laplacian(weigh(self.graph_, self.weights, self.scale_, 0.0))  # type: ignore[arg-type]

    def _check(self, data: Data) -> None:
        super()._check(data)
        if not isinstance(data.source, Points):
            raise InvalidInput("KernelLPP needs the points themselves; the input was a graph")


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """y = sum_i k(x, x_i) alpha_i - offset."""

    kernel: Mercer
    alpha: Floats
    offset: Floats
    neighbors: ClassVar[bool] = False

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        assert isinstance(queries, np.ndarray)
        out = np.empty((len(queries), self.alpha.shape[1]))
        for part, rows in kernel_rows(self.kernel, queries, trained.source.X):  # type: ignore[union-attr]
            out[part] = rows @ self.alpha - self.offset
        return out
