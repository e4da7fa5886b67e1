"""Landmark maximum variance unfolding, Weinberger, Packer & Saul (2005), AISTATS; Wang (2012), Section 9.4.

X --neighbours--> N --weights--> W --landmarks--> Q, Y = Q U --small semidefinite program--> L = U U' --eigen--> Y
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, IntArray, Null, Real
from lowfold._core.params import param
from lowfold._core.random import RandomState
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._source import Source
from lowfold.graph._types import Neighbors
from lowfold.lowrank._energy import share_held
from lowfold.lowrank._landmark_rules import RULES, landmarks_by_rule
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._losses import Lowered, no_loss
from lowfold.methods._neighborhood import Needs, hung_on_first
from lowfold.methods._parameters import Seeded
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.patches import ReconstructionRow
from lowfold.methods._stages import FLOAT, Stage, Stages, degree, read_stage, search_stage
from lowfold.methods._unfolding import (
    UNBOUNDED,
    WAYS_OUT,
    FactorOperator,
    factor_pairs,
    pair_distances,
    warn_if_unproven,
    with_bridges,
)
from lowfold.sdp._door import solve_rank_one
from lowfold.sdp._landmarks import (
    holding_pairs,
    landmark_program,
    landmark_transform,
    reconstruction_weights,
    unreached,
)
from lowfold.sdp._program import FORMS, Unfolding, neighbor_pairs, unfolding_in
from lowfold.sdp._solution import Callback, Solution

TRANSFORMS = ("lsq", "direct")


def _landmarks_fit(method: Any, data: Data) -> None:
    given = np.ravel(method.landmarks)
    if np.ndim(method.landmarks) > 0 and given.max() >= data.n:
        raise InvalidInput(f"landmarks must be row numbers from 0 to {data.n - 1}; got {given.max()}")
    m = min(int(given[0]) if np.ndim(method.landmarks) == 0 else len(given), data.n)
    if method.n_components > m - 1:
        raise InvalidInput(
            f"n_components of LandmarkMVU must be at most {m - 1} for {m} landmarks; got {method.n_components}"
        )


DISTINCT = (
    0.8  # of the pairs inside landmarks' neighbourhoods: 40 to 80 landmarks of 3,000 to 6,000 points on a surface
)


def _stages(method: Any, data: Data) -> list[Stage]:
    """The landmarks' transform, dense, and the equations of a step, one for each pair in their neighbourhoods."""
    n, k = float(data.n), degree(method, data)
    m = float(min(int(method.landmarks) if np.ndim(method.landmarks) == 0 else len(np.ravel(method.landmarks)), data.n))
    rebuilt = Stage("transform", f"{data.n} x {m:.0f}, dense", 6 * FLOAT * n * m, 2 * FLOAT * n * m)
    pairs = min(DISTINCT * m * k * (k + 1) / 2, n * (n - 1) / 2)
    program = Stage("semidefinite program", f"{m:.0f} landmarks, {pairs:.0f} pairs", 3 * FLOAT * pairs**2)
    return [read_stage(data), search_stage(method, data), rebuilt, program]


