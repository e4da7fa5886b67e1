"""Locality preserving projections, He & Niyogi (2003), Advances in Neural Information Processing Systems 16.

X --neighbours--> graph --weights--> W --Laplacian--> L = D - W --linear--> X'L X a = lambda X'D X a --> (x - mean) A
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from lowfold._core.limits import Choice, Function, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.graph._weights import laplacian
from lowfold.kernels._gaussian import Weighting, auto_scale, weigh
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._linear_graph import LinearGraphMethod, linear_fit
from lowfold.methods._losses import SMOOTH, Lowered, smooth
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import Symmetrized


class LPP(Symmetrized, LinearGraphMethod):
    """The linear map under which neighbours stay near: Laplacian eigenmaps restricted to linear functions.

    Minimises 1/2 sum_ij w_ij ||y_i - y_j||^2 with Y'D Y = I over y = A'(x - mean), the mean weighted by the degrees.
    Its eigenvalues lie in [0, 2], none below the corresponding one of `LaplacianEigenmaps`.

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

    loss: ClassVar[Lowered] = Lowered(smooth, SMOOTH, "linear")

    weights: Weighting = param(
        "heat",
        Choice(("heat", "binary")),
        Function("g(squared lengths) -> weights"),
        "exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.",
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Width of the heat weights, in squared units; "auto" is the mean squared edge length.',
    )

    def _needs(self) -> Needs:
        return Needs(symmetrize=self.symmetrize, apart=True)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        scale = auto_scale(data.graph) if self.scale == "auto" else float(self.scale)
        W = weigh(data.graph, self.weights, scale, 0.0)
        extra = {"degrees_": W.volumes(), "scale_": scale}
        return replace(linear_fit(self, laplacian(W), W.volumes(), data, run, extra), graph=data.graph)

    def _operator(self) -> SparseOperator:
        """The graph Laplacian L."""
        return laplacian(weigh(self.graph_, self.weights, self.scale_, 0.0))
