"""Chapter 8: shortest paths and Isomap."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

import lowfold
from figures.parts import (
    ACROSS_IT,
    CLUSTER,
    CURVE,
    KEPT,
    ROLL,
    SPHERE,
    SQUARE,
    TEN,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    grid,
    heights,
    neighbors,
    sheet,
)  # fmt: skip
from lowfold._core.errors import LowfoldWarning

EDGES = {(1, 2): 1, (1, 3): 8, (1, 5): 14, (2, 3): 5, (2, 4): 10, (3, 4): 5, (3, 5): 6, (4, 6): 2, (5, 6): 4}
PRINTED_WAYS = (0, 1, 6, 11, 12, 13)
FLAT = [cell("square", SQUARE, "Isomap", **TEN)]
ROUND = [cell("3-D cluster", CLUSTER, "Isomap", **TEN), cell("punched sphere", SPHERE, "Isomap", **TEN)]
SHEETS = [cell("Swiss roll", ROLL, "Isomap", **TEN), cell("S-curve", CURVE, "Isomap", **TEN)]
COUNTS = [
    *neighbors(ROLL, (5, 10, 15), "Isomap"),
    cell("k = 15, shortcuts removed", ROLL, "Isomap", n_neighbors=15, on_shortcut="remove"),
]


def dijkstra() -> Drawn:
    """Six nodes and the ways from the first."""
    from scipy.sparse import coo_matrix

    i, j = np.array(list(EDGES)).T - 1
    W = coo_matrix((np.array(list(EDGES.values()), dtype=float), (i, j)), shape=(6, 6)).tocsr()
    found = lowfold.graph.geodesics(lowfold.graph.as_graph(W + W.T), sources=[0])[0]
    places = np.array([[0, 0], [1, 1.2], [1.2, 0], [2.4, 1.0], [2.2, -1.0], [3.6, 0]])
    figure, (ax,) = sheet(1, side=4.5)
    for (a, b), length in EDGES.items():
        ax.plot(*places[[a - 1, b - 1]].T, color="0.6")
        ax.text(*places[[a - 1, b - 1]].mean(axis=0), str(length), color="tab:red", ha="center")
    ax.scatter(*places.T, s=200, zorder=3)
    for node, place in enumerate(places, 1):
        ax.text(*place, str(node), color="white", ha="center", va="center", zorder=4)
    ax.set_axis_off()
    ways = zip(found, PRINTED_WAYS)
    return Drawn(figure, [{"node": str(n), "ours": f"{a:g}", "printed": f"{b}"} for n, (a, b) in enumerate(ways, 1)])


def faces() -> Drawn:
    """Images with two angles and a light, in three dimensions."""
    data = lowfold.datasets.rendered_object(698, random_state=0, image_shape=(64, 64))
    rows = []
    for name, options in (("Isomap", {"n_neighbors": 6}), ("PCA", {})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowfoldWarning)
            Y = getattr(lowfold, name)(3, **options).fit_transform(data.X)
        R = np.abs(np.corrcoef(data.parameters.T, Y.T)[:3, 3:])
        A = np.column_stack([np.ones(len(Y)), Y])
        rest = data.parameters - A @ np.linalg.lstsq(A, data.parameters, rcond=None)[0]
        fit = np.sqrt(1 - rest.var(axis=0) / data.parameters.var(axis=0))
        named = zip(("left-right", "up-down", "light"), R.max(axis=1), fit)
        rows += [{"": f"{name}, {what}", "R of the best axis": a, "R of all three axes": b} for what, a, b in named]
        if name == "Isomap":
            figure, axes = sheet(3)
            for ax, t, best, what in zip(axes, data.parameters.T, R.argmax(axis=1), ("left-right", "up-down", "light")):
                other = (best + 1) % 3
                dots(ax, Y[:, [best, other]], t, f"coloured by {what}", size=8)
    return Drawn(figure, rows)


def twos() -> Drawn:
    """Handwritten twos within a radius."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    X, images = digits.data[digits.target == 2], digits.images[digits.target == 2]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = lowfold.Isomap(2, radius=24.0, on_disconnected="largest").fit(X)
    figure, (ax,) = sheet(1, side=6)
    there = np.isfinite(model.embedding_[:, 0])
    lowfold.viz.images_at(model.embedding_[there], images[there], ax=ax)
    ax.set_aspect("equal")
    said = [str(w.message) for w in heard]
    return Drawn(figure, [{"": "twos", "count": len(X), "in the largest piece": int(there.sum())}], said)


def _ways(rows: Sequence[Row]) -> bool:
    return all(float(row["ours"]) == float(row["printed"]) for row in rows)


def _insensitive(rows: Sequence[Row]) -> bool:
    five, ten, fifteen, removed = column(rows, ACROSS_IT)
    return fifteen < 0.5 < five < ten and removed > 0.97


def _found(rows: Sequence[Row]) -> bool:
    ours = {row[""]: row["R of all three axes"] for row in rows}
    return min(ours["Isomap, left-right"], ours["Isomap, up-down"]) > 0.9


MADE: dict[str, Made] = {
    "wang_8_1": Made(dijkstra, _ways),
    "wang_8_2": Made(grid(FLAT + ROUND, equal=True), lambda rows: rows[0][KEPT] > 0.99 and rows[2][KEPT] > 0.7),
    "wang_8_3": Made(grid(SHEETS, equal=True), lambda rows: min(column(rows, ACROSS_IT)) > 0.97),
    "wang_8_4": Made(
        grid(heights("Isomap", **TEN), equal=True),
        lambda rows: rows[0][KEPT] > rows[1][KEPT] + 0.1 > rows[2][KEPT] + 0.2,
    ),
    "wang_8_5": Made(grid(COUNTS, equal=True), _insensitive),
    "wang_8_6": Made(faces, _found),
    "wang_8_7": Made(twos),
}
