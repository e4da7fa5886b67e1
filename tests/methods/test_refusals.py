"""Arrays that are no table of numbers are refused in our words, wherever they are passed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import lowfold
from lowfold.errors import InvalidInput, InvalidType, RepairWarning

X = np.random.default_rng(8).normal(size=(40, 3))


def holed(value: float) -> np.ndarray:
    Z = X.copy()
    Z[[12, 30], [2, 0]] = value
    return Z


HOSTILE = [
    (holed(np.inf), InvalidInput, "contains infinity: 2 of 120 values, the first in row 12, column 2"),
    (holed(np.nan), InvalidInput, "contains NaN: 2 of 120 values, the first in row 12, column 2"),
    (sp.csr_array(holed(-np.inf)), InvalidInput, "infinity: 2 of 120 values, the first in row 12"),
    (X + 1j, InvalidInput, "^Complex data not supported: X holds complex numbers; np.hstack"),
    (X[:0], InvalidInput, r"^X has 0 sample\(s\).*a row is a point"),
    (X[:, :0], InvalidInput, r"^X has 0 feature\(s\).*a column is a feature"),
    (np.asmatrix(X), InvalidType, "np.asarray"),
    (3.0, InvalidInput, "a single number"),
    (None, InvalidInput, "X is None"),
    ([], InvalidInput, "X is empty"),
    ([[1, 2], [3]], InvalidInput, r"different lengths \(1 to 2\)"),
    (np.array([["a", "b"]] * 9), InvalidInput, r"X holds text \('a'\)"),
    (np.zeros((9, 2), dtype="datetime64[s]"), InvalidInput, "dates or durations"),
    (np.ma.masked_array(X, mask=X > 1), InvalidInput, "of its 120 values are masked"),
    (np.array([[[1.0], [2.0, 3.0]]] * 9, dtype=object), InvalidInput, "cells that hold several values"),
    ([[10**400, 1]] * 9, InvalidInput, "whole numbers beyond float64"),
    (sp.coo_array(X[:, 0]), InvalidInput, r"shape \(40,\), and a row is a point"),
]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
@pytest.mark.parametrize("fitted", [False, True], ids=["fit", "transform"])
def test_hostile_arrays_in_words(place: int, fitted: bool) -> None:
    passed, kind, words = HOSTILE[place]
    model = lowfold.PCA(2).fit(X) if fitted else lowfold.PCA(2)
    with pytest.raises(kind, match=words):
        (model.transform if fitted else model.fit_transform)(passed)


def test_frames_name_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "when": pandas.date_range("2020", periods=40)})
    with pytest.raises(InvalidInput, match=r"dates or durations \(columns 'when'\)"):
        lowfold.Isomap(1).fit(frame)
    with pytest.raises(InvalidInput, match=r"Series of 40 values.*to_frame"):
        lowfold.Isomap(1).fit(frame["a"])


@pytest.mark.extra("pandas")
def test_frames_of_odd_columns() -> None:
    import pandas as pd

    with pytest.raises(InvalidType, match=r"columns\.astype\(str\)"):
        lowfold.PCA(1).fit(pd.DataFrame(X, columns=[0, 1, "c"]))
    with pytest.raises(InvalidInput, match="0 columns and 0 rows"):
        lowfold.PCA(1).fit(pd.DataFrame())
    with pytest.raises(InvalidInput, match=r"X\.sparse\.to_dense\(\)"):
        lowfold.LTSA(1).fit(pd.DataFrame(np.maximum(X, 0)).astype(pd.SparseDtype(float, 0.0)))


def test_a_buffer_is_a_table() -> None:
    assert np.array_equal(lowfold.PCA(1).fit_transform(memoryview(X)), lowfold.PCA(1).fit_transform(X))


@pytest.mark.parametrize("name", ["LPP", "NPE", "LinearLTSA", "ICA"])
def test_float32_at_its_smallest_is_refused(name: str) -> None:
    """What these divide by it was infinite in `components_`."""
    with pytest.raises(InvalidInput, match="between 1e-35 and"):
        getattr(lowfold, name)(1).fit((X * 1e-42).astype(np.float32))
    model = getattr(lowfold, name)(1).fit((X * 1e-33).astype(np.float32))
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(np.float32([[0, 0, 0], [1e-42, 0, 0]]))).all()  # of a batch any spread will do


def test_one_value_of_many_is_looked_at_in_float32() -> None:
    many = np.random.default_rng(5).random((400, 3)).astype(np.float32)
    many[157, 1] = 3.3e38
    with pytest.raises(InvalidInput, match="float32 does not hold their distances"):
        lowfold.RandomProjection(2).fit(many)
    model = lowfold.RandomProjection(2).fit(X.astype(np.float32))
    with pytest.raises(InvalidInput, match="fit on float64"):
        model.transform(X * 1e40)


@pytest.mark.parametrize("name", ["NMF", "PCA", "Isomap"])
def test_places_of_a_sparse_matrix_may_come_twice_and_in_any_order(name: str) -> None:
    A = sp.random_array((40, 12), density=0.3, format="csr", rng=np.random.default_rng(1))
    lines = [slice(a, b) for a, b in zip(A.indptr, A.indptr[1:])]
    indices, data = (np.concatenate([np.tile(v[line][::-1], 2) for line in lines]) for v in (A.indices, A.data / 2))
    twice = sp.csr_array((data, indices, 2 * A.indptr), shape=A.shape)
    model = getattr(lowfold, name)(2).fit(twice)
    assert np.array_equal(model.embedding_, getattr(lowfold, name)(2).fit(A).embedding_)
    model.transform(twice)
    assert np.array_equal(twice.indices, indices)  # the caller's arrays are as they were
    assert np.array_equal(twice.data, data)


def test_a_graph_whose_edges_come_twice_has_their_sum() -> None:
    X = np.random.default_rng(8).normal(size=(40, 3))
    edges = lowfold.graph.find_neighbors(X, n_neighbors=6).union().to_scipy().tocoo()
    twice = sp.csr_array(sp.coo_array((edges.data / 2, (edges.row, edges.col)), edges.shape))
    indices, indptr = np.repeat(twice.indices, 2), 2 * twice.indptr
    doubled = sp.csr_array((np.repeat(twice.data, 2), indices, indptr), shape=edges.shape)
    given, plain = (lowfold.Isomap(2, metric="precomputed").fit(A) for A in (doubled, edges.tocsr()))
    assert np.array_equal(given.graph_.indices, plain.graph_.indices)
    assert np.allclose(given.embedding_, plain.embedding_)


D = np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("name", ["LTSA", "DiffusionMaps", "MetricMDS", "TSNE"])
@pytest.mark.parametrize("given", [np.full((9, 9), np.nan), sp.csr_array((9, 9)), np.where(np.eye(9), 0, np.inf)])
def test_a_matrix_without_a_measured_distance_is_refused(name: str, given: object) -> None:
    with pytest.raises(InvalidInput, match="no measured distance between two points"):
        getattr(lowfold, name)(2, metric="precomputed").fit(given)


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LaplacianEigenmaps", "MetricMDS"])
def test_sparse_distances_beyond_the_range_are_refused(name: str) -> None:
    near = lowfold.graph.find_neighbors(X, n_neighbors=6).union().to_scipy()
    with pytest.raises(InvalidInput, match=r"distances up to .* multiply X by a constant"):
        getattr(lowfold, name)(2, metric="precomputed").fit(near * 1e200)
    model = getattr(lowfold, name)(2, metric="precomputed").fit(near)
    with pytest.raises(InvalidInput, match=r"distances up to .* multiply X by a constant"):
        model.transform(near * 1e200)


@pytest.mark.parametrize("name", ["MetricMDS", "LTSA"])
def test_a_new_point_without_a_measured_distance_is_refused(name: str) -> None:
    """Its nearest was that of the next row, or an index beyond the last."""
    near = lowfold.graph.find_neighbors(X, n_neighbors=6).union().to_scipy().tolil()
    model = getattr(lowfold, name)(2, metric="precomputed").fit(near.tocsr())
    near[3] = 0
    with pytest.raises(InvalidInput, match=r"row 3 of the new points has no (measured distance|neighbour)"):
        model.transform(near.tocsr())


def test_affinities_that_are_next_to_none_are_no_edges() -> None:
    K = np.exp(-(D**2))
    K[0, 1] = K[1, 0] = 5e-324
    model = lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(K)
    K[0, 1] = K[1, 0] = 0
    assert np.allclose(model.embedding_, lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit_transform(K))
    with pytest.raises(InvalidInput, match="no affinity of at least 1e-70"):
        lowfold.SpectralClustering(2, metric="precomputed_affinity").fit(K * 1e-100)


def test_condensed_distances_are_known() -> None:
    from scipy.spatial.distance import pdist

    with pytest.raises(InvalidInput, match=r"of 40 points; pass the square matrix, .*squareform"):
        lowfold.Isomap(2, metric="precomputed").fit(pdist(X))


def test_matrices_of_kernels_and_similarities_in_the_same_words() -> None:
    K = np.exp(-(D**2))
    model = lowfold.KernelPCA(2, kernel="precomputed").fit(K)
    for wrong, words in ((sp.csr_array(K), "X is sparse"), (K * 1j, "Complex data"), (K * np.inf, "infinity")):
        with np.errstate(invalid="ignore"), pytest.raises(InvalidInput, match=words):
            lowfold.KernelPCA(2, kernel="precomputed").fit(wrong)
        with pytest.raises(InvalidInput, match=words):
            model.transform(wrong)
    with pytest.raises(InvalidInput, match="multiply X by a constant"):
        lowfold.KernelPCA(2, kernel="precomputed").fit(K * 1e200)
    with pytest.raises(InvalidInput, match=r"expecting 40 features as input.*one to each"):
        model.transform(K[:, :20])
    K[3, 3] = np.inf
    with pytest.raises(InvalidInput, match="similarities must be finite"):
        lowfold.ClassicalMDS(2, metric="precomputed_similarity").fit(K)


def test_an_infinite_diagonal_is_not_looked_at() -> None:
    given = D + np.diag(np.full(40, np.inf))
    expected = lowfold.Isomap(2, metric="precomputed").fit_transform(D)
    assert np.array_equal(lowfold.Isomap(2, metric="precomputed").fit_transform(given), expected)


def test_distances_in_the_same_words() -> None:
    D = np.abs(X[:, :1] - X[:, 0])
    model = lowfold.MetricMDS(1, metric="precomputed").fit(D)
    with pytest.raises(InvalidInput, match=r"expecting 40 features as input.*one to each"):
        model.transform(X)
    with pytest.raises(InvalidInput, match="Complex data"):
        model.fit(D + 1j)


@pytest.mark.parametrize(
    ("name", "way"),
    [("Isomap", "pass metric='precomputed'"), ("PCA", "Isomap and ClassicalMDS take them"), ("LPP", "ClassicalMDS")],
)
def test_distances_passed_as_rows_are_told(name: str, way: str) -> None:
    D = np.linalg.norm(X[:, None] - X, axis=2)
    with pytest.warns(RepairWarning, match=f"read as 40 rows of features; if they are distances, .*{way}"):
        getattr(lowfold, name)(2).fit(D)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepairWarning)
        lowfold.ClassicalMDS(2, metric="precomputed").fit(D)
        lowfold.PCA(2).fit(D + np.eye(40))  # as a kernel or a table may be


def test_distances_stand_in_one_order() -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"p{i}" for i in range(40)]
    table = pandas.DataFrame(np.linalg.norm(X[:, None] - X, axis=2), index=names, columns=names)
    lowfold.ClassicalMDS(2, metric="precomputed").fit(table)
    turned = table[names[::-1]]
    with pytest.raises(InvalidInput, match=r"in different orders.*pass X.loc\[X.index, X.index\]"):
        lowfold.ClassicalMDS(2, metric="precomputed").fit(turned)
    lowfold.ClassicalMDS(2, metric="precomputed").fit(turned.loc[turned.index, turned.index])
