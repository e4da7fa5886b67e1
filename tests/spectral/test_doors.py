"""The doors: algebraic ends, mass, known vectors, what the residual is worth, words where nothing can be done."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from lowfold._core.config import config_context
from lowfold._core.errors import AccuracyWarning, InvalidInput, MemoryBudgetExceeded, SolverFailed
from lowfold._core.operators import CentredGram, DenseOperator, SparseOperator
from lowfold._core.run import Run
from lowfold.datasets._graphs import grid_graph, path_graph, ring_graph
from lowfold.graph import Graph, Weights, laplacian
from lowfold.spectral import largest, select_solver, smallest
from lowfold.spectral._doors import top_singular
from lowfold.spectral._types import Eigenpairs, fix_signs


def angle(A: np.ndarray, B: np.ndarray) -> float:
    """Sine of the largest angle between two subspaces, accurate when tiny."""
    Q, P = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


def symmetric(n: int, seed: int) -> np.ndarray:
    """Indefinite, the most negative values larger in size than the positive ones."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T - 0.3 * np.sqrt(n) * np.eye(n)


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "krylov"])
@pytest.mark.parametrize("n", [1, 2, 6, 80, 450])
def test_the_largest_are_the_algebraically_largest(n: int, solver: str) -> None:
    A = symmetric(n, n)
    k = min(3, n)
    if solver == "lanczos" and n <= k:
        pytest.skip("Lanczos finds fewer than all pairs")
    truth = np.linalg.eigvalsh(A)[::-1]
    for op in (DenseOperator(A), SparseOperator(sp.csr_array(A))):
        pairs = largest(op, k, run=Run(solver=solver, tol=1e-8))
        np.testing.assert_allclose(pairs.values, truth[:k], atol=1e-8)
        np.testing.assert_allclose(A @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-4)


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos"])
@pytest.mark.parametrize("n", [6, 80, 450])
def test_the_smallest_are_the_algebraically_smallest(n: int, solver: str) -> None:
    A = symmetric(n, n + 1)
    k = min(2, n - 1)
    op = SparseOperator(sp.csr_array(A))
    pairs = smallest(op, k, run=Run(solver=solver, tol=1e-8))
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(A)[:k], atol=1e-8)


@pytest.mark.parametrize("solver", ["shift_invert", "davidson", "amg"])
def test_solvers_for_psd_operators_refuse_others(solver: str) -> None:
    if solver == "amg":
        pytest.importorskip("pyamg")
    A = sp.csr_array(np.diag([-3.0, -1, 1, 2, 5, 7, 8, *range(9, 150)]))
    with pytest.raises(SolverFailed, match="psd"):
        smallest(SparseOperator(A), 2, run=Run(solver=solver))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [30, 500])
