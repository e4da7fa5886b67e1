"""scikit-learn's constructors in lowfold's words: parameters as given there to the unfitted method of lowfold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

import lowfold

Given = dict[str, Any]

SOLVERS = {None: "auto", "arpack": "lanczos", "lobpcg": "auto", "randomized": "krylov"}
PCA_SOLVERS = {"full": "svd", "covariance_eigh": "covariance", "arpack": "krylov", "randomized": "krylov"}
EXACT = 1e-12  # of a solver by steps, where scikit-learn's tests compare all solvers to rounding
BEYOND = 1e60  # a radius that holds all points; scikit-learn's tests write inf
LEAST = 1e-12  # tolerances of 0 are not taken


def picked(given: Given, *names: str) -> Given:
    """The parameters that have the same name here."""
    return {name: given[name] for name in names if name in given}


def seeded(given: Given) -> Given:
    """scikit-learn's None is another answer each time; lowfold's default is a seed."""
    return {"random_state": 0 if given["random_state"] is None else given["random_state"]}


def known(table: dict[Any, Any], value: Any) -> Any:
    """The name of a choice here, or what was given."""
    return table.get(value, value)


def isomap(given: Given) -> Any:
    """`Isomap`."""
    metric, params = given["metric"], given["metric_params"]
    if metric == "minkowski":
        metric, params = ("euclidean", None) if given["p"] == 2 else ("minkowski", {"p": given["p"]})
    return lowfold.Isomap(
        **picked(given, "n_components", "n_neighbors", "n_jobs"),
        radius=known({np.inf: BEYOND}, given["radius"]),
        solver=known(SOLVERS, given["eigen_solver"]),
        paths=known({"FW": "floyd_warshall", "D": "dijkstra"}, given["path_method"]),
        search=known({"kd_tree": "kdtree", "ball_tree": "auto"}, given["neighbors_algorithm"]),
        metric=metric,
        metric_params=params,
    )


def lle(given: Given) -> Any:
    """`LocallyLinearEmbedding`, whose `method` is a class here."""
    kinds = {"modified": lowfold.ModifiedLLE, "hessian": lowfold.HessianLLE, "ltsa": lowfold.LTSA}
    kind: Any = kinds.get(given["method"], lowfold.LLE)
    reg = {"reg": given["reg"]} if kind is lowfold.LLE else {}
    return kind(
        **picked(given, "n_components", "n_neighbors", "n_jobs"),
        **reg,
        **seeded(given),
        solver=known(SOLVERS, given["eigen_solver"]),
        search=known({"kd_tree": "kdtree", "ball_tree": "auto"}, given["neighbors_algorithm"]),
    )


def weighted(given: Given) -> Given:
    """Affinities: of neighbours they are lowfold's own, all others come as a matrix."""
    affinity = given["affinity"]
    if affinity == "nearest_neighbors":
        return {"weights": "binary", "n_neighbors": given["n_neighbors"]}
    if affinity == "precomputed_nearest_neighbors":
        return {"metric": "precomputed", "weights": "binary", "n_neighbors": given["n_neighbors"]}
    return {"metric": "precomputed_affinity"}


def affinities(given: Given, X: Any) -> Any:
    """What `weighted` promises: X itself, or the complete matrix of weights."""
    kind = given["affinity"]
    if isinstance(kind, str) and kind.startswith(("precomputed", "nearest")):
        return X
    if callable(kind) and "n_clusters" not in given:
        return kind(X)
    params = dict(given.get("kernel_params") or {})
    if not callable(kind):
        params.update(picked(given, "gamma", "degree", "coef0"))
    return pairwise_kernels(X, metric=kind, filter_params=True, **params)


def eigenmaps(given: Given) -> Any:
    """`SpectralEmbedding`."""
    return lowfold.LaplacianEigenmaps(
        **picked(given, "n_components", "n_jobs"),
        **seeded(given),
        **weighted(given),
        solver=known(SOLVERS, given["eigen_solver"]),
    )


def clustering(given: Given) -> Any:
    """`SpectralClustering`."""
    return lowfold.SpectralClustering(
        **picked(given, "n_clusters", "n_init", "assign_labels", "n_jobs", "verbose"),
        **seeded(given),
        **weighted(given),
        solver=known(SOLVERS, given["eigen_solver"]),
    )


