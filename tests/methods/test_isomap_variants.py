"""Isomap's options and presets: constant shift, landmarks, conformal lengths, local planes; and together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import lowfold
from lowfold._core.errors import DisconnectedWarning, InvalidInput
from lowfold.graph import Graph, Neighbors, choose_landmarks, geodesics
from lowfold.methods.locally_linear_isomap import with_the_nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral import minimal_shift
from lowfold.spectral._euclidean import shift_bound

SEEDS = [0, 1, 2]


def fit_of(Y: np.ndarray, truth: np.ndarray) -> float:
    """Coefficient of determination of an affine fit of the truth on Y."""
    A = np.column_stack([Y, np.ones(len(Y))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return 1 - (rest**2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum()


def cailliez(D: np.ndarray) -> float:
    """The largest eigenvalue of [[0, -S^c], [-I, 2 D^c]], by the dense 2n x 2n problem."""
    n = len(D)
    H = np.eye(n) - 1 / n
    B = np.block([[np.zeros((n, n)), -H @ (D * D) @ H], [-np.eye(n), 2 * H @ D @ H]])
    values = np.linalg.eigvals(B)
    return float(values.real.max())


@pytest.mark.parametrize("seed", SEEDS)
def test_shift_is_minimal_and_the_kernel_psd(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(120, random_state=seed).X
    model = lowfold.KernelIsomap(2, n_neighbors=8).fit(X)
    D = geodesics(model.graph_)
    assert np.isclose(model.shift_, cailliez(D), rtol=1e-5)
    size = np.linalg.eigvalsh(lowfold.Isomap(n_neighbors=8).fit(X).kernel().dense())[-1]
    values = np.linalg.eigvalsh(model.kernel().dense())
    assert values[0] > -1e-6 * size
    assert np.abs(values[:2]).max() < 1e-5 * size  # at the smallest shift two eigenvalues are zero
    less = lowfold.KernelIsomap(2, n_neighbors=8, shift=0.99 * model.shift_).fit(X).kernel().dense()
    assert np.linalg.eigvalsh(less)[0] < -1e-6 * size
    bound = lowfold.KernelIsomap(2, n_neighbors=8, shift="bound").fit(X)
    assert bound.shift_ >= model.shift_
    assert np.isclose(bound.shift_, shift_bound(D))
    assert np.linalg.eigvalsh(bound.kernel().dense())[0] > -1e-6 * size


def test_shift_against_the_dense_problem_at_two_hundred_points() -> None:
    X = lowfold.datasets.swiss_roll(200, random_state=0).X
    D = geodesics(lowfold.Isomap(n_neighbors=8).fit(X).graph_)
    assert np.isclose(minimal_shift(D), cailliez(D), rtol=1e-6)


def test_three_ways_to_the_shifted_kernel() -> None:
    X = lowfold.datasets.swiss_roll(60, random_state=1).X
    model = lowfold.Isomap(2, n_neighbors=6, shift=1.7).fit(X)
    D, n, t = geodesics(model.graph_), 60, 1.7
    H = np.eye(n) - 1 / n
    by_formula = 0.5 * (t * t * H - 2 * t * H @ D @ H - H @ (D * D) @ H)
    F, G = -0.5 * H @ D @ H, -0.5 * H @ (D * D) @ H
    assert np.allclose(model.kernel().dense(), by_formula)
    assert np.allclose(by_formula, G + 2 * t * F + 0.5 * t * t * H)


def test_euclidean_distances_need_no_shift() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert lowfold.KernelIsomap(2, n_neighbors=39).fit(X).shift_ == 0.0


@pytest.mark.filterwarnings("ignore:30 landmarks are too few:lowfold._core.errors.AccuracyWarning")
@pytest.mark.parametrize("options", [{"shift": "minimal"}, {"shift": 2.0, "landmarks": 30}, {"conformal": True}])
@pytest.mark.parametrize("seed", SEEDS)
def test_new_points_beside_training_points(options: dict, seed: int) -> None:
    X = lowfold.datasets.swiss_roll(150, random_state=seed).X
    model = lowfold.Isomap(2, n_neighbors=8, **options).fit(X)
    placed = model.transform(X[:20] + 1e-8)
    assert np.allclose(placed, model.embedding_[:20], atol=1e-5 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_all_points_as_landmarks_is_isomap(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(200, random_state=seed).X
    whole = lowfold.Isomap(2, n_neighbors=8).fit(X)
    marked = lowfold.LandmarkIsomap(2, n_neighbors=8, landmarks=200).fit(X)
    assert np.allclose(marked.embedding_, whole.embedding_, atol=1e-6 * np.abs(whole.embedding_).max())
    assert np.allclose(marked.eigenvalues_, whole.eigenvalues_)
    new = lowfold.datasets.swiss_roll(20, random_state=seed + 50).X
    assert np.allclose(marked.transform(new), whole.transform(new), atol=1e-5 * np.abs(whole.embedding_).max())


@pytest.mark.parametrize("rule", ["maxmin", "random", "kmeans++"])
@pytest.mark.parametrize("seed", SEEDS)
def test_few_landmarks_come_close(rule: str, seed: int) -> None:
    roll = lowfold.datasets.swiss_roll(1000, random_state=seed)
    model = lowfold.LandmarkIsomap(2, n_neighbors=10, landmarks=60, landmark_rule=rule, random_state=seed).fit(roll.X)
    assert procrustes(lowfold.Isomap(2, n_neighbors=10).fit_transform(roll.X), model.embedding_)[2] < 0.01
    assert fit_of(model.embedding_, roll.coordinates) > 0.99
    new = lowfold.datasets.swiss_roll(100, random_state=seed + 90)
    assert fit_of(model.transform(new.X), new.coordinates) > 0.98


@pytest.mark.filterwarnings("ignore:30 landmarks are too few:lowfold._core.errors.AccuracyWarning")
def test_triangulation_by_its_formula() -> None:
    X = lowfold.datasets.swiss_roll(150, random_state=0).X
    model = lowfold.LandmarkIsomap(2, n_neighbors=8, landmarks=30).fit(X)
    L, D = model.landmarks_, geodesics(model.graph_)
    S = D[np.ix_(L, L)] ** 2
    H = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(-0.5 * H @ S @ H)
    values, vectors = values[::-1][:2], vectors[:, ::-1][:, :2]
    Y = -0.5 * (D[:, L] ** 2 - S.mean(axis=0)) @ (vectors / np.sqrt(values))
    signs = np.sign((Y * model.embedding_).sum(axis=0))
    assert np.allclose(Y * signs, model.embedding_, atol=1e-6)


@pytest.mark.parametrize("seed", [3, 4])
def test_new_points_meet_the_same_landmarks_with_and_without_a_table(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few new points are searched for; more than the landmarks make a table that all later ones use."""
    X = lowfold.datasets.swiss_roll(900, random_state=seed).X
    model = lowfold.LandmarkIsomap(2, n_neighbors=8, landmarks=60).fit(X[:700])
    few = model.transform(X[700:720])
    with monkeypatch.context() as never:
        never.setattr("lowfold.methods._placing.geodesics.HELD", 0.0)
        searched = model.transform(X[700:])
    tabled = model.transform(X[700:])
    never_again = "lowfold.methods._placing.geodesics.seeded_geodesics"
    monkeypatch.setattr(never_again, lambda *given, **named: pytest.fail("searched although there is a table"))
    assert np.array_equal(tabled, searched)
    assert np.array_equal(tabled[:20], few)
    assert np.array_equal(model.transform(X[700:720]), few)


