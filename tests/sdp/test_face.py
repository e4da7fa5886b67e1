"""Facial reduction: the face is what theory says, and the proof holds without it."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.sdp import unfold
from lowfold.sdp._face import cliques, face
from lowfold.sdp._program import neighbor_pairs, stress_laplacian, unfolding


def rolled(seed: int, n: int = 80) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u, v = 3 * rng.random(n), rng.random(n)
    return np.column_stack([np.sin(u), v, np.cos(u)])


def equalities(X: np.ndarray, k: int):
    pairs = neighbor_pairs(nearest(Points(X, resolve_metric("euclidean", None, None)), k))
    return unfolding(len(X), pairs, np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1), form="eq")


def patch(seed: int, n: int) -> np.ndarray:
    """Dense points of a curved sheet: nearly flat neighbourhoods, the hard case."""
    roll = lowfold.datasets.swiss_roll(10 * n, random_state=seed)
    far = np.sum((roll.coordinates - np.median(roll.coordinates, axis=0)) ** 2, axis=1)
    return roll.X[np.argsort(far)[:n]]


def test_cliques_are_complete_maximal_and_cover_every_pair():
    for seed in range(3):
        pairs = equalities(rolled(seed, 30), 6).pairs
        known = {tuple(p) for p in pairs.tolist()}
        found = cliques(30, pairs)
        covered = {(a, b) for c in found for i, a in enumerate(c.tolist()) for b in c.tolist()[i + 1 :]}
        assert covered == known
        for c in found:
            others = set(range(30)) - set(c.tolist())
            assert not any(all((min(o, a), max(o, a)) in known for a in c.tolist()) for o in others)


@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_large_neighbourhoods_leave_the_dimension_of_the_space(dimension):
    X = np.random.default_rng(dimension).normal(size=(60, dimension))
    program = equalities(X, dimension + 5)
    found = face(program)
    assert found is not None
    assert found.dimension == dimension
    H = X - X.mean(axis=0)
    np.testing.assert_allclose(found.basis @ (found.basis.T @ H), H, atol=1e-7)  # the data lie on the face
    # the exposing weights cost nothing and vanish on the face alone
    L = stress_laplacian(program.incidence(), found.exposing).toarray()
    assert abs(found.exposing @ program.squared) < 1e-10
    assert np.abs(L @ found.basis).max() < 1e-7
    assert np.linalg.eigvalsh(L)[dimension + 1] == pytest.approx(found.hold, rel=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_dense_patch_is_proven_rigid_for_the_whole_program(seed):
    X = patch(seed, 120)
    program = equalities(X, 6)
    found = unfold(program, tol=1e-4)
    assert found.solver == "facial"
    assert found.converged
    assert abs(found.gap) < 1e-4
    assert found.violation < 1e-6
    assert found.primal == pytest.approx(np.sum((X - X.mean(axis=0)) ** 2), rel=1e-6)
    # weak duality without any talk of faces: L_w - (I - 11'/n) is psd, and the bound is s'w
    values = np.linalg.eigvalsh(stress_laplacian(program.incidence(), found.dual).toarray() + np.ones((120, 120)) / 120)
    assert values[0] > 1 - 1e-6
    assert found.bound == pytest.approx(found.dual @ program.squared * program.unit, rel=1e-4)


def test_what_is_free_on_the_face_is_maximised():
    """Two sheets on a hinge: every sheet is rigid, the angle between them opens to a straight line."""
    rng = np.random.default_rng(0)
    left, right = rng.random((12, 2)), rng.random((12, 2))
    hinge = np.array([[0.0, 0.2], [0.0, 0.8]])
    a = np.vstack([hinge, left + np.array([0.1, 0.0])])
    b = np.vstack([hinge, right + np.array([0.1, 0.0])])
    fold = np.vstack(
        [
            np.column_stack([hinge, np.zeros(2)]),
            np.column_stack([a[2:, 0], a[2:, 1], np.zeros(12)]),
            np.column_stack([0.2 * b[2:, 0], b[2:, 1], np.sqrt(1 - 0.04) * b[2:, 0]]),
        ]
    )
    groups = [np.r_[0, 1, 2:14], np.r_[0, 1, 14:26]]
    pairs = np.unique([(i, j) for g in groups for i in g for j in g if i < j], axis=0)
    program = unfolding(26, pairs, np.sum((fold[pairs[:, 0]] - fold[pairs[:, 1]]) ** 2, axis=1), form="eq")
    found = unfold(program, solver="facial", tol=1e-5)
    flat = np.vstack([hinge, a[2:], b[2:] * [-1.0, 1.0]])
    assert found.converged
    assert found.rank == 2
    assert found.primal == pytest.approx(np.sum((flat - flat.mean(axis=0)) ** 2), rel=1e-5)


def test_coincident_points_stay_together():
    X = np.vstack([rolled(0), rolled(0)[:10]])
    found = unfold(equalities(X, 8), tol=1e-4)
    assert found.converged
    np.testing.assert_allclose(found.factor[80:], found.factor[:10], atol=1e-3)


def test_noisy_distances_leave_no_face():
    program = equalities(rolled(1), 6)
    noisy = program.squared * (1 + 1e-3 * np.random.default_rng(0).normal(size=program.m))
    inexact = unfolding(program.n, program.pairs, noisy, form="eq")
    assert face(inexact) is None
    with pytest.raises(InvalidInput, match="solver='auto'"):
        unfold(inexact, solver="facial")
    with pytest.raises(InvalidInput, match="for equalities"):
        unfold(program.with_form("slack"), solver="facial")


def test_a_callback_sees_the_face():
    steps = []
    found = unfold(equalities(rolled(2), 8), callback=lambda step: steps.append(step) or True)
    assert found.stopped
    assert steps[-1].solver in ("facial", "interior")
    assert np.isfinite(found.factor).all()
