"""What the contract test needs to know of each method, as data. A method missing here fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """How one method is put through the contract.

    other_values   for every parameter a value that must change the fitted model: the value, or (value, X, parameters)
                   for data and other parameters on which it does; None where a test of its own shows it (say which)
    rebuild        (model, kernel) -> embedding
    restores       relative error allowed for inverse_transform(embedding_) on a curved sheet
    """

    other_values: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    rebuild: Callable[[Any, Any], np.ndarray] | None = None
    restores: float = 1e-2
    rows: bool = True  # takes rows of features; False: its own table of the same checks
    transforms: bool = True
    inverts: bool = True
    stable: bool = True  # float32 input gives nearly the same embedding
    accepts_nan: bool = False
    refuses: tuple[str, ...] = ()  # hard data that are refused in words, with reason where it is not obvious
    why: str = ""
    expected_failed_checks: dict[str, str] = field(default_factory=dict)


def leading(model: Any, kernel: Any) -> np.ndarray:
    """sqrt(lambda) v from the top of the kernel."""
    values, vectors = np.linalg.eigh(kernel.dense())
    d = model.embedding_.shape[1]
    return vectors[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 0))


def projected(model: Any, kernel: Any) -> np.ndarray:
    """Centred data on the top eigenvectors of the kernel."""
    _, vectors = np.linalg.eigh(kernel.dense())
    X = model._trained.source.X
    return (X - X.mean(axis=0)) @ vectors[:, ::-1][:, : model.embedding_.shape[1]]


def bottom(model: Any, kernel: Any) -> np.ndarray:
    """Vectors 2..d+1 from the bottom."""
    _, vectors = np.linalg.eigh(kernel.dense())
    return vectors[:, 1 : 1 + model.embedding_.shape[1]]


def bottom_by_mass(model: Any, kernel: Any) -> np.ndarray:
    """Vectors 2..d+1 from the bottom of K y = lambda M y with the mass that the model used."""
    import scipy.linalg

    K = kernel.dense()
    M = np.diag(np.diag(K)) if model.mass_ == "kernel" else np.eye(len(K))
    return scipy.linalg.eigh(K, M, subset_by_index=(1, model.embedding_.shape[1]))[1]


def bottom_over_root_degree(model: Any, kernel: Any) -> np.ndarray:
    """D^-1/2 times vectors 2..d+1 from the bottom."""
    return bottom(model, kernel) / np.sqrt(model.degrees_)[:, None]


def walking(model: Any, kernel: Any) -> np.ndarray:
    """lambda^t v / sqrt(phi_0) from the top of the walk's symmetric form, the trivial vector left out."""
    values, vectors = np.linalg.eigh(kernel.dense())
    values, vectors = values[::-1], vectors[:, ::-1]
    d = model.embedding_.shape[1]
    return vectors[:, 1 : 1 + d] * values[1 : 1 + d] ** model.t / np.sqrt(model.stationary_)[:, None]


def turning(model: Any, kernel: Any) -> np.ndarray:
    """Features of pairs of vector fields from the top of the connection's matrix."""
    from lowfold.methods._placing.fields import vector_features

    values, vectors = np.linalg.eigh(kernel.dense())
    fields = vectors[:, ::-1].reshape(len(model.embedding_), model.tangent_dim_, -1)
    degrees = model.connection().degrees
    return vector_features(fields, values[::-1], model.pairs_, model.t) * (degrees.mean() / degrees)[:, None]


def cutting(model: Any, kernel: Any) -> np.ndarray:
    """Vectors from the bottom, trivial one included, over the root of the degrees."""
    _, vectors = np.linalg.eigh(kernel.dense())
    degrees = np.asarray(model.affinity_matrix_.sum(axis=1)).ravel()
    return vectors[:, : model.embedding_.shape[1]] / np.sqrt(degrees)[:, None]


def restricted(model: Any, kernel: Any) -> np.ndarray:
    """The smallest of X'KX a = lambda X'MX a, X centred with the weights M."""
    import scipy.linalg

    X = model._trained.source.X
    M = getattr(model, "degrees_", np.ones(len(X)))
    Xc = X - M @ X / M.sum()
    _, A = scipy.linalg.eigh(Xc.T @ kernel.apply(Xc), (Xc * M[:, None]).T @ Xc)
    return Xc @ A[:, : model.embedding_.shape[1]]


