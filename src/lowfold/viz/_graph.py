"""The neighbourhood graph over an embedding: shortcuts, holes and bridges are seen at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold.graph._foreign import as_graph
from lowfold.graph._types import Graph
from lowfold.viz._colors import SCALE, groups
from lowfold.viz._scatter import _columns, _draw, _name_axes, _new_figure, _save

DRAWN = 60_000  # edges; of more, every so-many-th
BRIDGE = "#D55E00"
EDGE = "0.72"


def graph_overlay(
    Y: ArrayLike,
    graph: Any,
    *,
    color: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    bridges: Any = None,
    stretch: bool = False,
    path: str | Path | None = None,
    title: str | None = None,
    size: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw the edges of a graph between the points of an embedding, or of the data, in 2 or 3 columns.

    Parameters
    ----------
    Y : array (n, 2) or (n, 3); of more columns the first two.
    graph : `model.graph_`, or any graph of the same points (`lowfold.graph.as_graph`).
    color, labels, path, title, size, ax : as in `scatter`; without colours the points are grey.
    bridges : `model.bridges_` or pairs (i, j), drawn thick in orange: edges that were added to join pieces.
    stretch : colour each edge by its length in Y over its own length; dark is short, yellow is torn apart.

    Returns the matplotlib Figure.
    """
    shown, names = _columns(Y, None)
    found = as_graph(graph)
    graph = found if isinstance(found, Graph) else found.union()
    edges = graph.edges()
    if shown.shape[1] < 2 or graph.n != len(shown):
        words = f"a graph of {graph.n} points needs as many rows of 2 or 3 columns; got {np.shape(Y)}"
        raise InvalidInput(words)
    if ax is None:
        figure = _new_figure(path, (6.4, 5.2))
        ax = figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None)
    else:
        figure = ax.figure
    extra = _pairs(bridges)
    some = edges[:: max(1, -(-len(edges) // DRAWN))]
    drawn = _lines(ax, shown, some, 0.9 if stretch else 0.5, None if stretch else EDGE, zorder=0)
    if stretch:
        _by_stretch(figure, ax, drawn, shown, some, graph)
    if len(extra):
        _lines(ax, shown, extra, 2.0, BRIDGE, zorder=3)
    parts = groups(len(shown), color, labels)
    plain = color is None and labels is None
    mappable = _draw(ax, shown, parts, (4.0 if plain else None) if size is None else size)
    if plain:
        ax.collections[-1].set_color("0.35")
    elif mappable is not None and not stretch:
        figure.colorbar(mappable, ax=ax, shrink=0.8, pad=0.02).outline.set_visible(False)
    _name_axes(ax, names, title or f"{graph.n} points, {len(edges)} edges" + _counted(len(extra)), 0)
    if path is not None:
        _save(figure, path)
    return figure


def _counted(n: int) -> str:
    return f", {n} bridge{'s' if n > 1 else ''}" if n else ""


def _pairs(bridges: Any) -> NDArray[np.int64]:
    if bridges is None:
        return np.empty((0, 2), dtype=np.int64)
    return np.asarray(getattr(bridges, "edges", bridges), dtype=np.int64).reshape(-1, 2)


def _lines(
    ax: Any, Y: NDArray[np.float64], edges: NDArray[np.int64], width: float, color: str | None, *, zorder: int
) -> Any:
    segments = Y[edges]
    if Y.shape[1] == 3:
        make = load_extra("mpl_toolkits.mplot3d.art3d", "plot", "a picture").Line3DCollection
    else:
        make = load_extra("matplotlib.collections", "plot", "a picture").LineCollection
    drawn = make(segments, linewidths=width, colors=color, zorder=zorder, rasterized=len(edges) > 5_000)
    ax.add_collection(drawn)
    return drawn


def _by_stretch(
    figure: Any, ax: Any, drawn: Any, Y: NDArray[np.float64], edges: NDArray[np.int64], graph: Graph
) -> None:
    """Edges on a scale of factors; the median of all edges is 1, so that units do not matter."""
    from matplotlib.colors import LogNorm

    own = np.asarray(graph.to_scipy()[edges[:, 0], edges[:, 1]]).ravel()
    factor = np.linalg.norm(Y[edges[:, 0]] - Y[edges[:, 1]], axis=1) / np.where(own > 0, own, np.nan)
    factor = np.nan_to_num(factor / np.nanmedian(factor), nan=1.0)
    top = max(float(np.quantile(factor, 0.99)), 1.5)
    drawn.set_array(np.clip(factor, 1 / top, top))
    drawn.set_cmap(SCALE)
    drawn.set_norm(LogNorm(1 / top, top))
    bar = figure.colorbar(drawn, ax=ax, shrink=0.8, pad=0.02)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    ticks = [t for t in (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if 1 / top <= t <= top]
    bar.set_ticks(ticks, labels=[f"{t:g}" for t in ticks])
    bar.set_label("length drawn over true length (median 1)", fontsize=9)
