"""Volumes and integrals with a partition of unity."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from lowfold.geometry import Manifold, integrate, volume
from lowfold.geometry._closed import swiss_roll_arclength
from lowfold.geometry._curvature import volume_density
from lowfold.geometry._integrals import bump, inner_product, rayleigh_quotient
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
    sphere,
    swiss_roll,
    torus,
)
from lowfold.geometry._spectra import sphere_harmonics

ROLL = float(np.diff(swiss_roll_arclength([1.5 * np.pi, 4.5 * np.pi]))[0])


@pytest.mark.parametrize(
    ("manifold", "expected"),
    [
        (interval(2.0), 2.0),
        (plane(2.0, 3.0), 6.0),
        (circle(3.0), 6 * np.pi),
        (circle_arc(0.1, 2.0), 4 * (np.pi - 0.1)),
        (torus(3.0, 0.5), 4 * np.pi**2 * 1.5),
        (flat_torus((0.2, 2.0, 5.0)), 2.0),
        (clifford_torus(), 2 * np.pi**2),
        (cylinder(2.0, 3.0), 12 * np.pi),
        (swiss_roll(21.0), 21 * ROLL),
        (swiss_roll(51.0, "arclength"), 51 * ROLL),
        (s_curve(5.0), 15 * np.pi),
        (punched_sphere(0.75, 1.0), np.pi * 0.75),  # a zone of a sphere has the area 2 pi R height
    ],
)
def test_volumes(manifold, expected):
    order = 16 if manifold.dim == 3 else 48
    assert volume(manifold, order) == pytest.approx(expected, rel=1e-9)


def test_sphere_area_by_two_charts_and_by_one_over_the_whole_plane():
    assert volume(sphere(2.0), 96) == pytest.approx(16 * np.pi, abs=1e-7)
    chart = sphere().chart
    assert volume(Manifold("cap", (chart,))) == pytest.approx(3 * np.pi, abs=1e-9)
    radial = quad(lambda r: 2 * np.pi * r * volume_density(chart, [[r, 0.0]])[0], 0, np.inf)[0]
    assert radial == pytest.approx(4 * np.pi, rel=1e-6)


def test_ellipsoid_of_revolution_has_its_closed_area():
    a, c = 1.0, 2.0
    e = np.sqrt(1 - a**2 / c**2)
    assert volume(ellipsoid((a, a, c)), 96) == pytest.approx(
        2 * np.pi * a**2 * (1 + c / (a * e) * np.arcsin(e)), abs=1e-6
    )


def test_integral_does_not_depend_on_the_partition():
    whole = sphere()

    def other(x):
        north = bump(1.25 * x[:, 2] + 0.4)
        return np.column_stack([north, 1 - north])

    f = lambda x: np.exp(x[:, 0]) + x[:, 2]  # noqa: E731
    assert integrate(whole, f, 128) == pytest.approx(integrate(replace(whole, partition=other), f, 128), abs=1e-7)
    assert integrate(whole, f, 128) == pytest.approx(4 * np.pi * np.sinh(1), abs=1e-8)
    one = Manifold("cut open", (moebius().chart,))
    assert volume(moebius(), 128) == pytest.approx(volume(one), abs=1e-7)


def test_spherical_harmonics_are_orthonormal():
    basis = [lambda x, d=d, m=m: sphere_harmonics(x, d)[:, m] for d in range(3) for m in range(2 * d + 1)]
    for i, f in enumerate(basis):
        for j in range(i, len(basis)):
            assert inner_product(sphere(), f, basis[j], 64) == pytest.approx(float(i == j), abs=1e-5)


def test_rayleigh_quotients_bound_the_eigenvalues_from_above():
    """Circle: 0, 1, 1, 4, ...; trial functions orthogonal to the eigenfunctions before."""
    ring = circle()
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])  # noqa: E731
    assert rayleigh_quotient(ring, lambda x: x[:, 0]) == pytest.approx(1, abs=1e-10)
    rng = np.random.default_rng(0)
    for first, lowest in ((1, 1.0), (2, 4.0), (3, 9.0)):
        for _ in range(3):
            c, s = rng.normal(size=(2, 6))

            def trial(x, c=c, s=s, first=first):
                j = np.arange(first, first + 6)
                return np.cos(np.outer(angle(x), j)) @ c + np.sin(np.outer(angle(x), j)) @ s

            assert rayleigh_quotient(ring, trial) >= lowest - 1e-9


def test_bump_is_a_smooth_step():
    x = np.linspace(-1, 2, 301)
    y = bump(x)
    assert y[0] == 0
    assert y[-1] == 1
    assert np.all(np.diff(y) >= 0)
    np.testing.assert_allclose(y + bump(1 - x), 1, atol=1e-15)
