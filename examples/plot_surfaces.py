"""Every data set of lowfold on two pages.

The first page shows the point sets. Colour is the truth that an embedding should recover: hue is the first true
coordinate (or parameter, or class) and paleness the second. A good embedding does not mix colours.
Under each name stand the dimension of the space and of the shape, and what is known about it: "flat" where isometric
coordinates come with the points, "geodesics" where distances along the shape are known in closed form.

The second page shows the sets whose rows are images or spectra, and Laplacian spectra of graphs in closed form.

    python examples/plot_surfaces.py [--out DIR] [--n POINTS]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from lowfold import datasets
from lowfold.datasets import SURFACES
from lowfold.datasets._graphs import grid_graph, hypercube_graph, path_graph, ring_graph, torus_graph

CLOSED = {"sphere", "ellipsoid", "cylinder", "torus", "clifford_torus", "moebius_strip"} | {
    "circle",
    "punched_sphere",
    "conic",
    "toroidal_helix",
}
VIEWS = {  # elevation, azimuth
    "swiss_roll": (8, -78),
    "swiss_hole": (14, -150),  # from the side where the hole is in the outer layer
    "uneven_swiss_roll": (8, -78),
    "s_curve": (10, -72),
    "square": (35, 15),
    "uneven_square": (35, 15),
    "corner_planes": (18, -20),
    "punched_sphere": (60, -60),
    "cluster_3d": (25, -100),
    "moebius_strip": (35, -60),
    "toroidal_helix": (55, -60),
}
OPTIONS = {"conic": dict(coefficients=(1, 1, -2, -1))}  # a hyperbola; the default is the circle
IMAGE_SETS = {
    "rotating_object": dict(n=9, even=True, image_shape=(64, 64)),
    "rendered_object": dict(n=9, random_state=0, image_shape=(64, 64)),
    "word_images": dict(n=81, grid=(9, 9)),
    "occluded_disks": dict(n=9, random_state=0, image_shape=(40, 40)),
}
CLASSES = np.array([[0.6, 0.6, 0.6], [0.0, 0.45, 0.7], [0.9, 0.45, 0.0], [0.0, 0.6, 0.45], [0.8, 0.3, 0.6]])


def ranks(values):
    """Ranks scaled to [0, 1]: unevenly sampled sets use the whole range of colours too."""
    return np.argsort(np.argsort(values)) / max(len(values) - 1, 1)


def colors(data):
    """Hue from the first true coordinate, paleness from the second; one colour per class where there are classes."""
    if data.labels is not None:
        return CLASSES[data.labels + (data.name != "cluster_3d")]  # there label 0, the segments, is grey
    truth = data.parameters if data.coordinates is None else data.coordinates
    if data.name in CLOSED:
        hue = plt.get_cmap("hsv")((truth[:, 0] / (2 * np.pi)) % 1)[:, :3] * 0.85
    else:
        hue = plt.get_cmap("turbo")(0.05 + 0.9 * ranks(truth[:, 0]))[:, :3]
    pale = 0.45 * ranks(truth[:, 1]) if truth.shape[1] > 1 else np.zeros(len(truth))
    return hue + (1 - hue) * pale[:, None]


def points_to_draw(data):
    """Two or three columns; the torus in R^4 lies on a sphere there and is projected stereographically."""
    if data.X.shape[1] < 4:
        return data.X
    on_sphere = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    return on_sphere[:, :3] / (1 - on_sphere[:, 3:])


def caption(data):
    known = [("flat", data.coordinates is not None), ("geodesics", data.distance is not None)]
    return f"R^{data.X.shape[1]}, d = {data.intrinsic_dim}" + "".join(f", {word}" for word, there in known if there)


def draw_points(figure, place, data):
    P = points_to_draw(data)
    flat = P.shape[1] == 2
    ax = figure.add_subplot(*place, projection=None if flat else "3d")
    ax.scatter(*P.T, c=colors(data), s=6, linewidths=0, **({} if flat else {"depthshade": False}))
    if flat:
        ax.set_aspect("equal", adjustable="datalim")
        ax.margins(0.15)
    else:
        ax.set_box_aspect(
            np.maximum(np.ptp(P, axis=0), 0.2 * np.ptp(P)), zoom=1.1 if data.name in ("cylinder", "cluster_3d") else 1.3
        )
        ax.view_init(*VIEWS.get(data.name, (22, -60)))
    ax.set_axis_off()
    ax.set_title(f"{data.name}\n", fontsize=11, pad=0)
    write = ax.text if flat else ax.text2D
    write(0.5, 1.0, caption(data), ha="center", fontsize=8, color="0.35", transform=ax.transAxes)


def page_of_points(n):
    names = [name for name in SURFACES if name not in IMAGE_SETS and name != "hyperspectral_cube"]
    figure = plt.figure(figsize=(17, 18))
    for i, name in enumerate(names):
        draw_points(figure, (5, 5, i + 1), SURFACES[name].make(n, random_state=0, **OPTIONS.get(name, {})))
    figure.suptitle("lowfold.datasets: points, coloured by their true coordinates", fontsize=16, y=0.99)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.93, wspace=0.02, hspace=0.16)
    return figure


def draw_images(figure, grid, name):
    data = SURFACES[name].make(**IMAGE_SETS[name])
    digits = ".2f" if name == "occluded_disks" else ".0f"
    for column, i in enumerate(np.linspace(0, len(data) - 1, 9).astype(int)):
        ax = figure.add_subplot(grid[0, column])
        ax.imshow(data.images[i], cmap="gray", vmin=0, vmax=1)
        ax.set_axis_off()
        ax.set_title(", ".join(f"{value:{digits}}" for value in data.parameters[i]), fontsize=8, color="0.35", pad=3)
        if column == 0:
            ax.text(-0.15, 0.5, name.replace("_", "\n"), ha="right", va="center", fontsize=11, transform=ax.transAxes)


def draw_cube(figure, cell):
    scene = datasets.hyperspectral_cube(64 * 64, random_state=0, noise=0.01)
    inner = cell.subgridspec(1, 3, wspace=0.2, width_ratios=[1, 1, 1.6])
    truth, band, curves = (figure.add_subplot(inner[0, i]) for i in range(3))
    truth.imshow((scene.parameters @ CLASSES[1:4]).reshape(*scene.raster_shape, 3))
    truth.set_title("abundances", fontsize=9)
    truth.text(-0.08, 0.5, "hyperspectral\ncube", ha="right", va="center", fontsize=11, transform=truth.transAxes)
    band.imshow(scene.cube[:, :, 30], cmap="gray")
    band.set_title(f"band at {scene.wavelengths[30]:.0f} nm", fontsize=9)
    for spectrum, color in zip(scene.spectra, CLASSES[1:4], strict=True):
        curves.plot(scene.wavelengths, spectrum, color=color)
    curves.set_title("spectra of the materials (nm)", fontsize=9)
    curves.tick_params(labelsize=7)
    for ax in (truth, band):
        ax.set_axis_off()


def draw_spectra(figure, cell):
    ax = figure.add_subplot(cell)
    for graph in (
        path_graph(64),
        ring_graph(64),
        grid_graph(8, 8),
        torus_graph(8, 8),
        hypercube_graph(6),
    ):
        ax.plot(graph.laplacian_eigenvalues(), ".-", markersize=3, linewidth=0.8, label=graph.name)
    ax.legend(fontsize=8, frameon=False)
    ax.set_title("Laplacian eigenvalues of graphs with 64 vertices", fontsize=9)
    ax.tick_params(labelsize=7)


def page_of_images():
    figure = plt.figure(figsize=(15, 12))
    layout = dict(left=0.09, right=0.98, bottom=0.04, top=0.92, hspace=0.22, height_ratios=[1, 1, 1, 1, 1.9])
    rows = figure.add_gridspec(5, 1, **layout)
    for row, name in enumerate(IMAGE_SETS):
        draw_images(figure, rows[row].subgridspec(1, 9, wspace=0.06), name)
    bottom = rows[4].subgridspec(1, 2, width_ratios=[1.9, 1], wspace=0.12)
    draw_cube(figure, bottom[0])
    draw_spectra(figure, bottom[1])
    figure.suptitle("lowfold.datasets: images with their parameters, a cube, graphs", fontsize=16, y=0.985)
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draw every data set of lowfold.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    parser.add_argument("--n", type=int, default=1500, help="points in each set of the first page")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figure in (("surfaces", page_of_points(options.n)), ("images", page_of_images())):
        target = options.out / f"{name}.png"
        figure.savefig(target, dpi=90)
        plt.close(figure)
        print(target)


if __name__ == "__main__":
    main()