def restricted_to_kernels(model: Any, kernel: Any) -> np.ndarray:
    """The smallest of F'LF a = lambda F'DF a, F the leading axes of the Gram matrix's features, centred with D."""
    import scipy.linalg

    values, U = np.linalg.eigh(model.gram().dense())
    kept = values > model.reg * values[-1]
    F = U[:, kept] * np.sqrt(values[kept])
    F = F - model.degrees_ @ F / model.degrees_.sum()
    root = np.sqrt(model.degrees_)[:, None]
    F = np.linalg.svd(root * F, full_matrices=False)[0][:, : model.rank_] / root
    _, A = scipy.linalg.eigh(F.T @ kernel.apply(F), (F * model.degrees_[:, None]).T @ F)
    return F @ A[:, : model.embedding_.shape[1]]


def featured(model: Any, kernel: Any) -> np.ndarray:
    """Features on the top eigenvectors of their covariance."""
    _, vectors = np.linalg.eigh(kernel.dense())
    Phi = model._extend.map(model._trained.source.X) - model._extend.mean
    return Phi @ vectors[:, ::-1][:, : model.embedding_.shape[1]]


def tilted(X: np.ndarray) -> np.ndarray:
    """A density that falls along the first column."""
    return np.exp(-X[:, 0])


def stop_early(step: Any) -> bool:
    """Ends a solver after its third iteration."""
    return bool(step.iteration >= 3)


RNG = np.random.default_rng(7)
SHEET = RNG.random((60, 4)) + 2.0
BLOBS = np.vstack([SHEET[:35], SHEET[35:] + 20.0])
BENT = np.column_stack([np.cos(SHEET[:, 0] * 2), np.sin(SHEET[:, 0] * 2), SHEET[:, 1]])
WIDE = RNG.random((300, 20))

GRAPH = {
    "n_components": 1,
    "n_neighbors": 12,
    "radius": 0.5,
    "metric": "template",
    "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
    "search": ("faiss", WIDE, {}),
    "symmetrize": "mutual",
    "on_disconnected": ("separate", BLOBS, {}),
    "on_shortcut": None,  # a sheet has none: test_telling
    "normalization": "unit",
    "solver": "lanczos",
}

FIXED = ("on_disconnected", "on_shortcut", "solver")  # in methods that need no connected graph

ALIGNMENT = {
    **{name: value for name, value in GRAPH.items() if name != "symmetrize"},  # their neighbourhoods stay directed
    "tol": (1e-1, RNG.random((500, 10)), {}),
}

LANDMARKED = {
    "landmarks": 40,
    "landmark_rule": ("kmeans++", None, {"landmarks": 40}),
    "random_state": (1, None, {"landmarks": 40}),
}

ISOMAP = {
    **GRAPH,
    "paths": None,  # all give the same distances: test_isomap
    "conformal": True,
    "landmarks": 20,
    "landmark_rule": ("kmeans++", None, {"landmarks": 20}),
    "shift": 1.0,
    "random_state": (1, None, {"landmarks": 20}),
    "tol": (1e-1, RNG.random((500, 10)), {}),
}

DESCENT = {
    "n_components": 1,
    "metric": "template",
    "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
    "init": "random",
    "n_init": (8, RNG.normal(size=(40, 6)), {"init": "random", "random_state": 3}),
    "max_iter": 2,
    "tol": 1e-2,
    "normalization": "unit",
    "random_state": (1, None, {"init": "random"}),
    "callback": (lambda iteration, cost, layout: True, None, {}),
}

LATE_GAINS = (False, None, {"max_iter": 400})  # they begin when the layout has formed
NEIGHBOUR = {
    "n_components": 1,
    "perplexity": 5.0,
    "metric": "template",
    "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
    "learning_rate": 0.01,
    "momentum": 0.3,
    "max_iter": 60,
    "min_grad_norm": 100.0,
    "n_iter_without_progress": (1, None, {"learning_rate": 1e-30, "max_iter": 400}),
    "callback": (lambda iteration, cost, layout: True, None, {}),
    "normalization": "unit",
}

KERNEL = {
    "kernel": "poly",
    "gamma": 3.0,
    "degree": (2, None, {"kernel": "poly"}),
    "coef0": (0.0, None, {"kernel": "poly"}),
}

UNFOLDING = {
    **{name: value for name, value in GRAPH.items() if name != "symmetrize"},  # their neighbourhoods stay directed
    "search": None,  # finds the neighbours, as for Isomap
    "constraints": "ineq",
    "nu": 1.0,
    "tol": 1e-9,
    "max_iter": 3,
    "callback": stop_early,
}

