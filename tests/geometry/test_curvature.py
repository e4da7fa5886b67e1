"""Curvature against closed forms, against the metric alone, and Gauss-Bonnet."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import (
    Box,
    Chart,
    gaussian_curvature,
    graph_surface,
    mean_curvature_vector,
    metric_tensor,
    principal_curvatures,
    second_fundamental_form,
    sectional_curvature,
)
from lowfold.geometry._curvature import (
    christoffel,
    connection,
    normal_curvature,
    orthonormal_frame,
    ricci_tensor,
    riemann_tensor,
    scalar_curvature,
    tangent_basis,
)
from lowfold.geometry._derivatives import jacobian
from lowfold.geometry._domain import Disc
from lowfold.geometry._integrals import integrate_density
from lowfold.geometry._manifolds import (
    circle,
    clifford_torus,
    cylinder,
    ellipsoid,
    flat_torus,
    moebius,
    punched_sphere,
    s_curve,
    saddle,
    sphere,
    swiss_roll,
    torus,
)
from lowfold.geometry._operators import laplace_beltrami


def nodes(chart, order=5):
    return chart.domain.quadrature(order)[0]


def three_sphere(radius=1.5):
    def points(u):
        square = np.sum(u**2, axis=1, keepdims=True)
        return radius * np.hstack([2 * u, 1 - square]) / (1 + square)

    return Chart(points, Box.of((-1, 1), (-1, 1), (-1, 1)))


@pytest.mark.parametrize("manifold", [torus(), ellipsoid(), saddle(), swiss_roll(), moebius()])
def test_christoffel_symbols_are_those_of_the_metric(manifold):
    chart = manifold.chart
    u = nodes(chart, 4)
    dG = jacobian(lambda v: metric_tensor(chart, v), u)  # [n, i, j, k] = d_k G_ij
    lower = 0.5 * (np.einsum("nilk->nlki", dG) + np.einsum("nikl->nlki", dG) - np.einsum("nkli->nlki", dG))
    # Gamma^c_kl = G^ci (d_k G_il + d_l G_ik - d_i G_kl) / 2
    expected = np.einsum("nci,nlki->nckl", np.linalg.inv(metric_tensor(chart, u)), lower)
    np.testing.assert_allclose(christoffel(chart, u), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("chart", "value"),
    [
        (sphere(2.0).chart, lambda u: np.full(len(u), 0.25)),
        (punched_sphere(0.75).chart, lambda u: np.full(len(u), 4.0)),
        (torus(3.0, 1.0).chart, lambda u: np.cos(u[:, 1]) / (3 + np.cos(u[:, 1]))),
        (saddle().chart, lambda u: -4 / (1 + 4 * np.sum(u**2, axis=1)) ** 2),
        (cylinder().chart, lambda u: np.zeros(len(u))),
        (swiss_roll().chart, lambda u: np.zeros(len(u))),
        (s_curve().chart, lambda u: np.zeros(len(u))),
        (clifford_torus().chart, lambda u: np.zeros(len(u))),
    ],
)
def test_gaussian_curvature_in_closed_form(chart, value):
    u = nodes(chart)
    np.testing.assert_allclose(gaussian_curvature(chart, u), value(u), atol=1e-8)
    np.testing.assert_allclose(scalar_curvature(chart, u), 2 * value(u), atol=1e-8)


def test_curvature_needs_only_the_metric():
    """Theorema egregium in a conformal chart: K = -Laplace(log E) / (2 E) for G = E I, without normal vectors."""
    chart = sphere(1.3).chart
    u = nodes(chart, 4)
    E = metric_tensor(chart, u)[:, 0, 0]
    flat = Chart(lambda v: v, Box.of((-2, 2), (-2, 2)))
    K = -laplace_beltrami(flat, lambda v: np.log(metric_tensor(chart, v)[:, 0, 0]), u) / (2 * E)
    np.testing.assert_allclose(gaussian_curvature(chart, u), K, atol=1e-7)


@pytest.mark.parametrize("make", [sphere, ellipsoid, lambda: sphere(3.0)])
def test_gauss_bonnet_on_surfaces_like_the_sphere(make):
    assert integrate_density(make(), gaussian_curvature, 96) == pytest.approx(4 * np.pi, abs=1e-7)


def test_gauss_bonnet_on_the_torus_and_with_boundary():
    assert integrate_density(torus(2.5, 0.7), gaussian_curvature) == pytest.approx(0, abs=1e-9)
    # A cap: int K dA + geodesic curvature of the edge = 2 pi; the edge at height z has cot(angle) * length = 2 pi z.
    assert integrate_density(punched_sphere(0.75, 2.0), gaussian_curvature) == pytest.approx(
        2 * np.pi + 2 * np.pi * (0.75 - 1), abs=1e-8
    )


def test_three_sphere_has_constant_sectional_curvature():
    chart = three_sphere()
    u = nodes(chart, 3)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, len(u), 3))
    np.testing.assert_allclose(sectional_curvature(chart, u, x, y), 1 / 1.5**2, atol=1e-8)
    G = metric_tensor(chart, u)
    np.testing.assert_allclose(ricci_tensor(chart, u), 2 / 1.5**2 * G, atol=1e-8)
    np.testing.assert_allclose(scalar_curvature(chart, u), 6 / 1.5**2, atol=1e-8)


def test_curvature_tensor_has_its_symmetries():
    R = riemann_tensor(three_sphere(), np.array([[0.2, -0.3, 0.5]]))[0]
    np.testing.assert_allclose(R, -R.transpose(1, 0, 2, 3), atol=1e-10)
    np.testing.assert_allclose(R, -R.transpose(0, 1, 3, 2), atol=1e-10)
    np.testing.assert_allclose(R, R.transpose(2, 3, 0, 1), atol=1e-10)
    np.testing.assert_allclose(R + R.transpose(0, 2, 3, 1) + R.transpose(0, 3, 1, 2), 0, atol=1e-10)


def test_second_fundamental_form_is_normal_and_minus_the_point_on_a_sphere():
    chart = sphere(2.0).chart
    u = nodes(chart)
    II = second_fundamental_form(chart, u)
    np.testing.assert_allclose(np.einsum("nak,naij->nkij", tangent_basis(chart, u), II), 0, atol=1e-9)
    x = chart.points(u)
    np.testing.assert_allclose(II, -np.einsum("na,nij->naij", x, metric_tensor(chart, u)) / 4, atol=1e-8)


def test_principal_and_mean_curvature():
    u = nodes(torus(3.0, 1.0).chart)
    kappa = principal_curvatures(torus(3.0, 1.0).chart, u)
    ring = np.cos(u[:, 1]) / (3 + np.cos(u[:, 1]))
    np.testing.assert_allclose(
        np.sort(np.abs(kappa), axis=1), np.sort(np.abs(np.column_stack([ring, np.ones(len(u))]))), atol=1e-8
    )
    np.testing.assert_allclose(np.prod(kappa, axis=1), gaussian_curvature(torus(3.0, 1.0).chart, u), atol=1e-8)
    flat = sphere(2.0).chart
    v = nodes(flat)
    np.testing.assert_allclose(mean_curvature_vector(flat, v), -flat.points(v) / 4, atol=1e-8)


def test_the_laplacian_of_the_embedding_is_k_times_the_mean_curvature():
    chart = ellipsoid().chart
    u = nodes(chart, 4)
    by_coordinate = [laplace_beltrami(chart, chart.restrict(lambda x, i=i: x[:, i]), u) for i in range(3)]
    np.testing.assert_allclose(np.column_stack(by_coordinate), 2 * mean_curvature_vector(chart, u), atol=1e-8)


def test_normal_curvature_of_circles_and_of_the_roll():
    assert normal_curvature(circle(4.0).chart, [[1.0]], [[3.0]])[0] == pytest.approx(0.25, abs=1e-10)
    theta = np.array([5.0, 9.0])
    u, across, along = np.column_stack([theta, [1.0, 2.0]]), np.array([[0.0, 1.0]] * 2), np.array([[2.0, 0.0]] * 2)
    spiral = (2 + theta**2) / (1 + theta**2) ** 1.5
    np.testing.assert_allclose(normal_curvature(swiss_roll().chart, u, along), spiral, atol=1e-9)
    np.testing.assert_allclose(normal_curvature(swiss_roll().chart, u, across), 0, atol=1e-9)


def test_orthonormal_frame_is_orthonormal():
    chart = graph_surface(lambda u: np.sin(u[:, 0]) * u[:, 1], Disc(1.0)).chart
    u = nodes(chart)
    E, G = orthonormal_frame(chart, u), connection(chart, u).metric
    np.testing.assert_allclose(np.swapaxes(E, 1, 2) @ G @ E, np.broadcast_to(np.eye(2), G.shape), atol=1e-12)
    np.testing.assert_allclose(E[:, 1, 0], 0, atol=1e-15)


def test_errors_name_the_way_out():
    with pytest.raises(InvalidInput, match="sectional_curvature"):
        gaussian_curvature(three_sphere(), [[0.0, 0.0, 0.0]])
    with pytest.raises(InvalidInput, match="second_fundamental_form"):
        principal_curvatures(flat_torus().chart, [[0.0, 0.0]])
