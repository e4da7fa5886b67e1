"""Weights of axes recovered from planted data."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold.optimize._indscal import individual_scaling, joint_diagonaliser


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [2, 3, 4])
def test_one_rotation_diagonalises_all(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(d, d)))[0]
    C = np.stack([R @ np.diag(rng.random(d)) @ R.T for _ in range(5)])
    found = joint_diagonaliser(C)
    assert np.allclose(found.T @ found, np.eye(d))
    turned = found.T @ C @ found
    assert np.abs(turned * (1 - np.eye(d))).max() < 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_never_gets_worse_and_weights_are_not_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    X -= X.mean(axis=0)
    B = np.stack([(X * w) @ X.T for w in rng.random((4, 2))]) + 0.3 * rng.normal(size=(4, 20, 20))
    B = (B + B.transpose(0, 2, 1)) / 2
    found = individual_scaling(B, X @ np.linalg.qr(rng.normal(size=(2, 2)))[0])
    assert (np.diff(found.history) >= -1e-12).all()
    assert (found.weights >= 0).all()
    assert np.allclose(found.weights.mean(axis=0), 1)
