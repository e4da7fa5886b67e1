"""Principal axes by every route."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.run import Run
from lowfold.lowrank import principal_axes

ROUTES = ("covariance", "gram", "svd")


@pytest.mark.parametrize("route", ["auto", *ROUTES])
@pytest.mark.parametrize("shape", [(50, 6), (6, 50), (20, 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_route_gives_the_axes_of_the_svd(route: str, shape: tuple[int, int], dtype: type) -> None:
    X = (np.random.default_rng(1).normal(size=shape) * np.arange(1, shape[1] + 1) + 3).astype(dtype)
    mean = X.mean(axis=0, dtype=np.float64)
    axes = principal_axes(X, mean, 3, run=Run(solver=route))
    s, Vt = np.linalg.svd(X - mean)[1:]
    np.testing.assert_allclose(axes.pairs.values, s[:3] ** 2 / (shape[0] - 1), rtol=1e-6)
    np.testing.assert_allclose(axes.total, (s**2).sum() / (shape[0] - 1), rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(axes.V * Vt[:3].T, axis=0)), 1.0, atol=1e-6)
    np.testing.assert_allclose(axes.V.T @ axes.V, np.eye(3), atol=1e-6)


def test_auto_keeps_directions_that_a_gram_matrix_would_lose() -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    U = np.linalg.qr(rng.normal(size=(40, 5)) - 0.0)[0]
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    s = np.array([1.0, 1e-2, 1e-9, 1e-10, 1e-11])
    X = (U * s) @ Q.T
    axes = principal_axes(X, X.mean(axis=0), 3)
    np.testing.assert_allclose(axes.pairs.values, s[:3] ** 2 / 39, rtol=1e-4)
    np.testing.assert_allclose(np.abs(np.sum(axes.V * Q[:, :3], axis=0)), 1.0, atol=1e-6)
