"""LLE: weights in all cases of the rank, invariances, closed classes, Gering's variants, new points, experiments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.manifold import LocallyLinearEmbedding
from tests.methods.alignment_helpers import angle, explained, nullity, plane, two_planes

import lowfold
from lowfold import datasets
from lowfold._core.errors import DisconnectedWarning
from lowfold.graph import Neighbors, Points, nearest
from lowfold.graph._components import closed_classes
from lowfold.kernels._lle import barycentric_coordinates, gram_weights, limit_weights, mean_value_coordinates
from lowfold.methods._closed_classes import closed_class_labels
from lowfold.metrics._resolve import resolve_metric


def gram(x, Z):
    V = Z - x
    return (V @ V.T)[None]


def test_full_rank_weights_solve_the_constrained_least_squares() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, Z = rng.normal(size=8), rng.normal(size=(5, 8))
        w = limit_weights(gram(x, Z))[0]
        C = gram(x, Z)[0]
        kkt = np.block([[C, np.ones((5, 1))], [np.ones((1, 5)), np.zeros((1, 1))]])
        assert np.allclose(w, np.linalg.solve(kkt, np.append(np.zeros(5), 1))[:5])
        inverse = np.linalg.inv(C)
        assert np.allclose(w, inverse.sum(axis=1) / inverse.sum())
        residual = x - w @ Z
        assert np.abs((Z[1:] - Z[0]) @ residual).max() < 1e-10  # orthogonal to the affine hull


def test_planted_coefficients_come_back() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(4, 6))
    planted = np.array([0.5, -0.3, 1.1, -0.3])
    assert np.allclose(limit_weights(gram(planted @ Z, Z))[0], planted, atol=1e-6)


def test_too_many_neighbours_give_the_least_norm_exact_weights() -> None:
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(7, 2))
    x = Z.mean(axis=0) + 0.1
    w = limit_weights(gram(x, Z))[0]
    A = np.vstack([Z.T, np.ones(7)])
    assert np.allclose(w, np.linalg.pinv(A) @ np.append(x, 1), atol=1e-7)
    assert np.allclose(w @ Z, x, atol=1e-7)


def test_the_case_that_the_printed_rule_misses() -> None:
    Z = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])  # the null vector sums to zero
    x = np.array([1.0, 1, 0])
    w = limit_weights(gram(x, Z))[0]
    assert np.allclose(w, 1 / 3)
    assert np.allclose(w, gram_weights(gram(x, Z), reg=1e-10)[0], atol=1e-6)


def test_ridge_limits() -> None:
    rng = np.random.default_rng(3)
    x, Z = rng.normal(size=3), rng.normal(size=(6, 3))
    assert np.allclose(gram_weights(gram(x, Z), reg=1e9), 1 / 6)
    assert np.allclose(gram_weights(gram(x, Z), reg=1e-9), limit_weights(gram(x, Z)), atol=1e-4)


@pytest.mark.parametrize("kind", ["affine", "clipped", "convex"])
def test_weights_do_not_see_rotation_shift_and_scale(kind: str) -> None:
    rng = np.random.default_rng(4)
    x, Z = rng.normal(size=3), rng.normal(size=(6, 3))
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moved = gram(-2.5 * x @ Q + 7, -2.5 * Z @ Q + 7)
    assert np.allclose(gram_weights(gram(x, Z), kind=kind), gram_weights(moved, kind=kind), atol=1e-10)


def test_convex_weights_are_the_best_that_are_not_negative() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, Z = rng.normal(size=4), rng.normal(size=(7, 4))
        C = gram(x, Z)[0]
        w = gram_weights(C[None], reg=1e-3, kind="convex")[0]
        root = np.linalg.cholesky(C + 1e-3 * np.trace(C) * np.eye(7)).T
        u = nnls(root, np.linalg.solve(root.T, np.ones(7)))[0]
        assert np.allclose(w, u / u.sum(), atol=1e-8)
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1)


def test_a_coincident_neighbour_takes_all() -> None:
    x = np.array([1.0, 2.0])
    Z = np.array([[0.0, 0], [1, 2], [3, 1]])
    assert gram_weights(gram(x, Z))[0].tolist() == [0, 1, 0]


def test_barycentric_coordinates() -> None:
    rng = np.random.default_rng(6)
    vertices = rng.normal(size=(4, 3))
    assert np.allclose(barycentric_coordinates(vertices, vertices), np.eye(4))
    p = rng.normal(size=(5, 3))
    w = barycentric_coordinates(p, vertices)
    assert np.allclose(w @ vertices, p)
    assert np.allclose(w.sum(axis=1), 1)
    map_, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    assert np.allclose(barycentric_coordinates(p @ map_ + shift, vertices @ map_ + shift), w)
    with pytest.raises(ValueError, match="general position"):
        barycentric_coordinates(p[:, :2], np.array([[0.0, 0], [1, 1], [2, 2]]))


def test_mean_value_coordinates() -> None:
    t = np.linspace(0, 2 * np.pi, 7)[:-1]
    polygon = np.column_stack([np.cos(t) * 2, np.sin(t)])
    rng = np.random.default_rng(7)
    inside = rng.dirichlet(np.ones(6), 20) @ polygon
    w = mean_value_coordinates(inside, polygon)
    assert np.allclose(w @ polygon, inside)
    assert np.allclose(w.sum(axis=1), 1)
    assert w.min() > 0
    assert np.allclose(mean_value_coordinates(polygon, polygon), np.eye(6), atol=1e-9)
    middle = mean_value_coordinates((polygon[:1] + polygon[1:2]) / 2, polygon)[0]
    assert np.allclose(middle, [0.5, 0.5, 0, 0, 0, 0])


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed: int) -> None:
    X = datasets.s_curve(500, random_state=seed).X
    ours = lowfold.LLE(2, n_neighbors=10, reg=1e-3).fit(X)
    theirs = LocallyLinearEmbedding(n_neighbors=10, n_components=2, reg=1e-3, eigen_solver="dense").fit(X)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-5
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6)


def test_kernel_entries() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5))
    model = lowfold.LLE(2, n_neighbors=6).fit(X)
    N = nearest(Points(X, resolve_metric("euclidean", None, X)), 6)
    W = np.zeros((30, 30))
    for i in range(30):
        j = N.row(i)[0]
        W[i, j] = gram_weights(gram(X[i], X[j]))[0]
        assert model.local_errors_[i] == pytest.approx(np.linalg.norm(X[i] - W[i] @ X))
    assert np.allclose(model.kernel().dense(), (np.eye(30) - W).T @ (np.eye(30) - W))
    Y = model.embedding_
    assert np.abs(Y.sum(axis=0)).max() < 1e-10
    assert np.sum((Y - W @ Y) ** 2) == pytest.approx(model.reconstruction_error_)


def test_flat_data_without_ridge_have_the_affine_null_space() -> None:
    X, T = plane(150, D=2, seed=1)
    model = lowfold.LLE(2, n_neighbors=8, reg=0).fit(X)
    assert nullity(model.kernel().dense()) == 3
    assert angle(model.embedding_, T - T.mean(axis=0)) < 1e-6


def test_when_the_ridge_applies() -> None:
    X = np.random.default_rng(0).normal(size=(60, 6))
    fit = lambda **kw: lowfold.LLE(2, n_neighbors=5, **kw).fit(X).kernel().dense()  # noqa: E731
    assert np.allclose(fit(reg_when="k>D"), fit(reg=0))
    assert np.allclose(fit(reg_when="k>d"), fit())
    assert np.allclose(fit(reg_when="never"), fit(reg=0))
    assert not np.allclose(fit(), fit(reg=0))
    assert lowfold.LLE(2, n_neighbors=3, on_disconnected="largest").fit(X[:8]).embedding_.shape == (8, 2)  # d + 1
    many = lambda **kw: lowfold.LLE(2, n_neighbors=9, **kw).fit(X).kernel().dense()  # noqa: E731
    assert np.allclose(many(reg_when="k>D"), many())  # more neighbours than features: the ridge picks, without a word
    assert not np.allclose(many(), many(reg=0.1))


def hand_made() -> Neighbors:
    """Two closed triples, and two points that lead into both."""
    lists = [[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4], [0, 7], [3, 6]]
    return Neighbors.from_lists(lists, [[1.0, 1.0]] * 8)


def test_closed_classes_of_a_hand_made_graph() -> None:
    assert len(closed_classes(hand_made())) == 2
    labels = closed_class_labels(hand_made())
    assert (labels[:3] == labels[6]).all()
    assert (labels[3:6] == labels[7]).all()
    assert labels[0] != labels[3]


def test_few_neighbours_make_closed_classes_and_they_are_joined() -> None:
    curve = datasets.s_curve(500, random_state=0)
    N = nearest(Points(curve.X, resolve_metric("euclidean", None, curve.X)), 4)
    classes = len(closed_classes(N))
    assert classes > 1
    W = np.eye(500)
    for i in range(500):
        j = N.row(i)[0]
        W[i, j] -= gram_weights(gram(curve.X[i], curve.X[j]))[0]
    assert nullity(W.T @ W, 1e-11) >= classes
    with pytest.warns(DisconnectedWarning, match=f"{classes} components .* closed class"):
        model = lowfold.LLE(2, n_neighbors=4).fit(curve.X)
    assert nullity(model.kernel().dense(), 1e-14) == 1
    assert len(model.bridges_) == classes - 1


@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_two_planes_without_ridge_have_three_null_vectors(tilt: float) -> None:
    X = two_planes(50, tilt=tilt)
    if tilt:  # in three dimensions weights of flat neighbourhoods are exact, too
        X = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    with pytest.warns(DisconnectedWarning):
        model = lowfold.LLE(2, n_neighbors=7, reg=0).fit(X)
    assert nullity(model.kernel().dense()) == 3


@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_outliers_count_less() -> None:
    gains = []
    for seed in range(4):
        curve = datasets.s_curve(600, random_state=seed)
        rng = np.random.default_rng(seed)
        X = curve.X.copy()
        bad = rng.choice(600, 30, replace=False)
        X[bad] += rng.normal(scale=0.6, size=(30, 3))
        good = np.setdiff1d(np.arange(600), bad)
        score = [
            explained(curve.coordinates[good], lowfold.LLE(2, n_neighbors=12, robust=r).fit_transform(X)[good]).mean()
            for r in (None, 3.0)
        ]
        gains.append(score[1] - score[0])
    assert np.mean(gains) > 0.02
    plain = lowfold.LLE(2, n_neighbors=12).fit(X)
    huge = lowfold.LLE(2, n_neighbors=12, robust=1e9).fit(X)
    assert angle(plain.embedding_, huge.embedding_) < 1e-6
    model = lowfold.LLE(2, n_neighbors=12, robust=1.0).fit(X)
    K = model.kernel().dense()
    assert np.abs(K.sum(axis=1)).max() < 1e-10
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert np.median(model.robust_weights_[bad]) < np.median(model.robust_weights_[good])


def test_repeated_points_do_not_make_others_outliers() -> None:
    X = datasets.s_curve(200, random_state=0).X
    alone = lowfold.LLE(2, n_neighbors=12, robust=3.0).fit(X).robust_weights_
    model = lowfold.LLE(2, n_neighbors=12, robust=3.0).fit(np.vstack([X, np.repeat(X[:1], 300, axis=0)]))
    assert np.allclose(model.robust_weights_[:200], alone)
    assert np.isfinite(model.embedding_).all()


def test_neighbourhoods_that_adapt() -> None:
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.random(150) * 0.15, 0.15 + rng.random(150) * 0.85])  # dense, then sparse
    X = np.column_stack([np.cos(6 * u), np.sin(6 * u), 1e-3 * rng.random(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        model = lowfold.LLE(1, n_neighbors=20, flatness=0.002).fit(X)
    counts = model.neighbors_.counts
    assert counts.min() >= 3
    assert counts.max() == 20
    assert counts[:150].mean() > counts[150:].mean() + 2
    flat = plane(100)[0]
    full = lowfold.LLE(2, n_neighbors=9, flatness=0.01).fit(flat).neighbors_.counts
    assert (full == 9).all()


def test_neighbourhoods_inside_clusters() -> None:
    X = np.vstack([plane(60, D=3)[0], plane(60, D=3)[0] + [0, 0, 0.02]])  # two sheets nearly touching
    labels = np.repeat([0, 1], 60)
    with pytest.warns(DisconnectedWarning):
        model = lowfold.LLE(2, n_neighbors=8, clusters=labels).fit(X)
    rows, columns = model.neighbors_.rows(), model.neighbors_.indices
    assert (labels[rows] == labels[columns]).all()
    with pytest.warns(DisconnectedWarning):
        assert np.isfinite(lowfold.LLE(2, n_neighbors=8, clusters=3).fit(X).embedding_).all()
    with pytest.raises(ValueError, match="one label per point"):
        lowfold.LLE(2, clusters=labels[:5]).fit(X)


def test_new_points_by_the_same_weights() -> None:
    X, T = plane(200, D=4, seed=2)
    model = lowfold.LLE(2, n_neighbors=8, reg=1e-9).fit(X)
    new, truth = (X[:30] + X[30:60]) / 2, (T[:30] + T[30:60]) / 2
    slope = np.linalg.lstsq(np.column_stack([np.ones(200), T]), model.embedding_, rcond=None)[0]
    assert np.abs(model.transform(new) - np.column_stack([np.ones(30), truth]) @ slope).max() < 1e-6
    back = model.inverse_transform(model.transform(new))
    assert np.abs(back - new).max() < 1e-5


@pytest.mark.parametrize("kind", ["clipped", "convex"])
def test_nonnegative_weights_are_a_walk(kind: str) -> None:
    """W of the fitted kernel (I - W)'(I - W) has no negative entry, and its rows sum to 1."""
    X = datasets.swiss_roll(300, random_state=0).X
    model = lowfold.LLE(2, n_neighbors=8, weights=kind).fit(X)
    W = np.zeros((300, 300))
    for i in range(300):
        j = model.neighbors_.row(i)[0]
        W[i, j] = gram_weights(gram(X[i], X[j]), kind=kind)[0]
    assert W.min() >= 0
    assert np.allclose(W.sum(axis=1), 1)
    assert np.allclose(model.kernel().dense(), (np.eye(300) - W).T @ (np.eye(300) - W), atol=1e-9)


