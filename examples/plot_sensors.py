"""A thousand sensors from the distances they can hear.

1,055 places in a rectangle; each pair within reach (18 neighbours on average) is measured with noise of 10%, nothing
else is known: the experiment of Wang (2012), Figures 9.6 to 9.8. Above, distances and variance give a kernel of nearly
two dimensions, and its leading eigenvectors a good start for conjugate gradients. Below, distances alone (9.17)
are met in as many dimensions as the noise takes; two of them hold little, and no descent from there unfolds the map.
Lines lead from the true place to the one found; errors are in units of the reach.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from lowfold.apps.sensor_network import aligned, locate, position_error


def field(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """True places, what was measured (NaN: nothing), and the reach."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2)) * [1.6, 1.0]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    reach = float(np.sqrt(18 * 1.6 / (n * np.pi)))
    noisy = np.triu(D * np.abs(1 + 0.1 * rng.normal(size=D.shape)), 1)
    return X, np.where(reach >= D, noisy + noisy.T, np.nan), reach


def draw(out: Path, n: int, seed: int) -> Path:
    X, D, reach = field(n, seed)
    figure, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
    for row, kind in zip(axes, ("variance", "fit")):
        found = locate(D, relaxation=kind)
        held = found.spectrum[:2].sum() / found.spectrum.sum()
        titles = (f"{kind}: two eigenvectors hold {held:.1%}", "after conjugate gradients")
        for ax, Y, title in zip(row, (found.relaxed, found.positions), titles):
            Z, off = aligned(Y, X), position_error(Y, X) / reach
            ax.plot(*np.stack([X, Z, np.full_like(X, np.nan)], axis=1).reshape(-1, 2).T, color="0.6", lw=0.6)
            ax.scatter(*Z.T, s=4, c=X[:, 0], cmap="viridis")
            ax.set(title=f"{title}; off by {off:.2f}", aspect="equal", xticks=[], yticks=[])
    path = out / "sensors.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    parser.add_argument("--sensors", type=int, default=1055)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print(draw(given.out, given.sensors, given.seed))


if __name__ == "__main__":
    main()
