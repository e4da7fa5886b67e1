"""Each distance against its formula in a plain double loop, and the identities that tie them together."""

import pickle

import numpy as np
import pytest
import scipy.fft

from lowfold._core.errors import InvalidInput, InvalidType
from lowfold.metrics import METRICS as EVERY
from lowfold.metrics import Metric, pairwise
from lowfold.metrics._pairwise import one_to_many
from lowfold.metrics._resolve import resolve_metric

pytestmark = pytest.mark.filterwarnings("ignore:metric .* compares truth values")  # test_hostile_metrics
METRICS = [name for name in EVERY if name != "jensenshannon"]  # which compares distributions: test_scipy_names
SEEDS = [0, 1, 2]
WIDTHS = [5, 24]  # below and above the width from which matrix products are used


def wrap(angle):
    return np.arctan2(np.sin(angle), np.cos(angle))


def unitary(x):
    n = len(x)
    k = np.arange(n)
    return np.exp(-2j * np.pi * np.outer(k, k) / n) @ x / np.sqrt(n)


def phases(x):
    return np.angle(unitary(x))


def haar_low(x):
    x = np.append(x, 0.0) if len(x) % 2 else x
    return (x[0::2] + x[1::2]) / np.sqrt(2)


def symmetric_bins(D, s):
    order = [0] + [sign * k for k in range(1, D // 2 + 1) for sign in (1, -1)]
    return [k % D for k in order][:s]


# name, parameters, formula for two vectors
FORMULAS = [
    ("euclidean", {}, lambda x, a: np.sqrt(((x - a) ** 2).sum())),
    ("angular", {}, lambda x, a: 2 * np.sin(np.arccos(np.clip(x @ a / np.sqrt(x @ x * (a @ a)), -1, 1)) / 2)),
    ("template", {}, lambda x, a: max(abs(x - a))),
    ("fourier", {"n_terms": 3, "band": "first"}, lambda x, a: np.linalg.norm(unitary(x - a)[:3])),
    ("fourier", {"n_terms": 3}, lambda x, a: np.linalg.norm(unitary(x - a)[symmetric_bins(len(x), 3)])),
    ("fourier", {"n_terms": 4}, lambda x, a: np.linalg.norm(unitary(x - a)[symmetric_bins(len(x), 4)])),
    ("wavelet", {}, lambda x, a: np.linalg.norm(haar_low(x - a))),
    ("wavelet", {"level": 2}, lambda x, a: np.linalg.norm(haar_low(haar_low(np.pad(x - a, (0, -len(x) % 4)))))),
    ("fourier_phase", {"n_terms": 3}, lambda x, a: np.linalg.norm(wrap(phases(x) - phases(a))[:3])),
    (
        "fourier_phase",
        {"n_terms": 4, "wrap": False},
        lambda x, a: np.linalg.norm((np.angle(scipy.fft.fft(x)) - np.angle(scipy.fft.fft(a)))[:4]),
    ),
    ("derivative", {}, lambda x, a: np.linalg.norm(np.diff(x - a))),
    ("derivative", {"order": 2}, lambda x, a: np.linalg.norm(np.diff(x - a, 2))),
    ("derivative", {"operator": "central"}, lambda x, a: np.linalg.norm(((x - a)[2:] - (x - a)[:-2]) / 2)),
    (
        "fourier_phase_difference",
        {"n_terms": 3},
        lambda x, a: np.linalg.norm(wrap(np.diff(phases(x) - phases(a)))[:3]),
    ),
    ("minkowski", {"p": 1}, lambda x, a: abs(x - a).sum()),
    ("minkowski", {"p": 2}, lambda x, a: np.linalg.norm(x - a)),
    ("minkowski", {"p": 3.5}, lambda x, a: (abs(x - a) ** 3.5).sum() ** (1 / 3.5)),
    ("minkowski", {"p": np.inf}, lambda x, a: max(abs(x - a))),
    ("cosine", {}, lambda x, a: 1 - x @ a / np.sqrt(x @ x * (a @ a))),
    ("correlation", {}, lambda x, a: 1 - np.corrcoef(x, a)[0, 1]),
]


def loop(formula, A, B):
    return np.array([[formula(a, b) for b in B] for a in A])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("D", WIDTHS)
@pytest.mark.parametrize(("name", "params", "formula"), FORMULAS, ids=lambda v: v if isinstance(v, str) else "")
def test_against_a_double_loop(name, params, formula, D, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(13, D)) + 0.5, rng.normal(size=(11, D)) + 0.5
    expected = loop(formula, A, B)
    np.testing.assert_allclose(pairwise(A, B, name, metric_params=params), expected, atol=1e-11)
    np.testing.assert_allclose(one_to_many(A[3], B, name, metric_params=params), expected[3], atol=1e-11)
    metric = resolve_metric(name, params, A)
    np.testing.assert_allclose(metric.rowwise(A[:11], B), np.diag(expected[:11]), atol=1e-11)
    own = pairwise(A, metric=name, metric_params=params)
    np.testing.assert_allclose(own, loop(formula, A, A), atol=3e-8)  # the formulas themselves round on the diagonal
    assert (own == own.T).all()
    assert (np.diag(own) == 0).all()


@pytest.mark.parametrize("name", METRICS)
def test_float32_is_kept_and_close_to_float64(name):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 24)).astype(np.float32)
    single, double = pairwise(X, metric=name), pairwise(X.astype(np.float64), metric=name)
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=2e-3 if "phase" in name else 2e-5)
    metric = resolve_metric(name, None, X)
    if metric.feature_map is not None:
        assert metric.feature_map(X).dtype == np.float32


