"""LLE, modified LLE, LTSA and Hessian LLE: patches aligned into one picture.

All four cut the data into overlapping neighbourhoods and look for coordinates in which every neighbourhood looks as
it does in the data. They differ in what a neighbourhood says: one set of reconstruction weights (LLE), all weights
that rebuild a point about equally well (modified LLE), tangent coordinates up to affine maps (LTSA), or vanishing
second derivatives (Hessian LLE).

First page: a Swiss roll, the same with a hole, and one with noise. Hue is the true arc length, paleness the true
height; under each picture stands the smaller share of a true coordinate's variance that an affine map of the
embedding explains. Isomap stretches the hole, because its geodesics go around it; the alignment methods do not mind.
Noise bends LLE and LTSA.

Second page: two separate sheets. The kernel of each alone would have a null space of its own; the bridge that joins
them (red) is a patch laid flat across the gap, so that both keep their shape. Beside it supervised LLE on a curve
with three classes: with growing `supervision` the classes contract, at 1 each is a point.

    python examples/plot_alignment.py [--out DIR] [--n POINTS]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowfold
from lowfold import datasets

METHODS = ("Isomap", "LLE", "ModifiedLLE", "LTSA", "HessianLLE")


def explained(truth, Y):
    """The smaller share of a true coordinate's variance that an affine map of Y explains."""
    A = np.column_stack([np.ones(len(Y)), Y])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return (1 - (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)).min()


def colors(truth):
    u = (truth - truth.min(axis=0)) / np.ptp(truth, axis=0)
    hue = plt.get_cmap("turbo")(0.05 + 0.9 * u[:, 0])[:, :3]
    return hue + (1 - hue) * 0.5 * u[:, 1:2]


def upright(Y, truth):
    """Turn an embedding so that the first true coordinate grows to the right and the second upwards."""
    return (Y - Y.mean(axis=0)) @ np.linalg.lstsq(Y - Y.mean(axis=0), truth - truth.mean(axis=0), rcond=None)[0]


def rolls(n, out):
    sets = {
        "Swiss roll": datasets.swiss_roll(n, random_state=0),
        "with a hole": datasets.swiss_hole(n, random_state=0),
        "noise 0.3": datasets.swiss_roll(n, noise=0.3, random_state=0),
    }
    figure = plt.figure(figsize=(15, 8))
    for r, (title, data) in enumerate(sets.items()):
        axes = figure.add_subplot(3, len(METHODS) + 1, r * (len(METHODS) + 1) + 1, projection="3d")
        axes.scatter(*data.X.T, c=colors(data.coordinates), s=3)
        axes.view_init(8, -78)
        axes.set_axis_off()
        axes.set_title(title, fontsize=10)
        for c, name in enumerate(METHODS):
            model = getattr(lowfold, name)(2, n_neighbors=12).fit(data.X)
            share = explained(data.coordinates, model.embedding_)
            axes = figure.add_subplot(3, len(METHODS) + 1, r * (len(METHODS) + 1) + 2 + c)
            Y = model.embedding_ if share < 0.5 else upright(model.embedding_, data.coordinates)
            axes.scatter(*Y.T, c=colors(data.coordinates), s=3)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_title(name if r == 0 else "", fontsize=10)
            axes.set_xlabel(f"{share:.3f}", fontsize=9)
    figure.tight_layout()
    figure.savefig(out / "alignment_rolls.png", dpi=110)


def pieces(n, out):
    rng = np.random.default_rng(0)
    A, B = rng.random((n // 4, 2)), rng.random((n // 4, 2))
    tilt = 0.6
    X = np.vstack(
        [
            np.column_stack([A, np.zeros(len(A))]),
            np.column_stack([1.6 + B[:, 0] * np.cos(tilt), B[:, 1], B[:, 0] * np.sin(tilt)]),
        ]
    )
    truth = np.vstack([A, B + np.array([1.6, 0.0])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowfold._core.errors.DisconnectedWarning)
        model = lowfold.LTSA(2, n_neighbors=10).fit(X)
    figure = plt.figure(figsize=(15, 4))
    axes = figure.add_subplot(1, 5, 1, projection="3d")
    axes.scatter(*X.T, c=colors(truth), s=4)
    for bridge in model.bridges_.edges:
        axes.plot(*X[bridge].T, color="red")
    axes.set_title("two sheets, one bridge", fontsize=10)
    axes.set_axis_off()
    axes = figure.add_subplot(1, 5, 2)
    Y = upright(model.embedding_, truth)
    axes.scatter(*Y.T, c=colors(truth), s=4)
    for bridge in model.bridges_.edges:
        axes.plot(*Y[bridge].T, color="red")
    axes.set_title("LTSA", fontsize=10)
    axes.set_aspect("equal")
    curve = datasets.s_curve(n // 2, random_state=0)
    y = np.digitize(curve.coordinates[:, 0], np.quantile(curve.coordinates[:, 0], [1 / 3, 2 / 3]))
    for c, t in enumerate((0.0, 0.7, 1.0)):
        Y = lowfold.SupervisedLLE(2, n_neighbors=10, supervision=t).fit(curve.X, y).embedding_
        axes = figure.add_subplot(1, 5, 3 + c)
        axes.scatter(*Y.T, c=np.array(["#0072b2", "#e69f00", "#009e73"])[y], s=6)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(f"SupervisedLLE, supervision {t:g}", fontsize=10)
    figure.tight_layout()
    figure.savefig(out / "alignment_pieces.png", dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    parser.add_argument("--n", type=int, default=1200)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rolls(arguments.n, arguments.out)
    pieces(arguments.n, arguments.out)
    print(f"alignment_rolls.png and alignment_pieces.png are in {arguments.out}")


if __name__ == "__main__":
    main()
