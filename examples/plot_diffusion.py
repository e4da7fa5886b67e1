"""Diffusion maps, Isomap's variants, vector fields and cuts.

First page, diffusion maps. Top row: four surfaces of 1,000 points, 10 neighbours, coloured by their true coordinate; a
good map does not mix colours. Middle row: what density does. Points on an interval crowd at one end; with alpha = 0 the
first coordinate is flat where they are dense, with alpha = 1 it is the cosine of the even interval. A toroidal helix
becomes a circle. Diffusion time shrinks all but the first coordinates. Bottom row: a photograph cut into regions by
spectral clustering of its pixels, and the eigenvectors that cut it.

Second page, Isomap and transport. A Swiss roll with too many neighbours: Isomap takes a short cut through the gap,
neighbours in local planes do not. A plane stretched by the complex exponential: conformal lengths undo it. Landmarks:
60 of 2,000 points carry the map. The slowest vector field on a sphere, found by vector diffusion maps.

    python examples/plot_diffusion.py [--out DIR]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import procrustes

import lowfold
from lowfold import datasets
from lowfold._core.errors import DisconnectedWarning
from lowfold.graph import pixel_graph


def plain(axis, title):
    axis.set_title(title, fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def surfaces(axes):
    made = {
        "Swiss roll": datasets.swiss_roll(1000, random_state=0),
        "S-curve": datasets.s_curve(1000, random_state=0),
        "punched sphere": datasets.punched_sphere(1000, random_state=0),
        "3-D cluster": datasets.cluster_3d(1000, random_state=0),
    }
    for axis, (name, data) in zip(axes, made.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedWarning)  # the cluster's balls are joined by thin rods
            Y = lowfold.DiffusionMaps(2, n_neighbors=10).fit_transform(data.X)
        axis.scatter(*Y.T, c=data.color[:, 0] if np.ndim(data.color) > 1 else data.color, s=4, cmap="viridis")
        plain(axis, name)


def densities(axis):
    x = np.sort(np.random.default_rng(0).beta(1, 3, size=1500))
    x = x[x < 0.8]
    for alpha, colour in ((0.0, "tab:red"), (1.0, "tab:blue")):
        y = lowfold.DiffusionMaps(1, radius=0.08, scale=0.002, alpha=alpha, t=0).fit_transform(x[:, None])[:, 0]
        axis.plot(x, y * np.sign(y[0]), color=colour, label=f"alpha = {alpha:g}")
    axis.plot(x, np.sqrt(2) * np.cos(np.pi * x / x.max()), "k:", label="cosine")
    axis.plot(x, np.full(len(x), -2.6), "|", color="0.6", markersize=5, alpha=0.1)
    axis.legend(fontsize=8)
    axis.set_title("uneven density", fontsize=10)


def times(axis):
    X = datasets.s_curve(800, random_state=0).X
    for t in (1, 4, 16, 64):
        model = lowfold.DiffusionMaps(12, n_neighbors=10, t=t).fit(X)
        axis.plot(np.arange(1, 13), np.maximum(model.eigenvalues_, 0) ** t, "o-", markersize=3, label=f"t = {t}")
    axis.legend(fontsize=8)
    axis.set_xlabel("coordinate", fontsize=8)
    axis.set_title("weight of coordinates over time", fontsize=10)


def picture(axes):
    from sklearn.datasets import load_sample_image

    image = load_sample_image("china.jpg")[::4, ::4] / 255.0
    model = lowfold.SpectralClustering(8, scale=1.0).fit(pixel_graph(image, radius=5, intensity=0.15))
    shape = image.shape[:2]
    axes[0].imshow(image)
    plain(axes[0], "photograph")
    axes[1].imshow(model.labels_.reshape(shape), cmap="tab10")
    plain(axes[1], f"8 regions, normalised cut {model.normalized_cut_:.3f}")
    for axis, c in zip(axes[2:], (1, 2)):
        axis.imshow(model.embedding_[:, c].reshape(shape), cmap="coolwarm")
        plain(axis, f"eigenvector {c + 1}")


def first_page(out):
    figure, axes = plt.subplots(3, 4, figsize=(14, 9.5), layout="constrained")
    surfaces(axes[0])
    densities(axes[1, 0])
    times(axes[1, 1])
    s = np.arange(800) * 2 * np.pi / 800
    helix = np.column_stack([(2 + np.cos(8 * s)) * np.cos(s), (2 + np.cos(8 * s)) * np.sin(s), np.sin(8 * s)])
    Y = lowfold.DiffusionMaps(2, n_neighbors=10, t=0).fit_transform(helix)
    axes[1, 2].scatter(helix[:, 0], helix[:, 1], c=s, s=3, cmap="hsv")
    axes[1, 3].scatter(*Y.T, c=s, s=3, cmap="hsv")
    plain(axes[1, 2], "toroidal helix, from above")
    plain(axes[1, 3], "its diffusion map")
    for axis in axes[1, 2:]:
        axis.set_aspect("equal")
    picture(axes[2])
    figure.savefig(out / "diffusion.png", dpi=100)
    print(out / "diffusion.png")


def second_page(out):
    figure, axes = plt.subplots(2, 4, figsize=(14, 7), layout="constrained")
    roll = datasets.swiss_roll(1000, noise=0.5, random_state=0)
    for axis, cls in zip(axes[0], (lowfold.Isomap, lowfold.LocallyLinearIsomap)):
        axis.scatter(*cls(2, n_neighbors=12).fit_transform(roll.X).T, c=roll.coordinates[:, 0], s=4)
        plain(axis, f"{cls.__name__}, noisy roll, k = 12")
    plane = np.random.default_rng(0).random((1500, 2))
    z = np.exp(2 * (plane[:, 0] + 1j * plane[:, 1]))
    for axis, conformal in zip(axes[0, 2:], (False, True)):
        Y = lowfold.Isomap(2, conformal=conformal).fit_transform(np.column_stack([z.real, z.imag]))
        axis.scatter(*Y.T, c=plane[:, 0], s=4)
        plain(axis, "exp of a square: " + ("conformal lengths" if conformal else "plain lengths"))
        axis.set_aspect("equal")
    big = datasets.swiss_roll(2000, random_state=1)
    model = lowfold.LandmarkIsomap(2, n_neighbors=10, landmarks=60).fit(big.X)
    axes[1, 0].scatter(*model.embedding_.T, c=big.coordinates[:, 0], s=3)
    axes[1, 0].scatter(*model.embedding_[model.landmarks_].T, marker="x", color="k", s=20)
    plain(axes[1, 0], "60 landmarks")
    field(axes[1, 1])
    shifts(axes[1, 2])
    lines(axes[1, 3])
    figure.savefig(out / "isomap_variants.png", dpi=100)
    print(out / "isomap_variants.png")


def field(axis):
    i = np.arange(900) + 0.5
    h, phi = 1 - 2 * i / 900, np.pi * (1 + 5**0.5) * i
    X = np.column_stack([np.sqrt(1 - h * h) * np.cos(phi), np.sqrt(1 - h * h) * np.sin(phi), h])
    model = lowfold.VectorDiffusionMaps(1, n_eigenvectors=6, tangent_dim=2, n_neighbors=30).fit(X)
    V = model.vector_fields()[:, :, 0]
    front = X[:, 1] < 0
    axis.quiver(X[front, 0], X[front, 2], V[front, 0], V[front, 2], scale=20 * np.abs(V).max(), width=0.004)
    axis.set_aspect("equal")
    plain(axis, "a slowest vector field on the sphere")


def shifts(axis):
    angle = np.arange(60) * np.pi / 30
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    for shift, colour in ((None, "tab:red"), ("minimal", "tab:blue")):
        model = lowfold.KernelIsomap(2, n_neighbors=4, shift=shift).fit(ring)
        values = np.linalg.eigvalsh(model.kernel().dense())[::-1]
        axis.plot(values, ".-", color=colour, label=f"shift {model.shift_:.2f}")
    axis.axhline(0, color="0.7", linewidth=0.8)
    axis.set_yscale("symlog", linthresh=0.1)
    axis.legend(fontsize=8)
    axis.set_title("spectrum of a ring's geodesics", fontsize=10)


def lines(axis):
    X = datasets.swiss_roll(1500, random_state=2).X
    whole = lowfold.Isomap(2, n_neighbors=10).fit_transform(X)
    counts = (5, 10, 20, 50, 100, 200, 400, 800)
    for rule in ("maxmin", "random", "kmeans++"):
        rest = []
        for count in counts:
            Y = lowfold.LandmarkIsomap(2, n_neighbors=10, landmarks=count, landmark_rule=rule).fit_transform(X)
            rest.append(procrustes(whole, Y)[2])
        axis.loglog(counts, rest, "o-", markersize=3, label=rule)
    axis.legend(fontsize=8)
    axis.set_xlabel("landmarks", fontsize=8)
    axis.set_title("difference from Isomap of all points", fontsize=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    first_page(out)
    second_page(out)


if __name__ == "__main__":
    main()
