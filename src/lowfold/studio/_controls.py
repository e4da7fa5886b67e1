"""From a method's class to the controls of its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lowfold._core.limits import Choice, Flag, Int, Limit, Null, Real, Seed
from lowfold._core.params import Param
from lowfold.studio._protocol import Control

# What a first look does not need; the page folds it away.
MORE = frozenset({
    "radius", "search", "symmetrize", "on_disconnected", "normalization", "solver", "tol", "random_state", "paths",
    "landmark_rule", "max_iter", "min_grad_norm", "n_iter_without_progress", "self_loops",
})  # fmt: skip
LEFT_OUT = frozenset({"verbose", "callback", "n_jobs"})  # how a run is watched and how many threads it has
TUNED = frozenset({"n_neighbors", "n_components", "scale", "perplexity", "gamma"})


def controls(cls: Any) -> list[Control]:
    """The parameters that a page can set, each with its limits and its sentence; the usual ones first."""
    declared: Mapping[str, Param] = cls.parameters
    found = [
        _control(name, one.default, one.limits, one.text) for name, one in declared.items() if name not in LEFT_OUT
    ]
    return sorted((one for one in found if one is not None), key=lambda one: (one.more, not one.tuned))


def _control(name: str, default: Any, limits: Sequence[Limit], sentence: str) -> Control | None:
    """None where only Python can give a value: arrays, functions, tables."""
    by_kind = {type(limit): limit for limit in limits}
    number = by_kind.get(Int) or by_kind.get(Real) or (Int(0) if Seed in by_kind else None)
    choice = by_kind.get(Choice)
    options = list(choice.options) if isinstance(choice, Choice) else []
    null = by_kind.get(Null)
    low = high = None
    if isinstance(number, (Int, Real)):
        kind = "int" if isinstance(number, Int) else "real"
        low = None if math.isinf(number.low) else float(number.low)
        high = None if math.isinf(number.high) else float(number.high)
        kind = "text" if options else kind  # a number or one of some words
    elif options:
        kind = "choice"
    elif Flag in by_kind:
        kind = "flag"
    else:
        return None
    if not (default is None or isinstance(default, (bool, int, float, str))):
        return None
    none = (null.meaning or "none") if isinstance(null, Null) else None
    return Control(
        name=name,
        kind=kind,  # type: ignore[arg-type] # one of the literals, by construction
        default=default,
        options=options,
        low=low,
        high=high,
        open_low=isinstance(number, Real) and number.open_low,
        none=none,
        sentence=sentence,
        allowed=" or ".join(limit.words() for limit in limits),
        more=name in MORE,
        tuned=name in TUNED,
    )
