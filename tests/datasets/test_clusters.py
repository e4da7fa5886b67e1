"""Clusters, subspaces and clouds."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

import lowfold.datasets as datasets


def pieces(X, k):
    """Number of components of the graph of k nearest neighbours."""
    _, index = cKDTree(X).query(X, k + 1)
    A = np.zeros((len(X), len(X)), dtype=bool)
    A[np.arange(len(X))[:, None], index[:, 1:]] = True
    return connected_components(A, directed=False)[0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_three_linked_spheres(seed):
    data = datasets.cluster_3d(1000, random_state=seed)
    assert set(data.labels) == {0, 1, 2, 3}
    assert (data.labels == 0).sum() == 18
    for label, center in enumerate(((0, 0, 0), (4, 2, 1), (7, -1, 3)), start=1):
        np.testing.assert_allclose(np.linalg.norm(data.X[data.labels == label] - center, axis=1), 1)
    # The neighbourhood graph is connected at the usual size and falls apart when it is small.
    assert pieces(data.X, 10) == 1
    assert pieces(data.X, 2) > 1
    # A segment is straight, and its points are equally spaced, the gaps at the spheres included.
    segment = np.vstack([np.array([4, 2, 1]) / np.sqrt(21), data.X[data.labels == 0][:9]])
    steps = np.diff(segment, axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape))


def test_cluster_options():
    solid = datasets.cluster_3d(900, random_state=0, solid=True, radius=0.5, points_per_segment=0)
    assert set(solid.labels) == {1, 2, 3}
    assert solid.intrinsic_dim == 3
    r = np.linalg.norm(solid.X[solid.labels == 1], axis=1)
    assert r.max() <= 0.5
    assert np.mean(r < 0.25) == pytest.approx(1 / 8, abs=0.06)
    two = datasets.cluster_3d(50, random_state=0, centers=[[0, 0, 0], [0, 0, 9]], points_per_segment=4)
    assert np.bincount(two.labels).tolist() == [4, 23, 23]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unions_of_subspaces(seed):
    data = datasets.union_of_subspaces(90, random_state=seed, dims=(2, 1, 3), ambient_dim=6)
    assert np.bincount(data.labels).tolist() == [30, 30, 30]
    for label, d in enumerate((2, 1, 3)):
        own = data.labels == label
        assert np.linalg.matrix_rank(data.X[own]) == d
        # The basis is orthonormal: parameters have the lengths of the points.
        np.testing.assert_allclose(np.linalg.norm(data.parameters[own], axis=1), np.linalg.norm(data.X[own], axis=1))
    planes = datasets.union_of_subspaces(100, random_state=seed, dims=(2, 2)).X
    i, j = np.triu_indices(3)
    assert np.linalg.matrix_rank(planes[:, i] * planes[:, j], tol=1e-9) == 5  # degree-2 monomials vanish on one conic


def test_kernel_pca_toy():
    data = datasets.kernel_pca_toy(90, random_state=0)
    assert np.bincount(data.labels).tolist() == [30, 30, 30]
    means = np.array([data.X[data.labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(means, [(-0.5, -0.2), (0, 0.6), (0.5, 0)], atol=0.08)
    # The first two components of the centred kernel separate the clouds.
    d2 = ((data.X[:, None] - data.X) ** 2).sum(axis=2)
    J = np.eye(90) - 1 / 90
    _, vectors = np.linalg.eigh(J @ np.exp(-d2 / 0.1) @ J)
    scores = vectors[:, -2:]
    centers = np.array([scores[data.labels == c].mean(axis=0) for c in range(3)])
    nearest = np.linalg.norm(scores[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == data.labels).all()


def test_classes_share_the_points():
    assert np.bincount(datasets.moons(11, random_state=0).labels).tolist() == [6, 5]
    assert np.bincount(datasets.concentric_circles(10, radii=(1, 2, 3)).labels).tolist() == [4, 3, 3]
