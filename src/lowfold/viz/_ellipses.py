"""The push-forward metric drawn: what the embedding makes of equal small discs on the manifold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null, Real, check_limits
from lowfold.graph._landmarks import choose_landmarks
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric
from lowfold.quality._riemann import Distortion
from lowfold.viz._colors import SCALE
from lowfold.viz._scatter import _columns, _frame, _name_axes, _new_figure, _save

TICKS = (1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6, 1e9)
MOST = 5_000  # points among which the centres are chosen


def ellipses(
    Y: ArrayLike,
    distortion: Distortion,
    *,
    n_ellipses: int = 150,
    radius: float | None = None,
    bar: bool = True,
    path: str | Path | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a plane embedding with the images of discs of one radius on the manifold, at evenly spread points.

    Circles of one size: an isometry up to scale. Long ones: a direction is stretched. Small ones: the region takes less
    room than it has. Colour: by which factor some direction is stretched more or less than the common scale.

    Parameters
    ----------
    Y : array (n, 2), the embedding.
    distortion : what `lowfold.quality.riemannian_distortion(X, Y, scaled=True)` gave for it.
    n_ellipses : int, how many are drawn at most.
    radius : float or None, of the discs, in the data's unit; None is so that most ellipses stay apart.
    bar : bool, whether the scale of the colours stands beside the picture.
    path, title, ax : as in `scatter`; without a title the median stretch is told.

    Returns the matplotlib Figure.
    """
    check_limits(
        "ellipses",
        {"n_ellipses": n_ellipses, "radius": radius, "bar": bar},
        {"n_ellipses": (Int(1),), "radius": (Real(0, open_low=True), Null("by the spacing")), "bar": (Flag(),)},
    )
    shown, names = _columns(Y, None)
    known = 0 if distortion.points is None else len(distortion.points)
    if np.shape(Y)[1:] != (2,) or distortion.points is None or known != len(shown):
        raise InvalidInput(
            f"ellipses are drawn for an embedding of 2 columns with its own distortion; got shape {np.shape(Y)} and "
            f"{known} points of distortion"
        )
    some = _centres(shown, n_ellipses)
    half, angle = distortion.ellipses(_radius(shown[some], distortion, some) if radius is None else radius)
    figure = _new_figure(path, (6.4, 5.2)) if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    ax.scatter(*shown.T, s=2, color="0.82", linewidths=0, rasterized=len(shown) > MOST)
    drawn = _collection(shown[some], half[some], angle[some], np.exp(distortion.points[some]), ax)
    _frame(ax, shown)
    words = f"stretch off by a factor {np.exp(distortion.value):.2f} (median)"
    _name_axes(ax, names, title or words, 0)
    if bar:
        beside = figure.colorbar(drawn, ax=ax, shrink=0.8, pad=0.02)
        ticks = [t for t in TICKS if t <= drawn.norm.vmax]
        beside.minorticks_off()
        beside.set_ticks(ticks, labels=[f"{t:g}" for t in ticks])
        beside.outline.set_visible(False)
        beside.set_label("stretch off by a factor")
    if path is not None:
        _save(figure, path)
    return figure


def _centres(Y: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Points spread evenly over the picture: each the farthest from those before."""
    rows = np.unique(np.linspace(0, len(Y) - 1, min(len(Y), MOST)).astype(np.int64))
    if count >= len(rows):
        return rows
    source = Points(np.ascontiguousarray(Y[rows]), resolve_metric("euclidean", None, None))
    return np.asarray(rows[choose_landmarks(source, count, rule="maxmin")])


def _radius(centres: NDArray[np.float64], distortion: Distortion, some: NDArray[np.int64]) -> float:
    """Discs of which nine in ten have images shorter than the way to the next centre."""
    if len(centres) < 2:
        return 1.0
    gaps = nearest(Points(centres, resolve_metric("euclidean", None, None)), 1).distances
    longest = distortion.ellipses()[0][some, 0]
    spacing = float(np.median(gaps)) or float(np.ptp(centres, axis=0).max()) / len(centres) or 1.0
    return 0.5 * spacing / (float(np.quantile(longest, 0.9)) or 1.0)


def _collection(centres: Any, half: Any, angle: Any, factor: Any, ax: Any) -> Any:
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import LogNorm

    top = max(float(np.quantile(factor, 0.95)), 1.1)
    drawn = EllipseCollection(
        2 * half[:, 0],
        2 * half[:, 1],
        np.degrees(angle),
        units="xy",
        offsets=centres,
        offset_transform=ax.transData,
        cmap=SCALE + "_r",
        norm=LogNorm(1.0, top),
        linewidths=0.9,
        facecolors="none",
    )
    drawn.set_array(np.minimum(factor, top))
    drawn.set_facecolor("none")
    ax.add_collection(drawn)
    return drawn
