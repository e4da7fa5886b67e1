"""Distances of functions and of truth values that are none are refused or told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold.errors import InvalidInput, RepairWarning
from lowfold.metrics import pairwise

X = np.random.default_rng(5).normal(size=(20, 4))
TRUTH = ["dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


@pytest.mark.parametrize("value", [None, "x", 1j, np.array([1.0]), -1.0, np.nan, np.inf, 1e200, np.float32("inf")])
def test_a_function_that_gives_no_distance(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"one number from 0 to 1e.70 for two rows"):
        pairwise(X, metric=lambda a, b: value)


def test_a_compiled_function_that_gives_no_distance() -> None:
    import numba

    with pytest.raises(InvalidInput, match=r"one number from 0 to 1e.70 for two rows; it gave nan"):
        pairwise(X, metric=numba.njit(lambda a, b: np.nan))


def test_functions_may_give_any_kind_of_number() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (float, np.float32, np.float16, np.asarray, int, bool, np.bool_):
            assert np.array_equal(pairwise(X, metric=lambda a, b, kind=kind: kind(1.0)), 1 - np.eye(20))


@pytest.mark.parametrize("name", TRUTH)
def test_truth_values_of_other_numbers_are_told(name: str) -> None:
    """SciPy's dice of real numbers is negative, which was read as 0."""
    held = np.where(np.abs(X) < 0.6, 0.0, X)
    with pytest.warns(RepairWarning, match="what is not 0 counts as true"):
        D = pairwise(held, metric=name)
    expected = np.nan_to_num(cdist(held != 0, held != 0, name))
    np.fill_diagonal(expected, 0)
    assert np.allclose(D, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(pairwise(held != 0, metric=name), D)


@pytest.mark.parametrize(
    ("metric", "params", "data"),
    [
        ("sqeuclidean", None, X * 1e40),
        ("sqeuclidean", None, (X * 1e22).astype(np.float32)),
        ("mahalanobis", {"M": np.eye(4) * 1e-200}, X),
        ("seuclidean", {"V": np.full(4, 1e-200)}, X),
    ],
)
def test_distances_that_a_metric_takes_out_of_range(metric: str, params: Any, data: Any) -> None:
    with pytest.raises(InvalidInput, match="they cannot be squared and summed"):
        lowfold.ClassicalMDS(2, metric=metric, metric_params=params).fit(data)


def test_parameters_that_are_no_numbers() -> None:
    for metric, params in (("mahalanobis", {"M": "x"}), ("seuclidean", {"V": ["a"]})):
        with pytest.raises(InvalidInput, match="must be an array of numbers"):
            pairwise(X, metric=metric, metric_params=params)
