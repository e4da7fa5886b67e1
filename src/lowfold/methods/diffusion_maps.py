"""Diffusion maps, Coifman & Lafon (2006), doi:10.1016/j.acha.2006.04.006.

X --graph--> d --kernel--> K --density--> K~ --Markov--> P = D^-1 K~ --eigen--> (lambda, psi) --> lambda^t psi
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, IntArray, Limits, Null, Real
from lowfold._core.operators import Operator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._connect import find_bridges
from lowfold.graph._landmarks import LANDMARK_RULES, choose_landmarks
from lowfold.graph._radius import within_radius
from lowfold.graph._search import nearest
from lowfold.graph._source import Pairs, Points
from lowfold.graph._types import Graph
from lowfold.kernels._diffusion import (
    SCALES,
    Profile,
    Walk,
    complete_weights,
    local_scales,
    markov,
    markov_dense,
    std_scale,
)
from lowfold.methods._diffusion_extend import (
    DiffusionRow,
    ThroughLandmarks,
    all_distances,
    given_weights,
    rows_of,
    unbridged,
)
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit, Trained
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._parameters import LIMITS
from lowfold.spectral._doors import largest
from lowfold.spectral._types import Eigenpairs

CONVENTIONS = ("markov", "degree", "symmetric")
Weighting = Literal["heat", "binary", "self_tuning", "precomputed"] | Callable[[Floats], Floats]


class DiffusionMaps(GraphMethod):
    """Embed so that Euclidean distance is diffusion distance: how differently walks from two points spread in time `t`.

    Weights k(x, y) are divided by densities, K~_ij = k_ij / (q_i q_j)^alpha, and by degrees, P = D^-1 K~, which is a
    Markov chain with P psi = lambda psi. The coordinates are lambda_l^t psi_l, the constant psi_0 left out; with all of
    them ||y_i - y_j||^2 = sum_r (p_t(i, r) - p_t(j, r))^2 / phi_0(r). Robust to noise; it does not keep lengths.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
    {radius}
    threshold : float in [0, 1) or None, default=None
        Instead of neighbours: join all pairs with weight >= threshold; 0 is the complete graph. `n_neighbors` then only
        sets the automatic scale.
    {metric}
    {metric_params}
    {search}
    {symmetrize}
    weights : {"heat", "binary", "self_tuning", "precomputed"} or callable, default="heat"
        exp(-d^2 / scale); 1; exp(-d^2 / (t_i t_j scale)) with t_i the distance to the `tuning`-th neighbour; X itself
        is the symmetric matrix of weights (with metric="precomputed"; new points are rows of weights); or a function h
        >= 0 for h(d^2 / scale). See `lowfold.kernels.is_admissible`.
    scale : float above 0, "auto", "listing", "std" or "slope", default="auto"
        In squared units: the mean squared edge length; four times that, as in the book's listings; twice the mean
        variance of the features; the steepest point of log sum(k) over log scale. With "self_tuning" it is a factor,
        "auto" is 1.
    tuning : int or None, default=None
        Neighbour that sets the local scale of "self_tuning"; None is min(7, n - 1).
    alpha : float, default=1
        Density power: 0 graph Laplacian (density matters), 1/2 Fokker-Planck, 1 Laplace-Beltrami (density cancels).
    self_loops : float of at least 0, default=1
        Weight of a point to itself, in units of k(x, x).
    t : float of at least 0, default=1
        Diffusion time; 0 drops the eigenvalues. A fraction needs eigenvalues of at least 0.
    convention : {"markov", "degree", "symmetric"}, default="markov"
        lambda^t psi with sum psi^2 phi_0 = 1; the same over sqrt(sum of degrees), as lambda^t D^-1/2 v; or lambda^(t/2)
        v with v the orthonormal eigenvectors of D^-1/2 K~ D^-1/2, whose distance is a_t(x, x) + a_t(y, y) - 2 a_t(x,
        y).
    landmarks : int, array of indices or None, default=None
        Solve on so many points only and place the others as new ones: for very large n.
    landmark_rule : {"maxmin", "random", "kmeans++"}, default="maxmin"
        How landmarks are chosen; see `lowfold.graph.choose_landmarks`.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    random_state : int, Generator, RandomState or None, default=0
        Choice of landmarks.
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components)
    eigenvalues_ : array (n_components,), of P, descending, the 1 of the constant left out
    right_vectors_, left_vectors_ : arrays (n, n_components), psi and phi with phi_k' psi_l = delta_kl, phi_l = psi_l
        phi_0
    stationary_ : array (n,), phi_0 = d / sum d, where the walk ends up
    scale_ : float, the scale used; local_scales_ : array (n,), the t_i of "self_tuning", else None
    landmarks_ : array of indices, or None; with landmarks graph_, vectors and stationary_ belong to them
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

    per_point: ClassVar[tuple[str, ...]] = ("right_vectors_", "left_vectors_", "stationary_", "local_scales_")
    caps_bridges: ClassVar[bool] = True  # else a far component would hang on a weight of zero
    limits: ClassVar[Limits] = {
        **LIMITS,
        "threshold": (Real(0, 1, open_high=True), Null("neighbours")),
        "weights": (Choice(("heat", "binary", "self_tuning", "precomputed")), Function("h(d^2 / scale) -> weights")),
        "scale": (Real(0, open_low=True), Choice(("auto", "listing", "std", "slope"))),
        "tuning": (Int(1), Null("min(7, n - 1)")),
        "alpha": (Real(),),
        "self_loops": (Real(0),),
        "t": (Real(0),),
        "convention": (Choice(CONVENTIONS),),
        "landmarks": (Int(2), IntArray(0), Null("all points")),
        "landmark_rule": (Choice(LANDMARK_RULES),),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        threshold: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        weights: Weighting = "heat",
        scale: float | str = "auto",
        tuning: int | None = None,
        alpha: float = 1.0,
        self_loops: float = 1.0,
        t: float = 1.0,
        convention: str = "markov",
        landmarks: int | NDArray[np.int64] | None = None,
        landmark_rule: str = "maxmin",
        on_disconnected: str = "connect",
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.threshold = threshold
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.symmetrize = symmetrize
        self.weights = weights
        self.scale = scale
        self.tuning = tuning
        self.alpha = alpha
        self.self_loops = self_loops
        self.t = t
        self.convention = convention
        self.landmarks = landmarks
        self.landmark_rule = landmark_rule
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        profile = self._profile(data, run)
        walk = self._walk(data.source, data.graph, profile, run)
        pairs = largest(walk.operator, self.n_components, null=walk.trivial, negligible=1e-12, run=run)
        complete = self._complete(data)
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
                "landmarks_": None,
                **({"graph_": None} if complete else {}),
            },
        )

    # Stages ---------------------------------------------------------------------------------------------------------

    def _complete(self, data: Data) -> bool:
        """Whether all pairs of a dense source are joined, so that no graph is kept."""
        return self._all_pairs() and isinstance(data.source, (Points, Pairs))

    def _all_pairs(self) -> bool:
        return self.weights == "precomputed" or (self.threshold is not None and self.threshold == 0)

    def _with_graph(self, data: Data, run: Run) -> Data:
        data = super()._with_graph(data, run)
        if self.threshold is None or self._complete(data):
            return data
        reach = self._reach(self._profile(data, run).scale)
        if data.source is not None:
            return replace(data, graph=within_radius(data.source, reach, run=run).union())
        assert data.graph is not None
        kept = data.graph.lengths <= reach
        edges = np.column_stack([data.graph.rows(), data.graph.indices])[kept]
        return replace(data, graph=Graph.from_edges(data.n, edges, data.graph.lengths[kept]))

    def _connected_by(self, data: Data) -> Any:
        if not self._complete(data):
            return data.graph
        return Graph.from_edges(data.n, np.column_stack([np.arange(data.n - 1), np.arange(1, data.n)]))

    def _pieces_in_words(self, data: Data, labels: NDArray[np.int64], run: Run) -> str:
        if self.threshold is None or data.source is None:
            return super()._pieces_in_words(data, labels, run)
        sizes, longest = np.bincount(labels), float(find_bridges(data.source, labels, run=run).lengths.max())
        weight = np.exp(-(longest**2) / self._profile(data, run).scale)
        return f"the graph of weights has {len(sizes)} components; a threshold of {0.999 * weight:.3g} would connect it"

    def _reach(self, scale: float) -> float:
        """Distance at which exp(-d^2 / scale) falls to the threshold."""
        assert self.threshold is not None
        return float(np.sqrt(-scale * np.log(self.threshold))) if self.threshold > 0 else np.inf

    def _profile(self, data: Data, run: Run) -> Profile:
        """k(x, y) with its scales. Bridges between components are no neighbours and have no say in the scale."""
        if self.weights == "self_tuning":
            factor = 1.0 if self.scale == "auto" else float(self.scale)
            return Profile("self_tuning", factor, self._local(data, run))
        if self.weights == "precomputed":
            return Profile("precomputed", 1.0)
        if self.scale == "std":
            return Profile(self.weights, std_scale(data.points().X))
        if not isinstance(self.scale, str):
            return Profile(self.weights, float(self.scale))
        if self.threshold is None or data.neighbors is None:
            near = unbridged(data, self.symmetrize)
        else:
            near = getattr(data.neighbors, self.symmetrize)()
        return Profile(self.weights, SCALES[self.scale](near))

    def _tuning(self, n: int) -> int:
        return min(7, n - 1) if self.tuning is None else int(self.tuning)

    def _local(self, data: Data, run: Run) -> Floats:
        m = self._tuning(data.n)
        near = data.graph.neighbors() if data.neighbors is None and data.graph is not None else data.neighbors
        assert near is not None
        if near.counts.min() < m and data.source is not None:
            near = nearest(data.source, min(m, data.n - 1), search=self.search, run=run)
        fewest = int(near.counts.min())
        if fewest < m:
            raise InvalidInput(f"tuning must be at most {fewest}, the smallest number of known neighbours; got {m}")
        return local_scales(near, m)

    def _walk(self, source: Any, graph: Graph | None, profile: Profile, run: Run) -> Walk:
        if self._all_pairs() and isinstance(source, (Points, Pairs)):
            D = all_distances(source, run)
            if self.weights == "precomputed":
                return markov_dense(given_weights(D, self.self_loops), alpha=self.alpha, n_jobs=run.n_jobs)
            K = complete_weights(D, profile, self.self_loops * profile.itself())
            return markov_dense(K, alpha=self.alpha, n_jobs=run.n_jobs)
        assert graph is not None
        loops = self.self_loops * profile.itself()
        return markov(graph, profile.of_graph(graph), loops, alpha=self.alpha, n_jobs=run.n_jobs)

    def _row(self, data: Data, profile: Profile, walk: Walk, pairs: Eigenpairs) -> DiffusionRow:
        reach = None if self.threshold is None else self._reach(profile.scale)
        return DiffusionRow(
            profile.weights,
            profile.scale,
            profile.local,
            self._tuning(data.n),
            walk.densities,
            walk.degrees,
            float(self.alpha),
            pairs.values,
            self.convention,
            self.symmetrize,
            None if data.neighbors is None else data.neighbors.kth_distance(),
            np.inf if self._all_pairs() else reach,
        )

    # Landmarks ------------------------------------------------------------------------------------------------------

    def _solve(self, data: Data, run: Run) -> Fit:
        self._recognise = self.weights != "precomputed"  # type: ignore[misc]
        if self.landmarks is None:
            return super()._solve(data, run)
        if data.source is None:
            raise InvalidInput("landmarks need points or distances to place the others by; X was a graph")
        chosen = choose_landmarks(data.source, self.landmarks, rule=self.landmark_rule, run=run)
        part = Data(data.source.subset(chosen))
        self._check(part)
        fit = super()._solve(part, run)
        trained = Trained(
            part.source, fit.graph, fit.coordinates, self._query_neighbors(part), self.radius, self.search
        )
        through = ThroughLandmarks(trained, fit.extend, chosen)
        Y = np.empty((data.n, self.n_components))
        Y[chosen] = fit.coordinates
        others = np.setdiff1d(np.arange(data.n), chosen)
        if len(others):
            Y[others] = through.place(trained, rows_of(data.source, others), None, run)  # type: ignore[arg-type]
        return replace(fit, coordinates=Y, extend=through, extra={**fit.extra, "landmarks_": chosen})

    def _query_neighbors(self, data: Data) -> int | None:
        """One more than in the fit: the nearest training point stands for the new point, as x_i does in row i."""
        k = super()._query_neighbors(data)
        return None if k is None else min(k + 1, data.n)

    def _check(self, data: Data) -> None:
        super()._check(data)
        if self.threshold is not None and self.threshold > 0 and self.weights != "heat":
            raise InvalidInput(f"a threshold above 0 goes with weights='heat'; got weights={self.weights!r}")
        if self.weights == "precomputed" and (self.metric != "precomputed" or not isinstance(data.source, Pairs)):
            raise InvalidInput(
                "weights='precomputed' takes a dense symmetric matrix of weights as X, with metric='precomputed'"
            )
        if self.weights == "self_tuning" and isinstance(self.scale, str) and self.scale != "auto":
            raise InvalidInput(
                f"with weights='self_tuning' scale is a factor, a number or 'auto' (1); got {self.scale!r}"
            )
        if self.tuning is not None and self.tuning > data.n - 1:
            raise InvalidInput(f"tuning must be at most {data.n - 1} for n_samples = {data.n}; got {self.tuning}")

    # What else the walk can tell ------------------------------------------------------------------------------------

    def walk(self) -> Walk:
        """The Markov chain of the model, rebuilt: `operator`, `transition()`, `stationary`, `degrees`, `densities`."""
        self._of_one_model("walk()")
        source = self._trained.source
        if self.landmarks_ is not None:
            source = None if source is None else source.subset(self.landmarks_)
        return self._walk(source, self.graph_, Profile(self.weights, self.scale_, self.local_scales_), self._run())

    def kernel(self) -> Operator:
        """S = D^-1/2 K~ D^-1/2, symmetric, with the eigenvalues of P; psi = v / sqrt(phi_0)."""
        return self.walk().operator

    def dimension(self, delta: float) -> int:
        """How many coordinates matter at time t: d with lambda_(d+1)^t < delta <= lambda_d^t (delta relative to 1)."""
        if not 0 < delta < 1:
            raise InvalidInput(f"delta must lie between 0 and 1; got {delta!r}")
        if self.t == 0:
            raise InvalidInput("at t = 0 all coordinates weigh the same; fit with t above 0")
        walk, k, run = self.walk(), 8, replace(self._run(), tol=1e-3)
        room = walk.operator.n - 1
        while True:
            k = min(k, room)
            values = largest(walk.operator, k, null=walk.trivial, negligible=1.0, run=run).values
            count = int((np.maximum(values, 0.0) ** self.t >= delta).sum())
            if count < k or k == room:
                return count
            k *= 2

    def _distance_kinds(self) -> tuple[str, ...]:
        return ("embedding", "diffusion")

    def distances(self, A: Any, B: Any = None, *, kind: str = "embedding") -> NDArray[np.floating]:
        """Euclidean distances after `transform`; or with kind="diffusion" the exact distance of all coordinates, by t
        steps of the walk from each point (t a whole number, at least 1; at least 2 with the symmetric convention).
        """
        if kind != "diffusion":
            return super().distances(A, B, kind=kind)
        from lowfold.methods._diffusion_metric import diffusion_distances

        return diffusion_distances(self, A, B)


def coordinates(walk: Walk, pairs: Eigenpairs, convention: str, t: float) -> Floats:
    """lambda^t psi, lambda^t D^-1/2 v or lambda^(t/2) v."""
    power = t / 2 if convention == "symmetric" else t
    if power != int(power) and pairs.values.min() < 0:
        raise InvalidInput(
            f"t = {t:g} needs a fractional power of the negative eigenvalue {pairs.values.min():.3g}; use a whole t"
            f"{' (even, for this convention)' if convention == 'symmetric' else ''}, fewer n_components, or the "
            "complete "
            "graph (threshold=0), whose kernel is positive"
        )
    factor = pairs.values**power
    if convention == "symmetric":
        return pairs.vectors * factor
    psi = walk.right(pairs.vectors) if convention == "markov" else pairs.vectors / np.sqrt(walk.degrees)[:, None]
    return np.asarray(psi * factor)
