"""Chapter 14: diffusion maps (GL is alpha = 0, LB alpha = 1, ST self-tuning) and what they were used for."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import lowfold
from figures.parts import (
    ACROSS_IT,
    ALONG,
    CURVE,
    FOUR,
    KEPT,
    TEN,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    grid,
    heights,
    lengths,
    neighbors,
    noisy,
    sheet,
)  # fmt: skip

GL, LB = {"alpha": 0.0}, {"alpha": 1.0}
ST = {"weights": "self_tuning", "tuning": 10, "alpha": 0.0}
DM = "DiffusionMaps"
COUNTS = (5, 8, 10, 15, 30, 60)


def four(**options: Any) -> Any:
    """The four surfaces."""
    return grid([cell(title, data, DM, **TEN, **options) for title, data in FOUR.items()])


def scales(**options: Any) -> Any:
    """One surface, growing width of the heat kernel."""
    made = [cell(f"t = {t}", CURVE, DM, **TEN, scale=float(t), **options) for t in (1, 2, 5, 10, 12)]
    return grid([*made, cell("t infinite", CURVE, DM, **TEN, weights="binary", **options)])


def helix() -> Drawn:
    """A curve wound round a torus becomes a circle."""
    s = np.arange(800) * 2 * np.pi / 800
    X = np.column_stack([(2 + np.cos(8 * s)) * np.cos(s), (2 + np.cos(8 * s)) * np.sin(s), np.sin(8 * s)])
    figure, axes = sheet(3, solid=(0,))
    dots(axes[0], X, s, "toroidal helix")
    rows = []
    for ax, (name, options) in zip(axes[1:], (("GL", GL), ("LB", LB))):
        Y = lowfold.DiffusionMaps(2, **TEN, t=0, **options).fit_transform(X)
        dots(ax, Y, s, name, equal=True)
        radius = np.linalg.norm(Y, axis=1)
        turns = np.diff(np.unwrap(np.arctan2(Y[:, 1], Y[:, 0]))).sum() / (2 * np.pi)
        rows.append({"": name, "variation of the radius": radius.std() / radius.mean(), "turns": round(abs(turns), 2)})
    return Drawn(figure, rows)


@cache
def _shuffled() -> tuple[Any, Any, Any]:
    half = lowfold.datasets.rotating_object(72, even=True, image_shape=(48, 40))
    order = np.random.default_rng(0).permutation(36)
    return half.X[:36][order], half.images[:36][order], half.parameters[:36, 0][order]


def _strip(images: Any) -> Any:
    figure, axes = sheet(len(images), across=12, side=0.8)
    for ax, image in zip(axes, images):
        ax.imshow(image, cmap="gray")
        ax.set_axis_off()
    return figure


def shuffled() -> Drawn:
    """The collection as it is given."""
    images = _shuffled()[1]
    return Drawn(_strip(images), [{"": "images", "count": len(images)}])


def reordered() -> Drawn:
    """The collection in the order of the first eigenfunction."""
    X, images, angle = _shuffled()
    found = lowfold.apps.order_collection(X, closed=False, n_neighbors=5)
    rho = float(abs(spearmanr(found.place, angle).statistic))
    return Drawn(_strip(images[found.order]), [{"": "place and angle", "rank correlation": rho}])


@cache
def _words() -> Any:
    return lowfold.datasets.word_images(1275, grid=(51, 25))


def words() -> Drawn:
    """Some of the images."""
    data = _words()
    return Drawn(_strip(data.images[:: 1275 // 24][:24]), [{"": "images", "count": 1275, "51 x 25": 51 * 25}])


def angles() -> Drawn:
    """The plane of the first two eigenfunctions."""
    data = _words()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = lowfold.apps.reveal(data.X, known=data.parameters, n_neighbors=8, alpha=0.0)
    figure, axes = sheet(2)
    for ax, t, name in zip(axes, data.parameters.T, ("first angle", "second angle")):
        dots(ax, found.coordinates, t, f"coloured by the {name}", size=6)
    rows = [{"": f"angle {i + 1}", "rank correlation": float(r)} for i, r in enumerate(found.correlation)]
    return Drawn(figure, rows, [str(w.message) for w in heard])


@cache
def _scene() -> Any:
    return lowfold.datasets.hyperspectral_cube(40 * 40, random_state=0, noise=0.01)


def bands() -> Drawn:
    """Some bands of the cube."""
    scene = _scene()
    chosen = np.linspace(0, scene.cube.shape[2] - 1, 6).astype(int)
    figure = _strip(np.moveaxis(scene.cube[:, :, chosen], 2, 0))
    return Drawn(figure, [{"": "bands", "count": scene.cube.shape[2]}])


def features() -> Drawn:
    """Eigenfunctions as images, and how well they tell the materials apart."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    scene = _scene()
    X = scene.cube.reshape(-1, scene.cube.shape[2])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Y = lowfold.DiffusionMaps(6, n_neighbors=20, metric="angular").fit_transform(X)
    figure, axes = sheet(6)
    for i, ax in enumerate(axes):
        ax.imshow(Y[:, i].reshape(scene.cube.shape[:2]), cmap="viridis")
        ax.set_title(f"feature {i + 1}", fontsize=10)
        ax.set_axis_off()
    kinds = scene.parameters.argmax(axis=1)
    found = KMeans(3, n_init=5, random_state=0).fit_predict(Y[:, :2] / Y[:, :2].std(axis=0))
    rows = [{"": "three clusters of the first two", "adjusted Rand": float(adjusted_rand_score(kinds, found))}]
    return Drawn(figure, rows, [str(w.message) for w in heard])


