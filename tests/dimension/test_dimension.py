"""Estimators of dimension on shapes of known dimension, and against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold import dimension
from lowfold._core.errors import InvalidInput
from lowfold.dimension import _capacity
from lowfold.dimension._estimate_all import NAMES
from lowfold.dimension._linear import hyperplane
from lowfold.dimension._read import read_source
from lowfold.metrics import pairwise

SEEDS = range(3)


def affine(seed: int, s: int, D: int = 8, n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, s)) @ np.linalg.qr(rng.normal(size=(D, s)))[0].T + rng.normal(size=D)


def noisy_sphere(seed: int, n: int, D: int, sigma: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, 3))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    return np.pad(S, ((0, 0), (0, D - 3))) + sigma * rng.normal(size=(n, D))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("s", [1, 3, 8])
def test_hyperplane_is_exact(seed: int, s: int) -> None:
    X = affine(seed, s)
    found = hyperplane(X)
    assert found.dim == s
    assert np.allclose(pairwise(found.coordinates), pairwise(X), atol=1e-10)
    assert np.allclose(found.U.T @ found.origin, 0, atol=1e-10)
    assert found.residual < 1e-10
    assert dimension.linear(X, rule="exact").value == s


def test_hyperplane_of_one_place() -> None:
    found = hyperplane(np.full((5, 3), 7.0))
    assert found.dim == 0
    assert np.allclose(found.origin, 7.0)
    assert dimension.linear(np.full((5, 3), 7.0)).value == 0


def test_linear_rules() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) * [10.0, 9.0, 0.5, 0.4]
    energy = dimension.linear(X, share=0.9)
    assert energy.value == 2
    assert energy.curve is not None
    assert (np.diff(energy.curve) >= 0).all()
    assert energy.curve[-1] == pytest.approx(1.0)
    assert dimension.linear(X, share=0.5).value == 1
    assert dimension.linear(X, rule="gap").value == 2
    assert dimension.linear(X, rule="gap").reason is None
    assert "no gap" in str(dimension.linear(rng.normal(size=(500, 4)), rule="gap").reason)
    assert dimension.linear(X, rule="exact").value == 4
    assert dimension.linear(X, rule="exact", tol=0.2).value == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_roll_has_two_dimensions(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(1500, random_state=seed).X
    assert dimension.local_pca(X).value == 2
    assert dimension.correlation(X, n_resamples=0).value == pytest.approx(2, abs=0.15)
    assert dimension.maximum_likelihood(X).value == pytest.approx(2, abs=0.15)
    assert dimension.two_nearest(X).value == pytest.approx(2, abs=0.2)
    many = dimension.multiscale_svd(X, n_resamples=0)
    assert many.labels == ("tangent", "tangent", "curvature")


def test_elbow_of_the_roll() -> None:
    X = lowfold.datasets.swiss_roll(900, random_state=0).X
    found = dimension.residual_elbow(X, 7, n_resamples=0)
    assert found.value == 2
    assert found.curve is not None
    assert found.curve[1] < 0.05
    apart = dimension.residual_elbow(np.r_[X[:300], X[:100] + 500], 7, max_dim=4, n_resamples=0)
    assert "pieces" in str(apart.reason)


@pytest.mark.parametrize("seed", SEEDS)
def test_gaussian_in_five_dimensions(seed: int) -> None:
    X = affine(seed, 5, D=20, n=1500)
    for found in (dimension.maximum_likelihood(X), dimension.two_nearest(X)):
        assert found.value == pytest.approx(5, abs=0.6)
        assert found.interval is not None
        assert found.interval[0] < found.value < found.interval[1]
    assert dimension.multiscale_svd(X, n_resamples=0).value == 5
    assert "neighbours are few" in str(dimension.local_pca(X).reason)


def test_helix_has_one() -> None:
    X = lowfold.datasets.toroidal_helix(800, random_state=0).X
    assert dimension.local_pca(X).value == 1
    assert dimension.maximum_likelihood(X).value == pytest.approx(1, abs=0.05)
    assert dimension.multiscale_svd(X, n_resamples=0).value == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_multiscale_tells_noise_from_curvature(seed: int) -> None:
    found = dimension.multiscale_svd(noisy_sphere(seed, 2500, 20, 0.01), n_resamples=0)
    assert found.value == 2
    assert found.labels[:4] == ("tangent", "tangent", "curvature", "noise")
    assert set(found.labels[3:]) == {"noise"}
    assert found.exponents is not None
    assert np.allclose(found.exponents[:2], 1, atol=0.2)
    assert found.spectra is not None
    assert found.spectra.shape == (10, 20)


def test_multiscale_on_a_plane_with_noise() -> None:
    rng = np.random.default_rng(0)
    X = np.pad(rng.random((1500, 3)), ((0, 0), (0, 9))) + 0.005 * rng.normal(size=(1500, 12))
    found = dimension.multiscale_svd(X, n_resamples=3)
    assert found.value == 3
    assert found.interval is not None
    exact = dimension.multiscale_svd(np.pad(rng.random((300, 2)), ((0, 0), (0, 2))), n_resamples=0)
    assert exact.labels == ("tangent", "tangent", "nothing", "nothing")


def test_noise_is_said() -> None:
    assert "noise" in str(dimension.two_nearest(noisy_sphere(0, 2000, 20, 0.01)).reason)


@pytest.mark.parametrize("seed", SEEDS)
def test_uneven_sampling_lowers_correlation_not_capacity(seed: int) -> None:
    # (u^3, v^3): the density of pairs gives 4/3 in the limit, the set itself has dimension 2.
    rng = np.random.default_rng(seed)
    X = rng.random((3000, 2)) ** 3
    assert dimension.correlation(X, n_resamples=0).value < 1.55
    assert dimension.capacity(X, n_resamples=0).value > 1.5


def test_correlation_counts_pairs() -> None:
    X = np.random.default_rng(0).random((60, 2))
    found = dimension.correlation(X, radii=(0.1, 0.5), n_resamples=0)
    D = pairwise(X)
    assert found.scales is not None
    C = [(D[np.triu_indices(60, 1)] < r).mean() for r in found.scales]
    assert np.allclose(found.curve, C)
    assert found.value == pytest.approx(np.polyfit(np.log(found.scales), np.log(C), 1)[0])


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e8])
def test_scale_does_not_matter(factor: float) -> None:
    X = np.random.default_rng(0).random((600, 2))
    for estimator in (dimension.correlation, dimension.maximum_likelihood, dimension.two_nearest, dimension.capacity):
        a, b = estimator(X, n_resamples=0), estimator(factor * X, n_resamples=0)
        assert np.isfinite(a.value)
        assert a.value == pytest.approx(b.value, rel=1e-3)  # radii fall on distances, and rounding decides


@pytest.mark.parametrize("seed", SEEDS)
def test_packings_and_covers_keep_their_bounds(seed: int) -> None:
    X = np.random.default_rng(seed).random((120, 2))
    source = read_source(X, "euclidean", None)
    delta = _capacity.packing_radii(source, 60, 0)
    assert delta[0] == np.inf
    assert (np.diff(delta[1:]) <= 0).all()
    for r in (0.15, 0.3):
        packing = int((delta >= r).sum())
        cover = _capacity.covering_number(source, r)
        double = int((delta >= 2.001 * r).sum())
        # any 2r-packing is at most as large as any r-cover
        assert double <= cover
        assert cover <= 2 * packing
    D = pairwise(X)
    order = [0]
    for _ in range(59):
        order.append(int(np.argmax(D[order].min(axis=0))))
    chosen = D[np.ix_(order, order)]
    assert delta[30] == pytest.approx(chosen[30, :30].min())


def test_cover_covers_and_boxes_count() -> None:
    X = np.arange(10.0)[:, None]
    source = read_source(X, "euclidean", None)
    assert _capacity.covering_number(source, 1.0) == 4
    assert _capacity.covering_number(source, 100.0) == 1
    assert _capacity.box_number(X, 2.0, np.zeros(1)) == 5


@pytest.mark.parametrize("method", ["packing", "covering", "box"])
def test_capacity_of_line_and_square(method: str) -> None:
    rng = np.random.default_rng(0)
    line = np.pad(rng.random((600, 1)), ((0, 0), (0, 2)))
    square = np.pad(rng.random((1500, 2)), ((0, 0), (0, 1)))
    one = dimension.capacity(line, method=method, n_resamples=3)
    two = dimension.capacity(square, method=method, n_resamples=0)
    assert one.value == pytest.approx(1, abs=0.12)
    assert two.value == pytest.approx(1.75, abs=0.25)
    assert one.interval is not None
    assert one.interval[0] <= one.value <= one.interval[1]
    assert one.curve is not None
    assert (np.diff(one.curve) <= 0).all()


@pytest.mark.parametrize("name", ["correlation", "capacity", "maximum_likelihood", "two_nearest"])
def test_any_metric_and_matrices(name: str) -> None:
    X = np.random.default_rng(0).random((600, 2))
    estimator = getattr(dimension, name)
    given = estimator(pairwise(X, metric="template"), metric="precomputed", n_resamples=0)
    assert given.value == pytest.approx(estimator(X, metric="template", n_resamples=0).value)
    assert given.value != estimator(X, n_resamples=0).value


def test_local_values() -> None:
    rng = np.random.default_rng(0)
    line = np.column_stack([rng.random(200), np.zeros(200), np.zeros(200)])
    block = rng.random((400, 3)) + 5
    X = np.r_[line, block]
    for found in (dimension.local_pca(X, 20), dimension.maximum_likelihood(X)):
        assert found.local is not None
        assert np.median(found.local[:200]) < 1.3
        assert np.median(found.local[200:]) > 2.3


def test_mle_by_hand() -> None:
    X = np.random.default_rng(0).random((40, 2))
    T = np.sort(pairwise(X), axis=1)[:, 1:]
    inverse = np.mean([np.log(row[4] / row[:4]).sum() / 4 for row in T])
    assert dimension.maximum_likelihood(X, (5, 5)).value == pytest.approx(1 / inverse)


def test_duplicates_do_not_count() -> None:
    X = np.random.default_rng(0).random((300, 2))
    for name in ("maximum_likelihood", "two_nearest", "correlation", "capacity", "local_pca", "multiscale_svd"):
        estimator = getattr(dimension, name)
        once, twice = estimator(X, n_resamples=0), estimator(np.r_[X, X], n_resamples=0)
        assert np.array_equal(twice.value, once.value, equal_nan=True)
        assert twice.note == "300 repeated points left out"
    D = pairwise(np.r_[X, X[:50]])
    D[D < 1e-7] = 0.0  # rounding
    given = dimension.two_nearest(D, metric="precomputed", n_resamples=0)
    assert given.value == pytest.approx(dimension.two_nearest(X, n_resamples=0).value, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_little_or_flat_data_have_an_answer(name: str) -> None:
    rng = np.random.default_rng(0)
    for X in (np.zeros((40, 3)), rng.random((3, 2)), rng.random((20, 50)), np.arange(90.0)[:, None]):
        found = dimension.estimate_all(X, (name,))[name]
        assert np.isfinite(found.value) or found.reason


def test_table() -> None:
    X = np.random.default_rng(0).random((300, 2))
    found = dimension.estimate_all(X, ("linear_exact", "mle", "two_nn"))
    assert len(found) == 3
    lines = str(found).splitlines()
    assert lines[0].startswith("linear_exact  at most 2.00")
    assert found.median() == pytest.approx(np.median([found["mle"].value, found["two_nn"].value]))
    assert float(found["mle"]) == found["mle"].value
    with pytest.raises(InvalidInput, match="linear_exact"):
        found["nothing"]


def test_same_bits_with_any_number_of_threads() -> None:
    X = noisy_sphere(0, 400, 6, 0.02)
    names = ("local_pca", "correlation", "multiscale_svd", "mle", "two_nn")
    one, two = (dimension.estimate_all(X, names, n_jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert a.value == b.value
        assert a.interval == b.interval
        assert np.array_equal(a.curve, b.curve)


def with_gaps(n: int) -> np.ndarray:
    """Distances of 1, unmeasured between one point and the next."""
    gaps = np.diag([np.nan] * (n - 1), 1)
    return gaps + gaps.T + 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: dimension.linear(X, rule="best"), "rule"),
        (lambda X: dimension.correlation(X, radii=(2.0, 1.0)), "0 < low < high"),
        (lambda X: dimension.capacity(X, method="box", metric="cosine"), "box"),
        (lambda X: dimension.maximum_likelihood(X, (1, 5)), "at least 2"),
        (lambda X: dimension.estimate_all(X, ("guess",)), "names"),
        (lambda X: dimension.local_pca(X * np.nan), "finite"),
        (lambda X: dimension.linear(X * 1e150), "multiply X"),
        (lambda X: dimension.correlation(np.full((40, 40), np.nan), metric="precomputed"), "no measured distance"),
        (lambda X: dimension.correlation(with_gaps(40), metric="precomputed"), "every pair"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    X = np.random.default_rng(0).random((40, 2))
    with pytest.raises(InvalidInput, match=words):
        call(X)


@pytest.mark.parametrize("name", ["maximum_likelihood", "two_nearest", "correlation", "capacity"])
def test_intervals_are_as_wide_as_the_spread_over_samples(name: str) -> None:
    found = [getattr(dimension, name)(np.random.default_rng(s).random((520, 2)), n_resamples=6) for s in range(9)]
    spread = np.std([item.value for item in found], ddof=1)
    claimed = np.mean([(item.interval[1] - item.interval[0]) / (2 * 1.96) for item in found if item.interval])
    assert 0.4 < claimed / spread < 2.5
