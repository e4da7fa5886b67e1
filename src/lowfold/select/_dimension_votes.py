"""The dimension by vote: several estimators on several subsamples, each rounded to a whole number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowfold import dimension
from lowfold._core.errors import LowfoldError
from lowfold.dimension._estimate import Estimate
from lowfold.methods.registry import entry_of
from lowfold.select._candidates import Grid
from lowfold.select._trials import Trials
from lowfold.select._types import Curve

Estimator = Callable[..., Estimate]

# At different scales: noise fills the smallest, curvature shows at the largest, and neither should win everywhere.
INTRINSIC: dict[str, Estimator] = {
    "local_pca": dimension.local_pca,
    "mle": dimension.maximum_likelihood,
    "two_nn": dimension.two_nearest,
    "correlation": dimension.correlation,
    "multiscale_svd": dimension.multiscale_svd,
}
PICTURE = 2


def intrinsic(samples: list[Any]) -> int:
    """The dimension by vote where a method has no such parameter; 2 where no estimator can tell."""
    ballots = [_estimate(name, X, False) for X in samples for name in INTRINSIC]
    told = [ballot for ballot in ballots if ballot >= 1]
    return int(np.bincount(np.array(told, dtype=np.int64)).argmax()) if told else PICTURE


def vote(given: Grid | None, model: Any, trials: Trials, samples: list[Any]) -> tuple[int, Curve | None, str]:
    """The number of components, the votes, and why."""
    entry = entry_of(model)
    if given is not None and len(given.values) == 1:
        return given.values[0], None, f"n_components: {given.values[0]}, as given"
    if entry.family == "neighbour embedding" and given is None:
        return PICTURE, None, f"n_components: {PICTURE}; {entry.name} makes pictures"
    if model.own_dimension and given is None:
        return model.n_components, None, f"n_components: left as it is; {model.own_dimension}"
    linear = entry.family in ("linear", "kernel")
    names = ("energy", "gap") if linear else tuple(INTRINSIC)
    ballots = np.array([[_estimate(name, X, linear) for name in names] for X in samples])
    if ballots.size == 0 or np.isnan(ballots).all():
        value = model.n_components if given is None else given.values[0]
        return int(value), None, f"n_components: {value}, for no estimator can tell"
    most = min(trials.n - 1, trials.columns)
    ballots = np.clip(ballots, 1, max(1, most))
    lowest, highest = int(np.nanmin(ballots)), int(np.nanmax(ballots))
    values = given.values if given is not None else tuple(range(max(1, lowest - 1), highest + 2))
    shares = np.array([[np.nanmean(ballot == value) for value in values] for ballot in ballots])
    scores = shares.mean(axis=0)
    if scores.any():
        chosen = values[int(np.argmax(scores))]
    else:
        chosen = min(values, key=lambda value: abs(value - float(np.nanmedian(ballots))))
    measure = f"share of the votes of {', '.join(names)}"
    curve = Curve("n_components", values, scores, shares.std(axis=0), int(chosen), measure, {})
    share = scores[values.index(chosen)]
    told = ", ".join(f"{name} {_median(column)}" for name, column in zip(names, ballots.T))
    return int(chosen), curve, f"n_components: {chosen}, {share:.0%} of the votes ({told})"


def _estimate(name: str, X: Any, linear: bool) -> float:
    try:
        if linear:
            found = dimension.linear(X, rule=name, n_resamples=0)
        else:
            found = INTRINSIC[name](X, n_resamples=0, n_jobs=1)
    except LowfoldError:
        return float("nan")
    return float("nan") if np.isnan(found.value) else float(round(found.value))


def _median(column: Any) -> str:
    return "cannot tell" if np.isnan(column).all() else f"{np.nanmedian(column):g}"
