"""Planes that most of the shortest entries lie in: those of least squares on a sheet, and not led astray by another."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold.graph._local_planes import robust_planes
from lowfold.graph._near_planes import near_planes
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.graph._types import Graph
from lowfold.metrics._resolve import resolve_metric


def _graph(X: np.ndarray, k: int) -> Graph:
    return nearest(Points(np.ascontiguousarray(X), resolve_metric("euclidean", None, None)), k).union()


def _turned(X: np.ndarray, D: int, seed: int) -> np.ndarray:
    return X @ np.linalg.qr(np.random.default_rng(seed).normal(size=(D, D)))[0][: X.shape[1]]


@pytest.mark.parametrize("D", [3, 40])
def test_the_tangent_plane_of_a_surface(D: int) -> None:
    rng = np.random.default_rng(9000)
    P = rng.random((800, 2))
    X = _turned(np.column_stack([P, 0.02 * P[:, 0] ** 2]), D, 9001)
    around = near_planes(_graph(X, 10), X, np.arange(800), 2)
    normals = np.column_stack([-0.04 * P[:, 0], np.zeros(800), np.ones(800)])
    normals = _turned(normals / np.linalg.norm(normals, axis=1)[:, None], D, 9001)
    assert np.abs(np.einsum("mcd,md->mc", around.planes, normals)).max() < 0.02
    gram = np.einsum("mcd,med->mce", around.planes, around.planes)
    assert np.abs(gram - np.eye(2)).max() < 1e-9
    assert np.abs(around.height).max() < 0.02 * around.length.max()


@pytest.mark.parametrize("D", [3, 40])
def test_a_few_neighbours_on_another_sheet_have_no_say(D: int) -> None:
    """Three of ten straight above the plane, not among the nearer half: it stays, and they keep their heights."""
    rng = np.random.default_rng(9002)
    far = rng.random((60, 7, 2)) + 0.5
    hub = np.arange(60) * 11
    X = np.zeros((660, 3))
    X.reshape(60, 11, 3)[:, 1:8, :2] = far * rng.choice([-1, 1], size=far.shape)
    X.reshape(60, 11, 3)[:, 8:, 2] = 2 + rng.random((60, 3))
    X = _turned(X, D, 9003)
    edges = np.column_stack([np.repeat(hub, 10), (hub[:, None] + np.arange(1, 11)).ravel()])
    graph = Graph.from_edges(660, edges, np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1))
    around = near_planes(graph, X, hub, 2)
    above = (graph.indices[around.entries] - hub[:, None]) > 7
    sines = around.height / around.length
    assert sines[above].min() > 0.99
    assert sines[~above].max() < 0.1


@pytest.mark.parametrize("D", [3, 40])
def test_as_the_planes_of_singular_vectors(D: int) -> None:
    rng = np.random.default_rng(9004)
    P = rng.random((500, 2))
    X = _turned(np.column_stack([P, 0.3 * np.sin(3 * P[:, 0])]), D, 9005)
    graph = _graph(X, 10)
    around = near_planes(graph, X, np.arange(500), 2)
    V = X[graph.indices[around.entries]] - X[:, None]
    expected, height = robust_planes(V, around.length, around.real, 2)
    cosines = np.linalg.svd(around.planes @ expected, compute_uv=False)[:, -1]
    assert cosines.min() > 0.999
    assert np.abs(around.height - height).max() < 0.02 * around.length.max()