@pytest.mark.parametrize("name", METRICS)
def test_the_map_gives_the_distance(name):
    X = np.random.default_rng(5).normal(size=(30, 24))
    metric = resolve_metric(name, None, X)
    if metric.feature_map is None:
        assert metric.block is not None
        return
    F = metric.feature_map(X)
    d = np.linalg.norm(F[:, None] - F[None], axis=2)
    finished = d if metric.finish is None else metric.finish(d)
    np.testing.assert_allclose(finished, metric.pairwise(X, X), atol=1e-11)
    back = finished if metric.unfinish is None else metric.unfinish(finished)
    np.testing.assert_allclose(back, d, atol=1e-11)


@pytest.mark.parametrize("name", METRICS)
def test_again_from_name_and_plain_params(name):
    X = np.random.default_rng(6).normal(size=(30, 24))
    metric = resolve_metric(name, None, X)
    for value in metric.params.values():
        assert isinstance(value, np.ndarray | int | float | str | bool | tuple)
    again = resolve_metric(metric.name, metric.params, None)
    assert (again.pairwise(X, X[:7]) == metric.pairwise(X, X[:7])).all()
    pickled = pickle.loads(pickle.dumps(metric))
    assert (pickled.pairwise(X, X[:7]) == metric.pairwise(X, X[:7])).all()
    assert resolve_metric(metric, None, X) is metric


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coincident_rows_far_from_the_origin_are_at_zero(name, dtype):
    X = (np.random.default_rng(7).normal(size=(70, 24)) + 1e4).astype(dtype)
    X[60:] = X[:10]
    for d in (pairwise(X, metric=name), pairwise(X, X.copy(), name), resolve_metric(name, None, X).pairwise(X, X)):
        assert (d[np.arange(60, 70), np.arange(10)] == 0).all()
        assert (np.diag(d) == 0).all()
    assert (resolve_metric(name, None, X).rowwise(X[60:], X[:10]) == 0).all()


