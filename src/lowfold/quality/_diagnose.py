"""`diagnose`: what the data look like before any method is run, and which methods that speaks for or against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lowfold._core.limits import Int, Null, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold.metrics._metric import Metric
from lowfold.quality import _questions as ask
from lowfold.quality._findings import Diagnosis, Finding
from lowfold.quality._neighborhood_view import FEWEST, NeighborhoodView, look

QUESTIONS = (
    "linear",
    "shortcuts",
    "isometric",
    "conformal",
    "convex",
    "closed",
    "with holes",
    "noisy",
    "enough samples",
    "even",
    "compact",
)


def diagnose(
    X: Any,
    *,
    n_neighbors: int | None = None,
    n_components: int | None = None,
    metric: str | Callable[..., Any] | Metric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_points: int = 4000,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Diagnosis:
    """What do the data look like, and which methods does that speak for or against?

    Thirteen questions, each answered by "yes", "no" or "cannot tell" with the figures it rests on:

    same scale      standard deviations of the columns, where they have names or are few: no column decides alone
    one piece       components of the neighbourhood graph, and the k that would join them
    linear          variance off the best plane of dimension d, noise aside, of the whole and of small patches
    shortcuts       edges, all of them, whose ends are more than 3.5 times farther apart along a graph of 10 neighbours
                    without edges that leave the tangent planes
    isometric       linear, or Gaussian curvature by quadratic fits (Gauss's equation), times the squared mean geodesic
    conformal       residual variance of Isomap with geodesics in units of the local spacing
    convex          geodesics against straight lines in a chart that keeps lengths
    closed          points whose neighbours lie on one side, in the tangent plane
    with holes      loops of geodesics that stay open: persistent cohomology on 120 landmarks
    noisy           variance off the tangent planes that stays in ever smaller patches
    enough samples  radians by which the data turn within a neighbourhood, and how far it reaches; `isomap_guarantee`
    even            spread of the local density
    compact         length over width, unfolded by geodesics: eigenmaps repeat the long side beyond two to one

    Where no dimension stands out, each is asked for the least and the most that it may be, and answered where both
    agree. A method is cleared (`Diagnosis.cleared`) when something speaks for it, nothing against it, and most
    questions that could have spoken against it were answered.

    Where the graph is in pieces, all questions but the first two are about the largest.

    Parameters
    ----------
    X : points, or a matrix of distances (metric="precomputed"), from which only some questions can be answered.
    n_neighbors : int or None, of the graph to be used; None is min(10, n - 1).
    n_components : int or None, the dimension d; None: estimated by the number of tangent directions.
    metric, metric_params : as in the methods.
    max_points : beyond this many points a random sample is looked at, which the result says.
    random_state : choice of the sample, of patches and of landmarks.
    n_jobs : threads.

    >>> import lowfold
    >>> found = diagnose(lowfold.datasets.swiss_roll(1000, random_state=0).X)
    >>> found["linear"].verdict, found["isometric"].verdict, found["closed"].verdict
    ('no', 'yes', 'no')
    """
    values = {"n_neighbors": n_neighbors, "n_components": n_components, "max_points": max_points}
    limits = {"n_neighbors": (Int(1), Null()), "n_components": (Int(1), Null()), "max_points": (Int(3),)}
    check_limits("diagnose", values, limits)
    run = Run(n_jobs=n_jobs)
    with single_threaded_blas():
        view, pieces, given, used = look(
            X, n_neighbors, n_components, metric, metric_params, max_points, generator(random_state), run
        )
        k = min(n_neighbors or 10, sum(pieces.sizes) - 1)
        first = ask.one_piece(pieces, k, sum(pieces.sizes))
        findings = (ask.same_scale(X, metric), first, *_answers(view))
    return Diagnosis(findings, given, used, k, view.d, n_components is not None, view.dimensions)


def _answers(view: NeighborhoodView) -> tuple[Finding, ...]:
    """The answers for the dimension, or where none stands out those on which the least and the most agree."""
    if view.n < FEWEST:
        return tuple(map(ask.few(view.n), QUESTIONS))
    first, last = view.dimensions
    if first == last:
        return _answers_at(view)
    both = zip(_answers_at(view.at(first)), _answers_at(view.at(last)))
    return tuple(ask.agreed(low, high, (first, last)) for low, high in both)


def _answers_at(view: NeighborhoodView) -> tuple[Finding, ...]:
    straight, spread = ask.linear(view), ask.even(view)
    crossed = ask.shortcuts(view, straight)
    flat, shut = ask.isometric(view, straight), ask.closed(view)
    holed = ask.with_holes(view, crossed, spread)
    return (
        straight,
        crossed,
        flat,
        ask.conformal(view, flat, shut),
        ask.convex(view, straight, flat, shut, holed),
        shut,
        holed,
        ask.noisy(view),
        ask.enough_neighbors(view, ask.enough_samples(view, straight)),
        spread,
        ask.compact(view),
    )
