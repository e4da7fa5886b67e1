"""What the embeddings of a comparison are measured by: `quality.summary`, and what its numbers say in a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import LowfoldError
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._edge_map import edge_map
from lowfold.graph._geodesics import geodesics
from lowfold.graph._types import Graph
from lowfold.quality._geodesic_rank import reference_graph
from lowfold.quality._neighborhood_view import BASE, NeighborhoodView, _source
from lowfold.quality._ranks import neighborhood_preservation
from lowfold.quality._summary import summary


@dataclass(frozen=True)
class Measure:
    """One measure of `quality.summary`.

    name     its key there
    title    as it heads a column
    larger   whether larger is better
    meaning  what it says, in one line
    first    whether it is in the table that is shown first; all are in the full one
    """

    name: str
    title: str
    larger: bool
    meaning: str
    first: bool = True


MEASURES: tuple[Measure, ...] = (
    Measure(
        "geodesic_area",
        "geodesic R_NX",
        True,
        "neighbours along the data kept beyond chance, after the linear map that fits the edges best: 1 is all",
    ),
    Measure(
        "r_nx_area", "R_NX area", True, "neighbours kept beyond chance, every size of neighbourhood alike: 1 is all"
    ),
    Measure(
        "trustworthiness", "trustworthiness", True, "are neighbours in the picture neighbours in the data? 1 if so"
    ),
    Measure("continuity", "continuity", True, "are neighbours in the data still neighbours in the picture? 1 if so"),
    Measure("mrre", "rank error", False, "relative error of the ranks of neighbours in the picture", False),
    Measure("mrre_data", "rank error, data", False, "relative error of the ranks of neighbours in the data", False),
    Measure("q_nx", "Q_NX", True, "share of the neighbours that are kept", False),
    Measure("lcmc", "LCMC", True, "share of the neighbours that are kept, beyond chance", False),
    Measure("spearman", "Spearman", True, "correlation of the ranks of all distances, in the data and in the picture"),
    Measure("pearson", "Pearson", True, "correlation of all distances, in the data and in the picture", False),
    Measure("residual_variance", "residual variance", False, "1 - squared correlation of all distances", False),
    Measure("stress", "stress", False, "relative error of all distances after the best common factor"),
    Measure("nonmetric_stress", "nonmetric stress", False, "the same, when only the order of distances counts", False),
    Measure("edge_lengths", "edge lengths", False, "relative error of distances between neighbours", False),
    Measure("angles", "angles", False, "error of angles between neighbours", False),
    Measure("local_isometry", "local isometry", False, "how far neighbourhoods are from being moved as a whole"),
    Measure("riemannian_distortion", "distortion", False, "how unevenly the picture stretches", False),
    Measure("orientation", "folds", False, "share of neighbours between which the picture is folded over", False),
    Measure(
        "procrustes", "Procrustes", False, "what is left of the true coordinates after the best motion and scaling"
    ),
    Measure("affine_r2", "affine R²", True, "share of the true coordinates that an affine map of the picture explains"),
    Measure("class_separation", "class separation", True, "share of the variance that lies between the classes' means"),
    Measure("misclassification", "misclassified", False, "share of points whose neighbours vote for another class"),
)
BY_NAME = {measure.name: measure for measure in MEASURES}
GEODESIC = 2000  # points among which geodesic neighbours are compared
PAIRS = 25_000_000  # ranked in each space: 5,000 points with all of as many others
FEWEST_ROWS = 200  # points that are looked at however many there are: an error of one or two percent
CURVE = 60  # sizes of neighbourhood at which R_NX is kept


@dataclass(frozen=True, eq=False)
class Quality:
    """One embedding, measured.

    values   measure -> number
    missing  measure -> why it is not there
    errors   measure -> its standard error, where only some points were looked at
    trust    (n,) trustworthiness of each point, for colouring; NaN where it was not measured
    sizes, r_nx  sizes of neighbourhood, and the share of neighbours kept beyond chance
    """

    values: dict[str, float]
    missing: dict[str, str]
    errors: dict[str, float]
    trust: Floats
    sizes: NDArray[np.int64]
    r_nx: Floats


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The data that embeddings are held against, and what is known of them."""

    X: Any
    metric: Any
    n_neighbors: int
    max_points: int
    truth: Floats | None
    labels: NDArray[Any] | None
    seed: int

    @property
    def measured(self) -> int:
        """From how many points the others are ranked and measured: fewer where there are very many others."""
        n = len(self.X)
        return min(n, self.max_points, max(FEWEST_ROWS, PAIRS // n))

    @property
    def precomputed(self) -> bool:
        """Whether X holds distances."""
        return isinstance(self.metric, str) and self.metric.startswith("precomputed")

    @cached_property
    def along(self) -> tuple[Ints, Graph, Floats]:
        """Points drawn at random, a graph of them without shortcuts, and the geodesics among them."""
        n, rng = len(self.X), np.random.default_rng(self.seed)
        rows = np.sort(rng.choice(n, min(n, GEODESIC), replace=False))
        source = _source(self.X[np.ix_(rows, rows)] if self.precomputed else self.X[rows], self.metric, None)
        run = Run()
        view = NeighborhoodView(source, min(BASE, source.n - 1), None, rng, run)
        graph, _ = reference_graph(view, run)
        return rows, graph, np.asarray(geodesics(graph, dtype=np.float64, run=run))


def measure(Y: NDArray[Any], against: Yardstick) -> Quality:
    """Every measure that applies. Points without a place (NaN) are left out."""
    inside = np.flatnonzero(np.isfinite(Y).all(axis=1))
    part = np.asarray(Y[inside], dtype=np.float64)
    found = summary(
        against.X[np.ix_(inside, inside)] if against.precomputed else against.X[inside],
        part,
        n_neighbors=min(against.n_neighbors, max(1, len(inside) - 2)),
        truth=None if against.truth is None else against.truth[inside],
        labels=None if against.labels is None else against.labels[inside],
        metric=against.metric,
        max_points=against.measured,
        random_state=against.seed,
    )
    trust = np.full(len(Y), np.nan)
    trust[inside] = found["trustworthiness"].points
    sizes = np.unique(np.geomspace(1, len(found.curve.sizes), CURVE).astype(np.int64))
    values, missing, errors = found.to_dict(), dict(found.missing), dict(found.errors)
    try:
        values["geodesic_area"], errors["geodesic_area"] = _geodesic_area(Y, against)
    except LowfoldError as words:
        missing["geodesic_area"] = str(words)
    return Quality(values, missing, errors, trust, sizes, found.curve.r_nx[sizes - 1])


def _geodesic_area(Y: NDArray[Any], against: Yardstick) -> tuple[float, float]:
    """The area under R_NX by geodesics, and its standard error where not all points were looked at."""
    rows, graph, D = against.along
    part = np.asarray(Y[rows], dtype=np.float64)
    placed = np.asarray(np.isfinite(part).all(axis=1))
    Z = part[placed] @ edge_map(part, graph)
    area = neighborhood_preservation(D[np.ix_(placed, placed)], Z, metric="precomputed")
    left = np.sqrt(1 - len(rows) / len(Y))
    return area.area, float(left * area.points.std() / np.sqrt(len(area.points)))
