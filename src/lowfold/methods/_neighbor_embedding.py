"""What SNE, symmetric SNE and t-SNE share: parameters, descent, new points.

X --perplexity--> p_{j|i} --symmetric--> P --KL(P || Q(Y)), momentum--> Y
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.limits import Choice, Flag, Function, Int, Null, Real, RealArray
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator, Operator, SparseOperator
from lowfold._core.parallel import QUERIED, block_slices, resolve_jobs, run_blocks
from lowfold._core.params import fixed, param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold._cuda._descend import COLUMNS, PARTS
from lowfold._cuda._search import search_bytes
from lowfold.graph._source import AFFINITY, Points
from lowfold.graph._types import Neighbors
from lowfold.methods._base import Check, Method
from lowfold.methods._descent import measured_columns
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._losses import Lowered
from lowfold.methods._neighbor_affinity import (
    HELD,
    ROWS,
    is_held,
    layout_start,
    mean_probabilities,
    neighbor_count,
    repaired,
    resolve_perplexity,
    spectral_start,
)
from lowfold.methods._neighbor_loss import joint_divergence
from lowfold.methods._parameters import Distances, Seeded
from lowfold.methods._placing.maps import Barycentric, Impossible
from lowfold.methods._stages import FLOAT, Stage, Stages, read_stage
from lowfold.optimize._descend import descend_rows, polish_rows
from lowfold.optimize._momentum import FALL, LOOK, Layout, Schedule, momentum_descent
from lowfold.optimize._neighbor import Affinities, SparseAffinities, row_divergence, tails
from lowfold.optimize._on_device import affinity_bytes

# Copies of a strip while its widths are searched (distances, squares, exponents, weights), by peaks of 5,000 to 14,000
# points.
SEARCHED = 4.5
BEFORE_POLISH = 1e-7  # of a new point's place: Newton's steps, which follow, double its digits
# The learning rate of t-SNE under exaggeration, at least, as scikit-learn's: with less, few points do not come far.
LEAST_RATE = 50.0
# Of the learning rate times the curvature 4 e p_i of a point's pull: 1 or 2 where all points share P alike, 8 of 300
# points, whose rate is the least. Points that all others count as neighbours, as texts of few words are, had 50: they
# were thrown about, and of sparse rows without structure the divergence ended 15% above that of a steady descent.
STEADY = 8.0
# The same for a layout with Gaussian tails, 1.2 where points share P alike: nothing draws back a point that was thrown
# out, and of 700 points in 50 columns, uniform or normal, the layout reached 1e16 and more.
STEADY_GAUSSIAN = 2.0
# Gaussian tails without exaggeration take no gains at first: quick steps settle an order of the points that ends in a
# worse minimum. After 200 steps with the rate and momentum of the text the cost of digits and rolls was no higher than
# without gains. 40 steps of three times the rate and momentum 0.7 go as far; half the iterations then end as low on
# rolls, digits and clusters of 1,000 points (within 0.5% in the mean, single ones in lower or higher minima).
FEW_STEPS = Schedule(0.5, 0.8, 1000, gains_from=200)
MANY_STEPS = Schedule(0.7, 0.8, 500, gains_from=40, switch=60, pace=3.0)
PLAIN = 0.5  # of the iterations, at least, are without exaggeration where the user did not say how long it lasts
HARDLY = 0.99  # of the first cost, above which a descent has shown nothing; usual ones end at 0.1 to 0.7 of it
RISEN = 1.1  # the same of a layout that the user gave, which may be the best already
FEW = 500  # points up to which the schedule is that of the text
FAR = 4.0  # radii of the layout beyond which a new point has not found a place but left


def _distances_given(method: Any, data: Data) -> None:
    if data.source is None:
        raise InvalidInput(
            f"{type(method).__name__} needs points or distances; got a graph: pass its lengths as a sparse matrix to "
            'TSNE(metric="precomputed")'
        )


def _stages(method: Any, data: Data) -> list[Stage]:
    """Affinities of all pairs in one block or in strips, or of neighbours only; then the descent."""
    n = float(data.n)
    strips = FLOAT * n * min(n, ROWS) * SEARCHED * resolve_jobs(method.n_jobs)
    k = neighbor_count(float(np.max(resolve_perplexity(method.perplexity, data.n))), data.n)
    way = method._method(data)
    size = FLOAT * n * n
    searched, held = _there(data, k, size)
    if way != "exact":
        words = f"sparse, {k} nearest neighbours"
        affinities = Stage("affinities", words, 100.0 * n * k, 30.0 * n * k, searched)
    elif is_held(data.n):
        affinities = Stage("affinities", f"{data.n} x {data.n}, one block", size + strips, size, held)
    else:
        words = "all pairs, in strips made anew in each step"
        affinities = Stage("affinities", words, strips, there=held, words=f"{data.n} x {data.n}, one block")
    there = None if method.n_components > COLUMNS else FLOAT * 4 * PARTS * n
    words = f"up to {method._most_steps(data.n)} steps, {way}"
    work = Stage("descent", words, 80.0 * n * method.n_components, there=there)
    return [read_stage(data), affinities, work]


def _there(data: Data, k: int, size: float) -> tuple[float, float]:
    """On a device: neighbours with a sparse P of both directions, and all pairs (of distances they are only sent)."""
    sparse = 24.0 * data.n * k
    if not isinstance(data.source, Points):
        return sparse, size
    return sparse + search_bytes(data.n, data.shape[1], k), affinity_bytes(data.n, data.shape[1])


def _judge_descent(name: str, layout: Layout, rate: float, share: float) -> None:
    """Refuse a layout that left the range of numbers; tell one whose cost has hardly fallen, or has risen."""
    first, last = layout.history[0, 1], layout.cost
    if not np.isfinite(layout.Y).all():
        raise SolverFailed(
            f"the descent of {name} left the range of numbers: learning_rate = {rate:g} is too large; use 'auto'"
        )
    if layout.reason != "callback" and layout.n_iter > LOOK and last > share * first:
        warn(
            f"the descent of {name} has not lowered its cost ({first:.3g} before, {last:.3g} after {layout.n_iter} "
            f"iterations with learning_rate = {rate:g}): the layout shows next to nothing; leave learning_rate and "
            "max_iter to 'auto' and None",
            errors.AccuracyWarning,
        )


class NeighborEmbedding(Distances, Seeded, Method):
    """Base of SNE, SymmetricSNE and TSNE."""

    stages: ClassVar[Stages] = _stages
    loss: ClassVar[Lowered] = Lowered(joint_divergence, "KL(P || Q)", "local", fitted=False)
    tuned_on: ClassVar[int | None] = 200

    perplexity: float | None = param(
        None,
        Real(0, open_low=True),
        Null("min(30, (n - 1) / 3)"),
        "Effective number of neighbours, 2^(entropy in bits) of each point's probabilities. None is "
        "min(30, (n - 1) / 3), at least 1; at most n - 1.",
    )
    init: Any = param(
        "random",
        Choice(("pca", "random")),
        RealArray("an array with a row per point"),
        "Y(0): N(0, 1e-4 I); principal components (classical MDS of given distances) with a spread of "
        "1e-4; or a layout to go on from (with early_exaggeration=1, or it is torn apart again).",
    )
    early_exaggeration: float = param(
        1.0,
        Real(1),
        "P is multiplied by it for the first 250 iterations, so that clusters form early; in the next 100 it falls to "
        "1 (fewer of both below 700 iterations, so that half are without it). 1 is the text's algorithm.",
    )
    momentum: Any = param(
        None,
        Real(0, 1, open_high=True),
        Function("alpha(t)"),
        Null("0.5, from iteration 250 on 0.8"),
        "alpha(t), a number or a function of the iteration. None is 0.5, from iteration 250 on 0.8; beyond 500 points "
        "0.7, from iteration 60 on 0.8, in TSNE 0.85, from iteration 280 on 0.97.",
    )
    gains: bool = param(
        True,
        Flag(),
        "Let every coordinate's step grow while its gradient keeps its sign and shrink when it turns, in SNE and "
        "SymmetricSNE from iteration 200 on (40 beyond 500 points): the same cost in half the iterations. False is the "
        "text's algorithm.",
    )
    max_iter: int | None = param(
        None,
        Int(1),
        Null("1,000; fewer beyond 500 points"),
        "Iterations at most. None is 1,000; beyond 500 points 500, in TSNE 400; more where the exaggeration is longer. "
        "In SNE and SymmetricSNE of 501 to 10,000 points 150, of which 50 are along spectral directions (see there).",
    )
    min_grad_norm: float = param(
        1e-07,
        Real(0),
        "Stop below this norm of the gradient (in SNE, whose cost is a sum over points, n times as much), relative to "
        "a layout of norm below 1; or when 50 iterations lower the cost by less than this share of it.",
    )
    n_iter_without_progress: int = param(
        300, Int(1), "Stop after as many iterations without a lower cost. It is looked at every 50."
    )
    callback: Any = param(
        None,
        Function("f(iteration, cost, layout)"),
        Null("none"),
        "Called every 50 iterations as callback(iteration, cost, layout); returning True ends the descent.",
    )

    student: ClassVar[bool] = False
    few: ClassVar[Schedule] = FEW_STEPS  # what None of momentum and max_iter stands for, up to 500 points
    many: ClassVar[Schedule] = MANY_STEPS  # and beyond
    summed: ClassVar[bool] = False  # the cost is a sum over points, and so large is its gradient
    early_exaggeration_iter: Any = fixed(default=None, init=False)
    dof: Any = fixed(default=1.0, init=False)

    @abstractmethod
    def _affinities(self, data: Data, perplexity: float, run: Run) -> Affinities:
        """P of the data."""

    @abstractmethod
    def _cost(self, P: Affinities, run: Run) -> Any:
        """The divergence to lower."""

    @abstractmethod
    def _method(self, data: Data) -> str:
        """How repulsion is computed: "exact" over all pairs, or the approximation by name."""

    @abstractmethod
    def _rate(self, n: int) -> float:
        """The learning rate that "auto" stands for, without exaggeration."""

    checks: ClassVar[tuple[Check, ...]] = (*Method.checks, _distances_given)

    def _embed(self, data: Data, run: Run) -> Fit:
        perplexity, data = resolve_perplexity(self.perplexity, data.n), repaired(data)
        P = self._affinities(data, perplexity, run)
        first = self._start(data, P, run)
        automatic = self._rate(data.n) * self._schedule(data.n).pace
        rate = automatic if self.learning_rate == "auto" else float(self.learning_rate)
        layout = self._descend(P, first, rate, run)
        _judge_descent(type(self).__name__, layout, rate, HARDLY if isinstance(self.init, str) else RISEN)
        return Fit(
            coordinates=layout.Y,
            pairs=None,
            graph=None,
            extend=self._placing(perplexity),
            invert=Barycentric(),
            extra={
                "kl_divergence_": layout.cost,
                "cost_history_": layout.history,
                "n_iter_": layout.n_iter,
                "stop_reason_": layout.reason,
                "perplexity_": perplexity,
                "learning_rate_": rate,
                "method_": self._method(data),
            },
        )

    def _start(self, data: Data, P: Affinities, run: Run) -> Floats:
        """Y(0)."""
        if isinstance(self.init, str) and self.init == "pca" and self.metric == AFFINITY:
            assert isinstance(P, SparseAffinities)
            return spectral_start(P.matrix, self.n_components, run)
        return layout_start(data, self.init, self.n_components, run)

    def _placing(self, perplexity: Any) -> Extension:
        if self.metric == AFFINITY:
            return Impossible("affinities of the training points say nothing of new ones; fit on points or distances")
        return NeighborRow(perplexity, self.student, float(self.dof))

    def _descend(self, P: Affinities, first: Floats, rate: float, run: Run) -> Layout:
        early, fall = self._exaggerated(len(first))
        with run.stage("descent") as progress, np.errstate(over="ignore", invalid="ignore"):  # judged afterwards
            return momentum_descent(
                self._cost(P, run),
                first,
                max_iter=self._most_steps(len(first)),
                learning_rate=self._steps(rate, P) if self.learning_rate == "auto" else rate,
                momentum=self._momentum(len(first)),
                gains=self.gains,
                gains_from=self._schedule(len(first)).gains_from,
                exaggeration=float(self.early_exaggeration),
                exaggeration_iter=early,
                exaggeration_fall=fall,
                min_grad_norm=self.min_grad_norm * (len(first) if self.summed else 1),
                flat=self.min_grad_norm,
                patience=self.n_iter_without_progress,
                callback=self.callback,
                progress=progress,
            )

    def _steps(self, rate: float, P: Affinities) -> Callable[[float], float | Floats]:
        """The learning rate under an exaggeration e: divided by it, less at points that most of P pulls."""
        least, steady = (min(LEAST_RATE, rate), STEADY) if self.student else (0.0, STEADY_GAUSSIAN)
        bound = steady / ((2.0 if self.summed else 4.0) * P.masses()[:, None])
        return lambda e: np.minimum(max(rate / e, least), bound / e)

    def _schedule(self, n: int) -> Schedule:
        return self.few if n <= FEW else self.many

    def _most_steps(self, n: int) -> int:
        """A longer exaggeration than usual does not take its steps from what follows it."""
        return self._schedule(n).max_iter + self._longer(n) if self.max_iter is None else int(self.max_iter)

    def _longer(self, n: int) -> int:
        """Iterations by which the exaggeration is longer than usual."""
        return max(0, (self.early_exaggeration_iter or 0) - self._schedule(n).early)

    def _exaggerated(self, n: int) -> tuple[int, int]:
        """Iterations with all of the exaggeration, and those in which it falls to 1: the last ones are without it."""
        steps, early = self._most_steps(n), self.early_exaggeration_iter
        if early is None:
            usual = self._schedule(n).early
            share = min(1.0, (1.0 - PLAIN) * steps / (usual + FALL))
            return int(share * usual), int(share * FALL)
        if early >= steps and self.early_exaggeration != 1:
            words = (
                f"max_iter = {steps} ends while P is still multiplied by {self.early_exaggeration:g} "
                f"(early_exaggeration_iter = {early}): the layout does not lower KL(P || Q); raise max_iter, or leave "
                "early_exaggeration_iter out, which then takes half of the iterations at most"
            )
            warn(words, errors.AccuracyWarning)
        return early, min(FALL, max(0, steps - early) // 2)

    def _momentum(self, n: int) -> Callable[[int], float]:
        if self.momentum is None:
            usual, longer = self._schedule(n).momentum, self._longer(n)
            return lambda t: usual(t - longer)
        given = self.momentum
        return (lambda t: float(given(t))) if callable(given) else (lambda t: float(given))

    def _operator(self) -> Operator:
        """The symmetric affinities P that the layout was fitted to."""
        data = Data(self._trained.source)
        P = self._affinities(data, self.perplexity_, self._run())
        if isinstance(P, SparseAffinities):
            return SparseOperator(P.matrix)
        require(8.0 * data.n**2, f"a {data.n} x {data.n} matrix of affinities", "fit fewer points")
        parts = block_slices(data.n, 256)
        blocks = [P.columns(part) for part in parts]  # type: ignore[attr-defined]
        columns = [block[:, first : first + part.stop - part.start] for part, (block, first) in zip(parts, blocks)]
        return DenseOperator(np.hstack(columns))


@dataclass(frozen=True, eq=False)
class NeighborRow(Extension):
    """Least KL(P_x || Q_x) over the new row: its probabilities of the training points, all of them held.

    Descends from two places, the mean of its neighbours by their probabilities and its nearest point; the better
    counts. Probabilities that are nearly all equal have their minimum at infinity, where Q is equal too: what leaves
    the layout by far stays at the mean.
    """

    perplexity: float | Floats
    student: bool
    dof: float = 1.0
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        power, root = tails(self.dof) if self.student else (0.0, 1.0)
        Y = trained.coordinates / root
        m = found.n
        out = np.empty((m, Y.shape[1]))
        parts = block_slices(m, int(np.clip(QUERIED // Y.size, 1, 64)))
        near = found.indices[found.indptr[:-1]]
        centre = Y.mean(axis=0)
        reach = FAR * float(np.linalg.norm(Y - centre, axis=1).max())

        def work(b: int) -> None:
            part = parts[b]
            P = self._probabilities(measured_columns(queries, trained.source, part).T)

            def function(rows: Floats, which: Any) -> tuple[Floats, Floats]:
                return row_divergence(P[which], Y, rows, power)

            mean = np.einsum("mn,nd->md", P, Y)
            first, first_cost = descend_rows(function, mean, tol=BEFORE_POLISH)
            second, second_cost = descend_rows(function, Y[near[part]], tol=BEFORE_POLISH)
            better = np.where((second_cost < first_cost)[:, None], second, first)
            polished = polish_rows(function, better)[0]
            inside = np.linalg.norm(polished - centre, axis=1) <= reach
            out[part] = np.where(inside[:, None], polished, mean)

        run_blocks(work, len(parts), n_jobs=run.n_jobs)
        return out * root

    def _probabilities(self, distances: NDArray[np.floating]) -> Floats:
        """p_{j|x} of each row; in a large set only of the 3 perplexity nearest points, as in the fit."""
        squared = np.where(np.isfinite(distances), distances, np.inf) ** 2
        n = squared.shape[1]
        k = neighbor_count(float(np.max(self.perplexity)), n + 1)
        if n > HELD and k < n:
            cut = np.partition(squared, k - 1, axis=1)[:, k - 1 : k]
            squared = np.where(squared <= cut, squared, np.inf)
        return mean_probabilities(squared, self.perplexity)
