"""Matrices of dissimilarities: composing, similarity to distance, squared distances."""

import numpy as np
import pytest
import scipy.sparse

from lowfold._core.errors import InvalidInput
from lowfold.metrics import compose, kernel_distance, similarity_to_distance
from lowfold.metrics._dissimilarity import squared_distances

SEEDS = [0, 1, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_squared_distances(seed):
    rng = np.random.default_rng(seed)
    Y, X = rng.normal(size=(30, 25)) + 1e6, rng.normal(size=(20, 25)) + 1e6
    np.testing.assert_allclose(squared_distances(Y, X), ((Y[:, None] - X[None]) ** 2).sum(axis=2), rtol=1e-10)
    own = squared_distances(Y)
    np.testing.assert_allclose(own, squared_distances(Y, Y))
    assert (own == own.T).all()
    assert (np.diag(own) == 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_similarity_of_points_gives_their_distances(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(20, 4)), rng.normal(size=(15, 4))
    expected = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(similarity_to_distance(X @ X.T), expected, atol=1e-7)
    np.testing.assert_allclose(similarity_to_distance(X @ X.T, squared=True), expected**2, atol=1e-12)
    cross = kernel_distance(X @ Y.T, (X**2).sum(axis=1), (Y**2).sum(axis=1))
    np.testing.assert_allclose(cross, np.linalg.norm(X[:, None] - Y[None], axis=2), atol=1e-7)
    assert similarity_to_distance((X @ X.T).astype(np.float32)).dtype == np.float32


def test_what_is_not_a_kernel_is_refused_by_pair():
    K = np.eye(3)
    K[0, 2] = K[2, 0] = 1.5
    with pytest.raises(InvalidInput, match="i = 0, j = 2"):
        similarity_to_distance(K)
    with pytest.raises(InvalidInput, match="square"):
        similarity_to_distance(np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="one row per entry"):
        kernel_distance(np.ones((2, 3)), np.ones(3), np.ones(2))


def test_unmeasured_similarity_stays_unmeasured():
    K = np.eye(3)
    K[0, 1] = np.nan
    d = similarity_to_distance(K)
    assert np.isnan(d[0, 1])
    assert d[1, 0] == pytest.approx(np.sqrt(2))


def test_compose_one_matrix_is_itself():
    D = np.array([[0, 2.0, np.nan], [2.0, 0, 5.0], [np.nan, 5.0, 0]])
    np.testing.assert_array_equal(compose([D], [1.0]), D)
    np.testing.assert_array_equal(compose([D, D, D], [1.0, 2.0, 0.5]), D)


def test_compose_averages_what_was_measured():
    nan, inf = np.nan, np.inf
    miles = np.array([[0, 100, nan, nan], [100, 0, 300, inf], [nan, 300, 0, 0], [nan, inf, 0, 0.0]])
    hours = np.array([[0, 1, 2, nan], [1, 0, nan, 1], [2, nan, 0, 0], [nan, 1, 0, 0.0]])
    d = compose([miles, hours], [1.0, 3.0])
    assert d[0, 1] == (100 + 3 * 1) / 4
    assert d[0, 2] == 2
    assert d[1, 2] == 300
    assert np.isnan(d[0, 3])
    assert np.isinf(d[1, 3])
    assert d[2, 3] == 0
    assert (d[np.arange(4), np.arange(4)] == 0).all()
    assert np.isnan(compose([miles, hours], [1.0, 0.0])[0, 2])


@pytest.mark.parametrize("normalize", ["mean", "max"])
def test_units_do_not_matter_when_normalised(normalize):
    rng = np.random.default_rng(3)
    A, B = (squared_distances(rng.normal(size=(8, 2))) for _ in range(2))
    np.testing.assert_allclose(compose([A, B], normalize=normalize), compose([A * 1609, B / 60], normalize=normalize))
    one = compose([A], normalize=normalize)
    off = one[~np.eye(8, dtype=bool)]
    assert (off.mean() if normalize == "mean" else off.max()) == pytest.approx(1)


def test_absent_entries_of_a_sparse_matrix_are_unmeasured_and_stored_zeros_are_zeros():
    sparse = scipy.sparse.coo_matrix(([0.0, 3.0], ([0, 1], [1, 0])), shape=(3, 3))
    d = compose([sparse])
    assert d[0, 1] == 0
    assert d[1, 0] == 3
    assert np.isnan(d[0, 2])


@pytest.mark.parametrize(
    ("matrices", "options", "words"),
    [
        ([], {}, "one or more"),
        ([np.eye(2), np.eye(3)], {}, "of one size"),
        ([np.ones((2, 3))], {}, "square"),
        ([-np.eye(2)], {}, "negative"),
        ([np.eye(2)], {"weights": [1, 2]}, "1 numbers"),
        ([np.eye(2)], {"weights": [0]}, "not all 0"),
        ([np.eye(2)], {"weights": [-1]}, "at least 0"),
        ([np.eye(2)], {"normalize": "sum"}, "'mean' or 'max'"),
        ([np.zeros((2, 2))], {"normalize": "max"}, "no positive"),
    ],
)
def test_errors_in_words(matrices, options, words):
    with pytest.raises(InvalidInput, match=words):
        compose(matrices, **options)
