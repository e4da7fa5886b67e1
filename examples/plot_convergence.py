"""How graph Laplacians converge to the Laplace-Beltrami operator.

Eigenvalues (1 - lambda) / (scale / 4) of diffusion maps with the kernel exp(-d^2 / scale), against those of the
manifold.

Top: a circle that is sampled unevenly, density (1 + cos / 2) / 2 pi. With alpha = 1 the density cancels and the
eigenvalues are 1, 1, 4, 4, 9, 9; with alpha = 1/2 and 0 they tend to those of the Laplacian weighted by p and p^2
(crosses), which splits the pairs. Bottom left: the sphere, l (l + 1) with multiplicity 2 l + 1. Bottom middle: the flat
torus. Bottom right: vector fields on the sphere, l (l + 1) - 1 with multiplicities 6, 10, 14, from the connection
Laplacian.

    python examples/plot_convergence.py [--out DIR]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import eigh

import lowfold
from lowfold.geometry._spectra import flat_torus_eigenvalues

SIZES = (100, 200, 400, 800, 1600)


def fibonacci(n):
    i = np.arange(n) + 0.5
    z, phi = 1 - 2 * i / n, np.pi * (1 + 5**0.5) * i
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z])


def uneven_circle(n):
    grid = np.linspace(0, 2 * np.pi, 100_001)
    angle = np.interp((np.arange(n) + 0.5) / n, (grid + 0.5 * np.sin(grid)) / (2 * np.pi), grid)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def generator(X, scale, k, alpha=1.0):
    model = lowfold.DiffusionMaps(k, radius=np.sqrt(30 * scale), scale=scale, alpha=alpha, t=0).fit(X)
    return (1 - model.eigenvalues_) / (scale / 4)


def weighted(power, k, m=800):
    theta = np.arange(m) * 2 * np.pi / m
    mu, between = (1 + 0.5 * np.cos(theta)) ** power, (1 + 0.5 * np.cos(theta + np.pi / m)) ** power
    h2 = (2 * np.pi / m) ** 2
    off = -between / h2 / np.sqrt(mu * np.roll(mu, -1))
    A = np.diag((between + np.roll(between, 1)) / h2 / mu) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
    A[0, -1] = A[-1, 0] = off[-1]
    return eigh(A, subset_by_index=(1, k), eigvals_only=True)


def circle(axes):
    for axis, alpha in zip(axes, (0.0, 0.5, 1.0)):
        found = np.array([generator(uneven_circle(n), 20.0 / n**1.2, 6, alpha) for n in SIZES])
        axis.semilogx(SIZES, found, "o-", color="tab:blue", markersize=3, linewidth=0.8)
        truth = weighted(2 * (1 - alpha), 6)
        axis.plot(np.full(6, 2.2 * SIZES[-1]), truth, "x", color="k")
        axis.set_title(f"uneven circle, alpha = {alpha:g}", fontsize=10)
        axis.set_ylim(0, 10)


def sphere(axis):
    found = np.array([generator(fibonacci(n), 20.0 / n, 15) for n in SIZES])
    axis.semilogx(SIZES, found, "o-", color="tab:blue", markersize=3, linewidth=0.8)
    for value in (2, 6, 12):
        axis.axhline(value, color="0.6", linewidth=0.8)
    axis.set_title("sphere: 2, 6, 12 (3, 5, 7 times)", fontsize=10)


def torus(axis):
    sides = (12, 16, 24, 36, 48)
    found = []
    for m in sides:
        u = np.arange(m) * 2 * np.pi / m
        a, b = (g.ravel() for g in np.meshgrid(u, u))
        X = np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])
        found.append(generator(X, 60.0 / m**2, 12))
    axis.semilogx([m * m for m in sides], np.array(found), "o-", color="tab:blue", markersize=3, linewidth=0.8)
    for value in np.unique(flat_torus_eigenvalues(13)[1:]):
        axis.axhline(value, color="0.6", linewidth=0.8)
    axis.set_title("flat torus: 1, 2, 4 (4 times each)", fontsize=10)


def fields(axis):
    sizes = (300, 600, 1200, 2400)
    found = []
    for n in sizes:
        scale = 36.0 / n
        model = lowfold.VectorDiffusionMaps(
            1, n_eigenvectors=30, tangent_dim=2, radius=np.sqrt(8 * scale), scale=scale, pca_scale=scale / 3
        ).fit(fibonacci(n))
        cut = (1 - 9 * np.exp(-8)) / (1 - np.exp(-8))
        found.append((1 - model.eigenvalues_) / (scale / 4 * cut))
    axis.semilogx(sizes, np.array(found), "o-", color="tab:orange", markersize=3, linewidth=0.8)
    for value in (1, 5, 11):
        axis.axhline(value, color="0.6", linewidth=0.8)
    axis.set_title("vector fields on the sphere: 1, 5, 11 (6, 10, 14 times)", fontsize=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), layout="constrained")
    circle(axes[0])
    sphere(axes[1, 0])
    torus(axes[1, 1])
    fields(axes[1, 2])
    for axis in axes.flat:
        axis.set_xlabel("points", fontsize=8)
    figure.savefig(out / "convergence.png", dpi=100)
    print(out / "convergence.png")


if __name__ == "__main__":
    main()
