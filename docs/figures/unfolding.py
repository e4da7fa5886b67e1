"""Chapter 9: maximum variance unfolding and positions from distances."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import lowfold
from figures.parts import (
    ACROSS_IT,
    FOUR,
    KEPT,
    Data,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    explained,
    grid,
    hue,
    sheet,
)  # fmt: skip
from lowfold._core.errors import LowfoldWarning
from lowfold.apps.sensor_network import aligned, locate, position_error

FEW = 200  # of the text's 1,000: a semidefinite program of that size takes minutes


def small(k: int, **parameters: Any) -> Any:
    """The four surfaces with few points."""
    made = {title: Data(data.name, n=FEW) for title, data in FOUR.items()}
    return grid([cell(title, data, "MVU", n_neighbors=k, **parameters) for title, data in made.items()])


def graph() -> Drawn:
    """A neighbourhood graph over its surface."""
    data = Data("swiss_roll", n=600).make()
    edges = lowfold.graph.find_neighbors(data.X, n_neighbors=6).union().edges()
    figure, (ax,) = sheet(1, side=5)
    ax.plot(*np.insert(data.coordinates[edges], 2, np.nan, axis=1).reshape(-1, 2).T, color="0.7", lw=0.6)
    dots(ax, data.coordinates, hue(data), size=6, equal=True)
    return Drawn(figure, [{"": "edges", "of 600 points": len(edges)}])


def roll() -> Drawn:
    """The roll, rebuilt from landmarks by weights of 12 neighbours, and unfolded with 4."""
    data = lowfold.datasets.swiss_roll(FEW, height=12.0, density="area", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        model = lowfold.MVU(2, n_neighbors=4).fit(data.X)
    near = data.X[cKDTree(data.X).query(data.X, 13)[1][:, 1:]]
    rebuilt = np.einsum("nk,nkd->nd", lowfold.kernels.barycentric_weights(data.X, near), near)
    figure, axes = sheet(3, solid=(0, 1))
    for ax, X, title in ((axes[0], data.X, "data"), (axes[1], rebuilt, "by 12 neighbours")):
        dots(ax, X, hue(data), title)
        ax.view_init(12, -75)
    dots(axes[2], model.embedding_, hue(data), "MVU, k = 4", equal=True)
    off = float(np.linalg.norm(rebuilt - data.X) / np.linalg.norm(data.X))
    first, second = explained(data.coordinates, model.embedding_)
    return Drawn(figure, [{"": "MVU", "R² along": first, "R² across": second, "error of the reconstruction": off}])


def refined() -> Drawn:
    """A cycle, and the same with every node joined to those two steps away."""
    turn = np.arange(12) * np.pi / 6
    places = np.column_stack([np.cos(turn), np.sin(turn)])
    figure, axes = sheet(2)
    for ax, reach in zip(axes, (1, 2)):
        for step in range(1, reach + 1):
            for i in range(12):
                ax.plot(*places[[i, (i + step) % 12]].T, color="0.6", zorder=1)
        dots(ax, places, "tab:blue", f"{2 * reach} neighbours of each node", size=40, equal=True)
    return Drawn(figure, [{"": "edges", "before": 12, "after": 24}])


@cache
def cities() -> tuple[Any, Any, float, float]:
    """Cities, what was found from noisy local distances, the radius and the mean number of neighbours."""
    X = lowfold.datasets.us_cities().X
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    radius = float(np.sort(D[np.triu_indices(len(X), 1)])[9 * len(X)])
    noise = np.abs(1 + 0.1 * np.random.default_rng(0).normal(size=D.shape))
    noisy = np.triu(D * noise, 1)
    near = radius >= D
    return X, locate(np.where(near, noisy + noisy.T, np.nan)), radius, float(near.sum(axis=1).mean() - 1)


def map_of(which: str) -> Any:
    """A function that draws the cities: true, as the program places them, or after the refinement."""

    def draw() -> Drawn:
        X, found, radius, count = cities()
        figure, (ax,) = sheet(1, side=6)
        rows: list[Row] = [{"": "cities", "count": len(X), "neighbours on average": count}]
        if which != "true":
            Y = found.relaxed if which == "relaxed" else found.positions
            Z = aligned(Y, X)
            ax.plot(*np.stack([X, Z, np.full_like(X, np.nan)], axis=1).reshape(-1, 2).T, color="0.6", lw=0.8)
            ax.scatter(*Z.T, s=8, color="tab:orange", label="found")
            rows[0]["error over the radius (rms)"] = position_error(Y, X) / radius
        ax.scatter(*X.T, s=8, color="tab:blue", label="true")
        ax.legend()
        ax.set(aspect="equal", xticks=[], yticks=[])
        return Drawn(figure, rows)

    return draw


def landmarks() -> Drawn:
    """A roll by 61 landmarks."""
    data = lowfold.datasets.swiss_roll(2000, random_state=0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = lowfold.LandmarkMVU(2, n_neighbors=5, landmarks=61, landmark_rule="random").fit(data.X)
    figure, (ax,) = sheet(1, side=4.5)
    dots(ax, model.embedding_, hue(data), "61 landmarks", equal=True)
    first, second = explained(data.coordinates, model.embedding_)
    said = [str(w.message) for w in heard if issubclass(w.category, LowfoldWarning)]
    counted = 61 * (4 * 3 // 2) + 1
    return Drawn(figure, [{"": "roll", "R² along": first, "R² across": second, "61 C(4, 2) + 1": counted}], said)


def _pieces(rows: Sequence[Row]) -> bool:
    return "refused" in rows[3] and rows[2][ACROSS_IT] < 0.5


MADE: dict[str, Made] = {
    "wang_9_1": Made(graph),
    "wang_9_2": Made(roll, lambda rows: rows[0]["R² along"] > 0.9),
    "wang_9_3": Made(refined),
    "wang_9_4": Made(small(5), lambda rows: rows[3][ACROSS_IT] > 0.8 and min(column(rows, KEPT)[1:]) > 0.3),
    "wang_9_5": Made(small(3, on_disconnected="raise"), _pieces),
    "wang_9_6": Made(map_of("true")),
    "wang_9_7": Made(map_of("relaxed")),
    "wang_9_8": Made(map_of("refined"), lambda rows: rows[0]["error over the radius (rms)"] < 0.5),
    "wang_9_9": Made(landmarks),
}
