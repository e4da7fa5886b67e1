"""Laplacian eigenmaps, Belkin & Niyogi (2003), doi:10.1162/089976603321780317.

X --neighbours--> N --union--> graph --weights--> W --Laplacian--> L = D - W --eigen--> L f = lambda D f --> f_1 .. f_d
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.limits import Choice, Function, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._reach import in_widths, with_one_way
from lowfold.graph._source import AFFINITY
from lowfold.graph._types import Graph
from lowfold.graph._weights import Weights, laplacian, normalized_laplacian
from lowfold.kernels._gaussian import Weighting, weigh
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._graph_method import WeightMethod
from lowfold.methods._heat import SCALE_TEXT, heat_scales, tuning
from lowfold.methods._in_blocks import InBlocks, always
from lowfold.methods._landmarks import Landmarked, landmark_stages
from lowfold.methods._losses import SMOOTH, Lowered, harmonic
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import Affinities, Selected, Symmetrized
from lowfold.methods._placing.harmonics import HarmonicRow
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._select import CHOSEN_WAVES, selected
from lowfold.methods._sparse_stages import walk_stages
from lowfold.methods._stages import Stages
from lowfold.methods._telling import WIDER
from lowfold.spectral._doors import largest, smallest
from lowfold.spectral._types import Eigenpairs

LAPLACIANS = ("random_walk", "symmetric", "unnormalized", "naive")


class LaplacianEigenmaps(Affinities, Symmetrized, Selected, Landmarked, WeightMethod):
    """Embed so that near points stay near: minimise 1/2 sum_ij w_ij ||y_i - y_j||^2 with Y'DY = I.

    The coordinates are the smoothest functions on the graph: L f = lambda D f with L = D - W, the constant left out.
    They approach eigenfunctions of the Laplace-Beltrami operator; long manifolds give harmonics of their long side
    first. The columns are centred by degrees, 1'D Y = 0, and stay so with normalization="orthonormal", which is a
    linear map and no shift; laplacian="unnormalized" has both Y'Y = I and 1'Y = 0.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    degrees_ : array (n,), d_i = sum_j w_ij; with pieces embedded by themselves each component has its own scale, and
        what was not embedded is NaN
    scale_ : float, the scale used; local_scales_ : array (n,) or None, how many times wider it is at each
        point; reach_ : array (n,) or None, the distance of each point to the last of its own neighbours
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces; a bridge weighs as the longest edge
    landmarks_ : array of indices, or None; what else is said of points or neighbours belongs to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(300, random_state=0)
    >>> lowfold.LaplacianEigenmaps(2, n_neighbors=10).fit(curve.X).eigenvalues_.shape
    (2,)
    """

    stages: ClassVar[Stages] = landmark_stages(walk_stages)
    in_blocks: ClassVar[InBlocks] = always
    loss: ClassVar[Lowered] = Lowered(harmonic, SMOOTH + " (or the constraint of its Laplacian)")

    weights: Weighting = param(
        "heat",
        Choice(("heat", "binary")),
        Function("g(squared lengths) -> weights"),
        "exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.",
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto", "mean")),
        f"{SCALE_TEXT} The texts' 4t and 2 sigma^2 are `lowfold.kernels.scale_from_heat_time` and `scale_from_sigma`.",
    )
    one_way: float = param(
        1.0,
        Real(0, 1, open_low=True),
        "Share of its weight that an edge has which only one of its ends counts among its own n_neighbors. 1 is the "
        "published graph; 0.5, as in scikit-learn, keeps points that many count as theirs from drawing these together: "
        "of images more neighbours in the embedding are then of one kind.",
    )
    laplacian: str = param(
        "random_walk",
        Choice(LAPLACIANS),
        "L f = lambda D f with F'DF = I; D^-1/2 L D^-1/2 with orthonormal vectors D^1/2 f; L f = "
        "lambda f; or the kernel itself, I - W / w_0 over t, w_0 its largest eigenvalue, whose first vector is only "
        "nearly constant (it is left out).",
    )
    self_loops: float = param(0.0, Real(0), "Weight w_ii of every point to itself; it changes D but not L.")

    per_point: ClassVar[tuple[str, ...]] = ("degrees_", "local_scales_", "reach_")
    ways_out: ClassVar[tuple[str, str] | None] = (
        WIDER,
        "use select='independent', or LTSA, which has no harmonics",
    )

    def _needs(self) -> Needs:
        # capped: else a far component would hang on a weight of zero
        return Needs(symmetrize=self.symmetrize, capped=True)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        solve = partial(self._eigenmaps, data, run)
        return selected(solve, data, self.n_components, self.select, np.asarray, run, doubts=(None, CHOSEN_WAVES))

    def _eigenmaps(self, data: Connected, run: Run, d: int) -> Fit:
        scale, local = heat_scales(self.scale, self._weighting(), data)
        reach = None if data.n_neighbors is None else data.kth_distance
        W = self._weigh(data.graph, scale, local, reach)
        degrees, loops = W.volumes(), float(self.self_loops)
        solve = EIGENPROBLEMS[self.laplacian](W, scale)
        del W  # the solve needs its operator only; of ten million points the weights are gigabytes
        pairs = solve(d, run)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=data.graph,
            extend=HarmonicRow(
                self.laplacian,
                self._weighting(),
                scale,
                loops,
                self.symmetrize,
                pairs.values,
                data.kth_distance,
                local,
                tuning(data),
                float(self.one_way),
            ),
            invert=Barycentric(),
            extra={"degrees_": degrees, "scale_": scale, "local_scales_": local, "reach_": reach},
        )

    def _weighed(self) -> Weights:
        """The weights that were used, computed anew."""
        local, reach = getattr(self, "local_scales_", None), getattr(self, "reach_", None)  # None in former models
        return self._weigh(self.graph_, self.scale_, local, reach)

    def _weigh(self, graph: Graph, scale: float, local: Floats | None, reach: Floats | None) -> Weights:
        W = weigh(in_widths(graph, local), self._weighting(), scale, self.self_loops)
        return with_one_way(W, graph, reach, float(self.one_way))

    @property
    def affinity_matrix_(self) -> csr_array:
        """The weights W that were used, computed anew from `graph_`."""
        return self._weighed().matrix()

    def _weighting(self) -> Weighting:
        return "affinity" if isinstance(self.metric, str) and self.metric == AFFINITY else self.weights

    def _operator(self) -> SparseOperator:
        """The symmetric operator of the eigenproblem: L, or D^-1/2 L D^-1/2 (`random_walk` divides by D^1/2), or W."""
        self._of_one_model("operator()")
        W = self._weighed()
        if self.laplacian == "naive":
            return SparseOperator(W.matrix())
        return laplacian(W) if self.laplacian == "unnormalized" else normalized_laplacian(W)


Solve = Callable[[int, Run], Eigenpairs]


def _random_walk(W: Weights, scale: float) -> Solve:
    """L f = lambda D f, F'DF = I, f'D1 = 0."""
    return _bottom(laplacian(W), np.ones((W.n, 1)), W.volumes())


def _symmetric(W: Weights, scale: float) -> Solve:
    """D^-1/2 L D^-1/2 a = lambda a; the trivial vector is D^1/2 1."""
    return _bottom(normalized_laplacian(W), np.sqrt(W.volumes())[:, None])


def _unnormalized(W: Weights, scale: float) -> Solve:
    """L f = lambda f."""
    return _bottom(laplacian(W), np.ones((W.n, 1)))


def _bottom(L: SparseOperator, null: Floats, mass: Floats | None = None) -> Solve:
    return lambda d, run: smallest(L, d, mass=mass, null=null, run=run)


def _naive(W: Weights, scale: float) -> Solve:
    """(1/t)(I - W / w_0) f = lambda f, 4t = scale: the leading vectors of W, the positive one (of w_0) left out.

    The texts have (4 pi t)^(dim / 2) in place of w_0, with a dimension that is not known; it scales, and moves, all
    eigenvalues alike.
    """
    kernel, t = SparseOperator(W.matrix()), scale / 4

    def solve(d: int, run: Run) -> Eigenpairs:
        pairs = largest(kernel, d + 1, run=run)
        values = (1 - pairs.values / pairs.values[0]) / t
        return Eigenpairs(values[1:], pairs.vectors[:, 1:], pairs.residual, pairs.gap, pairs.solver, pairs.iterations)

    return solve


EIGENPROBLEMS: dict[str, Callable[[Weights, float], Solve]] = {
    "random_walk": _random_walk,
    "symmetric": _symmetric,
    "unnormalized": _unnormalized,
    "naive": _naive,
}
