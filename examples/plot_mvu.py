"""Unfolding with a proof.

Maximum variance unfolding pulls points apart as far as their local distances allow. First picture: a Swiss roll, how
springs of different stiffness unfold it, and the spectrum of the learned kernel, in which two large eigenvalues show
the dimension. Inequalities narrow the sheet; exact equalities inside neighbourhoods of seven points of space leave the
roll rigid. Each title has the share of the true coordinates that a linear map recovers and the relative duality gap.

Second picture: cities of the United States placed by noisy distances to near cities alone (10% noise, 18 neighbours on
average, no anchors), after Wang (2012), Section 9.3. Lines lead from the true place to the one found.
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
from lowfold.apps.sensor_network import aligned, locate, position_error


def affine_r2(Y: np.ndarray, truth: np.ndarray) -> float:
    A = np.column_stack([Y, np.ones(len(Y))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return float((1 - np.sum(rest**2, axis=0) / np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)).min())


def draw_roll(out: Path, n: int = 300) -> Path:
    roll = lowfold.datasets.swiss_roll(n, height=15.0, density="area", random_state=1)
    settings = [
        ("springs, nu auto", {}),
        ("soft springs, nu = 20", {"nu": 20.0}),
        ("inequalities", {"constraints": "ineq"}),
        ("1000 points, 60 landmarks", None),
    ]
    figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    axes[0, 0].scatter(roll.X[:, 0], roll.X[:, 2], c=roll.color, s=10, cmap="viridis")
    axes[0, 0].set(title="Swiss roll, seen along its axis", aspect="equal")
    for ax, (title, options) in zip(axes.flat[1:5], settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lowfold._core.errors.LowfoldWarning)
            if options is None:
                roll = lowfold.datasets.swiss_roll(1000, height=15.0, density="area", random_state=1)
                model = lowfold.LandmarkMVU(2, n_neighbors=5, landmarks=60).fit(roll.X)
            else:
                model = lowfold.MVU(2, n_neighbors=5, tol=5e-3, **options).fit(roll.X)
        ax.scatter(*model.embedding_.T, c=roll.color, s=10, cmap="viridis")
        quality = affine_r2(model.embedding_, roll.coordinates)
        ax.set(title=f"{title}\nR² {quality:.3f}, gap {abs(model.duality_gap_):.0e}", aspect="equal")
        shown = model.spectrum_[:8] / model.spectrum_.sum()
        axes[1, 2].plot(np.arange(1, len(shown) + 1), shown, marker="o", label=title)
    axes[1, 2].set(yscale="log", ylim=(1e-6, 1.2), xlabel="eigenvalue", title="spectrum of K, shares of the trace")
    axes[1, 2].legend(fontsize=8)
    path = out / "mvu_roll.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def draw_cities(out: Path) -> Path:
    X = lowfold.datasets.us_cities().X
    n = len(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    radius = np.sort(D[np.triu_indices(n, 1)])[9 * n]
    rng = np.random.default_rng(0)
    noisy = np.triu(D * np.abs(1 + 0.1 * rng.normal(size=D.shape)), 1)
    found = locate(np.where(radius >= D, noisy + noisy.T, np.nan))
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    for ax, Y, title in zip(axes, (found.relaxed, found.positions), ("relaxed program", "after conjugate gradients")):
        Z = aligned(Y, X)
        ax.plot(*np.stack([X, Z, np.full_like(X, np.nan)], axis=1).reshape(-1, 2).T, color="0.6", lw=0.8)
        ax.scatter(*X.T, s=6, color="tab:blue", label="true")
        ax.scatter(*Z.T, s=6, color="tab:orange", label="found")
        ax.set(title=f"{title}: off by {position_error(Y, X):.0f} km (rms)", aspect="equal", xticks=[], yticks=[])
    axes[0].legend(loc="lower left")
    path = out / "mvu_cities.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for draw in (draw_roll, draw_cities):
        print(draw(out))


if __name__ == "__main__":
    main()
