"""Isotonic regression against scikit-learn's, and disparities by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from lowfold._core.errors import InvalidInput
from lowfold.optimize import isotonic
from lowfold.optimize._isotonic import LONG_RUNS, Ranking


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=200) + np.linspace(0, 2, 200), rng.random(200) + 0.1
    assert np.allclose(isotonic(y), IsotonicRegression().fit_transform(np.arange(200), y))
    assert np.allclose(isotonic(y, w), IsotonicRegression().fit_transform(np.arange(200), y, sample_weight=w))


def test_a_cliff_moves_up_one_block_at_a_time() -> None:
    y = np.append(np.arange(200.0), 0.0)
    assert np.allclose(isotonic(y), IsotonicRegression().fit_transform(np.arange(201), y))


def test_known_answers() -> None:
    assert isotonic([3.0, 2.0, 1.0]).tolist() == [2.0, 2.0, 2.0]
    assert isotonic([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0]
    assert isotonic([4.0, 0.0], [1.0, 3.0]).tolist() == [1.0, 1.0]
    with pytest.raises(InvalidInput, match="above 0"):
        isotonic([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(InvalidInput, match="one length"):
        isotonic([1.0, 2.0], [1.0])


@pytest.mark.parametrize("seed", range(3))
def test_secondary_ties_get_equal_disparities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    delta, d = rng.integers(0, 6, size=100).astype(float), rng.random(100)
    fitted = Ranking.of(delta, "secondary").disparities(d)
    assert np.allclose(fitted, IsotonicRegression().fit_transform(delta, d))
    for value in range(6):
        assert np.ptp(fitted[delta == value]) < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_primary_ties_fit_at_least_as_well_and_keep_the_order_between_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    delta, d = rng.integers(0, 6, size=100).astype(float), rng.random(100)
    primary, secondary = (Ranking.of(delta, ties).disparities(d) for ties in ("primary", "secondary"))
    assert ((primary - d) ** 2).sum() <= ((secondary - d) ** 2).sum()
    for value in range(5):
        assert primary[delta == value].max() <= primary[delta == value + 1].min() + 1e-12


def test_distances_in_order_are_their_own_disparities() -> None:
    delta = np.array([5.0, 1.0, 3.0])
    assert Ranking.of(delta, "primary").disparities(delta**2).tolist() == (delta**2).tolist()


def test_long_runs_of_equal_dissimilarities_are_fitted_as_by_the_definition() -> None:
    rng = np.random.default_rng(7)
    n = LONG_RUNS + 1
    delta, d = rng.integers(0, 40, size=n).astype(float), rng.random(n) * 1e6
    order = np.lexsort((d, delta))
    expected = np.empty(n)
    expected[order] = isotonic(d[order])
    assert np.allclose(Ranking.of(delta, "primary").disparities(d), expected, rtol=1e-9)
    assert (Ranking.of(delta, "primary").disparities(np.zeros(n)) == 0).all()
