"""Surfaces with their true coordinates, image collections with their parameters, graphs with closed-form spectra.

Every generator is called as `swiss_roll(n, noise=0, random_state=None, ...)` and returns a `Dataset`; `SURFACES` lists
them all, `GRAPHS` the graphs.

>>> from lowfold.datasets import swiss_roll
>>> roll = swiss_roll(1000, noise=0.1, random_state=0)
>>> roll.X.shape, roll.intrinsic_dim
((1000, 3), 2)
"""

from lowfold.datasets._cities import us_cities
from lowfold.datasets._clusters import cluster_3d, kernel_pca_toy, union_of_subspaces
from lowfold.datasets._curves import circle, concentric_circles, conic, moons, toroidal_helix
from lowfold.datasets._hyperspectral import hyperspectral_cube
from lowfold.datasets._images import (
    occluded_disks,
    rendered_object,
    rotating_object,
    unvectorize,
    vectorize,
    word_images,
)
from lowfold.datasets._readers import read, write_table
from lowfold.datasets._rolls import s_curve, swiss_hole, swiss_roll
from lowfold.datasets._round import clifford_torus, cylinder, ellipsoid, moebius_strip, punched_sphere, sphere, torus
from lowfold.datasets._sheets import corner_planes, saddle, square, twin_peaks
from lowfold.datasets._table import GRAPHS, SURFACES
from lowfold.datasets._types import Dataset

__all__ = [
    "GRAPHS",
    "SURFACES",
    "Dataset",
    "circle",
    "clifford_torus",
    "cluster_3d",
    "concentric_circles",
    "conic",
    "corner_planes",
    "cylinder",
    "ellipsoid",
    "hyperspectral_cube",
    "kernel_pca_toy",
    "moebius_strip",
    "moons",
    "occluded_disks",
    "punched_sphere",
    "read",
    "rendered_object",
    "rotating_object",
    "s_curve",
    "saddle",
    "sphere",
    "square",
    "swiss_hole",
    "swiss_roll",
    "toroidal_helix",
    "torus",
    "twin_peaks",
    "union_of_subspaces",
    "unvectorize",
    "us_cities",
    "vectorize",
    "word_images",
    "write_table",
]
