"""Distances before and after: the Shepard diagram, and the variance that is left with each dimension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold.graph._reading import MetricLike
from lowfold.quality._pairs import residual_variance, sampled_pairs, spearman_score
from lowfold.quality._spaces import read_both
from lowfold.viz._colors import FEW_CLASSES, MARKERS, SCALE
from lowfold.viz._scatter import _new_figure, _save

LINE = "#D55E00"
CELLS = 60  # hexagons across


def shepard(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_points: int = 1000,
    random_state: Any = 0,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the distances of pairs in the embedding over those in the data, with the best rising curve.

    Points on a line: distances are kept up to scale. A curve: their order is. A wide cloud: they are not. With X a
    `Graph`, as `model.graph_`, the distances of the data are geodesic, which is what Isomap keeps.

    Parameters
    ----------
    X : rows of points, a matrix with metric="precomputed", or a Graph.
    max_points : pairs among at most so many points, drawn at random where there are more.
    path, title, ax : as in `scatter`; without a title the rank correlation is told.

    Returns the matplotlib Figure.
    """
    from lowfold.optimize._isotonic import Ranking

    space, image = read_both(X, Y, metric, metric_params)
    pairs = sampled_pairs(space, image, max_points, random_state)
    rising = Ranking.of(pairs.delta, "primary").disparities(pairs.d)
    figure = _new_figure(path, (4.8, 4.2)) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    ax.hexbin(pairs.delta, pairs.d, gridsize=CELLS, bins="log", cmap=SCALE + "_r", mincnt=1, linewidths=0)
    order = np.argsort(pairs.delta, kind="stable")
    some = order[:: max(1, len(order) // 2000)]
    ax.plot(pairs.delta[some], rising[some], color=LINE, lw=1.5)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("distance in the data" + (" (geodesic)" if hasattr(X, "edges") else ""), fontsize=9)
    ax.set_ylabel("distance in the embedding", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["right", "top"]].set_visible(False)
    told = f"rank correlation {spearman_score(pairs, None).value:.3f}"
    ax.set_title(told if title is None else title, fontsize=10)
    if path is not None:
        _save(figure, path)
    return figure


def residual_curves(
    X: Any,
    embeddings: Mapping[str, ArrayLike],
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw, for each embedding, name -> Y, the residual variance of its first 1, 2, ... columns.

    The dimension is where the curve stops falling. Meant for methods whose columns are in order of importance (PCA,
    classical MDS, Isomap, MVU). With X a `Graph` the distances of the data are geodesic: PCA then stays high where the
    data are curved.

    path, title, ax : as in `scatter`. Returns the matplotlib Figure.
    """
    if not embeddings:
        raise InvalidInput("residual_curves needs at least one embedding, as {'Isomap': Y}")
    figure = _new_figure(path, (5.2, 3.6)) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    most = 1
    for i, (name, Y) in enumerate(embeddings.items()):
        columns = np.atleast_2d(np.asarray(Y, dtype=np.float64))
        dims = range(1, columns.shape[1] + 1)
        left = [float(residual_variance(X, columns[:, :d], metric=metric, metric_params=metric_params)) for d in dims]
        color = FEW_CLASSES[i % len(FEW_CLASSES)]
        ax.plot(list(dims), left, marker=MARKERS[i % len(MARKERS)], ms=5, lw=1.4, color=color, label=name)
        most = max(most, len(left))
    ax.set_xticks(range(1, most + 1))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("dimensions", fontsize=9)
    ax.set_ylabel("residual variance", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["right", "top"]].set_visible(False)
    if len(embeddings) > 1:
        ax.legend(frameon=False, fontsize=9)
    if title:
        ax.set_title(title, fontsize=10)
    if path is not None:
        _save(figure, path)
    return figure
