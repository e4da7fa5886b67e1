"""What Wang (2012) states or shows, checked as it stands there where no test of a method does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness
from tests.methods.alignment_helpers import explained, plane
from tests.methods.experiment_helpers import score

import lowfold
from lowfold import datasets
from lowfold._core.operators import DenseOperator
from lowfold.dimension import maximum_likelihood, two_nearest
from lowfold.geometry import Box, Chart, hessian, laplace_beltrami
from lowfold.kernels import gaussian
from lowfold.lowrank import vsv
from lowfold.quality import procrustes
from lowfold.spectral import largest


@pytest.mark.parametrize("name", ["swiss_roll", "s_curve", "square", "punched_sphere", "torus", "circle"])
def test_estimators_find_the_dimension_that_a_surface_says(name: str) -> None:
    """Section 1.3.2: intrinsic and extrinsic dimension."""
    data = getattr(datasets, name)(1500, random_state=3)
    assert data.X.shape[1] > data.intrinsic_dim or name == "circle"
    for estimate in (two_nearest, maximum_likelihood):
        assert round(float(estimate(data.X))) == data.intrinsic_dim


def test_pca_of_the_square_is_an_isometry_and_of_closed_surfaces_is_none() -> None:
    """Figure 5.1."""
    square = datasets.square(600, random_state=1)
    Y = lowfold.PCA(2).fit_transform(square.X)
    assert procrustes(square.coordinates, Y).value < 1e-12
    assert trustworthiness(square.coordinates, Y, n_neighbors=10) == 1
    for name in ("cluster_3d", "punched_sphere"):
        X = getattr(datasets, name)(600, random_state=1).X
        assert score(X, lowfold.PCA(2).fit_transform(X)) < 0.85


@pytest.mark.parametrize(("height", "contains_axis"), [(2.0, False), (3.0, True)])
def test_the_plane_of_an_s_curve_switches_with_its_length(height: float, contains_axis: bool) -> None:
    """Figures 5.2 and 5.3: L^2 / 12 against the smaller variance of the S, 0.492, which is L = 2.43."""
    X = datasets.s_curve(4000, height=height, random_state=0).X
    assert (np.abs(lowfold.PCA(2).fit(X).components_[:, 1]).max() > 0.9) == contains_axis


@pytest.mark.parametrize("seed", [0, 1])
def test_degrees_and_volumes(seed: int) -> None:
    """Section 3.2.1: the degrees sum to twice the edges; the volume of a set is its inside and its boundary."""
    X = np.random.default_rng(seed).normal(size=(80, 3))
    graph = lowfold.graph.find_neighbors(X, n_neighbors=4).union()
    A = np.zeros((80, 80))
    i, j = graph.edges().T
    A[i, j] = A[j, i] = 1
    degrees = A.sum(axis=1)
    assert degrees.sum() == 2 * len(graph.edges())
    inside = np.arange(80) < 30
    assert degrees[inside].sum() == A[np.ix_(inside, inside)].sum() + A[np.ix_(inside, ~inside)].sum()


def test_components_make_blocks() -> None:
    """Section 3.2.1: ordered by components, the adjacency matrix is block-diagonal."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(15, 2)) + 50])[rng.permutation(35)]
    graph = lowfold.graph.find_neighbors(X, n_neighbors=4).union()
    labels = lowfold.graph.components(graph)
    order = np.argsort(labels, kind="stable")
    A = np.zeros((35, 35), dtype=bool)
    i, j = graph.edges().T
    A[i, j] = A[j, i] = True
    first = int((labels == labels[order[0]]).sum())
    assert {first, 35 - first} == {15, 20}
    assert not A[np.ix_(order[:first], order[first:])].any()


def test_neighbours_are_a_digraph() -> None:
    """Section 3.2.2: as many heads as tails; what is strongly connected is weakly connected."""
    X = np.random.default_rng(2).normal(size=(60, 2))
    near = lowfold.graph.find_neighbors(X, n_neighbors=3)
    A = np.zeros((60, 60))
    A[near.rows(), near.indices] = 1
    assert A.sum(axis=0).sum() == A.sum(axis=1).sum() == 180
    strong = connected_components(A, connection="strong")
    weak = connected_components(A, connection="weak")
    assert strong[0] >= weak[0]
    for part in range(strong[0]):
        assert len(set(weak[1][strong[1] == part])) == 1


