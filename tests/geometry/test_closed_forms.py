"""Closed forms against a fine polyline, and the bounds between chord and geodesic."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import chord_bounds, geodesic_distance
from lowfold.geometry._closed import (
    S_CURVE_LENGTH,
    SWISS_ROLL_ANGLES,
    circle_distance,
    cylinder_distance,
    geodesic_from_chord,
    great_circle_distance,
    s_curve_coordinates,
    s_curve_distance,
    swiss_roll_angle,
    swiss_roll_arclength,
    swiss_roll_distance,
)
from lowfold.geometry._geodesics import arc_length, polyline_length
from lowfold.geometry._manifolds import circle, circle_arc, cylinder, flat_torus, interval, plane, s_curve, swiss_roll

FINE = np.linspace(0.0, 1.0, 20001)[:, None]


def sphere_points(rng, n, radius=1.0):
    x = rng.normal(size=(n, 3))
    return radius * x / np.linalg.norm(x, axis=1, keepdims=True)


def test_the_spiral_of_the_swiss_roll_is_89_long():
    low, high = swiss_roll_arclength(SWISS_ROLL_ANGLES)
    assert high - low == pytest.approx(89.3733, abs=5e-5)
    spiral = arc_length(lambda t: t * np.column_stack([np.cos(t), np.sin(t)]), *SWISS_ROLL_ANGLES)
    assert spiral == pytest.approx(float(high - low), rel=1e-12)


@pytest.mark.parametrize("s", [0.0, 1e-12, 1e-3, 1.0, 11.7, 101.0, 1e6, -5.0])
def test_swiss_roll_angle_inverts_the_arc_length(s):
    assert float(swiss_roll_arclength(swiss_roll_angle(s))) == pytest.approx(s, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_great_circle_distance_is_the_length_of_the_great_circle(seed):
    rng = np.random.default_rng(seed)
    p, q = sphere_points(rng, 2, 2.5)
    d = float(great_circle_distance(p, q, radius=2.5))
    angle = d / 2.5
    way = (np.sin((1 - FINE) * angle) * p + np.sin(FINE * angle) * q) / np.sin(angle)
    assert polyline_length(way) == pytest.approx(d, rel=1e-8)


def test_great_circle_distance_keeps_its_digits_at_near_and_antipodal_points():
    for gap in (1e-9, 1e-12):
        p, q = np.array([1.0, 0.0, 0.0]), np.array([np.cos(gap), np.sin(gap), 0.0])
        assert float(great_circle_distance(p, q)) == pytest.approx(gap, rel=1e-6)
        assert np.pi - float(great_circle_distance(p, -q)) == pytest.approx(gap, abs=1e-15)


def test_great_circle_distance_broadcasts_to_a_matrix():
    x = sphere_points(np.random.default_rng(0), 5)
    d = great_circle_distance(x[:, None], x[None])
    np.testing.assert_allclose(d, np.arccos(np.clip(x @ x.T, -1, 1)), atol=3e-8)
    assert np.all(np.diag(d) == 0)


def test_distances_of_manifolds_broadcast_to_a_matrix():
    for manifold in (circle(), circle_arc(), cylinder(), swiss_roll(), s_curve(), flat_torus(), plane(), interval()):
        x = manifold.chart.points(manifold.chart.domain.quadrature(3)[0])
        d = manifold.distance(x[:, None], x[None])
        assert d.shape == (len(x), len(x))
        np.testing.assert_array_equal(d[0], geodesic_distance(manifold, x[:1], x))
        np.testing.assert_allclose(d, d.T, atol=1e-15)


def test_circle_distance_takes_the_shorter_way():
    assert float(circle_distance(0.1, 2 * np.pi - 0.1, radius=3.0)) == pytest.approx(0.6)
    assert float(circle_distance(0.0, 7 * np.pi)) == pytest.approx(np.pi)


@pytest.mark.parametrize("seed", range(3))
def test_cylinder_distance_is_the_length_of_the_helix(seed):
    rng = np.random.default_rng(seed)
    (a, b), (z, w) = rng.uniform(-1.5, 1.5, 2), rng.uniform(0, 4, 2)
    angle, height = a + FINE * (b - a), z + FINE * (w - z)
    helix = np.hstack([2 * np.cos(angle), 2 * np.sin(angle), height])
    assert float(cylinder_distance(helix[0], helix[-1], radius=2.0)) == pytest.approx(polyline_length(helix), rel=1e-8)


@pytest.mark.parametrize("make", [lambda: swiss_roll(coordinates="arclength"), s_curve])
@pytest.mark.parametrize("seed", range(3))
def test_developable_surfaces_unroll_to_straight_lines(make, seed):
    manifold = make()
    box = manifold.chart.domain
    a, b = np.random.default_rng(seed).uniform(box.lower, box.upper, (2, 2))
    way = manifold.chart.points(a + FINE * (b - a))
    assert float(manifold.distance(way[0], way[-1])) == pytest.approx(polyline_length(way), rel=1e-7)
    assert float(manifold.distance(way[0], way[-1])) == pytest.approx(np.linalg.norm(a - b), rel=1e-10)


def test_named_distances_are_those_of_the_manifolds():
    rng = np.random.default_rng(0)
    for manifold, distance in ((swiss_roll(), swiss_roll_distance), (s_curve(), s_curve_distance)):
        box = manifold.chart.domain
        x, y = (manifold.chart.points(rng.uniform(box.lower, box.upper, (4, 2))) for _ in range(2))
        np.testing.assert_array_equal(geodesic_distance(manifold, x, y), distance(x, y))


def test_s_curve_coordinates_do_not_jump_at_the_ends_and_the_middle():
    a = np.array([0.0, 1e-12, 0.5 * S_CURVE_LENGTH - 1e-9, 0.5 * S_CURVE_LENGTH, S_CURVE_LENGTH - 1e-9, S_CURVE_LENGTH])
    u = np.column_stack([a, np.ones(len(a))])
    np.testing.assert_allclose(s_curve_coordinates(s_curve().chart.points(u)), u, atol=1e-8)


def test_the_ends_of_a_nearly_closed_arc_are_near_in_space_and_far_on_the_arc():
    arc = circle_arc(0.1)
    p, q = arc.chart.points([[0.1], [2 * np.pi - 0.1]])
    assert np.linalg.norm(p - q) == pytest.approx(0.19966683, abs=1e-8)
    assert geodesic_distance(arc, p, q)[0] == pytest.approx(6.0831853, abs=1e-7)


def test_chord_bounds_are_tight_on_a_circle():
    d = np.linspace(0.0, 2 * np.pi, 9)[:-1]
    low, high = chord_bounds(d, 2.0)
    np.testing.assert_allclose(low, 4 * np.sin(d / 4), atol=1e-15)
    assert np.all(low <= high)
    assert np.all((1 - d**2 / (24 * 4)) * d <= low + 1e-15)


def test_geodesic_from_chord_has_the_right_third_order_term():
    for s, ratio in ((0.5, 1.0286), (0.1, 1.0011)):
        h = 2 * np.sin(s / 2)
        assert 24 * (s - h) / h**3 == pytest.approx(ratio, abs=5e-5)
    errors = [s - float(geodesic_from_chord(2 * 3 * np.sin(s / 6), 1 / 3)) for s in (0.4, 0.2)]
    assert errors[0] / errors[1] == pytest.approx(2**5, rel=0.01)  # on a circle the h^4 term vanishes too


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: great_circle_distance([0, 0, 0], [1, 0, 0]), "origin"),
        (lambda: great_circle_distance([1, 0, 0], [1, 0, 0], radius=-1), "radius"),
        (lambda: great_circle_distance([1, 2], [1, 2, 3]), "last axis"),
        (lambda: great_circle_distance(np.ones((2, 3)), np.ones((4, 3))), "broadcast"),
        (lambda: swiss_roll_distance([1, 2], [1, 2]), "length 3"),
        (lambda: geodesic_distance(circle(), [[1, 0]], [[1, 0, 0]]), "last axis"),
        (lambda: chord_bounds([7.0], 1.0), "pi \\* min_radius"),
        (lambda: circle_arc(4.0), "gap"),
        (lambda: swiss_roll(coordinates="polar"), "coordinates"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
