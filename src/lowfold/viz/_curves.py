"""Curves of dimension estimates, one panel each: what the estimator looked at, and where it found its value."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold.viz._colors import FEW_CLASSES, PLAIN
from lowfold.viz._scatter import _new_figure, _save

if TYPE_CHECKING:
    from lowfold.dimension._estimate import Estimate

VALUE = "#D55E00"
USED = "#EBEBEB"
GROWTH = {"tangent": FEW_CLASSES[0], "curvature": FEW_CLASSES[1], "noise": "#999999", "nothing": "#DDDDDD"}
LOGARITHMIC = ("residual variance", "share of the variance", "singular value over the largest")
SMALLEST = 1e-6  # shares below this are drawn there


def dimension_curves(
    estimates: Iterable[Estimate], *, path: str | Path | None = None, title: str | None = None, per_row: int = 4
) -> Any:
    """Draw the curves of `lowfold.dimension` estimates. Returns the matplotlib Figure.

    Grey is the range of scales that the value rests on, orange the value: the slope of a line where both axes are
    logarithmic, a height where the curve itself is a dimension, a number of components otherwise. Darker orange is the
    interval, of the sampling alone; lighter orange, and the numbers in a heading, the band, with scales and edges. Of
    multiscale SVD all singular values are shown, in the colours of tangent, curvature and noise. An estimator without a
    curve has its words instead.

    Parameters
    ----------
    estimates : an `Estimates`, or several `Estimate`.
    path : file to write (.png, .svg, .pdf, .jpg), or None; without it the figure is pyplot's, to be shown or changed.
    title : text above the picture.
    per_row : panels in one row.
    """
    items = list(estimates)
    if not items:
        raise InvalidInput("dimension_curves needs at least one estimate")
    if per_row < 1:
        raise InvalidInput(f"per_row must be at least 1; got {per_row}")
    across = min(per_row, len(items))
    down = -(-len(items) // across)
    figure = _new_figure(path, (3.4 * across, 2.9 * down + (0.4 if title else 0.0)))
    for i, item in enumerate(items):
        ax = figure.add_subplot(down, across, i + 1)
        ax.set_title(_heading(item), fontsize=9, color="black" if item.told else "#777777")
        if item.curve is None or item.scales is None or len(item.scales) == 0:
            _words(ax, item)
        else:
            _panel(ax, item)
    if title:
        figure.suptitle(title)
    if path is not None:
        _save(figure, path)
    return figure


def _heading(item: Estimate) -> str:
    if np.isnan(item.value):
        return f"{item.name}: cannot tell"
    doubt = "" if item.told else " ?"
    band = "" if item.band is None or item.band[0] == item.band[1] else f" ({item.band[0]:.3g} to {item.band[1]:.3g})"
    return f"{item.name}: {item.words}{item.value:.3g}{band}{doubt}"


def _words(ax: Any, item: Estimate) -> None:
    ax.set_axis_off()
    text = "\n".join(textwrap.wrap(item.reason or "no curve", 38))
    ax.text(0.5, 0.5, text, ha="center", va="center", fontsize=8, color="#777777", transform=ax.transAxes)


def _panel(ax: Any, item: Estimate) -> None:
    x, y = np.asarray(item.scales), np.asarray(item.curve)
    ax.tick_params(labelsize=7, which="both")
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_xlabel(item.axes[0], fontsize=8)
    ax.set_ylabel(item.axes[1], fontsize=8)
    if item.log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    elif item.axes[1] in LOGARITHMIC:
        ax.set_yscale("log")
        y = np.maximum(y, SMALLEST)
    _plain_numbers(ax, item)
    if item.used is not None and item.axes[0] != "components":
        low, high = item.used
        ax.axvspan(low, high, color=USED, lw=0, zorder=0) if high > low else ax.axvline(low, color=USED, lw=4, zorder=0)
    spectra = getattr(item, "spectra", None)
    if spectra is not None:
        _spectra(ax, x, spectra, getattr(item, "labels", ()))
        return
    ax.plot(x, np.where(np.isfinite(y), y, np.nan), "o-", ms=3, lw=1, color=PLAIN)
    if np.isfinite(item.value):
        _mark(ax, item, x, y)


def _plain_numbers(ax: Any, item: Estimate) -> None:
    """Ticks as 0.3 and 20, not as powers of ten; components are whole."""
    ticker = load_extra("matplotlib.ticker", "plot", "a picture")
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(ticker.LogFormatter())
            axis.set_minor_formatter(ticker.LogFormatter(minor_thresholds=(1.5, 0.5)))
    if item.axes[0] == "components":
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def _mark(ax: Any, item: Estimate, x: Any, y: Any) -> None:
    """The value in orange, where the curve shows it."""
    if item.log:
        rising = 1.0 if y[-1] >= y[0] else -1.0
        seen = np.isfinite(y) & (y > 0)
        at, height = np.log(x[seen]).mean(), np.log(y[seen]).mean()
        ax.plot(x, np.exp(height + rising * item.value * (np.log(x) - at)), "--", lw=1.2, color=VALUE)
        return
    line, span = (ax.axhline, ax.axhspan) if item.axes[1] == "dimension" else (ax.axvline, ax.axvspan)
    for spread, alpha in ((item.band, 0.1), (item.interval, 0.2)):
        if spread is not None and spread[1] > spread[0]:
            span(*spread, color=VALUE, alpha=alpha, lw=0)
    line(item.value, ls="--", lw=1.2, color=VALUE)
    if item.axes[1] == "dimension":
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, 0.0), max(high, 1.15 * item.value))


def _spectra(ax: Any, x: Any, spectra: Any, labels: tuple[str, ...]) -> None:
    """All singular values over the radius, those that are zero left out."""
    named = set()
    floor = 1e-9 * np.nanmax(spectra)
    for sigma, label in zip(spectra.T, labels):
        if (sigma > floor).sum() < 2:
            continue
        shown = np.where(sigma > floor, sigma, np.nan)
        ax.plot(x, shown, "-", lw=1, color=GROWTH[label], label=None if label in named else label)
        named.add(label)
    ax.set_ylabel("singular values", fontsize=8)
    ax.legend(fontsize=7, frameon=False, loc="lower right")