CENTRED = ["Isomap", "LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps", "DiffusionMaps", "MVU", "ClassicalMDS"]


@pytest.mark.parametrize("name", CENTRED)
def test_output_constraints(name: str) -> None:
    """Equations (4.7) to (4.9): Y 1 = 0 and Y Y' = I; for the walks the mean is weighted."""
    X = datasets.s_curve(90, random_state=0).X
    k = {} if name == "ClassicalMDS" else {"n_neighbors": 8}
    model = getattr(lowfold, name)(2, normalization="orthonormal", **k).fit(X)
    Y = model.embedding_
    assert np.allclose(Y.T @ Y, np.eye(2), atol=1e-6)
    if name not in ("LaplacianEigenmaps", "DiffusionMaps"):
        assert np.abs(Y.sum(axis=0)).max() < 1e-6


def test_shares_are_told_where_they_mean_something() -> None:
    """Section 4.4: methods of distances say what share the first d eigenvalues hold, methods of weights do not."""
    X = datasets.s_curve(90, random_state=0).X
    for name in ("ClassicalMDS", "Isomap", "MVU"):
        assert getattr(lowfold, name)(2).fit(X).explained_ > 0.5
    assert 0.5 < lowfold.PCA(2).fit(X).explained_variance_ratio_.sum() <= 1 + 1e-12
    for name in ("LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps"):
        assert getattr(getattr(lowfold, name)(2).fit(X), "explained_", None) is None


@pytest.mark.parametrize("seed", [0, 5])
def test_a_radius_beyond_every_kth_neighbour_holds_the_k_graph(seed: int) -> None:
    """Section 8.2.1."""
    X = np.random.default_rng(seed).normal(size=(120, 3))
    k = 6
    radius = cKDTree(X).query(X, k + 1)[0][:, -1].max() * (1 + 1e-12)
    by_k = {tuple(e) for e in lowfold.graph.find_neighbors(X, n_neighbors=k).union().edges().tolist()}
    by_radius = {tuple(e) for e in lowfold.graph.find_neighbors(X, radius=radius).union().edges().tolist()}
    assert by_k <= by_radius
    several = np.random.default_rng(seed).integers(2, 9, size=120)
    near = lowfold.graph.find_neighbors(X, n_neighbors=several)
    assert (np.bincount(near.rows(), minlength=120) == several).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_isomap_keeps_scale_and_gets_better_with_k(seed: int) -> None:
    """Figures 8.3 and 8.5: rigid motions alone bring Y onto arc length and height, the better the larger k."""
    roll = datasets.swiss_roll(1000, random_state=seed)
    T = roll.coordinates - roll.coordinates.mean(axis=0)
    rest = []
    for k in (5, 10, 15):
        Y = lowfold.Isomap(2, n_neighbors=k, on_shortcut="remove").fit_transform(roll.X)
        U, _, Vt = np.linalg.svd(Y.T @ T)
        rest.append(np.linalg.norm(Y @ U @ Vt - T) / np.linalg.norm(T))
    assert rest[0] < 0.2
    assert rest[1] < 0.1
    assert rest[0] > rest[1] > rest[2]


@pytest.mark.parametrize("seed", [0, 1])
def test_isomap_keeps_the_three_clusters_apart(seed: int) -> None:
    """Figure 8.2: the parts of the cluster stay apart, the segments stay paths between them."""
    data = datasets.cluster_3d(1000, random_state=seed)
    Y = lowfold.Isomap(2, n_neighbors=10).fit_transform(data.X)
    centers = np.array([Y[data.labels == part].mean(axis=0) for part in (1, 2, 3)])
    on = data.labels > 0
    nearest = np.argmin(np.linalg.norm(Y[on, None] - centers, axis=2), axis=1) + 1
    assert (nearest == data.labels[on]).mean() > 0.99
    path = Y[data.labels == 0]
    reach = cKDTree(path).query(path, 2)[0][:, 1].max()
    assert reach < 0.2 * np.linalg.norm(centers[0] - centers[1])


@pytest.mark.parametrize("seed", [1, 2])
def test_three_parameters_of_images(seed: int) -> None:
    """Figure 8.6: pose and light behind images, which PCA does not find."""
    data = datasets.rendered_object(500, random_state=seed, image_shape=(32, 32))

    def found(Y: np.ndarray) -> np.ndarray:
        return np.abs(np.corrcoef(data.parameters.T, Y.T)[:3, 3:]).max(axis=1)

    assert found(lowfold.Isomap(3, n_neighbors=6, on_shortcut="ignore").fit_transform(data.X)).min() > 0.8
    assert found(lowfold.PCA(3).fit_transform(data.X)).min() < 0.5


