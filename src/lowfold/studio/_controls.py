"""From a method's class to the controls of its parameters."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Sequence
from typing import Any

from lowfold._core.limits import Choice, Flag, Int, Limit, Null, Real, Seed
from lowfold.studio._protocol import Control

# What a first look does not need; the page folds it away.
MORE = frozenset({
    "radius", "search", "symmetrize", "on_disconnected", "normalization", "solver", "tol", "random_state",
})  # fmt: skip
LEFT_OUT = frozenset({"verbose", "callback", "n_jobs"})  # how a run is watched and how many threads it has
TUNED = frozenset({"n_neighbors", "n_components", "scale", "perplexity", "gamma"})


def controls(cls: Any) -> list[Control]:
    """The parameters that a page can set, the usual ones first, each with its limits and its sentence."""
    texts = _texts(cls)
    found = [
        _control(name, p.default, cls.limits[name], texts.get(name, ""))
        for name, p in inspect.signature(cls).parameters.items()
        if name not in LEFT_OUT and name in cls.limits
    ]
    return sorted((control for control in found if control is not None), key=lambda control: control.more)


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


def _texts(cls: Any) -> dict[str, str]:
    """Parameter -> its text: as declared, or from the section Parameters of the docstring."""
    declared = getattr(cls, "parameters", None)
    if declared is not None:
        return {name: one.text for name, one in declared.items()}
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", cls.__doc__ or "", re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", section[1].strip("\n")) if section else []:
        head, _, body = block.partition("\n")
        found |= {name.strip(): " ".join(body.split()) for name in head.partition(" : ")[0].split(",")}
    return found
