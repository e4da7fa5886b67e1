"""Embeddings as points on a line, in the plane or in space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold.datasets._write_table import replacing
from lowfold.viz._colors import SCALE, SHOWN, Group, groups
from lowfold.viz._notebook import shown_once

DPI = 150
ELONGATED = 8.0  # beyond this ratio of the sides equal scales would leave a thin line


def scatter(
    Y: ArrayLike | Any,
    color: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    *,
    path: str | Path | None = None,
    title: str | None = None,
    legend: str | None = None,
    columns: tuple[int, ...] | None = None,
    size: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw the rows of an embedding; 1, 2 or 3 columns are shown as they are, of more the first two.

    Parameters
    ----------
    Y : array (n, d), or a fitted model, whose `embedding_` is drawn; rows with NaN are left out and counted.
    color : array (n,) or None, numbers shown on a continuous scale with a bar; text is taken as `labels`.
    labels : array (n,) or None, classes; a legend for up to 20 of them.
    path : file to write (.png, .svg, .pdf, .jpg), or None; without it the figure is pyplot's, to be shown or changed.
    title, legend : text above the picture, and above the legend or beside the colour bar.
    columns : which columns of Y, counted from 0; one, two or three of them.
    size : area of a point in square points; chosen by the number of points if None.
    ax : axes to draw on (3-D ones for three columns); a new figure if None.

    Returns the matplotlib Figure.
    """
    shown, names = _columns(Y, columns)
    parts = groups(len(shown), *_numbers_or_text(color, labels))
    if ax is None:
        figure = _new_figure(path, (6.4, 2.6 if shown.shape[1] == 1 else 5.2))
        ax = figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None)
    else:
        figure = ax.figure
    mappable = _draw(ax, shown, parts, size)
    _name_axes(ax, names, title, int((~np.isfinite(shown).all(axis=1)).sum()))
    if mappable is not None:
        bar = figure.colorbar(mappable, ax=ax, shrink=0.8, pad=0.12 if shown.shape[1] == 3 else 0.02)
        bar.outline.set_visible(False)
        bar.set_label(legend or "")
    elif parts[0].name is not None and len(parts) <= SHOWN:
        ax.legend(title=legend, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, markerscale=2)
    if path is not None:
        _save(figure, path)
    return figure


