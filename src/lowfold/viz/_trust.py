"""Where an embedding can be trusted: points coloured by their own share of a measure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold.quality._score import Score
from lowfold.viz._colors import SCALE
from lowfold.viz._scatter import _columns, _frame, _name_axes, _new_figure, _save

UNKNOWN = "0.75"


def trust_map(
    embeddings: Mapping[str, tuple[ArrayLike, Score]],
    *,
    path: str | Path | None = None,
    title: str | None = None,
    per_row: int = 4,
    size: float | None = None,
) -> Any:
    """Draw embeddings, name -> (Y, score), each point coloured by the score's own value there; light is good.

    All pictures share one scale, from the perfect value to the worst that 98% of the points reach, so the scores must
    be of one measure. The worst points are drawn last; points without a value are grey. Y has two columns, or of more
    the first two are shown. Returns the matplotlib Figure.
    """
    if not embeddings:
        raise InvalidInput("trust_map needs at least one embedding, as {'Isomap': (Y, score)}")
    if per_row < 1:
        raise InvalidInput(f"per_row must be at least 1; got {per_row}")
    perfect, name, limits, scale = _range([score for _, score in embeddings.values()])
    across = min(per_row, len(embeddings))
    down = -(-len(embeddings) // across)
    figure = _new_figure(path, (3.1 * across + 0.6, 3.3 * down + (0.5 if title else 0.0)))
    drawn = None
    for i, (what, (Y, score)) in enumerate(embeddings.items()):
        ax = figure.add_subplot(down, across, i + 1)
        drawn = _draw(ax, Y, score, perfect, limits, scale, size)
        _name_axes(ax, [], f"{what}\n{score.value:.3g}", 0)
    if title:
        figure.suptitle(title)
    bar = figure.colorbar(drawn, ax=figure.axes, shrink=0.7, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label(f"{name} of the point\n(perfect: {perfect:g})", fontsize=9)
    if path is not None:
        _save(figure, path)
    return figure


def _range(scores: list[Score]) -> tuple[float, str, tuple[float, float], str]:
    """Perfect value, name, limits and colour map that all pictures share."""
    if any(score.points is None for score in scores):
        raise InvalidInput("trust_map needs measures with a value per point; one score has none")
    if len({score.name for score in scores}) > 1:
        names = ", ".join(sorted({score.name for score in scores}))
        raise InvalidInput(f"trust_map needs scores of one measure, or they share no scale; got {names}")
    perfect = scores[0].perfect
    values = np.concatenate([np.asarray(score.points, dtype=np.float64) for score in scores])
    off = np.abs(values[np.isfinite(values)] - perfect)
    worst = float(np.quantile(off, 0.98)) if off.size else 1.0
    worst = worst or 1.0
    below = float(np.nanmedian(values)) < perfect if off.size else True
    limits = (perfect - worst, perfect) if below else (perfect, perfect + worst)
    return perfect, scores[0].name, limits, SCALE if below else SCALE + "_r"


def _draw(
    ax: Any, Y: ArrayLike, score: Score, perfect: float, limits: tuple[float, float], scale: str, size: float | None
) -> Any:
    shown, _ = _columns(Y, None)
    shown = np.column_stack([shown[:, 0], np.zeros(len(shown))]) if shown.shape[1] == 1 else shown[:, :2]
    values: NDArray[np.float64] = np.asarray(score.points, dtype=np.float64)
    if len(values) != len(shown):
        raise InvalidInput(f"Y has {len(shown)} rows and its score {len(values)} points")
    area = size if size is not None else float(np.clip(12_000 / len(shown), 2.0, 28.0))
    look: dict[str, Any] = {"s": area, "linewidths": 0, "rasterized": len(shown) > 5_000}
    known = np.isfinite(values)
    ax.scatter(*shown[~known].T, color=UNKNOWN, **look)
    order = np.flatnonzero(known)
    order = order[np.argsort(np.abs(values[order] - perfect), kind="stable")]
    drawn = ax.scatter(*shown[order].T, c=values[order], cmap=scale, vmin=limits[0], vmax=limits[1], **look)
    _frame(ax, shown)
    return drawn
