"""Isomap, Tenenbaum, de Silva & Langford (2000), doi:10.1126/science.290.5500.2319.

X --neighbours--> N --union--> graph --shortest paths--> d_G --Gram--> G = -1/2 H (d_G o d_G) H
    --eigen--> sqrt(lambda) v

Options: conformal lengths and landmarks, de Silva & Tenenbaum (2003), doi:10.5555/2968618.2968708; the constant shift
that makes d_G Euclidean, Choi & Choi (2007), doi:10.1016/j.patcog.2006.04.025, Wang (2012), Section 8.1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Flag, Null, Real
from lowfold._core.memory import require
from lowfold._core.operators import CentredGram
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._apart import workers_of
from lowfold.graph._conformal import conformal_factors, conformal_lengths
from lowfold.graph._geodesic_gram import GeodesicGram, Unheld
from lowfold.graph._geodesics import all_geodesics, geodesics
from lowfold.graph._source import Blocks
from lowfold.graph._types import Graph
from lowfold.kernels._gram import centred_gram
from lowfold.lowrank._energy import share_held
from lowfold.lowrank._landmark_rules import landmarks_by_rule
from lowfold.methods._base import LearnedMetric
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._geodesic_metric import geodesic_distances
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._in_blocks import InBlocks, always
from lowfold.methods._landmarks import Landmarked, held_out, relative_error, told
from lowfold.methods._losses import STRAIN, Lowered, strain
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import Symmetrized
from lowfold.methods._placing.geodesics import LandmarkRow, triangulate
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._sparse_stages import few_products, geodesic_stages
from lowfold.methods._stages import Stages
from lowfold.spectral._doors import largest
from lowfold.spectral._euclidean import minimal_shift, shift_bound
from lowfold.spectral._types import NEGLIGIBLE, Eigenpairs, existing_values, positive_values

SPARE = 2  # coordinates of a model of half of the landmarks beyond those asked for: which come first may change
PATHS = ("auto", "eliminate", "sweep", "dijkstra", "floyd_warshall")


class Isomap(Symmetrized, Landmarked, GraphMethod):
    """Embed so that Euclidean distances come close to geodesic distances along the manifold.

    Geodesics d_G are shortest paths in the neighbourhood graph; the coordinates are classical MDS of them: Y = V
    sqrt(lambda) with the leading eigenpairs of G = -1/2 H (d_G o d_G) H. Exact for manifolds isometric to a convex
    region; holes and shortcuts across gaps distort it. The options `conformal`, `landmarks` and `shift` combine.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred (its landmarks are), column k has squared norm
        eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    explained_ : float, the sum of the positive eigenvalues_ over the trace of G, among the landmarks where there are
        some; 1 where all points coincide
    reconstruction_error_ : float, (1/2n) sum_ij (d_G^2 - ||y_i - y_j||^2) = sum of the eigenvalues left out; over
        landmarks
    landmarks_ : array of indices, or None
    landmark_error_ : float or None; half of the landmarks, placed by the others alone: how far off, relative
    shift_ : float, the constant that was added
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(400, random_state=0)
    >>> lowfold.Isomap(2, n_neighbors=8).fit_transform(roll.X).shape
    (400, 2)
    """

    stages: ClassVar[Stages] = geodesic_stages
    in_blocks: ClassVar[InBlocks] = always
    loss: ClassVar[Lowered] = Lowered(strain, STRAIN + " of geodesic distances")

    paths: str = param(
        "auto",
        Choice(PATHS),
        'Shortest-path algorithm; all give the same distances. "eliminate" factors the graph, quick in few '
        'dimensions; "sweep" solves neighbouring sources together; "auto" counts and takes the better; '
        '"floyd_warshall" is cubic, for dense graphs of a few hundred points. Where that is quicker, or the matrix of '
        'all distances does not fit the memory budget, "auto" and "eliminate" make them again in every product.',
    )
    conformal: bool = param(
        False,
        Flag(),
        "Measure edges in units of the local spacing, d_ij / sqrt(m_i m_j) with m_i the mean distance "
        "from i to its neighbours: undoes a change of scale from place to place where the sampling "
        "was even before it.",
    )
    landmarks: int | NDArray[np.int64] | None = param(
        None,
        "Classical MDS of so many points only; all others by their geodesics to them (triangulation). "
        "Only these rows of geodesics are ever computed: for large n. Where pieces are embedded by "
        "themselves, at most so many in each.",
    )
    shift: float | str | None = param(
        None,
        Real(0),
        Choice(("minimal", "bound")),
        Null("no shift"),
        "Constant added to all geodesics but d(i, i): the smallest that makes them Euclidean, so that "
        "G is positive semidefinite; a bound of it that needs two solves; or a number.",
    )
    learned: ClassVar[Mapping[str, LearnedMetric]] = {"geodesic": geodesic_distances}
    ways_out: ClassVar[tuple[str, str] | None] = (
        "look at these rows, and leave them out if they are mistakes",
        "errors of the geodesics, or a shift, make such coordinates: use shift=None, LTSA, or more n_components",
    )
    alone: ClassVar[bool] = False
    default_landmarks: ClassVar[int | None] = None

    def _needs(self) -> Needs:
        return Needs(symmetrize=self.symmetrize)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        factors = conformal_factors(data.neighbors) if self.conformal else None
        graph = conformal_lengths(data.graph, factors)
        chosen = self._landmarks(data, graph, run)
        rows = None if chosen is None else geodesics(graph, chosen, method=self.paths, run=run)
        # The bound of the constant needs a spectrum of the distances themselves, on the host.
        held = replace(run, device="cpu") if self.shift == "bound" else run
        among = None if rows is None else np.ascontiguousarray(rows[:, chosen])
        few = few_products(self)
        D: AnyFloats | Unheld
        if among is None:
            workers = workers_of(data.source.rows) if isinstance(data.source, Blocks) else None
            D = all_geodesics(graph, method=self.paths, few_products=few, workers=workers, run=held)
        else:
            D = among
        shift = _shift(D, self.shift, run)
        G = centred_gram(D, shift=shift, run=run)
        pairs = largest(G, self.n_components, null=np.ones((G.n, 1)), negligible=NEGLIGIBLE, run=run)
        kept = positive_values(pairs.values, "the Gram matrix of the geodesics")
        row = LandmarkRow(G.row_means(), kept, pairs.vectors, shift, chosen, factors)
        return Fit(
            coordinates=pairs.vectors * np.sqrt(kept) if rows is None else triangulate(rows, row, run),
            pairs=pairs,
            graph=graph,
            extend=row,
            invert=Barycentric(),
            extra={
                "reconstruction_error_": float(G.trace() - kept.sum()),
                "explained_": share_held(kept.sum(), G.trace()),
                "landmarks_": chosen,
                "landmark_error_": None if among is None else _landmark_error(among, graph.n, pairs, kept, shift, run),
                "shift_": shift,
            },
        )

    def _landmarks(self, data: Connected, graph: Graph, run: Run) -> Ints | None:
        """Chosen by the distances of the data, which are cheap; by geodesics where there is only a graph."""
        asked = self._landmarks_in(data)
        if asked is None:
            return None
        where = graph if data.source is None else data.source
        chosen = landmarks_by_rule(where, asked, rule=self.landmark_rule, run=run)
        if len(chosen) <= self.n_components:
            raise InvalidInput(
                f"landmarks must be more than n_components = {self.n_components} to span that many directions; "
                f"got {len(chosen)}"
            )
        return chosen

    def _landmarks_in(self, data: Connected) -> int | Ints | None:
        """At most `landmarks` of them in each piece, or those of the given ones that lie in it."""
        asked = self.default_landmarks if self.landmarks is None else self.landmarks
        if asked is None:
            return None
        if np.ndim(asked) == 0:
            least = self.landmarks is None or data.rows is not None  # a number that the user gave is not changed
            return min(int(asked), data.n) if least else int(asked)
        if data.rows is None:
            return np.asarray(asked)
        inside = np.flatnonzero(np.isin(data.rows, asked))
        if len(inside) <= min(self.n_components, data.n - 1):
            raise InvalidInput(
                f"only {len(inside)} of the given landmarks lie in a component of {data.n} points; name more than "
                f"n_components = {self.n_components} in each, give their number instead, or use "
                "on_disconnected='connect'"
            )
        return inside

    def _operator(self) -> CentredGram | GeodesicGram:
        """-1/2 H (d_G o d_G) H, from the graph that the model keeps; geodesics are computed anew. Landmarks: among
        them.
        """
        self._of_one_model("operator()")
        L, run = self.landmarks_, self._run()
        D: AnyFloats | Unheld
        if L is None:
            D = all_geodesics(self.graph_, method=self.paths, run=run)
        else:
            D = geodesics(self.graph_, L, L, method=self.paths, run=run)
        return centred_gram(D, shift=float(self.shift_), run=run)

    @property
    def dist_matrix_(self) -> NDArray[np.floating]:
        """Geodesic distances of all pairs (n, n), computed anew from `graph_`."""
        n = self.graph_.n
        require(8.0 * n * n, f"a {n} x {n} matrix of geodesics", "use distances(A, B, kind='geodesic') for some")
        return geodesics(self.graph_, method=self.paths, run=self._run())

    def reconstruction_error(self) -> float:
        """||K(d_G) - K(d_Y)||_F / n, K(d) = -1/2 H (d o d) H: what the columns leave of the geodesic kernel."""
        K = CentredGram(np.asarray(self.dist_matrix_, dtype=np.float64)).dense()
        rest = float(np.square(K).sum() - np.square(self.eigenvalues_).sum())
        return float(np.sqrt(max(rest, 0.0)) / len(K))

    def residual_variance(self, dims: NDArray[np.int64] | None = None, *, max_points: int = 2000) -> Floats:
        """1 - R^2 between geodesic and embedded distances for d = 1..10, on at most `max_points` rows of the data.

        The elbow of this curve is the usual guide to `n_components`.
        """
        dims = np.arange(1, 11) if dims is None else np.asarray(dims)
        rows = np.linspace(0, self.graph_.n - 1, min(max_points, self.graph_.n)).astype(np.int64)
        D = geodesics(self.graph_, rows, rows, dtype=np.float64, run=self._run())
        if not np.isfinite(D).all():
            raise InvalidInput("residual_variance needs a connected graph; fit with on_disconnected='connect'")
        d_max = min(int(dims.max()), len(rows) - 1)
        pairs = largest(CentredGram(D), d_max, null=np.ones((len(rows), 1)), negligible=1.0, run=self._run())
        Y = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0))
        upper = np.triu_indices(len(rows), 1)
        out = np.empty(len(dims))
        for i, d in enumerate(dims):
            squared = sum(np.subtract.outer(Y[:, c], Y[:, c]) ** 2 for c in range(min(int(d), d_max)))
            out[i] = 1.0 - np.corrcoef(D[upper], np.sqrt(squared)[upper])[0, 1] ** 2
        return out


def _landmark_error(D: NDArray[np.floating], n: int, pairs: Eigenpairs, kept: Floats, shift: float, run: Run) -> float:
    """Half of the landmarks triangulated from classical MDS of the others, against where they are."""
    if len(D) == n:  # no point is placed
        return 0.0
    held, rest = held_out(len(D), run)
    if len(rest) < 3:  # one line through two points places nothing else
        return float("nan")
    d, wide = (min(len(kept) + more, len(rest) - 1) for more in (0, 0 if shift else SPARE))
    G = centred_gram(np.ascontiguousarray(D[np.ix_(rest, rest)]), shift=shift, run=run)
    found = largest(G, wide, null=np.ones((G.n, 1)), negligible=1.0, run=run)
    positive = existing_values(found.values)
    row = LandmarkRow(G.row_means(), positive, found.vectors, shift)
    Z = np.zeros((len(D), wide))
    try:
        Z[rest], Z[held] = found.vectors * np.sqrt(positive), row.coordinates(D[np.ix_(held, rest)])
    except InvalidInput:  # the shift alone makes an eigenvalue
        return float("nan")
    error, wider = (relative_error(pairs.vectors * np.sqrt(kept), Z[:, :c], held, rest) for c in (d, wide))
    return told(error, len(D), wider, wide)


def _shift(D: AnyFloats | Unheld, shift: float | str | None, run: Run) -> float:
    if shift is None:
        return 0.0
    if isinstance(shift, str):
        return minimal_shift(D, run=run) if shift == "minimal" else shift_bound(D)
    return float(shift)


class Guarantee(NamedTuple):
    """(1 - lower) d_M <= d_G <= (1 + upper) d_M for all pairs."""

    lower: float
    upper: float


def isomap_guarantee(r0: float, s0: float, eps: float, delta: float) -> Guarantee:
    """How far graph distances can be from geodesics, Wang (2012), Theorem 8.3; Bernstein et al. (2000).

    r0 is the smallest radius of curvature, s0 the branch separation, eps the radius of the graph (every pair within eps
    is joined and no edge is longer), delta the density of the sample (every point of the manifold has a sample within
    delta).

    >>> isomap_guarantee(r0=1.0, s0=1.129, eps=0.3, delta=0.0064).upper < 0.09
    True
    """
    for name, value in (("r0", r0), ("s0", s0), ("eps", eps), ("delta", delta)):
        if not value > 0:
            raise InvalidInput(f"{name} must be above 0; got {value!r}")
    lower = (np.pi * eps / (2 * r0)) ** 2 / 24
    upper = 4 * delta / eps
    if eps >= s0:
        raise InvalidInput(
            f"eps = {eps:g} must be below the branch separation s0 = {s0:g}; else edges may jump between sheets"
        )
    if upper >= 1:
        raise InvalidInput(
            f"delta = {delta:g} must be below eps / 4 = {eps / 4:g}; sample more densely or use a larger eps"
        )
    if lower >= 1:
        raise InvalidInput(f"eps = {eps:g} is too large for a radius of curvature of {r0:g}; the bound says nothing")
    return Guarantee(float(lower), float(upper))
