"""SNE and SymmetricSNE as in the text: costs that fall, affinities, the crowding problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold import SNE, TSNE, SymmetricSNE
from lowfold._core.errors import InvalidInput
from lowfold.methods._neighbor_affinity import is_held


def blobs(seed: int, n: int = 30, apart: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(3, 10))
    return np.vstack([c + rng.normal(size=(n, 10)) for c in centres]), np.repeat(np.arange(3), n)


def one_nearest(Y: np.ndarray, labels: np.ndarray) -> float:
    D = cdist(Y, Y)
    np.fill_diagonal(D, np.inf)
    return float((labels[D.argmin(axis=1)] == labels).mean())


def separation(Y: np.ndarray, labels: np.ndarray) -> float:
    """Least distance of two centroids over the spread within clusters."""
    means = np.array([Y[labels == c].mean(axis=0) for c in range(3)])
    within = np.sqrt(np.mean([((Y[labels == c] - means[c]) ** 2).sum(axis=1).mean() for c in range(3)]))
    gaps = cdist(means, means)
    return float(gaps[np.triu_indices(3, 1)].min() / within)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("cls", [SNE, SymmetricSNE])
def test_clusters_are_kept_and_the_cost_falls(cls, seed: int) -> None:
    X, labels = blobs(seed)
    model = cls(2, perplexity=10, max_iter=400, random_state=seed).fit(X)
    assert model.cost_history_[0, 1] > 1.5 * model.kl_divergence_ > 0
    assert model.kl_divergence_ == model.cost_history_[-1, 1]
    assert one_nearest(model.embedding_, labels) == 1.0
    assert np.abs(model.embedding_.mean(axis=0)).max() < 1e-9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_heavy_tails_relieve_the_crowding(seed: int) -> None:
    X, labels = blobs(seed, 50)
    text = {"perplexity": 20, "init": "random", "random_state": seed, "max_iter": 600}
    crowded = SymmetricSNE(2, **text).fit(X).embedding_
    relieved = TSNE(2, early_exaggeration=1, gains=False, learning_rate=100, **text).fit(X).embedding_
    assert separation(relieved, labels) > 1.5 * separation(crowded, labels)


def test_affinities() -> None:
    X, _ = blobs(0)
    n = len(X)
    P = SNE(2, perplexity=10, max_iter=1).fit(X).kernel().dense()
    assert np.allclose(P, P.T)
    assert P.sum() == pytest.approx(2 * n), "each row of p_{j|i} adds up to 1"
    Q = SymmetricSNE(2, perplexity=10, max_iter=1).fit(X).kernel().dense()
    assert np.allclose(Q, P / (2 * n))
    assert (Q.sum(axis=1) >= 1 / (2 * n)).all(), "no outlier is without a pull"
    J = SymmetricSNE(2, perplexity=10, affinities="joint", max_iter=1).fit(X).kernel().dense()
    assert J.sum() == pytest.approx(1)
    S = cdist(X, X, "sqeuclidean")
    off = ~np.eye(n, dtype=bool)
    slope = np.polyfit(S[off], np.log(J[off]), 1)
    assert np.allclose(np.log(J[off]), np.polyval(slope, S[off]), atol=1e-6), "one width for all"


def test_distances_and_points_give_the_same() -> None:
    X, _ = blobs(1)
    settings = {"perplexity": 10, "max_iter": 60}
    a = SNE(2, **settings).fit(X).embedding_
    b = SNE(2, metric="precomputed", **settings).fit(cdist(X, X)).embedding_
    assert np.allclose(a, b, atol=1e-6)


def test_new_points_land_in_their_cluster() -> None:
    X, labels = blobs(2)
    new = X[::5] + 0.05
    for cls in (SNE, SymmetricSNE):
        model = cls(2, perplexity=10, max_iter=300).fit(X)
        near = cdist(model.transform(new), model.embedding_).argmin(axis=1)
        assert (labels[near] == labels[::5]).all()


def test_the_start_is_small_and_normal() -> None:
    X, _ = blobs(0, 100)
    seen = []
    SNE(2, max_iter=50, learning_rate=1e-12, callback=lambda t, cost, Y: seen.append(Y)).fit(X)
    assert np.std(seen[0]) == pytest.approx(1e-2, rel=0.1), "Y(0) ~ N(0, 1e-4 I)"


def test_perplexity_limits() -> None:
    X, _ = blobs(0, 4)
    with pytest.raises(InvalidInput, match="at most n_samples - 1 = 11"):
        SNE(2, perplexity=12).fit(X)
    with pytest.raises(InvalidInput, match="at least 1"):
        SNE(2, perplexity=0.5).fit(X)
    assert SNE(2, max_iter=10).fit(X).perplexity_ == pytest.approx(11 / 3)
    assert SNE(1, max_iter=10).fit(X[:2]).perplexity_ == 1.0
    gaps = cdist(X, X)
    gaps[0, 1] = gaps[1, 0] = np.nan
    with pytest.raises(InvalidInput, match="unmeasured"):
        SNE(2, metric="precomputed").fit(gaps)


def half_cylinder(n: int, seed: int) -> np.ndarray:
    u = np.random.default_rng(seed).uniform(size=(n, 2))
    return np.column_stack([np.cos(3 * u[:, 0]), np.sin(3 * u[:, 0]), 2 * u[:, 1]])


@pytest.mark.parametrize("cls", [SNE, SymmetricSNE])
def test_spectral_directions_unfold_a_sheet(cls) -> None:
    """The plain descent leaves some of these folded, at ten times the cost."""
    costs = [cls(random_state=seed).fit(half_cylinder(600, seed)).kl_divergence_ for seed in range(4)]
    assert max(costs) < 1.5 * min(costs)


@pytest.mark.parametrize("cls", [SNE, SymmetricSNE])
def test_spectral_directions_do_not_throw_clusters_away(cls) -> None:
    X, labels = blobs(0, n=200, apart=30.0)
    directed, plain = cls().fit(X), cls(momentum=0.8).fit(X)
    assert one_nearest(directed.embedding_, labels) == 1.0
    assert directed.kl_divergence_ < 1.01 * plain.kl_divergence_
    assert np.abs(directed.embedding_).max() < 10 * np.abs(plain.embedding_).max()


def test_looks_at_a_descent_that_begins_along_spectral_directions() -> None:
    X, heard = half_cylinder(520, 0), []
    model = SNE(callback=lambda t, cost, Y: heard.append((t, cost)), random_state=0).fit(X)
    assert model.cost_history_[:, 0].tolist() == list(range(0, model.n_iter_ + 1, 50))
    assert [tuple(row) for row in model.cost_history_[1:]] == heard
    assert model.cost_history_[0, 1] > 2 * model.cost_history_[1, 1]
    stopped = SNE(callback=lambda *_: True, random_state=0).fit(X)
    assert (stopped.n_iter_, stopped.stop_reason_) == (50, "callback")
    assert stopped.kl_divergence_ == heard[0][1]


@pytest.mark.parametrize("said", [{"gains": False}, {"momentum": 0.7}, {"learning_rate": 0.2}, {"init": "pca"}])
def test_what_is_said_of_the_first_steps_holds(said) -> None:
    assert SNE()._directed(520)
    assert not SNE(**said)._directed(520)
    assert SNE()._most_steps(520) < SNE(**said)._most_steps(520)
    assert SNE(max_iter=60)._most_steps(520) == SNE(max_iter=60, **said)._most_steps(520) == 60


@pytest.mark.parametrize("method", [SNE, SymmetricSNE])
@pytest.mark.parametrize("n", [300, 600])
def test_data_of_many_dimensions_stay_in_range(method, n):
    """Points in the middle are neighbours of most others; their steps threw layouts out, to 1e16 and more."""
    X = np.random.default_rng(41).uniform(size=(n, 50))
    model = method(2).fit(X)
    assert np.abs(model.embedding_).max() < 10
    assert model.kl_divergence_ < 0.9 * model.cost_history_[0, 1]


@pytest.mark.parametrize("method", [SNE, SymmetricSNE, TSNE])
@pytest.mark.filterwarnings("ignore:the descent of:lowfold.errors.AccuracyWarning")  # there is nothing to lower
@pytest.mark.filterwarnings("ignore:eigenvalues 2 and 3 coincide")
def test_points_that_are_all_equally_far_apart_share_p_alike(method):
    """Their distances differ by rounding, which no width may tell apart."""
    model = method(2).fit(np.eye(120))
    assert abs(model.kl_divergence_) < 0.01
    assert np.abs(model.embedding_).max() < 1


def test_affinities_are_held_where_they_fit_the_budget() -> None:
    with lowfold.config_context(memory="12GB"):
        assert is_held(10_000)
        assert not is_held(10_001)
    with lowfold.config_context(memory="1GB"):
        assert is_held(4_096)
        assert not is_held(10_000)
        plan = str(lowfold.plan(np.zeros((6_000, 2)) + np.arange(6_000)[:, None], "symmetric_sne"))
        assert "in strips made anew in each step" in plan
        assert "spectral directions" not in plan