def test_mass_against_the_generalised_dense_problem(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    B = sp.random_array((n, n), density=6 / n, rng=rng)
    A = sp.csr_array(B @ B.T + sp.diags_array(rng.random(n)))
    mass = rng.random(n) + 0.2
    truth, vectors = scipy.linalg.eigh(A.toarray(), np.diag(mass))
    bottom = smallest(SparseOperator(A, psd=True), 3, mass=mass, run=Run(tol=1e-8))
    np.testing.assert_allclose(bottom.values, truth[:3], rtol=1e-6)
    np.testing.assert_allclose(bottom.vectors.T @ (mass[:, None] * bottom.vectors), np.eye(3), atol=1e-8)
    assert angle(bottom.vectors, vectors[:, :3]) < 1e-5
    for op in (SparseOperator(A, psd=True), DenseOperator(A.toarray(), psd=True)):
        np.testing.assert_allclose(largest(op, 2, mass=mass, run=Run(tol=1e-8)).values, truth[::-1][:2], rtol=1e-8)
    known = vectors[:, :2]  # M-orthogonal complement of two known vectors
    rest = smallest(SparseOperator(A, psd=True), 2, mass=mass, null=known, run=Run(tol=1e-8))
    np.testing.assert_allclose(rest.values, truth[2:4], rtol=1e-6)
    np.testing.assert_allclose(known.T @ (mass[:, None] * rest.vectors), 0.0, atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_known_vectors_do_not_mix_with_the_far_end(n: int) -> None:
    example = path_graph(n)
    op = laplacian(Weights.unit(Graph.from_edges(n, example.edges)))
    null = np.ones((n, 1))
    every = smallest(op, n - 1, null=null)
    np.testing.assert_allclose(every.values, example.laplacian_eigenvalues()[1:], atol=1e-12)
    np.testing.assert_allclose(null.T @ every.vectors, 0.0, atol=1e-12)
    assert every.gap == np.inf
    minus = largest(SparseOperator(sp.csr_array(-op.matrix)), n - 1, null=null)
    np.testing.assert_allclose(minus.values, -example.laplacian_eigenvalues()[1:], atol=1e-12)
    np.testing.assert_allclose(null.T @ minus.vectors, 0.0, atol=1e-12)


def tiny_kernel(n: int, seed: int) -> sp.csr_array:
    """A sparse psd matrix with a constant null vector and wanted eigenvalues of about 1e-9 to 1e-7 of its norm.

    Second differences, squared, on a curve: the shape of the alignment kernels, nearly annihilating smooth functions.
    """
    rng = np.random.default_rng(seed)
    second = sp.diags_array([np.ones(n - 2), -2 * np.ones(n - 2), np.ones(n - 2)], offsets=[0, 1, 2], shape=(n - 2, n))
    return sp.csr_array(second.T @ sp.diags_array(1 + 0.2 * rng.random(n - 2)) @ second)


@pytest.mark.parametrize("solver", ["dense", "shift_invert"])
@pytest.mark.parametrize("n", [120, 600])
def test_tiny_eigenvalues_of_an_alignment_kernel(n: int, solver: str) -> None:
    A = tiny_kernel(n, n)
    t = np.linspace(-1, 1, n)
    null = np.column_stack([np.ones(n), t])
    # the truth by the factor: singular values do not square the condition
    rng = np.random.default_rng(n)
    second = sp.diags_array([np.ones(n - 2), -2 * np.ones(n - 2), np.ones(n - 2)], offsets=[0, 1, 2], shape=(n - 2, n))
    S = (sp.diags_array(np.sqrt(1 + 0.2 * rng.random(n - 2))) @ second).toarray()
    s, V = np.linalg.svd(S)[1:]
    truth = V[n - 5 : n - 2]
    pairs = smallest(SparseOperator(A, psd=True), 3, null=null, run=Run(solver=solver))
    np.testing.assert_allclose(pairs.values, s[::-1][:3] ** 2, rtol=2e-3)
    assert angle(pairs.vectors, truth.T) <= max(2 * pairs.residual, 1e-9)
    assert pairs.residual < 1e-3
    np.testing.assert_allclose(null.T @ pairs.vectors, 0.0, atol=1e-7)


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.AccuracyWarning")  # loose tolerances are the point here
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("seed", range(3))
def test_the_residual_bounds_the_angle(tol: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 120
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.sort(np.concatenate([rng.random(n - 4), 1.2 + rng.random(4)]))[::-1]
    A = DenseOperator((Q * values) @ Q.T)
    for solver in ("krylov", "lanczos", "randomized"):
        pairs = largest(A, 4, run=Run(solver=solver, tol=tol))
        assert angle(pairs.vectors, Q[:, :4]) <= 2 * pairs.residual + 1e-13
        assert abs(pairs.gap - (values[3] - values[4])) <= 0.1 * (values[3] - values[4])
    B = sp.random_array((n, n), density=0.04, rng=rng)
    op = SparseOperator(sp.csr_array(B @ B.T + sp.diags_array(0.01 + np.arange(n) / n)), psd=True)  # simple values
    truth = np.linalg.eigh(op.dense())[1][:, :3]
    for solver in ("shift_invert", "davidson", "lanczos"):
        found = smallest(op, 3, run=Run(solver=solver, tol=tol))
        assert angle(found.vectors, truth) <= 2 * found.residual + 1e-10


def test_a_coinciding_neighbour_is_said() -> None:
    ring = ring_graph(50)
    op = laplacian(Weights.unit(Graph.from_edges(50, ring.edges)))
    with pytest.warns(AccuracyWarning, match="eigenvalues 1 and 2 coincide"):
        pairs = smallest(op, 1, null=np.ones((50, 1)))
    assert pairs.gap == 0.0
    quiet = smallest(op, 1, null=np.ones((50, 1)), negligible=1.0)
    assert quiet.gap == 0.0
    assert smallest(op, 2, null=np.ones((50, 1))).gap > 0


def test_a_poor_answer_warns_with_its_number() -> None:
    values = 1.0 / np.arange(1, 601) ** 0.02
    with pytest.warns(AccuracyWarning, match="solver randomized has not found .*gap-relative residual"):
        pairs = largest(DenseOperator(np.diag(values)), 3, run=Run(solver="randomized"))
    assert pairs.residual > 1e-3


def test_signs() -> None:
    V = np.array([[0.5, -1.0, 0.0], [-0.5 - 1e-9, 0.2, -3.0], [0.1, 0.3, 1.0]])
    fixed = fix_signs(V)
    assert (fixed[[0, 0, 1], [0, 1, 2]] > 0).all()
    np.testing.assert_array_equal(fix_signs(-V), fixed)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(V))
    assert fix_signs(np.empty((3, 0))).shape == (3, 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: smallest(DenseOperator(np.eye(3)), 3, null=np.ones((3, 1))), "at most 2"),
        (lambda: smallest(DenseOperator(np.eye(3)), 0), "0 eigenvectors"),
        (lambda: largest(DenseOperator(np.eye(3)), 4), "at most 3"),
        (lambda: largest(DenseOperator(np.eye(3)), 1, mass=np.array([1.0, 0.0, 1.0])), "mass must be positive"),
        (lambda: largest(DenseOperator(np.eye(3)), 1, mass=np.array([1.0, np.nan, 1.0])), "mass must be positive"),
        (lambda: largest(CentredGram(np.zeros((3, 3))), 1, mass=np.ones(3)), "no mass"),
        (lambda: largest(DenseOperator(np.eye(3)), 1, run=Run(solver="magic")), "solver must be"),
    ],
)
def test_impossible_questions_get_words(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match=words):
        call()