@pytest.mark.parametrize("D", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_cancellation_at_offset_1e6(D, dtype):
    X = (np.random.default_rng(8).normal(size=(50, D)) + 1e6).astype(dtype)
    exact = np.sqrt(((X[:, None].astype(np.float64) - X[None].astype(np.float64)) ** 2).sum(axis=2))
    np.testing.assert_allclose(pairwise(X), exact, rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_tight_far_clusters_take_the_direct_path():
    rng = np.random.default_rng(9)
    X = np.concatenate([rng.normal(size=(40, 30)) * 1e-3 - 100, rng.normal(size=(40, 30)) * 1e-3 + 100])
    exact = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(pairwise(X), exact, rtol=1e-10)
    np.testing.assert_allclose(pairwise(X.astype(np.float32)), exact, rtol=2e-2)  # the rounding of the input itself


@pytest.mark.parametrize("size", [1e-200, 1e150, 1e200])
def test_extreme_sizes_neither_overflow_nor_vanish(size):
    X = np.random.default_rng(10).normal(size=(20, 24))
    for name in ("euclidean", "minkowski", "angular", "correlation", "derivative", "template"):
        scale = 1 if name in ("angular", "correlation") else size
        np.testing.assert_allclose(pairwise(X * size, metric=name), scale * pairwise(X, metric=name), rtol=1e-9)


def test_threads_change_no_bit():
    X = np.random.default_rng(11).normal(size=(2100, 20)).astype(np.float32)
    one = pairwise(X, n_jobs=1)
    assert (one == pairwise(X, n_jobs=3)).all()
    out = np.empty_like(one)
    assert pairwise(X, out=out) is out
    assert (one == out).all()
    direct = np.linalg.norm(X[2050].astype(np.float64) - X.astype(np.float64), axis=1)
    np.testing.assert_allclose(one[2050], direct, rtol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_fourier_with_all_terms_is_euclidean_and_grows_with_terms(seed):
    rng = np.random.default_rng(seed)
    for D in (7, 24):
        X = rng.normal(size=(20, D))
        for band in ("first", "symmetric"):
            options = [{"n_terms": s, "band": band} for s in range(1, D + 1)]
            several = [pairwise(X, metric="fourier", metric_params=params) for params in options]
            np.testing.assert_allclose(several[-1], pairwise(X), atol=1e-11)
            assert (np.diff(several, axis=0) >= -1e-12).all()


def test_fourier_ignores_fine_noise():
    t = np.arange(64)
    x, a = np.sin(2 * np.pi * t / 64), np.cos(2 * np.pi * t / 64)
    noisy = x + 3.0 * (-1) ** t
    assert one_to_many(x, [noisy, a])[0] > one_to_many(x, [noisy, a])[1]
    d = one_to_many(x, [noisy, a], "fourier", metric_params={"n_terms": 11})
    assert d[0] < 1e-12 < d[1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("wavelet", "level", "D"), [("haar", 1, 24), ("haar", 3, 21), ("db4", 2, 5), ("sym4", 3, 30)])
def test_wavelet_with_all_bands_is_euclidean(seed, wavelet, level, D):
    X = np.random.default_rng(seed).normal(size=(15, D))
    params = {"wavelet": wavelet, "level": level}
    d = [pairwise(X, metric="wavelet", metric_params=params | {"details": k}) for k in range(level + 1)]
    np.testing.assert_allclose(d[-1], pairwise(X), atol=1e-11)
    assert (np.diff(d, axis=0) >= -1e-12).all()


@pytest.mark.parametrize("m", [1, 3, 10])
def test_a_circular_shift_turns_the_phases_by_known_angles(m):
    D, s = 16, 6
    x = np.random.default_rng(12).normal(size=D)
    shifted = np.roll(x, m)
    turns = wrap(-2 * np.pi * np.arange(s) * m / D)
    d = one_to_many(x, [shifted], "fourier_phase", metric_params={"n_terms": s})
    np.testing.assert_allclose(d, [np.linalg.norm(turns)], atol=1e-11)
    step = abs(wrap(np.array(2 * np.pi * m / D)))
    d = one_to_many(x, [shifted], "fourier_phase_difference", metric_params={"n_terms": s})
    np.testing.assert_allclose(d, [np.sqrt(s) * step], atol=1e-11)


@pytest.mark.parametrize("name", ["fourier_phase", "fourier_phase_difference", "angular", "cosine"])
def test_invariant_to_positive_scaling(name):
    rng = np.random.default_rng(13)
    X, c = rng.normal(size=(20, 12)), rng.uniform(0.1, 9, size=(20, 1))
    np.testing.assert_allclose(pairwise(c * X, metric=name), pairwise(X, metric=name), atol=1e-7)


def test_a_coefficient_that_is_zero_has_no_random_phase():
    t = np.arange(32)
    x = np.cos(2 * np.pi * t / 32)
    a = 5 * np.cos(2 * np.pi * t / 32 + 1e-9)
    assert one_to_many(x, [a], "fourier_phase", metric_params={"n_terms": 16})[0] < 1e-8


def test_derivative_ignores_an_offset_and_sees_both_sides_of_an_image():
    rng = np.random.default_rng(14)
    x = rng.normal(size=(1, 30))
    assert pairwise(x, x + 3.0, "derivative")[0, 0] < 1e-12
    image, other = rng.normal(size=(2, 5, 6))
    gap = image - other
    expected = np.sqrt((np.diff(gap, axis=0) ** 2).sum() + (np.diff(gap, axis=1) ** 2).sum())
    d = one_to_many(image.ravel(), [other.ravel()], "derivative", metric_params={"shape": (5, 6)})
    np.testing.assert_allclose(d, [expected])
    colour, paint = rng.normal(size=(2, 4, 3, 3))
    expected = np.sqrt(sum((np.diff(colour - paint, axis=axis) ** 2).sum() for axis in (0, 1)))
    d = one_to_many(colour.ravel(), [paint.ravel()], "derivative", metric_params={"shape": (4, 3, 3)})
    np.testing.assert_allclose(d, [expected])


@pytest.mark.parametrize("seed", SEEDS)
def test_mahalanobis(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5))
    C = np.cov(X.T)
    gaps = X[:, None] - X[None]
    squares = np.einsum("ijk,kl,ijl->ij", gaps, np.linalg.inv(C), gaps)
    np.testing.assert_allclose(pairwise(X, metric="mahalanobis"), np.sqrt(squares), atol=1e-8)
    squared = pairwise(X, metric="mahalanobis", metric_params={"squared": True})
    np.testing.assert_allclose(squared, squares, rtol=1e-8, atol=1e-12)
    whitened = resolve_metric("mahalanobis", None, X).feature_map(X)
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(5), atol=1e-9)
    B, weights = rng.normal(size=(5, 5)), np.array([5.0, 4.0, 2.0, 1.0, 0.5])
    inside = np.einsum("kl,ijl->ijk", np.linalg.inv(B), gaps)
    expected = np.sqrt((weights * inside**2).sum(axis=2))
    form = pairwise(X, metric="mahalanobis", metric_params={"basis": B, "weights": weights})
    np.testing.assert_allclose(form, expected, rtol=1e-8, atol=1e-10)
    M = B @ np.diag(1 / weights) @ B.T
    np.testing.assert_allclose(pairwise(X, metric="mahalanobis", metric_params={"M": M}), form, atol=1e-8)
    np.testing.assert_allclose(pairwise(X, metric="mahalanobis", metric_params={"M": np.eye(5)}), pairwise(X))


def test_mahalanobis_applies_to_new_points_as_fitted():
    rng = np.random.default_rng(15)
    X, new = rng.normal(size=(50, 4)), rng.normal(size=(6, 4)) * 7
    metric = resolve_metric("mahalanobis", {"reg": 0.1}, X)
    C = np.cov(X.T)
    M = C + 0.1 * np.trace(C) / 4 * np.eye(4)
    gap = new[0] - X[0]
    np.testing.assert_allclose(metric.pairwise(new, X)[0, 0], np.sqrt(gap @ np.linalg.solve(M, gap)))


def test_callable_plain_with_parameters_and_compiled():
    import numba

    rng = np.random.default_rng(16)
    A, B = rng.normal(size=(9, 4)), rng.normal(size=(7, 4))
    expected = np.abs(A[:, None] - B[None]).sum(axis=2)

    def city(x, y, c=1.0):
        return c * np.abs(x - y).sum()

    np.testing.assert_allclose(pairwise(A, B, city), expected)
    np.testing.assert_allclose(pairwise(A, B, city, metric_params={"c": 2.0}), 2 * expected)
    compiled = numba.njit(lambda x, y: np.abs(x - y).sum())
    np.testing.assert_allclose(pairwise(A, B, compiled), expected)
    np.testing.assert_allclose(resolve_metric(compiled, None, A).rowwise(A[:7], B), np.diag(expected[:7]))


@pytest.mark.parametrize(
    ("metric", "params", "X", "words"),
    [
        ("euklid", {}, np.ones((3, 4)), "one of euclidean, angular"),
        ("euclidean", {"p": 3}, np.ones((3, 4)), "'p'; it takes none"),
        ("fourier", {"terms": 3}, np.ones((3, 4)), "'terms'; it takes n_terms, band"),
        ("fourier", {"n_terms": 5}, np.ones((3, 4)), "1..4 for 4 columns; got 5"),
        ("fourier", {"n_terms": 2.5}, np.ones((3, 4)), "whole number"),
        ("fourier", {"band": "low"}, np.ones((3, 4)), "symmetric, first"),
        ("fourier", {}, None, "needs n_terms"),
        ("fourier_phase_difference", {"n_terms": 4}, np.ones((3, 4)), "1..3"),
        ("fourier_phase", {"wrap": 2}, np.ones((3, 4)), "True or False"),
        ("angular", {}, np.array([[1.0, 2], [0, 0]]), "row 1 is zero"),
        ("cosine", {}, np.array([[1.0, 2], [0, 0]]), "row 1 is zero"),
        ("correlation", {}, np.array([[1.0, 2], [0.1, 0.1]]), "row 1 is constant"),
        ("minkowski", {"p": 0.5}, np.ones((3, 4)), "at least 1"),
        ("derivative", {"shape": (3, 2)}, np.ones((3, 4)), "6 pixels"),
        ("derivative", {"order": 4}, np.ones((3, 4)), "more than 4"),
        ("wavelet", {"wavelet": "bior2.2"}, np.ones((3, 4)), "haar"),
        ("wavelet", {"level": 9}, np.ones((3, 4)), "at least 256"),
        ("wavelet", {"details": 2}, np.ones((3, 4)), "0..level"),
        ("mahalanobis", {}, np.ones((3, 4)), "not positive definite"),
        ("mahalanobis", {"M": -np.eye(4)}, np.ones((3, 4)), "not positive definite"),
        ("mahalanobis", {"M": np.eye(3)}, np.ones((3, 4)), r"\(4, 4\)"),
        ("mahalanobis", {"M": np.triu(np.ones((4, 4)))}, np.ones((3, 4)), "symmetric"),
        ("mahalanobis", {"basis": np.ones((4, 4)), "weights": np.ones(4)}, np.ones((3, 4)), "singular"),
        ("mahalanobis", {"basis": np.eye(4), "weights": -np.ones(4)}, np.ones((3, 4)), "positive"),
        ("mahalanobis", {"basis": np.eye(4)}, np.ones((3, 4)), "together"),
        (3, {}, np.ones((3, 4)), "a name, a function"),
    ],
)
def test_errors_in_words(metric, params, X, words):
    with pytest.raises(ValueError, match=words):
        resolve_metric(metric, params, X)


def test_bad_points_in_words():
    with pytest.raises(InvalidInput, match="row 1, column 0"):
        pairwise([[1.0, 2.0], [np.nan, 3.0]])
    with pytest.raises(InvalidInput, match="same number of columns"):
        pairwise([[1.0, 2.0]], [[1.0]])
    with pytest.raises(InvalidInput, match="two dimensions"):
        pairwise([1.0, 2.0])
    with pytest.raises(InvalidInput, match="at least one row"):
        pairwise(np.empty((0, 3)))
    with pytest.raises(InvalidType, match="table of numbers"):
        pairwise([["a", "b"]])
    with pytest.raises(InvalidInput, match="one number from 0 to"):
        pairwise(np.ones((2, 2)), metric=lambda x, y: -1.0)
    with pytest.raises(InvalidInput, match="made for rows of 3"):
        resolve_metric("mahalanobis", {"M": np.eye(3)}, None).pairwise(np.ones((2, 4)), np.ones((2, 4)))
    with pytest.raises(InvalidInput, match="out must be"):
        pairwise(np.ones((2, 2)), out=np.empty((3, 2)))
    with pytest.raises(InvalidInput, match="vector of D numbers"):
        one_to_many(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(InvalidInput, match="must be empty"):
        resolve_metric(Metric("euclidean"), {"p": 2}, None)


def test_integers_become_float64():
    d = pairwise(np.array([[0, 0], [3, 4]], dtype=np.uint8))
    assert d.dtype == np.float64
    assert d[0, 1] == 5.0
