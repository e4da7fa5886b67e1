"""Heat kernels: series against images, mass, semigroup, the equation itself."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import Box
from lowfold.geometry._closed import great_circle_distance
from lowfold.geometry._derivatives import jet
from lowfold.geometry._heat import (
    circle_heat_kernel,
    flat_torus_heat_kernel,
    gaussian_heat_kernel,
    interval_heat_kernel,
    rectangle_heat_kernel,
    sphere_heat_kernel,
)
from lowfold.geometry._manifolds import sphere
from lowfold.geometry._spectra import (
    circle_eigenfunctions,
    circle_eigenvalues,
    interval_eigenfunctions,
    interval_eigenvalues,
)

TIMES = [0.003, 0.05, 0.4, 2.0]


@pytest.mark.parametrize("t", [0.05, 0.5])
@pytest.mark.parametrize("m", [1, 2])
def test_gaussian_has_mass_one_and_is_a_semigroup(t, m):
    grid, w = Box.of(*[(-12.0, 12.0)] * m, periodic=True).quadrature(240)
    k = gaussian_heat_kernel(grid, np.zeros(m), t)
    assert w @ k == pytest.approx(1, abs=1e-12)
    y = np.full(m, 0.7)
    twice = w @ (gaussian_heat_kernel(grid, np.zeros(m), t) * gaussian_heat_kernel(y, grid, 2 * t))
    assert twice == pytest.approx(float(gaussian_heat_kernel(y, np.zeros(m), 3 * t)), rel=1e-10)
    assert w @ (k * grid[:, 0] ** 2) == pytest.approx(2 * t, rel=1e-10)  # variance 2 t


def test_gaussian_solves_the_heat_equation():
    def u(z):  # columns x, y, t
        return np.array([float(gaussian_heat_kernel(row[:2], [0.0, 0.0], row[2])) for row in z])

    at = jet(u, np.array([[0.3, 0.5, 1.0], [-1.0, 0.2, 0.7]]))
    np.testing.assert_allclose(at.first[:, 2], at.second[:, 0, 0] + at.second[:, 1, 1], atol=1e-9)


@pytest.mark.parametrize("t", TIMES)
def test_series_and_images_are_one_function(t):
    x, y = np.random.default_rng(0).uniform(0, 2, (2, 9))
    for kernel in (
        lambda method: circle_heat_kernel(x, y, t, 3.0, method),
        lambda method: interval_heat_kernel(x, y, t, 2.0, "neumann", method),
        lambda method: interval_heat_kernel(x, y, t, 2.0, "dirichlet", method),
    ):
        np.testing.assert_allclose(kernel("series"), kernel("images"), atol=1e-11)
        np.testing.assert_allclose(kernel("auto"), kernel("series"), atol=1e-11)


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_sphere_series_and_images_are_one_function(t, radius):
    d = radius * np.array([0.0, 1e-6, 1e-3, 0.5, 1.5, 3.0, np.pi - 1e-6, np.pi])
    series, images = (sphere_heat_kernel(d, t, radius, method) for method in ("series", "images"))
    np.testing.assert_allclose(series, images, atol=1e-11)


def test_circle_and_interval_kernels_are_their_eigenfunction_series():
    t, x, y = 0.2, np.array([0.3, 1.0, 2.5]), np.array([0.1, 2.0, 2.4])
    decay = np.exp(-t * circle_eigenvalues(61))
    expected = np.sum(circle_eigenfunctions(x, 61) * decay * circle_eigenfunctions(y, 61), axis=1)
    np.testing.assert_allclose(circle_heat_kernel(x, y, t), expected, atol=1e-12)
    for boundary in ("neumann", "dirichlet"):
        decay = np.exp(-t * interval_eigenvalues(40, np.pi, boundary))
        phi, psi = (interval_eigenfunctions(z, 40, np.pi, boundary) for z in (x, y))
        np.testing.assert_allclose(
            interval_heat_kernel(x, y, t, boundary=boundary), np.sum(phi * decay * psi, axis=1), atol=1e-12
        )


@pytest.mark.parametrize("t", [0.02, 0.3, 5.0])
def test_mass_is_kept_by_neumann_and_closed_manifolds_and_lost_by_dirichlet(t):
    x, w = Box.of((0, np.pi)).quadrature(80)
    assert w @ interval_heat_kernel(x[:, 0], 0.4, t) == pytest.approx(1, abs=1e-10)
    assert w @ interval_heat_kernel(x[:, 0], 0.4, t, boundary="dirichlet") < 1
    x, w = Box.of((0, 2 * np.pi), periodic=True).quadrature(80)
    assert w @ circle_heat_kernel(x[:, 0], 0.4, t) == pytest.approx(1, abs=1e-10)
    theta, w = Box.of((0, np.pi)).quadrature(80)
    assert 2 * np.pi * (w * np.sin(theta[:, 0])) @ sphere_heat_kernel(theta[:, 0], t) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("s", "t"), [(0.1, 0.2), (0.4, 0.05)])
def test_semigroup(s, t):
    z, w = Box.of((0, np.pi)).quadrature(80)
    for boundary in ("neumann", "dirichlet"):
        k = lambda a, b, time, boundary=boundary: interval_heat_kernel(a, b, time, boundary=boundary)  # noqa: E731
        assert w @ (k(0.3, z[:, 0], s) * k(z[:, 0], 2.0, t)) == pytest.approx(float(k(0.3, 2.0, s + t)), abs=1e-10)
    z, w = Box.of((0, 2 * np.pi), (0, 3.0), periodic=True).quadrature(60)
    a, b, sides = np.array([0.1, 0.4]), np.array([2.0, 1.0]), (2 * np.pi, 3.0)
    twice = w @ (flat_torus_heat_kernel(a, z, s, sides) * flat_torus_heat_kernel(z, b, t, sides))
    assert twice == pytest.approx(float(flat_torus_heat_kernel(a, b, s + t, sides)), abs=1e-10)


def test_semigroup_on_the_sphere():
    p, q = np.array([0.0, 0.0, 1.0]), np.array([0.6, 0.0, 0.8])
    grid, w = Box.of((-1, 1), (0, 2 * np.pi), periodic=[False, True]).quadrature(60)
    ring = np.sqrt(1 - grid[:, 0] ** 2)
    x = np.column_stack([ring * np.cos(grid[:, 1]), ring * np.sin(grid[:, 1]), grid[:, 0]])
    k = lambda a, b, t: sphere_heat_kernel(great_circle_distance(a, b), t)  # noqa: E731
    assert w @ (k(p, x, 0.2) * k(x, q, 0.1)) == pytest.approx(float(k(p, q, 0.3)), abs=1e-10)
    assert sphere().is_simple is False


def test_long_and_short_times():
    assert float(circle_heat_kernel(0.0, 2.0, 80.0)) == pytest.approx(1 / (2 * np.pi), rel=1e-12)
    assert float(sphere_heat_kernel(1.0, 40.0)) == pytest.approx(1 / (4 * np.pi), rel=1e-12)
    t, d = 1e-3, np.array([0.0, 0.05, 0.1])
    flat = np.exp(-(d**2) / (4 * t)) / (4 * np.pi * t)
    # First correction of the sphere: sqrt(d / sin d) (1 + t / 3 + ...)
    np.testing.assert_allclose(sphere_heat_kernel(d, t), flat * (1 + t / 3) * (1 + d**2 / 12), rtol=1e-4)
    np.testing.assert_allclose(
        circle_heat_kernel(0.0, d, t), np.exp(-(d**2) / (4 * t)) / np.sqrt(4 * np.pi * t), rtol=1e-12
    )


def test_rectangle_kernel_is_the_product_of_its_sides():
    a, b = np.array([[0.3, 0.4]]), np.array([[0.5, 1.2]])
    expected = interval_heat_kernel(0.3, 0.5, 0.1, 1.0, "dirichlet") * interval_heat_kernel(
        0.4, 1.2, 0.1, 2.0, "dirichlet"
    )
    np.testing.assert_allclose(rectangle_heat_kernel(a, b, 0.1, (1.0, 2.0), "dirichlet"), [expected])


def test_duhamel_on_the_circle():
    """u_t = u_xx + cos x, u(0) = 0 has u = (1 - exp(-t)) cos x; the kernel integrates the source."""
    t, x = 0.8, 0.6
    y, w = Box.of((0, 2 * np.pi), periodic=True).quadrature(400)
    m, v = Box.of((0.0, t)).quadrature(24)
    inner = [w @ (circle_heat_kernel(x, y[:, 0], float(time)) * np.cos(y[:, 0])) for time in m[:, 0]]
    assert v @ np.array(inner) == pytest.approx((1 - np.exp(-t)) * np.cos(x), abs=1e-9)


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="t must"):
        circle_heat_kernel(0.0, 1.0, 0.0)
    with pytest.raises(InvalidInput, match="method"):
        circle_heat_kernel(0.0, 1.0, 1.0, method="fast")
    with pytest.raises(InvalidInput, match="boundary"):
        interval_heat_kernel(0.0, 1.0, 1.0, boundary="open")
    with pytest.raises(InvalidInput, match="distance"):
        sphere_heat_kernel([4.0], 1.0)