def test_landmark_choices() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    source = lowfold.graph.Points(X, resolve_metric("euclidean", None, X))
    for rule in ("maxmin", "random", "kmeans++"):
        chosen = choose_landmarks(source, 20, rule=rule)
        assert len(np.unique(chosen)) == 20
        assert np.array_equal(chosen, choose_landmarks(source, 20, rule=rule))
    even, drawn = (choose_landmarks(source, 20, rule=rule) for rule in ("maxmin", "random"))
    assert cdist(X, X[even]).min(axis=1).max() < cdist(X, X[drawn]).min(axis=1).max()
    graph = lowfold.graph.nearest(source, 8).union()
    far = choose_landmarks(graph, 2)
    assert geodesics(graph)[far[0], far[1]] in geodesics(graph)[far].max(axis=1)  # the second is the farthest
    with pytest.raises(InvalidInput, match="at most 200"):
        choose_landmarks(source, 201)
    with pytest.raises(InvalidInput, match=r"0\.\.199"):
        choose_landmarks(source, [5, 200])


@pytest.mark.parametrize("seed", SEEDS)
def test_conformal_undoes_a_conformal_map(seed: int) -> None:
    plane = np.random.default_rng(seed).random((1000, 2))
    z = np.exp(2 * (plane[:, 0] + 1j * plane[:, 1]))
    X = np.column_stack([z.real, z.imag])
    plain = fit_of(lowfold.Isomap(2, n_neighbors=10).fit_transform(X), plane)
    conformal = fit_of(lowfold.ConformalIsomap(2, n_neighbors=10).fit_transform(X), plane)
    assert conformal > 0.98
    assert conformal > plain + 0.1
    together = lowfold.Isomap(2, n_neighbors=10, conformal=True, landmarks=80).fit(X)
    assert fit_of(together.embedding_, plane) > 0.98
    new = np.random.default_rng(seed + 9).uniform(0.05, 0.95, (50, 2))
    w = np.exp(2 * (new[:, 0] + 1j * new[:, 1]))
    assert fit_of(together.transform(np.column_stack([w.real, w.imag])), new) > 0.97


