"""Stress, correlations, local measures, truth, and stretching, against closed forms and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes as reference_procrustes
from scipy.spatial.distance import pdist
from scipy.stats import pearsonr, spearmanr

import lowfold
from lowfold import quality
from lowfold._core.errors import InvalidInput
from lowfold.graph import find_neighbors, geodesics
from lowfold.quality import _spaces
from lowfold.quality._local import angles, edge_lengths
from lowfold.quality._pairs import pearson
from lowfold.quality._truth import color_mixing

SEEDS = range(3)


def case(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X[:, :2] + 0.2 * rng.normal(size=(n, 2))


def flat(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """A rotated square in R^4, and the square."""
    rng = np.random.default_rng(seed)
    T = rng.random((n, 2))
    return T @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T + 3.0, T


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_over_pairs_as_scipy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = case(seed)
    monkeypatch.setattr(_spaces, "BLOCK", 700)
    a, b = pdist(X), pdist(Y)
    assert quality.stress(X, Y, kind="raw").value == pytest.approx(((a - b) ** 2).sum())
    assert quality.stress(X, Y).value == pytest.approx(np.sqrt(((a - b) ** 2).sum() / (a**2).sum()))
    s = a @ b / (b @ b)
    assert quality.stress(X, Y, scaled=True).value == pytest.approx(np.sqrt(((a - s * b) ** 2).sum() / (a**2).sum()))
    r = pearsonr(a, b).statistic
    assert pearson(X, Y).value == pytest.approx(r)
    assert quality.residual_variance(X, Y).value == pytest.approx(1 - r**2)
    assert quality.spearman(X, Y).value == pytest.approx(spearmanr(a, b).statistic)


def test_per_point_sums() -> None:
    X, Y = case(0)
    raw = quality.stress(X, Y, kind="raw")
    assert raw.points is not None
    assert raw.points.sum() == pytest.approx(2 * raw.value)
    a = np.linalg.norm(X - X[3], axis=1)
    b = np.linalg.norm(Y - Y[3], axis=1)
    others = np.arange(len(X)) != 3
    points = pearson(X, Y).points
    assert points is not None
    assert points[3] == pytest.approx(pearsonr(a[others], b[others]).statistic)


def test_residual_variance_is_isomaps_own() -> None:
    roll = lowfold.datasets.swiss_roll(300, random_state=0)
    model = lowfold.Isomap(2, n_neighbors=8).fit(roll.X)
    mine = quality.residual_variance(model.graph_, model.embedding_).value
    assert mine == pytest.approx(model.residual_variance(np.array([2]))[0], rel=1e-6)


def test_nonmetric_stress() -> None:
    X, Y = case(0)
    D = pdist(Y)
    square = np.zeros((60, 60))
    square[np.triu_indices(60, 1)] = np.exp(D)
    square += square.T
    assert quality.nonmetric_stress(square, Y, metric="precomputed").value == pytest.approx(0.0, abs=1e-12)
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(pdist(X))
    left = D[order] - isotonic_regression(D[order])
    assert quality.nonmetric_stress(X, Y).value == pytest.approx(np.sqrt((left**2).sum() / (D**2).sum()))
    tied = np.round(X)
    assert quality.nonmetric_stress(tied, Y).value <= quality.nonmetric_stress(tied, Y, ties="secondary").value


def test_samples_are_close_and_repeatable() -> None:
    X, Y = case(0, n=400)
    full = quality.spearman(X, Y).value
    part = quality.spearman(X, Y, max_points=200).value
    assert part != full
    assert part == pytest.approx(full, abs=0.05)
    assert part == quality.spearman(X, Y, max_points=200).value


@pytest.mark.parametrize("seed", SEEDS)
def test_all_are_perfect_for_a_turned_copy(seed: int) -> None:
    X, T = flat(seed)
    assert quality.stress(X, T).value < 1e-12
    assert edge_lengths(X, T, 6).value < 1e-12
    assert angles(X, T, 6).value < 1e-5
    assert quality.local_isometry(X, T, 6).value < 1e-11
    found = quality.riemannian_distortion(X, T, 6)
    assert found.value < 1e-8
    assert np.allclose(found.dual, np.eye(2), atol=1e-8)
    assert pearson(X, T).value == pytest.approx(1.0)
    assert quality.procrustes(T, X[:, :]).value < 1e-20


def test_scale_is_taken_out_when_asked() -> None:
    X, T = flat(0)
    for measure in (edge_lengths, quality.local_isometry):
        assert measure(X, 5 * T, 6).value > 1
        assert measure(X, 5 * T, 6, scaled=True).value < 1e-6
    assert quality.riemannian_distortion(X, 5 * T, 6).value == pytest.approx(np.log(5))
    assert quality.riemannian_distortion(X, 5 * T, 6, scaled=True).value < 1e-8
    assert angles(X, 5 * T, 6).value < 1e-5


def test_edges_by_hand() -> None:
    X, Y = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [2.0]])
    score = edge_lengths(X, Y, 1)  # edges 0-1, 1-0, 2-1: errors 0, 0, 1 of lengths 1, 1, 2
    assert score.value == pytest.approx(np.sqrt(1 / 6))
    assert score.points is not None
    assert score.points.tolist() == pytest.approx([0, 0, 0.5])
    assert edge_lengths(find_neighbors(X, 1), Y).value == score.value


def test_angle_by_hand() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    score = angles(X, Y, 2)
    assert score.points is not None
    assert score.points.tolist() == pytest.approx([np.pi / 2, np.pi / 4, np.pi / 4])


@pytest.mark.parametrize("seed", SEEDS)
def test_stretches_of_a_linear_map(seed: int) -> None:
    X, T = flat(seed)
    A = np.random.default_rng(seed).normal(size=(2, 2))
    found = quality.riemannian_distortion(X, T @ A.T, 7)
    assert found.stretches is not None
    assert np.allclose(found.stretches, np.linalg.svd(A, compute_uv=False))
    assert np.allclose(found.dual, A @ A.T)
    axes, angle = found.ellipses(0.5)
    assert np.allclose(axes, 0.5 * found.stretches)
    longest = np.linalg.svd(A)[0][:, 0]
    assert np.allclose(np.abs(longest @ [np.cos(angle), np.sin(angle)]), 1)
    assert np.allclose(found.noise_bound(0.1), 0.1 * np.linalg.norm(A, 2) ** 2)
    assert np.allclose(found.anisotropy(), np.log(np.linalg.cond(A)))


@pytest.mark.parametrize("seed", SEEDS)
def test_folds_change_the_orientation(seed: int) -> None:
    X, T = flat(seed, 400)
    mirrored = T * [1, -3] + [[0, 1]]
    assert quality.orientation(X, T, 8).value == quality.orientation(X, mirrored, 8).value == 0.0
    folded = np.column_stack([np.abs(T[:, 0] - 0.5), T[:, 1]])
    found = quality.orientation(X, folded, 8)
    assert found.points is not None
    near = np.abs(T[:, 0] - 0.5)
    assert found.points[near > 0.25].max() == 0.0
    assert found.points[near < 0.03].mean() > 0.15
    Z = np.random.default_rng(seed).normal(size=(400, 2))
    assert quality.orientation(X, Z, 8).value == pytest.approx(0.5, abs=0.1)
    with pytest.raises(InvalidInput, match="more neighbours"):
        quality.orientation(X, T, 1)


def test_noise_bound_holds_on_the_roll() -> None:
    # The roll's own coordinates are an isometry: noise of variance v comes through with at most v, to first order.
    roll = lowfold.datasets.swiss_roll(1500, random_state=0)
    assert roll.coordinates is not None
    found = quality.riemannian_distortion(roll.X, roll.coordinates, 8)
    assert np.median(found.noise_bound(1.0)) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_procrustes(seed: int) -> None:
    X, Y = case(seed)
    T = X[:, :2]
    mine = quality.procrustes(T, Y)
    assert mine.value == pytest.approx(reference_procrustes(T, Y)[2])
    assert mine.points is not None
    assert mine.points.sum() == pytest.approx(mine.value)
    left = ((T - mine.apply(Y)) ** 2).sum() / ((T - T.mean(axis=0)) ** 2).sum()
    assert left == pytest.approx(mine.value)
    assert quality.procrustes(T, Y, scaling=False).value >= mine.value
    mirrored = T * [1, -1]
    assert quality.procrustes(T, mirrored).value < 1e-20
    assert quality.procrustes(T, mirrored, reflection=False).value > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_affine_r2(seed: int) -> None:
    from sklearn.linear_model import LinearRegression

    X, Y = case(seed)
    score = LinearRegression().fit(Y, X[:, 0]).score(Y, X[:, 0])
    assert quality.affine_r2(X[:, 0], Y).value == pytest.approx(score)
    found = quality.affine_r2(Y @ [[1.0, 2.0], [0.0, 3.0]] + 4, Y)
    assert found.value == pytest.approx(1.0)
    assert np.allclose(found.apply(Y), Y @ [[1.0, 2.0], [0.0, 3.0]] + 4)


def test_classes() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 20)
    centres = np.repeat(np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]]), 20, axis=0)
    Y = centres + rng.normal(size=(60, 2))
    assert quality.misclassification(Y, labels).value == 0.0
    assert quality.misclassification(Y, labels, 5, Y_test=Y[::7] + 0.1, labels_test=labels[::7]).value == 0.0
    assert quality.misclassification(Y, labels, Y_test=Y[:4], labels_test=["a", "b", "a", "zzz"]).value == 0.5
    assert quality.class_separation(Y, labels).value > 0.99
    assert quality.class_separation(centres, labels).value == pytest.approx(1.0)
    mixed = rng.permutation(labels)
    assert quality.class_separation(Y, mixed).value < 0.2
    assert quality.misclassification(Y, mixed, 3).value > 0.4


def test_misclassification_as_scikit_learn() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(80, 2)), rng.normal(size=(40, 2))
    a, b = (A[:, 0] > 0).astype(int), (B[:, 0] > 0).astype(int)
    wrong = 1 - KNeighborsClassifier(3).fit(A, a).score(B, b)
    assert quality.misclassification(A, a, 3, Y_test=B, labels_test=b).value == pytest.approx(wrong)


def test_color_mixing() -> None:
    X, T = flat(0, n=200)
    assert color_mixing(X, T, T[:, 0], 5).value == 0.0
    rng = np.random.default_rng(1)
    assert color_mixing(X, rng.random((200, 2)), T[:, 0], 5).value == pytest.approx(1.0, abs=0.2)


def test_float32_and_readonly_and_geodesic_stress() -> None:
    X, Y = case(0)
    small = X.astype(np.float32)
    small.flags.writeable = False
    assert quality.stress(small, Y).value == pytest.approx(quality.stress(X, Y).value, rel=1e-5)
    graph = find_neighbors(X, 10).union()
    D = geodesics(graph)
    assert quality.stress(graph, Y).value == pytest.approx(quality.stress(D, Y, metric="precomputed").value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, Y: quality.stress(X * 0, Y), "no two different points"),
        (lambda X, Y: quality.nonmetric_stress(X, Y * 0), "no two different points"),
        (lambda X, Y: quality.stress(X, Y, kind="cubic"), "kind"),
        (lambda X, Y: quality.local_isometry(1e150 * X, Y), "multiply X"),
        (lambda X, Y: quality.procrustes(X * 0, Y), "all are the same"),
        (lambda X, Y: quality.riemannian_distortion(X, Y, 2, n_components=4), "more neighbours"),
        (lambda X, Y: quality.riemannian_distortion(X, X, 6).ellipses(), "2 columns"),
        (lambda X, Y: quality.misclassification(Y, np.zeros(60), Y_test=Y), "together"),
        (lambda X, Y: edge_lengths(find_neighbors(X, 3), Y, 4), "None where X is a graph"),
        (lambda X, Y: color_mixing(X, Y, np.zeros(60)), "smoothly"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    X, Y = case(0)
    with pytest.raises(InvalidInput, match=words):
        call(X, Y)


def test_constant_embedding_has_no_correlation() -> None:
    X, Y = case(0)
    assert np.isnan(pearson(X, 0 * Y).value)
    assert np.isnan(quality.spearman(X, 0 * Y).value)
