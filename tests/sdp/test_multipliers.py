"""Springs at low rank by multipliers: the answer of other solvers, a proof, and the pieces that lead there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lowfold._core.run import Run
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.sdp import unfold
from lowfold.sdp._descent import Pulled, descend
from lowfold.sdp._edges import edges_of
from lowfold.sdp._multipliers import FEW
from lowfold.sdp._program import Unfolding, neighbor_pairs, stress_laplacian, unfolding
from lowfold.sdp._vertices import FREE, vertex_blocks, vertices_of


def springs(seed: int, n: int, d: int, k: int) -> Unfolding:
    X = np.random.default_rng(seed).normal(size=(n, d))
    pairs = neighbor_pairs(nearest(Points(X, resolve_metric("euclidean", None, None)), k))
    return unfolding(n, pairs, np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1))


def phi(pulled: Pulled, Y: np.ndarray) -> float:
    c = pulled.edges.squares(Y) - pulled.squared
    return float(pulled.lam @ c + 0.5 * pulled.rho * c @ c - np.sum(Y**2))


@pytest.mark.parametrize(("d", "k"), [(2, 6), (3, 8), (8, 6), (12, 8)])
def test_it_agrees_with_the_barrier_and_proves_it(d: int, k: int) -> None:
    program = springs(9050 + d, 90, d, k)
    found, other = unfold(program, solver="lowrank", tol=5e-4), unfold(program, solver="barrier", tol=1e-4)
    assert found.converged
    assert found.primal == pytest.approx(other.primal, rel=5e-4)
    assert found.primal <= other.bound * (1 + 1e-9)
    assert other.primal <= found.bound * (1 + 1e-9)
    w, n = found.dual, program.n
    values = np.linalg.eigvalsh(stress_laplacian(program.incidence(), w).toarray() + np.ones((n, n)) / n)
    assert values[0] >= 1 - 1e-7
    assert found.bound == pytest.approx((w @ program.squared + w @ w / (4 * program.nu)) * program.unit)


@pytest.mark.parametrize("nu", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("d", [2, 9])
def test_springs_of_any_stiffness(d: int, nu: float) -> None:
    """The springs of a minimisation go by the data alone: far softer than soft ones they proved nothing."""
    program = springs(9070, 130, d, 7).with_form("slack", nu)
    assert unfold(program, solver="lowrank").converged


def test_k_of_many_dimensions_gets_more_columns_than_a_sheet() -> None:
    assert unfold(springs(9060, 120, 12, 8), solver="lowrank").rank > FEW
    assert unfold(springs(9061, 120, 2, 8), solver="lowrank").rank <= FEW


def test_the_answer_is_the_same_every_time() -> None:
    program = springs(9062, 110, 10, 7)
    a, b = unfold(program, solver="lowrank"), unfold(program, solver="lowrank", run=Run(n_jobs=2))
    np.testing.assert_array_equal(a.factor, b.factor)
    assert a.bound == b.bound


def test_a_callback_that_stops_leaves_a_proven_answer() -> None:
    steps = []
    found = unfold(springs(9063, 100, 12, 8), solver="lowrank", tol=1e-7, callback=lambda s: steps.append(s) or True)
    assert found.stopped
    assert [step.iteration for step in steps] == [1]
    assert found.primal <= found.bound < np.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_with_the_pairs(dtype: type) -> None:
    program, rng = springs(9064, 60, 4, 6), np.random.default_rng(0)
    edges, E, w = edges_of(program), program.incidence(), rng.normal(size=program.m)
    Y, X = rng.normal(size=(2, 60, 5)).astype(dtype)
    np.testing.assert_allclose(edges.laplacian(w).toarray(), stress_laplacian(E, w).toarray(), atol=1e-12)
    np.testing.assert_allclose(edges.degrees(w), stress_laplacian(E, w).diagonal(), atol=1e-12)
    b, q = edges.along(Y, X)
    exact = edges.squares((Y + 0.5 * X).astype(np.float64))
    np.testing.assert_allclose(
        edges.squares(Y) + 0.5 * b + 0.25 * q, exact, rtol=1e-5 if dtype is np.float32 else 1e-12
    )


def test_a_block_is_the_hessian_of_its_point() -> None:
    """Without the smooth motions: of a step of one point alone, where free directions have more than the least."""
    program, rng = springs(9065, 50, 6, 6), np.random.default_rng(1)
    edges, rho = edges_of(program), 3.0
    Y, w = rng.normal(size=(50, 7)), rng.random(program.m)
    assert (2 * edges.degrees(w) - 2 > 2 * FREE * edges.degrees(w).mean()).all()
    still = replace(vertices_of(edges, program.squared, 7, Run()), V=np.empty((50, 0)))
    lam = w - rho * (edges.squares(Y) - program.squared)
    pulled = Pulled(edges, program.squared, lam, rho, w, 1.0)
    step = np.zeros_like(Y)
    step[11] = rng.normal(size=7)
    h = 1e-3
    change = phi(pulled, Y + h * step) - 2 * phi(pulled, Y) + phi(pulled, Y - h * step)
    own = np.zeros((50, 7))
    u = edges.differences(Y)[(edges.i == 11) | (edges.j == 11)]
    free = 2 * edges.degrees(w)[11] - 2
    own[11] = (free * np.eye(7) + 4 * rho * u.T @ u) @ step[11]
    assert change / h**2 == pytest.approx(step[11] @ own[11], rel=1e-3)
    back = vertex_blocks(still, Y, w, rho)(own.astype(np.float32))
    np.testing.assert_allclose(back - back.mean(axis=0), step - step.mean(axis=0), atol=2e-3)


def test_a_descent_lowers_the_lagrangian_and_says_its_weights() -> None:
    program, rng = springs(9066, 80, 10, 7), np.random.default_rng(2)
    edges, none = edges_of(program), np.zeros(program.m)
    pulled = Pulled(edges, program.squared, none, 2 * program.nu / 33, none, np.inf)
    Y = 0.3 * rng.normal(size=(80, 20))
    w = pulled.weights(edges.squares(Y))
    precondition = vertex_blocks(vertices_of(edges, program.squared, 20, Run()), Y, w, pulled.rho)
    values = [phi(pulled, Y)]
    for most in (2, 10, 40, 160):
        reached = descend(pulled, Y, precondition, most=most, dtype=np.float64)
        values.append(phi(pulled, reached.Y))
    assert values == sorted(values, reverse=True)
    np.testing.assert_allclose(reached.w, pulled.rho * (edges.squares(reached.Y) - program.squared), rtol=1e-9)
    gradient = 2 * (edges.laplacian(reached.w) @ reached.Y - reached.Y)
    assert np.linalg.norm(gradient) < 0.05 * np.linalg.norm(reached.Y)
