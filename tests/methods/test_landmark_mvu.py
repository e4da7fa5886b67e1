"""LandmarkMVU: the transformation from landmarks, the small program, new points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold import MVU, LandmarkMVU
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.sdp._landmarks import holding_pairs, landmark_transform, reconstruction_weights, unreached


def source(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, None))


def weights(X: np.ndarray, k: int, **kwargs):
    return reconstruction_weights(source(X), nearest(source(X), k), **kwargs)


@pytest.mark.parametrize("kind", ["lsq", "direct"])
@pytest.mark.parametrize("seed", [0, 1])
def test_transformation(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 2))
    landmarks = rng.permutation(60)[:15]  # not sorted
    W = weights(X, 8, reg=1e-9)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    Q = landmark_transform(W, landmarks, kind=kind)
    np.testing.assert_array_equal(Q[landmarks], np.eye(15))
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(Q @ X[landmarks], X, atol=1e-4)  # flat data are rebuilt


def test_permuting_points_permutes_the_transformation():
    rng = np.random.default_rng(2)
    X = rng.random((40, 3))
    order = rng.permutation(40)
    place = np.argsort(order)
    marks = np.array([3, 1, 30, 22, 7])
    first = landmark_transform(weights(X, 6), marks)
    second = landmark_transform(weights(X[order], 6), place[marks])
    np.testing.assert_allclose(second, first[order], atol=1e-8)


def test_least_squares_rebuilds_a_roll_better_than_direct():
    for seed in range(2):
        roll = lowfold.datasets.swiss_roll(400, random_state=seed)
        errors = {}
        for rule in ("lsq", "direct"):
            with warnings.catch_warnings():
                if rule == "direct":  # it is told to be worse than the mean where it is
                    warnings.simplefilter("ignore", AccuracyWarning)
                model = LandmarkMVU(2, n_neighbors=4, transform_rule=rule, random_state=seed).fit(roll.X)
            errors[rule] = model.reconstruction_error_
        assert errors["lsq"] < 0.15
        assert errors["lsq"] < errors["direct"]


def test_convex_weights_are_not_negative():
    X = np.random.default_rng(3).random((50, 3))
    W = weights(X, 8, kind="convex")
    assert W.data.min() >= 0
    np.testing.assert_allclose(W.sum(axis=1), 1.0)


def test_a_set_without_landmark_is_refused():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.random((20, 2)), rng.random((20, 2)) + 10.0])
    W = weights(X, 4)
    assert set(unreached(W, np.array([1, 5, 9]))) == set(range(20, 40))
    with pytest.raises(InvalidInput, match="lead to no landmark"):
        landmark_transform(W, np.array([1, 5, 9]))


def test_forty_landmarks_by_default_and_the_count_of_constraints():
    roll = lowfold.datasets.swiss_roll(500, random_state=0)
    model = LandmarkMVU(2, n_neighbors=3, on_disconnected="connect")
    with pytest.warns(lowfold._core.errors.DisconnectedWarning):
        model.fit(roll.X)
    assert len(model.landmarks_) >= 40
    assert model.n_constraints_ <= len(model.landmarks_) * 6 + 1 + len(model.bridges_)
    assert abs(model.duality_gap_) < 1e-3


@pytest.mark.parametrize("constraints", ["slack", "ineq"])
def test_constraints_hold(constraints):
    roll = lowfold.datasets.swiss_roll(300, random_state=1)
    model = LandmarkMVU(2, n_neighbors=5, constraints=constraints).fit(roll.X)
    assert model.constraint_violation_ < (0.05 if constraints == "slack" else 1e-6)
    K = model.kernel().dense()
    np.testing.assert_allclose(K.sum(axis=0), 0, atol=1e-7 * np.trace(K))


def test_equalities_that_cannot_hold_are_told():
    roll = lowfold.datasets.swiss_roll(300, random_state=1)
    with pytest.warns(AccuracyWarning, match="constraints off by"):
        model = LandmarkMVU(2, n_neighbors=5, constraints="eq").fit(roll.X)
    assert model.constraint_violation_ < 0.05


def test_all_points_as_landmarks_is_mvu():
    X = np.random.default_rng(5).random((30, 3))
    options = dict(n_neighbors=5, constraints="ineq", tol=1e-6)
    ours = LandmarkMVU(2, landmarks=np.arange(30), **options).fit(X)
    plain = MVU(2, **options).fit(X)
    assert ours.variance_ == pytest.approx(plain.variance_, rel=1e-4)
    np.testing.assert_allclose(ours.kernel().dense(), plain.kernel().dense(), atol=1e-2 * plain.variance_ / 30)


@pytest.mark.parametrize("seed", [0, 1])
def test_unrolls_and_places_new_points_one_by_one(seed):
    roll = lowfold.datasets.swiss_roll(900, random_state=seed)
    model = LandmarkMVU(2, n_neighbors=5, landmarks=60).fit(roll.X[:800])
    arc = roll.coordinates[:, 0]
    assert abs(np.corrcoef(model.embedding_[:, 0], arc[:800])[0, 1]) > 0.98
    new = model.transform(roll.X[800:])
    assert abs(np.corrcoef(new[:, 0], arc[800:])[0, 1]) > 0.98
    np.testing.assert_allclose(model.transform(roll.X[800:801]), new[:1], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_clouds_that_a_point_between_them_joins_stay_together(seed):
    """Nobody is rebuilt by the point between them, and no landmark's neighbourhood joins them: edges alone do."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal((30, 0, 0), size=(60, 3)), [[15.0, 0.0, 0.0]]])
    landmarks = np.array([3, 20, 41, 65, 83, 100])
    model = LandmarkMVU(2, landmarks=landmarks, n_neighbors=8, on_shortcut="ignore").fit(X)
    assert len(model.bridges_) == 0
    Y, edges = model.embedding_, model.graph_.edges()
    held = np.linalg.norm(Y[edges[:, 0]] - Y[edges[:, 1]], axis=1)
    assert held.max() < 2 * np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1).max()


