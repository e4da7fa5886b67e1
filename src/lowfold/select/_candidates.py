"""Candidates: what the user gave, or a grid that fits the method and the number of points."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import check_limits
from lowfold.methods.registry import entry_of

if TYPE_CHECKING:
    from lowfold.select._trials import Trials

SPREAD = 4.0 ** np.arange(-2, 3)  # factors of the usual scale that are tried


@dataclass(frozen=True)
class Grid:
    """Candidates of one parameter, ascending, and what the method takes by its own rule, where that is known."""

    values: tuple[Any, ...]
    usual: Any = None
    ruled: bool = False  # whether the method's own rule is more than that number, which stands for it in the grid


def read_candidates(name: str, value: Any, model: Any) -> Grid | None:
    """One number or several, each checked against the method's limits; None where none were given."""
    if value is None:
        return None
    if name not in model.parameters:
        has = ", ".join(p for p in ("n_components", "n_neighbors", "scale", "perplexity", "gamma") if hasattr(model, p))
        raise InvalidInput(
            f"{type(model).__name__} has no parameter {name!r}; what can be chosen is {has or 'nothing'}"
        )
    if isinstance(value, (numbers.Number, str)):
        values: Sequence[Any] = (value,)
    else:
        values = np.asarray(value).ravel().tolist()
        if len(values) == 0:
            raise InvalidInput(f"{name} must have at least one candidate; got none")
    for one in values:
        check_limits(type(model).__name__, {name: one}, model.limits)
    return Grid(tuple(dict.fromkeys(sorted(values))))


def usual_neighbors(model: Any, trials: Trials) -> Grid | None:
    """About nine numbers from the fewest that the method takes, or 4, to 50 or a third of the points.

    Fewer, and up to 8, for semidefinite methods: every edge is a constraint there.
    """
    fewest = max(model._needs().least, trials.d + 1)
    low, high = max(4, fewest), min(50, (trials.n - 1) // 3)
    count = 10
    if entry_of(model).family == "semidefinite":
        high, count = min(high, max(8, low + 2)), 3
    if high <= low:
        return Grid((min(low, trials.n - 1),))
    usual = model._asked().k(trials.n_given, model._needs().least)
    grid = {int(k) for k in np.geomspace(low, high, count).round()}
    if isinstance(usual, int) and usual < trials.n:
        grid.add(usual)
    by_reach = model.n_neighbors is None and model._needs().widen is not None  # k is where its reach begins
    return Grid(tuple(sorted(grid)), usual if usual in grid else None, ruled=by_reach)


def usual_scales(model: Any, trials: Trials) -> Grid | None:
    """The scale (or gamma) of the method's own rule times 1/16, 1/4, 1, 4, 16."""
    name = "scale" if hasattr(model, "scale") else "gamma"
    found = trials.fitted_value(model, f"{name}_")
    return None if found is None else Grid(tuple(values := [float(f"{found * f:.4g}") for f in SPREAD]), values[2])


def usual_perplexities(model: Any, trials: Trials) -> Grid | None:
    """5, 10, 20, 30, 50, 100, as far as a third of the points."""
    values = tuple(float(p) for p in (5, 10, 20, 30, 50, 100) if p <= (trials.n - 1) / 3)
    return Grid(values, model.perplexity if model.perplexity in values else None) if values else None
