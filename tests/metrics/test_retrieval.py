"""Retrieval on real images: under a nuisance, the distance that ignores it beats the Euclidean one."""

import numpy as np
import pytest

from lowfold.metrics import pairwise


def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def nearest_is_of_the_same_digit(X, y, metric, params):
    d = pairwise(X, metric=metric, metric_params=params)
    np.fill_diagonal(d, np.inf)
    return float((y[d.argmin(axis=1)] == y).mean())


NUISANCES = [
    ("exposure", "angular", {}),
    ("exposure", "cosine", {}),
    ("background", "derivative", {"shape": (8, 8)}),
    ("background", "correlation", {}),
    ("stripes", "fourier", {"n_terms": 32}),
    ("stripes", "wavelet", {}),
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("nuisance", "metric", "params"), NUISANCES)
def test_the_right_distance_beats_the_euclidean_one(nuisance, metric, params, seed):
    X, y = digits()
    rng = np.random.default_rng(seed)
    spoiled = {
        "exposure": X * rng.uniform(0.2, 3, size=(len(X), 1)),
        "background": X + rng.uniform(0, 20, size=(len(X), 1)),
        "stripes": X + rng.normal(size=(len(X), 1)) * 8 * (-1.0) ** np.arange(64),
    }[nuisance]
    right = nearest_is_of_the_same_digit(spoiled, y, metric, params)
    plain = nearest_is_of_the_same_digit(spoiled, y, "euclidean", None)
    assert right > plain + 0.01
    # the distance is blind to the nuisance, so that nothing is lost against clean images
    assert right >= nearest_is_of_the_same_digit(X, y, metric, params) - 0.01
