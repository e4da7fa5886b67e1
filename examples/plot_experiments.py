"""Noise, neighbours and shapes: where six spectral methods hold and where they break.

The experiments of Wang (2012), chapters 10 to 14: 1,000 points, 10 neighbours, two dimensions, coloured by the first
true coordinate. GL and LB are diffusion maps with alpha = 0 and 1. Under each picture stands the share of the ten
nearest points in the picture that are among the thirty nearest in truth: 1 is perfect.

First page, noise. On the S-curve all lose what the noise hides; the walks (Laplacian eigenmaps, diffusion maps) lose
least at 0.2. On the Swiss roll noise of 0.4 takes a coordinate from the local fits.

Second page, the number of neighbours, on the S-curve. With 4 the neighbourhoods of LLE fall into closed classes and
those of LTSA say too little; Hessian LLE needs 6. With 30 and 60 a neighbourhood is no longer flat: Hessian LLE goes
first, the walks do not mind.

Third page, shapes. A higher punched sphere has a smaller hole to be opened at. A longer roll or S-curve with as many
points has neighbourhoods that reach across; LTSA and Hessian LLE come back with more points. On a strip more than
three times as long as wide the second function of a walk is a harmonic of the first, however many points there are.

    python examples/plot_experiments.py [--out DIR] [--n POINTS]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

import lowfold
from lowfold import datasets
from lowfold._core.errors import LowfoldWarning

METHODS = {
    "LLE": (lowfold.LLE, {}),
    "LTSA": (lowfold.LTSA, {}),
    "HessianLLE": (lowfold.HessianLLE, {}),
    "LaplacianEigenmaps": (lowfold.LaplacianEigenmaps, {}),
    "DiffusionMaps, GL": (lowfold.DiffusionMaps, {"alpha": 0.0}),
    "DiffusionMaps, LB": (lowfold.DiffusionMaps, {"alpha": 1.0}),
}


def truth(data):
    """Isometric coordinates, or the stereographic image of the punched sphere."""
    if data.coordinates is not None:
        return data.coordinates
    turn, down = data.parameters.T
    return np.column_stack([np.cos(turn), np.sin(turn)]) * np.tan((np.pi - down) / 2)[:, None]


def score(T, Y):
    found, real = cKDTree(Y).query(Y, 11)[1][:, 1:], cKDTree(T).query(T, 31)[1][:, 1:]
    return (found[:, :, None] == real[:, None, :]).any(axis=2).mean()


def page(rows, file):
    """One row of pictures per (title, data, number of neighbours)."""
    figure, axes = plt.subplots(
        len(rows), len(METHODS) + 1, figsize=(15, 2.2 * len(rows)), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0, 1:], METHODS):
        axis.set_title(name, fontsize=9)
    for line, (title, data, k) in zip(axes, rows):
        T = truth(data)
        line[0].scatter(data.X[:, 0], data.X[:, 2], c=T[:, 0], s=2, cmap="viridis")
        line[0].set_aspect("equal")
        line[0].set_ylabel(title, fontsize=9)
        for axis, (name, (method, options)) in zip(line[1:], METHODS.items()):
            if name == "HessianLLE" and k < 6:
                axis.text(0.5, 0.5, "needs 6 neighbours", ha="center", fontsize=8, transform=axis.transAxes)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowfoldWarning)  # that pieces were joined is not the point here
                Y = method(2, n_neighbors=k, **options).fit_transform(data.X)
            axis.scatter(*Y.T, c=T[:, 0], s=2, cmap="viridis")
            axis.set_xlabel(f"{score(T, Y):.2f}", fontsize=9)
        for axis in line:
            axis.set_xticks([])
            axis.set_yticks([])
    figure.savefig(file, dpi=90)
    plt.close(figure)
    print(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    parser.add_argument("--n", type=int, default=1000)
    arguments = parser.parse_args()
    n, out = arguments.n, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    curve, roll, sphere = datasets.s_curve, datasets.swiss_roll, datasets.punched_sphere
    noise = [(f"S-curve, noise {s:g}", curve(n, noise=s, random_state=0), 10) for s in (0.0, 0.2, 0.4)]
    noise += [(f"Swiss roll, noise {s:g}", roll(n, noise=s, random_state=0), 10) for s in (0.0, 0.4)]
    page(noise, out / "experiments_noise.png")
    page([(f"S-curve, k = {k}", curve(n, random_state=0), k) for k in (4, 8, 15, 30, 60)], out / "experiments_k.png")
    shapes = [(f"sphere, height {h:g}", sphere(n, height=h, random_state=0), 10) for h in (0.5, 0.75, 0.9)]
    shapes += [(f"S-curve, length {h}", curve(n, height=h, random_state=0), 10) for h in (5, 30)]
    shapes += [("length 30, 6 times the points", curve(6 * n, height=30, random_state=0), 10)]
    shapes += [(f"Swiss roll, length {h}", roll(n, height=h, random_state=0), 10) for h in (21, 51, 81)]
    page(shapes, out / "experiments_shapes.png")


if __name__ == "__main__":
    main()
