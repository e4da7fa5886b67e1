"""Kernel PCA: contours of the components, pre-images, and a process written in its own functions.

Top: the three clouds of Schoelkopf, Smola and Mueller (1998) and the first eight kernel principal components of
exp(-|x - y|^2 / 0.1), as contours over the plane: the first two tell the clouds apart, the next ones split them.

Below, left: points near two concentric circles; the first components of a Gaussian kernel tell them apart, which no
line in the plane can. Middle: a noisy spiral, projected on ten components and led back by the fixed-point pre-image.
Right: a Brownian path and its Karhunen-Loeve expansion with 3, 10 and 40 terms.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowfold
from lowfold.kernels import scale_from_width
from lowfold.lowrank import karhunen_loeve
from lowfold.lowrank._mercer import karhunen_loeve_coefficients


def contours(axes) -> None:
    toy = lowfold.datasets.kernel_pca_toy(90, random_state=0)
    model = lowfold.KernelPCA(8, gamma=10.0).fit(toy.X)
    x, y = np.meshgrid(np.linspace(-1, 1, 80), np.linspace(-0.6, 1.1, 80))
    values = model.transform(np.column_stack([x.ravel(), y.ravel()]))
    for j, ax in enumerate(axes):
        ax.contourf(x, y, values[:, j].reshape(x.shape), levels=15, cmap="RdBu_r")
        ax.scatter(*toy.X.T, s=4, color="black")
        ax.set(title=f"component {j + 1}, {model.eigenvalues_[j]:.1f}", xticks=[], yticks=[])


def rings(axes) -> None:
    data = lowfold.datasets.concentric_circles(300, noise=0.05, random_state=0)
    axes[0].scatter(*data.X.T, c=data.labels, s=8, cmap="coolwarm")
    axes[0].set(title="two circles", aspect="equal", xticks=[], yticks=[])
    Y = lowfold.KernelPCA(5, gamma=1 / scale_from_width(1.0)).fit_transform(data.X)
    axes[1].scatter(Y[:, 2], Y[:, 4], c=data.labels, s=8, cmap="coolwarm")
    axes[1].set(title="components 3 and 5", xticks=[], yticks=[])


def pre_images(ax) -> None:
    rng = np.random.default_rng(0)
    t = np.sqrt(rng.random(400)) * 3 * np.pi
    noisy = np.column_stack([t * np.cos(t), t * np.sin(t)]) / 3 + 0.12 * rng.normal(size=(400, 2))
    model = lowfold.KernelPCA(10, gamma=0.3, preimage="fixed_point").fit(noisy)
    back = model.inverse_transform(model.transform(noisy))
    ax.scatter(*noisy.T, s=5, color="lightgrey", label="noisy")
    ax.scatter(*back.T, s=5, color="tab:blue", label="pre-images of 10 components")
    ax.set(aspect="equal", xticks=[], yticks=[], title="a spiral through the kernel and back")
    ax.legend(fontsize=7)


def brownian(ax) -> None:
    t = np.linspace(0, 1, 400)
    expansion = karhunen_loeve(np.minimum, t)
    rng = np.random.default_rng(3)
    path = np.concatenate([[0], np.cumsum(rng.normal(size=399) * np.sqrt(np.diff(t)))])
    ax.plot(t, path, color="lightgrey", label="path")
    for terms in (3, 10, 40):
        x = karhunen_loeve_coefficients(expansion, path, terms)
        ax.plot(t, expansion.functions[:, :terms] @ x[0], linewidth=1, label=f"{terms} terms")
    ax.set(title="Brownian motion", xlabel="t")
    ax.legend(fontsize=7)


def draw(out: Path) -> Path:
    figure, axes = plt.subplots(3, 4, figsize=(16, 11), layout="constrained")
    contours(axes[:2].ravel())
    rings(axes[2, :2])
    pre_images(axes[2, 2])
    brownian(axes[2, 3])
    path = out / "kernel_pca.png"
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print(draw(out))


if __name__ == "__main__":
    main()
