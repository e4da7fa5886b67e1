"""Kernel PCA: known kernels, centring, new points, pre-images, Mercer and Karhunen-Loeve expansions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.metrics.pairwise import pairwise_kernels

import lowfold
from lowfold._core.errors import AccuracyWarning
from lowfold._core.run import Run
from lowfold.kernels import kernel_operator, mercer_kernel, scale_from_sigma, scale_from_width
from lowfold.kernels._functions import Mercer
from lowfold.lowrank import karhunen_loeve, mercer_expansion
from lowfold.lowrank._mercer import karhunen_loeve_coefficients
from lowfold.methods.kernel_pca import _tell_narrow


def points(seed: int, n: int = 90, D: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, D)) + 3


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid", "cosine"])
@pytest.mark.parametrize("seed", [0, 1])
def test_kernels_and_scores_are_those_of_scikit_learn(kernel: str, seed: int) -> None:
    X = points(seed)
    theirs = {"gamma": 0.2} if kernel in ("rbf", "laplacian") else {}
    theirs = {"gamma": 0.2, "coef0": 0.5} if kernel == "sigmoid" else theirs
    theirs = {"gamma": 0.2, "coef0": 0.5, "degree": 2} if kernel == "poly" else theirs
    mine = mercer_kernel(kernel, 4, gamma=0.2, degree=2, coef0=0.5)
    assert np.allclose(mine(X, X[:9]), pairwise_kernels(X, X[:9], metric=kernel, **theirs))
    assert np.allclose(mine.diagonal(X), np.diagonal(mine(X, X)))
    reference = decomposition.KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(mine(X, X))
    model = lowfold.KernelPCA(3, kernel=kernel, gamma=0.2, degree=2, coef0=0.5).fit(X)
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_)
    assert np.allclose(np.abs(model.embedding_), np.abs(reference.transform(mine(X, X))), atol=1e-8)
    new = points(seed + 10, 7)
    assert np.allclose(np.abs(model.transform(new)), np.abs(reference.transform(mine(new, X))), atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_normalisation_and_the_variances(seed: int) -> None:
    X = points(seed)
    model = lowfold.KernelPCA(3, gamma=0.3).fit(X)
    K = model.gram().dense()
    alpha = model._extend.vectors / np.sqrt(model.eigenvalues_)
    assert np.allclose(np.diag(alpha.T @ K @ alpha), 1)
    assert np.allclose(np.diag(alpha.T @ alpha) * model.eigenvalues_, 1)
    assert np.allclose(model.embedding_.T @ model.embedding_, np.diag(model.eigenvalues_), atol=1e-8)
    assert np.abs(K.sum(axis=0)).max() < 1e-10
    assert np.isclose(model.eigenvalues_[0] / np.trace(K), model.explained_variance_ratio_[0])
    raw = lowfold.KernelPCA(3, gamma=0.3, center=False).fit(X)
    values = np.linalg.eigvalsh(np.exp(-0.3 * np.square(X[:, None] - X[None]).sum(axis=2)))[::-1]
    assert np.allclose(raw.eigenvalues_, values[:3])
    assert np.allclose(raw._extend.place(raw._trained, X, None, Run()), raw.embedding_, atol=1e-8)


def test_linear_is_pca_and_squared_distances_are_classical_scaling() -> None:
    X = points(3)
    assert np.allclose(
        np.abs(lowfold.KernelPCA(3, kernel="linear").fit_transform(X)), np.abs(lowfold.PCA(3).fit_transform(X))
    )
    D2 = np.square(X[:, None] - X[None]).sum(axis=2)
    K = -0.5 * D2
    model = lowfold.KernelPCA(3, kernel="precomputed").fit(K)
    scaling = lowfold.ClassicalMDS(3).fit(X)
    assert np.allclose(np.abs(model.embedding_), np.abs(scaling.embedding_), atol=1e-8)
    assert np.allclose(model.transform(K[:5]), model.embedding_[:5])
    with pytest.raises(ValueError, match="square"):
        lowfold.KernelPCA(2, kernel="precomputed").fit(K[:5])
    with pytest.raises(ValueError, match="symmetric"):
        lowfold.KernelPCA(2, kernel="precomputed").fit(np.triu(K))
    with pytest.raises(ValueError, match="training points"):
        model.inverse_transform(model.embedding_)


def test_a_wide_gaussian_is_linear_up_to_scale() -> None:
    X = points(4)
    wide = lowfold.KernelPCA(2, gamma=1e-7).fit_transform(X) / np.sqrt(2e-7)
    assert np.allclose(np.abs(wide), np.abs(lowfold.PCA(2).fit_transform(X)), rtol=1e-3, atol=1e-3)


def test_widths_by_their_names() -> None:
    x, y = np.array([[0.0, 0.0]]), np.array([[1.0, 2.0]])
    assert np.isclose(Mercer("rbf", 1 / scale_from_sigma(1.5))(x, y)[0, 0], np.exp(-5 / (2 * 1.5**2)))
    assert np.isclose(Mercer("rbf", 1 / scale_from_width(1.5))(x, y)[0, 0], np.exp(-5 / 1.5**2))
    assert np.isclose(Mercer("rbf", 1 / 2)(x, y)[0, 0], np.exp(-5 / 2))


def test_any_function_of_two_rows_is_a_kernel() -> None:
    X = points(5, 40)
    own = lowfold.KernelPCA(2, kernel=lambda x, y: float((x @ y) ** 2)).fit(X)
    named = lowfold.KernelPCA(2, kernel="poly", degree=2, coef0=0.0, gamma=1.0).fit(X)
    assert np.allclose(own.embedding_, named.embedding_)
    assert np.allclose(own.transform(points(6, 5)), named.transform(points(6, 5)))
    with pytest.raises(ValueError, match="finite"):
        lowfold.KernelPCA(2, kernel=lambda x, y: np.nan).fit(X)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_multiply_like_the_matrix(center: bool, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    import lowfold.kernels._kernel_operator as tiles

    monkeypatch.setattr(tiles, "TILE", 32)
    monkeypatch.setattr(tiles, "EXACT", 1000 if dtype is np.float64 else 10)
    X = points(7, 105) + 100
    kernel = Mercer("rbf", 0.2)
    kept = kernel_operator(X, kernel, center=center)
    with lowfold.config_context(memory=10_000):
        anew = kernel_operator(X, kernel, center=center)
    assert kept.tiles[0].dtype == dtype
    assert not anew.tiles
    H = np.eye(105) - 1 / 105 if center else np.eye(105)
    K = H @ kernel(X - X.mean(axis=0), X - X.mean(axis=0)) @ H
    V = np.random.default_rng(0).normal(size=(105, 3))
    tol = 1e-12 if dtype is np.float64 else 1e-5
    for op in (kept, anew):
        assert np.allclose(op.apply(V), K @ V, atol=tol * 100)
        assert np.allclose(op.dense(), K, atol=tol)
        assert np.isclose(op.trace(), np.trace(K), rtol=1e-5)
    assert np.array_equal(kept.apply(V), anew.apply(V))


def test_rings_can_be_told_apart_by_a_plane_only_after_the_kernel() -> None:
    rings = lowfold.datasets.concentric_circles(300, random_state=0)
    target = np.where(np.asarray(rings.labels) == 0, 1.0, -1.0)

    def right(Y: np.ndarray) -> float:
        A = np.column_stack([Y, np.ones(len(Y))])
        return float((np.sign(A @ np.linalg.lstsq(A, target, rcond=None)[0]) == target).mean())

    assert right(lowfold.KernelPCA(5, gamma=1.0).fit_transform(rings.X)) == 1
    assert right(rings.X) < 0.8


@pytest.mark.parametrize("seed", [0, 1])
def test_the_toy_data_of_the_paper(seed: int) -> None:
    toy = lowfold.datasets.kernel_pca_toy(90, random_state=seed)
    model = lowfold.KernelPCA(8, gamma=10.0).fit(toy.X)
    Y, labels = model.embedding_[:, :2], np.asarray(toy.labels)
    centres = np.array([Y[labels == c].mean(axis=0) for c in range(3)])
    nearest = np.argmin(np.linalg.norm(Y[:, None] - centres, axis=2), axis=1)
    assert (nearest == labels).mean() > 0.95
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 15), np.linspace(-0.5, 1.5, 15)), axis=-1).reshape(-1, 2)
    assert model.transform(grid).shape == (225, 8)


def test_more_components_than_features_and_none_beyond_the_rank() -> None:
    X = points(8, 60, 2)
    assert (lowfold.KernelPCA(10, gamma=0.5).fit(X).eigenvalues_ > 0).all()
    flat = lowfold.KernelPCA(4, kernel="linear").fit(X)
    assert np.abs(flat.embedding_[:, 2:]).max() < 1e-6
    assert np.isfinite(flat.transform(X + 0.1)).all()


@pytest.mark.parametrize(
    ("preimage", "d", "gamma", "share"),
    [("barycentric", 2, 2.0, 1.05), ("fixed_point", 4, 0.5, 0.9), ("ridge", 2, 2.0, 0.8)],
)
def test_pre_images_remove_noise(preimage: str, d: int, gamma: float, share: float) -> None:
    rng = np.random.default_rng(9)
    t = rng.uniform(0, 2 * np.pi, 200)
    clean = np.column_stack([np.cos(t), np.sin(t)])
    noisy = clean + 0.08 * rng.normal(size=clean.shape)
    model = lowfold.KernelPCA(d, gamma=gamma, preimage=preimage, alpha=0.1).fit(noisy)
    back = model.inverse_transform(model.transform(noisy))
    off = np.abs(np.linalg.norm(back, axis=1) - 1).mean()
    assert off < share * np.abs(np.linalg.norm(noisy, axis=1) - 1).mean()


def test_the_fixed_point_of_a_training_point_is_the_point() -> None:
    X = points(10, 30, 2)
    model = lowfold.KernelPCA(29, gamma=1.0, preimage="fixed_point").fit(X)
    assert np.allclose(model.inverse_transform(model.embedding_), X, atol=1e-4)
    with pytest.raises(ValueError, match="fixed_point"):
        lowfold.KernelPCA(2, kernel="poly", preimage="fixed_point").fit(X)


def test_the_operator_recomputes_the_embedding() -> None:
    model = lowfold.KernelPCA(2, gamma=0.2).fit(points(11))
    values, V = np.linalg.eigh(model.gram().dense())
    again = V[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    assert np.allclose(np.abs(again), np.abs(model.embedding_), atol=1e-8)


# Mercer and Karhunen-Loeve ------------------------------------------------------------------------------------------


def test_the_exercise_with_known_eigenvalues() -> None:
    """k = (x'y)^2 on [-1, 1]^2: 56/45, 40/45, 16/45, with sum 112/45."""
    expansion = mercer_expansion(Mercer("poly", 1.0, 2, 0.0), [(-1, 1), (-1, 1)], n_nodes=6)
    assert np.allclose(expansion.values[:3], np.array([56, 40, 16]) / 45)
    assert np.allclose(expansion.values[3:], 0, atol=1e-12)
    assert np.isclose(expansion.trace, 112 / 45)
    assert expansion.is_psd()
    assert np.allclose(expansion.reconstruct(3), (expansion.nodes @ expansion.nodes.T) ** 2)
    X = np.random.default_rng(0).uniform(-1, 1, size=(5, 2))
    F = expansion.features(X, 3)
    assert np.allclose(F @ F.T, (X @ X.T) ** 2)
    with pytest.raises(ValueError, match="above 0"):
        expansion.features(X, 4)


def test_gaussian_kernels_pass_and_a_sigmoid_fails_the_check() -> None:
    good = mercer_expansion(Mercer("rbf", 1.0), [(-1, 1)], n_nodes=30)
    assert good.is_psd()
    assert np.isclose(good.values.sum(), good.trace)
    functions = good.functions[:, :5]
    assert np.allclose((functions * good.weights[:, None]).T @ functions, np.eye(5), atol=1e-8)
    assert not mercer_expansion(Mercer("sigmoid", 1.0, coef0=-1.0), [(-2, 2)], n_nodes=30).is_psd()
    with pytest.raises(ValueError, match="symmetric"):
        mercer_expansion(lambda A, B: A[:, :1] - B[:, 0], [(0, 1)])
    with pytest.raises(ValueError, match="a < b"):
        mercer_expansion(Mercer(), [(1, 0)])


def test_brownian_motion() -> None:
    t = np.linspace(0, 1, 300)
    expansion = karhunen_loeve(np.minimum, t)
    exact = 1 / ((np.arange(1, 6) - 0.5) * np.pi) ** 2
    assert np.allclose(expansion.values[:5], exact, rtol=1e-3)
    sine = np.sqrt(2) * np.sin(0.5 * np.pi * t)
    assert np.allclose(np.abs(expansion.functions[:, 0]), sine, atol=1e-3)
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(3000, 299)) * np.sqrt(np.diff(t))
    paths = np.hstack([np.zeros((3000, 1)), np.cumsum(steps, axis=1)])
    x = karhunen_loeve_coefficients(expansion, paths, 4)
    C = np.cov(x.T)
    assert np.allclose(np.diag(C), expansion.values[:4], rtol=0.15)
    scale = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    assert np.abs(C / scale - np.eye(4)).max() < 0.08
    matrix = karhunen_loeve(np.minimum(t[:, None], t[None]), t)
    assert np.allclose(matrix.values, expansion.values)


