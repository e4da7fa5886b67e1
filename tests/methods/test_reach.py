"""The automatic scale: sparse tails and outliers stay attached, and alpha = 1 takes an uneven density out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning, ShortcutWarning
from lowfold.graph._reach import REGULAR, common_reach, own_reach
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.methods._walk_measure import PASSES_ALONG
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral._held import held_columns

PROFILES = {
    "wave": lambda a: 1 + 0.8 * np.cos(a),
    "bump": lambda a: 1 + 8 * np.exp(-(((a - 3) / 0.4) ** 2)),
    "step": lambda a: np.where(a < np.pi, 1.0, 6.0),
}


def uneven_circle(n: int, seed: int, profile: str) -> tuple[np.ndarray, np.ndarray]:
    grid = np.linspace(0, 2 * np.pi, 5001)
    mass = np.cumsum(PROFILES[profile](grid))
    angle = np.interp(np.random.default_rng(seed).random(n), mass / mass[-1], grid)
    return np.column_stack([np.cos(angle), np.sin(angle)]), angle


def angle_error(Y: np.ndarray, angle: np.ndarray) -> float:
    """Mean error after the best rotation and reflection."""
    found, errors = np.arctan2(Y[:, 1], Y[:, 0]), []
    for sign in (1, -1):
        turn = np.exp(1j * (sign * found - angle))
        errors.append(np.abs(np.angle(turn / turn.mean())).mean())
    return float(min(errors))


@pytest.mark.parametrize("seed", [31, 32])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_density_is_taken_out_of_a_circle(profile: str, seed: int) -> None:
    X, angle = uneven_circle(1500, seed, profile)
    assert angle_error(lowfold.DiffusionMaps(2).fit(X).embedding_, angle) < 0.08
    with pytest.warns(AccuracyWarning, match="is cut at neighbour 40"):
        cut = lowfold.DiffusionMaps(2, n_neighbors=40).fit(X)
    assert angle_error(cut.embedding_, angle) > 0.2  # a kernel cut at the k-th neighbour keeps the density


@pytest.mark.parametrize("k", [10, 40])
@pytest.mark.parametrize("ratio", [10, 20])
def test_a_density_that_few_points_show_is_told(ratio: int, k: int) -> None:
    """Half of the circle has one point in 11 or 21: no tenth of the points, but half of the volume."""
    rng = np.random.default_rng(35)
    dense = rng.random(800) < ratio / (ratio + 1)
    angle = np.pi * (rng.random(800) + ~dense)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(AccuracyWarning, match=f"is cut at neighbour {k}"):
        cut = lowfold.DiffusionMaps(2, n_neighbors=k).fit(X)
    assert angle_error(cut.embedding_, angle) > 0.5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [36, 37])
def test_an_even_sheet_keeps_no_density(seed: int) -> None:
    """At its border neighbours are farther, which is no density."""
    X = np.random.default_rng(seed).random((400, 2)) * [1.5, 1.0]
    lowfold.DiffusionMaps(2, n_neighbors=10).fit(X)


@pytest.mark.parametrize("seed", [1200, 1204, 1209])  # somewhere ten neighbours are all on one side of a gap
def test_a_circle_of_many_points_is_closed(seed: int) -> None:
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, 3000)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    assert angle_error(lowfold.DiffusionMaps(2).fit(X).embedding_, angle) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_the_reach_of_a_curve_stays_on_its_winding(seed: int) -> None:
    turns = 6 * np.pi * np.sort(np.random.default_rng(seed).random(300))
    graph = lowfold.DiffusionMaps(2).fit(np.column_stack([np.cos(turns), np.sin(turns), 0.12 * turns])).graph_
    assert np.abs(turns[graph.rows()] - turns[graph.indices]).max() < np.pi


def test_the_complete_kernel_has_a_scale_that_it_can_use() -> None:
    X, angle = uneven_circle(800, 33, "wave")
    model = lowfold.DiffusionMaps(2, threshold=0.0).fit(X)
    assert angle_error(model.embedding_, angle) < 0.15
    assert model.scale_ > 1e-3


def tailed_sheet(seed: int, tail: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(500, 2)) if tail == "gauss" else rng.standard_t(2.5, size=(500, 2))
    return np.column_stack([1.4 * U[:, 0], U[:, 1], 0.05 * U[:, 0] ** 2])


@pytest.mark.filterwarnings("ignore:the kernel of DiffusionMaps is cut")  # and rightly: the sheet is uneven
@pytest.mark.parametrize("seed", [41, 42])
@pytest.mark.parametrize("tail", ["gauss", "student"])
@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 8}, {"threshold": 0.0}])
def test_no_coordinate_is_one_point_of_a_tail(tail: str, seed: int, parameters: dict) -> None:
    model = lowfold.DiffusionMaps(2, **parameters).fit(tailed_sheet(seed, tail))
    assert len(held_columns(model.embedding_)) == 0
    assert (model.eigenvalues_ < 1 - 1e-6).all()


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps"])
@pytest.mark.parametrize("seed", [51, 52])
def test_outliers_of_a_table_hold_no_coordinate(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)) * [2, 1, 1, 1, 1]
    X[:4] *= rng.uniform(5, 20, size=(4, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        assert len(held_columns(getattr(lowfold, name)(2).fit(X).embedding_)) == 0
    if name == "DiffusionMaps":
        with pytest.warns(AccuracyWarning, match="points or fewer"):
            assert len(held_columns(lowfold.DiffusionMaps(2, scale="mean").fit(X).embedding_)) > 0


@pytest.mark.parametrize(("name", "exact"), [("LaplacianEigenmaps", 0.1), ("DiffusionMaps", 1e-5)])
def test_new_points_where_the_kernel_is_wider(name: str, exact: float) -> None:
    X = tailed_sheet(43, "student")
    model = getattr(lowfold, name)(2).fit(X)
    assert model.local_scales_.max() > 1
    moved = model.transform(X + 1e-10)
    assert np.abs(moved - model.embedding_).max() < exact * np.abs(model.embedding_).max()
    assert np.allclose((model.operator().dense() - model.operator().dense().T), 0)


def test_reach_suffices_for_nearly_all_points() -> None:
    X = np.random.default_rng(0).random((400, 2))
    source = Points(X, resolve_metric("euclidean", None, None))
    near = nearest(source, 10)
    assert np.isclose((own_reach(near, 10) <= common_reach(source, near, 10)).mean(), REGULAR, atol=0.01)
    repeated = Points(np.ones((400, 2)), resolve_metric("euclidean", None, None))
    assert common_reach(repeated, nearest(repeated, 10), 10) > 0


def test_landmarks_of_repeated_rows_are_different_points() -> None:
    for seed in (0, 1):
        X = np.random.default_rng(seed).normal(size=(90, 3)) * [1, 1, 0.05]
        model = lowfold.LandmarkMVU(2, landmarks=20).fit(np.vstack([X, X[:30]]))
        assert len(np.unique(np.vstack([X, X[:30]])[model.landmarks_], axis=0)) == len(model.landmarks_)
        assert model.reconstruction_error_ < 0.2


@pytest.mark.parametrize("seed", [0, 1])
def test_fields_of_flat_data_tell_places(seed: int) -> None:
    P = np.random.default_rng(seed).random((400, 2)) * [1.4, 1.0]
    X = np.column_stack([P, np.zeros(400)])
    model = lowfold.VectorDiffusionMaps(2, tangent_dim=2).fit(X)
    A = np.column_stack([model.embedding_, np.ones(400)])
    left = P - A @ np.linalg.lstsq(A, P, rcond=None)[0]
    assert (1 - left.var(axis=0) / P.var(axis=0)).min() > 0.7
    with pytest.warns(AccuracyWarning, match="select='independent'"):
        lowfold.VectorDiffusionMaps(2, tangent_dim=2, select="leading").fit(X)


def test_density_of_twenty_to_one_is_taken_out_of_many_points() -> None:
    rng = np.random.default_rng(2013)
    angle = 2 * np.pi * rng.random(30_000)
    angle = angle[rng.random(30_000) < np.where(np.cos(angle) > 0, 1.0, 0.05)][:6000]
    model = lowfold.DiffusionMaps(2).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    assert angle_error(model.embedding_, angle) < 0.08


@pytest.mark.parametrize("seed", [5010, 5011])
@pytest.mark.parametrize("n", [500, 800])
def test_further_passes_take_a_density_of_twenty_to_one_out_of_few_points(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * rng.random(20 * n)
    angle = angle[rng.random(20 * n) < np.where(np.cos(angle) > 0, 1.0, 0.05)][:n]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = lowfold.DiffusionMaps(2).fit(X)
    once = lowfold.DiffusionMaps(2, passes=1).fit(X)
    assert angle_error(model.embedding_, angle) < 0.65 * angle_error(once.embedding_, angle)
    assert (model.passes_, once.passes_) == (PASSES_ALONG, 1)
    assert np.allclose(model.transform(X[:20] + 1e-9), model.embedding_[:20], atol=1e-4)


def test_a_reach_that_crosses_sheets_is_told_where_no_edge_of_neighbours_is() -> None:
    rng = np.random.default_rng(2172)
    angle = np.linspace(1.5 * np.pi, 4.5 * np.pi, 4001)
    step = np.hypot(np.diff(angle * np.cos(angle)), np.diff(angle * np.sin(angle)))
    length = np.concatenate([[0.0], np.cumsum(step)])
    t, y = np.interp(rng.random(700) * length[-1], length, angle), 21 * rng.random(700)
    roll = np.column_stack([t * np.cos(t), y, t * np.sin(t)])
    noise = rng.standard_normal((700, 3))
    with pytest.warns(ShortcutWarning, match="long edges within the reach of DiffusionMaps join points"):
        crossed = lowfold.DiffusionMaps(2, select="independent").fit(roll + 0.8 * noise)
    assert len(crossed.shortcuts_) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShortcutWarning)
        lowfold.DiffusionMaps(2, select="independent").fit(roll + 0.1 * noise)
