"""LTSA: local projectors, the kernel's null space, pieces, twins, new points, and the texts' experiments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sklearn.manifold import LocallyLinearEmbedding
from tests.methods.alignment_helpers import angle, explained, nullity, plane, two_planes

import lowfold
from lowfold import datasets
from lowfold._core.errors import AccuracyWarning, Disconnected, DisconnectedWarning
from lowfold._core.run import Run
from lowfold.graph import Neighbors, Points, nearest
from lowfold.kernels._alignment import align
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangent_alignment, tangents
from lowfold.metrics._resolve import resolve_metric


def source(X):
    return Points(X, resolve_metric("euclidean", None, X))


def alignment(X, k, d, include_self=True):
    found = nearest(source(X), k)
    patches = Patches.around(found, include_self=include_self)
    return tangent_alignment(patches, geometry_of(source(X), found), d, Run())[0]


@pytest.mark.parametrize("seed", range(3))
def test_local_matrices_are_projectors_that_annihilate_affine_functions(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 6))
    A = alignment(X, 8, 2, include_self=False)
    for i in range(0, 40, 7):
        W = A.local(i)
        assert np.allclose(W @ W, W, atol=1e-12)
        assert np.trace(W) == pytest.approx(8 - 3)
        assert np.abs(W.sum(axis=1)).max() < 1e-12


@pytest.mark.parametrize("shape", [(9, 2), (9, 30)])
def test_tangents_are_the_leading_singular_vectors(shape) -> None:
    P = np.random.default_rng(1).normal(size=(5, *shape))
    P -= P.mean(axis=1, keepdims=True)
    d = min(2, shape[1])
    local = tangents(P, d)
    for i in range(5):
        U, s, _ = np.linalg.svd(P[i], full_matrices=False)
        assert np.allclose(local.sigma[i], s[:d])
        assert angle(local.V[i], U[:, :d]) < 1e-7
        assert local.rest[i] == pytest.approx(s[d:].sum(), abs=1e-6)
        assert np.abs(local.V[i].sum(axis=0)).max() < 1e-12


def test_a_patch_of_too_low_rank_stays_psd() -> None:
    line = np.outer(np.arange(7.0), [1.0, 2.0, 0.0])[None]
    V = tangents(line - line.mean(axis=1), 2).V[0]
    G = np.column_stack([np.full(7, 1 / np.sqrt(7)), V])
    assert np.linalg.eigvalsh(np.eye(7) - G @ G.T)[0] > -1e-12
    assert np.abs(V[:, 1]).max() == 0


@pytest.mark.parametrize("seed", range(3))
def test_kernel_is_the_accumulated_sum(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(50, 4))
    A = alignment(X, 7, 2)
    K = np.zeros((50, 50))
    for i in range(50):
        members = A.patches.members[A.patches.indptr[i] : A.patches.indptr[i + 1]]
        K[np.ix_(members, members)] += A.local(i)
    merged = align(A)
    assert np.allclose(merged.dense(), K, atol=1e-12)
    assert np.array_equal(merged.dense(), merged.dense().T)
    assert merged.matrix.indices.dtype == np.int32
    assert merged.matrix.has_sorted_indices


@pytest.mark.parametrize("seed", range(3))
def test_flat_data_give_their_coordinates(seed: int) -> None:
    X, T = plane(250, seed=seed)
    model = lowfold.LTSA(2, n_neighbors=8).fit(X)
    assert nullity(model.kernel().dense()) == 3
    assert angle(model.embedding_, T - T.mean(axis=0)) < 1e-6
    assert model.local_errors_.max() < 1e-6
    assert np.allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-10)
    assert model.reconstruction_error_ == pytest.approx(0, abs=1e-10)


def test_a_point_that_is_nobodys_neighbour() -> None:
    X, _ = plane(80, D=3)
    X = np.vstack([X, X.mean(axis=0) + 3 * (X[0] - X.mean(axis=0))])  # far out in the plane
    without = align(alignment(X, 8, 2, include_self=False))
    assert np.abs(without.dense()[-1]).max() == 0
    assert nullity(without.dense()) == 4
    assert nullity(align(alignment(X, 8, 2)).dense()) == 3
    with pytest.warns(DisconnectedWarning, match="1 points are in no patch"):
        model = lowfold.LTSA(2, n_neighbors=8, include_self=False).fit(X)
    assert nullity(model.kernel().dense()) == 3


@pytest.mark.parametrize("tilt", [0.0, 0.4, 1.4])
@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
def test_two_planes_have_exactly_three_null_vectors(name: str, tilt: float) -> None:
    X = two_planes(tilt=tilt)
    with pytest.warns(DisconnectedWarning, match="2 components of 60, 60"):
        model = getattr(lowfold, name)(2, n_neighbors=8).fit(X)
    assert nullity(model.kernel().dense()) == 3
    assert len(model.bridges_) == 1
    for half in (slice(0, 60), slice(60, 120)):
        assert explained(X[half, :2], model.embedding_[half]).min() > 1 - 1e-6
    if tilt == 0.0:
        assert explained(X[:, :2], model.embedding_).min() > 1 - 1e-6


def test_pieces_in_the_other_ways() -> None:
    X = two_planes(30)[:50]
    with pytest.raises(Disconnected, match="2 components of 30, 20"):
        lowfold.LTSA(on_disconnected="raise").fit(X)
    with pytest.warns(DisconnectedWarning):
        largest = lowfold.LTSA(on_disconnected="largest").fit(X)
    assert np.isnan(largest.embedding_[30:]).all()
    separate = lowfold.LTSA(on_disconnected="separate").fit(X)
    assert separate.embedding_[:30, 0].max() < separate.embedding_[30:, 0].min()


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE", "LLE", "ModifiedLLE"])
@pytest.mark.parametrize("seed", range(2))
def test_twenty_equal_rows(name: str, seed: int) -> None:
    """Equal rows hang on the first of them, so it counts 21 times: K y = lambda M y with M of these counts. They are
    tied with a weight of 1, so the difference is that of the eigenvalues to 1, below 1e-4 times 21.
    """
    curve = datasets.s_curve(400, random_state=seed)
    X = np.vstack([curve.X, np.repeat(curve.X[5:6], 20, axis=0)])
    model = getattr(lowfold, name)(2, n_neighbors=10).fit(X)
    Y = model.embedding_
    assert np.abs(Y[400:] - Y[5]).max() < 1e-6 * np.abs(Y).max()
    K = getattr(lowfold, name)(2, n_neighbors=10).fit(curve.X).kernel().dense()
    counts = np.where(np.arange(400) == 5, 21.0, 1.0)
    expected = scipy.linalg.eigh(K, np.diag(counts), subset_by_index=(1, 2))[1]
    assert angle(Y[:400], expected) < 5e-5


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
def test_what_a_point_counts(name: str) -> None:
    """K y = lambda D y with D = diag(K): flat data as before, and no coordinate for single points of scattered data."""
    X, T = plane(250)
    flat = getattr(lowfold, name)(2, n_neighbors=10, mass="kernel").fit(X)
    assert explained(T, flat.embedding_).min() > 1 - 1e-9
    scattered = np.random.default_rng(0).normal(size=(300, 12)) * np.geomspace(3, 1, 12)
    with pytest.warns(AccuracyWarning, match="tells 3 points or fewer from all others"):
        alone = getattr(lowfold, name)(2, n_neighbors=10, mass="points").fit(scattered).embedding_
    assert (alone**4).sum(axis=0).max() > 0.5
    model = getattr(lowfold, name)(2, n_neighbors=10, mass="kernel").fit(scattered)
    Y, K = model.embedding_, model.kernel().dense()
    D = np.diag(np.diag(K))
    assert np.allclose(Y.T @ D @ Y, np.eye(2), atol=1e-8)
    assert angle(Y, scipy.linalg.eigh(K, D, subset_by_index=(1, 2))[1]) < 1e-5
    Z = Y / np.linalg.norm(Y, axis=0)
    assert (Z**4).sum(axis=0).max() < 0.1
    assert np.array_equal(getattr(lowfold, name)(2, n_neighbors=10).fit(scattered).embedding_, Y)  # what "auto" takes
    for maker in (datasets.swiss_roll, datasets.s_curve, datasets.punched_sphere):
        assert getattr(lowfold, name)(2, n_neighbors=10).fit(maker(300, noise=0.1, random_state=0).X).mass_ == "points"


def test_too_few_different_points_is_said() -> None:
    X = np.repeat(np.random.default_rng(0).random((4, 3)), 10, axis=0)
    with pytest.raises(ValueError, match="only 4 of the 40 points are different"):
        lowfold.LTSA(2, n_neighbors=8).fit(X)


def test_bad_sizes_are_said() -> None:
    X = np.random.default_rng(0).random((30, 3))
    with pytest.raises(ValueError, match="n_neighbors of LTSA must be at least 3"):
        lowfold.LTSA(2, n_neighbors=2).fit(X)
    with pytest.raises(ValueError, match="at least 4"):
        lowfold.LTSA(2, n_neighbors=3, include_self=False).fit(X)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed: int) -> None:
    X = datasets.s_curve(500, random_state=seed).X
    ours = lowfold.LTSA(2, n_neighbors=10, include_self=False).fit(X)
    theirs = LocallyLinearEmbedding(
        n_neighbors=10, n_components=2, method="ltsa", eigen_solver="dense", random_state=0
    ).fit_transform(X)
    assert ours.component_labels_.max() == 0  # scikit-learn does not join pieces
    assert angle(ours.embedding_, theirs) < 1e-5


@pytest.mark.parametrize("maker", [datasets.swiss_roll, datasets.s_curve, datasets.swiss_hole])
def test_unrolls(maker) -> None:
    for seed in range(2):
        data = maker(1000, random_state=seed)
        assert explained(data.coordinates, lowfold.LTSA(2, n_neighbors=10).fit_transform(data.X)).min() > 0.99


def test_noise_lowers_the_fit() -> None:
    scores = []
    for noise in (0.0, 0.1, 0.4):
        roll = datasets.swiss_roll(1000, noise=noise, random_state=0)
        scores.append(explained(roll.coordinates, lowfold.LTSA(2, n_neighbors=10).fit_transform(roll.X)).min())
    assert scores[0] > scores[1] > scores[2]
    assert scores[1] > 0.9


@pytest.mark.slow
def test_number_of_neighbours() -> None:
    roll = datasets.swiss_roll(1000, random_state=0)
    for k in (8, 10, 12):
        assert explained(roll.coordinates, lowfold.LTSA(2, n_neighbors=k).fit_transform(roll.X)).min() > 0.99
    for k in (30, 60):
        assert explained(roll.coordinates, lowfold.LTSA(2, n_neighbors=k).fit_transform(roll.X)).min() < 0.5


def test_new_points_take_the_affine_map_of_their_patch() -> None:
    X, T = plane(300, seed=3)
    new, truth = X[:50] * 0.5 + X[50:100] * 0.5, T[:50] * 0.5 + T[50:100] * 0.5
    model = lowfold.LTSA(2, n_neighbors=10).fit(X)
    slope = np.linalg.lstsq(np.column_stack([np.ones(300), T]), model.embedding_, rcond=None)[0]
    assert np.allclose(model.transform(new), np.column_stack([np.ones(50), truth]) @ slope, atol=1e-8)
    assert np.array_equal(model.transform(X[:7]), model.embedding_[:7])


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE", "LLE", "ModifiedLLE"])
def test_distances_alone_are_enough(name: str) -> None:
    curve = datasets.s_curve(300, random_state=0)
    X, new = curve.X, datasets.s_curve(20, random_state=9).X
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    to = np.linalg.norm(new[:, None] - X[None], axis=2)
    points = getattr(lowfold, name)(2, n_neighbors=12).fit(X)
    pairs = getattr(lowfold, name)(2, n_neighbors=12, metric="precomputed").fit(D)
    assert angle(points.embedding_, pairs.embedding_) < 1e-7
    flip = np.sign((points.embedding_ * pairs.embedding_).sum(axis=0))
    assert np.allclose(points.transform(new), pairs.transform(to) * flip, atol=1e-7)


@pytest.mark.parametrize("name", ["LTSA", "LLE"])
def test_a_ready_graph_and_other_metrics(name: str) -> None:
    curve = datasets.s_curve(400, random_state=0)
    cls = getattr(lowfold, name)
    graph = nearest(source(curve.X), 12).union()
    Y = cls(2).fit(graph).embedding_
    assert Y.shape == (400, 2)
    assert np.isfinite(Y).all()
    assert np.isfinite(cls(2, metric="angular").fit(curve.X + 3).embedding_).all()
    assert np.isfinite(cls(2, metric="minkowski", metric_params={"p": 3}).fit(curve.X).embedding_).all()


def test_per_point_numbers_and_radius() -> None:
    roll = datasets.s_curve(500, random_state=0)
    same = lowfold.LTSA(2, n_neighbors=np.full(500, 10)).fit_transform(roll.X)
    assert np.array_equal(same, lowfold.LTSA(2, n_neighbors=10).fit_transform(roll.X))
    k = np.random.default_rng(0).integers(8, 14, 500)
    assert explained(roll.coordinates, lowfold.LTSA(2, n_neighbors=k).fit_transform(roll.X)).min() > 0.98
    Y = lowfold.LTSA(2, radius=0.7).fit_transform(roll.X)
    assert explained(roll.coordinates, Y).min() > 0.98


def test_isolated_points_of_a_radius_are_joined() -> None:
    X, _ = plane(200, D=3)
    X = np.vstack([X, X[0] + [5.0, 0, 0], X[1] - [0, 5.0, 0]])
    with pytest.warns(DisconnectedWarning, match="3 components of 200, 1, 1"):
        model = lowfold.LTSA(2, radius=0.25).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert nullity(model.kernel().dense()) == 3


def test_given_neighbourhoods_in_pieces() -> None:
    lists = [[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 4], [0, 1, 2, 3]]
    lists += [[j + 5 for j in row] for row in lists]
    N = Neighbors.from_lists(lists, [[1.0] * 4] * 10)
    with pytest.raises(Disconnected, match="without points"):
        lowfold.LTSA(1).fit(N)
    assert lowfold.LTSA(1, on_disconnected="separate").fit(N).embedding_.shape == (10, 1)


@pytest.mark.filterwarnings("ignore::lowfold.errors.AccuracyWarning", "ignore::lowfold.errors.ShortcutWarning")
@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
@pytest.mark.parametrize("seed", [1, 7])
def test_the_mass_follows_where_few_points_hold_a_coordinate(name: str, seed: int) -> None:
    """Groups with heavy tails, whose single points have more energy than linear functions, and still a coordinate."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, 800)
    X = 3 * rng.normal(size=(4, 8))[kind] + 0.5 * rng.standard_t(1.5, size=(800, 8))
    right = {}
    for mass in ("auto", "points"):
        model = getattr(lowfold, name)(3, mass=mass).fit(X)
        Y = model.embedding_
        far = np.linalg.norm(Y[:, None] - Y[None], axis=2) + np.diag(np.full(len(Y), np.inf))
        right[mass] = (kind[far.argmin(axis=1)] == kind).mean()
        assert model.mass_ == ("kernel" if mass == "auto" else "points")
    assert right["auto"] > right["points"] + 0.02
