"""Closed-form eigenvalues against finite differences, residuals and Weyl's law."""

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

from lowfold._core.errors import InvalidInput
from lowfold.geometry import Box
from lowfold.geometry._derivatives import jet
from lowfold.geometry._manifolds import circle
from lowfold.geometry._operators import laplace_beltrami
from lowfold.geometry._spectra import (
    circle_eigenfunctions,
    circle_eigenvalues,
    flat_torus_eigenvalues,
    interval_eigenfunctions,
    interval_eigenvalues,
    rectangle_eigenfunctions,
    rectangle_eigenvalues,
    rectangle_modes,
    sphere_eigenvalues,
)


def by_differences(n, length, boundary, a=1.0, cells=2000):
    """-u'' on cell centres; ghost cells carry the boundary condition."""
    h = length / cells
    diagonal, off = np.full(cells, 2.0), np.full(cells - 1, -1.0)
    ghost = {"neumann": 1.0, "dirichlet": -1.0, "robin": (2 - a * h) / (2 + a * h)}[boundary]
    diagonal[[0, -1]] -= ghost
    return eigh_tridiagonal(diagonal / h**2, off / h**2, select="i", select_range=(0, n - 1))[0]


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet", "robin"])
@pytest.mark.parametrize("length", [np.pi, 2.5])
def test_interval_eigenvalues_against_finite_differences(boundary, length):
    exact = interval_eigenvalues(6, length, boundary, a=0.7)
    np.testing.assert_allclose(by_differences(6, length, boundary, 0.7), exact, rtol=2e-5, atol=1e-6)
    assert np.all(np.diff(exact) > 0)


def test_interval_of_length_pi():
    np.testing.assert_allclose(interval_eigenvalues(5), [0, 1, 4, 9, 16])
    np.testing.assert_allclose(interval_eigenvalues(4, boundary="dirichlet"), [1, 4, 9, 16])
    # Robin lies between Neumann and Dirichlet and moves from one to the other.
    for a in (1e-6, 1.0, 1e6):
        robin = interval_eigenvalues(4, boundary="robin", a=a)
        assert np.all(robin > interval_eigenvalues(4))
        assert np.all(robin < interval_eigenvalues(4, boundary="dirichlet"))
    np.testing.assert_allclose(robin, interval_eigenvalues(4, boundary="dirichlet"), rtol=1e-5)


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
def test_interval_eigenfunctions_solve_the_problem(boundary):
    L, n = 2.0, 5
    x, w = Box.of((0, L)).quadrature(60)
    phi = interval_eigenfunctions(x[:, 0], n, L, boundary)
    np.testing.assert_allclose(phi.T @ (w[:, None] * phi), np.eye(n), atol=1e-12)
    inner = np.linspace(0.2, 1.8, 7)[:, None]
    at = jet(lambda u: interval_eigenfunctions(u[:, 0], n, L, boundary), inner)
    np.testing.assert_allclose(-at.second[..., 0, 0], interval_eigenvalues(n, L, boundary) * at.value, atol=1e-8)
    ends = jet(lambda u: interval_eigenfunctions(u[:, 0], n, L, boundary), [[0.0], [L]])
    np.testing.assert_allclose(ends.first[..., 0] if boundary == "neumann" else ends.value, 0, atol=1e-11)


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
@pytest.mark.parametrize("lengths", [(1.0, 2.0), (np.pi, np.pi), (1.0, 1.5, 0.7), (3.0,)])
def test_rectangle_eigenvalues_are_the_smallest_sums(boundary, lengths):
    n, first = 25, int(boundary == "dirichlet")
    axes = [(np.pi * np.arange(first, 30) / L) ** 2 for L in lengths]
    every = axes[0]
    for other in axes[1:]:
        every = np.add.outer(every, other).ravel()
    np.testing.assert_allclose(rectangle_eigenvalues(n, lengths, boundary), np.sort(every)[:n], atol=1e-12)
    values, modes = rectangle_modes(n, lengths, boundary)
    np.testing.assert_allclose(np.sum((np.pi * modes / lengths) ** 2, axis=1), values)
    assert len({tuple(m) for m in modes}) == n


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
def test_rectangle_eigenfunctions_are_orthonormal_and_solve_the_problem(boundary):
    lengths, n = (1.0, 1.5), 8
    x, w = Box.of((0, 1), (0, 1.5)).quadrature(30)
    phi = rectangle_eigenfunctions(x, n, lengths, boundary)
    np.testing.assert_allclose(phi.T @ (w[:, None] * phi), np.eye(n), atol=1e-11)
    at = jet(lambda u: rectangle_eigenfunctions(u, n, lengths, boundary), x[100:110])
    np.testing.assert_allclose(
        -np.trace(at.second, axis1=2, axis2=3), rectangle_eigenvalues(n, lengths, boundary) * at.value, atol=1e-6
    )


