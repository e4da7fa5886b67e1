"""lowfold finds the low-dimensional manifold in high-dimensional data.

>>> import lowfold
>>> roll = lowfold.datasets.swiss_roll(500, random_state=0)
>>> Y = lowfold.Isomap(n_components=2, n_neighbors=10).fit_transform(roll.X)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lowfold._core.config import config_context, get_config, set_config
from lowfold.methods.registry import BY_NAME, REGISTRY

if TYPE_CHECKING:
    from lowfold import (
        apps,
        datasets,
        dimension,
        geometry,
        graph,
        kernels,
        lowrank,
        metrics,
        optimize,
        quality,
        sdp,
        select,
        spectral,
        viz,
    )
    from lowfold._core.versions import show_versions
    from lowfold.graph import Graph, Neighbors
    from lowfold.methods.classical_mds import ClassicalMDS
    from lowfold.methods.conformal_isomap import ConformalIsomap
    from lowfold.methods.diffusion_maps import DiffusionMaps
    from lowfold.methods.empca import EMPCA
    from lowfold.methods.files import load, save
    from lowfold.methods.hessian_lle import HessianLLE
    from lowfold.methods.ica import ICA
    from lowfold.methods.isomap import Isomap, isomap_guarantee
    from lowfold.methods.kernel_isomap import KernelIsomap
    from lowfold.methods.kernel_lpp import KernelLPP
    from lowfold.methods.kernel_pca import KernelPCA
    from lowfold.methods.landmark_isomap import LandmarkIsomap
    from lowfold.methods.landmark_mvu import LandmarkMVU
    from lowfold.methods.laplacian_eigenmaps import LaplacianEigenmaps
    from lowfold.methods.linear_ltsa import LinearLTSA
    from lowfold.methods.lle import LLE
    from lowfold.methods.locally_linear_isomap import LocallyLinearIsomap
    from lowfold.methods.lpp import LPP
    from lowfold.methods.ltsa import LTSA
    from lowfold.methods.metric_mds import MetricMDS
    from lowfold.methods.modified_lle import ModifiedLLE
    from lowfold.methods.multilinear_pca import MultilinearPCA
    from lowfold.methods.mvu import MVU
    from lowfold.methods.nmf import NMF
    from lowfold.methods.nonlinear_pca import NonlinearPCA
    from lowfold.methods.nonmetric_mds import NonmetricMDS
    from lowfold.methods.npe import NPE
    from lowfold.methods.pca import PCA
    from lowfold.methods.plan import plan
    from lowfold.methods.random_projection import RandomProjection
    from lowfold.methods.replicated_mds import ReplicatedMDS
    from lowfold.methods.robust_pca import RobustPCA
    from lowfold.methods.sne import SNE
    from lowfold.methods.sparse_pca import SparsePCA
    from lowfold.methods.spectral_clustering import SpectralClustering
    from lowfold.methods.supervised_lle import SupervisedLLE
    from lowfold.methods.symmetric_sne import SymmetricSNE
    from lowfold.methods.tsne import TSNE
    from lowfold.methods.vector_diffusion_maps import VectorDiffusionMaps
    from lowfold.methods.weighted_mds import WeightedMDS
    from lowfold.select import compare, tune
    from lowfold.spectral import configuration_dimension, is_euclidean

__version__ = "0.1.0"

_FOLDERS = (
    "apps",
    "datasets",
    "dimension",
    "geometry",
    "graph",
    "kernels",
    "lowrank",
    "metrics",
    "optimize",
    "quality",
    "sdp",
    "select",
    "spectral",
    "viz",
)

_FUNCTIONS = {
    "Graph": "lowfold.graph",
    "Neighbors": "lowfold.graph",
    "compare": "lowfold.select",
    "configuration_dimension": "lowfold.spectral",
    "is_euclidean": "lowfold.spectral",
    "isomap_guarantee": "lowfold.methods.isomap",
    "load": "lowfold.methods.files",
    "plan": "lowfold.methods.plan",
    "save": "lowfold.methods.files",
    "show_versions": "lowfold._core.versions",
    "tune": "lowfold.select",
}

__all__ = [
    "EMPCA",
    "ICA",
    "LLE",
    "LPP",
    "LTSA",
    "MVU",
    "NMF",
    "NPE",
    "PCA",
    "REGISTRY",
    "SNE",
    "TSNE",
    "ClassicalMDS",
    "ConformalIsomap",
    "DiffusionMaps",
    "Graph",
    "HessianLLE",
    "Isomap",
    "KernelIsomap",
    "KernelLPP",
    "KernelPCA",
    "LandmarkIsomap",
    "LandmarkMVU",
    "LaplacianEigenmaps",
    "LinearLTSA",
    "LocallyLinearIsomap",
    "MetricMDS",
    "ModifiedLLE",
    "MultilinearPCA",
    "Neighbors",
    "NonlinearPCA",
    "NonmetricMDS",
    "RandomProjection",
    "ReplicatedMDS",
    "RobustPCA",
    "SparsePCA",
    "SpectralClustering",
    "SupervisedLLE",
    "SymmetricSNE",
    "VectorDiffusionMaps",
    "WeightedMDS",
    "apps",
    "compare",
    "config_context",
    "configuration_dimension",
    "datasets",
    "dimension",
    "geometry",
    "get_config",
    "graph",
    "is_euclidean",
    "isomap_guarantee",
    "kernels",
    "load",
    "lowrank",
    "metrics",
    "optimize",
    "plan",
    "quality",
    "save",
    "sdp",
    "select",
    "set_config",
    "show_versions",
    "spectral",
    "tune",
    "viz",
]


def __getattr__(name: str) -> Any:
    """Load on first use: a method from the registry, a folder, or one of the functions above."""
    if name in BY_NAME:
        value = getattr(importlib.import_module(f"lowfold.methods.{BY_NAME[name].module}"), name)
    elif name in _FOLDERS:
        value = importlib.import_module(f"lowfold.{name}")
    elif name in _FUNCTIONS:
        value = getattr(importlib.import_module(_FUNCTIONS[name]), name)
    else:
        raise AttributeError(f"lowfold has no attribute {name!r}; its methods are {', '.join(BY_NAME)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
