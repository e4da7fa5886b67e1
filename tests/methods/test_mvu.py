"""MVU against closed forms, its own proof, and the truth of surfaces."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.sparse import csr_array

import lowfold
from lowfold import MVU
from lowfold._core.errors import AccuracyWarning, Disconnected, DisconnectedWarning, InvalidInput, LowfoldWarning


def affine_r2(Y: np.ndarray, truth: np.ndarray) -> np.ndarray:
    A = np.column_stack([Y, np.ones(len(Y))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return 1 - np.sum(rest**2, axis=0) / np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)


def arch(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Half a cylinder, dense enough that no neighbourhood reaches across; and its flat coordinates."""
    rng = np.random.default_rng(seed)
    u, v = np.pi * rng.random(n), 2 * rng.random(n)
    return np.column_stack([np.cos(u), np.sin(u), v]), np.column_stack([u, v])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unrolls_an_arch(seed):
    X, flat = arch(100, seed)
    model = MVU(2, n_neighbors=6).fit(X)
    assert affine_r2(model.embedding_, flat).min() > 0.98
    assert model.solver_ == "interior"
    assert 0 <= model.duality_gap_ < 1e-3
    assert model.constraint_violation_ < 0.02
    H = X - X.mean(axis=0)
    assert np.sum(H**2) < model.variance_ < model.variance_bound_
    assert model.eigenvalues_.sum() > 0.95 * model.variance_


@pytest.mark.parametrize("n", [5, 14])
def test_semicircle_is_straightened(n):
    bend = np.linspace(0, np.pi, n)
    X = np.column_stack([np.cos(bend), np.sin(bend)])
    h = np.linalg.norm(X[1] - X[0])
    graph = lowfold.graph.Graph.from_edges(n, [[i, i + 1] for i in range(n - 1)], np.full(n - 1, h))
    model = MVU(1, constraints="eq", tol=1e-5).fit(graph)
    assert model.rank_ == 1
    assert model.variance_ == pytest.approx(h**2 * n * (n**2 - 1) / 12, rel=1e-4)
    assert np.ptp(model.embedding_) == pytest.approx((n - 1) * h, rel=1e-3)
    assert model.n_constraints_ == n


def test_points_distances_squares_similarities_and_sparse_agree():
    X, _ = arch(40, 3)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    options = dict(n_neighbors=5, constraints="ineq", tol=1e-5)
    K = MVU(2, **options).fit(X).kernel().dense()
    H = X - X.mean(axis=0)
    sparse = csr_array(D + 1e-300 * np.eye(40))
    for matrix, metric in [
        (D, "precomputed"),
        (D**2, "precomputed_squared"),
        (H @ H.T, "precomputed_similarity"),
        (sparse, "precomputed"),
    ]:
        other = MVU(2, metric=metric, **options).fit(matrix).kernel().dense()
        np.testing.assert_allclose(other, K, atol=2e-2 * np.trace(K) / 40, err_msg=metric)


def test_unmeasured_distances_are_no_constraints():
    X, _ = arch(30, 4)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    D[D > 0.9] = np.nan
    model = MVU(2, metric="precomputed", radius=2.0).fit(D)
    assert model.n_constraints_ == np.isfinite(np.triu(D, 1))[np.triu_indices(30, 1)].sum() + 1


def test_all_pairs_give_classical_scaling():
    X = np.random.default_rng(5).normal(size=(15, 4))
    ours = MVU(3, n_neighbors=14, constraints="eq", tol=1e-6).fit(X)
    other = lowfold.ClassicalMDS(3).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-3)


def test_the_proof_can_be_checked_by_hand():
    X, _ = arch(50, 6)
    model = MVU(2, n_neighbors=5, constraints="ineq").fit(X)
    assert (model.dual_ >= 0).all()
    i, j = model.pairs_.T
    L = np.zeros((50, 50))
    np.add.at(L, (i, i), model.dual_)
    np.add.at(L, (j, j), model.dual_)
    np.add.at(L, (i, j), -model.dual_)
    np.add.at(L, (j, i), -model.dual_)
    assert np.linalg.eigvalsh(L)[1] > 1 - 1e-8
    bound = model.dual_ @ np.sum((X[i] - X[j]) ** 2, axis=1)
    assert model.variance_ <= bound * (1 + 1e-6)
    assert (bound - model.variance_) / bound == pytest.approx(model.duality_gap_, abs=1e-6)


