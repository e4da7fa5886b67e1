"""Diffusion maps: the walk and its normalisations, exact distances, scales, graphs, and points that were not there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

import lowfold
from lowfold._core.errors import AccuracyWarning, DependenceWarning, DisconnectedWarning, InvalidInput, RepairWarning
from lowfold.graph import Graph, Weights
from lowfold.graph._neighborhoods import query_neighborhoods
from lowfold.kernels import is_admissible
from lowfold.kernels._diffusion import slope_scale
from lowfold.kernels._gaussian import auto_scale

SEEDS = [0, 1, 2]


def cloud(seed: int, n: int = 40, D: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, D))


def dense(P: object) -> np.ndarray:
    return P if isinstance(P, np.ndarray) else P.toarray()


def walk_distance(P: np.ndarray, phi0: np.ndarray, t: int) -> np.ndarray:
    """sum_r (p_t(i, r) - p_t(j, r))^2 / phi_0(r), from the definition."""
    Pt = np.linalg.matrix_power(P, t) / np.sqrt(phi0)
    return cdist(Pt, Pt)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", [{"n_neighbors": 8}, {"threshold": 0.0}, {"radius": 3.0}, {"weights": "self_tuning"}])
def test_left_and_right_eigenvectors(seed: int, alpha: float, kind: dict) -> None:
    model = lowfold.DiffusionMaps(5, alpha=alpha, **kind).fit(cloud(seed))
    P, psi, phi, phi0 = dense(model.walk().transition()), model.right_vectors_, model.left_vectors_, model.stationary_
    assert np.allclose(P.sum(axis=1), 1)
    assert np.allclose(P @ psi, psi * model.eigenvalues_)
    assert np.allclose(phi.T @ P, model.eigenvalues_[:, None] * phi.T)
    assert np.allclose(phi.T @ psi, np.eye(5), atol=1e-10)
    assert np.allclose(phi, psi * phi0[:, None])
    assert np.allclose((psi**2 * phi0[:, None]).sum(axis=0), 1)
    assert np.allclose(phi0 @ P, phi0)
    assert np.isclose(phi0.sum(), 1)
    flow = phi0[:, None] * P
    assert np.allclose(flow, flow.T)  # detailed balance
    assert np.allclose(np.sort(np.linalg.eigvals(P).real)[::-1][1:6], model.eigenvalues_, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("t", [1, 2, 5])
@pytest.mark.parametrize("kind", [{"n_neighbors": 39}, {"threshold": 0.0}, {"n_neighbors": 10, "alpha": 0.0}])
def test_full_map_is_the_diffusion_distance(seed: int, t: int, kind: dict) -> None:
    X = cloud(seed)
    model = lowfold.DiffusionMaps(39, t=t, **kind).fit(X)
    truth = walk_distance(dense(model.walk().transition()), model.stationary_, t)
    assert np.allclose(model.distances(X), truth, atol=1e-9)
    assert np.allclose(model.distances(X, kind="diffusion"), truth, atol=1e-10)
    degree = lowfold.DiffusionMaps(39, t=t, convention="degree", **kind).fit(X)
    volume = degree.walk().degrees.sum()
    assert np.allclose(degree.distances(X) * np.sqrt(volume), truth, atol=1e-9)
    assert np.allclose(degree.distances(X, kind="diffusion") * np.sqrt(volume), truth, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("t", [2, 3, 4])
def test_symmetric_convention(seed: int, t: int) -> None:
    X = cloud(seed)
    model = lowfold.DiffusionMaps(39, t=t, convention="symmetric", threshold=0.0).fit(X)
    A = np.linalg.matrix_power(model.kernel().dense(), t)
    truth = np.sqrt(np.maximum(np.diag(A)[:, None] + np.diag(A)[None, :] - 2 * A, 0))
    assert np.allclose(model.distances(X, kind="diffusion"), truth, atol=1e-8)
    v0 = np.sqrt(model.stationary_)  # the trivial vector is not constant here and belongs to the distance
    assert np.allclose(np.sqrt(model.distances(X) ** 2 + np.subtract.outer(v0, v0) ** 2), truth, atol=1e-8)


def test_distance_to_new_points_is_consistent() -> None:
    X = cloud(0, 60)
    for convention in ("markov", "symmetric"):
        model = lowfold.DiffusionMaps(59, t=3, convention=convention, threshold=0.0).fit(X)
        moved = X[:4] + 1e-9
        near, at = (model.distances(A, X, kind="diffusion") for A in (moved, X[:4]))
        assert np.allclose(near, at, atol=1e-6)


@pytest.mark.parametrize("t", [0, 0.5, 1, 2.25, 7])
def test_time(t: float) -> None:
    X = cloud(3)
    base = lowfold.DiffusionMaps(3, threshold=0.0, t=0).fit(X)
    model = lowfold.DiffusionMaps(3, threshold=0.0, t=t).fit(X)
    assert np.allclose(model.embedding_, base.embedding_ * model.eigenvalues_**t)
    assert np.allclose(base.embedding_, base.right_vectors_)


def test_fractional_time_of_a_negative_eigenvalue_is_refused() -> None:
    path = Graph.from_edges(6, [[i, i + 1] for i in range(5)])
    model = lowfold.DiffusionMaps(5, weights="binary", self_loops=0.0, t=0.5)
    with pytest.raises(InvalidInput, match="fractional power of the negative eigenvalue"):
        model.fit(path)
    assert np.isfinite(model.set_params(t=2).fit(path).embedding_).all()


def test_scales_follow_the_data() -> None:
    X = lowfold.datasets.s_curve(200, random_state=0).X
    for rule in ("auto", "mean", "listing", "std", "slope"):
        one, big = (lowfold.DiffusionMaps(2, scale=rule).fit(c * X) for c in (1.0, 10.0))
        assert np.isclose(big.scale_, 100 * one.scale_, rtol=1e-6)
        assert np.allclose(big.embedding_, one.embedding_, atol=1e-6)
    plain = lowfold.DiffusionMaps(2, scale="mean").fit(X)
    assert np.isclose(plain.scale_, np.mean(plain.graph_.lengths**2))
    assert np.isclose(lowfold.DiffusionMaps(2, scale="listing").fit(X).scale_, 4 * plain.scale_)
    assert np.isclose(lowfold.DiffusionMaps(2, scale="std").fit(X).scale_, 2 * X.var(axis=0).mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_slope_of_the_kernel_sum_is_half_the_dimension(seed: int) -> None:
    sphere = np.random.default_rng(seed).normal(size=(700, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    D = cdist(sphere, sphere)
    pairs = np.argwhere(np.triu(np.ones_like(D), 1))
    found = slope_scale(Graph.from_edges(len(sphere), pairs, D[np.triu_indices(len(D), 1)]))
    assert 1.6 < found.dimension < 2.4


@pytest.mark.parametrize("seed", SEEDS)
def test_self_tuning(seed: int) -> None:
    X = cloud(seed, 80)
    model = lowfold.DiffusionMaps(2, weights="self_tuning", n_neighbors=10, tuning=4).fit(X)
    assert np.allclose(model.local_scales_, np.sort(cdist(X, X), axis=1)[:, 4])
    scaled = lowfold.DiffusionMaps(2, weights="self_tuning", n_neighbors=10, tuning=4).fit(7 * X)
    assert np.allclose(scaled.embedding_, model.embedding_, atol=1e-8)
    ring = np.column_stack([np.cos(np.arange(40) * np.pi / 20), np.sin(np.arange(40) * np.pi / 20)])
    t = np.sort(cdist(ring, ring), axis=1)[0, 7]
    tuned = lowfold.DiffusionMaps(2, weights="self_tuning", n_neighbors=8).fit(ring)
    plain = lowfold.DiffusionMaps(2, scale=t * t, n_neighbors=8).fit(ring)
    assert np.allclose(tuned.eigenvalues_, plain.eigenvalues_)


def test_self_tuning_balances_clusters_of_different_density() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)), 0.01 * rng.normal(size=(100, 2)) + 3])
    graph = lowfold.DiffusionMaps(2, threshold=0.0, weights="self_tuning").fit(X)
    W = np.exp(-(cdist(X, X) ** 2) / np.outer(graph.local_scales_, graph.local_scales_))
    assert 0.5 < W[:100, :100].sum() / W[100:, 100:].sum() < 2


def test_duplicates_do_not_divide_by_zero() -> None:
    X = np.vstack([cloud(0, 30), np.zeros((20, 3))])
    for weights in ("self_tuning", "heat", "binary"):
        model = lowfold.DiffusionMaps(2, weights=weights, tuning=3, n_neighbors=25).fit(X)
        assert np.isfinite(model.embedding_).all()


@pytest.mark.filterwarnings("ignore:coordinate 1 of DiffusionMaps tells 3 points")  # and rightly: one hangs on an edge
def test_threshold_graph_is_a_radius_graph() -> None:
    X = cloud(1, 100, 2)
    model = lowfold.DiffusionMaps(2, threshold=0.2, scale=1.5).fit(X)
    radius = np.sqrt(-1.5 * np.log(0.2))
    by_radius = lowfold.DiffusionMaps(2, radius=radius, scale=1.5).fit(X)
    assert np.array_equal(model.graph_.indices, by_radius.graph_.indices)
    assert np.allclose(model.embedding_, by_radius.embedding_)
    complete = lowfold.DiffusionMaps(2, threshold=0.0, scale=1.5).fit(X)
    all_neighbors = lowfold.DiffusionMaps(2, n_neighbors=99, scale=1.5).fit(X)
    assert complete.graph_ is None
    assert np.allclose(complete.embedding_, all_neighbors.embedding_, atol=1e-7)


def test_complete_gaussian_kernel_is_admissible() -> None:
    X = cloud(2, 50)
    model = lowfold.DiffusionMaps(49, threshold=0.0).fit(X)
    assert model.eigenvalues_.min() > -1e-12
    K = np.exp(-(cdist(X, X) ** 2))
    assert is_admissible(K)
    truncated = np.where(cdist(X, X) < 1, K, 0)
    assert not is_admissible(truncated).psd
    assert not is_admissible(-K).nonnegative
    assert not is_admissible(np.triu(K)).symmetric


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kernel_given_as_function_or_matrix(seed: int) -> None:
    X, new = cloud(seed, 60), cloud(seed + 10, 5)
    by_function = lowfold.DiffusionMaps(2, weights=lambda u: np.exp(-u), scale=2.0, n_neighbors=10).fit(X)
    by_name = lowfold.DiffusionMaps(2, scale=2.0, n_neighbors=10).fit(X)
    assert np.allclose(by_function.embedding_, by_name.embedding_)
    whole = lowfold.DiffusionMaps(2, threshold=0.0, scale=2.0).fit(X)
    K, rows = np.exp(-(cdist(X, X) ** 2) / 2), np.exp(-(cdist(new, X) ** 2) / 2)
    given = lowfold.DiffusionMaps(2, weights="precomputed", metric="precomputed").fit(K)
    assert np.allclose(given.embedding_, whole.embedding_, atol=1e-9)
    assert np.allclose(given.transform(rows), whole.transform(new), atol=1e-8)
    with pytest.warns(RepairWarning, match="not symmetric"), pytest.raises(InvalidInput, match="symmetric"):
        lowfold.DiffusionMaps(2, weights="precomputed", metric="precomputed").fit(K + np.triu(K))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"alpha": 0.0},
        {"weights": "self_tuning"},
        {"weights": "binary"},
        {"convention": "symmetric", "t": 3},
        {"convention": "degree", "t": 0},
        {"symmetrize": "mutual", "n_neighbors": 16},
        {"threshold": 0.05},
        {"threshold": 0.0},
        {"radius": 0.8, "n_neighbors": None},
    ],
)
def test_extension_is_exact_at_training_points(seed: int, kind: dict) -> None:
    """The formula itself, not the rule that recognises a training point."""
    X = lowfold.datasets.s_curve(300, random_state=seed).X
    model = lowfold.DiffusionMaps(3, **{"n_neighbors": 10, **kind}).fit(X)
    trained = model._trained
    found = query_neighborhoods(trained.source, X[:40], n_neighbors=trained.n_neighbors, radius=trained.radius)
    placed = model._extend.place(trained, X[:40], found, model._run())
    assert np.allclose(placed, model.embedding_[:40], atol=1e-5 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_new_points_go_where_a_joint_fit_puts_them(seed: int) -> None:
    X = lowfold.datasets.s_curve(900, random_state=seed).X
    both = lowfold.DiffusionMaps(1, radius=0.6).fit(X).embedding_
    placed = lowfold.DiffusionMaps(1, radius=0.6).fit(X[:800]).transform(X[800:])
    assert abs(np.corrcoef(placed[:, 0], both[800:, 0])[0, 1]) > 0.99


def test_pre_images() -> None:
    X = lowfold.datasets.circle(300, random_state=0).X
    model = lowfold.DiffusionMaps(2, n_neighbors=8).fit(X)
    back = model.inverse_transform(model.embedding_ * 1.0)
    assert np.abs(back - X).max() < 1e-2


# Half of the landmarks, which tell the error, have half as many others within the radius.
@pytest.mark.filterwarnings("ignore:700 landmarks are too few:lowfold._core.errors.AccuracyWarning")
@pytest.mark.parametrize("rule", ["maxmin", "random", "kmeans++"])
def test_landmarks(rule: str) -> None:
    X = lowfold.datasets.s_curve(1500, random_state=0).X
    full = lowfold.DiffusionMaps(2, radius=0.6).fit(X)
    few = lowfold.DiffusionMaps(2, radius=0.6, landmarks=700, landmark_rule=rule).fit(X)
    assert few.embedding_.shape == (1500, 2)
    assert len(few.landmarks_) == 700
    assert abs(np.corrcoef(few.embedding_[:, 0], full.embedding_[:, 0])[0, 1]) > 0.98
    assert np.allclose(few.transform(X[:5]), few.embedding_[:5])
    everyone = lowfold.DiffusionMaps(2, radius=0.6, landmarks=1500, landmark_rule=rule).fit(X)
    assert np.allclose(everyone.embedding_, full.embedding_)


def test_landmarks_of_precomputed_distances() -> None:
    X = lowfold.datasets.circle(200, random_state=0).X
    D = cdist(X, X)
    a = lowfold.DiffusionMaps(2, landmarks=np.arange(0, 200, 2)).fit(X)
    b = lowfold.DiffusionMaps(2, landmarks=np.arange(0, 200, 2), metric="precomputed").fit(D)
    assert np.allclose(a.embedding_, b.embedding_, atol=1e-6)
    assert np.allclose(b.transform(cdist(X[:3] + 0.001, X)), a.transform(X[:3] + 0.001), atol=1e-6)


def test_dimension_for_a_threshold() -> None:
    X = cloud(0, 80)
    model = lowfold.DiffusionMaps(2, threshold=0.0, t=1).fit(X)
    values = np.linalg.eigvalsh(model.kernel().dense())[::-1][1:]
    counts = []
    for t in (1, 2, 4):
        model.set_params(t=t).fit(X)
        counts.append(model.dimension(0.2))
        assert counts[-1] == int((values**t >= 0.2).sum())
    assert counts[0] >= counts[1] >= counts[2]
    with pytest.raises(InvalidInput, match="delta"):
        model.dimension(1.5)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_toroidal_helix_is_a_circle(alpha: float) -> None:
    s = np.arange(800) * 2 * np.pi / 800
    X = np.column_stack([(2 + np.cos(8 * s)) * np.cos(s), (2 + np.cos(8 * s)) * np.sin(s), np.sin(8 * s)])
    model = lowfold.DiffusionMaps(2, n_neighbors=10, alpha=alpha, t=0).fit(X)
    radius = np.linalg.norm(model.embedding_, axis=1)
    assert radius.std() / radius.mean() < 0.01
    angle = np.unwrap(np.arctan2(model.embedding_[:, 1], model.embedding_[:, 0]))
    assert np.isclose(abs(angle[-1] - angle[0]), 2 * np.pi, atol=0.05)
    assert np.isclose(model.eigenvalues_[0], model.eigenvalues_[1], atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_density_cancels_at_alpha_one(seed: int) -> None:
    x = np.sort(np.random.default_rng(seed).beta(1, 3, size=1000))[:, None]
    error = {}
    for alpha in (0.0, 1.0):
        y = lowfold.DiffusionMaps(1, radius=0.08, scale=0.002, alpha=alpha).fit(x[x[:, 0] < 0.75]).embedding_[:, 0]
        u = x[x[:, 0] < 0.75, 0]
        truth = np.cos(np.pi * (u - u[0]) / (u[-1] - u[0]))
        error[alpha] = 1 - abs(np.corrcoef(y, truth)[0, 1])
    assert error[1.0] < 0.005
    assert error[1.0] < error[0.0] / 3


def test_images_of_one_parameter_are_ordered() -> None:
    rng = np.random.default_rng(0)
    angle = rng.permutation(np.linspace(0, np.pi / 2, 36))
    yy, xx = np.mgrid[-1:1:24j, -1:1:24j]
    images = [np.exp(-((xx * np.sin(a) - yy * np.cos(a)) ** 2) / 0.05 - (xx**2 + yy**2)) for a in angle]
    y = lowfold.DiffusionMaps(1, n_neighbors=5).fit_transform(np.array(images).reshape(36, -1))[:, 0]
    assert abs(spearmanr(y, angle)[0]) > 0.99


def test_extreme_scales() -> None:
    X = cloud(5, 30)
    with pytest.warns(AccuracyWarning, match="coincide"), pytest.warns(AccuracyWarning, match="does not leave parts"):
        tiny = lowfold.DiffusionMaps(2, threshold=0.0, scale=1e-2).fit(X).walk().transition()
    assert np.allclose(tiny, np.eye(30), atol=0.05)
    huge = lowfold.DiffusionMaps(2, threshold=0.0, scale=1e7).fit(X)
    assert np.allclose(huge.walk().transition(), 1 / 30, atol=1e-6)


def test_two_blobs_are_joined_or_kept_apart() -> None:
    X = np.vstack([cloud(0, 40), cloud(1, 30) + 1e3])
    with pytest.warns(DisconnectedWarning, match="2 components"):
        model = lowfold.DiffusionMaps(2, n_neighbors=5).fit(X)
    assert model.scale_ < 10  # the bridge has no say in it
    assert len(set(np.sign(model.embedding_[:40, 0]))) == 1
    assert np.sign(model.embedding_[0, 0]) != np.sign(model.embedding_[-1, 0])
    apart = lowfold.DiffusionMaps(2, n_neighbors=5, on_disconnected="separate").fit(X)
    assert np.isfinite(apart.embedding_).all()
    with pytest.warns(DisconnectedWarning, match="threshold of"):
        lowfold.DiffusionMaps(2, threshold=0.5).fit(np.vstack([cloud(0, 40), cloud(1, 30) + 5]))


def test_errors_are_sentences() -> None:
    X = cloud(0)
    cases = [
        ({"threshold": 0.5, "weights": "binary"}, "goes with weights='heat'"),
        ({"weights": "self_tuning", "scale": "std"}, "scale is a factor"),
        ({"tuning": 60, "weights": "self_tuning"}, "tuning must be at most 39"),
        ({"weights": "precomputed"}, "metric='precomputed'"),
        ({"weights": lambda u: -u}, "0 or more"),
        ({"weights": lambda u: u[:1]}, "one of its shape"),
        ({"landmarks": 100}, "landmarks must be at most 40"),
        ({"landmarks": np.array([1, 1, 2, 3])}, "twice"),
    ]
    for parameters, words in cases:
        with pytest.raises(InvalidInput, match=words):
            lowfold.DiffusionMaps(2, **parameters).fit(X)
    model = lowfold.DiffusionMaps(2, t=1.5, threshold=0.0).fit(X)
    with pytest.raises(InvalidInput, match="whole t"):
        model.distances(X, kind="diffusion")


def test_walk_on_a_bipartite_graph_and_on_weights() -> None:
    cycle = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3], [3, 0]])
    model = lowfold.DiffusionMaps(3, weights="binary", self_loops=0.0, alpha=0.0, t=2).fit(cycle)
    assert np.allclose(model.eigenvalues_, [0, 0, -1], atol=1e-12)
    assert np.isclose(auto_scale(cycle), 1)
    assert np.allclose(lowfold.graph.random_walk(Weights.unit(cycle)).toarray(), model.walk().transition().toarray())


@pytest.mark.parametrize("scale", [1e-6, 1e-3])
def test_a_walk_that_does_not_leave_its_place_is_told(scale: float) -> None:
    X = lowfold.datasets.s_curve(300, random_state=31).X
    with pytest.warns(AccuracyWarning) as told:
        lowfold.DiffusionMaps(2, scale=scale).fit(X)
    assert sum(f"at scale = {scale:g} the walk" in str(one.message) for one in told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        warnings.simplefilter("ignore", DependenceWarning)
        lowfold.DiffusionMaps(2, scale=0.3).fit(X)


def test_a_time_after_which_nothing_is_left_is_told() -> None:
    X = lowfold.datasets.s_curve(200, random_state=32).X
    with pytest.warns(AccuracyWarning, match="2 of 2 coordinates of DiffusionMaps have faded") as told:
        lowfold.DiffusionMaps(2, t=1e6).fit(X)
    lasting = float(str(told[0].message).split()[-1])
    with pytest.warns(AccuracyWarning, match="2 of 2 coordinates of VectorDiffusionMaps have faded"):
        lowfold.VectorDiffusionMaps(2, t=1e7).fit(X)
    first = lowfold.DiffusionMaps(2).fit(X).eigenvalues_[0]
    assert first**lasting == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("options", [{}, {"threshold": 0.0}])
def test_a_power_of_the_density_beyond_float64_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="alpha = 300 takes the density"):
        lowfold.DiffusionMaps(2, alpha=300, **options).fit(lowfold.datasets.s_curve(100, random_state=33).X)
