"""Surfaces known by some of their points: steps along them, patches laid flat."""

from __future__ import annotations

import numpy as np

import lowfold
from lowfold._core.run import Run
from lowfold.graph._search import nearest
from lowfold.graph._sheet import chart, homes, sheet_of, steps
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric


def cylinder(t, h):
    """Points of a cylinder of radius 2 at arc lengths t and heights h, and their tangent planes."""
    X = np.column_stack([2 * np.cos(t / 2), 2 * np.sin(t / 2), h])
    along = np.column_stack([-np.sin(t / 2), np.cos(t / 2), np.zeros(len(t))])
    up = np.tile([0.0, 0.0, 1.0], (len(t), 1))
    return X, np.stack([along, up], axis=2)


def sheet(X, m, seed=0):
    chosen = np.sort(np.random.default_rng(seed).choice(len(X), m, replace=False))
    return chosen, sheet_of(Points(X, resolve_metric("euclidean", None, X)), chosen, 2, Run())


def test_a_step_along_a_cylinder_is_its_arc():
    rng = np.random.default_rng(0)
    X, T = cylinder(2 * rng.random(40), rng.random(40))
    i, j = np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40)
    t, h = 2 * np.arctan2(X[:, 1], X[:, 0]), X[:, 2]
    found = steps(X, T, i, j)
    np.testing.assert_allclose(found.vectors, np.column_stack([t[j] - t[i], h[j] - h[i]]), atol=1e-12)
    assert found.strain.max() < 1e-7
    # Whatever the frames are, lengths are the same, and the way back is the step turned round.
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    other = steps(X, np.where(np.arange(40)[:, None, None] % 2 == 0, T, T @ turn), i, j)
    np.testing.assert_allclose(np.linalg.norm(other.vectors, axis=1), np.hypot(t[j] - t[i], h[j] - h[i]), atol=1e-12)
    back = other.vectors.reshape(40, 40, 2).transpose(1, 0, 2).reshape(-1, 2)
    np.testing.assert_allclose(-np.einsum("mde,me->md", other.turns, back), other.vectors, atol=1e-12)


def test_a_link_to_another_sheet_is_strained():
    X, T = cylinder(np.array([0.0, 0.5]), np.zeros(2))
    X[1] *= 1.5  # the same direction on a wider cylinder
    assert steps(X, T, np.array([0]), np.array([1])).strain[0] > 0.5


def test_patches_of_a_roll_are_laid_flat():
    roll = lowfold.datasets.swiss_roll(3000, random_state=3)
    chosen, found = sheet(roll.X, 150)
    T = roll.coordinates[chosen]
    near = nearest(found, 12)
    index = near.indices.reshape(150, 12).astype(np.int64)
    truth = np.linalg.norm(T[index] - T[:, None], axis=2)
    laid = chart(found, np.arange(150), index, Run())
    np.testing.assert_allclose(np.linalg.norm(laid, axis=2), truth, rtol=0.02)
    np.testing.assert_allclose(near.distances.reshape(150, 12), truth, rtol=0.02)
    # The nearest in space are on other sheets: these are not.
    far = np.linalg.norm(T[:, None] - T[None], axis=2)
    assert truth.max() < 1.2 * np.sort(far, axis=1)[:, 12].max()
    home, position, turn = homes(found)
    assert (home >= 0).all()
    np.testing.assert_array_equal(home[:150], np.arange(150))
    np.testing.assert_allclose(turn @ turn.transpose(0, 2, 1), np.tile(np.eye(2), (len(home), 1, 1)), atol=1e-9)
    assert np.linalg.norm(position, axis=1).max() < truth.max()


def test_parts_of_a_sheet_are_sheets():
    roll = lowfold.datasets.swiss_roll(1500, random_state=4)
    chosen, found = sheet(roll.X, 100)
    part = found.subset(np.arange(0, 100, 2))
    T = roll.coordinates[chosen[::2]]
    near = nearest(part, 8)
    truth = np.linalg.norm(T[near.indices] - T[near.rows()], axis=1)
    np.testing.assert_allclose(near.distances, truth, rtol=0.03)


def test_no_surface_no_sheet():
    rng = np.random.default_rng(0)
    assert sheet(rng.standard_normal((600, 8)), 100)[1] is None
    assert sheet(rng.standard_normal((50, 3)), 50)[1] is None  # nothing finer than the points themselves
