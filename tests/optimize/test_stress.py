"""Stress, its majorisation and its gradient, against sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowfold.optimize import descend, triangulate
from lowfold.optimize._laplacian_solve import conjugate_gradients
from lowfold.optimize._rows import place_rows
from lowfold.optimize._smacof import majorise
from lowfold.optimize._stress import Computed, EdgeTerms, Held, PairTerms


@pytest.fixture(autouse=True, params=[0, 1000], ids=["loops", "numpy"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points up to which NumPy makes the sums: loops and NumPy have to pass the same tests."""
    monkeypatch.setattr("lowfold.optimize._stress.FEW", request.param)


def problem(seed: int, n: int = 30, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    D = cdist(*[rng.normal(size=(n, 5))] * 2)
    return (D + D.T) / 2, rng.normal(size=(n, d))


def minkowski(Y: np.ndarray, p: float) -> np.ndarray:
    return (np.abs(Y[:, None] - Y[None]) ** p).sum(axis=-1) ** (1 / p)


def written_out(D: np.ndarray, W: np.ndarray, Y: np.ndarray, p: float = 2.0) -> float:
    upper = np.triu_indices(len(D), 1)
    delta, w = D[upper], W[upper]
    known = np.isfinite(delta) & (w > 0)
    return float((w[known] * (delta[known] - minkowski(Y, p)[upper][known]) ** 2).sum())


def variants(D: np.ndarray, seed: int) -> dict[str, tuple[object, np.ndarray, np.ndarray]]:
    """Name -> (terms, the weights they stand for, the dissimilarities with gaps)."""
    rng = np.random.default_rng(seed)
    n = len(D)
    W = rng.random((n, n))
    W = W + W.T
    np.fill_diagonal(W, 0)
    gaps = D.copy()
    hole = np.triu(rng.random((n, n)) < 0.3, 1)
    gaps[hole | hole.T] = np.nan
    ones = np.ones_like(D)
    i, j = np.nonzero(np.triu(np.isfinite(gaps), 1))
    edges = (n, i.astype(np.int32), j.astype(np.int32), gaps[i, j])
    small = float(D[D > 0].min())
    with np.errstate(divide="ignore"):
        inverse = np.where(D > 0, 1 / np.where(D > 0, D, 1), 0)
    return {
        "unit": (PairTerms(Held(D)), ones, D),
        "computed": (PairTerms(Computed(n, lambda part: D[:, part], np.float64)), ones, D),
        "given": (PairTerms(Held(D), "given", W), W, D),
        "given computed": (PairTerms(Computed(n, lambda part: D[:, part], np.float64), "given", W), W, D),
        "sammon": (PairTerms(Held(D), "sammon", small=small), inverse, D),
        "gaps": (PairTerms(Held(gaps), complete=False), ones, gaps),
        "edges": (EdgeTerms(*edges), ones, gaps),
        "weighted edges": (EdgeTerms(*edges, W[i, j]), W, gaps),
    }


NAMES = ("unit", "computed", "given", "given computed", "sammon", "gaps", "edges", "weighted edges")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_sums_are_those_written_out(name: str, seed: int) -> None:
    D, Y = problem(seed)
    terms, W, gaps = variants(D, seed)[name]
    sums = terms.sums(Y)
    assert sums.raw == pytest.approx(written_out(gaps, W, Y), rel=1e-12)
    w = np.where(np.isfinite(gaps), W, 0) * (1 - np.eye(len(D)))
    delta, d = np.nan_to_num(gaps), minkowski(Y, 2)
    assert np.allclose(sums.rho, (w * delta * d).sum(axis=1))
    assert np.allclose(sums.eta, (w * d**2).sum(axis=1))
    assert terms.total == pytest.approx((w * delta**2).sum() / 2)
    ratio = np.where(d > 0, w * delta / np.where(d > 0, d, 1), 0)
    B = np.diag(ratio.sum(axis=1)) - ratio
    assert np.allclose(sums.BY, B @ Y)
    V = np.diag(w.sum(axis=1)) - w
    G = np.random.default_rng(5).normal(size=Y.shape)
    G -= G.mean(axis=0)
    assert np.allclose(terms.solve(G), np.linalg.pinv(V) @ G, atol=1e-9)
    assert sums.scaled_raw == pytest.approx(terms.sums(Y * sums.scale).raw, rel=1e-10)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_gradient_against_differences(name: str, p: float) -> None:
    D, Y = problem(3, n=12)
    terms, W, gaps = variants(D, 3)[name]
    slopes = terms.slopes(Y, p)
    assert slopes.raw == pytest.approx(written_out(gaps, W, Y, p), rel=1e-10)
    h = 1e-6
    numeric = np.empty_like(Y)
    for index in np.ndindex(*Y.shape):
        E = np.zeros_like(Y)
        E[index] = h
        numeric[index] = (written_out(gaps, W, Y + E, p) - written_out(gaps, W, Y - E, p)) / (2 * h)
    assert np.abs(slopes.gradient - numeric).max() < 1e-6 * np.abs(numeric).max()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_stress_never_rises(name: str, seed: int) -> None:
    D, Y = problem(seed)
    terms, W, gaps = variants(D, seed)[name]
    found = majorise(terms, Y, max_iter=60, tol=1e-12)
    assert (np.diff(found.history) <= 1e-9 * found.history[0]).all()
    assert found.value == pytest.approx(written_out(gaps, W, found.Y), rel=1e-8)
    assert found.value < found.history[0]


@pytest.mark.parametrize("name", ["unit", "given", "gaps", "weighted edges"])
def test_the_end_is_stationary(name: str) -> None:
    D, Y = problem(0)
    terms, _, _ = variants(D, 0)[name]
    found = majorise(terms, Y, max_iter=5000, tol=1e-15)
    slope = terms.slopes(found.Y, 2.0).gradient
    assert np.abs(slope).max() < 1e-3 * np.abs(terms.slopes(Y, 2.0).gradient).max()


def test_relaxed_steps_reach_what_plain_steps_reach() -> None:
    D, Y = problem(1)
    terms = PairTerms(Held(D))
    plain = Y - Y.mean(axis=0)
    for _ in range(4000):
        plain = terms.solve(terms.sums(plain).BY)
    assert majorise(terms, Y, max_iter=4000, tol=1e-14).value == pytest.approx(terms.sums(plain).raw, rel=1e-6)


def test_gradient_descent_never_rises_and_ends_where_majorisation_does() -> None:
    D, Y = problem(2)
    terms = PairTerms(Held(D))

    def function(Z: np.ndarray) -> tuple[float, np.ndarray]:
        slopes = terms.slopes(Z, 2.0)
        return slopes.raw, slopes.gradient

    first = majorise(terms, Y, max_iter=2000, tol=1e-14).Y
    found = descend(function, first + 0.05 * Y, max_iter=2000, tol=1e-12, size=terms.total)
    assert (np.diff(found.history) <= 0).all()
    assert found.value == pytest.approx(terms.sums(first).raw, rel=1e-4)


def test_float32_dissimilarities_cost_their_rounding_only() -> None:
    D, Y = problem(0, n=60)
    exact = majorise(PairTerms(Held(D)), Y, tol=1e-9)
    rounded = majorise(PairTerms(Held(D.astype(np.float32))), Y, tol=1e-9)
    assert rounded.value == pytest.approx(exact.value, rel=1e-4)


def test_conjugate_gradients_solve_a_laplacian() -> None:
    rng = np.random.default_rng(0)
    W = rng.random((40, 40)) ** 4
    W = (W + W.T) * (1 - np.eye(40))
    V = np.diag(W.sum(axis=1)) - W
    G = rng.normal(size=(40, 3))
    G -= G.mean(axis=0)
    assert np.allclose(conjugate_gradients(lambda Z: V @ Z, np.diag(V), G), np.linalg.pinv(V) @ G, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_triangulation_is_exact_for_exact_distances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y, new = rng.normal(size=(20, 3)) + 5, rng.normal(size=(4, 3))
    assert np.allclose(triangulate(cdist(new, Y) ** 2, Y), new)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("weights", ["unit", "sammon"])
def test_new_rows_are_where_no_nearby_place_is_better(p: float, weights: str) -> None:
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(25, 2))
    delta = cdist(rng.normal(size=(25, 4)), rng.normal(size=(6, 4)))
    delta[3, 2] = np.nan
    placed, value = place_rows(delta, Y, rng.normal(size=(6, 2)), weights=weights, p=p)

    def stress(y: np.ndarray, q: int) -> float:
        known = np.isfinite(delta[:, q])
        d = (np.abs(Y[known] - y) ** p).sum(axis=1) ** (1 / p)
        w = 1 / delta[known, q] if weights == "sammon" else 1.0
        return float((w * (delta[known, q] - d) ** 2).sum())

    for q in range(6):
        here = stress(placed[q], q)
        assert value[q] == pytest.approx(here, rel=1e-6)
        nearby = min(stress(placed[q] + 1e-3 * rng.normal(size=2), q) for _ in range(20))
        # city-block stress has kinks, along which a step against the gradient may not lead down
        assert here <= nearby + (1e-2 * here if p == 1 else 1e-9)
