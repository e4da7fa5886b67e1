"""Differential forms: wedge, pullback, exterior derivative, integrals, Stokes."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import Box, Chart, DifferentialForm, Manifold, boundary_integral, integrate_form, volume
from lowfold.geometry._chart import oriented
from lowfold.geometry._differential_forms import (
    coordinate_forms,
    one_form,
    orientation_sign,
    scalar_form,
    volume_form,
    wedge,
)
from lowfold.geometry._domain import Disc
from lowfold.geometry._manifolds import moebius, punched_sphere, sphere, torus


def random_points(seed, dim, n=7):
    return np.random.default_rng(seed).uniform(0.4, 1.5, (n, dim))


def polar(u):
    return np.column_stack([u[:, 0] * np.cos(u[:, 1]), u[:, 0] * np.sin(u[:, 1])])


def cartesian(x):
    return np.column_stack([np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])])


def a_form(seed, degree, dim):
    """Coefficients with every coordinate in them, none a polynomial."""
    size = len(DifferentialForm(degree, dim, lambda u: u).indices)
    w = np.random.default_rng(seed).normal(size=(dim, size))
    return DifferentialForm(degree, dim, lambda u: np.sin(u @ w) + np.exp(0.3 * u @ w))


def area_form():
    """x dy^dz - y dx^dz + z dx^dy, whose integral over the unit sphere is 4 pi."""
    return DifferentialForm(2, 3, lambda x: np.column_stack([x[:, 2], -x[:, 1], x[:, 0]]))


def test_one_forms_change_coordinates_both_ways():
    dx, dy = coordinate_forms(2)
    turn = one_form([lambda x: -x[:, 1] / np.sum(x**2, axis=1), lambda x: x[:, 0] / np.sum(x**2, axis=1)])
    u = random_points(0, 2)
    np.testing.assert_allclose(turn.pullback(polar, 2)(u), np.tile([0, 1], (len(u), 1)), atol=1e-10)  # d theta
    np.testing.assert_allclose(
        dx.pullback(polar, 2)(u), np.column_stack([np.cos(u[:, 1]), -u[:, 0] * np.sin(u[:, 1])]), atol=1e-11
    )
    for form in (dx, dy, turn):
        np.testing.assert_allclose(form.pullback(polar, 2).pullback(cartesian, 2)(u), form(u), atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_wedge_is_antisymmetric_and_associative(seed):
    a, b, c = (a_form(seed + 10 * i, 1, 4) for i in range(3))
    two = a_form(seed, 2, 4)
    u = random_points(seed, 4)
    np.testing.assert_allclose((a ^ b)(u), -(b ^ a)(u), atol=1e-14)
    np.testing.assert_allclose((a ^ a)(u), 0, atol=1e-14)
    np.testing.assert_allclose((a ^ two)(u), (two ^ a)(u), atol=1e-14)
    np.testing.assert_allclose(((a ^ b) ^ c)(u), (a ^ (b ^ c))(u), atol=1e-13)
    np.testing.assert_allclose((a ^ (2.0 * b + c))(u), (2.0 * (a ^ b) + (a ^ c))(u), atol=1e-13)
    f = lambda v: np.sum(v, axis=1)  # noqa: E731
    np.testing.assert_allclose(((f * a) ^ b)(u), (f * (a ^ b))(u), atol=1e-13)
    np.testing.assert_allclose((a - a)(u), 0, atol=0)


def test_top_degree_wedge_is_the_determinant_and_beyond_it_nothing():
    rows = np.random.default_rng(0).normal(size=(3, 3))
    forms = [one_form([lambda u, a=a: np.full(len(u), a) for a in row]) for row in rows]
    u = random_points(0, 3)
    top = forms[0] ^ forms[1] ^ forms[2]
    np.testing.assert_allclose(top(u)[:, 0], np.linalg.det(rows))
    assert (top ^ forms[0])(u).shape == (len(u), 0)
    assert top.d()(u).shape == (len(u), 0)


def test_pullback_of_the_area_by_polar_coordinates_is_r():
    dx, dy = coordinate_forms(2)
    u = random_points(1, 2)
    np.testing.assert_allclose((dx ^ dy).pullback(polar, 2)(u)[:, 0], u[:, 0], atol=1e-11)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("degree", "other"), [(0, 1), (1, 1), (1, 2)])
def test_pullback_keeps_sums_products_and_d(seed, degree, other):
    mu = lambda y: np.column_stack([y[:, 0] * y[:, 1], np.sin(y[:, 1]) + y[:, 2], np.exp(0.5 * y[:, 0]) * y[:, 2]])  # noqa: E731
    a, b, c = a_form(seed, degree, 3), a_form(seed + 5, other, 3), a_form(seed + 9, degree, 3)
    y = random_points(seed, 3)
    pull = lambda form: form.pullback(mu, 3)  # noqa: E731
    np.testing.assert_allclose(pull(a + c)(y), (pull(a) + pull(c))(y), atol=1e-10)
    np.testing.assert_allclose(pull(a ^ b)(y), (pull(a) ^ pull(b))(y), atol=1e-9)
    np.testing.assert_allclose(pull(a.d())(y), pull(a).d()(y), atol=1e-7)


@pytest.mark.parametrize(("degree", "dim"), [(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)])
def test_d_of_d_is_zero_and_leibniz_holds(degree, dim):
    a, b = a_form(0, degree, dim), a_form(1, 1, dim)
    u = random_points(2, dim)
    np.testing.assert_allclose(a.d().d()(u), 0, atol=1e-7)
    sign = (-1.0) ** degree
    np.testing.assert_allclose(wedge(a, b).d()(u), ((a.d() ^ b) + sign * (a ^ b.d()))(u), atol=1e-8)


def test_d_of_a_function_is_its_gradient():
    u = random_points(3, 2)
    df = scalar_form(lambda x: x[:, 0] ** 2 * np.sin(x[:, 1]), 2).d()(u)
    np.testing.assert_allclose(
        df, np.column_stack([2 * u[:, 0] * np.sin(u[:, 1]), u[:, 0] ** 2 * np.cos(u[:, 1])]), atol=1e-11
    )


@pytest.mark.parametrize(
    "domain", [Disc(1.3), Box.of((-1, 2), (0.5, 1.5)), Box.of((0, 2 * np.pi), (0, 1), periodic=[True, False])]
)
@pytest.mark.parametrize("seed", range(3))
def test_stokes_in_the_plane(domain, seed):
    periodic = domain.periods.any()
    wave = lambda u: np.column_stack([np.sin(u[:, 0]) * np.exp(u[:, 1]), np.cos(2 * u[:, 0]) * u[:, 1]])  # noqa: E731
    form = DifferentialForm(1, 2, wave) if periodic else a_form(seed, 1, 2)
    inside = integrate_form(form.d(), domain)
    assert abs(inside) > 1e-3 or periodic
    assert inside == pytest.approx(boundary_integral(form, domain), abs=1e-9)


def test_green_on_a_disc_is_the_area():
    x_dy = one_form([lambda u: 0 * u[:, 0], lambda u: u[:, 0]])
    assert boundary_integral(x_dy, Disc(2.0)) == pytest.approx(4 * np.pi, abs=1e-11)


@pytest.mark.parametrize("seed", range(2))
def test_stokes_in_a_box_of_space_and_on_an_interval(seed):
    box = Box.of((0, 1), (-1, 1), (0.5, 2))
    form = a_form(seed, 2, 3)
    assert integrate_form(form.d(), box, 20) == pytest.approx(boundary_integral(form, box, 20), abs=1e-9)
    f = scalar_form(lambda u: np.sin(u[:, 0]), 1)
    assert boundary_integral(f, Box.of((0.2, 1.7))) == pytest.approx(np.sin(1.7) - np.sin(0.2), abs=1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_stokes_on_a_curved_cap(seed):
    cap = punched_sphere(0.6, 2.0)
    form = a_form(seed, 1, 3)
    inside = integrate_form(form.d(), cap)
    assert inside == pytest.approx(boundary_integral(form.pullback(cap.chart.map, 2), cap.chart.domain), abs=1e-8)


def test_a_flipped_chart_turns_the_sign_of_forms_and_of_the_boundary():
    cap = punched_sphere(0.6, 2.0)
    back = Manifold("mirror", (cap.chart.flipped(),))
    form = a_form(0, 2, 3)
    assert integrate_form(form, back) == pytest.approx(-integrate_form(form, cap), rel=1e-10)
    one = a_form(0, 1, 3)
    ours, theirs = (boundary_integral(one.pullback(m.chart.map, 2), m.chart.domain) for m in (cap, back))
    assert theirs == pytest.approx(-ours, rel=1e-9)
    assert volume(back) == pytest.approx(volume(cap), rel=1e-12)


def test_area_form_integrates_to_the_area_of_the_sphere():
    # The first chart is right-handed about the outward normal.
    assert integrate_form(area_form(), sphere(), 96) == pytest.approx(4 * np.pi, abs=1e-7)
    assert integrate_form(area_form(), oriented(sphere()), 96) == pytest.approx(4 * np.pi, abs=1e-7)


def test_integrals_of_forms_are_linear_positive_and_invariant_under_rotation():
    a, b = a_form(1, 2, 3), a_form(2, 2, 3)
    total = integrate_form(2.0 * a + b, sphere(), 80)
    assert total == pytest.approx(2 * integrate_form(a, sphere(), 80) + integrate_form(b, sphere(), 80), rel=1e-9)
    c, s = np.cos(0.7), np.sin(0.7)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) @ np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    turned = a.pullback(lambda x: x @ rotation.T, 3)
    assert integrate_form(turned, sphere(), 96) == pytest.approx(integrate_form(a, sphere(), 96), abs=1e-6)
    chart = torus().chart
    assert np.all(volume_form(chart)(chart.domain.quadrature(9)[0]) > 0)
    assert integrate_form(volume_form(chart), chart.domain) == pytest.approx(volume(torus()), rel=1e-12)


def test_orientation_sign_is_that_of_the_determinant():
    basis = np.eye(3)
    assert orientation_sign(basis, basis[:, [1, 2, 0]]) == 1
    assert orientation_sign(basis, basis[:, [1, 0, 2]]) == -1
    plane_in_space = np.array([[1.0, 0], [0, 1], [1, 1]])
    assert orientation_sign(plane_in_space, plane_in_space @ [[0, 1], [1, 0]]) == -1


def test_forms_of_the_wrong_kind_are_refused_in_words():
    dx, dy = coordinate_forms(2)
    with pytest.raises(InvalidInput, match="same degree"):
        dx + (dx ^ dy)
    with pytest.raises(InvalidInput, match="degree of the region"):
        integrate_form(dx, Disc(1.0))
    with pytest.raises(InvalidInput, match="orientable"):
        integrate_form(area_form(), moebius())
    with pytest.raises(InvalidInput, match="same space"):
        wedge(dx, coordinate_forms(3)[0])
    with pytest.raises(InvalidInput, match="one column per index list"):
        DifferentialForm(1, 2, lambda u: u[:, :1])([[0.0, 0.0]])
    assert isinstance(volume_form(Chart(polar, Box.of((1, 2), (0, 1)))), DifferentialForm)
