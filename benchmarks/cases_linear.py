"""Dense linear algebra without an eigenproblem of n points: PCA, random projection, kernel PCA."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

GAMMA = 0.01  # a width of ten on a roll of radius fourteen

CASES = (
    Case(
        name="pca-200k",
        group="pca",
        n=200_000,
        data="curved_sheet",
        options={"columns": 784},
        sides=(Side("lowfold", "lowfold_pca"), Side("sklearn", "sklearn_pca")),
        check="variance",
        target=Target(speedup=1),
        note="from float32 rows; lowfold from a sample that passes over all rows correct, residual in float64",
    ),
    Case(
        name="pca-svd-40k",
        group="pca-svd",
        n=40_000,
        data="curved_sheet",
        options={"columns": 784},
        sides=(Side("lowfold", "lowfold_pca"), Side("sklearn", "sklearn_svd")),
        check="variance",
        target=Target(speedup=10),
        note="the route that auto takes against the SVD of the data",
    ),
    Case(
        name="kernel-pca-20k",
        group="kernel-pca",
        n=20_000,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_kernel_pca"), Side("sklearn", "sklearn_kernel_pca")),
        check="kernel_residual",
        target=Target(speedup=2, memory=2.5e9, at_most={"residual": 1e-3}),
        warm=6_000,
    ),
    Case(
        name="kernel-pca-50k",
        group="kernel-pca",
        n=50_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_kernel_pca"),
            Side("sklearn", "sklearn_kernel_pca", skip="a 20 GB matrix, and another to centre it"),
        ),
        check="kernel_residual",
        target=Target(memory=12e9, at_most={"residual": 1e-3}),
        warm=6_000,
        repeat=1,
    ),
    Case(
        name="sparse-projection-20k",
        group="projection",
        n=20_000,
        data="curved_sheet",
        options={"columns": 10_000},
        sides=(Side("lowfold", "lowfold_projection"), Side("sklearn", "sklearn_projection")),
        check="distortion",
        target=Target(speedup=2, at_most={"distortion": 0.3}),
        note="both of density 1 / sqrt(10,000), to 500 dimensions",
    ),
    Case(
        name="gaussian-projection-20k",
        group="projection-gaussian",
        n=20_000,
        data="curved_sheet",
        options={"columns": 10_000},
        sides=(Side("lowfold", "lowfold_gaussian"), Side("sklearn", "sklearn_gaussian")),
        check="distortion",
        target=Target(at_most={"distortion": 0.3}),
    ),
    Case(
        name="sparse-rows-projection-50k",
        group="projection-sparse-rows",
        n=50_000,
        data="sparse_rows",
        options={"columns": 10_000, "share": 0.01},
        sides=(Side("lowfold", "lowfold_projection"), Side("sklearn", "sklearn_projection")),
        check="sparse_distortion",
        target=Target(at_most={"distortion": 0.3}),
        note="rows with 1% of their entries; dense output on both sides",
    ),
)


def lowfold_pca(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.PCA(2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_pca(data: Data) -> Callable[[], Any]:
    from sklearn.decomposition import PCA

    def call() -> Any:
        model = PCA(2)
        return SimpleNamespace(embedding_=model.fit_transform(data.X))

    return call


def sklearn_svd(data: Data) -> Callable[[], Any]:
    from sklearn.decomposition import PCA

    def call() -> Any:
        model = PCA(2, svd_solver="full")
        return SimpleNamespace(embedding_=model.fit_transform(data.X))

    return call


def variance(data: Data, model: Any) -> dict[str, float]:
    """Variance of the scores: the largest there is."""
    return {"variance": float(np.asarray(model.embedding_, dtype=np.float64).var(axis=0, ddof=1).sum())}


def lowfold_kernel_pca(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.KernelPCA(2, gamma=GAMMA, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_kernel_pca(data: Data) -> Callable[[], Any]:
    from sklearn.decomposition import KernelPCA

    def call() -> Any:
        model = KernelPCA(2, kernel="rbf", gamma=GAMMA, n_jobs=THREADS)
        return SimpleNamespace(embedding_=model.fit_transform(data.X))

    return call


def kernel_residual(data: Data, model: Any) -> dict[str, float]:
    """||H K H y - lambda y|| / (lambda ||y||) of the two columns, on all points, block by block."""
    X = np.asarray(data.X, dtype=np.float64)
    X = X - X.mean(axis=0)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    square = np.square(X).sum(axis=1)
    product = np.empty_like(Y)
    for start in range(0, len(X), 1000):
        part = slice(start, start + 1000)
        K = np.exp(-(square[part, None] + square - 2 * X[part] @ X.T) * GAMMA)
        product[part] = K @ (Y - Y.mean(axis=0))
    product -= product.mean(axis=0)
    values = (product * Y).sum(axis=0) / np.square(Y).sum(axis=0)
    error = np.linalg.norm(product - Y * values, axis=0) / (values * np.linalg.norm(Y, axis=0))
    return {"residual": float(error.max())}


def lowfold_projection(data: Data) -> Callable[[], Any]:
    import lowfold

    D = data.X.shape[1]
    model = lowfold.RandomProjection(min(500, D), kind="sparse", density=1 / np.sqrt(D), n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_projection(data: Data) -> Callable[[], Any]:
    from sklearn.random_projection import SparseRandomProjection

    def call() -> Any:
        model = SparseRandomProjection(min(500, data.X.shape[1]), dense_output=True, random_state=0)
        return SimpleNamespace(embedding_=model.fit_transform(data.X))

    return call


def lowfold_gaussian(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.RandomProjection(min(500, data.X.shape[1]), n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_gaussian(data: Data) -> Callable[[], Any]:
    from sklearn.random_projection import GaussianRandomProjection

    def call() -> Any:
        model = GaussianRandomProjection(min(500, data.X.shape[1]), random_state=0)
        return SimpleNamespace(embedding_=model.fit_transform(data.X))

    return call


def sparse_distortion(data: Data, model: Any) -> dict[str, float]:
    """The same for sparse rows, and for an output that may be sparse."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, data.X.shape[0], size=(2, 1000))
    i, j = i[i != j], j[i != j]
    X, Y = data.X.tocsr(), model.embedding_
    before = (X[i] - X[j]).power(2).sum(axis=1)
    gap = Y[i] - Y[j]
    after = (gap.power(2) if hasattr(gap, "power") else np.square(gap)).sum(axis=1)
    return {"distortion": float(np.abs(np.asarray(after).ravel() / np.asarray(before).ravel() - 1).mean())}


def distortion(data: Data, model: Any) -> dict[str, float]:
    """Mean of |squared distance after / before - 1| over a thousand pairs."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, len(data.X), size=(2, 1000))
    i, j = i[i != j], j[i != j]
    before = np.square(data.X[i].astype(np.float64) - data.X[j]).sum(axis=1)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    return {"distortion": float(np.abs(np.square(Y[i] - Y[j]).sum(axis=1) / before - 1).mean())}
