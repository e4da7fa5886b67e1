"""What an estimator says when it cannot tell, and what every estimate carries."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lowfold
from lowfold import dimension
from lowfold.dimension._estimate_all import NAMES
from lowfold.metrics import pairwise

LOCAL = ("local_pca", "correlation", "multiscale_svd", "mle")


def ball(seed: int, n: int, D: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / D)


@pytest.mark.parametrize("seed", range(2))
def test_noise_in_thirty_dimensions(seed: int) -> None:
    """A hundred points of a ball in 30 dimensions: nobody knows, and nobody says so with confidence."""
    found = dimension.estimate_all(ball(seed, 100, 30))
    for item in found:
        assert item.bound or item.whole or not item.told, item
    for name in ("correlation", "mle", "two_nn", "capacity_packing", "multiscale_svd", "residual_elbow"):
        assert np.isnan(found[name].value)
    assert "above 1" in str(found["mle"].reason)
    assert found["mle"].curve is not None
    assert np.isnan(found.median())


@pytest.mark.parametrize(("d", "n"), [(2, 300), (3, 1000), (5, 3000)])
def test_enough_points_are_told(d: int, n: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, d))
    for estimator in (dimension.correlation, dimension.maximum_likelihood, dimension.two_nearest):
        found = estimator(X, n_resamples=0)
        assert found.told, found
        assert round(found.value) == d


@pytest.mark.parametrize("d", [8, 12])
def test_too_low_is_said_to_be_too_low(d: int) -> None:
    X = np.random.default_rng(0).random((1000, d))
    for estimator in (dimension.correlation, dimension.maximum_likelihood, dimension.two_nearest):
        found = estimator(X, n_resamples=0)
        assert "too low" in str(found.reason) or np.isnan(found.value)


def test_two_points_and_one() -> None:
    for n in (1, 2):
        for item in dimension.estimate_all(np.random.default_rng(0).random((n, 3))):
            assert not item.told, item


def test_points_span_no_more_than_their_number() -> None:
    X = np.random.default_rng(0).normal(size=(30, 200))
    found = dimension.linear(X, rule="exact")
    assert found.value == 29
    assert "30 points always lie in 29 directions" in str(found.reason)
    flat = np.random.default_rng(0).normal(size=(30, 3)) @ np.eye(3, 200)
    assert dimension.linear(flat, rule="exact").told


def test_many_copies_of_few_points() -> None:
    X = np.repeat(np.random.default_rng(0).random((5, 3)), 60, axis=0)
    for item in dimension.estimate_all(X):
        assert item.bound or item.whole or np.isnan(item.value), item


def test_a_line_and_a_plane_have_local_values() -> None:
    rng = np.random.default_rng(0)
    line = np.column_stack([4 * rng.random(300), np.zeros((300, 2))])
    plane = np.column_stack([rng.random((600, 2)), np.full(600, 3.0)])
    found = dimension.estimate_all(np.r_[line, plane], LOCAL)
    for item in found:
        assert item.local is not None
        assert item.local.shape == (900,)
        assert np.nanmedian(item.local[:300]) == pytest.approx(1, abs=0.15), item.name
        assert np.nanmedian(item.local[300:]) == pytest.approx(2, abs=0.25), item.name
    assert "1 at 33%, 2 at 67%" in str(found["local_pca"].reason)
    assert "differs from place to place" in str(found["mle"].reason)
    assert dimension.maximum_likelihood(plane).told


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("solid", "inside"), [(True, 3), (False, 2)])
def test_balls_on_strings(solid: bool, inside: int, seed: int) -> None:
    """Three balls or spheres on two segments: 3 or 2 there, 1 between, each at nearly all of its points."""
    data = lowfold.datasets.cluster_3d(1500, solid=solid, points_per_segment=150, random_state=seed)
    local = dimension.local_pca(data.X, 10, n_resamples=0).local
    assert local is not None
    assert data.labels is not None
    for label, wanted in enumerate((1, inside, inside, inside)):
        assert (local[data.labels == label] == wanted).mean() > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_every_estimate_carries_its_evidence(name: str) -> None:
    rng = np.random.default_rng(0)
    n = {"mvu_spectrum": 150, "residual_elbow": 200}.get(name, 560)
    t = 3 * rng.random(n)
    X = np.column_stack([np.cos(t), np.sin(t), rng.random(n)])  # half of a cylinder
    item = dimension.estimate_all(X, (name,))[name]
    assert np.isfinite(item.value)
    assert item.scales is not None
    assert item.curve is not None
    assert item.scales.shape == item.curve.shape
    assert (np.diff(item.scales) > 0).all()
    assert item.used is not None
    assert item.scales[0] <= item.used[0] <= item.used[1] <= item.scales[-1] or name == "linear_exact"
    assert item.interval is not None or name == "mvu_spectrum"
    assert (item.local is not None) == (name in LOCAL)
    assert all(item.axes)
    restored = json.loads(json.dumps(item.as_dict(), allow_nan=False))
    assert restored["value"] == item.value
    assert len(restored["curve"]) == len(item.curve)


def test_capacity_with_a_function_as_metric() -> None:
    X = np.random.default_rng(0).random((300, 1))

    def snowflake(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.abs(x - y).sum() ** 0.5)  # the line has dimension 2

    radii = (0.15, 0.5)
    found = dimension.capacity(X, metric=snowflake, radii=radii, max_points=260, n_resamples=0)
    assert found.value == pytest.approx(2, abs=0.3)
    assert found.note == "a random sample of 260 of 300 points"
    D = np.sqrt(np.abs(X - X.T))
    for method in ("packing", "covering"):
        given = dimension.capacity(D, method=method, metric="precomputed", radii=radii, n_resamples=0)
        assert given.value == pytest.approx(2, abs=0.3)


def test_all_with_a_matrix_of_distances() -> None:
    X = np.pad(np.random.default_rng(0).random((560, 2)), ((0, 0), (0, 1)))
    names = ("linear_exact", "correlation", "capacity_packing", "capacity_box", "mle", "two_nn", "skdim:TwoNN")
    found = dimension.estimate_all(pairwise(X), names, metric="precomputed")
    assert found["mle"].value == pytest.approx(dimension.maximum_likelihood(X).value, rel=1e-6)
    assert found["two_nn"].value == pytest.approx(2, abs=0.3)
    for name in ("linear_exact", "capacity_box", "skdim:TwoNN"):
        assert "needs coordinates" in str(found[name].reason)
    other = dimension.estimate_all(X, ("mle", "linear_exact"), metric="minkowski", metric_params={"p": 1})
    assert other["mle"].value == pytest.approx(2, abs=0.3)
    assert np.isnan(other["linear_exact"].value)


def test_geodesic_elbow_of_a_matrix() -> None:
    t = np.sort(np.random.default_rng(0).random(150)) * 20
    D = np.abs(np.subtract.outer(t, t))
    assert dimension.residual_elbow(D, 5, metric="precomputed", max_dim=3, n_resamples=0).value == 1


def test_noise_and_curvature_mixed_are_no_tangent() -> None:
    rng = np.random.default_rng(0)
    S = rng.normal(size=(1200, 3))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    found = dimension.multiscale_svd(S + 0.01 * rng.normal(size=S.shape), n_resamples=0)
    assert found.labels == ("tangent", "tangent", "curvature")


def test_noise_as_large_as_the_balls() -> None:
    rng = np.random.default_rng(0)
    S = rng.normal(size=(1500, 3))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    found = dimension.multiscale_svd(np.pad(S, ((0, 0), (0, 17))) + 0.1 * rng.normal(size=(1500, 20)), n_resamples=0)
    assert np.isnan(found.value)


def test_correlation_of_cube_and_roll_at_given_radii() -> None:
    roll = dimension.correlation(lowfold.datasets.swiss_roll(3000, random_state=0).X, radii=(1.0, 3.0), n_resamples=0)
    assert roll.value == pytest.approx(1.95, abs=0.06)
    cube = dimension.correlation(np.random.default_rng(0).random((3000, 3)), radii=(0.05, 0.15), n_resamples=0)
    assert cube.value == pytest.approx(2.92, abs=0.1)


def test_energy_rule_rises_with_the_share() -> None:
    X = np.random.default_rng(0).normal(size=(200, 6)) @ np.diag([5.0, 4, 3, 2, 1, 0])
    values = [dimension.linear(X, share=share, n_resamples=0).value for share in (0.3, 0.6, 0.9, 0.99, 1.0)]
    assert values == sorted(values)
    assert values[-1] == 5


def test_large_data_are_sampled_for_the_interval_only() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((14_000, 2))
    found = dimension.maximum_likelihood(X, n_resamples=6)
    assert found.note is None
    assert found.interval is not None
    spread = (found.interval[1] - found.interval[0]) / (2 * 1.96)
    runs = [dimension.maximum_likelihood(rng.random((14_000, 2)), n_resamples=0).value for _ in range(6)]
    assert 0.3 < spread / np.std(runs, ddof=1) < 3


@pytest.mark.parametrize("seed", range(3))
def test_at_most_is_said_of_the_rank_alone(seed: int) -> None:
    """A strip twenty times as long as wide is a line to whoever leaves out 5% of the variance."""
    rng = np.random.default_rng(seed)
    P = rng.random((300, 2)) * [20.0, 1.0]
    X = np.column_stack([P[:, 0], P[:, 1], np.sin(P[:, 0] / 8)])
    for item in dimension.estimate_all(X, ("linear_exact", "linear_energy", "linear_gap", "residual_elbow")):
        assert ("at most" in str(item)) == (item.name == "linear_exact")
        assert not item.bound or item.value >= 2
    assert dimension.linear(X, rule="energy").value < 2


def test_an_interval_says_that_it_is_of_the_sampling() -> None:
    X = np.random.default_rng(8).random((200, 2))
    found = dimension.maximum_likelihood(X)
    assert "by sampling]" in str(found)
    assert "with scales and edges]" in str(found)


@pytest.mark.parametrize("name", ["mle", "two_nn", "correlation"])
def test_the_band_holds_the_dimension_where_the_sampling_alone_does_not(name: str) -> None:
    """Cubes of 2 and 3 dimensions, a Gaussian, a paraboloid: edges and the scale move a value more than the sample."""
    held, sampled_only = 0, 0
    for seed in (30, 31):
        rng = np.random.default_rng(seed)
        P = rng.uniform(-1, 1, (400, 2))
        sets = {2: [P, np.column_stack([P, (P**2).sum(axis=1)])], 3: [rng.random((600, 3)), rng.normal(size=(600, 3))]}
        for d, X in ((d, X) for d, several in sets.items() for X in several):
            found = dimension.estimate_all(X, (name,))[name]
            assert found.band is not None
            assert found.interval is not None
            held += found.band[0] <= d <= found.band[1]
            sampled_only += found.interval[0] <= d <= found.interval[1]
    assert held >= 7
    assert held >= sampled_only


def test_an_interval_is_shown_with_what_it_is_of() -> None:
    found = dimension.maximum_likelihood(np.random.default_rng(0).random((200, 3)))
    assert found.interval is not None
    assert "by sampling]" in repr(found)
    assert "with scales and edges]" in repr(found)


def noisy(shape: str, seed: int, n: int) -> np.ndarray:
    """A circle in space or a sphere in five columns, with noise as large as the distance to the tenth neighbour."""
    rng = np.random.default_rng(seed)
    if shape == "circle":
        t = 2 * np.pi * rng.random(n)
        X, sigma = np.column_stack([np.cos(t), np.sin(t), 0 * t]), 10 * np.pi / n
    else:
        X = rng.normal(size=(n, 3))
        X = np.pad(X / np.linalg.norm(X, axis=1, keepdims=True), ((0, 0), (0, 2)))
        sigma = np.sqrt(40 / n) / 2
    return X + sigma * rng.normal(size=X.shape)


NEAR = {
    "local_pca": dimension.local_pca,
    "mle": dimension.maximum_likelihood,
    "two_nn": dimension.two_nearest,
}


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("shape", ["circle", "sphere"])
@pytest.mark.parametrize("seed", range(2))
def test_noise_that_fills_the_nearest_neighbours_is_told(name: str, shape: str, seed: int) -> None:
    """They count the directions of the noise; farther away there are those of the manifold."""
    found = NEAR[name](noisy(shape, seed, 1500), n_resamples=0)
    d = 1 if shape == "circle" else 2
    assert found.value > d + 0.5
    assert not found.told
    said = float(str(found.reason).split("depends on the scale: ")[1].split()[0])
    assert said < found.value
    assert shape == "sphere" or round(said) == 1


@pytest.mark.parametrize("seed", [41, 42])
def test_sizes_beyond_the_width_of_a_strip_are_told(seed: int) -> None:
    """Boxes wider than the strip see its length alone; narrower ones two directions."""
    strip = np.random.default_rng(seed).random((800, 2)) * [25.0, 1.0]
    found = dimension.capacity(strip, method="box", n_resamples=0)
    assert found.value < 1.5
    assert not found.told
    said = float(str(found.reason).split("depends on the scale: ")[1].split()[0])
    assert round(said) == 2
    square = np.random.default_rng(seed).random((800, 2))
    assert "depends" not in str(dimension.capacity(square, method="box", n_resamples=0).reason)


def test_distances_alone_show_the_scale() -> None:
    D = pairwise(noisy("circle", 5, 600))
    assert "depends on the scale: 1" in str(dimension.two_nearest(D, metric="precomputed", n_resamples=0).reason)


@pytest.mark.parametrize("name", [*NEAR, "correlation", "multiscale_svd"])
@pytest.mark.parametrize("seed", range(2))
def test_clean_sets_do_not_depend_on_the_scale(name: str, seed: int) -> None:
    estimator = getattr(dimension, {"mle": "maximum_likelihood", "two_nn": "two_nearest"}.get(name, name))
    rng = np.random.default_rng(seed)
    turned = 4 * np.pi * rng.random(800)
    for X in (
        np.column_stack([np.cos(turned), np.sin(turned), turned / 10]),
        rng.normal(size=(1500, 3)),
        rng.random((1500, 5)),
        lowfold.datasets.swiss_roll(1500, random_state=seed).X,
    ):
        assert "depends on the scale" not in str(estimator(X, n_resamples=0).reason)


def clusters(seed: int, d: int, n: int, spreads: tuple[float, ...], apart: float) -> np.ndarray:
    """Gaussians of d dimensions, one for each of the spreads, that lie anyhow in d + 3 columns."""
    rng = np.random.default_rng(seed)
    size = n // len(spreads)
    parts = [
        apart * rng.normal(size=d + 3)
        + spread * rng.normal(size=(size, d)) @ np.linalg.qr(rng.normal(size=(d + 3, d)))[0].T
        for spread in spreads
    ]
    return np.vstack(parts)


@pytest.mark.parametrize("name", [*NEAR, "correlation"])
@pytest.mark.parametrize(("d", "n", "spreads"), [(3, 600, (1, 1, 1)), (5, 2000, (1, 1, 1)), (8, 2000, (0.3, 1, 2))])
def test_points_that_end_are_no_lower_dimension(name: str, d: int, n: int, spreads: tuple[float, ...]) -> None:
    """Beyond a cluster there are few points, but in as many directions as within."""
    estimator = NEAR.get(name, dimension.correlation)
    for apart in (2, 10):
        assert "depends on the scale" not in str(estimator(clusters(9, d, n, spreads, apart), n_resamples=0).reason)


def test_clusters_of_noisy_curves_depend_on_the_scale() -> None:
    parts = [noisy("circle", seed, 700) + 6.0 * np.eye(3)[seed] for seed in range(3)]
    assert "depends on the scale: 1" in str(dimension.two_nearest(np.vstack(parts), n_resamples=0).reason)
