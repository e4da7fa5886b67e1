"""Chapters 1 to 7: what high dimensions are like, the surfaces, graphs, and what PCA does with them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import lowfold
from figures.parts import (
    CLUSTER,
    CURVE,
    KEPT,
    ROLL,
    SPHERE,
    Data,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    grid,
    hue,
    sheet,
)
from lowfold.dimension import two_nearest
from lowfold.geometry._high_dimension import GAUSSIAN_TAIL_DIMENSIONS, gaussian_tail

PRINTED_TAILS = (0.04550, 0.13534, 0.54942, 0.94734, 0.99995, 1.00000)
ESTIMATED = "intrinsic dimension, estimated"
MIXED = "colours mixed"
VANISHING = 1e-6  # an error of rounding, not of the method
BRIDGES = ((0, 1), (0, 1), (0, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # the island is 0, the two banks 1 and 2


def mosaic(images: Any, *, across: int = 10) -> Any:
    """Images in rows."""
    figure, axes = sheet(len(images), across=across, side=0.8)
    for ax, image in zip(axes, images):
        ax.imshow(image, cmap="gray")
        ax.set_axis_off()
    return figure


def collection() -> Drawn:
    """Ten turns of an object under ten lights."""
    images = lowfold.datasets.rendered_object(50, random_state=0, image_shape=(32, 32)).images
    rows = lowfold.datasets.vectorize(images)
    return Drawn(mosaic(images), [{"": "rows", "count": len(rows), "pixels": rows.shape[1]}])


def digits() -> Drawn:
    """Handwritten digits, ink as 1."""
    from sklearn.datasets import load_digits

    images = load_digits().images[:50]
    ink = images > 8
    return Drawn(mosaic(ink), [{"": "share of pixels that are not 0", "share": float(ink.mean())}])


def cube() -> Drawn:
    """One spectrum and one band of a cube."""
    scene = lowfold.datasets.hyperspectral_cube(48 * 48, random_state=0, noise=0.01)
    figure, (band, line) = sheet(2)
    band.imshow(scene.cube[:, :, 30], cmap="gray")
    band.set_title(f"one slice: the band at {scene.wavelengths[30]:.0f} nm", fontsize=10)
    band.set_axis_off()
    for pixel in ((10, 10), (40, 30)):
        line.plot(scene.wavelengths, scene.cube[pixel], lw=1, label=f"pixel {pixel}")
    line.set_title("one line through it: a spectrum", fontsize=10)
    line.legend(fontsize=8)
    height, width, bands = scene.cube.shape
    return Drawn(figure, [{"": "cube", "rows": height, "columns": width, "bands": bands}])


def tails() -> Drawn:
    """Mass of a Gaussian outside a ball of radius 2."""
    D = list(GAUSSIAN_TAIL_DIMENSIONS)
    ours = gaussian_tail(D)
    figure, (ax,) = sheet(1, side=4)
    ax.plot(D, ours, "o-", label="ours")
    ax.plot(D, PRINTED_TAILS, "x", label="printed")
    ax.set(xscale="log", xlabel="dimension", ylabel="mass outside radius 2")
    ax.legend()
    lines = zip(D, ours, PRINTED_TAILS)
    return Drawn(figure, [{"dimension": str(d), "ours": f"{a:.6f}", "printed": f"{b:.5f}"} for d, a, b in lines])


def _close_tails(rows: Sequence[Row]) -> bool:
    return all(abs(float(row["ours"]) - float(row["printed"])) < 1.1e-5 for row in rows)


def curve_or_plane() -> Drawn:
    """Points of a plane are also points of a curve."""
    points = np.random.default_rng(0).random((40, 2))
    order = np.lexsort((points[:, 1], np.floor(points[:, 0] * 6)))
    figure, (plane, curve) = sheet(2)
    dots(plane, points, "tab:blue", "of a plane", size=20)
    curve.plot(*points[order].T, color="0.6")
    dots(curve, points, "tab:blue", "or of a curve", size=20)
    return Drawn(figure)


def surfaces(names: Sequence[Data]) -> Any:
    """A function that draws surfaces in space."""

    def draw() -> Drawn:
        figure, axes = sheet(len(names), solid=range(len(names)), side=4)
        rows = []
        for ax, one in zip(axes, names):
            data = one.make()
            dots(ax, data.X, hue(data), one.name.replace("_", " "))
            ax.view_init(12, -75)
            ax.set_box_aspect(np.ptp(data.X, axis=0))
            if one is not CLUSTER:  # its segments and spheres have different dimensions
                rows.append({"": one.name.replace("_", " "), ESTIMATED: two_nearest(data.X).value})
        return Drawn(figure, rows)

    return draw


def asymmetric() -> Drawn:
    """Six points, three neighbours each: an arrow need not have an answer."""
    X = np.array([[0, 0], [1, 0.2], [0.4, 0.9], [1.3, 1.1], [2.2, 0.6], [4.2, 1.0]])
    found = lowfold.graph.find_neighbors(X, n_neighbors=3)
    figure, (ax,) = sheet(1, side=4.5)
    near = found.indices.reshape(6, 3)
    for i, row in enumerate(near):
        for j in row:
            ax.annotate("", X[j], X[i], arrowprops={"arrowstyle": "->", "color": "0.5", "shrinkA": 6, "shrinkB": 6})
    ax.scatter(*X.T, s=60, zorder=3)
    ax.set_axis_off()
    pairs = {(i, int(j)) for i, row in enumerate(near) for j in row}
    alone = sum((j, i) not in pairs for i, j in pairs)
    return Drawn(figure, [{"": "arrows", "all": len(pairs), "without an answer": alone}])


def bridges() -> Drawn:
    """Königsberg as a graph."""
    places = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.6, 0.0]])
    figure, (ax,) = sheet(1, side=4)
    for i, j in BRIDGES:
        twice = BRIDGES.count((i, j)) == 2
        for bend in (-0.2, 0.2) if twice else (0.0,):
            style = {"arrowstyle": "-", "connectionstyle": f"arc3,rad={bend}"}
            ax.annotate("", places[j], places[i], arrowprops=style)
    ax.scatter(*places.T, s=120, zorder=3)
    ax.set_axis_off()
    degrees = np.bincount(np.ravel(BRIDGES))
    return Drawn(figure, [{"": f"part {i + 1}", "bridges": str(d)} for i, d in enumerate(degrees)])


def faces_of(n: int = 36) -> Any:
    """One object that turns by a half, as the head of the text's collection does."""
    turn = lowfold.datasets.rotating_object(2 * n, even=True, image_shape=(48, 40))
    return turn.images[:n]