def test_conformal_lengths_by_hand() -> None:
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    model = lowfold.ConformalIsomap(1, n_neighbors=2).fit(X)
    mean = np.array([2.0, 1.5, 2.5, 5.0])  # of (1, 3), (1, 2), (2, 3), (4, 6)
    rows, columns = model.graph_.rows(), model.graph_.indices
    assert np.allclose(model.graph_.lengths, np.abs(X[rows, 0] - X[columns, 0]) / np.sqrt(mean[rows] * mean[columns]))
    even = lowfold.datasets.circle(100, random_state=0).X
    assert "conformal" not in lowfold.ConformalIsomap().get_params()
    coincident = np.repeat(even[:10], 5, axis=0)
    assert np.isfinite(lowfold.ConformalIsomap(2).fit_transform(coincident)).all()


@pytest.mark.parametrize(("n", "noise", "k"), [(1000, 0.0, 16), (1000, 0.5, 12), (500, 0.0, 10)])
@pytest.mark.parametrize("seed", [0, 1])
def test_local_planes_prevent_short_circuits(n: int, noise: float, k: int, seed: int) -> None:
    roll = lowfold.datasets.swiss_roll(n, noise=noise, random_state=seed)
    plain = fit_of(lowfold.Isomap(2, n_neighbors=k).fit_transform(roll.X), roll.coordinates)
    model = lowfold.LocallyLinearIsomap(2, n_neighbors=k).fit(roll.X)
    assert fit_of(model.embedding_, roll.coordinates) > 0.99
    assert fit_of(model.embedding_, roll.coordinates) > plain + 0.1
    new = lowfold.datasets.swiss_roll(60, random_state=seed + 70)
    assert fit_of(model.transform(new.X), new.coordinates) > 0.95