def _harmonic(rows: Sequence[Row]) -> bool:
    return rows[2][ALONG] > 0.95 and rows[2][ACROSS_IT] < 0.1 and rows[3][KEPT] > 0.9


def _steady(rows: Sequence[Row]) -> bool:
    return min(column(rows, KEPT)) > 0.9


def _falls(rows: Sequence[Row]) -> bool:
    scores = column(rows, KEPT)
    return all(a > b for a, b in itertools.pairwise(scores)) and scores[-1] > 0.7


MADE: dict[str, Made] = {
    "wang_14_1": Made(four(**GL), _harmonic),
    "wang_14_2": Made(
        grid(noisy(0.2, tuple(FOUR), DM, **TEN, **GL)), lambda rows: rows[3][KEPT] > 0.75 and rows[1][KEPT] < 0.2
    ),
    "wang_14_3": Made(grid(noisy(0.4, tuple(FOUR), DM, **TEN, **GL)), lambda rows: rows[3][KEPT] < 0.5),
    "wang_14_4": Made(grid(heights(DM, **TEN, **GL)), _falls),
    "wang_14_5": Made(grid(lengths("s_curve", (5, 10, 30), DM, **TEN, **GL)), lambda rows: rows[2][ALONG] < 0.1),
    "wang_14_6": Made(grid(neighbors(CURVE, COUNTS, DM, **GL)), _steady),
    "wang_14_7": Made(scales(**GL), _steady),
    "wang_14_8": Made(four(**LB), _harmonic),
    "wang_14_9": Made(grid(heights(DM, **TEN, **LB)), _falls),
    "wang_14_10": Made(grid(neighbors(CURVE, COUNTS, DM, **LB)), _steady),
    "wang_14_11": Made(scales(**LB), _steady),
    "wang_14_12": Made(four(**ST), _harmonic),
    "wang_14_13": Made(helix, lambda rows: max(column(rows, "variation of the radius")) < 0.01),
    "wang_14_14": Made(shuffled),
    "wang_14_15": Made(reordered, lambda rows: rows[0]["rank correlation"] > 0.99),
    "wang_14_16": Made(words),
    "wang_14_17": Made(angles, lambda rows: min(column(rows, "rank correlation")) > 0.9),
    "wang_14_18": Made(bands),
    "wang_14_19": Made(features, lambda rows: rows[0]["adjusted Rand"] > 0.8),
}