CONTRACT: dict[str, Case] = {
    "PCA": Case(
        other_values={
            "n_components": 1,
            "solver": "svd",
            "normalization": "unit",
            "tol": (1e-1, None, {"solver": "power"}),
        },
        rebuild=projected,
        restores=0.5,
    ),
    "ClassicalMDS": Case(
        other_values={
            "n_components": 1,
            "metric": "template",
            "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
            "additive_constant": (True, None, {"metric": "template"}),
            "normalization": "unit",
            "solver": "lanczos",
            "tol": (1e-1, RNG.random((600, 80)), {}),
            "random_state": (1, None, {"solver": "prat"}),
        },
        rebuild=leading,
        restores=0.5,
    ),
    "Isomap": Case(
        other_values=ISOMAP,
        rebuild=leading,
        restores=0.35,
    ),
    "LaplacianEigenmaps": Case(
        other_values={
            **GRAPH,
            **LANDMARKED,
            "weights": "binary",
            "scale": 0.5,
            "laplacian": "symmetric",
            "one_way": 0.5,
            "self_loops": 1.0,
            "select": "independent",
            "tol": (1e-1, RNG.random((500, 10)), {}),
        },
        rebuild=bottom_over_root_degree,
        restores=0.35,
    ),
    "LLE": Case(
        other_values={
            **ALIGNMENT,
            **LANDMARKED,
            "select": "independent",
            "reg": 1e-2,
            "reg_when": "never",
            "weights": "clipped",
            "flatness": 0.05,
            "clusters": 2,
            "robust": 2.0,
        },
        rebuild=bottom,
        restores=0.35,
    ),
    "ModifiedLLE": Case(
        other_values={**ALIGNMENT, **LANDMARKED, "reg": 1e-2, "select": "independent"}, rebuild=bottom, restores=0.35
    ),
    "SupervisedLLE": Case(other_values={}, rows=False, why="needs labels; test_supervised_lle has the same checks"),
    "LTSA": Case(
        other_values={**ALIGNMENT, **LANDMARKED, "include_self": False, "mass": "kernel", "select": "independent"},
        rebuild=bottom_by_mass,
        restores=0.35,
    ),
    "HessianLLE": Case(
        other_values={
            **ALIGNMENT,
            **LANDMARKED,
            "include_self": False,
            "anchor": 3,
            "mass": "kernel",
            "select": "independent",
        },
        rebuild=bottom_by_mass,
        restores=0.35,
    ),
    "LandmarkIsomap": Case(other_values=ISOMAP, rebuild=leading, restores=0.35),
    "KernelIsomap": Case(other_values=ISOMAP, rebuild=leading, restores=0.35),
    "ConformalIsomap": Case(
        other_values={name: ISOMAP[name] for name in ISOMAP if name != "conformal"}, rebuild=leading, restores=0.35
    ),
    "LocallyLinearIsomap": Case(
        other_values={
            **ISOMAP,
            "linearity": (0.2, RNG.normal(size=(60, 4)), {}),
            "metric": "angular",
            "metric_params": ({"M": np.diag([1.0, 2.0, 3.0, 4.0])}, None, {"metric": "mahalanobis"}),
        },
        rebuild=leading,
        restores=0.35,
    ),
    "DiffusionMaps": Case(
        other_values={
            **GRAPH,
            "threshold": 0.1,
            "weights": "binary",
            "scale": 0.5,
            "tuning": (3, None, {"weights": "self_tuning"}),
            "alpha": 0.0,
            "self_loops": 0.5,
            "t": 3.0,
            "convention": "symmetric",
            "density": tilted,
            "passes": 5,
            "target": tilted,
            "bandwidth": (-0.25, None, {"weights": "variable"}),
            "tangent_dim": (1, None, {"weights": "variable"}),
            "select": "independent",
            **LANDMARKED,
            "tol": (1e-1, RNG.random((500, 10)), {}),
        },
        rebuild=walking,
        restores=0.35,
    ),
    "VectorDiffusionMaps": Case(
        other_values={
            **GRAPH,
            "n_eigenvectors": 4,
            "tangent_dim": 2,
            "variance": (0.3, None, {"tangent_dim": "median"}),
            "scale": 0.5,
            "pca_scale": 0.01,
            "alpha": 0.0,
            "self_loops": 0.5,
            "select": ("leading", None, {"tangent_dim": 2}),
            "t": 3.0,
            "metric": "angular",
            "metric_params": ({"M": np.diag([1.0, 2.0, 3.0, 4.0])}, None, {"metric": "mahalanobis"}),
            "tol": (1e-1, RNG.random((500, 10)), {}),
        },
        params={"tangent_dim": 1},  # pairs of fields on a surface are perpendicular, which gives columns of zeros
        rebuild=turning,
        restores=1.0,
    ),
    "SpectralClustering": Case(
        other_values={
            **{name: GRAPH[name] for name in GRAPH if name not in ("n_components", *FIXED[:2], "normalization")},
            "n_clusters": 3,
            "max_clusters": (2, None, {"n_clusters": None}),
            "weights": "binary",
            "scale": 0.5,
            "laplacian": "symmetric",
            "assign_labels": "cluster_qr",
            "n_init": None,  # the best of several starts: test_spectral_clustering
            "random_state": None,  # the order of labels: test_spectral_clustering
            "tol": (1e-1, RNG.random((500, 10)), {}),
        },
        params={"n_clusters": 2},
        rebuild=cutting,
        inverts=False,
        why="a clustering has no normalization; test_spectral_clustering has the way back",
    ),
    "MetricMDS": Case(
        other_values={**DESCENT, "weights": "sammon", "p": 1.0, "algorithm": "gradient", **LANDMARKED},
        restores=0.35,
        why="the kernel is that of the last step: test_metric_mds",
    ),
    "NonmetricMDS": Case(
        other_values={**DESCENT, "ties": ("secondary", np.round(SHEET, 1), {})},
        restores=0.35,
        stable=False,  # ranks of nearly equal distances change with their last digits
        why="the kernel is that of the last step: test_nonmetric_mds",
    ),
    "ReplicatedMDS": Case(other_values={}, rows=False, why="test_several_matrices has the same checks"),
    "WeightedMDS": Case(other_values={}, rows=False, why="test_several_matrices has the same checks"),
    "SNE": Case(
        other_values={**NEIGHBOUR, "init": "pca", "early_exaggeration": 4.0, "gains": LATE_GAINS, "random_state": 1},
        params={"max_iter": 120},
        restores=0.5,
        stable=False,  # far from converged after so few steps
        why="the kernel is the affinities: test_sne",
    ),
    "SymmetricSNE": Case(
        other_values={
            **NEIGHBOUR,
            "affinities": "joint",
            "init": "pca",
            "early_exaggeration": 4.0,
            "gains": LATE_GAINS,
            "random_state": 1,
        },
        params={"max_iter": 120},
        restores=0.5,
        stable=False,
        why="the kernel is the affinities: test_sne",
    ),
    "TSNE": Case(
        other_values={
            **NEIGHBOUR,
            "affinities": "joint",
            "dof": 2.0,
            "method": ("neighbors", None, {"perplexity": 5.0}),
            "init": "random",
            "early_exaggeration": 4.0,
            "early_exaggeration_iter": 50,
            "min_grad_norm": (100.0, None, {"early_exaggeration": 1.0}),
            "n_iter_without_progress": (1, None, {"learning_rate": 1e-30, "max_iter": 400, "early_exaggeration": 1.0}),
            "gains": False,
            "random_state": (1, None, {"init": "random"}),
        },
        params={"max_iter": 350},
        restores=0.5,
        stable=False,
        why="the kernel is the affinities: test_tsne",
    ),
    "EMPCA": Case(
        other_values={
            "n_components": 1,
            "noise": "none",
            "max_iter": 1,
            "tol": 1e-1,
            "random_state": 1,
            "normalization": "unit",
        },
        restores=0.5,
        accepts_nan=True,
        why="the kernel is the model's covariance: test_empca",
    ),
    "RobustPCA": Case(
        other_values={
            "n_components": 1,
            "method": "covariance",
            "penalty": (0.5, None, {"method": "low_rank"}),
            "tol": (1e-2, None, {"method": "low_rank"}),
            "normalization": "unit",
        },
        restores=0.5,
        why="the kernel is the robust covariance: test_robust_pca",
    ),
    "MultilinearPCA": Case(
        other_values={
            "n_components": 1,
            "ranks": [3],
            "energy": None,  # for arrays of more than one axis: test_multilinear_pca
            "max_iter": None,  # the same
            "tol": None,  # the same
            "normalization": "unit",
        },
        restores=0.5,
        why="the kernel is the covariance of the small arrays: test_multilinear_pca",
    ),
    "RandomProjection": Case(
        other_values={
            "n_components": 1,
            "kind": "sign",
            "density": (0.02, WIDE, {"kind": "sparse"}),
            "eps": (0.9, RNG.random((10, 400)), {"n_components": "auto", "eps": 0.5}),
            "verify": (True, RNG.random((10, 400)), {"n_components": "auto", "eps": 0.5}),
            "max_tries": None,  # how often it is drawn again: test_random_projection
            "orthogonalize": True,
            "rotate": True,
            "random_state": 1,
            "normalization": "unit",
        },
        restores=1.0,
        why="its directions are random: test_random_projection",
    ),
    "LPP": Case(
        other_values={
            **{name: value for name, value in GRAPH.items() if name not in FIXED},
            "weights": "binary",
            "scale": 0.5,
            "energy": 0.9,
            "center": False,
        },
        rebuild=restricted,
        restores=1.0,
    ),
    "KernelLPP": Case(
        other_values={
            **{name: value for name, value in GRAPH.items() if name not in FIXED},
            **KERNEL,
            "weights": "binary",
            "scale": 0.5,
            "n_eigenvectors": 20,
            "energy": 0.9,
            "reg": 1e-2,
        },
        rebuild=restricted_to_kernels,
        restores=0.5,
    ),
    "NPE": Case(
        other_values={
            **{n: v for n, v in GRAPH.items() if n not in (*FIXED, "symmetrize")},
            "reg": 1e-1,
            "energy": 0.9,
            "center": False,
        },
        rebuild=restricted,
        restores=1.0,
    ),
    "LinearLTSA": Case(
        other_values={
            **{n: v for n, v in GRAPH.items() if n not in (*FIXED, "symmetrize")},
            "energy": 0.9,
            "center": False,
        },
        rebuild=restricted,
        restores=1.0,
    ),
    "ICA": Case(
        other_values={
            "n_components": 1,
            "algorithm": "infomax",
            "fun": "cube",
            "max_iter": 1,
            "tol": 1e-1,
            "random_state": 1,
            "normalization": "orthonormal",
        },
        restores=0.5,
        why="the kernel is the covariance: test_ica",
    ),
    "NMF": Case(
        other_values={
            "n_components": 1,
            "init": "random",
            "beta_loss": "kullback-leibler",
            "alpha_W": 0.1,
            "alpha_H": 0.1,
            "l1_ratio": (1.0, None, {"alpha_W": 0.1}),
            "max_iter": 2,
            "tol": 1e-1,
            "random_state": (1, None, {"init": "random"}),
            "normalization": "unit",
        },
        restores=1.0,
        why="a product of nonnegative matrices has no kernel: test_nmf",
    ),
    "SparsePCA": Case(
        other_values={
            "n_components": 1,
            "alpha": 0.1,
            "ridge_alpha": 1.0,
            "max_iter": 1,
            "tol": 1e-1,
            "normalization": "unit",
        },
        restores=0.6,
        why="components are penalised: test_sparse_pca",
    ),
    "KernelPCA": Case(
        other_values={
            "n_components": 1,
            **KERNEL,
            **LANDMARKED,
            "center": False,
            "preimage": "ridge",
            "alpha": (1.0, None, {"preimage": "ridge"}),
            "solver": "lanczos",
            "tol": (1e-1, RNG.random((500, 10)), {}),
            "normalization": "unit",
        },
        rebuild=leading,
        restores=0.5,
    ),
    "NonlinearPCA": Case(
        other_values={
            "n_components": 1,
            "feature_map": np.cos,
            "degree": 3,
            "weighted": True,
            "center": False,
            "solver": "svd",
            "tol": (1e-1, None, {"solver": "power"}),
            "normalization": "unit",
        },
        rebuild=featured,
        restores=0.5,
    ),
    "MVU": Case(
        other_values={
            **UNFOLDING,
            "n_eigenvectors": (3, None, {"solver": "factorized", "n_neighbors": 5, "max_iter": 1}),
            "solver": ("lowrank", None, {"max_iter": 3}),
        },
        rebuild=leading,
        restores=0.5,
    ),
    "LandmarkMVU": Case(
        other_values={
            **UNFOLDING,
            "landmarks": 20,
            "landmark_rule": "maxmin",
            "reconstruction_neighbors": 6,
            "weights": "convex",
            "reg": 1e-1,
            "transform_rule": "direct",
            "solver": None,  # Clarabel needs an extra: test_programs compares the two
            "random_state": 1,
        },
        rebuild=leading,
        restores=0.5,
    ),
}
