"""Dimension from the spectrum of maximum variance unfolding."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold import dimension
from lowfold._core.errors import InvalidInput
from lowfold.metrics import pairwise


@pytest.mark.slow
def test_a_roll_is_a_sheet() -> None:
    found = dimension.mvu_spectrum(lowfold.datasets.swiss_roll(1500, random_state=0).X)
    assert found.value == 2
    assert found.told
    assert found.whole
    assert not found.bound
    assert found.note == "400 of 1500 points, evenly spread"
    assert found.interval is None
    assert found.curve is not None
    assert found.curve.sum() == pytest.approx(1)
    assert found.curve[2] < 0.01 < found.curve[1]


def test_a_bent_sheet_unfolds() -> None:
    rng = np.random.default_rng(0)
    t = 3 * rng.random(500)
    X = np.column_stack([np.cos(t), np.sin(t), rng.random(500)])
    found = dimension.mvu_spectrum(X, max_points=120)
    assert found.value == 2
    assert found.note == "120 of 500 points, evenly spread"
    assert dimension.linear(X, rule="energy", share=0.99).value == 3


def test_flat_data_and_matrices() -> None:
    rng = np.random.default_rng(0)
    X = np.pad(rng.random((150, 2)), ((0, 0), (0, 3)))
    given = dimension.mvu_spectrum(pairwise(X), metric="precomputed", n_resamples=2)
    assert given.value == dimension.mvu_spectrum(X).value == 2
    assert given.interval is not None
    assert given.interval[0] <= 2 <= given.interval[1]
    assert dimension.mvu_spectrum(np.linspace(0, 1, 40)[:, None]).value == 1


def test_a_circle_does_not_open() -> None:
    t = 2 * np.pi * np.arange(80) / 80
    found = dimension.mvu_spectrum(np.column_stack([np.cos(t), np.sin(t)]), 2)
    assert found.value == 2


def test_what_it_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    assert "too few" in str(dimension.mvu_spectrum(rng.random((5, 2))).reason)
    assert "span 4 directions" in str(dimension.mvu_spectrum(rng.normal(size=(100, 30))).reason)
    pieces = np.r_[rng.random((60, 2)), rng.random((30, 2)) + 50]
    assert "its largest, 67%" in str(dimension.mvu_spectrum(pieces).reason)
    with pytest.raises(InvalidInput, match="share"):
        dimension.mvu_spectrum(pieces, share=0.0)
