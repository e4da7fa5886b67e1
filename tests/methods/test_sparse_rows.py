"""Sparse rows: the same answers as the dense ones, and nothing made dense on the way."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import lowfold
from lowfold._core.errors import InvalidInput, LowfoldWarning
from lowfold._core.sparse_rows import SparseRows
from lowfold.graph import Points, nearest, within_radius
from lowfold.metrics._resolve import resolve_metric


def rows(n: int = 90, D: int = 40, seed: int = 0) -> scipy.sparse.csr_array:
    """Rows near a curve, half of the entries zero."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, size=n))
    X = np.maximum(np.cos(t[:, None] - np.linspace(0, 6, D)) + 0.05 * rng.normal(size=(n, D)), 0.0)
    return scipy.sparse.csr_array(X)


def quiet(model: object, X: object) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        return model.fit(X)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("seed", [0, 1])
def test_neighbours_are_those_of_the_dense_rows(metric: str, seed: int) -> None:
    X = rows(seed=seed)
    X = scipy.sparse.csr_array(scipy.sparse.vstack([X, X[:3]]))  # repeated rows are at distance 0
    D = X.toarray()
    sparse, dense = (Points(P, resolve_metric(metric, None, None)) for P in (SparseRows(X), D))
    ours, theirs = nearest(sparse, 8), nearest(dense, 8, search="brute")
    assert np.allclose(ours.distances, theirs.distances, rtol=1e-9, atol=1e-12)
    assert (ours.distances[theirs.distances == 0] == 0).all()
    assert np.mean(ours.indices == theirs.indices) > 0.99  # ties may be broken by rounding
    radius = float(np.median(theirs.distances))
    assert len(within_radius(sparse, radius).indices) == len(within_radius(dense, radius).indices)
    new = rows(5, seed=9)
    found = nearest(sparse, 4, queries=SparseRows(new))
    assert np.allclose(found.distances, nearest(dense, 4, queries=new.toarray()).distances, atol=1e-12)


METHODS = {
    "PCA": {},
    "KernelPCA": {"gamma": 0.1},
    "Isomap": {"n_neighbors": 8},
    "LandmarkIsomap": {"n_neighbors": 8, "landmarks": 30},
    "ConformalIsomap": {"n_neighbors": 8},
    "LaplacianEigenmaps": {"n_neighbors": 8},
    "DiffusionMaps": {"n_neighbors": 8},
    "LLE": {"n_neighbors": 8},
    "ModifiedLLE": {"n_neighbors": 8},
    "LTSA": {"n_neighbors": 8, "mass": "points"},
    "HessianLLE": {"n_neighbors": 9, "mass": "points"},
    "ClassicalMDS": {},
    "MetricMDS": {"max_iter": 50},
    "SpectralClustering": {"n_neighbors": 8},
    "NMF": {},
    "LPP": {"n_neighbors": 8},
    "NPE": {"n_neighbors": 8},
    "LinearLTSA": {"n_neighbors": 8},
    "KernelLPP": {"n_neighbors": 8, "gamma": 0.1},
}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_give_what_they_give_for_dense_rows(name: str) -> None:
    X, new = rows(), rows(6, seed=5)
    d = {"n_clusters": 2} if name == "SpectralClustering" else {"n_components": 2}
    make = getattr(lowfold, name)
    sparse = quiet(make(**d, **METHODS[name]), X)
    dense = quiet(make(**d, **METHODS[name]), X.toarray())
    size = np.abs(dense.embedding_).max()
    flip = np.sign((sparse.embedding_ * dense.embedding_).sum(axis=0))
    assert np.abs(sparse.embedding_ * flip - dense.embedding_).max() < 1e-5 * size
    placed = sparse.transform(new) * flip
    assert np.abs(placed - dense.transform(new.toarray())).max() < 1e-4 * size
    back, again = sparse.inverse_transform(sparse.embedding_[:4]), dense.inverse_transform(dense.embedding_[:4])
    assert np.abs(back - again).max() < 1e-4


