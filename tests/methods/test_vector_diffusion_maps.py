"""Vector diffusion maps: transports, gauge freedom, the identity of its distance, the sphere's vector spectrum."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold.geometry import Manifold
from lowfold.geometry._curvature import tangent_basis
from lowfold.geometry._geodesics import shoot
from lowfold.geometry._manifolds import ellipsoid, torus
from lowfold.graph import Graph, Points, nearest, within_radius
from lowfold.graph._neighborhoods import query_neighborhoods
from lowfold.kernels._connection import align, connection, local_dimensions, local_pca, orientation
from lowfold.methods._placing.fields import pair_order, vector_features
from lowfold.metrics._resolve import resolve_metric

SEEDS = [0, 1]


def fibonacci(n: int) -> np.ndarray:
    i = np.arange(n) + 0.5
    z, phi = 1 - 2 * i / n, np.pi * (1 + 5**0.5) * i
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z])


def source(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, X))


def sphere_bases(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Exact tangent bases of the sphere, each turned at random."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(np.concatenate([X[:, :, None], rng.normal(size=(len(X), 3, 2))], axis=2))[0]
    return Q[:, :, 1:]


@pytest.mark.parametrize("seed", SEEDS)
def test_alignment_is_great_circle_transport(seed: int) -> None:
    """On the sphere exact tangent planes align to parallel transport at any distance below a quarter turn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    bases = sphere_bases(X, seed)
    i, j = np.nonzero(np.triu(X @ X.T > 0.05, 1))
    transports, certainty = align(bases[i], bases[j])
    for a, b, T in zip(i, j, transports):
        axis = np.cross(X[b], X[a])
        c, s = X[a] @ X[b], np.linalg.norm(axis)
        k = axis / s
        K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
        R = np.eye(3) + s * K + (1 - c) * K @ K  # turns x_j into x_i
        assert np.allclose(bases[a].T @ R @ bases[b], T, atol=1e-10)
    assert np.allclose(certainty, [X[a] @ X[b] for a, b in zip(i, j)])


