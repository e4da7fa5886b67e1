"""Spectral clustering: components exactly, rings and moons, normalised cuts, a real picture."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import lowfold
from lowfold._core.errors import AccuracyWarning, DisconnectedWarning, InvalidInput
from lowfold._core.run import Run
from lowfold.graph import Graph, Weights, pixel_graph
from lowfold.kernels import gaussian
from lowfold.methods.spectral_clustering import k_means, normalized_cut, null_vectors

SEEDS = [0, 1, 2]
KINDS = ["random_walk", "symmetric", "unnormalized"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [lowfold.datasets.concentric_circles, lowfold.datasets.moons])
def test_shapes_that_k_means_cannot_separate(seed: int, kind: str, make: object) -> None:
    data = make(400, random_state=seed)
    labels = lowfold.SpectralClustering(2, n_neighbors=8, laplacian=kind).fit_predict(data.X)
    assert adjusted_rand_score(data.labels, labels) == 1
    assert adjusted_rand_score(data.labels, KMeans(2, n_init=5, random_state=0).fit_predict(data.X)) < 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_components_are_distinct_points(kind: str) -> None:
    blobs = [np.random.default_rng(i).normal(size=(20 + 5 * i, 2)) + 100 * i for i in range(3)]
    truth = np.repeat(np.arange(3), [20, 25, 30])
    model = lowfold.SpectralClustering(3, n_neighbors=6, laplacian=kind).fit(np.vstack(blobs))
    assert adjusted_rand_score(truth, model.labels_) == 1
    assert model.normalized_cut_ == 0
    if kind != "symmetric":  # there rows are indicators times sqrt(d)
        assert len(np.unique(model.embedding_.round(12), axis=0)) == 3
    assert np.allclose(model.eigenvalues_, 0)
    assert np.array_equal(model.predict(np.vstack(blobs) + 1e-3), model.labels_)


@pytest.mark.parametrize("seed", SEEDS)
def test_left_eigenvectors_of_the_degree_normalised_laplacian(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(60, 2))
    model = lowfold.SpectralClustering(4, n_neighbors=12, scale="mean").fit(X)
    W = gaussian(model.graph_, scale=model.scale_)
    D, A = W.volumes(), W.matrix().toarray()
    M = (np.diag(D) - A) / D  # L D^-1
    U = model.embedding_
    assert np.allclose(U.T @ M, model.eigenvalues_[:, None] * U.T, atol=1e-9)
    assert np.allclose(U[:, 0], U[0, 0])  # the trivial vector is kept
    assert np.allclose(U.T @ (D[:, None] * U), np.eye(4), atol=1e-9)
    plain = lowfold.SpectralClustering(4, n_neighbors=12, scale="mean", laplacian="unnormalized").fit(X)
    assert np.allclose((np.diag(D) - A) @ plain.embedding_, plain.embedding_ * plain.eigenvalues_, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_clusters_come_near_the_best_cut(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(6, 2)), rng.normal(size=(5, 2)) + np.array([3.5, 0])])
    model = lowfold.SpectralClustering(2, n_neighbors=10, scale=4.0).fit(X)
    W = gaussian(model.graph_, scale=4.0)
    best = min(normalized_cut(W, [0, *bits]) for bits in product([0, 1], repeat=10) if any(bits))
    assert model.normalized_cut_ <= 1.05 * best
    assert np.isclose(normalized_cut(W, model.labels_), model.normalized_cut_)


@pytest.mark.parametrize("seed", SEEDS)
def test_number_of_clusters_by_the_gap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(50, 2)) * 0.6 + 4 * np.array(c) for c in [(0, 0), (0, 1), (1, 0), (1, 1)]])
    model = lowfold.SpectralClustering(None, n_neighbors=15).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(np.repeat(np.arange(4), 50), model.labels_) > 0.98


def test_more_components_than_clusters_is_said() -> None:
    X = np.vstack([np.random.default_rng(i).normal(size=(15, 2)) + 100 * i for i in range(3)])
    with pytest.warns(DisconnectedWarning, match="3 components, more than 2"):
        model = lowfold.SpectralClustering(2, n_neighbors=4).fit(X)
    assert len(np.unique(model.labels_)) == 2
    for i in range(3):  # no component is torn
        assert len(np.unique(model.labels_[15 * i : 15 * i + 15])) == 1


def test_null_vectors_are_the_components() -> None:
    graph = Graph.from_edges(5, [[0, 1], [1, 2], [3, 4]])
    Z = null_vectors(Weights.unit(graph), "random_walk")
    d = np.array([1.0, 2, 1, 1, 1])
    assert np.allclose(Z.T @ (d[:, None] * Z), np.eye(2))
    isolated = Graph.from_edges(4, [[0, 1], [1, 2]])
    labels = lowfold.SpectralClustering(2, weights="binary").fit_predict(isolated)
    assert adjusted_rand_score([0, 0, 0, 1], labels) == 1


def test_starts_and_seeds() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    few = lowfold.SpectralClustering(6, n_init=1, random_state=3).fit(X)
    many = lowfold.SpectralClustering(6, n_init=20, random_state=3).fit(X)

    def inertia(model: object) -> float:
        return float(((model.embedding_ - model.cluster_centers_[model.labels_]) ** 2).sum())

    assert inertia(many) <= inertia(few) + 1e-12
    again = lowfold.SpectralClustering(6, n_init=1, random_state=3).fit(X)
    assert np.array_equal(few.labels_, again.labels_)


def test_way_back_and_words() -> None:
    X = lowfold.datasets.circle(100, random_state=0).X
    model = lowfold.SpectralClustering(3).fit(X)
    assert np.abs(model.inverse_transform(model.embedding_) - X).max() < 0.05
    with pytest.raises(InvalidInput, match="at most n_samples = 4"):
        lowfold.SpectralClustering(8).fit(X[:4])


def test_pixel_graph() -> None:
    graph = pixel_graph(np.array([[0.0, 0.0], [1.0, 1.0]]), radius=1.5, intensity=0.5, distance=2.0)
    assert graph.n_edges == 6
    table = {tuple(edge): d for edge, d in zip(graph.edges().tolist(), graph.lengths[graph.rows() < graph.indices])}
    assert np.isclose(table[0, 1], 0.5)
    assert np.isclose(table[0, 2], np.sqrt(4 + 0.25))
    assert np.isclose(table[0, 3], np.sqrt(4 + 0.5))


def test_a_two_tone_picture_is_cut_along_its_border() -> None:
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[:30, :40]
    disc = (yy - 15) ** 2 + (xx - 18) ** 2 < 80
    picture = 0.3 + 0.4 * disc + 0.03 * rng.normal(size=disc.shape)
    labels = lowfold.SpectralClustering(2, scale=1.0).fit_predict(pixel_graph(picture, radius=4))
    assert adjusted_rand_score(disc.ravel(), labels) > 0.97


@pytest.mark.extra("PIL")
@pytest.mark.slow
def test_a_real_picture() -> None:
    """The temple photograph that scikit-learn ships: regions that the cut finds are alike in colour."""
    from sklearn.datasets import load_sample_image

    picture = load_sample_image("china.jpg")[::10, ::10] / 255.0
    model = lowfold.SpectralClustering(4, scale=1.0).fit(pixel_graph(picture, radius=4, intensity=0.15))
    colours = picture.reshape(-1, 3)
    means = np.array([colours[model.labels_ == c].mean(axis=0) for c in range(4)])
    assert ((colours - means[model.labels_]) ** 2).sum() < 0.7 * ((colours - colours.mean(axis=0)) ** 2).sum()
    assert model.normalized_cut_ < 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_discrete_rows_by_rotation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = rng.integers(4, size=80)
    X = rng.normal(size=(80, 3)) * 0.4 + 9 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[label]
    model = lowfold.SpectralClustering(4, assign_labels="discretize", random_state=seed).fit(X)
    assert len(set(zip(label.tolist(), model.labels_.tolist()))) == 4
    assert np.array_equal(model.predict(X), model.labels_)


def test_clusters_of_uneven_density_are_found_as_well_as_without_a_scale():
    """With the mean edge as scale, three of these ten lose a cluster to single points of the sparsest."""
    lost = {"auto": 0, "mean": 0}
    for seed in range(80, 90):
        X, kinds = make_blobs(500, centers=4, cluster_std=[1.0, 2.5, 0.5, 1.5], random_state=seed)
        plain = adjusted_rand_score(kinds, lowfold.SpectralClustering(4, weights="binary").fit_predict(X))
        for scale in lost:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccuracyWarning)
                labels = lowfold.SpectralClustering(4, scale=scale).fit_predict(X)
            lost[scale] += adjusted_rand_score(kinds, labels) < plain - 0.1
    assert lost["auto"] == 0 < lost["mean"], lost


@pytest.mark.parametrize("seed", range(1200, 1204))
def test_k_means_ends_as_low_as_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.normal(size=(60, 3)) + 3 * rng.normal(size=3) for _ in range(6)])
    labels, centres = k_means(rows, 6, 10, Run(rng=rng))
    inertia = float(np.sum((rows - centres[labels]) ** 2))
    assert inertia <= 1.01 * KMeans(6, n_init=10, random_state=seed).fit(rows).inertia_
    np.testing.assert_allclose(centres, [rows[labels == c].mean(axis=0) for c in range(6)])


def test_k_means_of_fewer_rows_than_clusters_leaves_some_empty() -> None:
    rows = np.repeat(np.eye(2), 5, axis=0)
    labels, centres = k_means(rows, 4, 3, Run())
    assert len(np.unique(labels)) == 2
    np.testing.assert_array_equal(centres[labels], rows)
