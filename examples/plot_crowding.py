"""The crowding problem.

In ten dimensions a point can have eleven neighbours at equal distances, and the room within a moderate distance grows
with the tenth power; in a plane there is not enough area for them. SNE and symmetric SNE match Gaussian probabilities
on both sides, so points that are moderately far apart are pressed together in the map: the clusters touch. t-SNE gives
the map heavy tails, 1 / (1 + d^2), under which moderate distances may become large ones, and gaps open between the
clusters. The number is the least distance between two centres over the spread of the clusters.

Below each map, all pairs of points, by their distance in the data (across) and in the map (up). With Gaussian tails
pairs of different clusters follow on those within one; with heavy tails there is a gap between the two, which the data
do not have.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowfold

CLUSTERS, EACH, PERPLEXITY = 9, 50, 20


def clusters() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    centres = 2.1 * rng.normal(size=(CLUSTERS, 10))
    return np.vstack([c + rng.normal(size=(EACH, 10)) for c in centres]), np.repeat(np.arange(CLUSTERS), EACH)


def separation(Y: np.ndarray, labels: np.ndarray) -> float:
    means = np.array([Y[labels == c].mean(axis=0) for c in range(CLUSTERS)])
    spread = np.sqrt(((Y - means[labels]) ** 2).sum(axis=1).mean())
    gaps = lowfold.metrics.pairwise(means)
    return float(gaps[np.triu_indices(CLUSTERS, 1)].min() / spread)


def draw(out: Path) -> Path:
    X, labels = clusters()
    upper = np.triu_indices(len(X), 1)
    d_data = lowfold.metrics.pairwise(X)[upper]
    models = {
        "PCA": lowfold.PCA(2),
        "SNE": lowfold.SNE(2, perplexity=PERPLEXITY),
        "symmetric SNE": lowfold.SymmetricSNE(2, perplexity=PERPLEXITY),
        "t-SNE": lowfold.TSNE(2, perplexity=PERPLEXITY),
    }
    figure, axes = plt.subplots(2, 4, figsize=(15, 7.6), layout="constrained", height_ratios=[2, 1.2])
    for column, (name, model) in enumerate(models.items()):
        Y = model.fit_transform(X)
        top, low = axes[:, column]
        top.scatter(*Y.T, c=labels, cmap="tab10", s=12)
        cost = f", KL {model.kl_divergence_:.2f}" if hasattr(model, "kl_divergence_") else ""
        top.set(xticks=[], yticks=[], aspect="equal", title=f"{name}: separation {separation(Y, labels):.1f}{cost}")
        low.scatter(d_data, lowfold.metrics.pairwise(Y)[upper], s=1, alpha=0.05, color="0.2", rasterized=True)
        low.set(xlabel="distance in the data", ylabel="in the map" if column == 0 else None)
    path = out / "crowding.png"
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="The crowding problem.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print(f"wrote {draw(out)}")


if __name__ == "__main__":
    main()