def training() -> Drawn:
    """The training images."""
    images = faces_of()
    return Drawn(mosaic(images, across=9), [{"": "images", "count": len(images), "pixels": images[0].size}])


def eigenfaces() -> Drawn:
    """The average image and the first components."""
    images = faces_of()
    model = lowfold.PCA(11).fit(lowfold.datasets.vectorize(images))
    shown = [model.mean_.reshape(48, 40), *(part.reshape(48, 40) for part in model.components_)]
    share = np.cumsum(model.eigenvalues_) / model.total_variance_
    rows = [{"components": str(d), "share of the variance": float(share[d - 1])} for d in (1, 2, 5, 11)]
    return Drawn(mosaic(shown, across=6), rows)


def reconstructions() -> Drawn:
    """One image from more and more components."""
    images = faces_of()
    X = lowfold.datasets.vectorize(images)
    shown, rows = [images[5]], []
    for d in (1, 3, 5, 10, 20, 35):
        model = lowfold.PCA(d).fit(X)
        back = model.inverse_transform(model.transform(X[5:6]))
        shown.append(back.reshape(48, 40))
        rows.append({"components": str(d), "relative error": float(np.linalg.norm(back - X[5]) / np.linalg.norm(X[5]))})
    return Drawn(mosaic(shown, across=7), rows)


def mixed(names: dict[str, Data]) -> Any:
    """PCA, and how far apart along the surface neighbours in the picture are; 1 is as far as any two points."""

    def draw() -> Drawn:
        made = _pca(names)()
        rows = []
        for title, one in names.items():
            data = one.make()
            Y, along = lowfold.PCA(2).fit_transform(data.X), data.coordinates[:, 0]
            near = cKDTree(Y).query(Y, 11)[1][:, 1:]
            far = np.abs(along[near] - along[:, None]).mean() / np.abs(along - along[::-1]).mean()
            rows.append({"": title, MIXED: float(far)})
        return Drawn(made.figure, rows)

    return draw


def _falls_to_nothing(rows: Sequence[Row]) -> bool:
    errors = column(rows, "relative error")
    return all(a > b for a, b in itertools.pairwise(errors)) and errors[-1] < VANISHING


def _pca(names: dict[str, Data]) -> Any:
    return grid([cell(title, data, "PCA") for title, data in names.items()], equal=True)


FIVE_ONE = {name.replace("_", " "): Data(name, n=2000) for name in ("square", "cluster_3d", "punched_sphere")}
SHORT = {"Swiss roll, length 4": Data("swiss_roll", 2000, 4), "S-curve, length 1": Data("s_curve", 2000, 1)}
LONG = {"Swiss roll, length 81": Data("swiss_roll", 2000, 81), "S-curve, length 30": Data("s_curve", 2000, 30)}
MADE: dict[str, Made] = {
    "wang_1_2": Made(collection),
    "wang_1_3": Made(digits, lambda rows: rows[0]["share"] < 0.5),
    "wang_1_4": Made(cube),
    "wang_table_1_1": Made(tails, _close_tails),
    "wang_1_5": Made(curve_or_plane),
    "wang_1_6": Made(surfaces((ROLL, CURVE)), lambda rows: all(round(v) == 2 for v in column(rows, ESTIMATED))),
    "wang_1_7": Made(surfaces((SPHERE, CLUSTER))),
    "wang_3_1": Made(asymmetric, lambda rows: rows[0]["without an answer"] > 0),
    "wang_3_2": Made(bridges, lambda rows: sorted(int(row["bridges"]) for row in rows) == [3, 3, 3, 5]),
    "wang_5_1": Made(_pca(FIVE_ONE), lambda rows: rows[0][KEPT] > 0.999 and max(column(rows[1:], KEPT)) < 0.9),
    "wang_5_2": Made(mixed(SHORT), lambda rows: max(column(rows, MIXED)) < 0.05),
    "wang_5_3": Made(mixed(LONG), lambda rows: min(column(rows, MIXED)) > 0.1),
    "wang_5_5": Made(training),
    "wang_5_6": Made(eigenfaces, lambda rows: rows[-1]["share of the variance"] > 0.8),
    "wang_5_7": Made(reconstructions, _falls_to_nothing),
}