def side_by_side(
    embeddings: Mapping[str, ArrayLike],
    color: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    *,
    path: str | Path | None = None,
    title: str | None = None,
    legend: str | None = None,
    per_row: int = 4,
    size: float | None = None,
) -> Any:
    """Draw several embeddings of the same points, name -> Y, with the same colours. Returns the matplotlib Figure.

    color, labels, path, title, legend and size are those of `scatter`; `per_row` pictures stand in one row.
    """
    if not embeddings:
        raise InvalidInput("side_by_side needs at least one embedding, as {'Isomap': Y}")
    if per_row < 1:
        raise InvalidInput(f"per_row must be at least 1; got {per_row}")
    across = min(per_row, len(embeddings))
    down = -(-len(embeddings) // across)
    figure = _new_figure(path, (3.1 * across, 3.1 * down + (0.5 if title else 0.0) + 0.3))
    parts: list[Group] = []
    mappable = None
    for i, (name, Y) in enumerate(embeddings.items()):
        shown, _ = _columns(Y, None)
        parts = groups(len(shown), *_numbers_or_text(color, labels))
        ax = figure.add_subplot(down, across, i + 1, projection="3d" if shown.shape[1] == 3 else None)
        mappable = _draw(ax, shown, parts, size)
        _name_axes(ax, [], name, int((~np.isfinite(shown).all(axis=1)).sum()))
    if title:
        figure.suptitle(title)
    if mappable is not None:
        bar = figure.colorbar(mappable, ax=figure.axes, shrink=0.6, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_label(legend or "")
    elif parts[0].name is not None and len(parts) <= SHOWN:
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, title=legend, loc="outside right center", frameon=False, markerscale=2)
    if path is not None:
        _save(figure, path)
    return figure


def _numbers_or_text(color: ArrayLike | None, labels: ArrayLike | None) -> tuple[Any, Any]:
    """`color` and `labels`; text given as a colour names classes."""
    text = color is not None and labels is None and np.asarray(color).dtype.kind in "OSUb"
    return (None, np.asarray(color).astype(str)) if text else (color, labels)


def _columns(Y: ArrayLike, columns: tuple[int, ...] | None) -> tuple[NDArray[np.float64], list[str]]:
    """The columns to draw, and the names of their axes."""
    array = np.asarray(getattr(Y, "embedding_", Y), dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.size == 0:
        raise InvalidInput(f"Y must be a matrix with rows as points; got shape {array.shape}")
    d = array.shape[1]
    chosen = columns if columns is not None else tuple(range(d if d <= 3 else 2))
    if not 1 <= len(chosen) <= 3 or not all(0 <= c < d for c in chosen):
        raise InvalidInput(f"columns must name one, two or three of the columns 0..{d - 1}; got {columns}")
    of = f" of {d}" if d > len(chosen) else ""
    return array[:, list(chosen)], [f"coordinate {c + 1}{of}" for c in chosen]


def _draw(ax: Any, Y: NDArray[np.float64], parts: list[Group], size: float | None) -> Any:
    """Put the points on the axes; the mappable of a continuous scale, or None."""
    n, d = Y.shape
    area = size if size is not None else float(np.clip(12_000 / n, 2.0, 28.0))
    alpha = 0.9 if n <= 2_000 else 0.7
    points = Y if d > 1 else np.column_stack([Y[:, 0], _spread(n)])
    look: dict[str, Any] = {"s": area, "linewidths": 0, "alpha": alpha, "rasterized": n > 5_000}
    if d == 3:
        look["depthshade"] = False
    mappable = None
    for part in parts:
        inside = part.rows[np.isfinite(Y[part.rows]).all(axis=1)]
        continuous = isinstance(part.color, np.ndarray)
        paint = {"c": part.color[inside], "cmap": SCALE} if continuous else {"color": part.color}
        drawn = ax.scatter(*points[inside].T, marker=part.marker, label=part.name, **paint, **look)
        mappable = drawn if continuous else mappable
    _frame(ax, Y)
    return mappable


def _spread(n: int) -> NDArray[np.float64]:
    """Heights for points on a line, so that they do not hide one another: the golden-ratio sequence, no randomness."""
    return np.asarray((np.arange(n) * 0.6180339887498949) % 1.0)


def _frame(ax: Any, Y: NDArray[np.float64]) -> None:
    """Equal scales, because distances mean something; not where that would leave a thin line."""
    inside = Y[np.isfinite(Y).all(axis=1)]
    sides = np.ptp(inside, axis=0) if len(inside) else np.ones(Y.shape[1])
    if Y.shape[1] == 1:
        ax.set_yticks([])
        ax.set_ylim(-0.15, 1.15)
        ax.spines[["left", "right", "top"]].set_visible(False)
        return
    even = sides.min() > 0 and sides.max() <= ELONGATED * sides.min()
    if Y.shape[1] == 3:
        ax.set_box_aspect(sides if even else None)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.pane.set_visible(False)
        return
    if even:
        ax.set_aspect("equal", adjustable="datalim")
    ax.spines[["right", "top"]].set_visible(False)


def _name_axes(ax: Any, names: list[str], title: str | None, lost: int) -> None:
    ax.tick_params(labelsize=8)
    for name, axis in zip(names, "xyz"):
        getattr(ax, f"set_{axis}label")(name, fontsize=9)
    if not names:
        ax.tick_params(labelbottom=False, labelleft=False)
        if hasattr(ax, "zaxis"):
            ax.zaxis.set_ticklabels([])
    words = f"{title or ''}\n({lost} points have no place)" if lost else title
    if words:
        ax.set_title(words.strip(), fontsize=11)


def _new_figure(path: str | Path | None, inches: tuple[float, float]) -> Any:
    """A figure of pyplot's, or, when it only goes to a file, one that touches no global state and needs no display."""
    if path is None:
        pyplot = load_extra("matplotlib.pyplot", "plot", "a picture")
        own = {"FigureClass": shown_once()} if "inline" in pyplot.get_backend() else {}
        return pyplot.figure(figsize=inches, layout="constrained", **own)
    figure = load_extra("matplotlib.figure", "plot", "a picture").Figure(figsize=inches, layout="constrained")
    load_extra("matplotlib.backends.backend_agg", "plot", "a picture").FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: str | Path) -> None:
    """Write the picture whole or not at all."""
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg", "pdf", "jpg", "jpeg"):
        raise InvalidInput(f"{path}: pictures are written as .png, .svg, .pdf or .jpg; choose one of these endings")
    if target.exists() and not target.is_file():
        raise InvalidInput(f"{path}: is no ordinary file; name a file")
    with replacing(target, overwrite=True) as part:
        figure.savefig(part, format=kind, dpi=DPI)
