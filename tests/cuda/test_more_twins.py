"""Radius searches, seeds, directions, transports, weight vectors, kernels, scatter matrices: as on the CPU."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import lowfold
from lowfold import config_context
from lowfold._core.run import Run
from lowfold._cuda import _patches, _tree
from lowfold._cuda._device import holding
from lowfold.graph._build import find_neighbors
from lowfold.graph._geodesics import geodesics, seeded_geodesics
from lowfold.graph._landmarks import choose_landmarks
from lowfold.graph._on_device import pairs_on_device
from lowfold.graph._radius import within_radius
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.kernels._connection import align, connection, local_pca, orientation
from lowfold.kernels._functions import Mercer
from lowfold.kernels._kernel_operator import kernel_operator
from lowfold.kernels._lle import modified_alignment
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.lowrank._principal import principal_axes
from lowfold.methods._descent import stress_terms
from lowfold.methods._fit import Data
from lowfold.methods._neighbor_affinity import dense_affinities
from lowfold.metrics._resolve import resolve_metric
from lowfold.optimize._neighbor import DenseAffinities, GaussianCost, SparseAffinities
from lowfold.optimize._stress import There
from lowfold.spectral import _on_device as spectral_on_device

CPU, GPU = Run(device="cpu"), Run(device="cuda")


def _roll(n, seed):
    return lowfold.datasets.swiss_roll(n, random_state=seed).X


def _points(X):
    return Points(X, resolve_metric("euclidean", None, X))


@pytest.mark.parametrize(("columns", "dtype"), [(3, "f8"), (2, "f4"), (6, "f8"), (40, "f4")])
def test_the_same_points_within_a_radius_ties_included(on_device, columns, dtype):
    rng = np.random.default_rng(columns)
    X = np.round(rng.normal(size=(130, columns)), 1).astype(dtype)  # rounded: distances that are the radius exactly
    X[:5] = X[5:10]
    Q = (1.5 * rng.normal(size=(19, columns))).astype(dtype)
    source = _points(X)
    typical = float(np.median(nearest(source, 8, run=CPU).kth_distance()))
    for radius in (typical, typical * rng.uniform(0.3, 2.0, size=130), 0.0, 100.0 * typical):
        for queries in (None, Q):
            cpu = within_radius(source, radius, queries=queries, run=CPU)
            twin = within_radius(source, radius, queries=queries, run=GPU)
            for name in ("indptr", "indices", "distances"):
                np.testing.assert_array_equal(getattr(twin, name), getattr(cpu, name))
    assert holding(twin.indices) is on_device


def test_diffusion_maps_by_reach_stay_on_the_device(on_device, caplog):
    X = _roll(300, 4)
    with config_context(device="cuda"), caplog.at_level(logging.DEBUG, logger="lowfold"):
        model = lowfold.DiffusionMaps(2).fit(X)
    assert holding(model.graph_.lengths) is on_device
    assert "radius is computed on the CPU" not in caplog.text


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_of_geodesics_from_seeds_and_to_targets(on_device, monkeypatch, dtype):
    monkeypatch.setattr("lowfold.graph._geodesics.geodesic_dtype", lambda n: dtype)
    X = _roll(180, 7)
    G = find_neighbors(X, 6).union()
    seeds = nearest(_points(X), 4, queries=X[:37] + 0.05, run=CPU)
    few, many = [3, 9, 100], np.arange(0, 180, 2)
    for to in (None, np.array(few), many):
        np.testing.assert_array_equal(seeded_geodesics(G, seeds, to, run=GPU), seeded_geodesics(G, seeds, to, run=CPU))
    for sources, targets in ((few, many), (many, few), (None, few)):
        cpu, twin = (geodesics(G, sources, targets, dtype=dtype, run=run) for run in (CPU, GPU))
        np.testing.assert_array_equal(twin, cpu)


def test_the_same_landmarks(on_device):
    source = _points(_roll(200, 9))
    np.testing.assert_array_equal(choose_landmarks(source, 30, run=GPU), choose_landmarks(source, 30, run=CPU))


def test_coordinates_of_clusters_cut_as_well_as_those_of_steps(device, monkeypatch):
    G = find_neighbors(_roll(1500, 3), 8).union()
    rows = device.xp.asarray(G.indptr), device.xp.asarray(G.indices)
    exact = _tree.plan(device, *rows, _tree.graph_coordinates(device, *rows))
    monkeypatch.setattr(_tree, "STEPPED", 400)
    clustered = _tree.plan(device, *rows, _tree.graph_coordinates(device, *rows))
    assert clustered.work() < 1.5 * exact.work()
    assert clustered.sweep_work() < 1.3 * exact.sweep_work()


@pytest.mark.parametrize(("columns", "k"), [(3, 9), (20, 11), (40, 12)])
def test_directions_and_spectra_of_weighted_neighbours(on_device, columns, k):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(90, columns)) * np.r_[3.0, 2.0, np.full(columns - 2, 0.3)] + 50.0
    near = find_neighbors(X, k)
    cpu, twin = (local_pca(X, near, 6.0, 2, run=run) for run in (CPU, GPU))
    np.testing.assert_allclose(twin.spectra, cpu.spectra, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        twin.bases @ twin.bases.transpose(0, 2, 1), cpu.bases @ cpu.bases.transpose(0, 2, 1), atol=1e-8
    )


@pytest.mark.parametrize("d", [1, 2, 3, 9])
def test_transports_and_their_blocks(on_device, d):
    rng = np.random.default_rng(d)
    G = find_neighbors(_roll(80, d), 6).union()
    bases = np.linalg.qr(rng.normal(size=(80, 4 if d < 4 else 12, d)))[0]
    w = np.exp(-(G.lengths**2) / 10.0)
    cpu, twin = (connection(G, w, 1.0, bases, alpha=1.0, run=run) for run in (CPU, GPU))
    atol = 1e-13 / cpu.certainty.min()  # nearly lost directions turn easily
    np.testing.assert_allclose(twin.transports, cpu.transports, atol=atol)
    np.testing.assert_allclose(twin.certainty, cpu.certainty, atol=1e-12)
    np.testing.assert_allclose(twin.operator.matrix.toarray(), cpu.operator.matrix.toarray(), atol=atol)
    np.testing.assert_allclose(twin.degrees, cpu.degrees, rtol=1e-13)
    assert orientation(G, twin.transports, twin.certainty).contradicted == pytest.approx(
        orientation(G, cpu.transports, cpu.certainty).contradicted
    )


def test_a_transport_that_loses_a_direction_is_orthogonal_still(device):
    xp = device.xp
    bases = np.zeros((2, 4, 2))
    bases[0, 0, 0] = bases[0, 1, 1] = bases[1, 0, 0] = bases[1, 2, 1] = 1.0  # planes that share one line
    found, certainty = _patches.transports(
        device, xp.asarray(bases), xp.asarray([0, 1], "i4"), xp.asarray([1, 0], "i4")
    )
    found = device.get(found)
    np.testing.assert_allclose(found[0] @ found[0].T, np.eye(2), atol=1e-15)
    np.testing.assert_array_equal(found[0], found[1].T)
    assert found[0, 0, 0] == align(bases[:1], bases[1:])[0][0, 0, 0] == 1.0
    assert device.get(certainty).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("k", "seed"), [(8, 1), (18, 2)])
def test_weight_vectors_of_modified_lle(on_device, k, seed):
    X = _roll(100, seed)
    near = find_neighbors(X, k)
    patches, geometry = Patches.around(near), geometry_of(_points(X), near)
    cpu, counts = modified_alignment(patches, geometry, 2, CPU, reg=1e-3)
    twin, twin_counts = modified_alignment(patches, geometry, 2, GPU, reg=1e-3)
    np.testing.assert_array_equal(twin_counts, counts)
    first, second = (np.asarray(on_device.get(A.factor)).reshape(100, k + 1, -1) for A in (cpu, twin))
    width = max(counts)
    np.testing.assert_allclose(  # eigenvectors may change their signs; what they span and sum to may not
        second[:, :, :width] @ second[:, :, :width].transpose(0, 2, 1),
        first[:, :, :width] @ first[:, :, :width].transpose(0, 2, 1),
        atol=1e-7,
    )


@pytest.mark.parametrize("joint", [True, False])
def test_gaussian_costs_and_their_gradients(on_device, joint):
    rng = np.random.default_rng(3)
    P = rng.random((120, 120))
    P = (P + P.T) / (P + P.T).sum()
    np.fill_diagonal(P, 0.0)
    sparse = lowfold.graph.find_neighbors(rng.normal(size=(120, 3)), 5).union().to_scipy()
    for columns in (1, 2, 3):
        Y = rng.normal(size=(120, columns))
        for make in (
            lambda device: DenseAffinities.held(P, device=device),
            lambda device: DenseAffinities(120, lambda part: (P[:, part], 0), 1.0, device=device),
            lambda device: SparseAffinities(sparse, 0.0, device=device),
        ):
            cpu, twin = (GaussianCost(make(device), joint, device=device) for device in ("cpu", "cuda"))
            np.testing.assert_allclose(twin.gradient(Y), cpu.gradient(Y), atol=1e-12)
            assert twin.value(Y) == pytest.approx(cpu.value(Y), rel=1e-12)
            for student in (True, False):
                np.testing.assert_allclose(twin.P.pull(Y, student), cpu.P.pull(Y, student), atol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid", "linear", "cosine", "laplacian"])
def test_products_with_a_kernel_matrix_held_or_made_anew(on_device, monkeypatch, name):
    X = _roll(90, 2)
    kernel = Mercer(name, gamma=0.01, degree=2, coef0=0.5)
    V = np.random.default_rng(0).normal(size=(90, 3))
    cpu = kernel_operator(X, kernel, run=CPU)
    for bytes_free in (2**33, 0):
        monkeypatch.setattr(type(on_device), "free_bytes", lambda self, free=bytes_free: free)
        twin = kernel_operator(X, kernel, run=GPU)
        np.testing.assert_allclose(twin.apply(V), cpu.apply(V), atol=1e-9 * np.abs(cpu.apply(V)).max())
        np.testing.assert_allclose(twin.row_means(), cpu.row_means(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("shape", "dtype"), [((150, 12), "f8"), ((12, 150), "f4"), ((90, 30), "f4")])
def test_principal_axes(on_device, monkeypatch, caplog, shape, dtype):
    X = (np.random.default_rng(1).normal(size=shape) * np.linspace(3, 0.5, shape[1])).astype(dtype)
    mean = X.mean(axis=0, dtype=np.float64)
    cpu = principal_axes(X, mean, 3, run=CPU)
    for bytes_free in (2**33, None):
        if bytes_free is None:
            monkeypatch.setattr("lowfold.lowrank._on_device.SHARE", 0.0)  # rows are sent some at a time
        with caplog.at_level(logging.DEBUG, logger="lowfold"):
            twin = principal_axes(X, mean, 3, run=GPU)
        assert "computed on the CPU" not in caplog.text
        np.testing.assert_allclose(twin.pairs.values, cpu.pairs.values, rtol=1e-6 if dtype == "f4" else 1e-12)
        assert np.sin(subspace_angles(twin.V, cpu.V).max()) < 1e-5


METHODS = {
    "VectorDiffusionMaps": dict(n_neighbors=10, tangent_dim=2),
    "KernelPCA": dict(gamma=0.01),
    "PCA": dict(),
    "LandmarkIsomap": dict(n_neighbors=8, landmarks=40),
}


@pytest.mark.parametrize("name", METHODS)
def test_more_methods_agree_and_so_do_their_maps(on_device, monkeypatch, name):
    monkeypatch.setattr(spectral_on_device, "SMALL", 50)
    X = _roll(150, 6)
    model = getattr(lowfold, name)(2, **METHODS[name])
    new = X[:7] + 0.01
    cpu, placed = model.fit_transform(X), model.transform(new)
    with config_context(device="cuda"):
        twin, placed_twin = model.fit_transform(X), model.transform(new)
    assert type(model.embedding_) is np.ndarray
    np.testing.assert_allclose(twin, cpu, atol=1e-5 * np.abs(cpu).max())
    np.testing.assert_allclose(placed_twin, placed, atol=1e-5 * np.abs(cpu).max())


@pytest.mark.parametrize("name", ["SNE", "SymmetricSNE"])
def test_layouts_start_with_the_same_steps(on_device, name):
    X = _roll(120, 8)
    model = getattr(lowfold, name)(2, perplexity=15, max_iter=20)
    cpu = model.fit_transform(X)
    with config_context(device="cuda"):
        twin = model.fit_transform(X)
    np.testing.assert_allclose(twin, cpu, atol=1e-6 * np.abs(cpu).max())


@pytest.mark.parametrize("kind", ["conditional", "joint", "sum"])
def test_affinities_of_all_pairs(on_device, kind):
    X = _roll(90, 5).copy()
    X[:4] = X[4:8]  # points that coincide
    data = Data(_points(X))
    cpu = dense_affinities(data, 7.0, kind, CPU)
    twin = dense_affinities(data, 7.0, kind, GPU)
    some = slice(20, 50)
    (P, first), (expected, start) = twin.columns(some), cpu.columns(some)
    np.testing.assert_allclose(P[:, first : first + 30], expected[:, start : start + 30], rtol=1e-8, atol=1e-18)
    np.testing.assert_array_equal(on_device.get(twin._there)[:, some], P)
    assert twin.entropy == pytest.approx(cpu.entropy, rel=1e-9)


def test_distances_of_points_are_made_and_stay_on_the_device(on_device):
    X = np.random.default_rng(8).normal(size=(70, 5))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    found = pairs_on_device(_points(X), np.float32, GPU)
    np.testing.assert_allclose(on_device.get(found.D)[:, :70], D, rtol=1e-6)
    assert not on_device.get(found.D)[:, 70:].any()
    terms = stress_terms(Data(_points(X)), None, GPU, there=True)
    assert isinstance(terms.delta, There)
    assert terms.total == pytest.approx((D**2).sum() / 2)
    strip, first = terms.delta.strip(slice(10, 30))
    np.testing.assert_allclose(strip[:, first : first + 20], D[:, 10:30], rtol=1e-14)
    assert pairs_on_device(Points(X, resolve_metric("cityblock", None, X)), np.float64, GPU) is None