@pytest.mark.parametrize(
    ("solver", "end"),
    [
        ("randomized", smallest),
        ("shift_invert", largest),
        ("davidson", largest),
    ],
)
def test_solvers_refuse_what_they_cannot_honour(solver: str, end) -> None:  # type: ignore[no-untyped-def]
    op = SparseOperator(sp.csr_array(np.diag(np.arange(1.0, 9))), psd=True)
    with pytest.raises(SolverFailed, match=solver):
        end(op, 2, run=Run(solver=solver))
    with pytest.raises(SolverFailed, match="lanczos"):
        smallest(op, 8, run=Run(solver="lanczos"))


def test_a_dense_solve_asks_the_budget_first() -> None:
    op = SparseOperator(sp.eye_array(2000, format="csr"), psd=True)
    with config_context(memory="10MB"), pytest.raises(MemoryBudgetExceeded, match="dense eigenproblem of 2000"):
        smallest(op, 2, run=Run(solver="dense"))


def test_auto_can_be_asked() -> None:
    grid = grid_graph(30, 30)
    op = laplacian(Weights.unit(Graph.from_edges(900, grid.edges)))
    ones = np.ones((900, 1))
    names = select_solver(op, 2, null=ones)
    pairs = smallest(op, 2, null=ones, negligible=1.0)
    assert pairs.solver in names[:3]
    assert select_solver(DenseOperator(np.eye(20)), 2) == ["dense"]
    assert select_solver(DenseOperator(np.zeros((900, 900))), 2, end="largest")[0] == "krylov"
    markov = SparseOperator(sp.csr_array(op.matrix * 0 + sp.eye_array(900)), bound=1.0)
    assert select_solver(markov, 2, end="largest")[0] == "shift_invert"


def test_results_repeat_and_do_not_depend_on_threads() -> None:
    A = symmetric(450, 1)

    def run(n_jobs: int) -> Eigenpairs:
        return largest(DenseOperator(A, n_jobs=n_jobs), 3, run=Run(solver="krylov", n_jobs=n_jobs))

    np.testing.assert_allclose(run(1).vectors, run(2).vectors, atol=1e-12)
    np.testing.assert_array_equal(run(1).vectors, run(1).vectors)


@pytest.mark.parametrize("shape", [(60, 8), (8, 60), (20, 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_top_singular_against_numpy(shape: tuple[int, int], dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    U, s, V, pairs = top_singular(X, 4)
    u, sigma, vt = np.linalg.svd(X.astype(float), full_matrices=False)
    np.testing.assert_allclose(s, sigma[:4], rtol=1e-10)
    np.testing.assert_allclose(pairs.values, sigma[:4] ** 2, rtol=1e-10)
    np.testing.assert_allclose((U * s) @ V.T, (u[:, :4] * sigma[:4]) @ vt[:4], atol=1e-8)
    for Q in (U, V):
        np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("end", [smallest, largest])
def test_krylov_finds_every_copy_of_a_multiple_eigenvalue(end) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(500, 500)))[0]
    values = np.sort(np.concatenate([[-3.0] * 4, [5.0] * 4, rng.uniform(-1, 1, 492)]))
    op = DenseOperator((Q * values) @ Q.T)
    pairs = end(op, 4, run=Run(solver="krylov"))
    assert np.allclose(pairs.values, -3.0 if end is smallest else 5.0, atol=1e-8)
    assert end(op, 4).solver == "krylov"
