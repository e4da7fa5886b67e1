"""Perplexity, the three divergences and their gradients, the momentum rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from lowfold.optimize._momentum import momentum_descent
from lowfold.optimize._neighbor import (
    DenseAffinities,
    FFTCost,
    GaussianCost,
    SparseAffinities,
    TSNECost,
    row_divergence,
)
from lowfold.optimize._perplexity import joint_bandwidth, row_bandwidths, row_probabilities


@pytest.fixture(autouse=True, params=[0, 1000], ids=["loops", "numpy"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points up to which NumPy makes the pairs: loops and NumPy have to pass the same tests."""
    monkeypatch.setattr("lowfold.optimize._neighbor.FEW", request.param)


def squared(X: np.ndarray) -> np.ndarray:
    S = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(S, np.inf)
    return S


def perplexities(P: np.ndarray) -> np.ndarray:
    return 2.0 ** -(P * np.log2(np.where(P > 0, P, 1))).sum(axis=1)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 30.0, 80.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_every_row_has_the_perplexity(perplexity: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    S = squared(scale * np.vstack([rng.normal(size=(50, 3)), 0.01 * rng.normal(size=(50, 3)) + 4]))
    found = row_bandwidths(S, perplexity)
    P = row_probabilities(S, found)
    assert np.allclose(P.sum(axis=1), 1)
    assert (np.diagonal(P) == 0).all()
    assert np.abs(perplexities(P) - perplexity).max() < 1e-6
    sigma = 1 / np.sqrt(2 * found.beta)
    assert perplexity > 40 or sigma[50:].mean() < sigma[:50].mean(), "narrow where points are dense"


def test_uniform_probabilities_have_perplexity_n_minus_one() -> None:
    S = squared(np.eye(8))
    assert np.allclose(perplexities(row_probabilities(S, row_bandwidths(S, 3.0))), 7)


def test_more_coincident_points_than_the_perplexity() -> None:
    S = squared(np.vstack([np.zeros((10, 2)), np.ones((3, 2))]))
    P = row_probabilities(S, row_bandwidths(S, 4.0))
    assert np.isfinite(P).all()
    assert np.allclose(P[0, 1:10], 1 / 9)


def test_one_width_for_all_pairs() -> None:
    rng = np.random.default_rng(1)
    S = squared(rng.normal(size=(40, 3)))
    widths = joint_bandwidth(lambda: iter([S[:15], S[15:]]), 40, 6.0)
    P = row_probabilities(S, widths)
    assert P.sum() == pytest.approx(1)
    assert np.allclose(P, P.T)
    assert 2.0 ** -(P * np.log2(np.where(P > 0, P, 1))).sum() == pytest.approx(40 * 6.0, rel=1e-6)


def affinities(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    S = squared(np.random.default_rng(seed).normal(size=(n, 4)))
    C = row_probabilities(S, row_bandwidths(S, n / 4))
    return C, (C + C.T) / (2 * n)


def gaussian_cost(C: np.ndarray, Y: np.ndarray) -> float:
    """sum_i KL(P_i || Q_i), written out."""
    W = np.exp(-cdist(Y, Y, "sqeuclidean"))
    np.fill_diagonal(W, 0)
    Q = W / W.sum(axis=1, keepdims=True)
    on = C > 0
    return float((C[on] * np.log(C[on] / Q[on])).sum())


def joint_cost(P: np.ndarray, Y: np.ndarray, student: bool) -> float:
    S = cdist(Y, Y, "sqeuclidean")
    W = 1 / (1 + S) if student else np.exp(-S)
    np.fill_diagonal(W, 0)
    on = P > 0
    return float((P[on] * np.log(P[on] / (W / W.sum())[on])).sum())


def costs(C: np.ndarray, P: np.ndarray) -> dict[str, tuple[object, object]]:
    entropy = float((C[C > 0] * np.log(C[C > 0])).sum())
    sparse = SparseAffinities(csr_array(P), float((P[P > 0] * np.log(P[P > 0])).sum()))
    return {
        "SNE": (GaussianCost(DenseAffinities.held(C + C.T, entropy), joint=False), lambda Y: gaussian_cost(C, Y)),
        "symmetric": (GaussianCost(DenseAffinities.held(P), joint=True), lambda Y: joint_cost(P, Y, False)),
        "t": (TSNECost(DenseAffinities.held(P)), lambda Y: joint_cost(P, Y, True)),
        "t sparse": (TSNECost(sparse), lambda Y: joint_cost(P, Y, True)),
    }


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("name", ["SNE", "symmetric", "t", "t sparse"])
def test_gradients_against_differences(name: str, d: int, seed: int) -> None:
    C, P = affinities(15, seed)
    Y = np.random.default_rng(seed + 10).normal(size=(15, d))
    cost, written = costs(C, P)[name]
    assert cost.value(Y) == pytest.approx(written(Y), rel=1e-10)
    slope = cost.gradient(Y, 1.0)
    h = 1e-5
    numeric = np.empty_like(Y)
    for index in np.ndindex(*Y.shape):
        E = np.zeros_like(Y)
        E[index] = h
        numeric[index] = (written(Y + E) - written(Y - E)) / (2 * h)
    assert np.abs(slope - numeric).max() < 1e-6 * max(1.0, np.abs(numeric).max())
    assert np.abs(slope.sum(axis=0)).max() < 1e-10


@pytest.mark.parametrize("name", ["SNE", "symmetric", "t"])
def test_exaggeration_multiplies_the_attraction(name: str) -> None:
    C, P = affinities(15, 0)
    Y = np.random.default_rng(1).normal(size=(15, 2))
    cost = costs(C, P)[name][0]
    one, two, three = (cost.gradient(Y, e) for e in (1.0, 2.0, 3.0))
    assert np.allclose(three - two, two - one)
    assert not np.allclose(two, one)


def test_no_divergence_from_itself() -> None:
    Y = np.random.default_rng(0).normal(size=(12, 2))
    W = 1 / (1 + cdist(Y, Y, "sqeuclidean"))
    np.fill_diagonal(W, 0)
    cost = TSNECost(DenseAffinities.held(W / W.sum()))
    assert cost.value(Y) == pytest.approx(0, abs=1e-12)
    assert np.abs(cost.gradient(Y, 1.0)).max() < 1e-12


def test_threads_and_strips_do_not_change_bits() -> None:
    _, P = affinities(600, 0)
    Y = np.random.default_rng(1).normal(size=(600, 2))
    one, two = (TSNECost(DenseAffinities.held(P, 0.0, jobs), jobs).gradient(Y, 1.0) for jobs in (1, 2))
    assert np.array_equal(one, two)
    computed = DenseAffinities(600, lambda part: (np.ascontiguousarray(P[:, part]), 0), 0.0)
    assert np.array_equal(TSNECost(computed).gradient(Y, 1.0), one)


@pytest.mark.extra("openTSNE")
@pytest.mark.parametrize("d", [1, 2])
def test_fft_gradient_is_near_the_exact_one(d: int) -> None:
    _, P = affinities(200, 0)
    Y = 3 * np.random.default_rng(1).normal(size=(200, d))
    sparse = SparseAffinities(csr_array(P), float((P[P > 0] * np.log(P[P > 0])).sum()), 1)
    exact, fast = TSNECost(sparse), FFTCost(sparse, 1)
    for exaggeration in (1.0, 4.0):
        reference = exact.gradient(Y, exaggeration)
        assert np.abs(fast.gradient(Y, exaggeration) - reference).max() < 0.02 * np.abs(reference).max()
    assert fast.value(Y) == pytest.approx(exact.value(Y), rel=1e-2)


@pytest.mark.parametrize("student", [True, False])
def test_gradient_of_a_new_row(student: bool) -> None:
    rng = np.random.default_rng(0)
    P = rng.random((3, 20))
    P /= P.sum(axis=1, keepdims=True)
    Y, rows = rng.normal(size=(20, 2)), rng.normal(size=(3, 2))
    value, slope = row_divergence(P, Y, rows, student)
    S = cdist(rows, Y, "sqeuclidean")
    W = 1 / (1 + S) if student else np.exp(-S)
    assert np.allclose(value, (P * np.log(P / (W / W.sum(axis=1, keepdims=True)))).sum(axis=1))
    for k in range(2):
        shift = np.zeros((3, 2))
        shift[:, k] = 1e-6
        up, down = (row_divergence(P, Y, rows + sign * shift, student)[0] for sign in (1, -1))
        assert np.allclose(slope[:, k], (up - down) / 2e-6, atol=1e-7)


class Bowl:
    """C(Y) = sum y^2 / 2, whose descent can be written out."""

    def gradient(self, Y: np.ndarray, exaggeration: float) -> np.ndarray:
        return exaggeration * Y

    def value(self, Y: np.ndarray) -> float:
        return float((Y**2).sum() / 2)


def test_steps_are_the_momentum_rule() -> None:
    first = np.array([[1.0], [-1.0]])
    settings = {"learning_rate": 0.1, "gains": False, "momentum": lambda t: 0.2 * t}
    found = momentum_descent(Bowl(), first, max_iter=3, **settings)
    before, now = first, first
    for t in (1, 2, 3):
        before, now = now, now - 0.1 * now + 0.2 * t * (now - before)
    assert np.allclose(found.Y, now)
    assert found.n_iter == 3
    plain = momentum_descent(Bowl(), first, max_iter=3, learning_rate=0.1, gains=False, momentum=lambda t: 0.0)
    assert np.allclose(plain.Y, 0.9**3 * first), "without momentum it is gradient descent"


def test_how_a_descent_ends() -> None:
    first = np.array([[1.0], [-1.0]])
    seen = []

    def stop(iteration: int, cost: float, Y: np.ndarray) -> bool:
        seen.append((iteration, cost))
        return iteration >= 100

    settings = {"learning_rate": 0.01, "max_iter": 5000}
    found = momentum_descent(Bowl(), first, callback=stop, **settings)
    assert (found.reason, found.n_iter) == ("callback", 100)
    assert [t for t, _ in seen] == [50, 100]
    assert momentum_descent(Bowl(), first, **settings).reason in ("gradient", "no progress")  # it rests
    assert momentum_descent(Bowl(), first, learning_rate=0.01, max_iter=20).reason == "max_iter"
    growing = momentum_descent(Bowl(), first, learning_rate=3.0, gains=False, max_iter=5000, patience=100)
    assert growing.reason == "no progress"


def test_repulsion_in_float32_has_seven_digits_of_its_sums() -> None:
    rng = np.random.default_rng(20)
    P = csr_array(np.triu(rng.random((700, 700)) * (rng.random((700, 700)) < 0.05), 1))
    P = csr_array(P + P.T)
    P.data /= P.data.sum()
    affinities = SparseAffinities(P, 0.0)
    for size in (1e-4, 30.0):
        Y = size * rng.normal(size=(700, 2))
        exact = TSNECost(affinities).gradient(Y, 12.0)
        for jobs in (1, 2):
            single = TSNECost(affinities, jobs, single=True).gradient(Y, 12.0)
            assert np.abs(single - exact).max() < 1e-5 * np.abs(exact).max()


def test_exaggeration_falls_to_one_and_the_learning_rate_rises_with_it() -> None:
    from lowfold.optimize._momentum import exaggeration_at

    seen = [exaggeration_at(t, 16.0, 250) for t in (1, 250, 275, 300, 350, 900)]
    assert np.allclose(seen, [16, 16, 8, 4, 1, 1])
    assert exaggeration_at(1, 16.0, 0) == exaggeration_at(1, 1.0, 250) == 1.0


def test_exponentials_of_whole_strips() -> None:
    from lowfold.optimize._neighbor_loops import _exponentials

    x = np.concatenate([[0.0], np.random.default_rng(4).exponential(6, 3000), np.linspace(0, 708, 3001)])
    found, room = x.copy(), np.empty_like(x)
    _exponentials(found, room, room.view(np.int64))
    assert np.abs(found / np.exp(-x) - 1).max() < 3 * np.finfo(np.float64).eps
    assert found[0] == 1.0
    beyond = np.array([800.0, 1e300, np.inf, np.nan])
    _exponentials(beyond, room[:4], room[:4].view(np.int64))
    assert (beyond[:3] == 0).all()
    assert np.isnan(beyond[3])


@pytest.mark.parametrize("size", [0.1, 3.0, 60.0])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("joint", [True, False])
def test_loops_of_many_points_agree_with_panels(
    joint: bool, d: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, P = affinities(300, 5)
    Y = size * np.random.default_rng(6).normal(size=(300, d))
    panels, loops = (GaussianCost(DenseAffinities.held(P), joint=joint) for _ in range(2))
    wanted, value = panels.gradient(Y), panels.value(Y)
    monkeypatch.setattr("lowfold.optimize._neighbor.FEW", 10)
    assert loops.P.panels is None
    found = loops.gradient(Y)
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()
    assert loops.value(Y) == pytest.approx(value, rel=1e-10)