def test_geodesics_are_worst_around_a_hole() -> None:
    """Section 8.4.4: the set has to be convex."""
    hole, whole = (getattr(datasets, name)(800, random_state=0) for name in ("swiss_hole", "swiss_roll"))
    error = {}
    for data in (hole, whole):
        graph = lowfold.Isomap(2, n_neighbors=8, on_shortcut="remove").fit(data.X).graph_
        D = lowfold.graph.geodesics(graph)
        T = data.coordinates
        flat = np.linalg.norm(T[:, None] - T[None], axis=2)
        far = flat > 5
        error[data.name] = np.where(far, D, 0).sum() / np.where(far, flat, 0).sum() - 1
    assert error["swiss_hole"] > 1.2 * error["swiss_roll"] > 0


@pytest.mark.parametrize("seed", [0, 3])
def test_mvu_opens_an_s_curve(seed: int) -> None:
    """Figure 9.4, with fewer points: two eigenvalues hold the trace, and they follow the true coordinates."""
    curve = datasets.s_curve(150, random_state=seed)
    model = lowfold.MVU(2, n_neighbors=5).fit(curve.X)
    assert model.spectrum_[:2].sum() > 0.95 * model.spectrum_.sum()
    assert abs(spearmanr(model.embedding_[:, 0], curve.coordinates[:, 0]).statistic) > 0.95


@pytest.mark.parametrize("seed", [1, 4])
def test_lle_orders_images(seed: int) -> None:
    """Section 10.3.4: a shuffled sequence with one parameter."""
    turn = datasets.rotating_object(300, random_state=seed, image_shape=(24, 24))
    half = turn.parameters[:, 0] > 0
    Y = lowfold.LLE(1, n_neighbors=10).fit_transform(turn.X[half])
    assert abs(spearmanr(Y[:, 0], turn.parameters[half, 0]).statistic) > 0.98


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_laplacian_eigenmaps_on_roll_and_curve(seed: int) -> None:
    """Figure 12.1."""
    curve, roll = (getattr(datasets, name)(1000, random_state=seed) for name in ("s_curve", "swiss_roll"))
    assert score(curve.coordinates, lowfold.LaplacianEigenmaps(2, n_neighbors=10).fit_transform(curve.X)) > 0.9
    first = lowfold.LaplacianEigenmaps(1, n_neighbors=10).fit_transform(roll.X)
    assert explained(roll.coordinates, first)[0] > 0.95


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_takes_coordinates_from_hessian_lle(seed: int) -> None:
    """Figures 13.2 and 13.3: 0.2 leaves both, 0.4 does not."""
    some, more = (datasets.swiss_roll(1000, noise=s, random_state=seed) for s in (0.2, 0.4))
    fitted = [
        lowfold.HessianLLE(2, n_neighbors=10, on_shortcut="remove").fit_transform(data.X) for data in (some, more)
    ]
    assert explained(some.coordinates, fitted[0]).min() > 0.97
    assert explained(more.coordinates, fitted[1]).min() < 0.97


def test_isometric_coordinates_have_no_hessian() -> None:
    """Definition 13.1: of arc length and height on a cylinder the Hessian vanishes, of a square it does not."""
    cylinder = Chart(lambda u: np.column_stack([np.cos(u[:, 0]), np.sin(u[:, 0]), u[:, 1]]), Box.of((-2, 2), (-2, 2)))
    u = np.array([[0.3, -0.7]])
    for coordinate in (0, 1):
        assert np.abs(hessian(cylinder, lambda v, c=coordinate: v[:, c], u)).max() < 1e-5
    assert abs(hessian(cylinder, lambda v: v[:, 0] ** 2, u)[0, 0, 0] - 2) < 1e-4


def test_tangent_and_manifold_hessian_agree_at_the_point_of_touch() -> None:
    """Theorem 13.1 on an arc of the circle over its tangent t: s = arcsin t has no second derivative, s^2 has 2."""
    arc = Chart(lambda t: np.column_stack([t[:, 0], np.sqrt(1 - t[:, 0] ** 2)]), Box.of((-0.5, 0.5)))
    at = np.zeros((1, 1))
    assert abs(hessian(arc, lambda t: np.arcsin(t[:, 0]), at)[0, 0, 0]) < 1e-6
    assert abs(hessian(arc, lambda t: np.arcsin(t[:, 0]) ** 2, at)[0, 0, 0] - 2) < 1e-5


