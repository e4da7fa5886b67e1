"""Whether an embedding is a chart of its data is measured, and told where it is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import DependenceWarning
from lowfold.graph import find_neighbors
from lowfold.graph._source import Points
from lowfold.methods._chart import LOST, lost, lost_share, mean_miss, spots_of
from lowfold.methods._fit import Connected
from lowfold.metrics._resolve import resolve_metric


def _connected(X: np.ndarray, k: int = 10) -> Connected:
    return Connected(Points(X, resolve_metric("euclidean", None, None)), find_neighbors(X, k))


def _half_pipe(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    P = np.random.default_rng(seed).random((n, 2)) * [3.0, 1.5]
    return np.column_stack([np.cos(P[:, 0]), np.sin(P[:, 0]), P[:, 1]]), P


@pytest.mark.parametrize("n", [300, 1000, 4000])
def test_charts_folds_and_lost_directions(n: int) -> None:
    """Whatever the number of points, and whatever linear or smooth map of the coordinates."""
    X, P = _half_pipe(n, n)
    data = _connected(X)
    bent = np.column_stack([np.exp(P[:, 0]), P[:, 1] + P[:, 0] ** 2])
    for Y in (P, P @ [[5.0, 4.0], [0.1, 0.2]], bent, 1e-12 * P):
        assert lost_share(Y, data) < 0.02
    folded = np.column_stack([np.abs(P[:, 0] - 1.5), P[:, 1]])
    repeated = np.column_stack([P[:, 0], np.cos(P[:, 0])])
    assert min(lost_share(folded, data), lost_share(repeated, data)) > 3 * LOST
    spots = spots_of(data, 2)
    assert mean_miss(P, spots) < mean_miss(bent, spots) < mean_miss(folded, spots)


def test_where_it_cannot_be_told() -> None:
    X, P = _half_pipe(500, 1)
    assert lost_share(np.where(P > 2.9, np.nan, P), _connected(X)) is None
    assert lost_share(P[:150], _connected(X[:150])) is None  # too few
    ball = np.random.default_rng(2).standard_normal((500, 6))
    assert lost_share(ball[:, :2], _connected(ball)) is None  # no surface
    assert lost_share(np.ones((500, 2)), _connected(np.ones((500, 3)))) is None  # one point


@pytest.mark.parametrize("name", ["LTSA", "Isomap", "LaplacianEigenmaps", "VectorDiffusionMaps"])
def test_data_that_close_upon_themselves_are_told(name: str) -> None:
    v = np.random.default_rng(3).standard_normal((700, 3))
    sphere = v / np.linalg.norm(v, axis=1, keepdims=True)
    with pytest.warns(DependenceWarning, match=f"{name} does not show a part of the data.* n_components=3"):
        getattr(lowfold, name)(2, n_neighbors=10).fit(sphere)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize("name", ["LTSA", "HessianLLE", "LLE", "ModifiedLLE", "Isomap", "LaplacianEigenmaps"])
def test_nothing_is_said_of_charts(name: str, seed: int) -> None:
    X, _ = _half_pipe(600, seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coordinate 2 of LaplacianEigenmaps is a function")
        getattr(lowfold, name)(2, n_neighbors=10).fit(X + 0.02 * np.random.default_rng(seed).standard_normal(X.shape))


@pytest.mark.parametrize("seed", [11, 18])
def test_an_uneven_coordinate_that_shows_its_data_is_no_mixture(seed: int) -> None:
    """LLE's second coordinate of an S is steeper in places, and the width can be read from it everywhere."""
    rng = np.random.default_rng(seed)
    U = rng.random((1000, 2))
    t = 3 * np.pi * (U[:, 0] - 0.5)
    X = np.column_stack([np.sin(t), 2 * U[:, 1], np.sign(t) * (np.cos(t) - 1)])
    X += 0.05 * rng.standard_normal(X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lowfold.LLE(2).fit(X)
    assert lost_share(model.embedding_, _connected(X)) < 0.05


@pytest.mark.parametrize("bend", ["flat", "arc"])
def test_a_width_that_is_hardly_seen_is_told(bend: str) -> None:
    """On a strip eight times as long as wide few points are missed by more than a patch, which is nearly as wide."""
    P = np.random.default_rng(9000).random((500, 2)) * [8.0, 1.0]
    across = [P[:, 0], 0 * P[:, 0]] if bend == "flat" else [2 * np.cos(P[:, 0] / 2), 2 * np.sin(P[:, 0] / 2)]
    X = np.column_stack([*across, P[:, 1]])
    with pytest.warns(DependenceWarning, match="which hardly shows a direction"):
        model = lowfold.VectorDiffusionMaps(2).fit(X)
    found, right = lost(model.embedding_, _connected(X)), lost(P, _connected(X))
    assert found is not None
    assert right is not None
    assert found.share < LOST
    assert right.square < 0.2 * right.usual
