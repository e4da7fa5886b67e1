"""Isomap: unrolls developable surfaces, equals MDS of geodesics, and says how far it can be trusted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.manifold import Isomap as Reference

import lowfold


def residual(Y: np.ndarray, truth: np.ndarray) -> float:
    """Relative Procrustes residual."""
    return float(np.sqrt(procrustes(truth, Y)[2]))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("k", "allowed"), [(5, 0.2), (8, 0.1), (10, 0.1)])
def test_swiss_roll_is_unrolled(seed: int, k: int, allowed: float) -> None:
    roll = lowfold.datasets.swiss_roll(1000, random_state=seed)
    assert residual(lowfold.Isomap(n_neighbors=k).fit_transform(roll.X), roll.coordinates) < allowed


def test_s_curve_square_and_the_failure_of_pca() -> None:
    curve = lowfold.datasets.s_curve(1000, random_state=0)
    assert residual(lowfold.Isomap().fit_transform(curve.X), curve.coordinates) < 0.1
    flat = lowfold.datasets.square(600, random_state=0)
    assert residual(lowfold.Isomap().fit_transform(flat.X), flat.coordinates) < 0.05
    roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    assert residual(lowfold.PCA().fit_transform(roll.X), roll.coordinates) > 0.5


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scikit_learn(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(300, random_state=seed).X
    ours, theirs = lowfold.Isomap(n_neighbors=9).fit(X), Reference(n_neighbors=9).fit(X)
    assert np.allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-5)
    new = lowfold.datasets.swiss_roll(40, random_state=seed + 10).X
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    assert np.allclose(ours.transform(new) * signs, theirs.transform(new), atol=1e-4)


def test_complete_graph_is_classical_mds_and_pca() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    Y = lowfold.Isomap(n_neighbors=49).fit_transform(X)
    assert np.allclose(np.abs(Y), np.abs(lowfold.ClassicalMDS().fit_transform(X)), atol=1e-6)
    assert np.allclose(np.abs(Y), np.abs(lowfold.PCA().fit_transform(X)), atol=1e-6)


def test_error_identity_and_orthogonal_columns() -> None:
    X = lowfold.datasets.swiss_roll(200, random_state=2).X
    model = lowfold.Isomap(2, n_neighbors=8).fit(X)
    D = shortest_path(model.graph_.to_scipy(), directed=False)
    Y = model.embedding_
    assert np.isclose((D**2 - cdist(Y, Y) ** 2).sum() / (2 * len(X)), model.reconstruction_error_, rtol=1e-9)
    assert np.allclose(Y.T @ Y, np.diag(model.eigenvalues_), rtol=1e-8, atol=1e-6)


def test_path_algorithms_agree() -> None:
    X = lowfold.datasets.s_curve(150, random_state=0).X
    reference = lowfold.Isomap(paths="auto").fit(X).embedding_
    for paths in ("sweep", "dijkstra", "floyd_warshall"):
        assert np.allclose(lowfold.Isomap(paths=paths).fit(X).embedding_, reference, atol=1e-8)


def test_every_kind_of_input_gives_the_same() -> None:
    X = lowfold.datasets.s_curve(200, random_state=1).X
    reference = lowfold.Isomap(n_neighbors=8).fit(X)
    D = cdist(X, X)
    sparse = csr_array(reference.graph_.to_scipy())
    for model in (
        lowfold.Isomap(n_neighbors=8, metric="precomputed").fit(D),
        lowfold.Isomap(n_neighbors=8, metric="precomputed_squared").fit(D**2),
        lowfold.Isomap(n_neighbors=8, metric=lambda x, y: np.sqrt(((x - y) ** 2).sum())).fit(X),
        lowfold.Isomap().fit(reference.graph_),
        lowfold.Isomap(n_neighbors=150, metric="precomputed").fit(sparse),
        lowfold.Isomap(n_neighbors=np.full(200, 8)).fit(X),
    ):
        assert np.allclose(np.abs(model.embedding_), np.abs(reference.embedding_), atol=1e-5)
    placed = lowfold.Isomap(n_neighbors=8, metric="precomputed").fit(D).transform(cdist(X[:5] + 0.01, X))
    assert np.allclose(np.abs(placed), np.abs(reference.transform(X[:5] + 0.01)), atol=1e-4)
    with pytest.raises(ValueError, match="graph"):
        lowfold.Isomap().fit(reference.graph_).transform(X)


def test_radius_and_k_combine() -> None:
    X = lowfold.datasets.square(300, random_state=0).X
    radius = 0.3
    ball = lowfold.Isomap(radius=radius).fit(X)
    assert ball.graph_.lengths.max() <= radius
    assert ball.n_neighbors_ is None
    inside = cdist(X, X) <= radius
    assert ball.graph_.n_edges == (inside.sum() - len(X)) // 2
    both = lowfold.Isomap(n_neighbors=6, radius=radius).fit(X)
    assert both.graph_.n_edges < ball.graph_.n_edges
    with pytest.raises(ValueError, match="row 0 of the new points has no neighbour within radius"):
        ball.transform(X[:1] + 100)


def test_residual_variance_finds_two_dimensions() -> None:
    roll = lowfold.datasets.swiss_roll(800, random_state=0)
    curve = lowfold.Isomap(n_neighbors=8).fit(roll.X).residual_variance()
    assert len(curve) == 10
    assert curve[0] > 5 * curve[1]
    assert curve[1] < 0.01
    assert curve[1] - curve[2:].min() < 0.1 * curve[0]


def test_geodesic_distances_of_new_points() -> None:
    roll = lowfold.datasets.swiss_roll(800, random_state=0)
    model = lowfold.Isomap(n_neighbors=8).fit(roll.X)
    i, j = np.array([3, 10, 200]), np.array([500, 20, 700])
    D = model.distances(roll.X[i], roll.X[j], kind="geodesic")
    full = shortest_path(model.graph_.to_scipy(), directed=False)
    assert np.allclose(D, full[np.ix_(i, j)])
    near = model.distances(roll.X[i] + 1e-3, roll.X[j], kind="geodesic")
    assert np.allclose(near, D, rtol=0.1)


def test_duplicates_share_their_place() -> None:
    X = lowfold.datasets.s_curve(120, random_state=0).X
    Y = lowfold.Isomap(n_neighbors=8).fit_transform(np.vstack([X, X[:3]]))
    assert np.allclose(Y[:3], Y[120:], atol=1e-6)


def test_guarantee_holds_on_an_arc() -> None:
    t = np.linspace(0.6, 2 * np.pi - 0.6, 400)
    X = np.column_stack([np.cos(t), np.sin(t)])
    eps, delta = 0.3, (t[1] - t[0]) / 2
    bound = lowfold.isomap_guarantee(r0=1.0, s0=2 * np.sin(0.6), eps=eps, delta=delta)
    D = shortest_path(lowfold.Isomap(1, radius=eps).fit(X).graph_.to_scipy(), directed=False)
    truth = np.abs(t[:, None] - t)
    ratio = D[truth > 0] / truth[truth > 0]
    assert 1 - bound.lower <= ratio.min()
    assert ratio.max() <= 1 + bound.upper
    scaled = lowfold.isomap_guarantee(r0=3.0, s0=6 * np.sin(0.6), eps=3 * eps, delta=3 * delta)
    assert np.allclose(scaled, bound)
    with pytest.raises(ValueError, match="branch separation"):
        lowfold.isomap_guarantee(r0=1.0, s0=0.2, eps=0.3, delta=0.01)


def test_distortion_grows_as_the_sphere_closes() -> None:
    errors = []
    for height in (0.5, 0.75, 0.95):
        X = lowfold.datasets.punched_sphere(600, height=height, random_state=0).X
        model = lowfold.Isomap(n_neighbors=10).fit(X)
        errors.append(model.reconstruction_error_ / (model.reconstruction_error_ + model.eigenvalues_.sum()))
    assert errors[0] < errors[1] < errors[2]


def test_sparse_and_dense_distances_of_new_points_may_be_mixed() -> None:
    X = lowfold.datasets.s_curve(150, random_state=1).X
    D, rows = cdist(X, X), cdist(X[:4] + 0.01, X)
    near = np.where(D < 4, D, 0.0)
    sparse_rows = csr_array(np.where(rows < 4, rows, 0.0))
    dense = lowfold.Isomap(n_neighbors=8, metric="precomputed").fit(D)
    sparse = lowfold.Isomap(n_neighbors=8, metric="precomputed").fit(csr_array(near))
    expected = dense.transform(rows)
    for placed in (dense.transform(sparse_rows), sparse.transform(rows), sparse.transform(sparse_rows)):
        assert np.allclose(np.abs(placed), np.abs(expected), atol=1e-5)


def test_reconstruction_error_is_that_of_scikit_learn() -> None:
    from sklearn import manifold

    roll = lowfold.datasets.swiss_roll(120, random_state=3)
    ours = lowfold.Isomap(2, n_neighbors=12, on_shortcut="ignore").fit(roll.X).reconstruction_error()
    assert np.isclose(ours, manifold.Isomap(n_neighbors=12).fit(roll.X).reconstruction_error(), rtol=1e-8)
