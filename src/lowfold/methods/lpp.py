"""Locality preserving projections, He & Niyogi (2003), Advances in Neural Information Processing Systems 16.

X --neighbours--> graph --weights--> W --Laplacian--> L = D - W --linear--> X'L X a = lambda X'D X a --> (x - mean) A
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Choice, Function, Limits, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._weights import laplacian
from lowfold.kernels._gaussian import auto_scale
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_graph import LINEAR_GRAPH_LIMITS, LinearGraphMethod
from lowfold.methods.laplacian_eigenmaps import weigh


class LPP(LinearGraphMethod):
    """The linear map under which neighbours stay near: Laplacian eigenmaps restricted to linear functions.

    Minimises 1/2 sum_ij w_ij ||y_i - y_j||^2 with Y'D Y = I over y = A'(x - mean), the mean weighted by the degrees.
    Its eigenvalues lie in [0, 2], none below the corresponding one of `LaplacianEigenmaps`.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
    {radius}
    {point_metric}
    {metric_params}
    {search}
    {symmetrize}
    weights : {"heat", "binary"} or callable, default="heat"
        exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.
    scale : float above 0 or "auto", default="auto"
        Width of the heat weights, in squared units; "auto" is the mean squared edge length.
    {energy}
    {normalization}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: Y'D Y = I
    components_ : array (n_components, D), the rows a'; mean_ : array (D,)
    eigenvalues_ : array (n_components,), ascending
    degrees_ : array (n,); scale_ : float; rank_ : int, directions of the data that were used
    graph_, n_neighbors_, component_labels_ : the graph and its pieces

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(300, random_state=0)
    >>> model = lowfold.LPP(2).fit(roll.X)
    >>> model.transform(roll.X[:3]).shape
    (3, 2)
    """

    limits: ClassVar[Limits] = {
        **LINEAR_GRAPH_LIMITS,
        "weights": (Choice(("heat", "binary")), Function("g(squared lengths) -> weights")),
        "scale": (Real(0, open_low=True), Choice(("auto",))),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        weights: str | Callable[[Floats], Floats] = "heat",
        scale: float | str = "auto",
        energy: float = 1.0,
        normalization: str = "natural",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.symmetrize = symmetrize
        self.weights = weights
        self.scale = scale
        self.energy = energy
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        self.graph_ = getattr(self._neighborhoods(data, run), self.symmetrize)()
        self.scale_ = auto_scale(self.graph_) if self.scale == "auto" else float(self.scale)
        W = weigh(self.graph_, self.weights, self.scale_, 0.0)  # type: ignore[arg-type]
        return self._linear(laplacian(W), W.volumes(), data, run, {"degrees_": W.volumes()})

    def kernel(self) -> SparseOperator:
        """The graph Laplacian L."""
        return laplacian(weigh(self.graph_, self.weights, self.scale_, 0.0))  # type: ignore[arg-type]
