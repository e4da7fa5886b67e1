"""Distances in every form: matrices dense and sparse, squared, similarities; for fitting and for new points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import lowfold
from lowfold._core.errors import InvalidInput

GRAPH = ["Isomap", "LandmarkIsomap", "ConformalIsomap", "KernelIsomap", "LaplacianEigenmaps", "DiffusionMaps"]
PATCHES = ["LLE", "ModifiedLLE", "SupervisedLLE", "LTSA", "HessianLLE"]
PLANES = ["LocallyLinearIsomap", "VectorDiffusionMaps"]
CURVE = lowfold.datasets.s_curve(170, random_state=0).X
X, NEW = CURVE[:150], CURVE[150:]


def lengths(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.linalg.norm(A[:, None] - B[None], axis=2)


def fitted(name: str, data: object, metric: object = "euclidean"):
    model = getattr(lowfold, name)(2, n_neighbors=10, metric=metric)
    return model.fit(data, np.arange(150) % 2) if name == "SupervisedLLE" else model.fit(data)


def nearest_only(D: np.ndarray, k: int, symmetric: bool) -> csr_array:
    """The k smallest of each row, and of each column where the matrix is square, as a sparse matrix."""
    reach = np.sort(D, axis=1)[:, k - 1 : k]
    keep = reach >= D
    keep = keep | keep.T if symmetric else keep
    rows, columns = np.nonzero(keep)
    return csr_array((D[rows, columns], (rows, columns)), shape=D.shape)


@pytest.mark.parametrize("name", [*GRAPH, *PATCHES])
def test_matrices_say_what_points_say(name: str) -> None:
    points = fitted(name, X)
    expected, placed = points.embedding_, points.transform(NEW)
    D, to = lengths(X, X), lengths(NEW, X)
    full = {
        "precomputed": [(D, to), (csr_array(D), csr_array(to)), (csr_array(D), to), (D, csr_array(to))],
        "precomputed_squared": [(D**2, to**2), (csr_array(D**2), csr_array(to**2))],
    }
    for metric, forms in full.items():
        for trained, queries in forms:
            model = fitted(name, trained, metric)
            flip = np.sign((model.embedding_ * expected).sum(axis=0))
            assert np.allclose(model.embedding_ * flip, expected, atol=1e-5 * np.abs(expected).max())
            assert np.allclose(model.transform(queries) * flip, placed, atol=1e-5 * np.abs(expected).max())
    centred = X - X.mean(axis=0)
    model = fitted(name, centred @ centred.T, "precomputed_similarity")
    flip = np.sign((model.embedding_ * expected).sum(axis=0))
    assert np.allclose(model.embedding_ * flip, expected, atol=1e-5 * np.abs(expected).max())
    with pytest.raises(InvalidInput, match="distances to the training points, not similarities"):
        model.transform((NEW - X.mean(axis=0)) @ centred.T)


@pytest.mark.parametrize("name", GRAPH)
def test_graphs_need_near_distances_only(name: str) -> None:
    points = fitted(name, X)
    model = fitted(name, nearest_only(lengths(X, X), 30, symmetric=True), "precomputed")
    assert np.allclose(model.embedding_, points.embedding_)
    assert np.allclose(model.transform(nearest_only(lengths(NEW, X), 30, symmetric=False)), points.transform(NEW))


@pytest.mark.parametrize("name", PATCHES)
def test_patches_fill_gaps_by_paths(name: str) -> None:
    """With half of the pairs all pairs of a patch are there; with fewer, paths inside it stand for the missing ones."""
    expected = fitted(name, lengths(X, X), "precomputed")
    model = fitted(name, nearest_only(lengths(X, X), 100, symmetric=True), "precomputed")
    flip = np.sign((model.embedding_ * expected.embedding_).sum(axis=0))
    to = lengths(NEW, X)
    for queries in (to, nearest_only(to, 60, symmetric=False)):
        assert np.allclose(model.transform(queries) * flip, expected.transform(to), atol=1e-6)
    few = model.transform(nearest_only(to, 12, symmetric=False)) * flip
    assert np.abs(few - expected.transform(to)).max() < 0.1 * np.ptp(expected.embedding_)


@pytest.mark.parametrize("name", PLANES)
def test_planes_need_points(name: str) -> None:
    with pytest.raises(InvalidInput, match="points themselves"):
        fitted(name, lengths(X, X), "precomputed")
    with pytest.raises(InvalidInput, match="Euclidean metric"):
        fitted(name, X, lambda a, b: float(np.abs(a - b).sum()))


@pytest.mark.parametrize("name", [*GRAPH, *PATCHES])
@pytest.mark.parametrize("metric", ["angular", lambda a, b: float(np.abs(a - b).sum())], ids=["angular", "function"])
@pytest.mark.filterwarnings("ignore:the kernel of DiffusionMaps is cut")  # seen from the origin the S lies over itself
def test_other_metrics_place_new_points(name: str, metric: object) -> None:
    model = fitted(name, X + 4.0, metric)
    Y = model.transform(np.vstack([NEW, X[:3]]) + 4.0)
    assert np.isfinite(Y).all()
    assert np.allclose(Y[-3:], model.embedding_[:3])
    alone = model.transform(NEW[:1] + 4.0)
    assert np.allclose(alone, Y[:1], atol=1e-9 * np.abs(Y).max())
