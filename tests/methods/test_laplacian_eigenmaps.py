"""Laplacian eigenmaps: closed-form spectra, constraints, both eigenproblems, every discretisation, new points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.stats import spearmanr
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import kneighbors_graph

import lowfold
from lowfold.datasets._graphs import path_graph, ring_graph
from lowfold.graph import Graph, Weights, laplacian
from lowfold.kernels import gaussian, scale_from_heat_time, scale_from_sigma


def graph_of(example) -> Graph:
    return Graph.from_edges(example.n, example.edges)


@pytest.mark.parametrize("n", [11, 40, 500])
def test_ring_and_path_have_their_closed_forms(n: int) -> None:
    ring = lowfold.LaplacianEigenmaps(2, weights="binary").fit(graph_of(ring_graph(n)))
    assert np.allclose(ring.eigenvalues_, 1 - np.cos(2 * np.pi / n), atol=1e-10)
    angle = np.arctan2(ring.embedding_[:, 1], ring.embedding_[:, 0])
    steps = np.diff(np.unwrap(angle))
    assert np.allclose(np.abs(steps), 2 * np.pi / n, atol=1e-5)
    path = lowfold.LaplacianEigenmaps(3, weights="binary").fit(graph_of(path_graph(n)))
    m = np.arange(1, 4)
    assert np.allclose(path.eigenvalues_, 1 - np.cos(np.pi * m / (n - 1)), atol=1e-10)
    fiedler = path.embedding_[:, 0]
    assert (np.diff(fiedler) > 0).all() or (np.diff(fiedler) < 0).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_constraints_objective_and_both_eigenproblems(seed: int) -> None:
    X = lowfold.datasets.s_curve(200, random_state=seed).X
    walk = lowfold.LaplacianEigenmaps(2, n_neighbors=8, scale="mean").fit(X)
    W = gaussian(walk.graph_, scale=walk.scale_)
    d, L, F = W.volumes(), laplacian(W).dense(), walk.embedding_
    assert np.allclose(walk.degrees_, d)
    assert np.allclose(F.T @ (d[:, None] * F), np.eye(2), atol=1e-8)
    assert np.allclose(d @ F, 0, atol=1e-8)
    assert np.allclose(L @ F, d[:, None] * F * walk.eigenvalues_, atol=1e-6)
    i, j, w = walk.graph_.rows(), walk.graph_.indices, W.values
    assert np.isclose(0.5 * (w * ((F[i] - F[j]) ** 2).sum(axis=1)).sum(), walk.eigenvalues_.sum())
    symmetric = lowfold.LaplacianEigenmaps(2, n_neighbors=8, laplacian="symmetric", scale="mean").fit(X)
    assert np.allclose(symmetric.eigenvalues_, walk.eigenvalues_, atol=1e-9)
    assert np.allclose(np.abs(symmetric.embedding_), np.abs(np.sqrt(d)[:, None] * F), atol=1e-5)
    values = scipy.linalg.eigh(L, np.diag(d), eigvals_only=True)
    assert np.allclose(walk.eigenvalues_, values[1:3], atol=1e-9)


def test_unnormalized_and_naive() -> None:
    X = lowfold.datasets.s_curve(150, random_state=0).X
    plain = lowfold.LaplacianEigenmaps(2, laplacian="unnormalized", scale="mean").fit(X)
    W = gaussian(plain.graph_, scale=plain.scale_)
    values, vectors = np.linalg.eigh(laplacian(W).dense())
    assert np.allclose(plain.eigenvalues_, values[1:3])
    assert np.allclose(np.abs(plain.embedding_), np.abs(vectors[:, 1:3]), atol=1e-5)
    naive = lowfold.LaplacianEigenmaps(2, laplacian="naive", self_loops=1.0, scale="mean").fit(X)
    loops = gaussian(naive.graph_, scale=naive.scale_, loops=1.0).matrix().toarray()
    theta, vectors = np.linalg.eigh(loops)
    assert np.allclose(np.abs(naive.embedding_), np.abs(vectors[:, ::-1][:, 1:3]), atol=1e-5)
    t = naive.scale_ / 4
    assert np.allclose(naive.eigenvalues_, (1 - theta[::-1][1:3] / theta[-1]) / t)
    more = lowfold.LaplacianEigenmaps(4, laplacian="naive", self_loops=1.0, scale="mean").fit(X)
    assert more.eigenvalues_[:2] == pytest.approx(naive.eigenvalues_)


def test_binary_weights_agree_with_scikit_learn() -> None:
    X = lowfold.datasets.s_curve(300, random_state=0).X
    ours = lowfold.LaplacianEigenmaps(2, n_neighbors=10, weights="binary").fit(X)
    affinity = ours.graph_.to_scipy(np.ones(len(ours.graph_.indices)))
    theirs = SpectralEmbedding(2, affinity="precomputed", eigen_solver="arpack", random_state=0)
    Y = theirs.fit_transform(affinity.toarray())
    for column in range(2):
        assert abs(np.corrcoef(Y[:, column], ours.embedding_[:, column])[0, 1]) > 1 - 1e-6


def test_wide_heat_weights_are_binary_weights() -> None:
    X = lowfold.datasets.s_curve(200, random_state=0).X
    wide = lowfold.LaplacianEigenmaps(2, scale=1e8).fit(X).embedding_
    assert np.allclose(wide, lowfold.LaplacianEigenmaps(2, weights="binary").fit(X).embedding_, atol=1e-6)
    as_function = lowfold.LaplacianEigenmaps(2, weights=lambda s: np.exp(-s / 0.5)).fit(X).embedding_
    assert np.allclose(as_function, lowfold.LaplacianEigenmaps(2, scale=0.5).fit(X).embedding_, atol=1e-8)
    assert scale_from_heat_time(0.5) == scale_from_sigma(1.0) == 2.0


def test_weights_must_be_positive_and_decreasing() -> None:
    X = lowfold.datasets.s_curve(100, random_state=0).X
    with pytest.raises(ValueError, match="decreasing"):
        lowfold.LaplacianEigenmaps(weights=lambda s: 1 + s).fit(X)
    with pytest.raises(ValueError, match="positive"):
        lowfold.LaplacianEigenmaps(weights=lambda s: 1 - 100 * s).fit(X)
    with pytest.raises(ValueError, match="scale = 1e-12 makes all weights of 100 of 100 points zero"):
        lowfold.LaplacianEigenmaps(scale=1e-12).fit(X)


@pytest.mark.parametrize("laplacian", ["random_walk", "symmetric", "unnormalized", "naive"])
def test_a_scale_too_small_for_one_point_is_refused_by_its_name(laplacian: str) -> None:
    X = np.vstack([lowfold.datasets.s_curve(100, random_state=0).X, [[40.0, 0.0, 0.0]]])
    with pytest.raises(ValueError, match=r"scale = 0.5 makes all weights of 1 of 101 points zero: of point 100"):
        lowfold.LaplacianEigenmaps(scale=0.5, laplacian=laplacian, n_neighbors=8).fit(X)


def test_self_loops_change_the_degrees_but_not_the_laplacian() -> None:
    X = lowfold.datasets.s_curve(150, random_state=0).X
    plain, looped = (lowfold.LaplacianEigenmaps(2, self_loops=s).fit(X) for s in (0.0, 1.0))
    assert np.allclose(looped.degrees_, plain.degrees_ + 1)
    assert (looped.eigenvalues_ < plain.eigenvalues_).all()
    W0, W1 = (Weights(plain.graph_, np.ones(len(plain.graph_.indices)), np.full(150, s)) for s in (0.0, 1.0))
    assert np.allclose(laplacian(W0).dense(), laplacian(W1).dense())


def test_the_circle_gives_sines_and_cosines() -> None:
    t = 2 * np.pi * np.arange(400) / 400
    X = np.column_stack([np.cos(t), np.sin(t)])
    heat_time = 1e-3
    model = lowfold.LaplacianEigenmaps(4, radius=0.25, scale=scale_from_heat_time(heat_time), self_loops=1.0).fit(X)
    assert np.allclose(model.eigenvalues_ / heat_time, [1, 1, 4, 4], rtol=0.01)


@pytest.mark.parametrize("laplacian_name", ["random_walk", "symmetric", "unnormalized", "naive"])
@pytest.mark.parametrize("loops", [0.0, 0.7])
def test_nystrom_is_exact_at_training_points(laplacian_name: str, loops: float) -> None:
    """Without the short cut for known points: a copy displaced by rounding comes back to its own place."""
    X = lowfold.datasets.s_curve(250, random_state=0).X
    model = lowfold.LaplacianEigenmaps(2, n_neighbors=8, laplacian=laplacian_name, self_loops=loops, tol=1e-10).fit(X)
    found = lowfold.graph.nearest(model._trained.source, 9, queries=X)
    others = lowfold.graph.Neighbors(
        np.arange(0, 250 * 8 + 1, 8),
        found.indices.reshape(250, 9)[:, 1:].ravel(),
        found.distances.reshape(250, 9)[:, 1:].ravel(),
        250,
    )
    extend = model._extend
    reverse = extend._edges(model._trained, X, others, model._run())
    own = reverse.indices != reverse.rows()
    counts = np.bincount(reverse.rows()[own], minlength=250)
    edges = lowfold.graph.Neighbors(
        np.concatenate([[0], np.cumsum(counts)]), reverse.indices[own], reverse.distances[own], 250
    )
    object.__setattr__(extend, "kth_distance", None)  # the edges are complete: nothing is added to them
    Y = extend.place(model._trained, X, edges, model._run())
    assert np.allclose(Y, model._trained.coordinates, atol=1e-6 * np.abs(model._trained.coordinates).max())


def test_new_points_lie_where_they_belong() -> None:
    curve = lowfold.datasets.s_curve(1200, random_state=0)
    model = lowfold.LaplacianEigenmaps(1, n_neighbors=10).fit(curve.X)
    new = lowfold.datasets.s_curve(100, random_state=1)
    order = spearmanr(model.transform(new.X)[:, 0], new.coordinates[:, 0]).statistic
    assert abs(order) > 0.98


def test_swiss_roll_first_coordinate_is_monotone_in_arc_length() -> None:
    roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    Y = lowfold.LaplacianEigenmaps(1, n_neighbors=10).fit_transform(roll.X)
    assert abs(spearmanr(Y[:, 0], roll.coordinates[:, 0]).statistic) > 0.97


def test_an_isolated_given_vertex_is_explained() -> None:
    graph = Graph.from_edges(6, [[0, 1], [1, 2], [2, 3], [3, 4]])
    with pytest.raises(ValueError, match="components"):
        lowfold.LaplacianEigenmaps(1).fit(graph)


@pytest.mark.parametrize("kind", ["random_walk", "symmetric", "unnormalized"])
def test_one_way_edges_of_half_weight_are_scikit_learns(kind: str) -> None:
    X = np.random.default_rng(31).normal(size=(150, 3))
    model = lowfold.LaplacianEigenmaps(3, n_neighbors=8, weights="binary", one_way=0.5, laplacian=kind).fit(X)
    A = kneighbors_graph(X, 8)
    assert np.allclose(model.affinity_matrix_.toarray(), ((A + A.T) / 2).toarray())
    values = np.sort(np.linalg.eigvalsh(model.operator().dense()))[1:4]
    assert np.allclose(model.eigenvalues_, values, atol=1e-8)
    beside = model.transform(X + 1e-9)  # no training point any more, but with the same edges and one to its twin
    assert np.abs(beside - model.embedding_).max() < 0.3 * np.abs(model.embedding_).max()
