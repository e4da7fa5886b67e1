"""Eigenvalues, and the gap after those that were used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold.viz._colors import PLAIN
from lowfold.viz._scatter import _new_figure, _save

MARK = "#D55E00"
REST = "0.6"
NARROW = 0.5  # above this share of the largest all eigenvalues are seen from nearby
DECADES = 1e3  # beyond this ratio positive values are drawn on a logarithmic scale


def spectrum(
    values: ArrayLike | Any,
    n_components: int | None = None,
    *,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw eigenvalues in their order, and the gap after the first `n_components`.

    A wide gap: the dimension is determined, and small changes of the data do not mix the columns with the next one.

    Parameters
    ----------
    values : eigenvalues, ascending or descending, or a fitted model: its `eigenvalues_`, and the next one by `gap_`.
    n_components : how many are used; of a model all its own. None marks the widest gap.
    path, title, ax : as in `scatter`.

    Returns the matplotlib Figure.
    """
    numbers, used, what = _values(values, n_components)
    figure = _new_figure(path, (4.8, 3.4)) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    order = np.arange(1, len(numbers) + 1)
    steps = np.abs(np.diff(numbers))
    widest = int(np.argmax(steps)) + 1 if len(steps) else len(numbers)
    used = widest if used is None else used
    if not numbers.min() > NARROW * numbers.max():  # from zero, unless that would leave no room for the gaps
        ax.vlines(order, 0, numbers, colors="0.88", linewidths=1.0)
    ax.plot(order[:used], numbers[:used], "o", ms=5, color=PLAIN)
    ax.plot(order[used:], numbers[used:], "o", ms=5, color=REST, mfc="white")
    positive = numbers.min() > 0 and numbers.max() / numbers.min() > DECADES
    ax.set_yscale("log" if positive else "linear")
    if 0 < used < len(numbers):
        low, high = sorted(numbers[used - 1 : used + 1])
        ax.axhspan(low, high, color=MARK, alpha=0.15, lw=0)
        ax.axvline(used + 0.5, color=MARK, lw=1, ls="--")
    ax.set_xlabel("eigenvalue number", fontsize=9)
    ax.set_ylabel(what, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_title(title if title is not None else _told(numbers, used), fontsize=10)
    if path is not None:
        _save(figure, path)
    return figure


def _values(given: Any, n_components: int | None) -> tuple[Any, int | None, str]:
    """Numbers in order, how many are used, and what they are."""
    used = n_components
    if hasattr(given, "eigenvalues_"):
        numbers = np.asarray(given.eigenvalues_, dtype=np.float64)
        used = len(numbers) if used is None else used
        gap = float(getattr(given, "gap_", np.inf))
        if np.isfinite(gap) and gap > 0:
            rising = len(numbers) > 1 and numbers[-1] > numbers[0]
            rising = rising or (len(numbers) == 1 and _from_below(given))
            numbers = np.append(numbers, numbers[-1] + (gap if rising else -gap))
        what = f"eigenvalue of {type(given).__name__}"
    else:
        if hasattr(given, "fit"):
            raise InvalidInput(f"{type(given).__name__} has no eigenvalues: it is not fitted, or not a spectral method")
        numbers, what = np.asarray(given, dtype=np.float64).ravel(), "eigenvalue"
    if not len(numbers) or not np.isfinite(numbers).all():
        raise InvalidInput(f"values must be finite eigenvalues, at least one; got {len(numbers)}")
    if used is not None and not 0 < used <= len(numbers):
        raise InvalidInput(f"n_components must be from 1 to {len(numbers)}; got {used}")
    return numbers, used, what


def _from_below(model: Any) -> bool:
    """Whether the method takes the bottom of its operator's spectrum."""
    from lowfold.methods.registry import BY_NAME

    entry = BY_NAME.get(type(model).__name__)
    return entry is not None and "bottom" in entry.vectors


def _told(numbers: Any, used: int) -> str:
    if used >= len(numbers):
        return f"{used} eigenvalues"
    gap = abs(float(numbers[used] - numbers[used - 1]))
    return f"gap after {used}: {gap:.3g}"
