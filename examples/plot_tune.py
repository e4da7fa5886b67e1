"""What `tune` decides on.

How many neighbours? On a Swiss roll of 1,000 points the truth is known. For each method, dots with bars: the measure of
`lowfold.tune`, the mean of trustworthiness and continuity by geodesics, over three subsamples; crosses: R^2 of the best
affine map from the embedding of all points to the true coordinates, which `tune` does not see. Grey are numbers of
neighbours whose graph has shortcuts, or is in pieces: they are not eligible, whatever their score. The ring is the
choice.

The second row is the dimension: the share of the votes of five estimators on manifolds of dimension one, two and three.
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

METHODS = ("Isomap", "LTSA", "LLE", "DiffusionMaps")
SIZES = (5, 6, 8, 10, 12, 16, 24, 40)


def draw_neighbors(ax, roll, method: str) -> None:  # type: ignore[no-untyped-def]
    tuned = lowfold.tune(roll.X, method, n_components=2, n_neighbors=SIZES)
    curve = tuned["n_neighbors"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [getattr(lowfold, method)(2, n_neighbors=k) for k in SIZES]
        truth = [lowfold.quality.affine_r2(roll.coordinates, model.fit_transform(roll.X)).value for model in models]
    for value, score, spread in zip(curve.values, curve.scores, curve.spread):
        ax.errorbar(value, score, spread, fmt="o", color="0.7" if value in curve.refused else "C0")
    place = curve.values.index(curve.chosen)
    ax.plot(curve.chosen, curve.scores[place], "o", ms=14, mfc="none", mec="C3", mew=2)
    ax.plot(SIZES, truth, "x--", color="C1", lw=0.8)
    ax.set(title=f"{method}: k = {curve.chosen}, R^2 {truth[place]:.3f}", xlabel="k", xscale="log", ylim=(-0.03, 1.03))
    ax.set_xticks(SIZES, map(str, SIZES), minor=False)
    ax.minorticks_off()


def draw_dimension(ax, d: int) -> None:  # type: ignore[no-untyped-def]
    t = np.random.default_rng(0).random((800, d))
    X = np.column_stack([np.cos(3 * t[:, 0]), np.sin(3 * t[:, 0]), t[:, 1:]])
    curve = lowfold.tune(X, "ltsa", n_neighbors=10)["n_components"]
    colors = ["C3" if value == curve.chosen else "C0" for value in curve.values]
    ax.bar(curve.values, curve.scores, yerr=curve.spread, color=colors)
    ax.set(title=f"dimension {d}: {curve.chosen} found", xlabel="n_components", xlim=(0.4, 4.6), ylim=(0, 1.1))
    ax.set_xticks(range(1, 5))


def draw(out: Path) -> Path:
    roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    figure, axes = plt.subplots(2, 4, figsize=(15, 7.4), layout="constrained")
    for ax, method in zip(axes[0], METHODS):
        draw_neighbors(ax, roll, method)
    for d, ax in enumerate(axes[1, :3], 1):
        draw_dimension(ax, d)
    axes[0, 0].set_ylabel("o measure, x truth")
    axes[1, 0].set_ylabel("share of the votes")
    axes[1, 3].axis("off")
    path = out / "tune.png"
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="What tune decides on.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print(f"wrote {draw(out)}")


if __name__ == "__main__":
    main()
