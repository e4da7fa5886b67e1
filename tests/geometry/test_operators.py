"""Gradient, divergence, Hessian, Laplace-Beltrami and Green's identities."""

import numpy as np
import pytest

from lowfold.geometry import Box, Chart, Manifold, divergence, gradient, hessian, integrate, metric_tensor
from lowfold.geometry._curvature import volume_density
from lowfold.geometry._integrals import dirichlet_energy, integrate_density
from lowfold.geometry._manifolds import flat_torus, plane, sphere, swiss_roll, torus
from lowfold.geometry._operators import laplace_beltrami
from lowfold.geometry._spectra import sphere_harmonics


def polar_sphere():
    return Chart(
        lambda u: np.column_stack(
            [np.sin(u[:, 0]) * np.cos(u[:, 1]), np.sin(u[:, 0]) * np.sin(u[:, 1]), np.cos(u[:, 0])]
        ),
        Box.of((0.2, 2.9), (0, 2 * np.pi), periodic=[False, True]),
    )


def nodes(chart, order=6):
    return chart.domain.quadrature(order)[0]


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_spherical_harmonics_are_eigenfunctions(degree, radius):
    for chart in (*sphere(radius).charts, *([polar_sphere()] if radius == 1 else [])):
        u = nodes(chart)
        for m in range(2 * degree + 1):
            f = chart.restrict(lambda x, m=m: sphere_harmonics(x, degree)[:, m])
            expected = -degree * (degree + 1) / radius**2 * f(u)
            np.testing.assert_allclose(laplace_beltrami(chart, f, u), expected, atol=2e-6)


def test_stereographic_laplacian_is_the_flat_one_rescaled():
    chart = sphere().chart
    u = nodes(chart)
    f = lambda v: np.exp(0.3 * v[:, 0]) * np.cos(v[:, 1])  # noqa: E731
    flat = (0.09 - 1) * f(u)
    np.testing.assert_allclose(laplace_beltrami(chart, f, u), (1 + np.sum(u**2, axis=1)) ** 2 / 4 * flat, atol=1e-8)


def test_flat_coordinates_give_the_usual_formulas():
    chart = swiss_roll(coordinates="arclength").chart
    u = nodes(chart)
    f = lambda v: np.sin(v[:, 0]) * v[:, 1] ** 2  # noqa: E731
    s, c, h = np.sin(u[:, 0]), np.cos(u[:, 0]), u[:, 1]
    np.testing.assert_allclose(gradient(chart, f, u), np.column_stack([c * h**2, 2 * s * h]), atol=1e-7)
    np.testing.assert_allclose(laplace_beltrami(chart, f, u), -s * h**2 + 2 * s, atol=1e-6)
    expected = np.array([[-s * h**2, 2 * c * h], [2 * c * h, 2 * s]]).transpose(2, 0, 1)
    np.testing.assert_allclose(hessian(chart, f, u), expected, atol=1e-6)


def test_divergence_in_spherical_coordinates():
    chart = polar_sphere()
    u = nodes(chart)
    X = lambda v: np.column_stack([np.sin(v[:, 0]) ** 2, np.cos(v[:, 1])])  # noqa: E731
    # (1 / sin t) d_t (sin^3 t) + d_p cos p
    expected = 3 * np.sin(u[:, 0]) * np.cos(u[:, 0]) - np.sin(u[:, 1])
    np.testing.assert_allclose(divergence(chart, X, u), expected, atol=1e-9)


def test_divergence_and_laplacian_agree_with_the_formula_with_root_det():
    chart = torus().chart
    u = nodes(chart)
    f = lambda v: np.sin(v[:, 0] + 2 * v[:, 1])  # noqa: E731
    grad = lambda v: gradient(chart, f, v)  # noqa: E731
    np.testing.assert_allclose(divergence(chart, grad, u), laplace_beltrami(chart, f, u), atol=1e-7)
    flat = Chart(lambda v: v, chart.domain)
    by_density = divergence(flat, lambda v: volume_density(chart, v)[:, None] * grad(v), u) / volume_density(chart, u)
    np.testing.assert_allclose(by_density, laplace_beltrami(chart, f, u), atol=1e-7)


def test_trace_of_the_hessian_is_the_laplacian_and_it_is_symmetric():
    chart = polar_sphere()
    u = nodes(chart)
    H = hessian(chart, lambda v: np.cos(v[:, 0]), u)
    np.testing.assert_allclose(
        np.einsum("nij,nij->n", np.linalg.inv(metric_tensor(chart, u)), H), -2 * np.cos(u[:, 0]), atol=1e-9
    )
    np.testing.assert_allclose(H, np.swapaxes(H, 1, 2), atol=1e-10)
    # Hess cos = -cos g on the unit sphere
    np.testing.assert_allclose(H, -np.cos(u[:, 0])[:, None, None] * metric_tensor(chart, u), atol=1e-9)


@pytest.mark.parametrize(("make", "tol"), [(torus, 1e-6), (flat_torus, 1e-6), (sphere, 1e-6)])
def test_green_identities_on_closed_manifolds(make, tol):
    manifold = make()
    f = lambda x: x[:, 0] + 0.5 * x[:, 2] ** 2  # noqa: E731
    h = lambda x: np.sin(x[:, 1]) + x[:, 0] * x[:, 2]  # noqa: E731
    order = 96 if make is sphere else 40

    def product(a, b):
        return integrate_density(manifold, lambda c, u: c.restrict(a)(u) * laplace_beltrami(c, c.restrict(b), u), order)

    assert product(f, h) == pytest.approx(product(h, f), abs=tol)
    assert -product(f, h) == pytest.approx(dirichlet_energy(manifold, f, h, order), abs=tol)
    assert -product(f, f) == pytest.approx(dirichlet_energy(manifold, f, order=order), abs=tol)


def test_divergence_of_a_field_that_vanishes_at_the_edge_integrates_to_zero():
    manifold = plane(2.0, 1.0)
    edge = lambda u: (u[:, 0] * (2 - u[:, 0]) * u[:, 1] * (1 - u[:, 1]))[:, None]  # noqa: E731
    X = lambda u: edge(u) * np.column_stack([np.cos(u[:, 1]), np.exp(u[:, 0])])  # noqa: E731
    assert integrate_density(manifold, lambda c, u: divergence(c, X, u)) == pytest.approx(0, abs=1e-10)


def test_divergence_theorem_flux_through_the_edge_of_a_cap():
    """int div X dA = flux of X through the parallel theta = b, for X = sin(theta) d_theta: 2 pi sin(b)^2."""
    b = 1.1
    full = polar_sphere()
    cap = Manifold("cap", (Chart(full.map, Box.of((1e-9, b), (0, 2 * np.pi), periodic=[False, True])),))
    X = lambda u: np.column_stack([np.sin(u[:, 0]), 0 * u[:, 0]])  # noqa: E731
    # div X = 2 cos(theta) by the operator away from the pole, where these coordinates end; then its integral.
    u = nodes(full)
    np.testing.assert_allclose(divergence(full, X, u), 2 * np.cos(u[:, 0]), atol=1e-10)
    assert integrate(cap, lambda x: 2 * x[:, 2]) == pytest.approx(2 * np.pi * np.sin(b) ** 2, abs=1e-8)