@pytest.mark.parametrize("seed", [0, 1])
def test_a_saddle_has_hessian_energy_and_no_laplacian(seed: int) -> None:
    """Section 13.1: y1^2 - y2^2 is harmonic and not linear; Hessian LLE's kernel tells it from linear functions."""
    X, T = plane(250, seed=seed)
    y = T - T.mean(axis=0)
    K = lowfold.HessianLLE(2, n_neighbors=10).fit(X).kernel().dense()

    def energy(f: np.ndarray) -> float:
        return float(f @ K @ f / (f @ f))

    assert energy(y[:, 0] ** 2 - y[:, 1] ** 2) > 1e-4
    assert max(energy(y[:, 0]), energy(2 * y[:, 0] - y[:, 1])) < 1e-12
    flat = Chart(lambda u: np.column_stack([u, 0 * u[:, 0]]), Box.of((-1, 1), (-1, 1)))
    assert np.abs(laplace_beltrami(flat, lambda u: u[:, 0] ** 2 - u[:, 1] ** 2, np.array([[0.2, -0.5]]))).max() < 1e-7


@pytest.mark.parametrize("d", [1, 2])
def test_degrees_of_an_even_grid_are_its_density(d: int) -> None:
    """Section 14.4.3: with exp(-|x - y|^2 / 4t) the degree inside is (n / volume) (4 pi t)^(d / 2)."""
    h = 0.01 if d == 1 else 0.05
    axis = np.arange(h / 2, 1, h)
    X = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    t = (1.5 * h) ** 2
    graph = lowfold.graph.find_neighbors(X, radius=8 * np.sqrt(2 * t)).union()
    degrees = gaussian(graph, scale=4 * t, loops=1.0).volumes()
    middle = np.linalg.norm(X - 0.5, axis=1).argmin()
    assert np.isclose(degrees[middle], len(X) * (4 * np.pi * t) ** (d / 2), rtol=1e-3)


def test_leading_by_sign_and_by_size() -> None:
    """Section 15.1.5: cut off after the algebraically largest, a psd matrix misses by the next; others may by more."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    for values, by_sign in (((9.0, 5.0, 3.0), 3.0), ((5.0, 3.0, -9.0), 9.0)):
        A = (Q[:, :3] * values) @ Q[:, :3].T
        pairs = largest(DenseOperator(A), 2)
        assert np.isclose(np.linalg.norm(A - (pairs.vectors * pairs.values) @ pairs.vectors.T, 2), by_sign)
        assert np.isclose(np.linalg.norm(A - vsv(A, 4.0).dense(2), 2), 3.0)  # the two largest by size


@pytest.mark.parametrize("seed", [0, 1])
def test_a_normalised_kernel_has_norm_one(seed: int) -> None:
    """Equations (14.8) and (14.9), for any symmetric kernel without negative entries."""
    K = np.random.default_rng(seed).random((40, 40))
    K = K + K.T
    d = K.sum(axis=1)
    S = K / np.sqrt(np.outer(d, d))
    assert abs(np.abs(np.linalg.eigvalsh(S)).max() - 1) < 1e-12
    assert np.allclose(S @ np.sqrt(d), np.sqrt(d))


def test_the_diffusion_distance_is_one() -> None:
    """Definition 14.3: symmetric, zero on the diagonal, the triangle inequality; all coordinates give it exactly."""
    X = datasets.s_curve(60, random_state=0).X
    model = lowfold.DiffusionMaps(59, n_neighbors=8, t=2).fit(X)
    D = np.linalg.norm(model.embedding_[:, None] - model.embedding_[None], axis=2)
    assert np.allclose(D, D.T)
    assert (D[:, :, None] + D[None, :, :] >= D[:, None, :] - 1e-10).all()
    part = np.linalg.norm(model.embedding_[:, None, :5] - model.embedding_[None, :, :5], axis=2)
    left = np.linalg.norm(model.embedding_[:, None, 5:] - model.embedding_[None, :, 5:], axis=2)
    assert (part + left + 1e-12 >= D).all()
    assert (part <= D + 1e-12).all()