def test_partial_sums_have_the_least_mean_square_error() -> None:
    t = np.linspace(0, 1, 200)
    expansion = karhunen_loeve(lambda s, u: np.exp(-np.abs(s - u)), t)
    total = expansion.trace
    assert np.isclose(expansion.values.sum(), total)
    w = expansion.weights
    K = np.exp(-np.abs(t[:, None] - t[None]))
    rng = np.random.default_rng(1)
    for _ in range(5):
        Q = np.linalg.qr(rng.normal(size=(200, 3)))[0]  # any other orthonormal functions keep less
        kept = np.trace(Q.T @ (np.sqrt(w)[:, None] * K * np.sqrt(w)) @ Q)
        assert kept <= expansion.values[:3].sum() + 1e-12
    with pytest.raises(ValueError, match="increasing"):
        karhunen_loeve(np.minimum, [0.0, 0.0])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fifty_thousand_points_without_a_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(50_000, 3)) * [3, 2, 1]
    with lowfold.config_context(memory="3GB"):  # below the 5 GB of the tiles: they are computed anew in each pass
        model = lowfold.KernelPCA(2, gamma=0.1, tol=1e-4).fit(X)
    assert model.residual_ < 1e-3
    small = lowfold.KernelPCA(2, gamma=0.1).fit(X[:2000])
    assert np.allclose(model.eigenvalues_ / 50_000, small.eigenvalues_ / 2000, rtol=0.1)


def test_a_kernel_too_narrow_is_told() -> None:
    """Images in pairs and nothing between pairs: eigenvalues of 2 do not coincide with the next, and mix many pairs."""
    with pytest.warns(AccuracyWarning, match=r"next to nothing off its diagonal .* that of 2.0 points"):
        _tell_narrow(0.1, 2.0, 1.0, 200)
    _tell_narrow(0.1, 20.0, 1.0, 200)
    _tell_narrow(0.1, 2.0, 1.0, 20)  # so few may well be directions of their own
