"""Principal axes from a sample that passes over all rows correct."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lowfold._core.run import Run
from lowfold.lowrank import _principal, _sampled_axes
from lowfold.lowrank._principal import Axes, principal_axes

N, D = 12_000, 300
FALLING = 100.0 / np.arange(1, D + 1)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sampled_axes, "LEAST", 0)
    monkeypatch.setattr(_principal, "SINGLE", 0)


def rows(seed: int, spectrum: NDArray[np.float64], offset: float = 0.0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(D, len(spectrum))))[0]
    return (rng.normal(size=(N, len(spectrum))) * np.sqrt(spectrum)) @ turn.T + offset * rng.normal(size=D)


def axes_of(X: NDArray[np.floating], k: int, **run: object) -> Axes:
    return principal_axes(X, X.mean(axis=0, dtype=np.float64), k, run=Run(**run))  # type: ignore[arg-type]


def exact(X: NDArray[np.floating], k: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    Xc = X - X.mean(axis=0, dtype=np.float64)
    values, V = np.linalg.eigh(Xc.T @ Xc / (len(X) - 1))
    return values[::-1][:k], V[:, ::-1][:, :k], float(values.sum())


@pytest.mark.parametrize(
    ("seed", "dtype", "offset"), [(0, np.float32, 0.0), (1, np.float64, 3.0), (2, np.float32, 30.0)]
)
def test_they_are_those_of_all_rows(seed: int, dtype: type, offset: float) -> None:
    X = rows(seed, FALLING, offset).astype(dtype)
    one, two = (axes_of(X, 1, n_jobs=jobs) for jobs in (1, 2))
    values, V, total = exact(X, 1)
    assert one.pairs.solver == "sample"
    assert one.pairs.residual <= 1e-6
    assert one.scores is not None
    assert np.allclose(one.pairs.values, values, rtol=1e-10)
    assert np.linalg.norm(one.V - V @ (V.T @ one.V)) < 1e-6
    assert np.isclose(one.total, total, rtol=1e-6)
    assert np.allclose(one.scores, (X - X.mean(axis=0, dtype=np.float64)) @ one.V, atol=1e-8)
    assert np.array_equal(one.V, two.V)
    assert np.array_equal(one.scores, two.scores)


def test_values_that_lie_close_together_are_summed_up_instead() -> None:
    X = rows(3, np.linspace(1.0, 0.9, D)).astype(np.float32)
    found = axes_of(X, 1)
    assert found.pairs.solver == "covariance"
    assert np.allclose(found.pairs.values, exact(X, 1)[0], rtol=1e-8)


@pytest.mark.parametrize("place", [3, 5_000, 11_990])
def test_a_direction_of_one_row_is_found_though_the_sample_does_not_know_it(place: int) -> None:
    X = rows(4, FALLING)
    X[:, :2] = 0.0  # orthogonal to all other rows, which are centred by hand
    X[place] = 0.0
    X -= X.mean(axis=0)
    X[place] = 0.0
    X[place, :2] = 2_000.0
    V = axes_of(X, 1).V[:, 0]
    assert np.allclose(np.abs(V[:2]), np.sqrt(0.5), atol=1e-3)


def test_a_tolerance_that_float32_does_not_tell_is_reached_in_float64() -> None:
    X = rows(5, np.geomspace(1_000, 1e-3, D)).astype(np.float32)
    found = axes_of(X, 1, tol=1e-10)
    assert found.pairs.residual <= 1e-10
    V = exact(X, 1)[1]
    assert np.linalg.norm(found.V - V @ (V.T @ found.V)) < 1e-10


def test_values_beyond_the_range_of_float32_are_left_to_float64() -> None:
    X = (rows(6, FALLING) * 1e22).astype(np.float32)
    found = axes_of(X, 1)
    assert found.pairs.solver == "covariance"
    assert np.allclose(found.pairs.values, exact(X, 1)[0], rtol=1e-8)
