"""The first look at a fitted model: where the points are, and what that is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput, LowfoldError
from lowfold.graph._components import is_connected
from lowfold.graph._source import Points
from lowfold.graph._types import Graph
from lowfold.quality._ranks import trustworthiness
from lowfold.viz._scatter import _new_figure, _save, scatter
from lowfold.viz._shepard import shepard
from lowfold.viz._spectrum import spectrum
from lowfold.viz._trust import trust_map

MEASURED = 5_000  # points up to which distances along the graph are computed for a first look
SOURCES = 500  # points among which they are


def plot(
    model: Any,
    color: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    *,
    path: str | Path | None = None,
    title: str | None = None,
) -> Any:
    """Draw a fitted model: its embedding, its spectrum with the gap, and how the distances of the data were kept.

    What a model does not have is left out: eigenvalues of methods that descend, distances of models that keep no points
    (fitted on a graph, or on blocks). Returns the matplotlib Figure.

    Parameters
    ----------
    model : any fitted method.
    color, labels, path, title : as in `scatter`.
    """
    if not hasattr(model, "embedding_"):
        words = "has no embedding to draw: it is not fitted, or was fitted in blocks; draw transform(X) with scatter"
        raise InvalidInput(f"this {type(model).__name__} {words}")
    Y = np.asarray(model.embedding_, dtype=np.float64)
    source = getattr(getattr(model, "_trained", None), "source", None)
    has_values = len(np.atleast_1d(getattr(model, "eigenvalues_", []))) > 0
    has_points = isinstance(source, Points) and len(Y) > 3 and np.isfinite(Y).all()
    side = [name for name, there in (("spectrum", has_values), ("shepard", has_points)) if there]
    figure = _new_figure(path, (9.6 if side else 6.4, 5.2))
    grid = figure.add_gridspec(max(len(side), 1), 2 if side else 1, width_ratios=(1.9, 1.0) if side else None)
    main = figure.add_subplot(grid[:, 0], projection="3d" if Y.shape[1] == 3 else None)
    scatter(Y, color, labels, ax=main, title=title or _heading(model, Y))
    for row, name in enumerate(side):
        ax = figure.add_subplot(grid[row, 1])
        if name == "spectrum":
            spectrum(model, ax=ax)
        else:
            _distances(model, source, Y, ax)
    if path is not None:
        _save(figure, path)
    return figure


def _distances(model: Any, source: Any, Y: Any, ax: Any) -> None:
    """Along the graph where the model has one that is whole and small enough; else straight through the data."""
    graph = getattr(model, "graph_", None)
    if isinstance(graph, Graph) and graph.n == len(Y) <= MEASURED and is_connected(graph):
        shepard(graph, Y, max_points=SOURCES, ax=ax)
    else:
        shepard(source.X, Y, metric=source.metric, ax=ax)


def quality_map(
    X: Any,
    embeddings: Any,
    *,
    measure: Any = trustworthiness,
    path: str | Path | None = None,
    title: str | None = None,
    per_row: int = 4,
    size: float | None = None,
    **options: Any,
) -> Any:
    """Draw embeddings with each point coloured by its own quality: `trust_map` with the measuring done here.

    Parameters
    ----------
    X : the data, as `measure` takes them.
    embeddings : an embedding, or several as name -> Y.
    measure : a function of `lowfold.quality` with a value per point: trustworthiness (false neighbours), continuity
        (lost ones), stress, local_isometry, ...
    options : of the measure, as n_neighbors=20.
    """
    several = embeddings if hasattr(embeddings, "items") else {"": embeddings}
    scored = {name: (Y, measure(X, Y, **options)) for name, Y in several.items()}
    return trust_map(scored, path=path, title=title, per_row=per_row, size=size)


def _heading(model: Any, Y: Any) -> str:
    """Name, size, and what the solve was worth."""
    words = f"{type(model).__name__}: {len(Y)} points in {Y.shape[1]} dimension{'s' if Y.shape[1] > 1 else ''}"
    residual = getattr(model, "residual_", None)
    try:
        return words + (f"\nsolver {model.solver_}, residual {residual:.1e}" if residual is not None else "")
    except (LowfoldError, TypeError, AttributeError):
        return words
