"""Rows with many more columns than there are rows, turned into a basis of their own."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold.graph._source import WIDE, WIDE_ROWS, Points
from lowfold.metrics._resolve import resolve_metric

EUCLIDEAN = resolve_metric("euclidean", None, None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_differences_are_those_of_the_rows(dtype: type, offset: float) -> None:
    X = (np.random.default_rng(0).standard_normal((40, 200)) + offset).astype(dtype)
    F = Points(X, EUCLIDEAN).turned
    assert F.shape == (40, 40)
    V, W = X[1:].astype(np.float64) - X[0], F[1:] - F[0]
    assert np.allclose(W @ W.T, V @ V.T, rtol=0, atol=1e-14 * max(1.0, offset) * np.abs(V @ V.T).max() * 100)


def test_a_far_row_costs_the_others_no_digits() -> None:
    X = np.random.default_rng(1).standard_normal((20, 100))
    X[7] *= 1e12
    F = Points(X, EUCLIDEAN).turned
    others = np.setdiff1d(np.arange(20), 7)
    assert np.allclose(F[others] @ F[others].T, X[others] @ X[others].T, rtol=0, atol=1e-11)


def test_equal_rows_stay_equal() -> None:
    X = np.random.default_rng(2).standard_normal((30, 90))
    X[[5, 29]] = X[[0, 1]]
    F = Points(X, EUCLIDEAN).turned
    assert (F[5] == F[0]).all()
    assert (F[29] == F[1]).all()


@pytest.mark.parametrize("shape", [(50, 50 * WIDE - 1), (WIDE_ROWS + 1, 3)])
def test_others_stay_as_they_are(shape: tuple[int, int]) -> None:
    X = np.zeros(shape)
    assert Points(X, EUCLIDEAN).turned.shape == shape


@pytest.mark.parametrize("name", ["LLE", "ModifiedLLE", "LTSA", "HessianLLE", "LaplacianEigenmaps", "Isomap"])
def test_pictures_of_a_surface_are_embedded_as_the_surface(name: str) -> None:
    """Rows turned and padded by an orthogonal map of many columns: the same distances, hence the same embedding."""
    rng = np.random.default_rng(3)
    surface = lowfold.datasets.s_curve(300, random_state=3)
    Q = np.linalg.qr(rng.standard_normal((700, 3)))[0]
    model = getattr(lowfold, name)(2, n_neighbors=12)
    flat, wide = (np.asarray(model.fit_transform(X)) for X in (surface.X, surface.X @ Q.T))
    wide *= np.sign((flat * wide).sum(axis=0))
    assert np.allclose(flat, wide, atol=1e-6 * np.abs(flat).max())
    model.fit(surface.X @ Q.T)
    assert np.allclose(model.transform(surface.X @ Q.T), model.embedding_)
