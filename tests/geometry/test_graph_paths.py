"""Paths of a neighbourhood graph against the geodesic distance: Wang (2012), Lemma 8.1 and Theorem 8.2.

d_G adds up chords of the edges, d_S adds up their geodesic lengths; d_M is the distance on the manifold.
"""

import numpy as np
import pytest

from lowfold.geometry._closed import great_circle_distance
from lowfold.geometry._manifolds import circle, circle_arc, sphere, swiss_roll
from lowfold.graph import Graph, geodesics


def paths(edge, length):
    """Shortest paths over the edges (i, j) where `edge` holds."""
    i, j = np.nonzero(np.triu(edge, 1))
    return geodesics(Graph.from_edges(len(edge), np.column_stack([i, j]), length[i, j]), dtype=np.float64)


def sampled(name, seed):
    """Points and the matrix d_M."""
    rng = np.random.default_rng(seed)
    if name == "sphere":
        x = rng.normal(size=(150, 3))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return x, great_circle_distance(x[:, None], x[None])
    manifold = {"circle": circle, "arc": circle_arc, "roll": swiss_roll}[name]()
    box = manifold.chart.domain
    x = manifold.chart.points(rng.uniform(box.lower, box.upper, (150, manifold.dim)))
    return x, manifold.distance(x[:, None], x[None])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("name", "eps"), [("circle", 0.4), ("arc", 0.4), ("sphere", 0.8), ("roll", 18.0)])
def test_both_path_lengths_are_metrics_below_and_above_the_geodesic(name, eps, seed):
    x, d_M = sampled(name, seed)
    chord = np.linalg.norm(x[:, None] - x[None], axis=-1)
    edge = d_M <= eps
    d_S, d_G = paths(edge, d_M), paths(edge, chord)
    assert np.isfinite(d_S).all()
    assert np.all(d_M <= d_S + 1e-9)
    assert np.all(d_G <= d_S + 1e-9)
    for d in (d_S, d_G):
        np.testing.assert_allclose(d, d.T, atol=1e-12)
        assert np.all(d[:, None, :] <= d[:, :, None] + d[None] + 1e-9)  # triangles


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("ratio", [4.5, 8.0, 20.0])
def test_a_dense_sample_keeps_the_geodesic_distance(n, ratio):
    """Spacing 2 delta and edges up to eps > 4 delta: d_M <= d_S <= (1 + 4 delta / eps) d_M."""
    gap = 0.2
    t = np.linspace(gap, 2 * np.pi - gap, n)
    delta = 0.5 * (t[1] - t[0])
    eps = ratio * delta
    # Every second point is moved by a little less than the sampling allows, so that paths are not exact.
    angle = t + 0.4 * delta * np.sin(7.0 * np.arange(n))
    delta *= 1.4
    if eps <= 4 * delta:
        eps = 4.01 * delta
    d_M = np.abs(angle[:, None] - angle)
    d_S = paths(d_M <= eps, d_M)
    assert np.all(d_S >= d_M - 1e-12)
    assert np.all(d_S <= (1 + 4 * delta / eps) * d_M + 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_on_the_sphere_where_paths_are_not_exact(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    probe = sphere().chart.points(sphere().chart.domain.quadrature(40)[0])
    probe = np.vstack([probe, -probe])
    delta = 1.05 * great_circle_distance(probe[:, None], x[None]).min(axis=1).max()
    eps = 4.5 * delta
    d_M = great_circle_distance(x[:, None], x[None])
    d_S = paths(d_M <= eps, d_M)
    apart = d_M > 0
    ratio = d_S[apart] / d_M[apart]
    assert ratio.min() >= 1 - 1e-11
    assert 1 + 1e-4 < ratio.max() <= 1 + 4 * delta / eps
