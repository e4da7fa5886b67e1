"""Images at their place in an embedding, and in a row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, Limits, Real, check_limits
from lowfold.viz._colors import groups
from lowfold.viz._ellipses import _centres
from lowfold.viz._scatter import _columns, _draw, _frame, _name_axes, _new_figure, _save

SIDE = 0.075  # of a thumbnail, as a share of the longer side of the picture
APART = 1.02  # thumbnails whose centres are nearer than so many sides would overlap
GAP = 2  # pixels between the images of a strip


def images_at(
    Y: ArrayLike,
    images: ArrayLike,
    *,
    n_images: int = 80,
    side: float = SIDE,
    color: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a plane embedding with some of the images at the places of their points, none over another.

    Parameters
    ----------
    Y : array (n, 2); of more columns the first two.
    images : array (n, height, width) grey or (n, height, width, 3).
    n_images : at most so many, spread evenly over the picture.
    side : of an image, as a share of the longer side of the picture.
    color, labels, path, title, ax : as in `scatter`, for the points underneath.

    Returns the matplotlib Figure.
    """
    limits: Limits = {"n_images": (Int(1),), "side": (Real(0, 1, open_low=True),)}
    check_limits("images_at", {"n_images": n_images, "side": side}, limits)
    shown, names = _columns(Y, (0, 1) if np.ndim(Y) == 2 and np.shape(Y)[1] > 2 else None)
    stack = _stack(images, len(shown))
    if shown.shape[1] != 2:
        raise InvalidInput(f"images stand in a plane: Y needs 2 columns; got shape {np.shape(Y)}")
    figure = _new_figure(path, (7.2, 6.4)) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    _draw(ax, shown, groups(len(shown), color, labels), 6.0)
    if color is None and labels is None:
        ax.collections[-1].set_color("0.8")
    inside = np.flatnonzero(np.isfinite(shown).all(axis=1))
    low, high = shown[inside].min(axis=0), shown[inside].max(axis=0)
    width = side * float((high - low).max() or 1.0)
    half = 0.5 * width * _sides(stack.shape[1:3])
    chosen = inside[_centres(shown[inside], n_images)]
    for i in chosen[_apart(shown[chosen], 2 * half)]:
        x, y = shown[i]
        extent = (x - half[0], x + half[0], y - half[1], y + half[1])
        ax.imshow(stack[i], extent=extent, cmap="gray", aspect="auto", zorder=3, interpolation="antialiased")
    ax.autoscale_view()
    _frame(ax, shown)
    _name_axes(ax, names, title, len(shown) - len(inside))
    if path is not None:
        _save(figure, path)
    return figure


def filmstrip(
    images: ArrayLike,
    order: Sequence[int] | NDArray[Any] | None = None,
    *,
    per_row: int = 12,
    most: int | None = None,
    numbers: bool = False,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw images side by side, row after row, in the order given.

    Parameters
    ----------
    images : array (n, height, width) grey or (n, height, width, 3).
    order : row numbers, as `lowfold.apps.order_collection(X).order`; None is as they come.
    most : of more images only so many, evenly along the order.
    numbers : write the row number into each image.

    Returns the matplotlib Figure.
    """
    check_limits("filmstrip", {"per_row": per_row}, {"per_row": (Int(1),)})
    stack = _stack(images, None)
    rows = np.arange(len(stack)) if order is None else np.asarray(order, dtype=np.int64)
    if not len(rows) or rows.min() < 0 or rows.max() >= len(stack):
        raise InvalidInput(f"order must hold row numbers from 0 to {len(stack) - 1}")
    if most is not None and most < len(rows):
        rows = rows[np.linspace(0, len(rows) - 1, most).round().astype(np.int64)]
    across = min(per_row, len(rows))
    sheet, corners = _sheet(stack[rows], across)
    height, width = sheet.shape[:2]
    inches = min(1.0 * across, 12.0)
    figure = _new_figure(path, (inches, inches * height / width + (0.4 if title else 0.0))) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    ax.imshow(sheet, cmap="gray", interpolation="antialiased")
    ax.set_axis_off()
    if numbers:
        for row, (y, x) in zip(rows, corners):
            ax.text(x + 2, y + 2, str(row), fontsize=6, color="#E69F00", va="top")
    if title:
        ax.set_title(title, fontsize=11)
    if path is not None:
        _save(figure, path)
    return figure


def _stack(images: ArrayLike, n: int | None) -> NDArray[np.float64]:
    """Images with values from 0 to 1, the same stretch for all."""
    stack = np.asarray(images, dtype=np.float64)
    colour = stack.ndim == 4 and stack.shape[3] == 3
    if not (stack.ndim == 3 or colour) or 0 in stack.shape or (n is not None and len(stack) != n):
        rows = "one per point, " if n is not None else ""
        words = f"images must have shape (n, height, width) or (n, height, width, 3), {rows}and not be empty"
        raise InvalidInput(f"{words}; got {stack.shape}" + (f" for {n} points" if n is not None else ""))
    low, high = float(np.nanmin(stack)), float(np.nanmax(stack))
    return (stack - low) / ((high - low) or 1.0)


def _sides(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Width and height with the longer one 1."""
    height, width = shape
    return np.array([width, height]) / max(height, width)


def _apart(centres: NDArray[np.float64], size: NDArray[np.float64]) -> list[int]:
    """Those that overlap none before them."""
    kept: list[int] = []
    for i, place in enumerate(centres):
        away = np.abs(centres[kept] - place) if kept else np.empty((0, 2))
        if (away >= APART * size).any(axis=1).all():
            kept.append(i)
    return kept


def _sheet(stack: NDArray[np.float64], across: int) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """One picture of all images on white, and where each has its corner."""
    n, h, w = stack.shape[:3]
    down = -(-n // across)
    sheet = np.ones((down * (h + GAP) - GAP, across * (w + GAP) - GAP, *stack.shape[3:]))
    corners = [((i // across) * (h + GAP), (i % across) * (w + GAP)) for i in range(n)]
    for image, (y, x) in zip(stack, corners):
        sheet[y : y + h, x : x + w] = image
    return sheet, corners