def surface_sample(surface: Manifold, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points even in area: of the torus of radii 2 and 1, or the ellipsoid of half axes 1, 1.5 and 2."""
    if surface.name == "torus":
        u = rng.random((4 * n, 2)) * 2 * np.pi
        return surface.charts[0].points(u[rng.random(4 * n) < (2 + np.cos(u[:, 1])) / 3][:n])
    axes = np.array([1.0, 1.5, 2.0])
    v = rng.normal(size=(6 * n, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    stretch = np.linalg.norm(v / axes, axis=1)
    return (v * axes)[rng.random(6 * n) < stretch / stretch.max()][:n]


def carried(surface: Manifold, count: int, length: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Geodesics of that length: their ends y and x, tangent planes there, and P (3, 3), transport from y to x."""
    chart = surface.charts[0]
    u = chart.coordinates(surface_sample(surface, 20 * count, rng))
    u = u[np.linalg.norm(u, axis=1) < 1][:count] if surface.name == "ellipsoid" else u[:count]
    E = tangent_basis(chart, u)
    way = rng.normal(size=(count, 2))
    way *= length / np.linalg.norm((E @ way[:, :, None])[:, :, 0], axis=1, keepdims=True)
    shot = shoot(chart, u, way, np.repeat(np.eye(2)[None], count, axis=0))
    F = tangent_basis(chart, shot.coordinates)
    P = F @ shot.carried.transpose(0, 2, 1) @ np.linalg.pinv(E)
    return chart.points(u), chart.points(shot.coordinates), np.linalg.qr(E)[0], np.linalg.qr(F)[0], P


SURFACES = {"ellipsoid": ellipsoid((1.0, 1.5, 2.0)), "torus": torus(2.0, 1.0)}


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("seed", SEEDS)
def test_aligned_planes_carry_vectors_to_third_order(name: str, seed: int) -> None:
    """Singer & Wu (2012), Theorem B.2: with the true planes |O_ij - transport| = O(h^3), an eighth for half the way."""
    errors = []
    for h in (0.2, 0.1):
        _, _, Oy, Ox, P = carried(SURFACES[name], 80, h, np.random.default_rng(seed))
        errors.append(np.linalg.norm(align(Ox, Oy)[0] - Ox.transpose(0, 2, 1) @ P @ Oy, axis=(1, 2)))
    assert errors[0].max() < 2e-3
    assert errors[1].max() < errors[0].max() / 6
    assert np.median(errors[1]) < np.median(errors[0]) / 6


@pytest.mark.parametrize("name", SURFACES)
def test_transport_improves_with_the_sample(name: str) -> None:
    """With planes found by local PCA the error is O(h^2): it falls like 1 / n for a fixed number of neighbours."""
    surface, area = SURFACES[name], {"ellipsoid": 28.0, "torus": 8 * np.pi**2}[name]
    medians = []
    for n in (500, 2000, 8000):
        rng = np.random.default_rng(n)
        h = 0.7 * np.sqrt(20 * area / np.pi / n)  # well inside a neighbourhood of 20 points
        y, x, _, _, P = carried(surface, 60, h, rng)
        X = np.vstack([y, x, surface_sample(surface, n, rng)])
        near = nearest(source(X), 20)
        bases = local_pca(X, near, float((near.union().lengths ** 2).mean()) / 2, 2).bases
        Oy, Ox = bases[:60], bases[60:120]
        medians.append(np.median(np.linalg.norm(align(Ox, Oy)[0] - Ox.transpose(0, 2, 1) @ P @ Oy, axis=(1, 2))))
    assert medians[0] < 0.03
    assert medians[1] < medians[0] / 2.5
    assert medians[2] < medians[1] / 2.5
    model = lowfold.VectorDiffusionMaps(1, n_neighbors=20, tangent_dim=2).fit(X[:150])
    near = nearest(source(X[:150]), 20)
    assert np.allclose(model.tangents_, local_pca(X[:150], near, model.scale_ / 2, 2).bases)


def test_local_pca_finds_tangent_planes() -> None:
    for n, allowed in ((500, 0.06), (4000, 0.02)):
        X = fibonacci(n)
        near = nearest(source(X), 12)
        bases = local_pca(X, near, 4.0 / n, 2).bases
        assert np.allclose(bases.transpose(0, 2, 1) @ bases, np.eye(2))
        assert np.abs(np.einsum("ndk,nd->nk", bases, X)).max() < allowed
        assert np.median(local_dimensions(local_pca(X, near, 4.0 / n, 2).spectra, 0.9)) == 2
    helix = lowfold.datasets.toroidal_helix(800, random_state=0).X
    model = lowfold.VectorDiffusionMaps(1, n_neighbors=10).fit(helix)
    assert model.tangent_dim_ == 1
    assert lowfold.VectorDiffusionMaps(1, tangent_dim="mean").fit(fibonacci(300)).tangent_dim_ == 2


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_blocks_by_hand(alpha: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    graph = nearest(source(X), 4).union()
    bases = np.linalg.qr(rng.normal(size=(12, 3, 2)))[0]
    w = np.exp(-(graph.lengths**2))
    found = connection(graph, w, 1.0, bases, alpha=alpha)
    W = graph.to_scipy(w).toarray() + np.eye(12)
    q = W.sum(axis=1)
    W /= np.outer(q, q) ** alpha
    d = W.sum(axis=1)
    S = np.zeros((24, 24))
    for i in range(12):
        for j in range(12):
            if W[i, j]:
                U, _, Vt = np.linalg.svd(bases[i].T @ bases[j])
                S[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = W[i, j] * U @ Vt / np.sqrt(d[i] * d[j])
    assert np.allclose(found.operator.dense(), S)
    assert np.abs(np.linalg.eigvalsh(S)).max() <= 1 + 1e-12


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_full_features_are_the_vector_diffusion_distance(seed: int, t: int) -> None:
    X = lowfold.datasets.s_curve(50, random_state=seed).X
    model = lowfold.VectorDiffusionMaps(3, n_eigenvectors=100, tangent_dim=2, n_neighbors=8, t=t).fit(X)
    K = np.linalg.matrix_power(model.kernel().dense(), 2 * t).reshape(50, 2, 50, 2)
    norms = (K**2).sum(axis=(1, 3))
    everything = pair_order(model.eigenvalues_, t, 100 * 101 // 2)
    features = vector_features(model._extend.fields, model.eigenvalues_, everything, t)
    assert np.allclose(features @ features.T, norms, atol=1e-10)
    truth = np.sqrt(np.maximum(np.diag(norms)[:, None] + np.diag(norms)[None, :] - 2 * norms, 0))
    assert np.allclose(model.distances(X, kind="diffusion"), truth, atol=1e-7)


def test_half_times_walk_odd_steps() -> None:
    X = lowfold.datasets.s_curve(60, random_state=0).X
    model = lowfold.VectorDiffusionMaps(2, n_eigenvectors=4, tangent_dim=2, n_neighbors=8, t=1.5).fit(X)
    K = np.linalg.matrix_power(model.kernel().dense(), 3).reshape(60, 2, 60, 2)
    norms = (K**2).sum(axis=(1, 3))
    truth = np.sqrt(np.maximum(np.diag(norms)[:, None] + np.diag(norms)[None, :] - 2 * norms, 0))
    assert np.allclose(model.distances(X, kind="diffusion"), truth, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_choice_of_bases_matters(seed: int) -> None:
    X = lowfold.datasets.s_curve(80, random_state=seed).X
    graph = nearest(source(X), 8).union()
    w = np.exp(-(graph.lengths**2))
    bases = local_pca(X, graph.neighbors(), 0.5, 2).bases
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(80, 2, 2)))[0]
    features = []
    for B in (bases, bases @ turn):
        S = connection(graph, w, 1.0, B, alpha=1.0)
        values, vectors = np.linalg.eigh(S.operator.dense())
        fields = vectors.reshape(80, 2, -1)
        squares = (fields**2).sum(axis=1) * values**2
        features.append(squares.sum(axis=1))
        norms = (np.linalg.matrix_power(S.operator.dense(), 2).reshape(80, 2, 80, 2) ** 2).sum(axis=(1, 3))
        features.append(norms)
    assert np.allclose(features[0], features[2])
    assert np.allclose(features[1], features[3])


def test_features_in_order() -> None:
    values = np.array([0.9, 0.5, 0.2])
    assert pair_order(values, 1.0, 6).tolist() == [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]]
    model = lowfold.VectorDiffusionMaps(4, n_eigenvectors=6, n_neighbors=12).fit(fibonacci(200))
    products = np.abs(model.eigenvalues_[model.pairs_[:, 0]] * model.eigenvalues_[model.pairs_[:, 1]])
    assert (np.diff(products) <= 1e-12).all()
    assert model.eigenvalues_.shape == (6,)


def test_flat_patch_is_scalar_diffusion_twice() -> None:
    """Planes that are all the same: S-bar is the scalar matrix times I, so every scalar eigenvalue comes twice."""
    X = np.column_stack([np.random.default_rng(0).random((100, 2)), np.zeros(100)])
    vector = lowfold.VectorDiffusionMaps(2, n_eigenvectors=10, tangent_dim=2, n_neighbors=10).fit(X)
    scalar = lowfold.DiffusionMaps(4, n_neighbors=10, scale="mean").fit(X)
    assert np.allclose(vector.eigenvalues_, np.repeat([1, *scalar.eigenvalues_], 2), atol=1e-9)


@pytest.mark.timeout(60)
def test_vector_spectrum_of_the_sphere() -> None:
    """Connection Laplacian of the unit sphere: l(l + 1) - 1 = 1, 5, 11 with multiplicities 6, 10, 14."""
    X = fibonacci(1200)
    scale, radius = 0.03, np.sqrt(5 * 0.03)
    model = lowfold.VectorDiffusionMaps(
        1, n_eigenvectors=30, tangent_dim=2, radius=radius, scale=scale, pca_scale=0.01, solver="lanczos"
    ).fit(X)
    cut = (1 - 6 * np.exp(-5)) / (1 - np.exp(-5))  # second moment of the Gaussian cut off at the radius
    values = (1 - model.eigenvalues_) / (scale / 4 * cut)
    for part, truth in ((values[:6], 1), (values[6:16], 5), (values[16:], 11)):
        assert np.allclose(part, truth, rtol=0.16)
        assert np.ptp(part) < 0.05 * truth
    assert values[6] > 3
    assert values[16] > 8
    assert model.orientable_


def test_flat_torus_has_parallel_fields() -> None:
    u = np.arange(30) * 2 * np.pi / 30
    a, b = (g.ravel() for g in np.meshgrid(u, u))
    X = np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])
    model = lowfold.VectorDiffusionMaps(1, n_eigenvectors=10, tangent_dim=2, radius=0.5).fit(X)
    assert np.allclose(model.eigenvalues_[:2], 1, atol=1e-6)
    assert model.eigenvalues_[2] < 1 - 1e-4
    fields = model.vector_fields()[:, :, :2]
    assert fields.shape == (900, 4, 2)
    length = np.linalg.norm(fields, axis=(1, 2))
    assert length.std() / length.mean() < 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_orientability(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(0, 2 * np.pi, 1500), rng.uniform(-0.25, 0.25, 1500)
    r = 1 + v * np.cos(u / 2)
    band = np.column_stack([r * np.cos(u), r * np.sin(u), v * np.sin(u / 2)])
    ring = np.column_stack([np.cos(u), np.sin(u), v])
    moebius = lowfold.VectorDiffusionMaps(1, n_neighbors=15, tangent_dim=2).fit(band)
    cylinder = lowfold.VectorDiffusionMaps(1, n_neighbors=15, tangent_dim=2).fit(ring)
    assert not moebius.orientable_
    assert cylinder.orientable_
    normals = np.cross(cylinder.tangents_[:, :, 0], cylinder.tangents_[:, :, 1]) * cylinder.orientation_[:, None]
    outward = np.sign((normals[:, :2] * ring[:, :2]).sum(axis=1))
    assert abs(outward.sum()) == len(ring)


def test_orientation_of_two_pieces() -> None:
    graph = Graph.from_edges(4, [[0, 1], [2, 3]])
    sides = orientation(graph, np.array([[[-1.0]], [[-1.0]], [[1.0]], [[1.0]]]), np.ones(4))
    assert sides.orientable
    assert sides.signs[0] != sides.signs[1]
    assert sides.signs[2] == sides.signs[3]


@pytest.mark.parametrize("seed", SEEDS)
def test_new_points(seed: int) -> None:
    X = lowfold.datasets.s_curve(300, random_state=seed).X
    model = lowfold.VectorDiffusionMaps(3, n_neighbors=12, tangent_dim=2).fit(X)
    trained = model._trained
    found = query_neighborhoods(trained.source, X[:30], n_neighbors=trained.n_neighbors)
    placed = model._extend.place(trained, X[:30], found, model._run())
    assert np.allclose(placed, model.embedding_[:30], atol=1e-4 * np.abs(model.embedding_).max())
    moved = model.transform(X[:30] + 0.01)
    assert np.abs(moved - model.embedding_[:30]).max() < 0.1 * np.abs(model.embedding_).max()
    near = model.distances(X[:5] + 1e-6, X[:5], kind="diffusion")
    assert near.shape == (5, 5)
    assert (np.argmin(near, axis=1) == np.arange(5)).all()


def test_fields_that_belong_together_are_not_parted() -> None:
    """Data that fill their space: every eigenvalue comes as often as there are directions."""
    X = np.random.default_rng(0).random((80, 3))
    model = lowfold.VectorDiffusionMaps(2).fit(X)
    assert model.tangent_dim_ == 3
    assert np.allclose(model.eigenvalues_.reshape(7, 3), model.eigenvalues_[::3, None])


def test_words() -> None:
    X = np.random.default_rng(0).random((30, 3))
    for parameters, words in (
        ({"tangent_dim": 5}, "tangent_dim must be at most 3"),
        ({"n_eigenvectors": 100, "tangent_dim": 2}, "at most 60"),
        ({"n_components": 5, "n_eigenvectors": 2}, "number of pairs"),
        ({"metric": "template"}, "Euclidean metric"),
    ):
        with pytest.raises(InvalidInput, match=words):
            lowfold.VectorDiffusionMaps(**parameters).fit(X)
    with pytest.raises(InvalidInput, match="points themselves"):
        lowfold.VectorDiffusionMaps().fit(within_radius(source(X), 0.8).union())


def _told_of_truth(Y: np.ndarray, truth: np.ndarray) -> float:
    """Of the worse true coordinate, what 12 near points tell by a linear map, themselves left out."""
    Z = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[0]
    near = np.argsort(((Z[:, None] - Z) ** 2).sum(axis=2), axis=1)[:, 1:13]
    A = np.concatenate([np.ones((*near.shape, 1)), (Z[near] - Z[:, None]) * np.sqrt(len(Z))], axis=2)
    G = A.transpose(0, 2, 1) @ A + 1e-6 * np.eye(3)
    found = np.linalg.solve(G, A.transpose(0, 2, 1) @ truth[near])[:, 0]
    return float((1 - ((found - truth) ** 2).mean(axis=0) / truth.var(axis=0)).min())


@pytest.mark.parametrize("seed", [1203, 1205])
@pytest.mark.parametrize("name", ["swiss_roll", "swiss_hole", "s_curve"])
def test_the_width_of_a_sheet_is_kept(name: str, seed: int) -> None:
    """It is the ninth field or so of a roll, and the degree of a point, which varies, would hide it."""
    sheet = getattr(lowfold.datasets, name)(1000, random_state=seed)
    assert _told_of_truth(lowfold.VectorDiffusionMaps(2).fit(sheet.X).embedding_, sheet.coordinates) > 0.85


@pytest.mark.parametrize("seed", [3, 4])
def test_the_width_of_a_long_rectangle_is_kept_and_new_points_have_it(seed: int) -> None:
    P = np.random.default_rng(seed).random((800, 2)) * [5.0, 1.0]
    X = np.column_stack([P, np.zeros(800)])
    model = lowfold.VectorDiffusionMaps(2).fit(X)
    assert _told_of_truth(model.embedding_, P) > 0.85
    moved = model.transform(X[:40] + 1e-7)
    assert np.abs(moved - model.embedding_[:40]).max() < 0.05 * np.abs(model.embedding_).max()


@pytest.mark.parametrize("seed", [400, 401])
def test_rows_far_off_hold_no_coordinate(seed: int) -> None:
    """At the mean squared edge length their weights are nothing; the default is wide enough for them."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.standard_normal((200, 6)) * [3, 2, 1, 1, 1, 1], 20 * rng.standard_normal((3, 6))])
    model = lowfold.VectorDiffusionMaps(2, n_neighbors=10).fit(X)
    narrow = lowfold.VectorDiffusionMaps(2, n_neighbors=10, scale=2 * model.pca_scale_, select="leading")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* products of fields")  # those of one point have any basis
        with pytest.warns(AccuracyWarning, match="a wider scale holds them"):
            narrow.fit(X)
