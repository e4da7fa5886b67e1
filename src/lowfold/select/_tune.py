"""`tune`: neighbours, scale and dimension of a method, chosen by what its embeddings are worth on subsamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold.graph._reading import is_precomputed, read_samples
from lowfold.methods.registry import entry_of, model_of
from lowfold.metrics._scales import column_names, tell_scales
from lowfold.select._candidates import Grid, read_candidates, usual_neighbors, usual_perplexities, usual_scales
from lowfold.select._dimension_votes import intrinsic, vote
from lowfold.select._trials import MEASURE, Trials
from lowfold.select._types import Curve, Tuned

Candidates = int | float | Sequence[int] | Sequence[float] | None
Usual = Callable[[Any, Trials], Grid | None]


def tune(
    X: Any,
    method: Any,
    *,
    y: Any = None,
    n_neighbors: Candidates = None,
    n_components: Candidates = None,
    scale: Candidates = None,
    perplexity: Candidates = None,
    gamma: Candidates = None,
    n_subsamples: int = 3,
    max_points: int = 800,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Tuned:
    """Choose the parameters of a method by what its embeddings are worth on subsamples.

    First the dimension: estimators of `lowfold.dimension` vote on every subsample. Then `n_neighbors`, then the
    kernel's `scale` (`perplexity`, `gamma`), whichever the method has: for every candidate the method is fitted to
    every subsample, and the mean of trustworthiness and continuity of the 12 nearest is taken, by geodesics of a graph
    of few neighbours without shortcuts, after the linear map of the embedding that fits its edges best; half of it
    where a coordinate repeats the earlier ones (`dependence_`) or holds a few points. Candidates whose graph, of all
    points up to 4,000, is in pieces or has shortcuts, and those that cannot be fitted or measured, are not eligible.
    The method's default is left only for a candidate that is better on every subsample, by more than its spread; where
    it is not eligible itself, for one that is better on average. Where a method can choose its eigenvectors (`select`),
    that comes before the neighbours. Where the neighbours that the chosen model's embedding shows as it is are right
    less often on every subsample than those of the defaults, the defaults stay.

    Parameters
    ----------
    X : points, or a matrix where the model's metric is "precomputed".
    method : a name as of `lowfold.plan`, a class, or a model, whose other parameters are kept.
    y : labels, for methods that need them.
    n_neighbors, n_components, scale, perplexity, gamma : candidates; one number is taken as it is; None: a grid of
        lowfold's. One that the method does not have must be None.
    n_subsamples : subsamples, each of 80% of the points, or of `max_points` if that is less.
    max_points : largest subsample; fewer for methods that grow fast. With more points in the end, a chosen
        `n_neighbors` spans a smaller neighbourhood, which is the safe side.
    random_state : choice of subsamples.
    n_jobs : threads.

    Returns
    -------
    Tuned : model (not fitted), params, curves, reasons

    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    >>> tuned = tune(roll.X, "isomap", n_components=2, n_neighbors=[4, 8, 40], n_subsamples=1)
    >>> tuned.params, tuned["n_neighbors"].refused[40][:16]
    ({'n_components': 2, 'n_neighbors': 8}, 'it has shortcuts')
    """
    values = {"n_subsamples": n_subsamples, "max_points": max_points}
    check_limits("tune", values, {"n_subsamples": (Int(1),), "max_points": (Int(20),)})
    model = model_of(method, {})
    given = {
        "n_components": n_components,
        "n_neighbors": n_neighbors,
        "scale": scale,
        "perplexity": perplexity,
        "gamma": gamma,
    }
    asked = {name: read_candidates(name, value, model) for name, value in given.items()}
    if entry_of(model).inputs == ("matrices",):
        return _without_points(model, asked)
    with single_threaded_blas():
        limit = min(max_points, model.tuned_on or max_points)
        rows, rng = _rows(X, model), generator(random_state)
        if getattr(model, "metric", "euclidean") == "euclidean" and model.by_size:
            tell_scales(rows, column_names(X))
        trials = Trials.draw(rows, y, model, n_subsamples, limit, rng, n_jobs)
        larger = trials if limit == max_points else Trials.draw(rows, y, model, n_subsamples, max_points, rng, n_jobs)
        return _choose(model, asked, trials, larger.coordinates())


def _rows(X: Any, model: Any) -> Any:
    points = read_samples(X, "X must be points or a matrix of distances: subsamples of a graph have no neighbourhoods")
    if is_precomputed(getattr(model, "metric", None)) and points.shape[0] != points.shape[1]:
        raise InvalidInput(f"a precomputed matrix must be square; got shape {points.shape}")
    return points


def _without_points(model: Any, asked: dict[str, Grid | None]) -> Tuned:
    """Methods of several matrices: what is given is set; nothing can be measured on subsamples of points."""
    params = {name: grid.values[0] for name, grid in asked.items() if grid is not None and len(grid.values) == 1}
    why = f"{type(model).__name__} takes several matrices of dissimilarities: nothing is chosen by neighbourhoods"
    return Tuned(_with(model, params), params, (), (why,))


def _with(model: Any, params: dict[str, Any]) -> Any:
    return type(model)(**{**model.get_params(deep=False), **params})


def _choose(model: Any, asked: dict[str, Grid | None], trials: Trials, samples: list[Any]) -> Tuned:
    known = model.parameters
    params: dict[str, Any] = {}
    curves: list[Curve] = []
    reasons = [trials.words()]
    if "n_components" in known:
        value, curve, why = vote(asked["n_components"], model, trials, samples)
        params["n_components"] = value
        reasons.append(why)
        curves += [] if curve is None else [curve]
    linear = entry_of(model).family in ("linear", "kernel")
    trials.settle(intrinsic(samples) if linear or "n_components" not in known else int(params["n_components"]))
    if "select" in known and model.select == "leading" and params.get("n_components", 1) > 1:
        curve = trials.curve(_with(model, params), "select", Grid(("leading", "independent"), "leading"))
        curves.append(curve)
        params |= {} if curve.chosen == model.select else {"select": curve.chosen}
        reasons.append(_because(curve))
    for name, usual in USUAL.items():
        if name not in known or (name == "n_neighbors" and getattr(model, "radius", None) is not None):
            continue
        if name == "gamma" and any(curve.parameter == "scale" for curve in curves):
            continue
        given = asked[name]
        grid = _among(given, name, usual, _with(model, params), trials)
        if grid is None:
            reasons.append(f"{name}: left at {getattr(model, name)!r}, there is nothing to choose from")
            continue
        if len(grid.values) == 1:
            params[name] = grid.values[0]
            reasons.append(f"{name}: {_number(grid.values[0])}, as given")
            continue
        curve = trials.curve(_with(model, params), name, grid)
        curves.append(curve)
        # The rule that made the number of a subsample makes another one of all points.
        ruled = (grid.ruled or name != "n_neighbors") and given is None and curve.chosen == grid.usual
        params |= {} if ruled else {name: curve.chosen}
        reasons.append(_because(curve) + ("; left to the method's own rule" if ruled else ""))
    if len(reasons) == 1:
        reasons.append(f"{type(model).__name__} has nothing to choose")
    kept = {name: value for name, value in params.items() if name == "n_components" or asked.get(name) is not None}
    if curves and kept != params and (shown := trials.worse_shown(_with(model, params), _with(model, kept))):
        params = kept
        new, old = shown
        reasons.append(f"the defaults stay: trustworthiness of the embedding as it is {old:.3f}, chosen {new:.3f}")
    return Tuned(_with(model, params), params, tuple(curves), tuple(reasons))


USUAL: dict[str, Usual] = {
    "n_neighbors": usual_neighbors,
    "scale": usual_scales,
    "perplexity": usual_perplexities,
    "gamma": usual_scales,
}


def _among(given: Grid | None, name: str, usual: Usual, model: Any, trials: Trials) -> Grid | None:
    """The usual candidates, or those given, with the method's own among them known as such where it is a plain number:
    it is left by a margin only. A scale of its own rule is none of the numbers given.
    """
    if given is None:
        return usual(model, trials)
    own = usual(model, trials) if name in ("n_neighbors", "perplexity") and len(given.values) > 1 else None
    return given if own is None or own.usual not in given.values else Grid(given.values, own.usual)


def _because(curve: Curve) -> str:
    place = curve.values.index(curve.chosen)
    score, spread = curve.scores[place], curve.spread[place]
    words = f"{curve.parameter}: {_number(curve.chosen)}, {MEASURE} {score:.4f} +- {spread:.4f}"
    if np.isnan(score):
        return f"{curve.parameter}: {_number(curve.chosen)}, for no candidate could be measured"
    if curve.refused:
        words += f"; not eligible: {', '.join(_number(value) for value in curve.refused)}"
    eligible = [v for v in curve.values if v not in curve.refused]
    if len(eligible) > 1 and not isinstance(curve.chosen, str) and curve.chosen in (curve.values[0], curve.values[-1]):
        words += "; at the end of the grid, a better value may lie beyond"
    return words


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
