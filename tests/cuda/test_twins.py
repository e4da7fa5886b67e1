"""What must be equal on a device and on the CPU: neighbours, bits of geodesics, subspaces within their residual."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import lowfold
from lowfold import config_context
from lowfold._core.run import Run
from lowfold._cuda._device import holding
from lowfold.graph._build import find_neighbors
from lowfold.graph._geodesics import geodesics
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.graph._types import Graph
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral import _on_device as spectral_on_device
from lowfold.spectral._doors import smallest
from lowfold.spectral._euclidean import shift_bound
from lowfold.spectral._on_device import matrix_on


def _roll(n, seed):
    return lowfold.datasets.swiss_roll(n, random_state=seed).X


@pytest.mark.parametrize(
    ("n", "columns", "k", "dtype"),
    [
        (150, 3, 12, "f8"),
        (130, 1, 4, "f4"),
        (140, 6, 8, "f8"),
        (120, 40, 15, "f4"),
        (80, 90, 24, "f4"),
        (40, 5, 3, "f8"),
        (150, 2, 90, "f8"),
        (130, 9, 28, "f4"),
        (140, 40, 95, "f8"),
        (70, 60, 69, "f4"),
    ],
)
def test_the_same_neighbours_ties_included(on_device, caplog, n, columns, k, dtype):
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, columns)), 1).astype(dtype)  # rounded: many ties
    X[:10] = X[10:20]
    source = Points(X, resolve_metric("euclidean", None, X))
    Q = (3 * rng.normal(size=(17, columns))).astype(dtype)
    for queries in (None, Q):
        cpu = nearest(source, k, queries=queries)
        with config_context(device="cuda"), caplog.at_level(logging.DEBUG, logger="lowfold"):
            twin = nearest(source, k, queries=queries)
        assert "computed on the CPU" not in caplog.text
        np.testing.assert_array_equal(twin.indices, cpu.indices)
        np.testing.assert_array_equal(twin.distances, cpu.distances)


@pytest.mark.parametrize("k", [5, 70])
def test_rows_that_products_cannot_prove_are_searched_by_differences(on_device, k):
    rng = np.random.default_rng(3)
    X = 1e4 + 1e-6 * rng.normal(size=(90, 7))  # all of the signal is below the products' rounding
    X[0] = 0.0
    cpu = find_neighbors(X, k)
    with config_context(device="cuda"):
        twin = find_neighbors(X, k)
    assert holding(twin.indices) is on_device
    np.testing.assert_array_equal(twin.indices, cpu.indices)
    np.testing.assert_array_equal(twin.distances, cpu.distances)


@pytest.mark.parametrize(("n", "dtype"), [(200, np.float32), (90, np.float64)])
def test_the_same_bits_of_geodesics(on_device, n, dtype):
    G = find_neighbors(_roll(n, n), 6).union()
    sources = [4, 0, n - 1]
    cpu, rows = geodesics(G, dtype=dtype), geodesics(G, sources, dtype=dtype)
    with config_context(device="cuda"):
        np.testing.assert_array_equal(geodesics(G, dtype=dtype), cpu)
        np.testing.assert_array_equal(geodesics(G, sources, dtype=dtype), rows)


def test_geodesics_of_a_graph_in_pieces(on_device):
    G = Graph.from_edges(7, [[0, 1], [1, 2], [3, 4], [4, 5]], [1.0, 0.0, 2.0, 0.25])
    cpu = geodesics(G, dtype=np.float32)
    with config_context(device="cuda"):
        np.testing.assert_array_equal(geodesics(G, dtype=np.float32), cpu)


def test_the_same_graph_of_both_directions(on_device):
    X = np.round(_roll(120, 8), 0)  # repeated points: edges of length zero
    cpu = find_neighbors(X, 6).union()
    with config_context(device="cuda"):
        found = find_neighbors(X, 6)
    twin = found.union()
    assert holding(found.indices) is on_device
    for name in ("indptr", "indices", "lengths"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(cpu, name))


METHODS = {
    "Isomap": dict(n_neighbors=9, shift=0.2),
    "KernelIsomap": dict(n_neighbors=9),
    "LTSA": dict(n_neighbors=9),
    "HessianLLE": dict(n_neighbors=10),
    "LLE": dict(n_neighbors=9),
    "ModifiedLLE": dict(n_neighbors=10),
    "LaplacianEigenmaps": dict(n_neighbors=9),
    "DiffusionMaps": dict(),
    "ClassicalMDS": dict(),
}


@pytest.mark.filterwarnings("ignore:coordinate 1 of HessianLLE tells 3 points")  # and rightly: few neighbours
@pytest.mark.parametrize("name", METHODS)
def test_methods_agree_and_their_residual_is_as_small(on_device, monkeypatch, name):
    monkeypatch.setattr(spectral_on_device, "SMALL", 100)
    X = _roll(160, 5)
    model = getattr(lowfold, name)(2, **METHODS[name])
    cpu = model.fit_transform(X)
    new = X[:7] + 0.01
    placed = model.transform(new)
    with config_context(device="cuda"):
        twin = model.fit_transform(X)
        placed_twin = model.transform(new)
    assert type(model.embedding_) is np.ndarray
    assert model.solver_ in ("krylov", "shift_invert")
    assert model.residual_ <= 1e-6
    assert np.sin(subspace_angles(cpu - cpu.mean(0), twin - twin.mean(0)).max()) < 1e-5
    np.testing.assert_allclose(placed_twin, placed, atol=1e-5 * np.abs(cpu).max())


def test_the_same_bound_of_the_additive_constant(on_device):
    X = _roll(160, 6)
    D = geodesics(find_neighbors(X, 9).union(), dtype=np.float64)
    assert shift_bound(matrix_on(on_device, D)) == pytest.approx(shift_bound(D), rel=1e-6)


def test_a_residual_that_rounding_spoilt_is_made_smaller(on_device, monkeypatch):
    """The bottom of LLE's kernel is 1e-6 of its norm; what is left there of the far end, one correction takes out."""
    monkeypatch.setattr(spectral_on_device, "SMALL", 100)
    n = 160
    K, null = lowfold.LLE(2, n_neighbors=10).fit(_roll(n, 2)).kernel(), np.full((n, 1), n**-0.5)
    right = smallest(K, 2, null=null, run=Run(device="cuda"))
    qr, noise = np.linalg.qr, on_device.put(1e-9 * np.random.default_rng(0).normal(size=(n, 3)))
    monkeypatch.setattr(np.linalg, "qr", lambda V: (qr(V)[0] + noise, None))
    spoilt = smallest(K, 2, null=null, run=Run(device="cuda"))
    assert right.solver == spoilt.solver == "shift_invert"
    assert spoilt.residual < 1e-8
    np.testing.assert_allclose(spoilt.values, right.values, rtol=1e-9)


