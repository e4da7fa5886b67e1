"""Chapters 10 to 13: LLE, LTSA, Laplacian eigenmaps and Hessian LLE, with surface, noise, k and shape varied."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

import lowfold
from figures.parts import (
    ACROSS_IT,
    ALONG,
    CURVE,
    FOUR,
    KEPT,
    ROLL,
    TEN,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    explained,
    grid,
    heights,
    hue,
    lengths,
    neighbors,
    noisy,
    quietly,
    sheet,
)  # fmt: skip

NO_CLUSTER = ("punched sphere", "Swiss roll", "S-curve")
SHEETS = ("Swiss roll", "S-curve")
COUNTS = (8, 10, 12, 15, 30, 60)
ROLLS, CURVES = (21, 51, 81), (5, 10, 30)


def four(method: str) -> Any:
    """The four surfaces."""
    return grid([cell(title, data, method, **TEN) for title, data in FOUR.items()])


def noise(method: str, size: float, names: Sequence[str] = tuple(FOUR)) -> Any:
    """Surfaces with noise."""
    return grid(noisy(size, names, method, **TEN))


def ordered() -> Drawn:
    """A shuffled sequence of images put in order by LLE."""
    turn = lowfold.datasets.rotating_object(120, random_state=0, image_shape=(32, 32))
    half = turn.parameters[:, 0] < 0
    X, images, angle = turn.X[half], turn.images[half], turn.parameters[half, 0]
    found = lowfold.apps.order_collection(X, "LLE", closed=False, n_neighbors=8)
    figure, axes = sheet(12, across=12, side=1.0)
    for ax, i in zip(axes, found.order[np.linspace(0, len(X) - 1, 12).astype(int)]):
        ax.imshow(images[i], cmap="gray")
        ax.set_axis_off()
    rho = float(abs(spearmanr(found.place, angle).statistic))
    return Drawn(figure, [{"": "place and angle", "images": len(X), "rank correlation": rho}])


def neighborhood() -> Drawn:
    """One image and the 24 nearest to it."""
    data = lowfold.datasets.occluded_disks(400, random_state=0, image_shape=(24, 24))
    near = cKDTree(data.X).query(data.X[7], 25)[1]
    figure, axes = sheet(25, across=9, side=1.0)
    for ax, i in zip(axes, near):
        ax.imshow(data.images[i], cmap="gray")
        ax.set_axis_off()
    spread = data.parameters[near].std(axis=0) / data.parameters.std(axis=0)
    return Drawn(figure, [{"": "spread of the parameters over that of all images", "largest": float(spread.max())}])


def patches() -> Drawn:
    """Local coordinates of overlapping neighbourhoods, before and after they are aligned."""
    data = CURVE.make()
    figure, (loose, whole) = sheet(2, across=2)
    for i in np.random.default_rng(0).choice(len(data.X), 12, replace=False):
        near = cKDTree(data.X).query(data.X[i], 40)[1]
        Xc = data.X[near] - data.X[near].mean(axis=0)
        shown = Xc @ np.linalg.svd(Xc, full_matrices=False)[2][:2].T
        loose.scatter(*shown.T, c=data.coordinates[near, 0], s=8, vmin=0, vmax=data.coordinates[:, 0].max())
    Y = lowfold.LTSA(2, n_neighbors=10).fit_transform(data.X)
    dots(whole, Y, data.coordinates[:, 0], "aligned")
    loose.set(title="tangent coordinates of 12 patches", xticks=[], yticks=[])
    loose.title.set_fontsize(10)
    return Drawn(figure, [{"": "aligned", "R² of the worse coordinate": float(explained(data.coordinates, Y).min())}])


def hole() -> Drawn:
    """The roll with a hole by three methods."""
    data = lowfold.datasets.swiss_hole(600, random_state=0)
    figure, axes = sheet(3)
    rows = []
    for ax, (name, k) in zip(axes, (("LLE", 12), ("HessianLLE", 12), ("Isomap", 7))):
        Y = quietly(getattr(lowfold, name)(2, n_neighbors=k, on_shortcut="remove"), data.X)
        dots(ax, Y, hue(data), f"{name}, k = {k}", size=6)
        first, second = explained(data.coordinates, Y)
        rows.append({"": name, ALONG: float(first), ACROSS_IT: float(second)})
    return Drawn(figure, rows)


# What has to hold for the sentences of words.toml -------------------------------------------------------------------


def _good_but_cluster(rows: Sequence[Row]) -> bool:
    return rows[0][KEPT] < 0.6 and min(column(rows[1:], KEPT)) > 0.7


def _falls(rows: Sequence[Row]) -> bool:
    scores = column(rows, KEPT)
    return all(a > b for a, b in itertools.pairwise(scores))


def _last_lost(rows: Sequence[Row]) -> bool:
    return min(column(rows[:2], ALONG)) > 0.9 and rows[2][ALONG] < 0.1


def _first_alone(rows: Sequence[Row]) -> bool:
    return rows[0][ALONG] > 0.99 and max(column(rows[1:], ALONG)) < 0.5


def _wide_range(rows: Sequence[Row]) -> bool:
    four, *middle, thirty, sixty = column(rows, KEPT)
    return min(middle) > 0.95 > thirty > sixty > four


def _narrow_range(rows: Sequence[Row]) -> bool:
    return min(column(rows[:3], ALONG)) > 0.99 and max(column(rows[3:], ALONG)) < 0.7


def _repeated(rows: Sequence[Row]) -> bool:
    return rows[2][ALONG] > 0.95 and rows[2][ACROSS_IT] < 0.1 and min(rows[1][KEPT], rows[3][KEPT]) > 0.85


def _wide_enough(rows: Sequence[Row]) -> bool:
    return (
        rows[0][ACROSS_IT] < 0.1 and min(rows[1][ALONG], rows[1][ACROSS_IT]) > 0.75 and rows[2][ALONG] < rows[1][ALONG]
    )


def _hole_kept(rows: Sequence[Row]) -> bool:
    lle, hessian, isomap = column(rows, ACROSS_IT)
    return hessian > 0.99 > max(lle, isomap)


LE, HLLE = "LaplacianEigenmaps", "HessianLLE"
MADE: dict[str, Made] = {
    "wang_10_1": Made(four("LLE"), _good_but_cluster),
    "wang_10_2": Made(noise("LLE", 0.2), lambda rows: rows[1][KEPT] < 0.2 and rows[3][KEPT] < 0.8 < rows[2][KEPT]),
    "wang_10_3": Made(noise("LLE", 0.4), lambda rows: rows[1][KEPT] < 0.1 and rows[3][KEPT] < 0.4),
    "wang_10_4": Made(grid(neighbors(CURVE, (4, 8, 12, 15, 30, 60), "LLE")), _wide_range),
    "wang_10_5": Made(grid(lengths("swiss_roll", ROLLS, "LLE", **TEN)), _falls),
    "wang_10_6": Made(ordered, lambda rows: rows[0]["rank correlation"] > 0.98),
    "wang_10_7": Made(neighborhood, lambda rows: rows[0]["largest"] < 0.5),
    "wang_11_1": Made(patches, lambda rows: rows[0]["R² of the worse coordinate"] > 0.99),
    "wang_11_2": Made(four("LTSA"), lambda rows: _good_but_cluster(rows) and rows[2][ACROSS_IT] > 0.99),
    "wang_11_3": Made(noise("LTSA", 0.1), lambda rows: min(column(rows, ALONG)) > 0.95 and rows[1][KEPT] < 0.5),
    "wang_11_4": Made(grid(neighbors(ROLL, COUNTS, "LTSA")), _narrow_range),
    "wang_11_5": Made(grid(heights("LTSA", **TEN)), _falls),
    "wang_11_6": Made(grid(lengths("swiss_roll", ROLLS, "LTSA", **TEN)), _first_alone),
    "wang_11_7": Made(grid(lengths("s_curve", CURVES, "LTSA", **TEN)), _last_lost),
    "wang_12_1": Made(four(LE), _repeated),
    "wang_12_2": Made(noise(LE, 0.2, NO_CLUSTER), lambda rows: rows[2][KEPT] > 0.75 and rows[0][KEPT] < 0.2),
    "wang_12_3": Made(noise(LE, 0.4, NO_CLUSTER), lambda rows: 0.3 < rows[2][KEPT] < 0.5 and rows[0][KEPT] < 0.1),
    "wang_12_4": Made(grid(heights(LE, **TEN)), lambda rows: _falls(rows) and rows[2][KEPT] > 0.7),
    "wang_12_5": Made(grid(lengths("swiss_roll", ROLLS, LE, **TEN)), _wide_enough),
    "wang_12_6": Made(grid(lengths("s_curve", CURVES, LE, **TEN)), _last_lost),
    "wang_13_1": Made(four(HLLE), lambda rows: _good_but_cluster(rows) and rows[2][ACROSS_IT] > 0.99),
    "wang_13_2": Made(noise(HLLE, 0.2, SHEETS), lambda rows: rows[0][ACROSS_IT] > 0.98 and rows[1][KEPT] < 0.8),
    "wang_13_3": Made(noise(HLLE, 0.4, SHEETS), lambda rows: rows[0][ALONG] < 0.9 and rows[1][KEPT] < 0.5),
    "wang_13_4": Made(grid(heights(HLLE, **TEN)), _falls),
    "wang_13_5": Made(grid(lengths("swiss_roll", ROLLS, HLLE, **TEN)), _first_alone),
    "wang_13_6": Made(grid(lengths("s_curve", CURVES, HLLE, **TEN)), _last_lost),
    "wang_13_7": Made(grid(neighbors(ROLL, COUNTS, HLLE)), _narrow_range),
    "wang_13_8": Made(hole, _hole_kept),
}
