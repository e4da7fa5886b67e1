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

_MADE_ELSEWHERE = {
    "make_circles": "concentric_circles",
    "make_moons": "moons",
    "make_s_curve": "s_curve",
    "make_swiss_roll": "swiss_roll",
}

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


def __getattr__(name: str) -> object:
    """Answer names of scikit-learn's data sets."""
    if name in _MADE_ELSEWHERE:
        raise ImportError(
            f"scikit-learn's {name} is lowfold.datasets.{_MADE_ELSEWHERE[name]}(n, noise=, random_state=): a Dataset "
            "with X and its true coordinates"
        )
    if name.startswith(("make_", "load_", "fetch_")):
        raise ImportError(
            f"lowfold.datasets has no {name}; import it from sklearn.datasets, or `read` a file: lowfold takes arrays "
            "and data frames"
        )
    raise AttributeError(f"module 'lowfold.datasets' has no attribute {name!r}")
