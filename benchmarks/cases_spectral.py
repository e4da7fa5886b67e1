"""Dense and sparse eigenproblems: classical MDS and Laplacian eigenmaps."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target
from quality import procrustes_error

K = 12

CASES = (
    Case(
        name="mds-10k",
        group="mds",
        n=10_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_mds"),
            Side("tapkee", "tapkee_mds"),
            Side("sklearn", "sklearn_mds", skip="a full dense eigendecomposition: given up after 200 s"),
        ),
        check="like_pca",
        target=Target(speedup=3, over=("tapkee",), at_most={"procrustes": 1e-3}),
        warm=1_500,
        note="from a matrix of distances; tapkee's Python package takes points only and computes the distances itself",
    ),
    Case(
        name="le-25k",
        group="le",
        n=25_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_le"),
            Side("sklearn-amg", "sklearn_le_amg"),
            Side("sklearn-arpack", "sklearn_le_arpack"),
        ),
        check="quality.strip_harmonics",
        target=Target(speedup=1, at_most={"residual": 1e-4}),
        warm=21_000,
        quick=2_000,
    ),
    Case(
        name="le-100k",
        group="le",
        n=100_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_le"),
            Side("sklearn-amg", "sklearn_le_amg"),
            Side("sklearn-arpack", "sklearn_le_arpack"),
        ),
        check="quality.strip_harmonics",
        target=Target(speedup=1, at_most={"residual": 1e-4}),
        warm=21_000,
        quick=2_000,
    ),
)


def lowfold_mds(data: Data) -> Callable[[], Any]:
    from scipy.spatial.distance import cdist

    import lowfold

    D = cdist(data.X, data.X)
    model = lowfold.ClassicalMDS(2, metric="precomputed", n_jobs=THREADS)
    return lambda: model.fit(D)


def tapkee_mds(data: Data) -> Callable[[], Any]:
    import tapkee

    columns = np.asfortranarray(data.X.T)
    return lambda: SimpleNamespace(embedding_=tapkee.embed(columns, method="mds", target_dimension=2))


def sklearn_mds(data: Data) -> Callable[[], Any]:
    from scipy.spatial.distance import cdist
    from sklearn.manifold import ClassicalMDS

    D = cdist(data.X, data.X)
    model = ClassicalMDS(n_components=2, metric="precomputed")
    return lambda: model.fit(D)


def like_pca(data: Data, model: Any) -> dict[str, float]:
    """With Euclidean distances classical MDS is PCA of the points: the truth to compare with."""
    centred = data.X - data.X.mean(axis=0)
    truth = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    found = {"procrustes": procrustes_error(np.asarray(model.embedding_), truth)}
    if hasattr(model, "residual_"):
        found["residual"] = float(model.residual_)
    return found


def lowfold_le(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.LaplacianEigenmaps(2, n_neighbors=K, tol=1e-4, n_jobs=THREADS)

    return lambda: _WithWeights(model.fit(data.X))


class _WithWeights:
    """A fitted model whose weights are made when the answer is judged, outside the measured time."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def W_(self) -> Any:
        return self.graph_.to_scipy(np.exp(-(self.graph_.lengths**2) / self.scale_))


def _sklearn_le(data: Data, solver: str) -> Callable[[], Any]:
    from sklearn.manifold import SpectralEmbedding

    # scikit-learn counts the point itself among its neighbours.
    model = SpectralEmbedding(
        2, n_neighbors=K + 1, affinity="nearest_neighbors", eigen_solver=solver, random_state=0, n_jobs=THREADS
    )

    def call() -> Any:
        model.fit(data.X)
        model.W_ = model.affinity_matrix_
        model.W_.setdiag(0)  # its Laplacian leaves the diagonal out
        return model

    return call


def sklearn_le_amg(data: Data) -> Callable[[], Any]:
    return _sklearn_le(data, "amg")


def sklearn_le_arpack(data: Data) -> Callable[[], Any]:
    return _sklearn_le(data, "arpack")
