"""Charts, changes of coordinates, orientation: closed forms of Wang (2012), Examples 2.1-2.3, A.1, A.2."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import Box, Chart, Manifold, metric_tensor
from lowfold.geometry._chart import orientation, oriented, transition, transition_jacobian, transition_sign
from lowfold.geometry._curvature import directional_derivative, tangent_basis, tangent_projector
from lowfold.geometry._derivatives import jacobian, jet, taylor
from lowfold.geometry._manifolds import (
    circle,
    circle_arc,
    clifford_torus,
    cylinder,
    ellipsoid,
    flat_torus,
    interval,
    moebius,
    plane,
    punched_sphere,
    s_curve,
    saddle,
    sphere,
    swiss_roll,
    torus,
)
from lowfold.geometry._operators import gradient_vector

ALL = [
    interval, plane, circle, circle_arc, sphere, ellipsoid, punched_sphere, torus, flat_torus, clifford_torus, cylinder,
    swiss_roll, s_curve, saddle, moebius,
]  # fmt: skip
NOT_SIMPLE = {circle, sphere, ellipsoid, torus, flat_torus, clifford_torus, cylinder, moebius}


def disc_points(seed, n=12, radius=1.73):
    rng = np.random.default_rng(seed)
    r, t = radius * np.sqrt(rng.uniform(0.01, 1, n)), rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([r * np.cos(t), r * np.sin(t)])


def conformal(u):
    return 1 + np.sum(u**2, axis=1)


@pytest.mark.parametrize("make", ALL)
def test_coordinates_invert_the_map_on_every_chart(make):
    for chart in make().charts:
        u, _ = chart.domain.quadrature(7)
        assert chart.domain.contains(u).all()
        np.testing.assert_allclose(chart.coordinates(chart.points(u)), u, atol=1e-11)


@pytest.mark.parametrize("make", ALL)
def test_is_simple_says_whether_one_chart_is_enough(make):
    assert make().is_simple == (make not in NOT_SIMPLE)


@pytest.mark.parametrize("make", ALL)
def test_partition_of_unity_sums_to_one_inside_charts(make):
    manifold = make()
    for chart in manifold.charts:
        x = chart.points(chart.domain.quadrature(15)[0])
        weights = manifold.weights(x)
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
        for j, other in enumerate(manifold.charts):
            assert other.domain.contains(other.coordinates(x[weights[:, j] > 0])).all()


def test_stereographic_charts_and_their_ranges():
    north, south = sphere().charts
    edge = np.sqrt(3) * np.column_stack([np.cos(np.arange(6.0)), np.sin(np.arange(6.0))])
    np.testing.assert_allclose(north.points(edge)[:, 2], -0.5, atol=1e-15)
    np.testing.assert_allclose(south.points(edge)[:, 2], 0.5, atol=1e-15)
    u = disc_points(0)
    np.testing.assert_allclose(np.linalg.norm(north.points(u), axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(transition(south, north)(u), u / np.sum(u**2, axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_the_stereographic_charts(seed):
    north, south = sphere().charts
    u = disc_points(seed)
    a, b, s = u[:, 0], u[:, 1], conformal(u)[:, None] ** 2
    first = np.column_stack([2 * (b**2 - a**2 + 1), -4 * a * b, -4 * a]) / s
    second = np.column_stack([-4 * a * b, 2 * (a**2 - b**2 + 1), -4 * b]) / s
    Dg1 = np.stack([first, second], axis=2)
    Dg2 = Dg1 * np.array([1.0, 1.0, -1.0])[:, None]
    np.testing.assert_allclose(tangent_basis(north, u), Dg1, atol=1e-10)
    np.testing.assert_allclose(tangent_basis(south, u), Dg2, atol=1e-10)
    np.testing.assert_allclose(metric_tensor(north, u), 4 / s[:, :, None] * np.eye(2), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_change_of_coordinates_on_the_tangent_space(seed):
    north, south = sphere().charts
    v = disc_points(seed, radius=1.7)
    v = v[np.linalg.norm(v, axis=1) > 0.6]
    a, b = v[:, 0], v[:, 1]
    df = np.array([[b**2 - a**2, -2 * a * b], [-2 * a * b, a**2 - b**2]]) / (a**2 + b**2) ** 2
    df = np.moveaxis(df, 2, 0)
    np.testing.assert_allclose(transition_jacobian(south, north, v), df, atol=1e-7)
    u = transition(south, north)(v)
    np.testing.assert_allclose(tangent_basis(south, v), tangent_basis(north, u) @ df, atol=1e-9)
    np.testing.assert_allclose(metric_tensor(south, v), np.swapaxes(df, 1, 2) @ metric_tensor(north, u) @ df, atol=1e-9)
    alpha = np.random.default_rng(seed).normal(size=v.shape)
    beta = np.einsum("nij,nj->ni", df, alpha)
    same = np.einsum("nai,ni->na", tangent_basis(north, u), beta)
    np.testing.assert_allclose(np.einsum("nai,ni->na", tangent_basis(south, v), alpha), same, atol=1e-9)


def test_swiss_roll_metric_in_both_coordinates():
    u, _ = swiss_roll().chart.domain.quadrature(9)
    G = metric_tensor(swiss_roll().chart, u)
    np.testing.assert_allclose(G[:, 0, 0], 1 + u[:, 0] ** 2, rtol=1e-10)
    np.testing.assert_allclose(G[:, 0, 1], 0, atol=1e-8)
    np.testing.assert_allclose(G[:, 1, 1], 1, atol=1e-10)


@pytest.mark.parametrize(
    "manifold", [swiss_roll(coordinates="arclength"), s_curve(), flat_torus((0.3, 2, 5)), clifford_torus(), plane()]
)
def test_isometric_coordinates_have_the_identity_as_metric(manifold):
    u = manifold.chart.domain.quadrature(6)[0]
    G = metric_tensor(manifold.chart, u)
    np.testing.assert_allclose(G, np.broadcast_to(np.eye(manifold.dim), G.shape), atol=1e-9)


def test_sphere_in_angles_has_metric_1_and_sin_squared():
    chart = Chart(
        lambda u: np.column_stack(
            [np.sin(u[:, 0]) * np.cos(u[:, 1]), np.sin(u[:, 0]) * np.sin(u[:, 1]), np.cos(u[:, 0])]
        ),
        Box.of((0.1, 3.0), (0, 2 * np.pi), periodic=[False, True]),
    )
    u = chart.domain.quadrature(6)[0]
    expected = np.zeros((len(u), 2, 2))
    expected[:, 0, 0], expected[:, 1, 1] = 1, np.sin(u[:, 0]) ** 2
    np.testing.assert_allclose(metric_tensor(chart, u), expected, atol=1e-11)


def test_s_curve_is_continuous_and_runs_at_unit_speed():
    chart = s_curve().chart
    a = 1.5 * np.pi
    left, right = chart.jet([[a, 1.0], [np.nextafter(a, 9), 1.0]])[:2]
    np.testing.assert_allclose(left[0], [0, 1, 1], atol=1e-15)
    np.testing.assert_allclose(left[0], left[1], atol=1e-14)
    np.testing.assert_allclose(right[0], right[1], atol=1e-14)
    u = np.array([[0.4, 1.0], [3.0, 2.0], [6.0, 0.5], [9.0, 4.0]])
    by_differences = jet(chart.map, u)
    np.testing.assert_allclose(chart.jet(u).first, by_differences.first, atol=1e-11)
    np.testing.assert_allclose(chart.jet(u).second, by_differences.second, atol=1e-9)


def test_tangent_projector_is_the_projector_on_the_tangent_space():
    chart, u = ellipsoid().chart, disc_points(1)
    P = tangent_projector(chart, u)
    np.testing.assert_allclose(P @ P, P, atol=1e-13)
    np.testing.assert_allclose(P, np.swapaxes(P, 1, 2), atol=1e-14)
    np.testing.assert_allclose(P @ tangent_basis(chart, u), tangent_basis(chart, u), atol=1e-12)
    np.testing.assert_allclose(np.trace(P, axis1=1, axis2=2), 2, atol=1e-12)


def test_directional_derivative_follows_the_chain_rule():
    chart, u = sphere().chart, disc_points(2)
    alpha = np.random.default_rng(0).normal(size=u.shape)
    x = chart.points(u)
    df = np.column_stack([2 * x[:, 0], x[:, 2], x[:, 1]])  # of x^2 + y z
    vector = np.einsum("nai,ni->na", tangent_basis(chart, u), alpha)
    value = directional_derivative(chart, lambda p: p[:, 0] ** 2 + p[:, 1] * p[:, 2], u, alpha)
    np.testing.assert_allclose(value, np.sum(df * vector, axis=1), atol=1e-10)
    slope = gradient_vector(chart, chart.restrict(lambda p: p[:, 0] ** 2 + p[:, 1] * p[:, 2]), u)
    np.testing.assert_allclose(np.sum(slope * vector, axis=1), value, atol=1e-10)


def test_numeric_derivatives_of_a_function_with_known_hessian():
    u = np.random.default_rng(0).normal(size=(5, 3))
    at = jet(lambda v: np.exp(v[:, 0]) * np.sin(v[:, 1]) + v[:, 0] * v[:, 2] ** 2, u)
    e, s, c = np.exp(u[:, 0]), np.sin(u[:, 1]), np.cos(u[:, 1])
    np.testing.assert_allclose(
        at.first, np.column_stack([e * s + u[:, 2] ** 2, e * c, 2 * u[:, 0] * u[:, 2]]), atol=1e-11
    )
    H = np.zeros((5, 3, 3))
    H[:, 0, 0], H[:, 1, 1], H[:, 2, 2] = e * s, -e * s, 2 * u[:, 0]
    H[:, 0, 1] = H[:, 1, 0] = e * c
    H[:, 0, 2] = H[:, 2, 0] = 2 * u[:, 2]
    np.testing.assert_allclose(at.second, H, atol=1e-9)


def test_taylor_is_exact_for_quadratics_and_starts_at_order_zero():
    B, a = np.array([[1.0, 0.5], [0.5, -2.0]]), np.array([0.3, -1.0])

    def f(u):
        return 4.0 + u @ a + np.einsum("ni,ij,nj->n", u, B, u)

    centre, v = np.array([0.2, 0.7]), np.random.default_rng(1).normal(size=(6, 2))
    np.testing.assert_allclose(taylor(f, centre, v), f(centre + v), atol=1e-10)
    np.testing.assert_allclose(taylor(f, centre, v, order=0), f(centre[None])[0])
    third = [np.abs(taylor(lambda u: np.sin(u[:, 0]), [[0.4]], [[h]]) - np.sin(0.4 + h))[0] for h in (0.1, 0.05)]
    assert third[0] / third[1] == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize("seed", range(2))
def test_moebius_charts_agree_with_opposite_orientation_on_one_half(seed):
    first, second = moebius().charts
    rng = np.random.default_rng(seed)
    left = np.column_stack([rng.uniform(-3, -0.1, 20), rng.uniform(-0.9, 0.9, 20)])
    right = np.column_stack([rng.uniform(0.1, 3, 20), rng.uniform(-0.9, 0.9, 20)])
    np.testing.assert_allclose(first.points(left), second.points(left + np.array([np.pi, 0])), atol=1e-14)
    np.testing.assert_allclose(first.points(right), second.points((right - [np.pi, 0]) * [1, -1]), atol=1e-14)
    assert set(transition_sign(first, second, left)) == {1}
    assert set(transition_sign(first, second, right)) == {-1}
    np.testing.assert_allclose(np.linalg.det(transition_jacobian(first, second, left)), 1, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(transition_jacobian(first, second, right)), -1, atol=1e-9)


def test_moebius_has_no_orientation_and_the_sphere_needs_one_chart_flipped():
    assert orientation(moebius()) is None
    with pytest.raises(InvalidInput, match="orientable"):
        oriented(moebius())
    assert orientation(sphere()) == (1, -1)
    assert orientation(torus()) == (1,)
    whole = oriented(sphere())
    assert orientation(whole) == (1, 1)
    v = disc_points(0, radius=1.6)
    v = v[np.linalg.norm(v, axis=1) > 0.7]
    assert set(transition_sign(*sphere().charts, v)) == {-1}
    assert set(transition_sign(*whole.charts, v)) == {1}
    jac = transition_jacobian(sphere().charts[1], sphere().charts[0], v)
    np.testing.assert_allclose(np.linalg.det(jac), -1 / np.sum(v**2, axis=1) ** 2, rtol=1e-6)
    # Turning both coordinates, -h, is a rotation of the plane and repairs nothing.
    np.testing.assert_allclose(np.linalg.det(-jac), np.linalg.det(jac))


def test_a_flipped_chart_covers_the_same_points():
    chart = sphere().chart
    back = chart.flipped()
    u = disc_points(3)
    np.testing.assert_allclose(back.points(u * [-1, 1]), chart.points(u))
    np.testing.assert_allclose(back.coordinates(chart.points(u)), u * [-1, 1], atol=1e-12)
    np.testing.assert_allclose(back.jet(u * [-1, 1]).first, jacobian(back.map, u * [-1, 1]), atol=1e-10)
    np.testing.assert_allclose(back.jet(u * [-1, 1]).second, jet(back.map, u * [-1, 1]).second, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sphere().chart.points([0.0, 0.0]), "one point per row"),
        (lambda: Manifold("none", ()), "at least one chart"),
        (lambda: Manifold("two", sphere().charts), "partition"),
        (lambda: Manifold("mixed", (circle().chart, torus().chart)), "one dimension"),
        (lambda: Chart(lambda u: u, Box.of((0, 1))).coordinates([[0.5]]), "inverse"),
        (lambda: Box.of((1, 0)), "lower < upper"),
        (lambda: torus(1.0, 2.0), "major"),
        (lambda: plane(frame=[[1.0, 1.0], [0.0, 1.0]]), "orthonormal"),
        (lambda: punched_sphere(2.0), "height"),
        (lambda: taylor(lambda u: u[:, 0], [[0.0]], [[1.0]], order=3), "order"),
        (lambda: jet(lambda u: u, [1.0]), "one point per row"),
        (lambda: ellipsoid((1, 2)), "three"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