def mds(given: Given) -> Any:
    """`MDS`, metric or not."""
    metric, ordinal = given["metric"], not given["metric_mds"]
    if isinstance(metric, bool):
        metric, ordinal = "euclidean", not metric
    if given["dissimilarity"] != "deprecated":
        metric = given["dissimilarity"]
    init = given["init"]
    if init is None or isinstance(init, str):
        init = known({None: "random", "warn": "random", "classical_mds": "classical"}, init)
    kind: Any = lowfold.NonmetricMDS if ordinal else lowfold.MetricMDS
    return kind(
        **picked(given, "n_components", "n_init", "max_iter", "metric_params", "verbose", "n_jobs"),
        **seeded(given),
        metric=metric,
        init=init,
        tol=max(given["eps"], LEAST),
    )


def classical(given: Given) -> Any:
    """`ClassicalMDS`."""
    return lowfold.ClassicalMDS(**picked(given, "n_components", "metric", "metric_params"))


def tsne(given: Given) -> Any:
    """`TSNE`."""
    same = ("n_components", "perplexity", "early_exaggeration", "learning_rate", "max_iter", "n_iter_without_progress")
    return lowfold.TSNE(
        **picked(given, *same, "min_grad_norm", "metric", "metric_params", "init", "verbose", "n_jobs"),
        **seeded(given),
        method=known({"barnes_hut": "auto"}, given["method"]),
    )


def pca(given: Given) -> Any:
    """`PCA`."""
    stepwise = given["svd_solver"] in ("arpack", "randomized")
    return lowfold.PCA(
        given["n_components"],
        solver=known(PCA_SOLVERS, given["svd_solver"]),
        normalization="unit" if given["whiten"] else "natural",
        **({"tol": EXACT} if stepwise else {}),
        **seeded(given),
    )


def streamed(given: Given) -> Any:
    """`IncrementalPCA`."""
    return lowfold.PCA(given["n_components"], normalization="unit" if given["whiten"] else "natural")


def truncated(given: Given) -> Any:
    """`TruncatedSVD`, which does not centre; lowfold's does."""
    return lowfold.PCA(given["n_components"], **seeded(given))


def kernel_pca(given: Given) -> Any:
    """`KernelPCA`."""
    back = {"preimage": "ridge", "alpha": given["alpha"]} if given["fit_inverse_transform"] else {}
    return lowfold.KernelPCA(
        **picked(given, "n_components", "kernel", "degree", "coef0", "n_jobs"),
        **back,
        **seeded(given),
        gamma="features" if given["gamma"] is None else given["gamma"],
        solver=known(SOLVERS, given["eigen_solver"]),
    )


def nmf(given: Given) -> Any:
    """`NMF`."""
    return lowfold.NMF(
        known({"auto": None}, given["n_components"]),
        **picked(given, "beta_loss", "max_iter", "alpha_W", "l1_ratio", "verbose"),
        **seeded(given),
        init=known({None: "nndsvda", "nndsvdar": "nndsvda"}, given["init"]),
        alpha_H=given["alpha_W"] if given["alpha_H"] == "same" else given["alpha_H"],
        tol=max(given["tol"], LEAST),
    )


def ica(given: Given) -> Any:
    """`FastICA`."""
    return lowfold.ICA(**picked(given, "n_components", "fun", "max_iter", "tol"), **seeded(given))


def sparse_pca(given: Given) -> Any:
    """`SparsePCA`."""
    same = ("n_components", "alpha", "ridge_alpha", "max_iter", "tol", "n_jobs", "verbose")
    return lowfold.SparsePCA(**picked(given, *same), **seeded(given))


def projection(given: Given) -> Any:
    """`GaussianRandomProjection` and `SparseRandomProjection`."""
    eps = picked(given, "eps") if given["n_components"] == "auto" else {}
    kind = {"kind": "sparse", "density": given["density"]} if "density" in given else {"kind": "gaussian"}
    return lowfold.RandomProjection(given["n_components"], **kind, **eps, **seeded(given))
