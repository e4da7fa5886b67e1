"""The dual barrier: its bound is proven, its answer the one that other solvers find."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.sdp import unfold
from lowfold.sdp._program import neighbor_pairs, stress_laplacian, unfolding


def springs(seed: int, n: int = 40, d: int = 5, k: int = 7):
    X = np.random.default_rng(seed).normal(size=(n, d))
    pairs = neighbor_pairs(nearest(Points(X, resolve_metric("euclidean", None, None)), k))
    return unfolding(n, pairs, np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1))


@pytest.mark.parametrize("seed", [0, 1])
def test_it_agrees_with_interior(seed):
    program = springs(seed)
    found, exact = unfold(program, solver="barrier", tol=1e-3), unfold(program, solver="interior", tol=1e-6)
    assert found.converged
    assert found.primal == pytest.approx(exact.primal, rel=2e-3)
    assert found.primal <= exact.bound * (1 + 1e-9)
    assert exact.primal <= found.bound * (1 + 1e-9)


def test_its_weights_prove_the_bound():
    program = springs(2)
    found = unfold(program, solver="barrier", tol=1e-2)
    w, n = found.dual, program.n
    values = np.linalg.eigvalsh(stress_laplacian(program.incidence(), w).toarray() + np.ones((n, n)) / n)
    assert values[0] >= 1 - 1e-9
    value = w @ program.squared + w @ w / (4 * program.nu)
    assert found.bound == pytest.approx(value * program.unit)


def test_data_of_many_dimensions_are_proven():
    """K has more than twenty dimensions."""
    found = unfold(springs(3, n=110, d=12, k=8), solver="barrier")
    assert found.gap < 1e-2
    assert found.rank > 10


def test_stopping_leaves_a_usable_answer():
    steps = []
    found = unfold(springs(4), solver="barrier", callback=lambda step: steps.append(step) or step.iteration >= 3)
    assert found.stopped
    assert [step.iteration for step in steps] == [1, 2, 3]
    assert np.isfinite(found.factor).all()
    assert found.primal <= found.bound


def test_it_is_for_springs_alone():
    with pytest.raises(InvalidInput, match="slack form"):
        unfold(springs(5).with_form("ineq"), solver="barrier")
