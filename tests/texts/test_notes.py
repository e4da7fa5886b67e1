"""What the shorter texts (Gering 2002; Ju; Vidal, Ma and Sastry 2016; Levada 2020) state, where no other test does."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from tests.methods.alignment_helpers import explained
from tests.methods.experiment_helpers import score

import lowfold
from lowfold import datasets
from lowfold.geometry import heat_kernel, integrate, manifold
from lowfold.kernels import gaussian


@pytest.mark.parametrize("seed", [0, 1])
def test_lle_kernel_and_its_embedding(seed: int) -> None:
    """Gering, eqs. for step 3 of LLE: M 1 = 0, M psd; Y 1 = 0, unit covariance; the cost is the sum of eigenvalues."""
    X = datasets.s_curve(120, random_state=seed).X
    model = lowfold.LLE(2, n_neighbors=8, normalization="orthonormal").fit(X)
    M, Y = np.asarray(model.kernel().dense()), model.embedding_
    values = np.linalg.eigvalsh(M)
    assert np.abs(M.sum(axis=1)).max() < 1e-12
    assert values[0] > -1e-12
    assert np.abs(Y.sum(axis=0)).max() < 1e-8
    assert np.allclose(Y.T @ Y, np.eye(2), atol=1e-8)
    assert np.isclose(np.trace(Y.T @ M @ Y), values[1:3].sum(), rtol=1e-4, atol=1e-12)
    assert (values < 1e-10).sum() == 1  # one component


@pytest.mark.parametrize("seed", [0, 1])
def test_walks_compose_and_forget(seed: int) -> None:
    """Ju, Section 2: rows sum to 1, |eigenvalues| <= 1, P^(s + t) = P^s P^t; at last one point is left."""
    X = datasets.s_curve(80, random_state=seed).X
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    P = K / K.sum(axis=1, keepdims=True)
    values = np.linalg.eigvals(P)
    assert np.abs(values).max() < 1 + 1e-12
    spread = []
    for t in (1, 10, 200):
        Y = lowfold.DiffusionMaps(2, threshold=0, scale=1.0, alpha=0, t=t).fit_transform(X)
        spread.append(np.linalg.norm(Y - Y.mean(axis=0)))
        assert np.allclose(np.linalg.matrix_power(P, t + 1), np.linalg.matrix_power(P, t) @ P)
    assert spread[0] > spread[1] > spread[2]
    assert np.ptp(np.linalg.matrix_power(P, 5000), axis=0).max() < 1e-8


@pytest.mark.parametrize("t", [0.002, 0.001])
def test_vector_diffusion_distance_of_the_flat_circle(t: float) -> None:
    """Ju, Section 3: on a flat torus d^2 t^(d + 1) / |v|^2 tends to d / (4 pi)^d; the circle is the case d = 1."""
    v = 0.01
    k0, kv = (float(heat_kernel("circle", 0.0, a, t=t)) for a in (0.0, v))
    ratio = 2 * (k0**2 - kv**2) * t**2 / v**2
    assert np.isclose(ratio, 1 / (4 * np.pi), rtol=0.05)


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "LLE", "Isomap"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_saddle_keeps_its_neighbourhoods(name: str, seed: int) -> None:
    """Vidal, Ma and Sastry, Figure 4.1."""
    X = datasets.saddle(500, random_state=seed).X
    Y = getattr(lowfold, name)(2, n_neighbors=10, on_shortcut="ignore").fit_transform(X)
    assert trustworthiness(X, Y, n_neighbors=10) > 0.95


def test_pca_sees_two_moments_only() -> None:
    """Levada, Section 3: data with the same mean and covariance have the same axes, whatever their shape."""
    rng = np.random.default_rng(0)
    root = np.diag([3.0, 2.0, 1.0]) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    models = []
    for raw in (rng.normal(size=(500, 3)), rng.choice([-1.0, 1.0], size=(500, 3)), rng.exponential(size=(500, 3))):
        white = raw - raw.mean(axis=0)
        white = white @ np.linalg.inv(np.linalg.cholesky(np.cov(white.T))).T
        models.append(lowfold.PCA(2).fit(white @ root + 5))
    for model in models[1:]:
        assert np.allclose(np.abs(model.components_ @ models[0].components_.T), np.eye(2), atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1])
def test_axes_of_a_gaussian_are_those_of_its_covariance(seed: int) -> None:
    """Levada, Figure 1."""
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    X = np.random.default_rng(seed).normal(size=(20000, 2)) * (3, 1) @ turn.T
    model = lowfold.PCA(2).fit(X)
    assert np.allclose(np.abs(model.components_ @ turn), np.eye(2), atol=0.02)
    assert np.allclose(model.eigenvalues_, (9, 1), rtol=0.05)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_roll_by_linear_and_geodesic_methods(seed: int) -> None:
    """Levada, Figure 2: how much of arc length and height a linear map of the picture gives back."""
    roll = datasets.swiss_roll(1000, random_state=seed)
    assert explained(roll.coordinates, lowfold.PCA(2).fit_transform(roll.X)).max() < 0.3
    kernel = lowfold.KernelPCA(2, gamma=1 / 50).fit_transform(roll.X)
    assert explained(roll.coordinates, kernel).max() < 0.3
    for k, arc, height in ((5, 0.99, 0.85), (10, 0.99, 0.95)):
        found = explained(
            roll.coordinates, lowfold.Isomap(2, n_neighbors=k, on_shortcut="remove").fit_transform(roll.X)
        )
        assert found[0] > arc
        assert found[1] > height


@pytest.mark.parametrize("seed", [0, 1])
def test_tangent_planes_turn_on_a_roll_only(seed: int) -> None:
    """Levada, Figure 3: principal angles between the tangent spaces of neighbouring patches."""
    roll, flat = datasets.swiss_roll(800, random_state=seed), datasets.square(800, random_state=seed)
    angle = {}
    for data in (roll, flat):
        near = lowfold.graph.find_neighbors(data.X, n_neighbors=8)
        planes = []
        for row in near.indices.reshape(800, 8):
            Xc = data.X[row] - data.X[row].mean(axis=0)
            planes.append(np.linalg.svd(Xc, full_matrices=False)[2][:2])
        i, j = near.rows(), near.indices
        V = np.array(planes)
        cosines = np.linalg.svd(V[i] @ V[j].transpose(0, 2, 1), compute_uv=False)[:, -1]
        angle[data.name] = np.arccos(np.clip(cosines, 0, 1)).mean()
    assert angle["square"] < 1e-6
    assert angle["swiss_roll"] > 0.05


def test_tangent_coordinates_are_right_to_second_order() -> None:
    """Levada, eqs. (232) to (235): what the tangent plane misses falls with the square of the distance."""
    rest = []
    for h in (0.1, 0.05, 0.025):
        u = np.random.default_rng(0).uniform(-h, h, (50, 2))
        X = np.column_stack([u, np.sqrt(1 - (u**2).sum(axis=1))])  # a cap of the sphere
        Xc = X - X.mean(axis=0)
        V = np.linalg.svd(Xc, full_matrices=False)[2][:2]
        rest.append(np.linalg.norm(Xc - Xc @ V.T @ V))
    assert np.allclose(np.log2(np.divide(rest[:-1], rest[1:])), 2, atol=0.05)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_norm_of_a_power_of_the_walk(seed: int) -> None:
    """Levada, eqs. (302) and (303): sum of p_k(i, j)^2 w_i / w_j over all pairs is the sum of eigenvalues^(2k)."""
    W = np.random.default_rng(seed).random((30, 30))
    W = W + W.T
    d = W.sum(axis=1)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(d, d)))
    for k in (1, 2, 5):
        power = np.linalg.matrix_power(W / d[:, None], k)
        assert np.isclose((power**2 * d[:, None] / d[None]).sum(), (values ** (2 * k)).sum())


def test_walks_converge_unless_the_graph_has_two_colours() -> None:
    """Levada, Theorem 5: any start tends to the degrees, but on a graph of two colours it swings for ever."""
    rng = np.random.default_rng(0)
    W = rng.random((12, 12))
    W = W + W.T
    start = rng.random(12)
    start /= start.sum()
    ended = start @ np.linalg.matrix_power(W / W.sum(axis=1, keepdims=True), 200)
    assert np.allclose(ended, W.sum(axis=1) / W.sum())
    two = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.allclose(np.array([1.0, 0.0]) @ np.linalg.matrix_power(two, 7), [0, 1])
    assert np.allclose(np.array([1.0, 0.0]) @ np.linalg.matrix_power(two, 8), [1, 0])


@pytest.mark.parametrize("eps", [0.01, 0.001])
def test_averages_see_curvature_at_the_second_order(eps: float) -> None:
    """Ju, Section 3.3.2: e^(-d/2) int exp(-|x - y|^2 / e) dy = m_0 + e (m_2 / 2) E, E = 1/4 on the circle, 0 on S^2."""
    n = 2000
    t = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(t), np.sin(t)])
    graph = lowfold.graph.find_neighbors(X, radius=8 * np.sqrt(eps)).union()
    average = gaussian(graph, scale=eps, loops=1.0).volumes().mean() * (2 * np.pi / n) / np.sqrt(eps)
    m_0, m_2 = np.sqrt(np.pi), np.sqrt(np.pi) / 2
    assert np.isclose((average - m_0) / (eps * m_2 / 2), 0.25, rtol=0.3 * eps + 1e-4)
    north, wide = np.array([0.0, 0.0, 1.0]), 50 * eps
    on_sphere = integrate(manifold("sphere"), lambda x: np.exp(-((x - north) ** 2).sum(axis=1) / wide), 96) / wide
    assert np.isclose(on_sphere, np.pi * (1 - np.exp(-4 / wide)), rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_the_nonparametric_family_keeps_more_neighbours_of_a_roll_than_pca(seed: int) -> None:
    """Vidal, Ma and Sastry, Section 4.2: scaling of geodesics, eigenmaps and LLE, tuned."""
    roll = datasets.swiss_roll(1000, random_state=seed)
    plain = score(roll.coordinates, lowfold.PCA(2).fit_transform(roll.X))
    for model in (
        lowfold.Isomap(2, n_neighbors=8),
        lowfold.LaplacianEigenmaps(2, n_neighbors=10, select="independent"),
        lowfold.LLE(2, n_neighbors=12),
    ):
        assert score(roll.coordinates, model.fit_transform(roll.X)) > plain + 0.05


@pytest.mark.parametrize("seed", [0, 1])
def test_what_similarities_lose_is_the_squares_of_the_eigenvalues_left_out(seed: int) -> None:
    """Vidal, Ma and Sastry, Section 4.2.1: |Y Y' - A|^2 = sum of lambda_i^2, i > d, for a centred psd matrix A."""
    X = np.random.default_rng(seed).normal(size=(40, 5))
    A = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    Y = lowfold.ClassicalMDS(2, metric="precomputed_similarity").fit_transform(A)
    values = np.linalg.eigvalsh(A)[::-1]
    assert np.isclose(((Y @ Y.T - A) ** 2).sum(), (values[2:] ** 2).sum())
    assert np.abs(Y.sum(axis=0)).max() < 1e-9
