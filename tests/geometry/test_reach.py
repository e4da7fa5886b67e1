"""Minimum radius of curvature, branch separation, and chord against geodesic."""

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import (
    Box,
    Chart,
    Manifold,
    branch_separation,
    chord_bounds,
    min_radius_of_curvature,
    principal_curvatures,
)
from lowfold.geometry._closed import circle_distance, great_circle_distance
from lowfold.geometry._geodesics import arc_length
from lowfold.geometry._manifolds import (
    circle,
    circle_arc,
    clifford_torus,
    cylinder,
    ellipsoid,
    plane,
    s_curve,
    saddle,
    sphere,
    swiss_roll,
    torus,
)
from lowfold.geometry._reach import largest_normal_curvature


@pytest.mark.parametrize(
    ("manifold", "r_0"),
    [
        (circle(2.0), 2.0),
        (circle_arc(0.1), 1.0),
        (sphere(3.0), 3.0),
        (cylinder(2.0), 2.0),
        (torus(2.0, 0.5), 0.5),
        (s_curve(), 1.0),
        (saddle(), 0.5),
        (ellipsoid((1.0, 1.5, 2.0)), 0.5),  # a^2 / c at the end of the longest axis
        (clifford_torus(), np.sqrt(0.5)),
        (plane(), np.inf),
        (swiss_roll(), (1 + (1.5 * np.pi) ** 2) ** 1.5 / (2 + (1.5 * np.pi) ** 2)),
    ],
)
def test_min_radius_of_curvature(manifold, r_0):
    assert min_radius_of_curvature(manifold, 9) == pytest.approx(r_0, rel=1e-7)


@pytest.mark.parametrize("manifold", [torus(), ellipsoid(), saddle()])
def test_largest_normal_curvature_is_a_principal_curvature_of_a_hypersurface(manifold):
    u = manifold.chart.domain.quadrature(5)[0]
    expected = np.abs(principal_curvatures(manifold.chart, u)).max(axis=1)
    np.testing.assert_allclose(largest_normal_curvature(manifold.chart, u), expected, atol=1e-7)


def test_largest_normal_curvature_in_higher_codimension_beats_every_direction():
    w = np.random.default_rng(0).normal(size=(2, 3))
    chart = Chart(lambda u: np.column_stack([u, np.sin(u @ w)]), Box.of((-1, 1), (-1, 1)))
    u = chart.domain.quadrature(3)[0]
    best = largest_normal_curvature(chart, u)
    from lowfold.geometry._curvature import normal_curvature

    tried = [
        normal_curvature(chart, u, np.tile([np.cos(a), np.sin(a)], (len(u), 1))) for a in np.linspace(0, np.pi, 721)
    ]
    np.testing.assert_allclose(best, np.max(tried, axis=0), rtol=1e-4)


@pytest.mark.parametrize("gap", [0.05, 0.3])
def test_branch_separation_of_a_sampled_arc_converges(gap):
    errors = []
    for n in (40, 161):
        t = np.linspace(gap, 2 * np.pi - gap, n)
        x = np.column_stack([np.cos(t), np.sin(t)])
        errors.append(abs(branch_separation(x, np.abs(t[:, None] - t), 1.0) - 2 * np.sin(gap)))
    assert errors[1] < 1e-12  # both ends are in the sample
    t = gap + (2 * np.pi - 2 * gap) * (np.arange(400) + 0.5) / 400  # ends are not
    x = np.column_stack([np.cos(t), np.sin(t)])
    assert branch_separation(x, np.abs(t[:, None] - t), 1.0) == pytest.approx(2 * np.sin(gap), abs=0.02)


def test_branch_separation_of_spheres_and_of_short_curves():
    x = np.random.default_rng(0).normal(size=(20, 3))
    x = 2.0 * np.vstack([x, -x]) / np.linalg.norm(np.vstack([x, -x]), axis=1, keepdims=True)
    d = great_circle_distance(x[:, None], x[None], radius=2.0)
    assert branch_separation(x, d, 2.0) == pytest.approx(4.0, rel=1e-9)
    t = np.linspace(0, 1, 20)
    short = np.column_stack([np.cos(t), np.sin(t)])
    assert branch_separation(short, circle_distance(t[:, None], t), 1.0) == np.inf


@pytest.mark.parametrize("seed", range(4))
def test_chords_of_random_curves_keep_the_bounds(seed):
    rng = np.random.default_rng(seed)
    c, s = rng.normal(size=(2, 3, 3)) / np.arange(1, 4) ** 2

    def curve(t):
        j = np.arange(1, 4)
        return np.cos(t * j) @ c + np.sin(t * j) @ s

    r_0 = min_radius_of_curvature(Manifold("curve", (Chart(curve, Box.of((0, 2 * np.pi)), step=0.01),)), 4001) * 0.999
    for a in rng.uniform(0, 5, 5):
        for width in (0.1, 0.3, 0.8):
            d = arc_length(curve, a, a + width)
            if d >= np.pi * r_0:
                continue
            chord = float(np.linalg.norm(np.diff(curve(np.array([[a], [a + width]])), axis=0)))
            low, high = chord_bounds(d, r_0)
            assert low - 1e-12 <= chord <= high + 1e-12
            assert (1 - d**2 / (24 * r_0**2)) * d <= chord + 1e-12


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="geodesic"):
        branch_separation(np.zeros((3, 2)), np.zeros((2, 2)), 1.0)