@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_clipped_weights_unroll_worse() -> None:
    roll = datasets.swiss_roll(1000, random_state=0)
    affine = lowfold.LLE(2, n_neighbors=10).fit(roll.X)
    clipped = lowfold.LLE(2, n_neighbors=10, weights="clipped").fit(roll.X)
    good, bad = (explained(roll.coordinates, model.embedding_).mean() for model in (affine, clipped))
    assert good > bad


def test_bounds_on_k_are_said() -> None:
    X = np.random.default_rng(0).random((30, 3))
    with pytest.raises(ValueError, match="n_neighbors of LLE must be at least 3 for n_components = 2"):
        lowfold.LLE(2, n_neighbors=2).fit(X)


def score(truth: np.ndarray, Y: np.ndarray) -> float:
    """Share of the 10 nearest in Y that are among the 30 nearest in truth."""
    near = [np.argsort(np.linalg.norm(Z[:, None] - Z[None], axis=2), axis=1)[:, 1:] for Z in (Y, truth)]
    return float(np.mean([np.isin(a[:10], b[:30]).mean() for a, b in zip(*near)]))


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.DisconnectedWarning")
@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_noise_and_neighbours_on_the_s_curve() -> None:
    clean = datasets.s_curve(600, random_state=0)
    scores = [
        score(clean.coordinates, lowfold.LLE(2, n_neighbors=10).fit_transform(X))
        for X in (clean.X, *(datasets.s_curve(600, noise=s, random_state=0).X for s in (0.2, 0.4)))
    ]
    assert scores[0] > 0.95
    assert scores[0] > scores[1] > scores[2]
    by_k = {k: score(clean.coordinates, lowfold.LLE(2, n_neighbors=k).fit_transform(clean.X)) for k in (4, 8, 12, 60)}
    assert min(by_k[8], by_k[12]) > max(by_k[4], by_k[60])


def test_many_neighbours_act_like_pca() -> None:
    roll = datasets.swiss_roll(400, random_state=0)
    linear = [explained(lowfold.LLE(2, n_neighbors=k).fit_transform(roll.X), roll.X).min() for k in (12, 200)]
    assert linear[0] < 0.9
    assert linear[1] > 0.999
