"""Rank measures against scikit-learn, against the definitions written out, and at their ends."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness as reference

from lowfold import quality
from lowfold._core.errors import InvalidInput
from lowfold.graph import find_neighbors, geodesics
from lowfold.quality import _spaces
from lowfold.quality._ranks import neighbor_ranks

SEEDS = range(3)


def case(seed: int, n: int = 70, D: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2))


def ranks(A: np.ndarray) -> np.ndarray:
    D = np.linalg.norm(A[:, None] - A[None], axis=2)
    np.fill_diagonal(D, -1)
    return np.argsort(np.argsort(D, axis=1, kind="stable"), axis=1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 5, 30])
def test_trustworthiness_is_that_of_scikit_learn(seed: int, k: int) -> None:
    X, Y = case(seed)
    assert quality.trustworthiness(X, Y, k).value == pytest.approx(reference(X, Y, n_neighbors=k), abs=1e-12)
    assert quality.continuity(X, Y, k).value == pytest.approx(reference(Y, X, n_neighbors=k), abs=1e-12)


@pytest.mark.parametrize("D", [3, 40])
def test_blocks_do_not_change_the_result(D: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = case(0, D=D)
    whole = neighbor_ranks(X, Y, 6, n_jobs=1)
    curve = quality.neighborhood_preservation(X, Y)
    monkeypatch.setattr(_spaces, "BLOCK", 500)
    parts = neighbor_ranks(X, Y, 6, n_jobs=2)
    assert np.array_equal(whole.of_data, parts.of_data)
    assert np.array_equal(whole.of_embedding, parts.of_embedding)
    assert np.allclose(curve.q_nx, quality.neighborhood_preservation(X, Y).q_nx, rtol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_measures_as_defined(seed: int) -> None:
    X, Y = case(seed)
    n, k = len(X), 7
    a, b = ranks(X), ranks(Y)
    inside = (a >= 1) & (a <= k), (b >= 1) & (b <= k)
    norm = n * sum(abs(n - 2 * j) / j for j in range(1, k + 1))
    found = neighbor_ranks(X, Y, k)
    assert found.mrre("embedding").value == pytest.approx((np.abs(a - b)[inside[1]] / b[inside[1]]).sum() / norm)
    assert quality.mrre(X, Y, k, side="data").value == pytest.approx(
        (np.abs(a - b)[inside[0]] / a[inside[0]]).sum() / norm
    )
    shared = (inside[0] & inside[1]).sum() / (n * k)
    assert found.overlap().value == pytest.approx(shared)
    assert quality.lcmc(X, Y, k).value == pytest.approx(shared - k / (n - 1))
    curve = quality.neighborhood_preservation(X, Y)
    assert curve.q_nx[k - 1] == pytest.approx(shared)
    assert curve.lcmc[k - 1] == pytest.approx(shared - k / (n - 1))
    weights = 1 / curve.sizes
    assert curve.area == pytest.approx((curve.r_nx * weights).sum() / weights.sum())
    assert curve.points.mean() == pytest.approx(curve.area)
    assert 1 <= curve.k_max <= n - 2


def test_points_average_to_the_value() -> None:
    X, Y = case(1)
    found = neighbor_ranks(X, Y, 5)
    for score in (found.trustworthiness(), found.continuity(), found.mrre(), found.lcmc(), found.overlap()):
        assert score.points is not None
        assert score.points.mean() == pytest.approx(score.value)


@pytest.mark.parametrize("seed", SEEDS)
def test_perfect_and_random(seed: int) -> None:
    X, _ = case(seed, n=200)
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
    found = neighbor_ranks(X, 3 * X @ rotation + 1, 8)
    assert found.trustworthiness().value == found.continuity().value == found.overlap().value == 1.0
    assert found.mrre().value == found.mrre("data").value == 0.0
    Z = np.random.default_rng(seed + 10).normal(size=(200, 2))
    assert abs(quality.trustworthiness(X, Z, 8).value - 0.5) < 0.05
    assert abs(quality.neighborhood_preservation(X, Z).area) < 0.05


def test_reversed_ranks_have_mrre_one() -> None:
    n = 40
    X = np.linspace(0, 1, n)
    D = np.abs(X[:, None] - X[None]) ** 0.9
    first = ranks(X[:, None])[0]
    Y = np.zeros((n, n))
    # Only the point itself is asked: seen from point 0 the others come in reverse order.
    Y[:, 0] = np.where(first == 0, 0, n - first)
    score = quality.mrre(D, Y, 5, metric="precomputed")
    assert score.points is not None
    assert score.points[0] == pytest.approx(1.0)


def test_ties_and_duplicates_are_defined() -> None:
    X = np.repeat(np.arange(6.0), 3)[:, None]
    assert quality.trustworthiness(X, X, 4).value == 1.0
    assert quality.trustworthiness(np.zeros((9, 2)), np.zeros((9, 1)), 3).value == 1.0


def test_large_k_has_its_own_normaliser() -> None:
    X = np.arange(8.0)[:, None]
    value = quality.trustworthiness(X, np.random.default_rng(0).normal(size=(8, 1)), 6).value
    assert 0 <= value <= 1


def test_geodesic_version_is_the_matrix_of_geodesics() -> None:
    X, Y = case(2)
    graph = find_neighbors(X, 8).union()
    D = geodesics(graph)
    by_graph = quality.trustworthiness(graph, Y, 5)
    assert by_graph.value == quality.trustworthiness((D + D.T) / 2, Y, 5, metric="precomputed").value
    assert by_graph.value != quality.trustworthiness(X, Y, 5).value


def test_metric_is_used() -> None:
    X, Y = case(0)
    cosine = quality.trustworthiness(X, Y, 5, metric="cosine").value
    assert cosine == pytest.approx(reference(X, Y, n_neighbors=5, metric="cosine"), abs=1e-12)


def with_gaps(n: int) -> np.ndarray:
    """Distances of 1, unmeasured between one point and the next."""
    gaps = np.diag([np.nan] * (n - 1), 1)
    return gaps + gaps.T + 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, Y: quality.trustworthiness(X, Y[:-1]), "one row per point"),
        (lambda X, Y: quality.trustworthiness(X, Y, 69), "at most 68"),
        (lambda X, Y: quality.trustworthiness(X, Y, 0), "n_neighbors"),
        (lambda X, Y: quality.trustworthiness(X[:2], Y[:2]), "at least 3"),
        (lambda X, Y: quality.trustworthiness(X * np.nan, Y), "finite"),
        (lambda X, Y: quality.mrre(X, Y, side="left"), "side"),
        (lambda X, Y: quality.trustworthiness(find_neighbors(np.r_[X, X + 99], 3), np.r_[Y, Y]), "pieces"),
        (lambda X, Y: quality.stress(np.full((70, 70), np.nan), Y, metric="precomputed"), "no measured distance"),
        (lambda X, Y: quality.stress(with_gaps(70), Y, metric="precomputed"), "every pair"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    X, Y = case(0)
    with pytest.raises(InvalidInput, match=words):
        call(X, Y)
