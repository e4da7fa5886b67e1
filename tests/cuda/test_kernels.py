"""Array-level functions of `_cuda` against SciPy: fronts larger than shared memory, panels, factors, patches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, random_array
from scipy.sparse.csgraph import dijkstra

import lowfold
from lowfold._core.operators import SparseOperator
from lowfold._cuda import _cholesky, _gram, _minplus, _patches, _paths, _sparse, _tree
from lowfold._cuda._device import SOURCES, signatures
from lowfold._cuda._emulated import EmulatedDevice
from lowfold.graph._build import find_neighbors
from lowfold.kernels._lle import gram_weights

FAR = 2**30 - 1


@pytest.fixture(params=[227 * 1024, 70 * 1024])
def small_or_large_blocks(request, device):
    """A device whose blocks hold more or fewer fronts: both ways of eliminating are taken."""
    if not isinstance(device, EmulatedDevice):
        return device
    other = EmulatedDevice(device.folder, options=device.options, shared_bytes=request.param)
    other.launches = device.launches  # what ran there has run
    return other


def _graph(n, seed, k=8):
    G = find_neighbors(lowfold.datasets.swiss_roll(n, random_state=seed).X, k).union()
    return G.indptr, np.array(G.indices), np.rint(G.lengths * 1e4)


def _fronts(device, n, leaf):
    xp = device.xp
    indptr, indices, w = _graph(n, n)
    rows = xp.asarray(indptr), xp.asarray(indices)
    tree = _tree.plan(device, *rows, _tree.graph_coordinates(device, *rows), leaf=leaf)
    fronts = _minplus.eliminate(device, tree, *rows, xp.asarray(w.astype(np.int32)))
    order = device.get(tree.order)
    R = dijkstra(csr_array((w, indices, indptr.astype(np.int32)), shape=(n, n)))[np.ix_(order, order)]
    return fronts, np.where(np.isfinite(R), R, FAR)


@pytest.mark.parametrize(("n", "leaf"), [(260, 20), (330, 150)])
def test_elimination_and_sweep_give_all_distances(small_or_large_blocks, n, leaf):
    device = small_or_large_blocks
    fronts, R = _fronts(device, n, leaf)
    np.testing.assert_array_equal(device.get(_minplus.all_distances(device, fronts))[:, :n], R)


def _unasked(chosen):
    raise AssertionError(chosen)


# narrow tiles, middle ones and wide ones
@pytest.mark.parametrize(("n", "leaf", "top"), [(240, 20, 2), (160, 40, 1), (200, 40, 1), (200, 100, 1)])
def test_panels_are_columns_of_the_matrix(device, n, leaf, top):
    xp, seen = device.xp, []
    fronts, R = _fronts(device, n, leaf)
    panels = _minplus.Panels(device, fronts, top)
    for panel, vertices in panels:
        columns = device.get(vertices)
        np.testing.assert_array_equal(device.get(panel)[:, : len(columns)], R[:, columns])
        seen.append(columns)
    assert sorted(np.concatenate(seen)) == list(range(n))
    V = np.random.default_rng(0).normal(size=(n, 3))
    order = xp.arange(n)
    found = _gram.DevicePanels(device, panels, order, _unasked, 1e-4).times(xp.asarray(V), square=True, shift=0.5)
    S = R * 1e-4 + 0.5
    np.fill_diagonal(S, 0.0)
    np.testing.assert_allclose(device.get(found), S**2 @ V, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_products_with_squares(device, dtype):
    n, xp, rng = 150, device.xp, np.random.default_rng(1)
    D = rng.integers(0, 99, (n, n)).astype(dtype)
    wide = np.zeros((n, _minplus.padded(n)), dtype)
    wide[:, :n] = D
    V = rng.normal(size=(n, 9))
    for square in (True, False):
        found = _gram.times(device, xp.asarray(wide), xp.asarray(V), square=square, scale=0.5)
        expected = (0.5 * D.astype(float)) ** (2 if square else 1) @ V
        np.testing.assert_allclose(device.get(found), expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(("n", "leaf"), [(220, 40), (240, 200)])
def test_factor_solves_and_its_bits_never_vary(device, monkeypatch, n, leaf):
    monkeypatch.setattr(_cholesky, "LEAF", leaf)
    X = lowfold.datasets.swiss_roll(n, random_state=n).X
    K = lowfold.LTSA(2, n_neighbors=9).fit(X).kernel().matrix
    xp = device.xp
    A = _sparse.DeviceSparse(
        device, xp.asarray(K.indptr.astype(np.int64)), xp.asarray(K.indices.astype(np.int32)), xp.asarray(K.data)
    )
    shift = 1e-6 * A.norm()
    tree, off = _cholesky.factor_tree(A)
    factor = _cholesky.factorise(A, off, shift, tree)
    B = np.random.default_rng(0).normal(size=(n, 10))
    found = factor.solve(B)
    np.testing.assert_allclose((K + shift * eye_array(n)) @ found, B, atol=1e-9)
    np.testing.assert_array_equal(factor.solve(B), found)
    np.testing.assert_allclose(A.apply(B), K @ B, atol=1e-13)
    assert A.norm() == pytest.approx(abs(K).sum(axis=1).max())


def test_products_that_cancel_are_right_to_the_last_digit(device):
    xp, rng = device.xp, np.random.default_rng(7)
    A = random_array((60, 60), density=0.4, rng=rng, format="csr")
    A.data -= 0.5
    V = 1.0 + 1e-9 * rng.normal(size=(60, 3))
    A.data[A.indptr[:-1]] -= np.asarray(A.sum(axis=1)).ravel()  # rows that sum to zero, but for rounding
    twin = _sparse.DeviceSparse(
        device, xp.asarray(A.indptr.astype(np.int64)), xp.asarray(A.indices.astype(np.int32)), xp.asarray(A.data)
    )
    exact = [[float(sum(Fraction(a) * Fraction(V[j, c]) for j, a in zip(A[[i]].indices, A[[i]].data, strict=True)))
              for c in range(3)] for i in range(60)]  # fmt: skip
    np.testing.assert_allclose(twin.apply_twice_as_precisely(V), exact, rtol=1e-15)
    assert np.abs(twin.apply(V) / np.array(exact) - 1).max() > 1e-12


def test_relaxation_from_several_sources(device):
    indptr, indices, w = _graph(140, 2)
    xp = device.xp
    sources = np.arange(0, 140, 3)  # more than 32: two batches
    rows = _paths.rows_from(device, xp.asarray(indptr), xp.asarray(indices), xp.asarray(w), sources)
    R = dijkstra(csr_array((w, indices, indptr.astype(np.int32)), shape=(140, 140)), indices=sources)
    np.testing.assert_array_equal(device.get(rows), R)


@pytest.mark.parametrize(("K", "columns"), [(9, 3), (20, 5), (12, 30)])
def test_tangents_span_the_leading_directions(device, K, columns):
    rng, xp, d = np.random.default_rng(K), device.xp, 2
    X = rng.normal(size=(60, columns)) * np.r_[3.0, 2.0, np.full(columns - 2, 0.5)] + 100.0
    members = np.argsort(rng.random((25, 60)), axis=1)[:, :K].astype(np.int32)
    V, rest = _patches.tangents(device, xp.asarray(X), xp.asarray(members), d, 1e-7)
    for i, rows in enumerate(members):
        U, s, _ = np.linalg.svd(X[rows] - X[rows].mean(axis=0), full_matrices=False)
        np.testing.assert_allclose(device.get(V)[i] @ device.get(V)[i].T, U[:, :d] @ U[:, :d].T, atol=1e-9)
        assert float(rest[i]) == pytest.approx(s[d:].sum(), rel=1e-6)


@pytest.mark.parametrize(("K", "columns"), [(9, 3), (17, 4), (26, 30)])
def test_weights_reconstruct_the_first_member(device, K, columns):
    rng, xp = np.random.default_rng(K), device.xp
    X = rng.normal(size=(60, columns)) + 10.0
    X[3] = X[4]
    members = np.argsort(rng.random((25, 60)), axis=1)[:, :K].astype(np.int32)
    members[0, :2] = 3, 4  # a point that coincides with a neighbour
    members[0, 2:] = np.arange(10, 8 + K)
    B, error = _patches.weights(device, xp.asarray(X), xp.asarray(members), 1e-3)
    Z = X[members[:, 1:]] - X[members[:, :1]]
    C = Z @ Z.transpose(0, 2, 1)
    w = gram_weights(C, reg=1e-3)
    np.testing.assert_allclose(device.get(B), np.column_stack([np.ones(25), -w]), atol=1e-9)
    np.testing.assert_allclose(device.get(error), np.linalg.norm((w[:, None] @ Z)[:, 0], axis=1), atol=1e-9)


def test_sparse_matrices_are_scaled_and_flipped_as_on_the_host(device):
    xp, rng = device.xp, np.random.default_rng(4)
    A = random_array((70, 70), density=0.1, rng=rng, format="csr")
    A = csr_array(A + A.T)
    A.sort_indices()
    host = SparseOperator(A, bound=3.0)
    twin = _sparse.DeviceSparse(
        device, xp.asarray(A.indptr.astype(np.int64)), xp.asarray(A.indices.astype(np.int32)), xp.asarray(A.data),
        bound=3.0,
    )  # fmt: skip
    s = rng.random(70) + 0.5
    np.testing.assert_array_equal(twin.diagonal(), A.diagonal())
    np.testing.assert_allclose(twin.scaled(s).matrix.toarray(), host.scaled(s).matrix.toarray(), rtol=1e-15)
    flipped = twin.flipped()
    np.testing.assert_array_equal(flipped.matrix.toarray(), host.flipped().matrix.toarray())
    assert flipped.matrix.has_sorted_indices
    assert flipped.psd
    assert flipped.laplacian == host.flipped().laplacian


def test_every_kernel_has_a_launch_somewhere():
    """A kernel that no function launches is dead code."""
    package = SOURCES.parent
    text = "".join(path.read_text() for path in package.glob("*.py"))
    for source in (path.stem for path in SOURCES.glob("*.cu")):
        for kernel in signatures(source):
            stem = kernel.rstrip("0123456789").removesuffix("_f")
            assert f'"{kernel}"' in text or f'f"{stem}' in text or f'"{stem}"' in text, kernel
