"""New points far from all training points are told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import datasets

import lowfold
from lowfold.errors import AccuracyWarning, LowfoldWarning

METHODS = ["Isomap", "ConformalIsomap", "LTSA", "LLE", "LaplacianEigenmaps", "DiffusionMaps", "KernelPCA", "MetricMDS"]


@pytest.mark.parametrize("name", METHODS)
def test_rows_that_were_not_scaled_as_the_training_data_are_told(name: str) -> None:
    X = lowfold.datasets.s_curve(150, random_state=51).X
    new = lowfold.datasets.s_curve(20, random_state=52).X
    model = getattr(lowfold, name)(2).fit(X)
    with pytest.warns(AccuracyWarning, match=rf"\d+ of 20 new points are far from all that {name} was fitted on"):
        model.transform(1000 * new)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowfoldWarning)
        model.transform(new)


def test_distances_to_training_points_tell_it_too() -> None:
    X = lowfold.datasets.s_curve(100, random_state=53).X
    model = lowfold.Isomap(2, metric="precomputed", n_neighbors=10).fit(cdist(X, X))
    with pytest.warns(AccuracyWarning, match="3 of 3 new points"):
        model.transform(cdist(X[:3] + 100, X))


@pytest.mark.parametrize("load", ["load_iris", "load_breast_cancer", "load_diabetes", "load_digits"])
@pytest.mark.parametrize("seed", [1, 2])
def test_new_rows_of_the_same_table_are_not_told(load: str, seed: int) -> None:
    X = getattr(datasets, load)().data[:500]
    rows = np.random.default_rng(seed).permutation(len(X))
    cut = int(0.7 * len(X))
    model = lowfold.KernelPCA(2).fit(X[rows[:cut]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowfoldWarning)
        model.transform(X[rows[cut:]])


def test_a_few_outliers_among_many_are_not_told() -> None:
    X = lowfold.datasets.s_curve(150, random_state=54).X
    new = np.vstack([lowfold.datasets.s_curve(99, random_state=55).X, [[50.0, 50.0, 50.0]]])
    model = lowfold.Isomap(2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowfoldWarning)
        model.transform(new)
    with pytest.warns(AccuracyWarning, match="1 of 1 new points"):
        model.transform(new[-1:])
