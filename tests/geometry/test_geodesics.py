"""Geodesics, exponential map and parallel transport."""

from dataclasses import replace

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold.geometry import (
    exponential,
    geodesic_distance,
    logarithm,
    metric_tensor,
    second_fundamental_form,
    transport,
)
from lowfold.geometry._closed import geodesic_from_chord, great_circle_distance
from lowfold.geometry._curvature import normal_curvature, orthonormal_frame, tangent_basis
from lowfold.geometry._geodesics import arc_length, exponential_map, normal_chart, polyline_length, shoot
from lowfold.geometry._manifolds import (
    circle_arc,
    clifford_torus,
    cylinder,
    ellipsoid,
    s_curve,
    saddle,
    sphere,
    swiss_roll,
    torus,
)


def sphere_points(rng, n):
    x = rng.normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def tangent_vectors(rng, x, length):
    v = rng.normal(size=x.shape)
    v -= np.sum(v * x, axis=1, keepdims=True) * x
    return length * v / np.linalg.norm(v, axis=1, keepdims=True)


def speed(chart, u, v):
    return np.sqrt(np.einsum("nij,ni,nj->n", metric_tensor(chart, u), v, v))


@pytest.mark.parametrize(
    "manifold", [sphere(), swiss_roll(), cylinder(1.0, 3.0), s_curve(), clifford_torus(), circle_arc(0.3)]
)
@pytest.mark.parametrize("seed", range(2))
def test_computed_distance_agrees_with_the_closed_form(manifold, seed):
    chart = manifold.chart
    rng = np.random.default_rng(seed)
    inside = chart.domain.quadrature(20)[0]
    # Coordinates of the sphere are kept in one chart: nodes of the disc around its centre.
    keep = inside[np.linalg.norm(inside, axis=1) < 1.2] if manifold.name == "sphere" else inside
    x, y = (chart.points(keep[rng.integers(0, len(keep), 4)]) for _ in range(2))
    computed = geodesic_distance(replace(manifold, distance=None), x, y)
    np.testing.assert_allclose(computed, manifold.distance(x, y), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_geodesic_of_the_torus_is_as_long_as_its_polyline_and_shorter_than_its_neighbours(seed):
    chart = torus(2.0, 0.7).chart
    rng = np.random.default_rng(seed)
    a = rng.uniform(0, 6, (1, 2))
    b = a + rng.uniform(-0.9, 0.9, (1, 2))
    v = logarithm(chart, a, b)
    d = float(speed(chart, a, v)[0])
    t = np.linspace(0, 1, 201)
    way = exponential(chart, np.repeat(a, len(t), axis=0), t[:, None] * v)
    np.testing.assert_allclose(way[-1:], b, atol=1e-6)
    length = polyline_length(chart.points(way))
    assert length == pytest.approx(d, rel=1e-4)
    bump = np.sin(np.pi * t)[:, None] * np.array([0.02, -0.03])
    assert polyline_length(chart.points(way + bump)) > length
    assert polyline_length(chart.points(way - bump)) > length


def test_geodesic_distance_goes_the_short_way_round_a_torus():
    M = torus()
    x, y = M.chart.points([[0.2, 0.5]]), M.chart.points([[2 * np.pi - 0.2, 0.5]])
    assert geodesic_distance(M, x, y)[0] < 0.4 * (2 + np.cos(0.5)) + 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_exponential_map_of_the_sphere_across_charts(seed):
    rng = np.random.default_rng(seed)
    x = sphere_points(rng, 4)
    for length in (0.5, 3.0, 6.0):
        v = tangent_vectors(rng, x, length)
        expected = np.cos(length) * x + np.sin(length) * v / length
        np.testing.assert_allclose(exponential_map(sphere(), x, v), expected, atol=1e-8)


@pytest.mark.parametrize("manifold", [torus(), saddle(), swiss_roll(), sphere(2.0)])
def test_logarithm_inverts_the_exponential(manifold):
    chart = manifold.chart
    u = chart.domain.quadrature(4)[0][[5, 9]]
    v = 0.3 * np.einsum("nij,j->ni", orthonormal_frame(chart, u), [0.6, 0.8])
    np.testing.assert_allclose(logarithm(chart, u, exponential(chart, u, v)), v, atol=1e-6)


def test_geodesics_keep_their_speed_and_angle_to_carried_vectors():
    chart = ellipsoid().chart
    u, v = np.array([[0.3, -0.2], [0.5, 0.4]]), np.array([[0.5, 0.3], [-0.4, 0.2]])
    frame = np.swapaxes(orthonormal_frame(chart, u), 1, 2)  # rows are vectors
    end = shoot(chart, u, v, carry=frame)
    np.testing.assert_allclose(speed(chart, end.coordinates, end.velocity), speed(chart, u, v), rtol=1e-9)
    G = metric_tensor(chart, end.coordinates)
    np.testing.assert_allclose(
        np.einsum("npi,nij,nqj->npq", end.carried, G, end.carried), np.broadcast_to(np.eye(2), (2, 2, 2)), atol=1e-8
    )
    before = np.einsum("npi,nij,nj->np", frame, metric_tensor(chart, u), v)
    np.testing.assert_allclose(np.einsum("npi,nij,nj->np", end.carried, G, end.velocity), before, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_transport_round_a_spherical_triangle_turns_by_its_area(seed):
    rng = np.random.default_rng(seed)
    chart = sphere().chart
    corners = sphere_points(rng, 3)
    corners[:, 2] = np.abs(corners[:, 2]) + 0.3
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    w = start = orthonormal_frame(chart, chart.coordinates(corners[:1]))[0].T[:1]
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        angle = float(great_circle_distance(a, b))

        def edge(t, a=a, b=b, angle=angle):
            return chart.coordinates((np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle))

        w = transport(chart, edge, w)
    u = chart.coordinates(corners[:1])
    t = tangent_basis(chart, u)[0]
    before, after, normal = t @ start[0], t @ w[0], corners[0]
    turn = np.arctan2(np.dot(np.cross(before, after), normal), np.dot(before, after))
    # Girard: signed solid angle of the triangle (Van Oosterom and Strackee 1983).
    a, b, c = corners
    area = 2 * np.arctan2(np.linalg.det(corners), 1 + a @ b + b @ c + c @ a)
    assert turn == pytest.approx(area, abs=1e-8)
    assert abs(area) > 1e-3


def test_transport_on_a_flat_sheet_does_nothing_and_round_a_cone_of_latitude_turns():
    chart = swiss_roll(coordinates="arclength").chart
    path = lambda t: np.hstack([30 + 5 * np.sin(t), 8 + 3 * t])  # noqa: E731
    np.testing.assert_allclose(transport(chart, path, [[0.6, 0.8]]), [[0.6, 0.8]], atol=1e-8)
    ball = sphere().chart
    r = 0.5  # a parallel: height z = (1 - r^2) / (1 + r^2), holonomy 2 pi (1 - z)
    ring = lambda t: r * np.hstack([np.cos(t), np.sin(t)])  # noqa: E731
    w = transport(ball, ring, [[1.0, 0.0]], 0.0, 2 * np.pi)[0]
    z = (1 - r**2) / (1 + r**2)
    assert np.arctan2(w[1], w[0]) == pytest.approx(
        np.remainder(2 * np.pi * (1 - z) + np.pi, 2 * np.pi) - np.pi, abs=1e-8
    )


def test_metric_in_normal_coordinates_of_the_sphere():
    """Along the ray 1, across it sin(r)^2 / r^2 = 1 - r^2 / 3 + ...; no Christoffel symbols at the centre."""
    chart = normal_chart(sphere().chart, [0.3, -0.2], 1.0)
    for r in (0.2, 0.5, 0.9):
        for angle in (0.4, 2.0):
            along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
            G = metric_tensor(chart, r * along[None])[0]
            assert along @ G @ along == pytest.approx(1, abs=1e-8)
            assert across @ G @ across == pytest.approx((np.sin(r) / r) ** 2, abs=1e-8)
            assert across @ G @ along == pytest.approx(0, abs=1e-8)
    assert across @ metric_tensor(chart, 0.1 * along[None])[0] @ across == pytest.approx(1 - 0.01 / 3, abs=2e-5)


@pytest.mark.parametrize("manifold", [torus(), ellipsoid(), saddle()])
def test_exponential_and_chord_expansions(manifold):
    """x(exp v) - x = dg v + II(v, v)/2 + O(|v|^3), and the geodesic is h + |II|^2 h^3 / 24 + O(h^4).

    The h^4 term is odd in the direction: it is what differs between v and -v, and their mean has an error of order 5.
    """
    chart = manifold.chart
    u = np.array([[0.4, 0.3]])
    theta = np.einsum("nij,j->ni", orthonormal_frame(chart, u), [0.28, 0.96])
    II = np.einsum("naij,ni,nj->na", second_fundamental_form(chart, u), theta, theta)
    kappa = normal_curvature(chart, u, theta)
    tangent = np.einsum("nai,ni->na", tangent_basis(chart, u), theta)
    curved, error = [], []
    for s in (0.12, -0.12, 0.06, -0.06):
        gap = chart.points(exponential(chart, u, s * theta)) - chart.points(u)
        curved.append(np.linalg.norm(gap - s * tangent - s**2 * II / 2))
        error.append(abs(s) - float(geodesic_from_chord(np.linalg.norm(gap), kappa)[0]))
    assert np.log2(curved[0] / curved[2]) == pytest.approx(3, abs=0.3)
    assert np.log2((error[0] - error[1]) / (error[2] - error[3])) == pytest.approx(4, abs=0.3)
    assert np.log2((error[0] + error[1]) / (error[2] + error[3])) == pytest.approx(5, abs=0.4)


def test_transported_frame_leaves_its_plane_by_the_second_fundamental_form():
    """On the unit sphere the normal part of the moved vector at the start is -|v| <theta, w> x + O(|v|^2)."""
    chart = sphere().chart
    u = np.array([[0.2, 0.5]])
    frame = orthonormal_frame(chart, u)[0].T
    x = chart.points(u)[0]
    for h in (0.1, 0.01):
        end = shoot(chart, u, h * frame[:1], carry=frame[None])
        moved = np.einsum("ai,pi->pa", tangent_basis(chart, end.coordinates)[0], end.carried[0])
        normal = moved @ x
        assert normal[0] == pytest.approx(-h, abs=h**2)
        assert normal[1] == pytest.approx(0, abs=1e-9)


def test_arc_length_does_not_depend_on_the_parameter():
    curve = lambda t: np.hstack([t**2, np.sin(t), np.cos(3 * t)])  # noqa: E731
    assert arc_length(curve, 0.5, 2.0) == pytest.approx(
        arc_length(lambda s: curve(np.exp(s)), np.log(0.5), np.log(2.0)), rel=1e-10
    )
    assert arc_length(lambda t: 2 * np.hstack([np.cos(t), np.sin(t)]), 0, 3) == pytest.approx(6, rel=1e-12)


def test_coincident_points_have_distance_zero():
    x = torus().chart.points([[1.0, 2.0]])
    assert geodesic_distance(torus(), x, x)[0] == pytest.approx(0, abs=1e-12)
    assert great_circle_distance(x, x)[0] == 0


def test_distance_between_points_that_no_chart_holds_both():
    rng = np.random.default_rng(0)
    x, y = sphere_points(rng, 4), sphere_points(rng, 4)
    x[:, 2], y[:, 2] = np.abs(x[:, 2]) + 0.6, -np.abs(y[:, 2]) - 0.6
    x, y = (p / np.linalg.norm(p, axis=1, keepdims=True) for p in (x, y))
    computed = geodesic_distance(replace(sphere(), distance=None), x, y)
    np.testing.assert_allclose(computed, great_circle_distance(x, y), rtol=1e-6)
    with pytest.raises(SolverFailed, match="poles"):
        geodesic_distance(ellipsoid(), [[0, 0, 2.0]], [[0, 0, -2.0]])


def test_failures_say_what_to_do():
    pole = sphere().chart  # a meridian through the pole of the projection leaves every bound
    with pytest.raises(SolverFailed, match="another chart"):
        shoot(pole, [[0.0, 0.0]], [[np.pi / 2 * 1.5, 0.0]])
    with pytest.raises(InvalidInput, match="segments"):
        exponential_map(sphere(), [[0, 0, 1.0]], [[1.0, 0, 0]], segments=0)
    with pytest.raises(InvalidInput, match="surface"):
        normal_chart(circle_arc().chart, [1.0], 0.1)
