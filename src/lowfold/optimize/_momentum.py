"""Gradient descent with momentum: Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)), Y(-1) = Y(0)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lowfold._core.parallel import Progress
from lowfold._core.types import Floats
from lowfold._core.watch import lowered

Callback = Callable[[int, float, Floats], object]

LOOK = 50  # iterations between two looks at the cost
SWITCH = 250  # iterations with the smaller momentum of the default schedule, and of early exaggeration
# Iterations in which the exaggeration falls to 1. Taken away at once, a sheet of several dimensions tears where it has
# to unfold: of sheets of 8 dimensions with 400 to 1,500 points the divergence ends 3% to 6% lower by the fall.
FALL = 100
BEGUN = 0.99  # of the first cost: above, a descent has not left the place where it started
GAIN = 0.01  # smallest gain: a coordinate whose gradient swings to and fro comes to rest, but can move again
FASTER, SLOWER = 0.2, 0.8  # added to a gain, or multiplied with it, Jacobs (1988)


@dataclass(frozen=True)
class Schedule:
    """Momentum before and from iteration `switch` on; iterations at most, and after how many gains begin.

    `early` iterations have all of an early exaggeration.
    """

    slow: float
    fast: float
    max_iter: int
    gains_from: int = 0
    switch: int = SWITCH
    pace: float = 1.0  # times the learning rate of few points
    early: int = SWITCH

    def momentum(self, t: int) -> float:
        """alpha(t)."""
        return self.slow if t < self.switch else self.fast


OF_THE_TEXT = Schedule(0.5, 0.8, 1000)  # van der Maaten & Hinton (2008)


class Cost(Protocol):
    """A neighbour embedding's cost: gradients with the attraction multiplied by `exaggeration`, and its value."""

    def gradient(self, Y: Floats, exaggeration: float) -> Floats: ...

    def value(self, Y: Floats) -> float: ...


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a descent ended; `history` has (iteration, cost) at every look."""

    Y: Floats
    cost: float
    n_iter: int
    history: Floats
    reason: str


def exaggeration_at(t: int, exaggeration: float, early: int, fall: int = FALL) -> float:
    """The whole of it for the early iterations, then falling to 1 by the same factor in each."""
    return float(exaggeration ** np.clip(1.0 - (t - early) / max(fall, 1), 0.0, 1.0)) if early else 1.0


def momentum_descent(
    cost: Cost,
    Y: Floats,
    *,
    max_iter: int,
    learning_rate: float | Callable[[float], float | Floats],
    momentum: Callable[[int], float] = OF_THE_TEXT.momentum,
    gains: bool = True,
    gains_from: int = 0,
    exaggeration: float = 1.0,
    exaggeration_iter: int = SWITCH,
    exaggeration_fall: int = FALL,
    min_grad_norm: float = 1e-7,
    flat: float = 0.0,
    patience: int = 300,
    callback: Callback | None = None,
    progress: Progress | None = None,
) -> Layout:
    """Descend from Y. The layout is centred after every step. `learning_rate` may depend on the exaggeration in force,
    which falls to 1 within `exaggeration_fall` iterations after the early ones, and be one for each point (n, 1).

    With `gains`, after iteration `gains_from`, each coordinate's step grows by 0.2 while its gradient keeps pointing
    against the last step's sign and shrinks by 0.8 otherwise (delta-bar-delta, Jacobs 1988,
    doi:10.1016/0893-6080(88)90003-2). Every 50 iterations the cost is looked at: `callback(iteration, cost, Y)` is
    called and ends the descent by returning True; it also ends when the gradient's norm is below `min_grad_norm`,
    after `patience` iterations without a lower cost, or when the last 50 lowered it by less than its share `flat`. None
    is asked during exaggeration. In a layout smaller than 1 the norm is taken relative to it: exaggeration can draw all
    points together, where every gradient is small and the descent has only begun.
    """
    Y = np.array(Y, dtype=np.float64)
    step, gain = np.zeros_like(Y), np.ones_like(Y)
    history: list[tuple[int, float]] = [(0, cost.value(Y))]
    best, best_at = np.inf, 0
    reason, t = "max_iter", 0
    for t in range(1, max_iter + 1):
        now = exaggeration_at(t, exaggeration, exaggeration_iter, exaggeration_fall)
        rate = learning_rate(now) if callable(learning_rate) else learning_rate
        slope = cost.gradient(Y, now)
        if gains and t > gains_from:
            gain = np.maximum(np.where(step * slope < 0, gain + FASTER, gain * SLOWER), GAIN)
        step = momentum(t) * step - rate * gain * slope
        Y = Y + step
        Y -= Y.mean(axis=0)
        if progress is not None:
            progress(t / max_iter)
        if t % LOOK and t != max_iter:
            continue
        history.append((t, cost.value(Y)))
        lowered(history[-1][1])
        if callback is not None and callback(t, history[-1][1], Y.copy()) is True:
            reason = "callback"
            break
        if now != 1.0:
            continue
        if history[-1][1] < best:
            best, best_at = history[-1][1], t
        if t - best_at >= patience or _flat(history, flat):
            reason = "no progress"
            break
        if float(np.linalg.norm(slope)) <= min_grad_norm * min(1.0, float(np.linalg.norm(Y))):
            reason = "gradient"
            break
    return Layout(Y, history[-1][1], t, np.array(history), reason)


def _flat(history: list[tuple[int, float]], share: float) -> bool:
    """Whether the cost, after it has fallen, has come to rest. Not before: a descent leaves a tiny layout slowly."""
    first, last, now = (history[place][1] for place in (0, -2, -1))
    return abs(last - now) < share * now and now < BEGUN * first