def test_a_factor_that_would_be_too_large_gives_way_to_products(on_device, monkeypatch):
    monkeypatch.setattr(spectral_on_device, "SMALL", 100)
    monkeypatch.setattr(spectral_on_device, "MOST_WORK", 0.0)
    X = np.random.default_rng(1).normal(size=(150, 6))
    model = lowfold.LaplacianEigenmaps(2, n_neighbors=20)
    cpu = model.fit_transform(X)
    with config_context(device="cuda"):
        twin = model.fit_transform(X)
    assert model.solver_ == "krylov"
    assert model.residual_ < 1e-5
    np.testing.assert_allclose(twin, cpu, atol=1e-5)


def test_repulsion_of_a_layout(on_device):
    from lowfold.optimize._neighbor import _student

    for columns in (1, 2, 3):
        Y = np.random.default_rng(columns).normal(size=(300, columns))
        push, mass = _student(Y, 1, "cpu")
        twin, twin_mass = _student(Y, 1, "cuda")
        np.testing.assert_allclose(twin, push, atol=1e-12)
        assert twin_mass == pytest.approx(mass, rel=1e-12)


def test_sums_of_stress_and_the_map_they_lead_to(on_device):
    from lowfold.optimize._stress import Held, PairTerms

    X = _roll(120, 9)
    for dtype in (np.float32, np.float64):
        D = np.linalg.norm(X[:, None] - X[None], axis=2).astype(dtype)
        Y = np.random.default_rng(0).normal(size=(120, 2))
        Y[3] = Y[4]
        cpu, twin = PairTerms(Held(D)).sums(Y), PairTerms(Held(D), device="cuda").sums(Y)
        rtol = 1e-4 if dtype == np.float32 else 1e-11
        for name in ("BY", "rho", "eta", "stress"):
            np.testing.assert_allclose(getattr(twin, name), getattr(cpu, name), rtol=rtol)
    model = lowfold.MetricMDS(2, tol=1e-9)
    expected = model.fit(X).stress_
    with config_context(device="cuda"):
        assert model.fit(X).stress_ == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("max_points", [None, 40])
def test_the_same_ranks_and_measures(on_device, max_points):
    X = _roll(90, 10)
    Y = X[:, :2] + np.random.default_rng(1).normal(size=(90, 2))
    cpu = lowfold.quality.summary(X, Y, n_neighbors=7, max_points=max_points)
    with config_context(device="cuda"):
        twin = lowfold.quality.summary(X, Y, n_neighbors=7, max_points=max_points)
    assert twin.to_dict() == pytest.approx(cpu.to_dict(), rel=1e-9)
    np.testing.assert_allclose(twin.curve.q_nx, cpu.curve.q_nx, rtol=1e-15)
    np.testing.assert_allclose(twin.curve.points, cpu.curve.points, atol=1e-12)