class LandmarkMVU(Seeded, GraphMethod):
    """Unfold a few landmarks and let every other point follow by fixed weights.

    Y = Q U with U the landmarks' coordinates and Q (n, m) from the weights with which each point is rebuilt by its
    neighbours, so K = Q L Q' with L = U U' of size m x m: maximise tr K over psd L, centred, with the distances
    inside the landmarks' neighbourhoods held. Some 40 landmarks stand for thousands of points.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    landmarks_ : array, row numbers of the landmarks
    pairs_ : array, constrained pairs; dual_ : the stress of each; n_constraints_ : int, pairs and centring
    duality_gap_, constraint_violation_, largest_violation_ : as in MVU, within points of the form Q U
    reconstruction_error_ : float, ||X - Q X[landmarks]|| / ||X - mean||; NaN where the input is no table of points
    spectrum_, rank_, variance_, explained_, nu_, n_iter_, factor_ : as in MVU
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(400, random_state=0)
    >>> lowfold.LandmarkMVU(2, landmarks=20, n_neighbors=4).fit(roll.X).embedding_.shape
    (400, 2)
    """

    stages: ClassVar[Stages] = _stages
    loss: ClassVar[Lowered] = no_loss(
        "its points follow the landmarks by fixed weights, other embeddings do not; use MVU's"
    )
    ways_out: ClassVar[tuple[str, str] | None] = WAYS_OUT
    tuned_on: ClassVar[int | None] = 120

    landmarks: int | NDArray[np.int64] = param(
        40,
        Int(2),
        IntArray(0),
        "How many (at most n; one more in every group of points that would lead to none), or which.",
    )
    landmark_rule: str = param("random", Choice(RULES), "How landmarks are chosen, as in `Isomap`.")
    reconstruction_neighbors: int = param(12, Int(1), "Neighbours that rebuild a point; at most n - 1 are used.")
    weights: str = param("affine", Choice(("affine", "convex")), "Weights that sum to 1, or of at least 0 besides.")
    reg: float = param(
        0.001, Real(0), "Ridge of the weights, relative to the trace, where a point has more neighbours than features."
    )
    transform_rule: str = param(
        "lsq",
        Choice(TRANSFORMS),
        "Q by least squares over all points, or by demanding that each is rebuilt exactly, which is "
        "ill-conditioned with weights of both signs.",
    )
    constraints: str = param(
        "slack",
        Choice(FORMS),
        "How pairs are held: by springs, exactly, or no farther than measured. Points of the form Q U "
        'need not satisfy equalities: "eq" then ends with a warning.',
    )
    nu: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Stiffness of the springs, in units of the mean squared distance of the pairs. Used by "slack".',
    )
    solver: str = param(
        "auto",
        Choice(("auto", "interior", "clarabel")),
        'Own dense interior-point method (which "auto" is), or Clarabel (extra `sdp`).',
    )
    tol: float = param(0.001, 'Relative duality gap (and, unless "slack", violation) at which the solver stops.')
    max_iter: int = param(100, Int(1), "Most iterations.")
    callback: Callback | None = param(
        None,
        Function("callback(step) -> stop?"),
        Null("none"),
        "callback(step) after every iteration; a true answer stops.",
    )
    random_state: RandomState = param(0, "Draws the landmarks.")

    checks: ClassVar[tuple[Check, ...]] = (*GraphMethod.checks, _landmarks_fit)

    def _needs(self) -> Needs:
        return Needs(otherwise=UNBOUNDED)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        if data.rows is not None and np.ndim(self.landmarks) > 0:
            raise InvalidInput(
                "pieces cannot be embedded one by one with given landmarks; pass their number, or connect"
            )
        source, rebuilders = self._rebuilders(data, run)
        W = reconstruction_weights(source, rebuilders, reg=self.reg, kind=self.weights)
        landmarks = self._landmarks(W, source, _distinct(rebuilders), run)
        Q = landmark_transform(W, landmarks, kind=self.transform_rule)  # type: ignore[arg-type]
        rebuilt = _rebuilt(data, Q, landmarks)
        self._tell(rebuilt)
        program = self._program(data, landmarks, Q)
        solution = self._solution(Q, program)
        warn_if_unproven("LandmarkMVU", solution, 'try constraints="slack" or "ineq", or more landmarks')
        leading = factor_pairs(solution.factor, self.n_components, solution.solver, solution.iterations)
        spectrum = np.sum(solution.factor**2, axis=0)
        return Fit(
            coordinates=leading.vectors * np.sqrt(leading.values),
            pairs=leading,
            graph=data.graph,
            extend=ReconstructionRow(self.reg, "k>D", self.weights),
            invert=Barycentric(),
            extra={
                "duality_gap_": solution.gap,
                "constraint_violation_": solution.violation,
                "largest_violation_": solution.largest_violation,
                "reconstruction_error_": rebuilt,
                "variance_": float(spectrum.sum()),
                "explained_": share_held(leading.values.sum(), spectrum.sum()),
                "rank_": solution.rank,
                "spectrum_": spectrum,
                "landmarks_": landmarks,
                "pairs_": program.pairs,
                "dual_": solution.dual,
                "n_constraints_": program.m + 1,
                "nu_": program.nu,
                "n_iter_": solution.iterations,
                "factor_": solution.factor,
            },
        )

    def _tell(self, rebuilt: float) -> None:
        """Warn where the mean rebuilds the points better than the landmarks do; NaN where there are none."""
        if rebuilt > 1:
            convex = "" if self.weights == "convex" else "weights='convex', "
            plain = "" if self.transform_rule == "lsq" else "transform_rule='lsq', "
            warn(
                f"LandmarkMVU: the landmarks rebuild the points with an error of {rebuilt:.2g} "
                f"(reconstruction_error_), where their mean has 1; use {plain}{convex}more landmarks, or no outliers",
                errors.AccuracyWarning,
            )

    def _solution(self, Q: Floats, program: Unfolding) -> Solution:
        """L by the small program, then Y = Q U with U U' = L."""
        small, V = landmark_program(Q, program.pairs, program.squared, form=program.form, nu=program.nu)
        solver = "interior" if self.solver == "auto" else self.solver

        def lift(L: Floats) -> Floats:
            values, U = stacked_eigh(L)
            return np.asarray(Q @ (V @ (U * np.sqrt(np.maximum(values, 0.0)))))

        return solve_rank_one(
            small, lift, program, solver=solver, tol=self.tol, max_iter=self.max_iter, callback=self.callback
        )

    def _program(self, data: Connected, landmarks: NDArray[np.int64], Q: Floats) -> Unfolding:
        """Pairs inside the landmarks' neighbourhoods (landmark included), edges that hold loose parts, bridges."""
        pairs = holding_pairs(Q, neighbor_pairs(data.neighbors, landmarks), data.graph)
        pairs, squared = with_bridges(data, pairs, pair_distances(data, pairs) ** 2)
        return unfolding_in(data.graph, pairs, squared, form=self.constraints, nu=self.nu)  # type: ignore[arg-type]

    def _rebuilders(self, data: Connected, run: Run) -> tuple[Source, Neighbors]:
        """The points and the neighbours that rebuild each; bridge ends count as neighbours of each other."""
        if data.source is None:
            raise InvalidInput(
                "LandmarkMVU needs points or distances to rebuild points from neighbours, not a graph alone"
            )
        k = min(self.reconstruction_neighbors, data.n - 1)
        source = data.source

        def among(heads: Ints) -> Neighbors:
            least = min(k, len(heads) - 1)
            return neighborhoods(source.subset(heads), n_neighbors=least, search=self.search, run=run)

        found = hung_on_first(neighborhoods(source, n_neighbors=k, search=self.search, run=run), among)
        if not len(data.bridges):
            return data.source, found
        i, j = data.bridges.edges.T
        rows = np.concatenate([found.rows(), i, j])
        columns = np.concatenate([found.indices, j, i])
        d = np.concatenate([found.distances, data.bridges.lengths, data.bridges.lengths])
        first = np.unique(rows * data.n + columns, return_index=True)[1]
        rows, columns, d = rows[first], columns[first], d[first]
        order = np.lexsort((columns, d, rows))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=data.n))])
        return data.source, Neighbors(indptr, columns[order], d[order], data.n)

    def _landmarks(self, W: csr_array, source: Source, distinct: Ints, run: Run) -> NDArray[np.int64]:
        if np.ndim(self.landmarks) > 0:
            return np.asarray(self.landmarks, dtype=np.int64)
        m = min(int(self.landmarks), len(distinct))
        among = source if len(distinct) == source.n else source.subset(distinct)
        chosen = distinct[landmarks_by_rule(among, m, rule=self.landmark_rule, run=run)]
        while len(lost := unreached(W, chosen)):
            chosen = np.sort(np.append(chosen, lost[0]))
        return chosen

    def _operator(self) -> FactorOperator:
        """K = Q L Q' = Y Y', from the factor that the model keeps."""
        if not hasattr(self, "factor_"):
            raise InvalidInput(
                "pieces that were embedded one by one have no common kernel; fit with on_disconnected='connect'"
            )
        return FactorOperator(self.factor_)


