"""Nonmetric MDS, Shepard (1962), doi:10.1007/BF02289630; Kruskal (1964), doi:10.1007/BF02289694.

delta --rank--> order --classical MDS of the ranks--> Y(0) --isotonic fit of d(Y), majorise in turn--> Y
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, Null, Real, RealArray
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._reading import in_memory
from lowfold.graph._source import Pairs
from lowfold.methods._descent import Shepard, all_edges, random_start, start, stress_terms, weight_operator
from lowfold.methods._dissimilarities import HasDissimilarities
from lowfold.methods._fit import Data, Fit, Queries
from lowfold.methods._given_start import GivenStart
from lowfold.methods._input import AnySource, Reader
from lowfold.methods._losses import Loss, Lowered
from lowfold.methods._parameters import Distances, Seeded
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.stress import StressRow
from lowfold.methods._reading_rows import read_rows
from lowfold.methods._stages import Stage, Stages, read_stage
from lowfold.methods._telling import tell_few
from lowfold.optimize._isotonic import Ranking, majorise_ordinal
from lowfold.optimize._loss_formulas import LossValue
from lowfold.optimize._momentum import Callback
from lowfold.optimize._smacof import Minimum
from lowfold.optimize._stress import EdgeTerms, Held, PairTerms
from lowfold.spectral._held import ENOUGH_TO_TELL

COLLAPSED = (
    "all others nearly coincide, for that keeps the order of the dissimilarities as well: use MetricMDS, or leave "
    "these rows out"
)
KNOTS = 4096  # points of the monotone curve that a fitted model keeps


@dataclass(frozen=True)
class OrderedSimilarities(AnySource):
    """Similarities are only ordered: s_ii + s_jj - 2 s_ij, which the other methods use, would need their values."""

    def data(self, method: Any, X: Any, y: Any) -> Data:
        if method.metric != "precomputed_similarity":
            return super().data(method, X, y)
        S = _similarities(method, X, reset=True)
        if S.shape[0] != S.shape[1]:
            raise InvalidInput(f"a matrix of similarities must be square; got shape {S.shape}")
        S = S.copy()
        np.fill_diagonal(S, np.nan)
        known = S[np.isfinite(S)]
        if known.size == 0:
            raise InvalidInput("X has no similarity off the diagonal")
        similar = (float(known.max()), float(np.ptp(known)) or 1.0)
        D = _reversed(S, similar)
        np.fill_diagonal(D, 0.0)
        return Data(Pairs(D), kept={"_similar": similar})

    def queries(self, method: Any, X: Any) -> Queries:
        if method.metric != "precomputed_similarity":
            return super().queries(method, X)
        return Pairs(_reversed(_similarities(method, X, reset=False), method._similar))


def _similarities(method: Any, X: Any, *, reset: bool) -> AnyFloats:
    if issparse(X):
        raise InvalidInput("precomputed_similarity needs a dense matrix, NaN where unmeasured; got a sparse one")
    in_memory(X)
    return np.asarray(read_rows(method, X, reset=reset, least=2 if reset else 1, finite=False))


def _reversed(S: AnyFloats, similar: tuple[float, float]) -> AnyFloats:
    """Dissimilarities from 0 (the largest similarity of the fit) to 1 (the smallest)."""
    top, spread = similar
    return np.asarray(np.maximum((top - S) / spread, 0.0))


RANKING = 53.0  # bytes for an entry of the n x n matrix: two indices, values, order and blocks of ties for each pair


def _stages(method: Any, data: Data) -> list[Stage]:
    """All pairs with their order, disparities and sums."""
    size = RANKING * float(data.n) ** 2
    return [read_stage(data), Stage("ranking", f"{data.n * (data.n - 1) // 2} pairs in order", size)]


def _ordinal_loss(model: Any, data: Data, scaled: bool) -> Loss:
    edges = model._edges(data, model._run())
    ranking = Ranking.of(edges.delta, model.ties)

    def loss(Y: Floats) -> LossValue:
        d = edges.distances(np.ascontiguousarray(Y))
        if not d.any():
            raise InvalidInput("Y has no two different points; stress-1 compares distances with their own size")
        left = (d - ranking.disparities(d)) ** 2
        error, size = (np.bincount(edges.i, v, edges.n) + np.bincount(edges.j, v, edges.n) for v in (left, d * d))
        points = np.sqrt(error / np.where(size > 0, size, 1.0))
        return LossValue(float(np.sqrt(error.sum() / size.sum())), points)

    return loss


class NonmetricMDS(HasDissimilarities, Distances, Seeded, GivenStart):
    """Place points so that their distances are in the order of the dissimilarities.

    Only the order counts. Minimises stress-1 = sqrt(sum_{i<j} (d_ij - dhat_ij)^2 / sum_{i<j} d_ij^2), where the
    disparities dhat are the values nearest to the distances that never fall as the dissimilarities rise. Any strictly
    increasing function of the dissimilarities gives the same result.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred, with a mean squared disparity of 1
    normalized_stress_ : float, stress-1; 0.025 excellent, 0.1 fair
    stress_ : float, sum_{i<j} (d_ij - dhat_ij)^2
    point_stress_ : array (n,), sum_j (d_ij - dhat_ij)^2; they add up to 2 stress_
    stress_history_ : array, stress-1 before each step of the best descent; it never rises
    n_iter_ : int, its steps
    converged_ : bool, whether it ended by `tol`

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> x = np.array([[0.0], [1.0], [3.0], [7.0], [15.0]])
    >>> model = lowfold.NonmetricMDS(1).fit(x)
    >>> float(model.normalized_stress_) < 1e-6
    True
    """

    stages: ClassVar[Stages] = _stages
    loss: ClassVar[Lowered] = Lowered(
        _ordinal_loss, "stress-1, sqrt(sum (d - dhat)^2 / sum d^2)", "local", fitted=False
    )
    tuned_on: ClassVar[int | None] = 300

    ties: str = param(
        "primary",
        Choice(("primary", "secondary")),
        "Equal dissimilarities may get different distances (primary), or are meant to get equal ones (secondary).",
    )
    init: Any = param(
        "classical",
        Choice(("classical", "random")),
        RealArray("an array with a row per point"),
        "Where to start: classical MDS of the ranks, a random layout, or a given one.",
    )
    n_init: int = param(1, Int(1), "Starts; those after the first are random. The least stress counts.")
    max_iter: int = param(300, Int(1), "Steps of one descent.")
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "A descent ends when a step lowers the square of stress-1 by less than this.",
    )
    callback: Callback | None = param(
        None,
        Function("f(iteration, cost, layout)"),
        Null("none"),
        "Called after every step as callback(iteration, stress, layout); returning True ends the descent.",
    )

    reader: ClassVar[Reader] = OrderedSimilarities()

    def _embed(self, data: Data, run: Run) -> Fit:
        edges, ranking = self._ranked(data, run)
        first = self._start(edges, ranking, run)
        best, dhat = self._minimise(edges, ranking, first, run)
        for _ in range(1, self.n_init):
            other, other_dhat = self._minimise(edges, ranking, random_start(edges, self.n_components, run), run)
            if other.value < best.value:
                best, dhat = other, other_dhat
        size = 1.0 / float(np.sqrt(np.mean(dhat**2)) or 1.0)
        Y, dhat = (best.Y - best.Y.mean(axis=0)) * size, dhat * size
        if len(Y) >= ENOUGH_TO_TELL:
            tell_few("NonmetricMDS", Y, COLLAPSED)
        knots, heights = monotone_curve(edges.delta, dhat, ranking)
        return Fit(
            coordinates=Y,
            pairs=None,
            graph=data.graph,
            extend=StressRow(knots=knots, heights=heights, recognise=self.metric != "precomputed_similarity"),
            invert=Barycentric(),
            extra=_report(replace(edges, delta=dhat), Y, best),
        )

    def _edges(self, data: Data, run: Run) -> EdgeTerms:
        need = 30.0 * data.n**2
        require(
            need, f"the ranking of all pairs of {data.n} points", "use MetricMDS, or pass a sparse part of the pairs"
        )
        return all_edges(stress_terms(data, None, run))

    def _ranked(self, data: Data, run: Run) -> tuple[EdgeTerms, Ranking]:
        """All measured pairs in the order of their dissimilarity, so that no step has to sort or gather."""
        edges = self._edges(data, run)
        ranking = Ranking.of(edges.delta, self.ties)
        order = ranking.order
        return replace(edges, i=edges.i[order], j=edges.j[order], delta=edges.delta[order]), ranking.in_order()

    def _start(self, edges: EdgeTerms, ranking: Ranking, run: Run) -> Floats:
        ranks = replace(edges, delta=ranking.ranks() / len(edges.delta))
        terms: PairTerms | EdgeTerms = ranks
        if edges.plain:
            D = np.zeros((edges.n, edges.n))
            D[edges.i, edges.j] = ranks.delta
            D += D.T
            terms = PairTerms(Held(D), n_jobs=run.n_jobs)
        return start(terms, Data(None, graph=None), self.init, self.n_components, None, run)

    def _minimise(self, edges: EdgeTerms, ranking: Ranking, Y: Floats, run: Run) -> tuple[Minimum, Floats]:
        with run.stage("stress") as progress:
            return majorise_ordinal(
                edges, ranking, Y, max_iter=self.max_iter, tol=self.tol, progress=progress, callback=self.callback
            )

    def shepard(self, max_pairs: int = 10_000) -> Shepard:
        """Shepard diagram: dissimilarities (rising), distances and disparities of at most `max_pairs` pairs."""
        edges, ranking = self._ranked(Data(self._trained.source, graph=self._trained.graph), self._run())
        d = edges.distances(self._trained.coordinates)
        dhat = ranking.disparities(d)
        shown = np.linspace(0, len(d) - 1, min(max_pairs, len(d))).astype(np.int64)
        return Shepard(edges.delta[shown], d[shown], dhat[shown])

    def _operator(self) -> DenseOperator:
        """The matrix B(Y) of the last majorisation step, made of the disparities: at the minimum V^+ B(Y) Y = Y."""
        n = len(self.embedding_)
        require(5 * 8.0 * n * n, f"a {n} x {n} matrix", "fit fewer points")
        edges, ranking = self._ranked(Data(self._trained.source, graph=self._trained.graph), self._run())
        dhat = ranking.disparities(edges.distances(self._trained.coordinates))
        return DenseOperator(weight_operator(replace(edges, delta=dhat), self._trained.coordinates), psd=True)


def monotone_curve(delta: Floats, dhat: Floats, ranking: Ranking) -> tuple[Floats, Floats]:
    """Dissimilarity -> disparity as a broken line of at most 4,096 knots; ties by their mean."""
    counts = np.diff(ranking.starts, append=len(delta))
    x = delta[ranking.order][ranking.starts]
    y = np.add.reduceat(dhat[ranking.order], ranking.starts) / counts
    bend = np.ones(len(x), dtype=bool)
    bend[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    x, y = x[bend], y[bend]
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), KNOTS)).astype(np.int64))
    return x[kept], y[kept]


def _report(fitted: EdgeTerms, Y: Floats, best: Minimum) -> dict[str, Any]:
    sums = fitted.sums(np.ascontiguousarray(Y))
    return {
        "stress_": sums.raw,
        "normalized_stress_": float(best.value),
        "point_stress_": sums.stress,
        "stress_history_": best.history,
        "n_iter_": best.n_iter - 1,
        "converged_": best.converged,
    }
