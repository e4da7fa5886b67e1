"""Walks towards a given measure, with a given density, and with a width that varies: against closed forms."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold.kernels._diffusion import Profile, complete_weights, markov_dense
from lowfold.kernels._measure import Measure

pytestmark = pytest.mark.filterwarnings("ignore::lowfold._core.errors.DependenceWarning")


def named(value: object) -> str:
    """The name of a case, the same in every process."""
    return re.sub(r"<function (\S+) at \w+>", r"\1", str(value))[:60]


def normal(X: np.ndarray) -> np.ndarray:
    """The standard normal density, up to a factor."""
    return np.exp(-(X**2).sum(axis=1) / 2)


def generator_values(model: lowfold.DiffusionMaps) -> np.ndarray:
    """Eigenvalues of the generator that the walk tends to."""
    slowest = 1.0 if model.tangent_dim_ is None else model.local_scales_.min()
    return 4 * (model.eigenvalues_ - 1) / (model.scale_ * slowest**2)


def circle(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles with density 1 + 0.8 cos, by rejection."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 4 * n)
    angle = angle[rng.uniform(0, 1.8, 4 * n) < 1 + 0.8 * np.cos(angle)][:n]
    return np.column_stack([np.cos(angle), np.sin(angle)]), angle


def evenness(model: lowfold.DiffusionMaps, angle: np.ndarray) -> float:
    """1 where the angles of the embedding are those of the circle, turned or mirrored."""
    found = np.arctan2(*model.embedding_.T[::-1])
    return float(max(abs(np.exp(1j * (sign * found - angle)).mean()) for sign in (1, -1)))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_target_on_an_even_sample_is_the_ornstein_uhlenbeck_process(seed: int) -> None:
    x = np.random.default_rng(seed).uniform(-3.5, 3.5, size=(700, 1))
    model = lowfold.DiffusionMaps(3, threshold=0.0, scale=0.1, target=normal).fit(x)
    assert np.allclose(generator_values(model), [-1, -2, -3], rtol=0.1)  # Hermite polynomials
    psi = model.right_vectors_[:, 0]
    assert abs(np.corrcoef(psi, x[:, 0])[0, 1]) > 0.98
    weights = np.exp(-(x[:, 0] ** 2) / 2)
    assert np.corrcoef(model.stationary_, weights)[0, 1] > 0.95  # density of the sample is even, so mass is the target
    plain = lowfold.DiffusionMaps(3, threshold=0.0, scale=0.1).fit(x)
    assert generator_values(plain)[0] > -0.4  # (pi / 7)^2 = 0.2: without the target the volume


@pytest.mark.parametrize("seed", [0, 1])
def test_target_does_not_see_the_density_of_the_sample(seed: int) -> None:
    X, angle = circle(900, seed)
    even = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.03, target=np.ones(900)).fit(X)
    plain = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.03).fit(X)
    assert np.allclose(even.eigenvalues_, plain.eigenvalues_, atol=1e-10)
    assert np.allclose(generator_values(even), -1, rtol=0.15)
    tilted = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.03, target=1 + 0.8 * np.cos(angle)).fit(X)
    drawn = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.03, alpha=0.5).fit(X)
    assert np.allclose(generator_values(tilted), generator_values(drawn), rtol=0.12)  # both lead to the density


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", [{"threshold": 0.0, "scale": 0.03}, {}])
def test_a_given_density_is_taken_out(seed: int, kind: dict) -> None:
    X, angle = circle(900, seed)
    q = 1 + 0.8 * np.cos(angle)
    model = lowfold.DiffusionMaps(2, density=q, **kind).fit(X)
    assert np.allclose(model.densities_ / model.densities_[0], q / q[0])
    assert evenness(model, angle) > 0.98
    same = lowfold.DiffusionMaps(2, density=lambda X: 1 + 0.8 * X[:, 0], **kind).fit(X)
    assert np.allclose(np.abs(same.embedding_), np.abs(model.embedding_), atol=1e-8)
    wrong = lowfold.DiffusionMaps(2, density=np.ones(900), **kind).fit(X)  # leaves the true one in
    assert evenness(wrong, angle) < evenness(model, angle) - 0.02


@pytest.mark.filterwarnings("ignore:coordinate 2 of DiffusionMaps tells 3 points or fewer")  # a square, in the tails
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_varying_width_finds_the_generator_in_the_tails(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(800, 1))
    model = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.03, alpha=0.5, weights="variable", tangent_dim=1).fit(x)
    assert np.allclose(generator_values(model), [-1, -2], rtol=0.15)
    assert abs(np.corrcoef(model.right_vectors_[:, 0], x[:, 0])[0, 1]) > 0.98
    known = lowfold.DiffusionMaps(
        2, threshold=0.0, scale=0.03, alpha=0.5, weights="variable", tangent_dim=1, density=normal
    ).fit(x)
    assert np.allclose(generator_values(known)[0], -1, rtol=0.1)  # the sample's chance stays in


def test_the_walk_of_a_measure_is_a_reversible_chain() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    D = lowfold.metrics.pairwise(X)
    rho, pi = np.exp(rng.normal(size=40) / 3), rng.uniform(0.5, 2, 40)
    measure = Measure(None, pi, rho, 2.0)
    walk = markov_dense(complete_weights(D, Profile("variable", 2.0, rho), 1.0), alpha=0.3, measure=measure)
    K = np.exp(-(D**2) / (2.0 * np.outer(rho, rho)))
    q = K.sum(axis=1) / rho**2
    tilde = K * np.outer(q**-0.3 * np.sqrt(pi), q**-0.3 * np.sqrt(pi))
    P = tilde / tilde.sum(axis=1, keepdims=True)
    pace = (rho.min() / rho) ** 2
    waiting = np.eye(40) - pace[:, None] * (np.eye(40) - P)
    assert np.allclose(walk.transition(), waiting)
    assert np.allclose(walk.stationary @ waiting, walk.stationary)
    assert (waiting >= 0).all()


@pytest.mark.parametrize(
    "kind",
    [
        {"target": normal},
        {"density": normal},
        {"weights": "variable"},
        {"weights": "variable", "target": normal, "threshold": 0.0},
        {"weights": "variable", "n_neighbors": 30},
    ],
    ids=named,
)
def test_new_points_follow_the_same_walk(kind: dict, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 2))
    model = lowfold.DiffusionMaps(2, **kind).fit(X)
    assert np.allclose(model.transform(X[:20]), model.embedding_[:20], atol=1e-8)
    inside = np.flatnonzero((X**2).sum(axis=1) < 2)[:40]
    near = model.transform(X[inside] + 1e-7)
    spread = model.embedding_.std()
    assert np.abs(near - model.embedding_[inside]).max() < 0.1 * spread
    assert np.allclose(near[:3], model.transform(X[inside[:3]] + 1e-7))  # whatever the rest of the batch
    assert np.allclose(model.walk().transition().sum(axis=1), 1)
    if not any(callable(value) for value in kind.values()):
        lowfold.save(tmp_path / "walk.lowfold", model)
        assert np.array_equal(lowfold.load(tmp_path / "walk.lowfold").transform(X[inside] + 1e-7), near)


def test_pieces_and_landmarks_have_their_own_values() -> None:
    rng = np.random.default_rng(6)
    X = np.vstack([rng.normal(size=(150, 2)), rng.normal(size=(100, 2)) + 60])
    q = rng.uniform(1, 2, 250)
    apart = lowfold.DiffusionMaps(1, density=q, on_disconnected="separate", n_neighbors=10).fit(X)
    alone = lowfold.DiffusionMaps(1, density=q[:150], n_neighbors=10).fit(X[:150])
    assert np.allclose(np.abs(apart.right_vectors_[:150]), np.abs(alone.right_vectors_), atol=1e-6)
    some = lowfold.DiffusionMaps(2, target=normal, landmarks=200).fit(circle(400, 0)[0])
    assert len(some.stationary_) == 200


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ({"target": normal, "alpha": 0.5}, "alpha=1"),
        ({"density": normal, "alpha": 0.0}, "no say at alpha=0"),
        ({"target": normal, "weights": "self_tuning"}, "'self_tuning' is not"),
        ({"target": normal, "convention": "symmetric"}, "'markov' or 'degree'"),
        ({"weights": "variable", "convention": "symmetric"}, "'markov' or 'degree'"),
        ({"density": np.ones(40), "landmarks": 20}, "function of X"),
        ({"density": np.ones(39)}, "one number per point, 40"),
        ({"density": np.r_[0.0, np.ones(39)]}, "above 0 at every point; it is 0.0 at 0"),
        ({"target": lambda X: np.ones(3)}, "one number per row, 40"),
        ({"weights": "variable", "scale": "mean"}, "a number or 'auto'"),
        ({"tangent_dim": 2}, "weights='variable'"),
        ({"weights": "variable", "tuning": 40}, "tuning"),
    ],
    ids=named,
)
def test_what_has_no_meaning_is_refused(kind: dict, words: str) -> None:
    X = np.random.default_rng(7).normal(size=(40, 2))
    with pytest.raises(InvalidInput, match=words.replace("(", r"\(")):
        lowfold.DiffusionMaps(2, **kind).fit(X)
    with pytest.raises(InvalidInput, match="X was a matrix"):
        lowfold.DiffusionMaps(2, metric="precomputed", density=normal).fit(lowfold.metrics.pairwise(X))


def test_distances_of_a_waiting_walk_are_those_of_training_points() -> None:
    X = np.random.default_rng(8).normal(size=(60, 2))
    model = lowfold.DiffusionMaps(2, weights="variable", threshold=0.0).fit(X)
    assert model.distances(X[:5], kind="diffusion").shape == (5, 5)
    with pytest.raises(InvalidInput, match="the walk waits"):
        model.distances(X[:5] + 0.1, kind="diffusion")


@pytest.mark.parametrize("k", [10, 40])
@pytest.mark.parametrize("seed", [21, 22])
def test_a_kernel_cut_at_neighbours_tells_that_it_keeps_the_density(k: int, seed: int) -> None:
    X, angle = circle(900, seed)
    with pytest.warns(AccuracyWarning, match=r"takes no more of the density out than alpha=0\.[56]"):
        cut = lowfold.DiffusionMaps(2, n_neighbors=k).fit(X)
    whole = lowfold.DiffusionMaps(2).fit(X)
    assert evenness(cut, angle) < 0.9 < 0.99 < evenness(whole, angle)


@pytest.mark.parametrize("k", [8, 30])
def test_a_cut_that_keeps_nothing_is_not_told(k: int) -> None:
    """Warnings are errors: even points, a walk that is to keep the density, and one that knows it."""
    X, angle = circle(900, 23)
    even = np.random.default_rng(24).uniform(0, 2 * np.pi, 900)
    lowfold.DiffusionMaps(2, n_neighbors=k).fit(np.column_stack([np.cos(even), np.sin(even)]))
    lowfold.DiffusionMaps(2, n_neighbors=k).fit(lowfold.datasets.square(800, random_state=25).X)
    lowfold.DiffusionMaps(2, n_neighbors=k, alpha=0).fit(X)
    lowfold.DiffusionMaps(2, n_neighbors=k, density=1 + 0.8 * np.cos(angle)).fit(X)


@pytest.mark.parametrize("seed", [5, 6])
def test_passes_end_in_weights_that_integrate_the_kernel(seed: int) -> None:
    """1 / q is a rule of integration: K (1 / q) is as even as may be; on a graph and on the whole matrix alike."""
    X, _ = circle(300, seed)
    whole = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.1, passes=40).fit(X)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 0.1)
    integral = K @ (1 / whole.densities_)
    assert integral.std() < 0.005 * integral.mean()
    once = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.1).fit(X)
    assert once.passes_ == 1  # the published estimate, where the scale is given
    assert np.allclose(once.densities_, K.sum(axis=1))
    graph = lowfold.DiffusionMaps(2, threshold=1e-12, scale=0.1, passes=40).fit(X)
    assert np.allclose(graph.densities_, whole.densities_, rtol=1e-6)


@pytest.mark.parametrize("seed", [7, 8])
def test_new_points_take_the_passes_of_the_density(seed: int) -> None:
    """Theirs stands in the symmetric convention alone; single points may lose an edge at the end of a reach."""
    X, _ = circle(400, seed)
    near = X + 1e-6 * np.random.default_rng(seed).standard_normal(X.shape)
    for parameters in ({}, {"threshold": 0.0, "scale": 0.1, "passes": 4}):
        model = lowfold.DiffusionMaps(2, convention="symmetric", **parameters).fit(X)
        assert model.passes_ > 1
        off = np.abs(model.transform(near) - model.embedding_).max(axis=1) / np.abs(model.embedding_).max()
        assert np.quantile(off, 0.95) < 1e-4


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"weights": "variable"}, "weights='variable'"),
        ({"density": np.ones(60)}, "the given density"),
    ],
)
def test_passes_need_an_estimate(parameters: dict, word: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(word)):
        lowfold.DiffusionMaps(2, passes=2, **parameters).fit(np.random.default_rng(0).random((60, 2)))
