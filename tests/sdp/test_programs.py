"""Unfolding programs against closed forms, identities and each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.graph import Graph, Neighbors, Points, geodesics, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.sdp import _lowrank, certify, unfold
from lowfold.sdp._conic import conic_sdp
from lowfold.sdp._door import select_unfolding_solver
from lowfold.sdp._interior import interior
from lowfold.sdp._laplacian import laplacian_form
from lowfold.sdp._newton import Penalty, minimise
from lowfold.sdp._program import (
    RankOne,
    complement,
    neighbor_pairs,
    path_layout,
    path_variance,
    stress_laplacian,
    unfolding,
    variance_bound,
)
from lowfold.sdp._refine import local_loss, refine
from lowfold.sdp._repair import balance, bends, bends_of, flows
from lowfold.sdp._springs import springs
from lowfold.sdp._svec import svec, svec_kron


def neighbours(X: np.ndarray, k: int) -> Neighbors:
    return nearest(Points(X, resolve_metric("euclidean", None, None)), k)


def problem(X: np.ndarray, k: int, **kwargs):
    pairs = neighbor_pairs(neighbours(X, k))
    squared = np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1)
    return unfolding(len(X), pairs, squared, **kwargs)


def chain(n: int, h: float = 1.0, **kwargs):
    return unfolding(n, np.array([[i, i + 1] for i in range(n - 1)]), np.full(n - 1, h * h), **kwargs)


def bent_strip(seed: int, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u, v = 3 * rng.random(n), rng.random(n)
    return np.column_stack([np.sin(u), v, np.cos(u)])


# Pairs ----------------------------------------------------------------------------------------------------------------


def test_one_neighbourhood_of_four_gives_ten_pairs():
    star = Neighbors.from_lists([[1, 2, 3, 4], [0], [0], [0], [0]], [[1.0] * 4, [1.0], [1.0], [1.0], [1.0]])
    assert len(neighbor_pairs(star)) == 10


def test_landmark_count_of_the_text():
    """61 landmarks with 3 neighbours each, apart from each other: 61 * 6 pairs and the centring."""
    rng = np.random.default_rng(0)
    centres = 100.0 * np.arange(61)[:, None] + np.zeros((61, 3))
    X = np.repeat(centres, 4, axis=0) + rng.normal(size=(244, 3))
    assert len(neighbor_pairs(neighbours(X, 3), np.arange(0, 244, 4))) + 1 == 367


def test_cycle_refined_is_four_regular():
    n = 9
    ring = Graph.from_edges(n, [[i, (i + 1) % n] for i in range(n)])
    pairs = neighbor_pairs(ring.neighbors())
    assert (np.bincount(pairs.ravel(), minlength=n) == 4).all()
    A = ring.to_scipy().toarray() > 0
    both = (A.astype(int) + A.astype(int) @ A.astype(int)) > 0
    np.fill_diagonal(both, False)
    assert {tuple(p) for p in pairs} == {tuple(p) for p in np.argwhere(np.triu(both))}


def test_unmeasured_pairs_are_left_out_and_zero_is_a_distance():
    program = unfolding(3, np.array([[0, 1], [1, 2], [0, 2]]), np.array([0.0, 4.0, np.nan]))
    assert program.m == 2
    Y = unfold(program.with_form("eq"), tol=1e-6).factor
    assert np.linalg.norm(Y[0] - Y[1]) < 3e-2  # a root of the tolerance
    assert np.linalg.norm(Y[1] - Y[2]) == pytest.approx(2.0, abs=1e-2)


def test_disconnected_pairs_are_refused_in_words():
    with pytest.raises(InvalidInput, match="move apart for ever"):
        unfolding(4, np.array([[0, 1], [2, 3]]), np.ones(2))


# Closed forms ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["interior", "lowrank"])
@pytest.mark.parametrize(("n", "h"), [(6, 1.0), (15, 0.3)])
def test_chain_becomes_straight(solver, n, h):
    found = unfold(chain(n, h, form="eq"), solver=solver, tol=1e-5)
    assert found.primal == pytest.approx(h**2 * n * (n**2 - 1) / 12, rel=1e-4)
    assert found.rank == 1
    assert found.converged
    steps = np.abs(np.diff(found.factor[:, 0]))
    np.testing.assert_allclose(steps, h, rtol=1e-3)
    # the stress of a straight chain: w_i = i (n - i) / 2
    i = np.arange(1, n)
    np.testing.assert_allclose(found.dual, i * (n - i) / 2, rtol=1e-2)


@pytest.mark.parametrize("form", ["eq", "ineq", "slack"])
def test_all_pairs_give_the_centred_gram_matrix(form):
    X = np.random.default_rng(1).normal(size=(12, 3))
    a, b = np.triu_indices(12, 1)
    program = unfolding(12, np.column_stack([a, b]), np.sum((X[a] - X[b]) ** 2, axis=1), form=form, nu=1e5)
    found = unfold(program, tol=1e-6)
    H = X - X.mean(axis=0)
    np.testing.assert_allclose(found.factor @ found.factor.T, H @ H.T, atol=2e-3 * np.sum(H**2))


@pytest.mark.extra("clarabel")
def test_lovasz_theta_of_the_five_cycle():
    ring = [np.eye(5)] + [np.zeros((5, 5)) for _ in range(5)]
    for i in range(5):
        ring[i + 1][i, (i + 1) % 5] = ring[i + 1][(i + 1) % 5, i] = 1.0
    found = conic_sdp(np.ones((5, 5)), ring, np.array([1.0, 0, 0, 0, 0, 0]))
    assert found.value == pytest.approx(np.sqrt(5), abs=1e-6)
    assert found.bound == pytest.approx(np.sqrt(5), abs=1e-6)
    Z = sum(y * A for y, A in zip(found.y, ring)) - np.ones((5, 5))
    assert np.linalg.eigvalsh(Z)[0] > -1e-6


@pytest.mark.extra("clarabel")
def test_largest_eigenvalue_as_a_program():
    A = np.random.default_rng(2).normal(size=(6, 6))
    A = A + A.T
    assert conic_sdp(A, [np.eye(6)], np.ones(1)).value == pytest.approx(np.linalg.eigvalsh(A)[-1], abs=1e-6)


# Solvers against each other -------------------------------------------------------------------------------------------


@pytest.mark.extra("clarabel")
@pytest.mark.parametrize("form", ["eq", "ineq", "slack"])
def test_interior_agrees_with_clarabel(form):
    X = bent_strip(0, 25)
    program = problem(X, 3, form=form)
    ours, theirs = unfold(program, solver="interior", tol=1e-5), unfold(program, solver="clarabel", tol=1e-5)
    assert ours.primal == pytest.approx(theirs.primal, rel=2e-3)
    assert theirs.gap < 1e-3


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("form", ["ineq", "slack"])
def test_low_rank_agrees_with_interior(form, seed):
    program = problem(bent_strip(seed), 5, form=form, nu=50.0)
    exact, low = unfold(program, solver="interior", tol=1e-6), unfold(program, solver="lowrank", tol=1e-3)
    assert low.converged
    assert low.primal == pytest.approx(exact.primal, rel=2e-3)
    assert low.bound >= exact.primal * (1 - 1e-5)  # a bound holds for the true optimum


@pytest.mark.parametrize("seed", [0, 1])
def test_low_rank_does_not_collapse(seed):
    """A long thin roll, where all inequalities can go slack at once."""
    program = problem(lowfold.datasets.swiss_roll(90, height=15.0, random_state=seed).X, 6, form="ineq")
    exact, low = unfold(program, solver="interior", tol=1e-5), unfold(program, solver="lowrank", tol=2e-3)
    assert low.primal == pytest.approx(exact.primal, rel=5e-3)


def test_low_rank_inequalities_unroll_a_larger_roll():
    """Where directions added to the factor meet only slack pairs, their size must still be bounded."""
    X = lowfold.datasets.swiss_roll(300, height=15.0, density="area", random_state=1).X
    program = problem(X, 5, form="ineq")
    found = unfold(program, solver="lowrank", tol=5e-3)
    assert found.converged
    assert np.sum(found.factor**2) > 2 * np.sum((X - X.mean(axis=0)) ** 2)


def test_bound_holds_for_every_feasible_point():
    """Weak duality: the data themselves are feasible, and random contractions are for inequalities."""
    for seed in range(3):
        X = bent_strip(seed)
        program = problem(X, 4, form="ineq")
        w = np.random.default_rng(seed).random(program.m) + 0.1
        proof = certify(program, program.incidence(), w)
        H = X - X.mean(axis=0)
        assert np.sum(H**2) <= proof.bound * program.unit
        eigenvalues = np.linalg.eigvalsh(stress_laplacian(program.incidence(), proof.weights).toarray())
        assert eigenvalues[1] > 1 - 1e-6


def test_repair_by_flows_beats_scaling():
    """One point hangs loose: scaling all weights would pay for it with a share of the whole value."""
    program = problem(bent_strip(2), 6, form="ineq")
    best = unfold(program, tol=1e-6)
    at = (program.pairs == np.bincount(program.pairs.ravel()).argmax()).any(axis=1)
    w = np.where(at, 0.01, 1.0) * best.dual
    mu = np.linalg.eigvalsh(stress_laplacian(program.incidence(), w).toarray())[1]
    assert mu < 0.9
    bound = certify(program, program.incidence(), w).bound * program.unit
    assert best.primal * (1 - 1e-5) <= bound < 0.9 * (w / mu) @ program.squared * program.unit


@pytest.mark.parametrize("form", ["eq", "ineq", "slack"])
def test_invariants(form):
    X = bent_strip(3, 40)
    program = problem(X, 4, form=form)
    found = unfold(program, tol=1e-4)
    K = found.factor @ found.factor.T
    np.testing.assert_allclose(K.sum(axis=0), 0, atol=1e-8 * np.trace(K))
    H = X - X.mean(axis=0)
    assert found.primal >= np.sum(H**2) * (1 - 1e-3)  # the data are feasible
    assert np.trace(K) <= variance_bound(40, np.sqrt(program.squared.max() * program.unit))
    if form != "slack":
        D = geodesics(program.graph()) * np.sqrt(program.unit)
        d = np.linalg.norm(found.factor[:, None] - found.factor[None], axis=2)
        assert (d <= D * (1 + 1e-2) + 1e-9).all()
        assert np.trace(K) <= program.n * np.mean(D**2) / 2 * 1.01
        assert found.violation < 1e-3


def test_equalities_inside_large_neighbourhoods_leave_the_data_rigid():
    """k + 1 > D + 1 points with all distances fixed cannot bend: the optimum is the data."""
    X = bent_strip(4, 50)
    H = X - X.mean(axis=0)
    assert unfold(problem(X, 8, form="eq"), tol=1e-5).primal == pytest.approx(np.sum(H**2), rel=1e-3)


def test_stiff_springs_approach_equalities():
    program = chain(10, form="slack")
    values = [unfold(program.with_form("slack", nu), tol=1e-6).violation for nu in (1.0, 10.0, 1000.0)]
    assert values[0] > 5 * values[1] > 100 * values[2]


def test_order_of_points_does_not_matter():
    X = bent_strip(5, 40)
    order = np.random.default_rng(0).permutation(40)
    a, b = unfold(problem(X, 4), tol=1e-5), unfold(problem(X[order], 4), tol=1e-5)
    K, L = a.factor @ a.factor.T, b.factor @ b.factor.T
    np.testing.assert_allclose(K[np.ix_(order, order)], L, atol=1e-2 * np.trace(K) / 40)


# The factorised form --------------------------------------------------------------------------------------------------


def test_laplacian_form_with_all_eigenvectors_is_the_full_program():
    X = bent_strip(6, 25)
    program = problem(X, 4, nu=20.0)
    exact = unfold(program, solver="interior", tol=1e-6)
    Y = laplacian_form(program, 24)
    c = np.sum((Y[program.pairs[:, 0]] - Y[program.pairs[:, 1]]) ** 2, axis=1) - program.squared
    assert (np.sum(Y**2) - program.nu * c @ c) * program.unit == pytest.approx(exact.primal, rel=1e-3)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-8 * np.abs(Y).max() * 25)
    few = laplacian_form(program, 5)
    c = np.sum((few[program.pairs[:, 0]] - few[program.pairs[:, 1]]) ** 2, axis=1) - program.squared
    assert (np.sum(few**2) - program.nu * c @ c) * program.unit <= exact.primal * (1 + 1e-6)


def test_small_program_meets_its_optimality_conditions():
    rng = np.random.default_rng(7)
    G, s = rng.normal(size=(80, 4)), rng.random(80) + 1.0
    C, nu = np.eye(4), 3.0
    L = springs(RankOne(C, G, s, "slack", nu)).L
    slope = C - 2 * nu * (G.T @ ((np.einsum("ep,pq,eq->e", G, L, G) - s)[:, None] * G))
    assert np.linalg.eigvalsh(L)[0] > -1e-9
    assert np.linalg.eigvalsh(slope)[-1] < 1e-3
    assert abs(np.sum(slope * L)) < 1e-3


def test_few_directions_and_many_pairs_are_solved_alike_by_entries_and_by_pairs():
    """Equations for the entries of L, or one for each pair: the same L, and weights that prove it."""
    rng = np.random.default_rng(1203)
    G = rng.normal(size=(120, 6))
    program = RankOne(np.diag(np.arange(1.0, 7.0)), G, np.sum(G[:, :2] ** 2, axis=1), "slack", 5.0)
    entries, pairs = springs(program, tol=1e-9), interior(program, tol=1e-9)
    np.testing.assert_allclose(entries.L, pairs.L, atol=1e-5 * np.abs(pairs.L).max())
    np.testing.assert_allclose(entries.w, pairs.w, atol=1e-4 * np.abs(pairs.w).max())
    assert np.linalg.eigvalsh(G.T @ (entries.w[:, None] * G) - program.C)[0] > -1e-5


# Repairs of a certificate ---------------------------------------------------------------------------------------------


def stationary(program, rank: int = 6):
    """A stationary point of low rank, not quite the optimum, and its weights."""
    E = program.incidence()
    Y, Et = laplacian_form(program)[:, :rank], csr_array(E.T)
    for softer in (64.0, 16.0, 4.0, 1.0):
        penalty = Penalty(np.zeros(program.m), 2 * program.nu / softer)
        found = minimise(E, Et, program.squared, Y, penalty, tol=3e-3, max_steps=40, max_products=3000)
        Y = found.Y
    return E, found.Y, found.w


def test_coordinates_make_repairs_cheap():
    """Rough directions are given what they lack inside neighbourhoods, where flows would pay dearly for them."""
    program = problem(bent_strip(1204, 200), 8, form="slack")
    E, Y, w = stationary(program)
    value = np.sum(Y**2) - w @ w / (4 * program.nu)
    proof = certify(program, E, w, Y)
    values = np.linalg.eigvalsh(stress_laplacian(E, proof.weights).toarray() + np.ones((200, 200)))
    assert values[0] > 1 - 1e-6
    assert value <= proof.bound < 1.005 * value
    assert proof.bound - value < 0.3 * (certify(program, E, w).bound - value)


def test_bends_are_psd_weights_that_cost_next_to_nothing():
    program = problem(bent_strip(5), 6, form="slack")
    E, Y, _ = stationary(program, 2)
    v = np.random.default_rng(5).normal(size=(program.n, 1))
    v /= np.linalg.norm(v)
    u = bends(bends_of(program, Y), v, program.m)[:, 0]
    L = stress_laplacian(E, u).toarray()
    assert v[:, 0] @ L @ v[:, 0] == pytest.approx(1.0)
    assert np.linalg.eigvalsh(L)[0] > -1e-9
    assert np.sum(L * (Y @ Y.T)) < 0.1 * flows(program, E, v)[:, 0] @ program.squared


def test_balance_holds_the_load_exactly():
    program = problem(bent_strip(6), 6, form="slack")
    E, Y, w = stationary(program, 2)
    held = balance(E, Y)(w)
    before, after = (np.linalg.norm(stress_laplacian(E, x) @ Y - Y) for x in (w, held))
    assert after < 1e-3 * before
    assert np.linalg.norm(held - w) < 0.1 * np.linalg.norm(w)


# Doors ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2, 6])
def test_the_hessian_of_log_det_in_vectors(q: int) -> None:
    A, D = np.random.default_rng(q).normal(size=(2, q, q))
    S, D = A @ A.T, D + D.T
    found = svec_kron(S)
    np.testing.assert_allclose(found @ svec(D), svec(S @ D @ S), rtol=1e-9)
    np.testing.assert_allclose(found, found.T, rtol=1e-9)


@pytest.mark.parametrize("seed", [5020, 5021])
def test_a_round_that_was_cut_short_is_not_made_sharper_and_the_next_is_longer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, int, float]] = []

    def heard(*args, tol: float, max_products: int, **kwargs):
        inner = minimise(*args, tol=tol, max_products=max_products, **kwargs)
        asked.append((tol, max_products, inner.residual))
        return inner

    monkeypatch.setattr(_lowrank, "minimise", heard)
    monkeypatch.setattr(_lowrank, "PRODUCTS", 40)
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.random(80))
    roll = np.column_stack([t * np.cos(t), 10 * rng.random(80), t * np.sin(t)]) + 0.3 * rng.normal(size=(80, 3))
    program = problem(roll, 6, form="slack")
    assert _lowrank.lowrank(program, path_layout(program.graph(), 8)).converged
    rounds = asked[len(_lowrank.SOFTER) :]
    assert rounds[0][1] == 40
    assert any(residual > tol for tol, _, residual in rounds), "one was cut short"
    for (tol, products, residual), (next_tol, next_products, _) in pairwise(rounds):
        short = residual > tol
        assert next_products == products + (40 if short else 0)
        assert (next_tol == tol) == short
    asked.clear()
    unfold(problem(roll, 6, form="slack"), solver="factorized")  # has no rounds to come back in
    assert asked[-1][1] == _lowrank.MOST_PRODUCTS


@pytest.mark.parametrize("solver", ["interior", "lowrank"])
def test_a_callback_sees_every_iteration_and_can_stop(solver):
    seen = []

    def stop_at_two(step):
        seen.append(step)
        return step.iteration >= 2

    found = unfold(problem(bent_strip(0), 5), solver=solver, tol=1e-9, callback=stop_at_two)
    assert [step.solver for step in seen] == [solver] * len(seen)
    assert found.stopped
    assert seen[-1].iteration == 2


def test_interior_iterates_are_dual_feasible():
    program = problem(bent_strip(2, 30), 5, form="ineq")
    exact = unfold(program, tol=1e-6)
    bounds = []
    V = complement(np.ones(30))
    small = RankOne(np.eye(29), program.incidence() @ V, program.squared, "ineq", 1.0)
    interior(small, tol=1e-6, callback=lambda step: bounds.append(step.dual))
    assert min(bounds) * program.unit >= exact.primal * (1 - 1e-3)


def test_auto_goes_by_size():
    assert select_unfolding_solver(100, 600) == "interior"
    assert select_unfolding_solver(1000, 7000) == "lowrank"
    assert select_unfolding_solver(5000, 35000) == "factorized"
    with pytest.raises(InvalidInput, match="solver must be one of"):
        unfold(chain(4), solver="magic")


def test_coincident_points():
    found = unfold(unfolding(5, np.array([[i, i + 1] for i in range(4)]), np.zeros(4)))
    assert found.primal == 0
    assert not found.factor.any()


# Refinement -----------------------------------------------------------------------------------------------------------


def test_gradient_of_the_local_loss():
    rng = np.random.default_rng(8)
    Y = rng.normal(size=(7, 2))
    pairs = np.array([[0, 1], [1, 2], [2, 5], [3, 6], [4, 6], [0, 6]])
    s = rng.random(6)
    value, slope = local_loss(Y, pairs, s)
    assert value > 0
    for i, c in [(0, 0), (6, 1), (2, 0)]:
        step = np.zeros_like(Y)
        step[i, c] = 1e-6
        numeric = (local_loss(Y + step, pairs, s)[0] - local_loss(Y - step, pairs, s)[0]) / 2e-6
        assert slope[i, c] == pytest.approx(numeric, rel=1e-5)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert local_loss(Y @ turn + 3.0, pairs, s)[0] == pytest.approx(value)


def test_refinement_goes_down_and_keeps_fixed_rows():
    rng = np.random.default_rng(9)
    X = rng.random((30, 2))
    a, b = np.triu_indices(30, 1)
    pairs, s = np.column_stack([a, b]), np.sum((X[a] - X[b]) ** 2, axis=1)
    fixed = np.zeros(30, dtype=bool)
    fixed[:3] = True
    start = np.where(fixed[:, None], X, X + 0.05 * rng.normal(size=X.shape))
    result = refine(start, pairs, s, fixed=fixed, tol=1e-14)
    assert result.after < 1e-6 * result.before
    np.testing.assert_array_equal(result.Y[:3], X[:3])
    np.testing.assert_allclose(result.Y, X, atol=1e-3)


def test_path_variance_bounds_the_program():
    for n in (5, 20):
        assert path_variance(chain(n).graph()) == pytest.approx(n * (n**2 - 1) / 12)