def test_edges_hold_what_pairs_leave_loose():
    """Points 0 to 2 and 3 to 5 are two groups, each of two landmarks and their middle; 6 is between both."""
    Q = np.array(
        [[1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0.5, 0.5], [0.5, 0, 0.5, 0]]
    )
    graph = lowfold.graph.Graph.from_edges(7, [(0, 1), (1, 2), (3, 4), (4, 5), (2, 6), (5, 6)], [1.0, 1, 1, 1, 3, 2])
    pairs = np.array([[0, 1], [3, 4]])
    assert holding_pairs(Q, pairs, graph).tolist() == [[0, 1], [3, 4], [5, 6]]  # the shorter of the two that hold it
    assert holding_pairs(Q, np.array([[0, 1], [2, 6], [3, 4]]), graph).tolist() == [[0, 1], [2, 6], [3, 4]]


def test_landmarks_that_rebuild_worse_than_the_mean_are_told():
    rng = np.random.default_rng(2)
    X = 3 * rng.normal(size=(4, 8))[rng.integers(0, 4, 400)] + 0.5 * rng.standard_t(1.1, size=(400, 8))
    with pytest.warns(AccuracyWarning) as told:
        model = LandmarkMVU(2, landmarks=20, on_shortcut="ignore").fit(X)
    words = [str(warning.message) for warning in told]
    assert any("reconstruction_error_)" in text and "weights='convex'" in text for text in words)
    assert any("tells 3 points or fewer" in text for text in words)  # of the heavy tails
    assert model.reconstruction_error_ > 1


def test_landmarks_are_checked():
    X = np.random.default_rng(6).random((20, 3))
    with pytest.raises(InvalidInput, match="row numbers from 0 to 19"):
        LandmarkMVU(2, landmarks=np.array([0, 5, 20])).fit(X)
    with pytest.raises(InvalidInput, match="at most 2 for 3 landmarks"):
        LandmarkMVU(3, landmarks=3).fit(X)
