"""Diffusion maps, Coifman & Lafon (2006), doi:10.1016/j.acha.2006.04.006.

X --graph--> d --kernel--> K --density--> K~ --Markov--> P = D^-1 K~ --eigen--> (lambda, psi) --> lambda^t psi
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, IntArray, Null, Real
from lowfold._core.operators import Operator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold._cuda._device import without_twin
from lowfold.graph._source import Pairs, Points
from lowfold.graph._types import Graph
from lowfold.kernels._diffusion import (
    Profile,
    Walk,
    complete_weights,
    given_weights,
    markov_dense,
    walk_of,
)
from lowfold.methods._base import Check, LearnedMetric
from lowfold.methods._diffusion_coordinates import all_distances, coordinates, faded
from lowfold.methods._diffusion_metric import diffusion_distances
from lowfold.methods._elsewhere import Elsewhere
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._graph_method import WeightMethod
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._landmarks import PLACING_WITHIN_REACH, Landmarked, landmark_stages
from lowfold.methods._losses import Lowered, diffusion
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import Selected, Symmetrized
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.walks import DiffusionRow
from lowfold.methods._select import selected
from lowfold.methods._sparse_stages import diffusion_stages
from lowfold.methods._stages import Stages
from lowfold.methods._telling import WIDER
from lowfold.methods._walk_kernel import WalkKernel, Weighting, by_neighbors_alone
from lowfold.methods._walk_measure import (
    Corrected,
    measure_agrees,
    measure_of,
    options_agree,
    passes_of,
    power_of,
    tell_walk,
)
from lowfold.spectral._doors import largest
from lowfold.spectral._types import POOR, ZERO, Eigenpairs

CONVENTIONS = ("markov", "degree", "symmetric")


class DiffusionMaps(Corrected, Symmetrized, Selected, Landmarked, WeightMethod):
    """Embed so that Euclidean distance is diffusion distance: how differently walks from two points spread in time `t`.

    Weights k(x, y) are divided by densities, K~_ij = k_ij / (q_i q_j)^alpha, and by degrees, P = D^-1 K~, which is a
    Markov chain with P psi = lambda psi. The coordinates are lambda_l^t psi_l, the constant psi_0 left out; with all of
    them ||y_i - y_j||^2 = sum_r (p_t(i, r) - p_t(j, r))^2 / phi_0(r). Robust to noise; it does not keep lengths.

    For small scales (P - I) 4 / scale tends to Lap f + (2 - 2 alpha) grad log q . grad f, and with a `target` pi to
    Lap f + grad log pi . grad f, whatever the density q of the points (Banisch et al. 2020). With weights "variable"
    (Berry & Harlim 2016) the kernel is exp(-d^2 / (rho_i rho_j scale)), rho = q^bandwidth, the power of the density is
    alpha + bandwidth (1 + d / 2), which makes `alpha` mean the same, and the walk takes a step with probability
    (min rho / rho_i)^2: 4 (P - I) / (scale min rho^2) tends to the same generator, also where the density falls to 0.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    eigenvalues_ : array (n_components,), of P, descending, the 1 of the constant left out
    right_vectors_, left_vectors_ : arrays (n, n_components), psi and phi with phi_k' psi_l = delta_kl, phi_l = psi_l
        phi_0
    stationary_ : array (n,), phi_0 = d / sum d, where the walk ends up
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    scale_ : float, the scale used; local_scales_ : array (n,), the t_i of "self_tuning", the rho_i of "variable"; of
        the automatic scale how many times wider the kernel is at each point, 1 at most of them; else None
    densities_ : array (n,), q up to a factor, given, or estimated in passes_ (int) passes; tangent_dim_ : int, the d of
        "variable", else None
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    landmarks_ : array of indices, or None; with landmarks graph_, vectors and stationary_ belong to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    graph_ : None for the complete graph; n_neighbors_, component_labels_, bridges_ : the graph and its
        pieces; a bridge weighs as the longest edge
    residual_, gap_, solver_ : what the solve was worth

    A model in pieces (`on_disconnected` "separate" or "largest") has a walk in every component: the rows of
    `right_vectors_`, `left_vectors_`, `stationary_` and `local_scales_` belong to the component's own walk, so that
    `stationary_` sums to 1 in each; rows of components that were not embedded, or are single points, are NaN.
    `eigenvalues_`, `scale_`, `residual_` and `gap_` are those of the largest component; `walk`, `kernel` and
    `dimension` need one connected model.

    Examples
    --------
    >>> import lowfold
    >>> helix = lowfold.datasets.toroidal_helix(300, random_state=0)
    >>> model = lowfold.DiffusionMaps(2, n_neighbors=10).fit(helix.X)
    >>> model.embedding_.shape, bool(model.eigenvalues_[0] < 1)
    ((300, 2), True)
    """

    from_sklearn = Elsewhere()
    stages: ClassVar[Stages] = landmark_stages(diffusion_stages, PLACING_WITHIN_REACH)
    in_blocks: ClassVar[InBlocks] = by_neighbors_alone
    loss: ClassVar[Lowered] = Lowered(
        diffusion, "share of the variance of t-step probabilities that Y does not explain"
    )

    n_neighbors: int | Ints | None = param(
        None,
        Int(1),
        IntArray(1),
        Null("all within one reach"),
        "Nearest neighbours of each point, itself not counted; one number, or one per point. None joins all pairs "
        'within the reach of the automatic scale (min(10, n - 1) neighbours with another scale, weights "binary" or '
        'search="faiss"): a kernel that is cut at the k-th neighbour keeps the density that `alpha` takes out, which a '
        "fit tells where it matters.",
    )
    threshold: float | None = param(
        None,
        Real(0, 1, open_high=True),
        Null("neighbours"),
        "Instead of neighbours: join all pairs with weight >= threshold; 0 is the complete graph. "
        "`n_neighbors` then only sets the automatic scale.",
    )
    weights: Weighting = param(
        "heat",
        Choice(("heat", "binary", "self_tuning", "variable", "precomputed")),
        Function("h(d^2 / scale) -> weights"),
        "exp(-d^2 / scale); 1; exp(-d^2 / (t_i t_j scale)) with t_i the distance to the `tuning`-th "
        "neighbour; exp(-d^2 / (rho_i rho_j scale)) with rho = q^bandwidth; X itself is the symmetric matrix of "
        'weights (with metric="precomputed"; new points are rows of weights); or a function h >= 0 for h(d^2 / scale). '
        "See `lowfold.kernels.is_admissible`.",
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto", "mean", "listing", "std", "slope")),
        "In squared units: half the squared distance within which all but the sparsest points have `n_neighbors` "
        "others (the kernel is wider at these, `local_scales_`); the mean squared edge length; four times that, as in "
        "the book's listings; twice the mean variance of the features; the steepest point of log sum(k) over log "
        'scale. With "self_tuning" it is a factor, "auto" is 1.',
    )
    tuning: int | None = param(
        None,
        Int(1),
        Null("min(7, n - 1)"),
        'Neighbour that sets the local scale: None is min(7, n - 1) for "self_tuning", min(16, n - 1) for "variable", '
        "and `n_neighbors` for the automatic scale.",
    )
    alpha: float = param(
        1.0,
        Real(),
        "Density power: 0 graph Laplacian (density matters), 1/2 Fokker-Planck, 1 Laplace-Beltrami (density cancels).",
    )
    self_loops: float = param(1.0, Real(0), "Weight of a point to itself, in units of k(x, x).")
    t: float = param(
        1.0, Real(0), "Diffusion time; 0 drops the eigenvalues. A fraction needs eigenvalues of at least 0."
    )
    convention: str = param(
        "markov",
        Choice(CONVENTIONS),
        "lambda^t psi with sum psi^2 phi_0 = 1; the same over sqrt(sum of degrees), as lambda^t "
        "D^-1/2 v; or lambda^(t/2) v with v the orthonormal eigenvectors of D^-1/2 K~ D^-1/2, whose "
        "distance is a_t(x, x) + a_t(y, y) - 2 a_t(x, y).",
    )

    per_point: ClassVar[tuple[str, ...]] = (
        *("right_vectors_", "left_vectors_", "stationary_", "local_scales_", "densities_"),
    )
    ways_out: ClassVar[tuple[str, str] | None] = (
        WIDER,
        "use select='independent', or LTSA, which has no harmonics",
    )
    checks: ClassVar[tuple[Check, ...]] = (*WeightMethod.checks, options_agree, measure_agrees)
    learned: ClassVar[Mapping[str, LearnedMetric]] = {"diffusion": diffusion_distances}

    def _needs(self) -> Needs:
        kernel = WalkKernel.of(self)
        return Needs(
            symmetrize=self.symmetrize,
            capped=True,  # else a far component would hang on a weight of zero
            one_more=True,
            hangs=kernel.hangs(),
            graph=kernel.above_threshold if kernel.joins == "threshold" else None,
            widen=kernel.within_reach if kernel.joins == "reach" else None,
        )

    def _recipe(self, data: Connected, run: Run) -> Fit:
        solve, factors = partial(self._maps, data, run), partial(faded, convention=self.convention, t=float(self.t))
        fit = selected(solve, data, self.n_components, self.select, partial(np.subtract, 1), run, factors=factors)
        tell_walk(self, data, fit)
        return fit

    def _maps(self, data: Connected, run: Run, d: int) -> Fit:
        kernel = WalkKernel.of(self)
        profile, complete = kernel.profile(data, run), kernel.is_complete(data.source)
        passes = passes_of(self, kernel.has_one_reach(data), partial(kernel.is_along_a_curve, data))
        walk = self._walk(data.source, None if complete else data.graph, profile, passes, run, data.rows)
        pairs = largest(walk.operator, d, null=walk.trivial, negligible=ZERO, run=run)
        return Fit(
            coordinates=coordinates(walk, pairs, self.convention, float(self.t)),
            pairs=pairs,
            graph=None if complete else data.graph,
            extend=self._row(data, profile, walk, pairs),
            invert=Barycentric(),
            extra={
                "right_vectors_": walk.right(pairs.vectors),
                "left_vectors_": walk.left(pairs.vectors),
                "stationary_": walk.stationary,
                "scale_": profile.scale,
                "local_scales_": profile.local,
                "densities_": walk.densities,
                "passes_": passes,
                "tangent_dim_": profile.d or None,
                **({"graph_": None} if complete else {}),
            },
        )

    # Stages ---------------------------------------------------------------------------------------------------------

    def _walk(
        self, source: Any, graph: Graph | None, profile: Profile, passes: int, run: Run, rows: Ints | None = None
    ) -> Walk:
        measure, alpha = measure_of(self, source, rows, profile), power_of(self, profile)
        loops = self.self_loops * profile.itself()
        if WalkKernel.of(self).joins == "all" and isinstance(source, (Points, Pairs)):
            without_twin(run, "the walk of all pairs", "only the solve is made on the device")
            D = all_distances(source, run)
            given = self.weights == "precomputed"
            K = given_weights(D, self.self_loops) if given else complete_weights(D, profile, loops)
            return markov_dense(K, alpha=alpha, measure=measure, passes=passes, n_jobs=run.n_jobs)
        if graph is None:
            raise InvalidInput("this model keeps no graph; fit it on points or distances")
        return walk_of(graph, profile, loops, alpha=alpha, measure=measure, passes=passes, n_jobs=run.n_jobs)

    def _row(self, data: Connected, profile: Profile, walk: Walk, pairs: Eigenpairs) -> DiffusionRow:
        kernel = WalkKernel.of(self)
        reach, kth = kernel.query_reach(data, profile)
        measure, alpha = measure_of(self, data.source, data.rows, profile), power_of(self, profile)
        own = self.convention == "symmetric"  # elsewhere a new point's own density cancels
        return DiffusionRow(
            weights=profile.weights,
            scale=profile.scale,
            local=profile.local,
            tuning=kernel.neighbor_of_scale(data),
            densities=walk.densities,
            degrees=walk.degrees,
            alpha=alpha,
            values=pairs.values,
            convention=self.convention,
            symmetrize=self.symmetrize,
            kth_distance=kth,
            reach=reach,
            factors=None if measure is None else measure.factors(walk.densities, alpha),
            logs=profile.logs,
            earlier=np.array(walk.earlier) if walk.earlier and own else None,
        )

    # What else the walk can tell ------------------------------------------------------------------------------------

    def walk(self) -> Walk:
        """The Markov chain of the model, rebuilt: `operator`, `transition()`, `stationary`, `degrees`, `densities`."""
        self._of_one_model("walk()")
        source = self._trained.source
        if self.landmarks_ is not None:
            source = None if source is None else source.subset(self.landmarks_)
        d = self.tangent_dim_ if self.weights == "variable" else 0
        profile = Profile(self.weights, self.scale_, self.local_scales_, d=d)
        return self._walk(source, self.graph_, profile, getattr(self, "passes_", 1), self._run())

    def _operator(self) -> Operator:
        """S = D^-1/2 K~ D^-1/2, symmetric, with the eigenvalues of P; psi = v / sqrt(phi_0)."""
        return self.walk().operator

    def dimension(self, delta: float) -> int:
        """How many coordinates matter at time t: d with lambda_(d+1)^t < delta <= lambda_d^t (delta relative to 1)."""
        if not 0 < delta < 1:
            raise InvalidInput(f"delta must lie between 0 and 1; got {delta!r}")
        if self.t == 0:
            raise InvalidInput("at t = 0 all coordinates weigh the same; fit with t above 0")
        walk, k, run = self.walk(), 8, replace(self._run(), tol=POOR)
        room = walk.operator.n - 1
        while True:
            k = min(k, room)
            values = largest(walk.operator, k, null=walk.trivial, negligible=1.0, run=run).values
            count = int((np.maximum(values, 0.0) ** self.t >= delta).sum())
            if count < k or k == room:
                return count
            k *= 2
