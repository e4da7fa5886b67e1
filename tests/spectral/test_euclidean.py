"""Euclidean distance matrices, the additive constant, centred Gram operators."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold._core.operators import CentredGram
from lowfold.datasets._graphs import GraphExample, complete_graph, path_graph, ring_graph, star_graph
from lowfold.graph import Graph, geodesics
from lowfold.kernels import centred_gram
from lowfold.kernels._gram import centred_similarity
from lowfold.spectral import configuration_dimension, is_euclidean, minimal_shift
from lowfold.spectral._euclidean import shift_bound


def paths(example: GraphExample) -> np.ndarray:
    return geodesics(Graph.from_edges(example.n, example.edges))


def dissimilarities(n: int, seed: int) -> np.ndarray:
    """Symmetric, zero diagonal, positive: no triangle inequality."""
    A = np.random.default_rng(seed).random((n, n)) + 0.1
    return np.triu(A, 1) + np.triu(A, 1).T


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_points_give_euclidean_matrices_of_their_dimension(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, dim)) @ rng.normal(size=(dim, 8)) + 3
    D = cdist(X, X)
    assert is_euclidean(D)
    assert configuration_dimension(D) == dim
    assert minimal_shift(D) == 0.0


def test_examples_that_are_not_euclidean() -> None:
    assert not is_euclidean(paths(ring_graph(4)))
    assert not is_euclidean(paths(star_graph(4)))
    assert is_euclidean(paths(path_graph(6)))
    assert is_euclidean(paths(complete_graph(6)))
    assert configuration_dimension(paths(complete_graph(6))) == 5
    np.testing.assert_allclose(np.linalg.eigvalsh(centred_gram(paths(ring_graph(4))).dense())[0], -1.0)
    np.testing.assert_allclose(np.linalg.eigvalsh(centred_gram(paths(star_graph(4))).dense())[0], -0.25)
    D = cdist(np.eye(3), np.eye(3))
    assert not is_euclidean(D + np.eye(3))  # shares its centred form with nothing: the diagonal counts
    assert not is_euclidean(-D)
    lopsided = D.copy()
    lopsided[0, 1] += 0.1
    assert not is_euclidean(lopsided)
    assert is_euclidean(np.zeros((4, 4)))
    assert is_euclidean([[0.0]])
    assert configuration_dimension(np.zeros((4, 4))) == 0


@pytest.mark.parametrize("bad", [np.ones((2, 3)), np.ones(4), np.array([[0, np.nan], [np.nan, 0]])])
def test_what_is_no_matrix_of_distances(bad: np.ndarray) -> None:
    for question in (is_euclidean, configuration_dimension):
        with pytest.raises(InvalidInput, match="D must be"):
            question(bad)


def cailliez(D: np.ndarray) -> float:
    """Largest real eigenvalue of [[0, -S^c], [-I, 2 D^c]], Wang (2012), eq. (8.10)."""
    n = len(D)
    H = np.eye(n) - 1 / n
    B = np.block([[np.zeros((n, n)), -H @ D**2 @ H], [-np.eye(n), 2 * H @ D @ H]])
    values = np.linalg.eigvals(B)
    return float(values[np.abs(values.imag) < 1e-8].real.max())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [4, 12, 40])
def test_minimal_shift_is_that_of_cailliez(n: int, seed: int) -> None:
    D = dissimilarities(n, seed)
    tau = minimal_shift(D)
    if is_euclidean(D):
        assert tau == 0.0
        return
    np.testing.assert_allclose(tau, cailliez(D), rtol=1e-5)
    off = 1 - np.eye(n)
    assert is_euclidean(D + 1.0001 * tau * off)
    assert not is_euclidean(D + 0.99 * tau * off)
    values = np.linalg.eigvalsh(centred_gram(D, shift=tau).dense())
    assert abs(values[0]) < 1e-6 * values[-1]
    assert (np.abs(values) < 1e-6 * values[-1]).sum() >= 2
    assert shift_bound(D) >= tau * (1 - 1e-6)
    assert is_euclidean(D + shift_bound(D) * off, tol=1e-8)
    np.testing.assert_allclose(minimal_shift(D.astype(np.float32)), tau, rtol=1e-4)


def test_minimal_shift_of_graph_distances_beyond_the_dense_sizes() -> None:
    example = ring_graph(420)
    D = paths(example)
    tau = minimal_shift(D)
    values = np.linalg.eigvalsh(centred_gram(D, shift=tau).dense())
    assert values[0] > -1e-6 * values[-1]
    assert np.linalg.eigvalsh(centred_gram(D, shift=0.98 * tau).dense())[0] < -1e-9 * values[-1]


def half_cylinder(n: int, seed: int) -> np.ndarray:
    u = np.random.default_rng(seed).uniform(size=(n, 2))
    X = np.column_stack([np.cos(3 * u[:, 0]), np.sin(3 * u[:, 0]), 2 * u[:, 1]])
    return geodesics(lowfold.Isomap(n_neighbors=10).fit(X).graph_)


@pytest.mark.parametrize("n", [50, 130])  # in the whole space, and on a part of it
def test_minimal_shift_of_a_surface_is_that_of_cailliez(n: int) -> None:
    D = half_cylinder(n, 0)
    np.testing.assert_allclose(minimal_shift(D), cailliez(D), rtol=1e-8)


def test_minimal_shift_of_nearly_euclidean_distances_leaves_nothing_negative() -> None:
    X = np.random.default_rng(0).normal(size=(450, 2))
    D = cdist(X, X) * (1 + 1e-5 * dissimilarities(450, 0))
    values = np.linalg.eigvalsh(centred_gram(D, shift=minimal_shift(D)).dense())
    assert values[0] > -1e-9 * values[-1]


def test_minimal_shift_takes_few_products(monkeypatch: pytest.MonkeyPatch) -> None:
    D, times = half_cylinder(600, 1), CentredGram._times
    made = []
    monkeypatch.setattr(CentredGram, "_times", lambda self, V: made.append(V.shape[1]) or times(self, V))
    minimal_shift(D)
    assert len(made) < 70  # a solve from a random start for every constant takes 170


def test_a_shift_that_was_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    D = half_cylinder(300, 2)
    whole = minimal_shift(D)
    monkeypatch.setattr("lowfold.spectral._additive.STEPS", 4)
    with pytest.warns(AccuracyWarning, match="may be larger by"):
        cut = minimal_shift(D)
    assert 0 < cut < whole


@pytest.mark.parametrize("seed", range(3))
def test_loss_of_the_best_projection(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(15, 4)) * [4, 3, 2, 1]
    D = cdist(X, X)
    G = centred_gram(D).dense()
    np.testing.assert_allclose(G, centred_similarity(X @ X.T).dense(), atol=1e-10)
    values, vectors = np.linalg.eigh(G)
    Y = vectors[:, -2:] * np.sqrt(values[-2:])
    lost = (D**2 - cdist(Y, Y) ** 2).sum()
    np.testing.assert_allclose(lost, 2 * 15 * values[:-2].sum(), rtol=1e-9)  # 2 n times the energy left out
