"""Can this picture be trusted?

Four embeddings of a Swiss roll with a little noise, each point coloured by its own trustworthiness: are the neighbours
that the picture shows neighbours on the roll? Distances on the roll are geodesic, along the graph of neighbours, so
that points on two turns that lie over each other in space count as far apart.

The curves show how many of the K nearest neighbours are kept beyond chance, for every K: on the left small
neighbourhoods, on the right the whole shape. An embedding can be right on one side and wrong on the other.

The ellipses are images of equal small discs on the roll (the push-forward metric): where they are long, the picture
stretches one direction; where they are small, distances in the picture count for more. Dark ones are off the most.

The bars show each method's own objective, at every picture, over its value at the method's own: no picture is better
than the method's own, and pictures that look alike may be far apart in what a method asks for.

The third row fits each method again to ten random four fifths of the roll and lays the pictures together: dark points
move most from one to the next.

The panel below the curves asks how many dimensions the roll has. Estimators look at different scales: noise fills the
smallest, the turns of the roll the largest. Bars are intervals by resampling; hollow marks are those which give a
reason to doubt their value. The linear ones count flat directions, of which a roll needs three.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import lowfold
from lowfold import dimension, quality, viz
from lowfold.dimension._estimate import Estimates
from lowfold.quality._ranks import neighbor_ranks

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def draw_trust(axes: Any, name: str, Y: NDArray[Any], graph: lowfold.graph.Graph) -> Any:
    ranks = neighbor_ranks(graph, Y, 10)
    trust, kept = ranks.trustworthiness(), ranks.continuity()
    points = axes.scatter(*Y.T, c=trust.points, s=6, cmap="viridis", vmin=0.6, vmax=1.0)
    axes.set_title(f"{name}\ntrustworthiness {trust.value:.3f}, continuity {kept.value:.3f}", fontsize=9)
    axes.set(xticks=[], yticks=[])
    return points


def draw_ellipses(axes: Any, X: NDArray[Any], Y: NDArray[Any]) -> None:
    found = quality.riemannian_distortion(X, Y, 12, scaled=True)
    viz.ellipses(Y, found, n_ellipses=120, bar=False, ax=axes)
    axes.set_title(f"median stretch off by a factor {np.exp(found.value):.2f}", fontsize=9)
    axes.set(xticks=[], yticks=[], xlabel="", ylabel="")


def draw_stability(axes: Any, X: NDArray[Any], Y: NDArray[Any], model: Any) -> None:
    found = quality.stability(X, model, n_resamples=10)
    axes.scatter(*Y.T, c=found.points, s=6, cmap="viridis_r", vmin=0.0, vmax=0.5)
    axes.set_title(f"moves by {found.value:.2f} of the radius", fontsize=9)
    axes.set(xticks=[], yticks=[])


def draw_objectives(axes: Any, pictures: dict[str, NDArray[Any]], models: dict[str, Any]) -> None:
    for row, model in enumerate(models.values()):
        for bar, Y in enumerate(pictures.values()):
            found = quality.objective(None, Y, model, scaled=True)
            axes.barh(row + 0.18 * (bar - 1.5), found.value / found.perfect, 0.16, left=0, color=COLORS[bar])
    axes.set_yticks(range(len(models)), list(models))
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(0.9, None), xlabel="objective over its least value", title="what each method asks for")


def draw_dimensions(axes: Any, found: Estimates) -> None:
    for row, item in enumerate(reversed(tuple(found))):
        if np.isnan(item.value):
            continue
        if item.interval is not None:
            axes.plot(item.interval, [row, row], color=COLORS[0], linewidth=2)
        face = COLORS[0] if item.reason is None else "white"
        axes.plot(item.value, row, "o", color=COLORS[0], markerfacecolor=face)
    axes.set_yticks(range(len(found)), [item.name for item in reversed(tuple(found))])
    axes.axvline(2, color="0.7", linewidth=1, zorder=0)
    axes.set(xlabel="dimension", xlim=(0.5, 3.5), title="hollow: doubts itself, and says why")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure four embeddings of a Swiss roll, and its dimension.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    parser.add_argument("--n", type=int, default=1200, help="number of points")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    roll = lowfold.datasets.swiss_roll(options.n, noise=0.1, random_state=0)
    isomap = lowfold.Isomap(2, n_neighbors=8).fit(roll.X)
    models = {
        "PCA": lowfold.PCA(2).fit(roll.X),
        "Isomap": isomap,
        "LTSA": lowfold.LTSA(2, n_neighbors=10).fit(roll.X),
        "LaplacianEigenmaps": lowfold.LaplacianEigenmaps(2, n_neighbors=8).fit(roll.X),
    }
    pictures = {name: model.embedding_ for name, model in models.items()}

    figure, axes = plt.subplots(3, 5, figsize=(17, 9.6), layout="constrained")
    for column, (name, Y) in enumerate(pictures.items()):
        points = draw_trust(axes[0, column], name, Y, isomap.graph_)
        draw_ellipses(axes[1, column], roll.X, Y)
        draw_stability(axes[2, column], roll.X, Y, models[name])
        curve = quality.neighborhood_preservation(isomap.graph_, Y)
        axes[0, 4].plot(curve.sizes, curve.r_nx, color=COLORS[column], label=f"{name}, area {curve.area:.2f}")
    figure.colorbar(points, ax=axes[0, 3], shrink=0.8, label="trustworthiness of the point")
    limits = dict(xlim=(1, options.n / 2), ylim=(0, 1))
    axes[0, 4].set(xscale="log", xlabel="neighbours K", **limits, title="neighbours kept beyond chance")
    axes[0, 4].legend(frameon=False, fontsize=8)
    draw_dimensions(axes[1, 4], dimension.estimate_all(roll.X))
    draw_objectives(axes[2, 4], pictures, models)
    target = options.out / "trust.png"
    figure.savefig(target, dpi=110)
    print(target)


if __name__ == "__main__":
    main()