def test_circle_eigenvalues_and_functions():
    np.testing.assert_allclose(circle_eigenvalues(6), [0, 1, 1, 4, 4, 9])
    np.testing.assert_allclose(circle_eigenvalues(3, radius=2.0), [0, 0.25, 0.25])
    ring, r = circle(2.0).chart, 2.0
    u, w = ring.domain.quadrature(40)
    phi = circle_eigenfunctions(u[:, 0], 6, r)
    np.testing.assert_allclose(phi.T @ (r * w[:, None] * phi), np.eye(6), atol=1e-12)
    for j in range(6):
        f = lambda v, j=j: circle_eigenfunctions(v[:, 0], 6, r)[:, j]  # noqa: E731
        np.testing.assert_allclose(-laplace_beltrami(ring, f, u), circle_eigenvalues(6, r)[j] * f(u), atol=1e-9)


def test_flat_torus_eigenvalues_count_every_integer_vector():
    lengths = (2.0, 3.0)
    j = np.arange(-12, 13)
    every = np.add.outer((2 * np.pi * j / 2) ** 2, (2 * np.pi * j / 3) ** 2)
    np.testing.assert_allclose(flat_torus_eigenvalues(60, lengths), np.sort(every, axis=None)[:60], atol=1e-12)
    np.testing.assert_allclose(flat_torus_eigenvalues(9), [0, 1, 1, 1, 1, 2, 2, 2, 2])


def test_sphere_eigenvalues_have_their_multiplicities():
    values, counts = np.unique(sphere_eigenvalues(49), return_counts=True)
    np.testing.assert_array_equal(values, [degree * (degree + 1) for degree in range(7)])
    np.testing.assert_array_equal(counts, 2 * np.arange(7) + 1)
    values, counts = np.unique(sphere_eigenvalues(55, dim=3), return_counts=True)
    np.testing.assert_array_equal(values, [degree * (degree + 2) for degree in range(5)])
    np.testing.assert_array_equal(counts, np.arange(1, 6) ** 2)
    np.testing.assert_allclose(sphere_eigenvalues(7, radius=2.0, dim=1), circle_eigenvalues(7, radius=2.0))


@pytest.mark.parametrize(
    ("values", "area"),
    [(flat_torus_eigenvalues(4000, (1.0, 2.0)), 2.0), (sphere_eigenvalues(4000), 4 * np.pi)],
)
def test_weyls_law_counts_them_all(values, area):
    assert len(values) / values[-1] * 4 * np.pi / area == pytest.approx(1, rel=0.03)


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="boundary"):
        interval_eigenvalues(3, boundary="free")
    with pytest.raises(InvalidInput, match="n must"):
        circle_eigenvalues(0)
    with pytest.raises(InvalidInput, match="lengths"):
        flat_torus_eigenvalues(3, ())
    with pytest.raises(InvalidInput, match="dim"):
        sphere_eigenvalues(3, dim=0)