def _distinct(rebuilders: Neighbors) -> Ints:
    """The first of each group of repeated points: the others hang on it at distance 0. Two landmarks in one place would
    be one unknown twice.
    """
    first = rebuilders.distances[np.minimum(rebuilders.indptr[:-1], len(rebuilders.distances) - 1)]
    kept = np.flatnonzero(first > 0)
    return kept if len(kept) > 1 else np.arange(rebuilders.n)


def _rebuilt(data: Connected, Q: Floats, landmarks: NDArray[np.int64]) -> float:
    """How well Q rebuilds the data from the landmarks."""
    X = getattr(data.source, "X", None)
    if X is None:
        return float("nan")
    if isinstance(X, SparseRows):
        return _rebuilt_sparse(X, Q, landmarks)
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    return float(np.linalg.norm(X - Q @ X[landmarks]) / max(np.linalg.norm(X), np.finfo(float).tiny))


def _rebuilt_sparse(X: SparseRows, Q: Floats, landmarks: NDArray[np.int64]) -> float:
    """The same from inner products: rows of Q sum to 1, so that the mean drops out of the difference."""
    chosen, mean = X[landmarks], X.mean()
    lost = X.squares().sum() - 2 * np.sum(X.products(chosen) * Q) + np.sum(Q * (Q @ chosen.products(chosen)))
    total = float(X.squares().sum() - len(X) * (mean @ mean))
    return float(np.sqrt(max(float(lost), 0.0) / max(total, np.finfo(float).tiny)))
