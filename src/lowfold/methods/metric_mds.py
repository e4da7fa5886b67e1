"""Metric MDS by stress, Kruskal (1964), doi:10.1007/BF02289565; SMACOF, de Leeuw (1977), Borg & Groenen (2005).

delta --start--> Y(0) --majorise | descend--> argmin sum_{i<j} w_ij (delta_ij - d_ij(Y))^2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, Null, Real, RealArray
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._descend import COLUMNS, PARTS
from lowfold.methods._base import Check, Method
from lowfold.methods._descent import (
    Shepard,
    held_bytes,
    random_start,
    shepard_pairs,
    start,
    stress_terms,
    weight_operator,
)
from lowfold.methods._dissimilarities import HasDissimilarities
from lowfold.methods._fit import Data, Fit, Trained
from lowfold.methods._given_start import GivenStart
from lowfold.methods._landmarks import NO_LANDMARKS, Landmarked, chooser, landmark_stages, through_landmarks
from lowfold.methods._losses import Loss, Lowered
from lowfold.methods._parameters import Distances
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.stress import StressRow
from lowfold.methods._stages import FLOAT, Stage, Stages, read_stage
from lowfold.optimize._descend import descend
from lowfold.optimize._loss_formulas import LossValue
from lowfold.optimize._momentum import Callback
from lowfold.optimize._smacof import Minimum, majorise
from lowfold.optimize._stress import FACTORED, EdgeTerms, PairTerms


def _algorithm_fits(method: Any, data: Data) -> None:
    if method.algorithm == "smacof" and method.p != 2:
        raise InvalidInput(f"algorithm='smacof' needs p=2; got p={method.p:g}; use algorithm='gradient' or 'auto'")


def _landmarks_fit(method: Any, data: Data) -> None:
    given = [name for name in ("weights", "init") if np.ndim(getattr(method, name)) == 2]
    if method.landmarks is not None and given and data.n == len(getattr(method, given[0])):
        raise InvalidInput(f"{given[0]} is given for all points, and landmarks are some of them; leave one of both out")


PLACING = 6000.0  # bytes for a point placed among landmarks: its distances to them, in blocks of both starts


def _stages(method: Any, data: Data) -> list[Stage]:
    """The distances held, or made anew in each pass."""
    need, held = held_bytes(data)
    words = "held" if held else "made anew in each pass"
    factor = 2 * FLOAT * float(data.n) ** 2 if method.weights is not None and data.n <= FACTORED else 0.0
    size = factor + 0.25 * need + 8 * FLOAT * data.n * 8
    twin = method.weights is None and held and method.n_components <= COLUMNS
    steps = Stage(
        method._algorithm(), f"up to {method.max_iter} steps", size, there=FLOAT * 6 * PARTS * data.n if twin else None
    )
    distances = Stage("distances", f"{data.n} x {data.n}, {words}", need, need, need if twin else None)
    return [read_stage(data), distances, steps]


def _stress_loss(model: Any, data: Data, scaled: bool) -> Loss:
    p = float(model.p)
    terms = stress_terms(data, model.weights, model._run())

    def loss(Y: Floats) -> LossValue:
        Y = np.ascontiguousarray(Y)
        error, size = point_stress(terms, Y, p)
        total = point_stress(terms, np.zeros_like(Y), p)[0]
        if total.sum() == 0:
            raise InvalidInput("all dissimilarities are 0; stress has no unit")
        cross = (total + size - error) / 2
        s = float(cross.sum() / size.sum()) if scaled and size.sum() > 0 else 1.0
        left = np.maximum(total - 2 * s * cross + s * s * size, 0.0) if scaled else error
        points = np.sqrt(left / np.where(total > 0, total, 1.0))
        return LossValue(float(np.sqrt(left.sum() / total.sum())), points)

    return loss


class MetricMDS(HasDissimilarities, Distances, Landmarked, GivenStart):
    """Place points so that their distances come close to the given dissimilarities, in the sense of stress.

    Minimises sigma(Y) = sum_{i<j} w_ij (delta_ij - ||y_i - y_j||)^2. Other than the strain of `ClassicalMDS` it allows
    weights, missing pairs and other distances of the output, and has no closed form: it is lowered step by step, by
    majorisation (each step minimises a quadratic above it) or by gradient descent, to a local minimum.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred
    stress_ : float, sigma(Y), every pair counted once
    normalized_stress_ : float, sqrt(sigma(Y) / sum_{i<j} w_ij d_ij^2), Kruskal's stress-1: 0.025 excellent, 0.1 fair
    point_stress_ : array (n,), sum_j w_ij (delta_ij - d_ij)^2; they add up to 2 stress_
    stress_history_ : array, sigma before each step of the best descent; it never rises
    n_iter_ : int, its steps
    converged_ : bool, whether it ended by `tol`
    algorithm_ : str, what was used
    landmarks_ : array of indices, or None; stress and its history are theirs
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> D = np.array([[0.0, 3.0, np.nan, 4.0], [3.0, 0.0, 4.0, 5.0], [np.nan, 4.0, 0.0, 3.0], [4.0, 5.0, 3.0, 0.0]])
    >>> model = lowfold.MetricMDS(2, metric="precomputed", tol=1e-12).fit(D)
    >>> round(model.normalized_stress_, 4), round(float(np.linalg.norm(model.embedding_[0] - model.embedding_[2])), 2)
    (0.0, 5.0)
    """

    stages: ClassVar[Stages] = landmark_stages(_stages, PLACING)
    loss: ClassVar[Lowered] = Lowered(
        _stress_loss, "stress, sqrt(sum w (delta - d)^2 / sum w delta^2)", "local", fitted=False
    )
    tuned_on: ClassVar[int | None] = 400

    weights: Any = param(
        None,
        Null("all 1"),
        Choice(("sammon",)),
        RealArray("a matrix of finite numbers, a row per point"),
        "Weights of the pairs: all 1; 1 / delta_ij (Sammon's mapping: small dissimilarities count "
        "more; pairs at 0 weigh as the nearest pair above 0); or a symmetric matrix, 0 for a pair to "
        "leave out. Unmeasured pairs are always left out.",
    )
    p: float = param(
        2.0,
        Real(1),
        "Distances of the output are (sum_k |y_ik - y_jk|^p)^(1/p): 2 Euclidean, 1 city block, whose "
        "stress has kinks at which a descent can end early: use several starts.",
    )
    algorithm: str = param(
        "auto",
        Choice(("auto", "smacof", "gradient")),
        'Majorisation (p = 2 only), or steepest descent with a line search. "auto" majorises where it can.',
    )
    init: Any = param(
        "classical",
        Choice(("classical", "random")),
        RealArray("an array with a row per point"),
        "Where to start: classical MDS (of all up to 5,000 points and where that is PCA, else of 500, the others "
        "triangulated; missing pairs bridged by shortest paths from 200), a random layout, or a given one.",
    )
    random_state: Any = param(0, "Random starts, and choice of landmarks.")
    n_init: int = param(1, Int(1), "Starts; those after the first are random. The least stress counts.")
    max_iter: int = param(300, Int(1), "Steps of one descent.")
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        'A descent ends when a step (of "gradient": ten steps) lowers stress by less than this share '
        'of the sum of squared distances. "smacof" looks for two such steps running.',
    )
    callback: Callback | None = param(
        None,
        Function("f(iteration, cost, layout)"),
        Null("none"),
        "Called after every step as callback(iteration, stress, layout); returning True ends the descent.",
    )

    checks: ClassVar[tuple[Check, ...]] = (*Method.checks, _algorithm_fits, _landmarks_fit)

    def _embed(self, data: Data, run: Run) -> Fit:
        choose = chooser(self)
        if choose is None:
            return self._solved(data, run)
        return through_landmarks(data, choose, self._solved, self._check, run)

    def _solved(self, data: Data, run: Run) -> Fit:
        sums_alone = self.weights is None and self._algorithm() == "smacof" and self.n_components <= COLUMNS
        terms = stress_terms(data, self.weights, run, there=sums_alone)
        first = start(terms, data, self.init, self.n_components, None, run)
        best = self._minimise(terms, first, run)
        for _ in range(1, self.n_init):
            other = self._minimise(terms, random_start(terms, self.n_components, run), run)
            best = other if other.value < best.value else best
        return Fit(
            coordinates=best.Y - best.Y.mean(axis=0),
            pairs=None,
            graph=data.graph,
            extend=self._extension(terms),
            invert=Barycentric(),
            extra={**NO_LANDMARKS, **self._report(terms, best)},
        )

    def _algorithm(self) -> str:
        return ("smacof" if self.p == 2 else "gradient") if self.algorithm == "auto" else self.algorithm

    def _minimise(self, terms: PairTerms | EdgeTerms, Y: Floats, run: Run) -> Minimum:
        with run.stage("stress") as progress:
            if self._algorithm() == "smacof":
                return majorise(terms, Y, progress=progress, **self._limits())
            function = _stress_function(terms, float(self.p))
            return descend(function, Y, size=terms.total, progress=progress, **self._limits())

    def _limits(self) -> dict[str, Any]:
        return {"max_iter": self.max_iter, "tol": self.tol, "callback": self.callback}

    def _report(self, terms: PairTerms | EdgeTerms, best: Minimum) -> dict[str, Any]:
        found = best.sums or terms.slopes(best.Y, float(self.p))
        stress, squares = found.stress, found.eta
        raw, total = float(stress.sum()) / 2, float(squares.sum()) / 2
        return {
            "stress_": raw,
            "normalized_stress_": float(np.sqrt(raw / total)) if total > 0 else 0.0,
            "point_stress_": stress,
            "stress_history_": best.history,
            "n_iter_": best.n_iter,
            "converged_": best.converged,
            "algorithm_": self._algorithm(),
        }

    def _extension(self, terms: PairTerms | EdgeTerms) -> StressRow:
        if not isinstance(self.weights, str):
            return StressRow(p=float(self.p))
        small = terms.small if isinstance(terms, PairTerms) else float(1.0 / terms.weight.max())
        return StressRow("sammon", small, float(self.p))

    def shepard(self, max_pairs: int = 10_000) -> Shepard:
        """Dissimilarities against distances in the embedding, of at most about `max_pairs` training pairs."""
        terms = self._terms()
        delta, d = shepard_pairs(terms, self._solved_for.coordinates, float(self.p), max_pairs)
        return Shepard(delta, d, delta)

    @property
    def _solved_for(self) -> Trained:
        """The points whose stress was lowered: all, or the landmarks."""
        trained: Trained = self._trained if self.landmarks_ is None else self._extend.trained
        return trained

    def _terms(self) -> PairTerms | EdgeTerms:
        known = self._solved_for
        return stress_terms(Data(known.source, graph=known.graph), self.weights, self._run())

    def _operator(self) -> DenseOperator:
        """The matrix B(Y) of the last majorisation step: at the minimum V^+ B(Y) Y = Y, with V the weights' Laplacian.

        With all weights 1 the columns of Y are eigenvectors of B(Y) for the eigenvalue n.
        """
        if self.p != 2:
            raise InvalidInput(
                f"only Euclidean distances (p=2) are majorised by an operator; this model has p={self.p:g}"
            )
        n = len(self._solved_for.coordinates)
        require(5 * 8.0 * n * n, f"a {n} x {n} matrix", "fit fewer points")
        return DenseOperator(weight_operator(self._terms(), self._solved_for.coordinates), psd=True)


def point_stress(terms: PairTerms | EdgeTerms, Y: Floats, p: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per point: sum_j w (delta - d)^2 and sum_j w d^2."""
    if p == 2:
        sums = terms.sums(Y)
        return sums.stress, sums.eta
    slopes = terms.slopes(Y, p)
    return slopes.stress, slopes.eta


def _stress_function(terms: PairTerms | EdgeTerms, p: float) -> Callable[[Floats], tuple[float, Floats]]:
    def function(Y: Floats) -> tuple[float, Floats]:
        slopes = terms.slopes(Y, p)
        return slopes.raw, slopes.gradient

    return function
