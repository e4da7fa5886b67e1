"""Distances given by halves, sparse graphs used whole, functions that are no distances, rows that are all the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput, InvalidType, RepairWarning

X = np.random.default_rng(3).normal(size=(60, 3))
D = np.linalg.norm(X[:, None] - X, axis=2)
LOWER = np.tri(60, dtype=bool)
TAKING = ["ClassicalMDS", "MetricMDS", "Isomap", "LTSA", "LLE", "LaplacianEigenmaps", "DiffusionMaps"]


def fitted(name: str, given: Any, **parameters: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        return getattr(lowfold, name)(2, metric="precomputed", **parameters).fit(given).embedding_


@pytest.mark.parametrize("name", TAKING)
def test_half_of_the_distances_stands_for_the_other(name: str) -> None:
    whole = fitted(name, D)
    halves = [np.where(LOWER, D, np.nan), np.where(LOWER.T, D, np.inf), np.triu(D), np.tril(D)]
    for given in halves:
        before = given.copy()
        assert np.allclose(fitted(name, given), whole, atol=1e-9 * np.abs(whole).max()), name
        assert np.array_equal(given, before, equal_nan=True)


def test_zeros_on_one_side_are_told() -> None:
    with pytest.warns(RepairWarning, match="values above its diagonal alone"):
        lowfold.ClassicalMDS(2, metric="precomputed").fit(np.triu(D))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.ClassicalMDS(2, metric="precomputed").fit(np.where(LOWER, D, np.nan))
        lowfold.ClassicalMDS(2, metric="precomputed").fit(D + np.diag(np.full(60, 1e-9)))  # of a product


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LTSA", "DiffusionMaps"])
def test_half_of_a_sparse_matrix_stands_for_the_other(name: str) -> None:
    near = sp.csr_array(np.where(D < 2.5, D, 0.0))
    whole = fitted(name, near)
    assert np.allclose(fitted(name, sp.csr_array(sp.triu(near))), whole, atol=1e-9)


def test_several_matrices_by_halves() -> None:
    stack = np.stack([D, D[:, ::-1][::-1]])
    for name in ("WeightedMDS", "ReplicatedMDS"):
        whole = getattr(lowfold, name)(2).fit(stack).embedding_
        half = getattr(lowfold, name)(2).fit(np.where(LOWER, stack, np.nan)).embedding_
        assert np.allclose(half, whole, atol=1e-9)
    gaps = stack.copy()
    gaps[:, 3, 7] = gaps[:, 7, 3] = np.nan
    with pytest.raises(InvalidInput, match="method='metric' or 'nonmetric'"):
        lowfold.ReplicatedMDS(2).fit(gaps)
    assert np.isfinite(lowfold.ReplicatedMDS(2, method="metric").fit(gaps).embedding_).all()
    with pytest.raises(InvalidInput, match=r"got matrices of shape \(60, 60\), \(5, 5\)"):
        lowfold.WeightedMDS(2).fit([D, D[:5, :5]])


def test_a_sparse_graph_is_used_beyond_the_reach_of_a_walk() -> None:
    near = sp.csr_array(np.where(D < 3, D, 0.0))
    assert lowfold.DiffusionMaps(2, metric="precomputed").fit(near).graph_.n_edges == near.nnz // 2


def test_parallel_edges_of_networkx_add_up() -> None:
    networkx = pytest.importorskip("networkx")
    single = networkx.gnm_random_graph(30, 120, seed=1)
    double = networkx.MultiGraph(single)
    for k, (a, b) in enumerate(single.edges):
        single[a][b]["weight"] = 1.0 + k % 3
        double[a][b][0]["weight"] = 0.5
        double.add_edge(a, b, weight=0.5 + k % 3)
    one, two = (
        lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(given).embedding_ for given in (single, double)
    )
    matrix = networkx.to_scipy_sparse_array(single)
    assert np.allclose(one, two, atol=1e-9)
    assert np.allclose(
        one, lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(matrix).embedding_, atol=1e-9
    )


def test_functions_that_are_no_distances_are_told() -> None:
    def one_way(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(a - b).sum() * (2.0 if a[0] < b[0] else 1.0))

    def apart(a: np.ndarray, b: np.ndarray) -> float:
        return 1.0 + float(np.abs(a - b).sum())

    def changing(a: np.ndarray, b: np.ndarray) -> float:
        a -= a.mean()
        return float(np.abs(a - b).sum())

    with pytest.warns(RepairWarning, match="from one row to another and"):
        lowfold.Isomap(2, metric=one_way).fit(X)
    with pytest.warns(RepairWarning, match="1 between a row and itself"):
        lowfold.Isomap(2, metric=apart).fit(X)
    rows = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        lowfold.Isomap(2, metric=changing).fit(rows)
    assert np.array_equal(rows, X)


@pytest.mark.filterwarnings("ignore:eigenvalues . and . coincide")
@pytest.mark.parametrize("name", ["PCA", "TSNE", "DiffusionMaps", "NonmetricMDS", "Isomap"])
def test_rows_that_are_all_the_same_are_told(name: str) -> None:
    with pytest.warns(AccuracyWarning, match="all 30 rows of X are the same"):
        getattr(lowfold, name)(2).fit(np.ones((30, 4)))


def test_what_is_passed_instead_of_rows() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match=r"pass np\.stack\(X\)"):
        lowfold.PCA(2).fit(pandas.Series(list(X)))
    with pytest.raises(InvalidInput, match="decimal comma: 'a', 'b'; read them with decimal"):
        lowfold.PCA(1).fit(pandas.DataFrame({"a": ["1,5", "2,5"], "b": [",5", "-1,25"]}))
    model = lowfold.PCA(2).fit(pandas.DataFrame(X, columns=list("abc")))
    with pytest.raises(InvalidInput, match=r"X\[list\(model.feature_names_in_\)\] is in that order"):
        model.transform(pandas.DataFrame(X, columns=list("abc"))[["b", "a", "c"]])
    with pytest.raises(InvalidInput, match="takes a table of numbers"):
        model.inverse_transform([["a", "b"]])


def test_an_anndata_object_is_answered() -> None:
    anndata = pytest.importorskip("anndata")
    with pytest.raises(InvalidType, match=r"lowfold\.fit_anndata\(X, 'pca'\)"):
        lowfold.PCA(2).fit(anndata.AnnData(X.copy()))
