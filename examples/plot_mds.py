"""Maps from tables of distances.

Twenty towns of Great Britain, known only by how far apart they are. Classical MDS needs the whole table; metric MDS
draws the map from six tenths of it; nonmetric MDS from nothing but the order of the distances. Grey crosses are the
true places, lines lead from them to the found ones after the best movement (and, for the order alone, the best scale).

The second picture is the Shepard diagram of a bad road network: travel times rise with distance, but not in proportion.
Metric MDS takes times for distances; nonmetric MDS finds the curve (the steps) by itself, and a better map.

The third: three tables of the same towns, by three travellers to whom north-south counts 0.3, 1 and 1.7 times as much
as east-west (in squares). Weighted MDS finds the common map with its axes, and each traveller's weights.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowfold

TOWNS = {
    "Aberdeen": (57.15, -2.10),
    "Aberystwyth": (52.41, -4.08),
    "Birmingham": (52.48, -1.90),
    "Brighton": (50.82, -0.14),
    "Bristol": (51.45, -2.59),
    "Cambridge": (52.21, 0.12),
    "Cardiff": (51.48, -3.18),
    "Carlisle": (54.89, -2.94),
    "Dover": (51.13, 1.31),
    "Edinburgh": (55.95, -3.19),
    "Exeter": (50.72, -3.53),
    "Glasgow": (55.86, -4.25),
    "Inverness": (57.48, -4.22),
    "Leeds": (53.80, -1.55),
    "London": (51.51, -0.13),
    "Manchester": (53.48, -2.24),
    "Newcastle": (54.98, -1.61),
    "Norwich": (52.63, 1.30),
    "Penzance": (50.12, -5.54),
    "Southampton": (50.90, -1.40),
}


def places() -> np.ndarray:
    """Kilometres east and north, flat around the middle of the island."""
    latitude, longitude = np.array(list(TOWNS.values())).T
    return np.column_stack([111.32 * np.cos(np.radians(54)) * (longitude + 2), 111.32 * (latitude - 54)])


def moved(Y: np.ndarray, X: np.ndarray, *, scale: bool = False) -> np.ndarray:
    """Y shifted and turned (and scaled) onto X."""
    Yc, mean = Y - Y.mean(axis=0), X.mean(axis=0)
    U, s, Vt = np.linalg.svd(Yc.T @ (X - mean))
    size = s.sum() / (Yc**2).sum() if scale else 1.0
    return size * Yc @ U @ Vt + mean


def draw_map(ax, X: np.ndarray, Y: np.ndarray, title: str) -> None:
    for a, b in zip(X, Y):
        ax.plot([a[0], b[0]], [a[1], b[1]], color="tab:red", linewidth=1)
    ax.scatter(*X.T, marker="x", color="0.6", s=30)
    ax.scatter(*Y.T, color="tab:blue", s=14, zorder=3)
    for name, (x, y) in zip(TOWNS, Y):
        ax.annotate(name, (x, y), fontsize=6.5, xytext=(3, 2), textcoords="offset points")
    error = np.sqrt(((X - Y) ** 2).sum(axis=1).mean())
    ax.set_title(f"{title}\n{error:.1f} km off", fontsize=10)
    ax.margins(0.14)
    ax.set(aspect="equal", xticks=[], yticks=[])


def draw_maps(out: Path) -> Path:
    X = places()
    D = lowfold.metrics.pairwise(X)
    gaps = D.copy()
    hole = np.triu(np.random.default_rng(3).random(D.shape) < 0.4, 1)
    gaps[hole | hole.T] = np.nan
    tight = {"metric": "precomputed", "tol": 1e-12, "max_iter": 3000}
    classical = lowfold.ClassicalMDS(2, metric="precomputed").fit_transform(D)
    metric = lowfold.MetricMDS(2, **tight).fit_transform(gaps)
    nonmetric = lowfold.NonmetricMDS(2, **tight).fit_transform(D)
    figure, axes = plt.subplots(1, 3, figsize=(13, 6.5), layout="constrained")
    draw_map(axes[0], X, moved(classical, X), "classical MDS, all distances")
    draw_map(axes[1], X, moved(metric, X), "metric MDS, six tenths of them")
    draw_map(axes[2], X, moved(nonmetric, X, scale=True), "nonmetric MDS, their order only")
    path = out / "mds_maps.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def draw_shepard(out: Path) -> Path:
    X = places()
    rng = np.random.default_rng(0)
    D = lowfold.metrics.pairwise(X)
    times = 40 * (D / 100) ** 0.5 * np.exp(0.03 * rng.normal(size=D.shape))
    times = (times + times.T) / 2
    metric = lowfold.MetricMDS(2, metric="precomputed").fit(times)
    nonmetric = lowfold.NonmetricMDS(2, metric="precomputed").fit(times)
    figure, axes = plt.subplots(2, 2, figsize=(10, 10), layout="constrained")
    for row, (name, model) in enumerate({"metric MDS": metric, "nonmetric MDS": nonmetric}.items()):
        pairs = model.shepard()
        order = np.argsort(pairs.dissimilarities)
        ax = axes[row, 0]
        ax.scatter(pairs.dissimilarities, pairs.distances, s=8, color="0.6", label="distance in the map")
        steps = "default" if row == 0 else "steps-mid"
        ax.plot(pairs.dissimilarities[order], pairs.disparities[order], drawstyle=steps, label="fitted to")
        ax.set(xlabel="travel time, minutes", title=f"{name}: stress-1 = {model.normalized_stress_:.3f}")
        ax.legend()
        draw_map(axes[row, 1], X, moved(model.embedding_, X, scale=True), name)
    path = out / "mds_shepard.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def draw_travellers(out: Path) -> Path:
    X = places()
    rng = np.random.default_rng(1)
    weights = np.array([[1.7, 0.3], [1.0, 1.0], [0.3, 1.7]])
    tables = []
    for w in weights:
        D = lowfold.metrics.pairwise(X * np.sqrt(w)) * np.exp(0.02 * rng.normal(size=(len(X), len(X))))
        tables.append((D + D.T) / 2)
    model = lowfold.WeightedMDS(2).fit(tables)
    north = int(np.argmax([abs(np.corrcoef(column, X[:, 1])[0, 1]) for column in model.embedding_.T]))
    axes_of = [1 - north, north]
    signs = np.sign([np.corrcoef(model.embedding_[:, a], X[:, k])[0, 1] for k, a in enumerate(axes_of)])
    figure, axes = plt.subplots(1, 4, figsize=(14, 4.6), layout="constrained")
    for k, ax in enumerate(axes[:3]):
        Y = model.configurations_[k][:, axes_of] * signs
        ax.scatter(*Y.T, s=14)
        for name, (x, y) in zip(TOWNS, Y):
            ax.annotate(name, (x, y), fontsize=5.5, xytext=(2, 2), textcoords="offset points")
        ax.set(aspect="equal", xticks=[], yticks=[], title=f"traveller {k + 1}")
    found = model.weights_[:, axes_of]
    axes[3].plot([0, 2], [0, 2], color="0.8")
    for k, label in enumerate(("east-west", "north-south")):
        axes[3].scatter(weights[:, k], found[:, k], label=label, s=40)
    axes[3].set(aspect="equal", xlabel="weight planted", ylabel="weight found", title="weights of the axes")
    axes[3].legend()
    path = out / "mds_travellers.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="Maps from tables of distances.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for path in (draw_maps(out), draw_shepard(out), draw_travellers(out)):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
