"""Identities between methods: where two recipes are the same in theory, they give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold._core.run import Run
from lowfold.graph import Points, geodesics, laplacian, normalized_laplacian, random_walk
from lowfold.kernels import gaussian
from lowfold.kernels._lle import limit_weights
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods.registry import BY_NAME
from lowfold.metrics._resolve import resolve_metric

SEEDS = [0, 1, 2]


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if name not in BY_NAME]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not there yet")


def same(A: np.ndarray, B: np.ndarray, atol: float = 1e-6) -> bool:
    """Equal up to the sign of each column."""
    signs = np.sign((A * B).sum(axis=0))
    return bool(np.allclose(A, B * np.where(signs == 0, 1, signs), atol=atol * max(np.abs(A).max(), 1e-300)))


def span(A: np.ndarray, B: np.ndarray) -> float:
    """Sine of the largest angle between the column spaces."""
    Q, P = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.sqrt(max(0.0, 1 - np.linalg.svd(Q.T @ P, compute_uv=False).min() ** 2)))


@needs("KernelPCA")
@pytest.mark.parametrize("seed", SEEDS)
def test_linear_kernel_pca_is_pca(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 5))
    assert same(lowfold.KernelPCA(3, kernel="linear").fit_transform(X), lowfold.PCA(3).fit_transform(X))


@needs("KernelPCA")
@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_pca_of_squared_geodesics_is_isomap(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(150, random_state=seed).X
    isomap = lowfold.Isomap(2, n_neighbors=8).fit(X)
    K = -0.5 * geodesics(isomap.graph_) ** 2
    assert same(lowfold.KernelPCA(2, kernel="precomputed").fit_transform(K), isomap.embedding_)


@needs("KernelPCA")
def test_kernel_isomap_is_kernel_pca_of_a_proper_kernel() -> None:
    X = lowfold.datasets.swiss_roll(120, random_state=0).X
    model = lowfold.KernelIsomap(2, n_neighbors=8).fit(X)
    D = geodesics(model.graph_) + model.shift_
    np.fill_diagonal(D, 0.0)
    assert same(lowfold.KernelPCA(2, kernel="precomputed").fit_transform(-0.5 * D * D), model.embedding_, 1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_double_centring_is_the_kernel_trick(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(100, random_state=seed).X
    model = lowfold.Isomap(2, n_neighbors=8).fit(X)
    e = np.ones((100, 1)) / 10
    K = -0.5 * geodesics(model.graph_) ** 2
    centred = (np.eye(100) - e @ e.T) @ K @ (np.eye(100) - e @ e.T)
    assert np.allclose(model.kernel().dense(), centred, atol=1e-9 * np.abs(K).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_complete_graph_isomap_is_mds_is_pca(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 4))
    Y = lowfold.PCA(3).fit_transform(X)
    assert same(lowfold.Isomap(3, n_neighbors=39).fit_transform(X), Y)
    assert same(lowfold.ClassicalMDS(3).fit_transform(X), Y)
    assert same(lowfold.ClassicalMDS(3, metric="precomputed").fit_transform(cdist(X, X)), Y)
    assert same(lowfold.LandmarkIsomap(3, n_neighbors=39, landmarks=40).fit_transform(X), Y)
    assert same(lowfold.KernelIsomap(3, n_neighbors=39).fit_transform(X), Y)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "options", [{}, {"weights": "binary"}, {"scale": 0.3}, {"symmetrize": "mutual", "n_neighbors": 15}]
)
def test_diffusion_maps_at_time_zero_are_laplacian_eigenmaps(seed: int, options: dict) -> None:
    X = lowfold.datasets.s_curve(200, random_state=seed).X
    shared = {"n_neighbors": 10, **options}
    eigenmaps = lowfold.LaplacianEigenmaps(3, **shared).fit(X)
    maps = lowfold.DiffusionMaps(3, alpha=0.0, t=0, self_loops=0.0, convention="degree", **shared).fit(X)
    assert same(maps.embedding_, eigenmaps.embedding_)
    assert np.allclose(1 - maps.eigenvalues_, eigenmaps.eigenvalues_, atol=1e-9)
    symmetric = lowfold.LaplacianEigenmaps(3, laplacian="symmetric", **shared).fit(X)
    book = lowfold.DiffusionMaps(3, alpha=0.0, t=0, self_loops=0.0, convention="symmetric", **shared).fit(X)
    assert same(book.embedding_, symmetric.embedding_)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_walk_and_laplacian(seed: int) -> None:
    """D^-1 L = I - P, and the normalised Laplacian has the same eigenvalues."""
    X = np.random.default_rng(seed).normal(size=(50, 3))
    W = gaussian(lowfold.DiffusionMaps(2, n_neighbors=8).fit(X).graph_, scale=1.0)
    P, D = random_walk(W).toarray(), W.volumes()
    assert np.allclose(laplacian(W).dense() / D[:, None], np.eye(50) - P)
    ours = np.linalg.eigvalsh(normalized_laplacian(W).dense())
    assert np.allclose(np.sort(1 - np.linalg.eigvals(P).real), ours, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_symmetric_eigenvectors_over_the_first_are_the_walks(seed: int) -> None:
    """Step 4 of the book's algorithm: v_l / v_0 is the right eigenvector psi_l."""
    X = np.random.default_rng(seed).normal(size=(50, 3))
    book = lowfold.DiffusionMaps(3, t=0, convention="symmetric").fit(X)
    walk = lowfold.DiffusionMaps(3, t=0).fit(X)
    assert np.allclose(book.embedding_ / np.sqrt(walk.stationary_)[:, None], walk.embedding_, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_clustering_uses_the_eigenmaps_and_the_trivial_vector(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(80, 2))
    clusters = lowfold.SpectralClustering(4, n_neighbors=12).fit(X)
    eigenmaps = lowfold.LaplacianEigenmaps(3, n_neighbors=12).fit(X)
    assert same(clusters.embedding_[:, 1:], eigenmaps.embedding_)
    assert np.ptp(clusters.embedding_[:, 0]) < 1e-12


@needs("LTSA", "HessianLLE")
@pytest.mark.filterwarnings("ignore::lowfold._core.errors.DisconnectedWarning")
@pytest.mark.filterwarnings("ignore:coordinate . of .* tells 3 points")  # and rightly: few neighbours
@pytest.mark.parametrize("seed", SEEDS)
def test_hessian_lle_with_as_many_neighbours_as_functions_is_ltsa(seed: int) -> None:
    X = lowfold.datasets.swiss_roll(400, random_state=seed).X
    k = 6  # d_q = 1 + 2 + 3
    hessian = lowfold.HessianLLE(2, n_neighbors=k, include_self=False).fit(X).kernel().dense()
    tangent = lowfold.LTSA(2, n_neighbors=k, include_self=False).fit(X).kernel().dense()
    assert np.allclose(hessian, tangent, atol=1e-6 * np.abs(tangent).max())


@needs("LPP")
@pytest.mark.parametrize("seed", SEEDS)
def test_lpp_with_more_features_than_points_is_laplacian_eigenmaps(seed: int) -> None:
    """Linear functions of independent rows are all functions."""
    X = np.random.default_rng(seed).normal(size=(30, 60))
    eigenmaps = lowfold.LaplacianEigenmaps(2, n_neighbors=6, scale="mean").fit(X)
    linear = lowfold.LPP(2, n_neighbors=6, energy=1).fit(X)
    Y, Z = linear.embedding_, eigenmaps.embedding_
    assert same(Y - Y.mean(axis=0), Z - Z.mean(axis=0))


@needs("LPP", "KernelLPP")
@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_lpp_is_between_lpp_and_laplacian_eigenmaps(seed: int) -> None:
    """With a linear kernel it is LPP; with an invertible one it can take all functions."""
    X = lowfold.datasets.s_curve(60, random_state=seed).X
    linear = lowfold.KernelLPP(2, n_neighbors=8, kernel="linear").fit_transform(X)
    Y = lowfold.LPP(2, n_neighbors=8).fit_transform(X)
    assert same(linear - linear.mean(axis=0), Y - Y.mean(axis=0))
    rich = lowfold.KernelLPP(2, n_neighbors=8, kernel="laplacian", gamma=2.0, reg=1e-12, energy=1).fit_transform(X)
    Z = lowfold.LaplacianEigenmaps(2, n_neighbors=8, scale="mean").fit_transform(X)
    assert span(rich - rich.mean(axis=0), Z - Z.mean(axis=0)) < 1e-3


@needs("MVU")
def test_unfolding_with_all_distances_kept_is_pca() -> None:
    """Maximum variance unfolding has the objective of PCA; with every pair a constraint nothing can unfold."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert same(lowfold.MVU(2, n_neighbors=29).fit_transform(X), lowfold.PCA(2).fit_transform(X), 1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_diffusion_maps_without_a_graph(seed: int) -> None:
    """The basic form joins all pairs: P = D^-1 K by the formula, and a graph of all neighbours gives the same."""
    X = np.random.default_rng(seed).normal(size=(40, 3))
    model = lowfold.DiffusionMaps(3, threshold=0.0, scale=2.0, alpha=0.5, t=2).fit(X)
    K = np.exp(-(cdist(X, X) ** 2) / 2.0)
    q = np.sqrt(K.sum(axis=1))
    K /= np.outer(q, q)
    values, vectors = np.linalg.eig(K / K.sum(axis=1, keepdims=True))
    order = np.argsort(-values.real)[1:4]
    assert np.allclose(model.eigenvalues_, values.real[order])
    weight = K.sum(axis=1) / K.sum()
    psi = vectors.real[:, order] / np.sqrt((vectors.real[:, order] ** 2 * weight[:, None]).sum(axis=0))
    assert same(model.embedding_, psi * values.real[order] ** 2)
    joined = lowfold.DiffusionMaps(3, n_neighbors=39, scale=2.0, alpha=0.5, t=2).fit(X)
    assert same(joined.embedding_, model.embedding_)


@needs("LLE", "LTSA")
@pytest.mark.parametrize("seed", SEEDS)
def test_on_flat_data_reconstruction_is_one_condition_among_those_of_ltsa(seed: int) -> None:
    """LTSA's projector takes affine functions out of a patch; e_i - w_i of LLE annihilates them, so it stays."""
    rng = np.random.default_rng(seed)
    X = rng.random((60, 2)) @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    lle = lowfold.LLE(2, n_neighbors=7, reg=0).fit(X)
    source = Points(X, resolve_metric("euclidean", None, X))
    patches = Patches.around(lle.neighbors_)
    A, _ = tangent_alignment(patches, geometry_of(source, lle.neighbors_), 2, Run())
    for i in range(0, 60, 7):
        members = patches.members[patches.indptr[i] : patches.indptr[i + 1]]
        V = X[members[1:]] - X[i]
        row = np.append(1.0, -limit_weights((V @ V.T)[None])[0])
        assert np.allclose(A.local(i) @ row, row, atol=1e-6)
    null = np.column_stack([np.ones(60), X])
    for K in (lle.kernel().dense(), lowfold.LTSA(2, n_neighbors=7).fit(X).kernel().dense()):
        assert np.abs(K @ null).max() < 1e-9


def test_global_and_local_kernels() -> None:
    """Isomap's kernel couples all pairs, those of LLE, LTSA, Hessian LLE and Laplacian eigenmaps neighbours only."""
    X = lowfold.datasets.swiss_roll(300, random_state=0).X
    assert (np.abs(lowfold.Isomap(2, n_neighbors=8).fit(X).kernel().dense()) > 0).mean() > 0.99
    for name in ("LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps"):
        assert (np.abs(getattr(lowfold, name)(2, n_neighbors=8).fit(X).kernel().dense()) > 0).mean() < 0.25


@needs("LLE")
def test_rows_of_lle_weights_sum_to_one_as_a_walk_does() -> None:
    X = lowfold.datasets.s_curve(100, random_state=0).X
    M = lowfold.LLE(2, n_neighbors=10).fit(X).kernel().dense()  # (I - W)'(I - W) annihilates constants
    assert np.abs(M @ np.ones(100)).max() < 1e-9


def test_isomap_keeps_distances_and_lle_type_methods_do_not_scale() -> None:
    """Distance kernels scale by the root of the eigenvalue, alignment kernels not at all."""
    X = lowfold.datasets.swiss_roll(200, random_state=0).X
    for size in (1.0, 7.0):  # what is measured in lengths grows with the data, what is not does not
        Y = lowfold.Isomap(2, n_neighbors=8).fit(size * X)
        assert np.allclose(Y.embedding_.T @ Y.embedding_, np.diag(Y.eigenvalues_), rtol=1e-6, atol=1e-6 * size**2)
        for method in (
            lowfold.LaplacianEigenmaps(2, n_neighbors=8, laplacian="unnormalized"),
            lowfold.LLE(2, n_neighbors=8),
            lowfold.LTSA(2, n_neighbors=8),
            lowfold.HessianLLE(2, n_neighbors=8),
        ):
            Z = method.fit_transform(size * X)
            assert np.allclose(Z.T @ Z, np.eye(2), atol=1e-6)
