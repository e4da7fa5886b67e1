"""Projections and hyperplanes."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry._linear import (
    column_basis,
    column_projector,
    hyperplane_coordinates,
    hyperplane_points,
    row_projector,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_projectors_equal_those_of_the_pseudoinverse_for_any_rank(seed, rank):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 4))
    P = column_projector(X)
    np.testing.assert_allclose(P, X @ np.linalg.pinv(X), atol=1e-11)
    np.testing.assert_allclose(row_projector(X), np.linalg.pinv(X) @ X, atol=1e-11)
    np.testing.assert_allclose(P @ P, P, atol=1e-13)
    np.testing.assert_allclose(P, P.T, atol=1e-15)
    assert column_basis(X).shape == (6, rank)
    # Left singular vectors span the same space, right ones the row space.
    U, _, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(U[:, :rank] @ U[:, :rank].T, P, atol=1e-11)
    np.testing.assert_allclose(Vt[:rank].T @ Vt[:rank], row_projector(X), atol=1e-11)
    if rank == 4:
        np.testing.assert_allclose(X @ np.linalg.inv(X.T @ X) @ X.T, P, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_hyperplane_coordinates_and_the_isometry_back(seed):
    rng = np.random.default_rng(seed)
    B, a, y = column_basis(rng.normal(size=(5, 2))), rng.normal(size=5), rng.normal(size=(6, 2))
    x = hyperplane_points(y, a, B)
    np.testing.assert_allclose(hyperplane_coordinates(x, a, B), y, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(x[0] - x[1:], axis=1), np.linalg.norm(y[0] - y[1:], axis=1), rtol=1e-12)
    off = x + 0.7 * (np.eye(5) - B @ B.T)[0]  # a normal shift does not change the coordinates
    np.testing.assert_allclose(hyperplane_coordinates(off, a, B), y, atol=1e-13)


def test_dimension_is_kept_by_shift_dilation_and_rotation():
    rng = np.random.default_rng(0)
    B = column_basis(rng.normal(size=(5, 2)))
    x = hyperplane_points(rng.normal(size=(9, 2)), rng.normal(size=5), B)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for moved in (x + 3.0, -2.5 * x, x @ rotation.T):
        assert column_basis((moved - moved[0]).T).shape[1] == 2


def test_zero_matrix_and_bad_arguments():
    assert column_basis(np.zeros((3, 2))).shape == (3, 0)
    np.testing.assert_array_equal(column_projector(np.zeros((3, 2))), np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="matrix"):
        column_basis([1.0, 2.0])
    with pytest.raises(InvalidInput, match="orthonormal"):
        hyperplane_points([[1.0]], [0.0, 0.0], [[1.0], [1.0]])
