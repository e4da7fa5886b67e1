"""Seven factors, measured.

Surveys of manifold learning print a table of grades: is a method fast, does it keep the geometry, does it bear noise,
uneven sampling, clusters, high dimension, and how much does it depend on its parameters? Wittman's comparison (2005)
has seven such columns, filled with words from "very good" to "very bad". Here they are figures, on his four shapes:
Swiss roll, toroidal helix, corner planes, punctured sphere. Each shape is known exactly, so that every picture is held
against the true distances along it, and each method embeds every shape seven times: as it is, with noise, unevenly
sampled, as two separate copies, in 60 dimensions, and with fewer and more neighbours.

The picture shows the means over the shapes, one column per factor; dark is good. What each figure is stands below it. A
loss below 0 means that the picture became better. `--methods all` runs every method, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lowfold.select import seven_factors
from lowfold.select._factors import Factors

# Those of the survey, and others that are as quick.
METHODS = [
    "PCA", "Isomap", "LandmarkIsomap", "LLE", "ModifiedLLE", "LTSA", "HessianLLE", "LaplacianEigenmaps",
    "DiffusionMaps",
]  # fmt: skip
LARGER = {"kept", "geometry"}  # of the others less is better


def goodness(values: np.ndarray, factor: str) -> np.ndarray:
    """Rank of each method in one column, from 0 (worst) to 1; a colour for what has no common unit."""
    rising = values if factor in LARGER else -values
    order = np.argsort(np.argsort(rising))
    return np.where(np.isnan(values), np.nan, order / max(1, len(values) - 1))


def draw(found: Factors, target: Path) -> None:
    means = found.mean()
    figure = Figure(figsize=(11, 1.2 + 0.36 * len(found.methods)), layout="constrained")
    FigureCanvasAgg(figure)
    ax: Any = figure.subplots()
    shades = np.column_stack([goodness(column, name) for column, name in zip(means.T, found.factors)])
    ax.imshow(shades, cmap="Blues", vmin=-0.15, vmax=1.4, aspect="auto")
    for i, row in enumerate(means):
        for j, value in enumerate(row):
            ax.text(j, i, "-" if np.isnan(value) else f"{value:.3f}", ha="center", va="center")
    ax.set_xticks(range(len(found.factors)), found.factors)
    ax.set_yticks(range(len(found.methods)), found.methods)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    figure.savefig(target, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure methods by seven factors on four shapes.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the table")
    parser.add_argument("--n", type=int, default=1000, help="points of every data set")
    parser.add_argument("--methods", nargs="*", default=METHODS, help='names, or "all"')
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for one fit")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    found = seven_factors(None if options.methods == ["all"] else options.methods, n=options.n, budget=options.budget)
    draw(found, options.out / "seven_factors.png")
    by_shape = "\n\n".join(f"{shape}\n{found.table(shape)}" for shape in found.shapes)
    (options.out / "seven_factors.txt").write_text(f"{found}\n\n{by_shape}\n", encoding="utf-8")
    (options.out / "seven_factors.json").write_text(json.dumps(found.to_dict(), indent=1) + "\n", encoding="utf-8")
    print(found)
    print(options.out / "seven_factors.png")


if __name__ == "__main__":
    main()