def test_disconnected_graphs():
    X, _ = arch(30, 7)
    two = np.vstack([X, X + 50.0])
    with pytest.raises(Disconnected, match=r"2 components.*no finite optimum"):
        MVU(2, n_neighbors=5, on_disconnected="raise").fit(two)
    with pytest.warns(DisconnectedWarning, match="joined by a bridge of length"):
        model = MVU(2, n_neighbors=5).fit(two)
    edge = model.bridges_.edges[0]
    assert (model.pairs_ == edge).all(axis=1).any()
    apart = MVU(2, n_neighbors=5, on_disconnected="separate").fit(two)
    assert apart.component_labels_.max() == 1
    with pytest.raises(InvalidInput, match="no common kernel"):
        apart.kernel()
    graph = lowfold.graph.Graph.from_edges(4, [[0, 1], [2, 3]])
    with pytest.raises(Disconnected):
        MVU(1, on_disconnected="raise").fit(graph)


def test_new_points_and_the_way_back():
    X, flat = arch(120, 8)
    model = MVU(2, n_neighbors=6).fit(X[:100])
    np.testing.assert_array_equal(model.transform(X[:7]), model.embedding_[:7])
    placed = np.vstack([model.embedding_, model.transform(X[100:])])
    assert affine_r2(placed, flat).min() > 0.97
    one = model.transform(X[100:101])
    np.testing.assert_allclose(one, placed[100:101], rtol=1e-12)
    back = model.inverse_transform(model.transform(X[100:]))
    assert np.median(np.linalg.norm(back - X[100:], axis=1)) < 0.1


def test_a_callback_stops_the_fit():
    X, _ = arch(40, 9)
    seen = []
    model = MVU(2, n_neighbors=5, tol=1e-8, callback=lambda step: seen.append(step) or len(seen) == 4).fit(X)
    assert model.n_iter_ == 3
    assert seen[0].violation > seen[-1].violation


def test_stopping_early_is_told():
    X, _ = arch(40, 9)
    with pytest.warns(AccuracyWarning, match="duality gap of"):
        MVU(2, n_neighbors=5, max_iter=2).fit(X)


def test_low_rank_and_factorized_routes():
    X, flat = arch(80, 10)
    exact = MVU(2, n_neighbors=6, nu=100.0).fit(X)
    low = MVU(2, n_neighbors=6, nu=100.0, solver="lowrank").fit(X)
    quick = MVU(2, n_neighbors=6, nu=100.0, solver="factorized", tol=0.5).fit(X)
    assert (low.solver_, quick.solver_) == ("lowrank", "factorized")
    assert abs(low.duality_gap_) < 1e-3
    assert low.variance_ == pytest.approx(exact.variance_, rel=2e-3)
    assert quick.variance_ == pytest.approx(exact.variance_, rel=2e-2)
    assert affine_r2(quick.embedding_, flat).min() > 0.95


@pytest.mark.parametrize("constraints", ["slack", "eq", "ineq"])
@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
def test_degenerate_input(constraints):
    rng = np.random.default_rng(11)
    for X in (
        np.repeat(rng.normal(size=(6, 3)), 2, axis=0),  # duplicates
        np.outer(np.arange(9.0), [1.0, 2.0]),  # collinear
        np.zeros((5, 2)),  # one point
        rng.normal(size=(3, 2)),
        rng.normal(size=(12, 30)),
        np.arange(20).reshape(10, 2),
    ):
        Y = MVU(2, constraints=constraints).fit_transform(X)
        assert np.isfinite(Y).all()


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("surface", [lowfold.datasets.swiss_roll, lowfold.datasets.s_curve])
def test_a_thousand_points(surface):
    data = surface(1000, random_state=0)
    model = MVU(2, n_neighbors=6).fit(data.X)
    assert model.solver_ == "lowrank"
    assert abs(model.duality_gap_) < 1e-3
    assert affine_r2(model.embedding_, data.coordinates).min() > 0.995


@pytest.mark.parametrize(
    ("n", "solver", "words"),
    [(3000, "auto", r"3000 points and \d+ pairs"), (390, "barrier", "390 points"), (1000, "auto", None)],
)
def test_a_long_solve_is_told_beforehand(
    n: int, solver: str, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsolved(*_: object, **__: object) -> None:
        raise InterruptedError

    monkeypatch.setattr("lowfold.methods.mvu.unfold", unsolved)
    X = np.random.default_rng(0).normal(size=(n, 8))
    heard = pytest.warns(LowfoldWarning, match=rf"MVU of {words}.* takes about") if words else nullcontext()
    with heard, pytest.raises(InterruptedError):  # where nothing is told a warning would be an error
        MVU(2, solver=solver).fit(X)
