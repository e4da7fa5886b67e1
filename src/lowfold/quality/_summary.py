"""All measures of one embedding at once, sharing the distances, the ranks and the neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null, check_limits
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold._cuda import arrived
from lowfold.graph._foreign import known_graph
from lowfold.graph._reading import MetricLike
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors
from lowfold.quality._local import angle_score, edge_score, isometry_score, read_neighbors
from lowfold.quality._pairs import PairSums, nonmetric_score, sampled_pairs, spearman_score
from lowfold.quality._ranks import Comparison, NeighborhoodCurve, compare_all, resolve_k
from lowfold.quality._riemann import distortion_score, orientation_score
from lowfold.quality._sampled import rows_near, standard_errors
from lowfold.quality._score import Score
from lowfold.quality._spaces import PointSpace, Space, read_both
from lowfold.quality._truth import affine_r2, class_separation, misclassification, procrustes

SORTED = 3000  # points whose pairs are sorted whole, for Spearman's correlation and nonmetric stress


@dataclass(frozen=True, eq=False)
class Summary(Mapping[str, Score]):
    """Measures by name; a mapping.

    scores    name -> `Score`
    missing   name -> why the measure is not there
    curve     shared neighbours for every size of neighbourhood
    rows      the points that were looked at; `points` of the measures taken over pairs are NaN elsewhere
    n, n_neighbors  number of points, neighbours of the rank measures
    errors    name -> standard error of the measure, where only some points were looked at and it can be told

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = summary(X, X @ [[0.0, 2.0], [-2.0, 0.0]])
    >>> round(float(found["trustworthiness"]), 9), round(found.scores["angles"].value, 5), round(found.curve.area, 9)
    (1.0, 0.0, 1.0)
    """

    scores: Mapping[str, Score]
    missing: Mapping[str, str]
    curve: NeighborhoodCurve
    rows: Ints
    n: int
    n_neighbors: int
    errors: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, float]:
        """The values alone: name -> number."""
        return {name: score.value for name, score in self.scores.items()}

    def __repr__(self) -> str:
        lines = [f"{name:24s} {score.value:10.4g}   perfect {score.perfect:.4g}" for name, score in self.items()]
        return "\n".join(lines + [f"{name:24s} not there: {why}" for name, why in self.missing.items()])


def summary(
    X: Any,
    Y: ArrayLike,
    *,
    n_neighbors: int | None = None,
    truth: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    scaled: bool = True,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_points: int | None = None,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Summary:
    """Every measure that applies to X and Y.

    One pass over all distances, in blocks of rows, gives the measures of ranks and of pairs; it takes O(n^2) time and
    O(n k) memory. Spearman's correlation and nonmetric stress sort pairs, which are those of at most 3,000 points.

    Parameters
    ----------
    X : points, a matrix of distances (metric="precomputed"), or a `Graph`, whose shortest paths are taken (geodesic).
    Y : array (n, d), the embedding.
    n_neighbors : int or None, of the rank and of the local measures; None is min(10, (n - 1) // 2).
    truth : array (n, p) or None, true coordinates: adds procrustes and affine_r2.
    labels : array (n,) or None, classes: adds class_separation and misclassification.
    scaled : bool, measures of lengths take out a common factor first; False where the embedding should have the
        data's unit.
    metric, metric_params : distance among the rows of X.
    max_points : int or None, from how many points, drawn at random, the others are ranked and measured: time falls in
        proportion, and the values are estimates, of which `errors` tells the standard error. None is all.
    random_state : for what is drawn.
    n_jobs : threads; the result does not depend on it.
    """
    check_limits(
        "summary",
        {"scaled": scaled, "max_points": max_points},
        {"scaled": (Flag(),), "max_points": (Int(3), Null("all points"))},
    )
    X, Y = (arrived(array)[0] for array in (X, Y))
    space, image = read_both(X, Y, metric, metric_params)
    n, k = space.n, resolve_k(space.n, n_neighbors)
    rows = np.arange(n)
    if max_points is not None and n > max_points:
        rows = np.sort(generator(random_state).choice(n, max_points, replace=False))
    found = compare_all(space, image, rows, k, n_jobs)
    missing: dict[str, str] = {}
    scores = _of_pass(found, rows, n)
    sums = PairSums.of(found.sums, n)
    _add(scores, missing, "stress", lambda: _spread_score(sums.stress(scaled=scaled), rows, n))
    pairs = sampled_pairs(space, image, min(SORTED, len(rows)), random_state)
    _add(scores, missing, "spearman", lambda: spearman_score(pairs, _spread(found.correlation, rows, n)))
    _add(scores, missing, "nonmetric_stress", lambda: nonmetric_score(pairs, "primary"))
    near = _neighborhoods(X, n, k, metric, metric_params, n_jobs) if len(rows) == n else rows_near(space, rows, k)
    _local(scores, missing, space, image.source, near, scaled, n_jobs)
    if truth is not None:
        scores["procrustes"] = procrustes(truth, Y, scaling=scaled)
        scores["affine_r2"] = affine_r2(truth, Y)
    if labels is not None:
        scores["class_separation"] = class_separation(Y, labels)
        scores["misclassification"] = misclassification(Y, labels, k)
    errors = {} if len(rows) == n else standard_errors(scores, found.sums, rows, n, scaled)
    return Summary(
        MappingProxyType(scores), MappingProxyType(missing), found.curve, rows, n, k, MappingProxyType(errors)
    )


def _of_pass(found: Comparison, rows: Ints, n: int) -> dict[str, Score]:
    """The measures that the one pass gives."""
    ranks, sums = found.ranks, PairSums.of(found.sums, n)
    scores = {
        "trustworthiness": ranks.trustworthiness(),
        "continuity": ranks.continuity(),
        "mrre": ranks.mrre("embedding"),
        "mrre_data": ranks.mrre("data"),
        "q_nx": ranks.overlap(),
        "lcmc": ranks.lcmc(),
        "r_nx_area": found.curve.score(),
        "pearson": sums.pearson(),
        "residual_variance": sums.residual_variance(),
    }
    return {name: _spread_score(score, rows, n) for name, score in scores.items()}


def _spread_score(score: Score, rows: Ints, n: int) -> Score:
    return replace(score, points=_spread(score.points, rows, n))


def _spread(points: Floats | None, rows: Ints, n: int) -> Floats | None:
    """One value per point, NaN where the point was not looked at."""
    if points is None or len(rows) == n:
        return points
    out = np.full(n, np.nan)
    out[rows] = points
    return out


def _neighborhoods(
    X: Any, n: int, k: int, metric: MetricLike, metric_params: Mapping[str, Any] | None, n_jobs: int | None
) -> Neighbors:
    X = known_graph(X)
    ready = isinstance(X, (Graph, Neighbors))
    return read_neighbors(X, n, None if ready else k, metric, metric_params, n_jobs)


def _local(
    scores: dict[str, Score],
    missing: dict[str, str],
    space: Space,
    image: Points,
    near: Neighbors,
    scaled: bool,
    n_jobs: int | None,
) -> None:
    """Measures inside neighbourhoods; those of directions need points in Euclidean space."""
    _add(scores, missing, "edge_lengths", lambda: edge_score(image, near, scaled))
    directions: dict[str, Callable[[Points], Score]] = {
        "angles": lambda data: angle_score(data, image, near, n_jobs),
        "local_isometry": lambda data: isometry_score(data, image, near, scaled, n_jobs),
        "orientation": lambda data: orientation_score(data, image, near, n_jobs),
        "riemannian_distortion": lambda data: distortion_score(data, image, near, image.X.shape[1], scaled, n_jobs),
    }
    data = space.source if isinstance(space, PointSpace) else None
    for name, measure in directions.items():
        if data is None or data.metric.name != "euclidean":
            missing[name] = "X must be points with the Euclidean metric, because directions are compared"
        else:
            _add(scores, missing, name, lambda measure=measure: measure(data))  # type: ignore[misc]


def _add(scores: dict[str, Score], missing: dict[str, str], name: str, measure: Callable[[], Score]) -> None:
    """The measure, or the words why it is not defined here."""
    try:
        scores[name] = measure()
    except InvalidInput as words:
        missing[name] = str(words)