def test_local_planes_leave_a_good_graph_alone() -> None:
    roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    a, b = (cls(2, n_neighbors=8).fit(roll.X) for cls in (lowfold.Isomap, lowfold.LocallyLinearIsomap))
    assert np.array_equal(a.graph_.indices, b.graph_.indices)
    keeps = lowfold.LocallyLinearIsomap(2, n_neighbors=16, linearity=1.0).fit(roll.X)
    assert np.array_equal(keeps.graph_.indices, lowfold.Isomap(2, n_neighbors=16).fit(roll.X).graph_.indices)
    with pytest.raises(InvalidInput, match="ready graph"):
        lowfold.LocallyLinearIsomap().fit(a.graph_)


def test_geodesics_of_a_conformal_model_are_conformal() -> None:
    X = np.random.default_rng(0).random((80, 2)) ** 2
    model = lowfold.ConformalIsomap(2, n_neighbors=8).fit(X)
    assert np.allclose(model.distances(X, kind="geodesic"), geodesics(model.graph_), rtol=1e-9)


def test_words() -> None:
    X = np.random.default_rng(0).random((30, 3))
    with pytest.raises(InvalidInput, match="more than n_components = 3"):
        lowfold.Isomap(3, landmarks=3).fit(X)
    with pytest.raises(InvalidInput, match="landmarks must be at most 30"):
        lowfold.LandmarkIsomap(landmarks=31).fit(X)
    with pytest.raises(InvalidInput, match="shift of KernelIsomap"):
        lowfold.KernelIsomap(shift=-1).fit(X)


def test_planes_with_more_directions_than_neighbours_can_tell_keep_edges() -> None:
    """A plane through the nearer half of the neighbours has no height: all other edges would be cut."""
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 6)) @ rng.normal(size=(6, 40)) + 0.1 * rng.normal(size=(250, 40))
        plain = lowfold.Isomap(6, n_neighbors=10).fit(X[:200])
        linear = lowfold.LocallyLinearIsomap(6, n_neighbors=10).fit(X[:200])
        assert len(linear.graph_.lengths) > 0.8 * len(plain.graph_.lengths)
        there = np.linalg.norm(linear.transform(X[200:]) - plain.transform(X[200:]) @ _turn(plain, linear), axis=1)
        assert np.median(there) < 0.3 * np.linalg.norm(linear.embedding_, axis=1).mean()


def _turn(one: lowfold.Isomap, other: lowfold.Isomap) -> np.ndarray:
    left, _, right = np.linalg.svd(one.embedding_.T @ other.embedding_)
    return left @ right


def test_new_points_go_through_neighbours_of_the_nearest_point() -> None:
    graph = Graph.from_edges(5, np.array([[0, 1], [1, 2], [3, 4]]), np.ones(3))
    found = Neighbors(np.array([0, 3, 5]), np.array([1, 3, 0, 4, 2]), np.array([0.1, 0.2, 0.3, 0.1, 0.2]), 5)
    kept = with_the_nearest(graph, found)
    assert kept.indptr.tolist() == [0, 2, 3]
    assert kept.indices.tolist() == [1, 0, 4]
    assert kept.distances.tolist() == [0.1, 0.3, 0.1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_new_images_of_many_turning_things_are_placed(seed: int) -> None:
    """Closed curves that come near each other, as people in profile do: a plane through several of them misleads."""
    rng = np.random.default_rng(seed)
    t, kind = rng.random(600) * 2 * np.pi, np.arange(600) % 12
    A = rng.normal(size=(12, 4, 60))
    waves = np.column_stack([np.cos(t), np.sin(t), 0.5 * np.cos(2 * t), 0.5 * np.sin(2 * t)])
    X = np.einsum("nw,nwc->nc", waves, 0.3 * A[kind] + A[:1]) + 0.1 * rng.normal(size=(600, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        model = lowfold.LocallyLinearIsomap(8, on_shortcut="ignore").fit(X[:420])
    nearest = NearestNeighbors(n_neighbors=1).fit(model.embedding_)
    found = nearest.kneighbors(model.transform(X[420:]), return_distance=False)[:, 0]
    assert (kind[:420][found] == kind[420:]).mean() > 0.65  # 0.4 to 0.6 by the new point's own plane