def test_landmark_mvu_of_sparse_rows() -> None:
    X = rows()
    model = quiet(lowfold.LandmarkMVU(2, n_neighbors=4, landmarks=12), X)
    dense = lowfold.LandmarkMVU(2, n_neighbors=4, landmarks=12, metric="precomputed")
    D = np.linalg.norm(X.toarray()[:, None] - X.toarray()[None], axis=2)
    assert np.allclose(model.eigenvalues_, quiet(dense, D).eigenvalues_, rtol=1e-5)  # both know distances alone
    assert 0 < model.reconstruction_error_ < 1
    assert np.isfinite(model.transform(rows(4, seed=5))).all()


def test_tsne_of_sparse_rows() -> None:
    X = rows()
    init = np.random.default_rng(0).normal(size=(90, 2)) * 1e-2
    # 90 points at the least learning rate: rounding grows tenfold every few steps
    sparse = lowfold.TSNE(perplexity=10, max_iter=20, init=init).fit(X)
    dense = lowfold.TSNE(perplexity=10, max_iter=20, init=init).fit(X.toarray())
    assert np.allclose(sparse.embedding_, dense.embedding_, atol=1e-4)
    assert np.isfinite(sparse.transform(rows(3, seed=2))).all()
    assert np.isfinite(lowfold.TSNE(perplexity=10, max_iter=20).fit_transform(X)).all()  # init="pca" by landmarks


@pytest.mark.parametrize("shape", [(60, 500), (700, 450)])
def test_axes_of_sparse_rows_by_either_side(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array(shape, density=0.05, rng=rng, format="csr")
    X = scipy.sparse.csr_array(X + 3 * scipy.sparse.csr_array((X[:, [0]] @ X[[0]]) + (X[:, [1]] @ X[[1]])))
    model, dense = lowfold.PCA(2).fit(X), lowfold.PCA(2).fit(X.toarray())
    assert np.allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-6)
    assert np.allclose(np.abs(model.components_ @ dense.components_.T), np.eye(2), atol=1e-3)
    assert np.isclose(model.total_variance_, dense.total_variance_)
    assert np.allclose(model.operator().dense(), np.cov(X.toarray().T), atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 200), (200, 60)])
def test_linear_maps_of_many_sparse_rows_use_the_leading_axes(shape: tuple[int, int], monkeypatch) -> None:
    X = rows(*shape)
    whole = quiet(lowfold.LPP(2, energy=0.9), X)
    monkeypatch.setattr("lowfold.lowrank._whitened.WHOLE", 10)
    monkeypatch.setattr("lowfold.lowrank._whitened.LEADING", whole.rank_)
    leading = quiet(lowfold.LPP(2), X)
    assert leading.rank_ == whole.rank_
    assert 0.9 <= leading.energy_ < 1
    assert np.allclose(leading.eigenvalues_, whole.eigenvalues_, rtol=1e-6)
    with pytest.raises(InvalidInput, match="energy must be at most"):
        quiet(lowfold.LPP(2, energy=0.999), X)


@pytest.mark.parametrize("name", ["PCA", "Isomap", "KernelPCA", "LPP"])
def test_files_and_types(name: str, tmp_path) -> None:
    X = rows().astype(np.float32)
    model = quiet(getattr(lowfold, name)(2), X)
    assert model.embedding_.dtype == np.float32
    lowfold.save(tmp_path / "model.lowfold", model)
    new = rows(4, seed=7).astype(np.float32)
    assert np.array_equal(lowfold.load(tmp_path / "model.lowfold").transform(new), model.transform(new))
    X.data *= 2
    assert np.array_equal(lowfold.load(tmp_path / "model.lowfold").transform(new), model.transform(new))


def test_what_cannot_be_is_said() -> None:
    X = rows()
    with pytest.raises(InvalidInput, match="metric='euclidean' or 'cosine'"):
        lowfold.Isomap(metric="correlation").fit(X)
    with pytest.raises(InvalidInput, match="PCA\\(50\\)"):
        lowfold.VectorDiffusionMaps(2).fit(X)
    with pytest.raises(InvalidInput, match="fitted on dense rows"):
        lowfold.Isomap(2).fit(X.toarray()).transform(X)
    with pytest.raises(InvalidInput, match="all zero"):
        lowfold.Isomap(metric="cosine").fit(scipy.sparse.csr_array(X.shape))
