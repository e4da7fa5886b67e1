"""Surfaces with their true coordinates, image collections with their parameters, graphs with closed-form spectra.

Every generator is called as `swiss_roll(n, noise=0, random_state=None, ...)` and returns a `Dataset`; `SURFACES` lists
them all, `GRAPHS` the graphs.

>>> from lowfold.datasets import swiss_roll
>>> roll = swiss_roll(1000, noise=0.1, random_state=0)
>>> roll.X.shape, roll.intrinsic_dim
((1000, 3), 2)
"""

from lowfold.datasets._cities import city_names, us_cities
from lowfold.datasets._clusters import cluster_3d, kernel_pca_toy, union_of_subspaces
from lowfold.datasets._curves import circle, concentric_circles, conic, moons, toroidal_helix
from lowfold.datasets._graphs import (
    GraphExample,
    complete_graph,
    grid_graph,
    hypercube_graph,
    path_graph,
    ring_graph,
    star_graph,
    torus_graph,
)
from lowfold.datasets._hyperspectral import HyperspectralScene, hyperspectral_cube
from lowfold.datasets._images import (
    binarize_invert,
    occluded_disks,
    rendered_object,
    rotating_object,
    unvectorize,
    vectorize,
    word_images,
)
from lowfold.datasets._readers import (
    Table,
    read,
    read_documents,
    read_envi,
    read_idx,
    read_images,
    read_mat,
    read_npy,
    read_npz,
    read_parquet,
    read_table,
    term_frequencies,
    write_table,
)
from lowfold.datasets._rolls import s_curve, swiss_hole, swiss_roll, uneven_swiss_roll
from lowfold.datasets._round import (
    clifford_torus,
    cylinder,
    ellipsoid,
    moebius_strip,
    punched_sphere,
    sphere,
    torus,
)
from lowfold.datasets._sheets import corner_planes, gaussian, saddle, square, twin_peaks, uneven_square
from lowfold.datasets._table import GRAPHS, SURFACES, Entry
from lowfold.datasets._types import Dataset

__all__ = [
    "GRAPHS",
    "SURFACES",
    "Dataset",
    "Entry",
    "GraphExample",
    "HyperspectralScene",
    "Table",
    "binarize_invert",
    "circle",
    "city_names",
    "clifford_torus",
    "cluster_3d",
    "complete_graph",
    "concentric_circles",
    "conic",
    "corner_planes",
    "cylinder",
    "ellipsoid",
    "gaussian",
    "grid_graph",
    "hypercube_graph",
    "hyperspectral_cube",
    "kernel_pca_toy",
    "moebius_strip",
    "moons",
    "occluded_disks",
    "path_graph",
    "punched_sphere",
    "read",
    "read_documents",
    "read_envi",
    "read_idx",
    "read_images",
    "read_mat",
    "read_npy",
    "read_npz",
    "read_parquet",
    "read_table",
    "rendered_object",
    "ring_graph",
    "rotating_object",
    "s_curve",
    "saddle",
    "sphere",
    "square",
    "star_graph",
    "swiss_hole",
    "swiss_roll",
    "term_frequencies",
    "toroidal_helix",
    "torus",
    "torus_graph",
    "twin_peaks",
    "uneven_square",
    "uneven_swiss_roll",
    "union_of_subspaces",
    "unvectorize",
    "us_cities",
    "vectorize",
    "word_images",
    "write_table",
]
