"""Maximum variance unfolding: the program solved with a proof, against a general conic solver."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from data import Data, swiss_roll
from harness import THREADS, Case, Side, Target
from quality import affine_r2

K = 6
SCS_SECONDS = 60.0  # at 200 points; less in proportion to their square

CASES = (
    Case(
        name="mvu-eq-200",
        group="mvu-eq",
        n=200,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_equalities"), Side("cvxpy-scs", "scs_equalities")),
        check="certificate",
        target=Target(speedup=50, over=("cvxpy-scs",), at_most={"gap": 1e-4, "violation": 1e-4}),
        warm=30,
        quick=80,
        repeat=1,
        timeout=400.0,
        note="a patch of the roll; SCS has 60 s; a gap of 1: no bound",
    ),
    Case(
        name="mvu-1k",
        group="mvu",
        n=1_000,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_mvu"),),
        check="proof",
        target=Target(at_most={"gap": 1e-3}, at_least={"affine_r2": 0.995}),
        warm=100,
        quick=150,
        repeat=1,
    ),
    Case(
        name="mvu-5k",
        group="mvu",
        n=5_000,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_mvu"),),
        check="proof",
        target=Target(at_most={"violation": 0.01}, at_least={"affine_r2": 0.995}),
        warm=100,
        quick=150,
        repeat=1,
        note="the factorised route: the gap is reported, not driven down",
    ),
)


def patch(data: Data) -> np.ndarray[Any, np.dtype[np.float64]]:
    """As many points as the data have, from the middle of a sheet ten times as dense."""
    n = len(data.X)
    whole = swiss_roll(10 * n, {})
    assert whole.truth is not None
    far = np.sum((whole.truth - np.median(whole.truth, axis=0)) ** 2, axis=1)
    return np.asarray(whole.X[np.argsort(far)[:n]], dtype=np.float64)


def lowfold_equalities(data: Data) -> Callable[[], Any]:
    import lowfold

    X = patch(data)
    model = lowfold.MVU(2, n_neighbors=K, constraints="eq", tol=1e-4, n_jobs=THREADS)
    return lambda: model.fit(X)


def lowfold_mvu(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.MVU(2, n_neighbors=K, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def scs_equalities(data: Data) -> Callable[[], Any]:
    import cvxpy as cp
    from scipy.spatial import cKDTree

    X, n = patch(data), len(data.X)
    near = cKDTree(X).query(X, K + 1)[1]
    a, b = np.triu_indices(K + 1, 1)
    pairs = np.unique(np.sort(np.column_stack([near[:, a].ravel(), near[:, b].ravel()]), axis=1), axis=0)
    i, j = pairs.T
    s = np.sum((X[i] - X[j]) ** 2, axis=1)
    unit = s.mean()

    def call() -> Any:
        G = cp.Variable((n, n), PSD=True)
        d = cp.diag(G)
        program = cp.Problem(cp.Maximize(cp.trace(G)), [cp.sum(G) == 0, d[i] + d[j] - 2 * G[i, j] == s / unit])
        program.solve(solver="SCS", eps=1e-4, max_iters=1_000_000, time_limit_secs=SCS_SECONDS * (n / 200) ** 2)
        off = G.value[i, i] + G.value[j, j] - 2 * G.value[i, j] - s / unit
        w = program.constraints[1].dual_value
        gap = min(_proven_gap(pairs, sign * w, s / unit, program.value) for sign in (1, -1))
        return SimpleNamespace(duality_gap_=gap, constraint_violation_=float(np.sqrt(np.mean(off**2))))

    return call


def _proven_gap(pairs: Any, w: Any, s: Any, value: float) -> float:
    """(bound - value) / bound by weak duality: weights over the lowest eigenvalue of their Laplacian; 1: no bound."""
    L = np.zeros((pairs.max() + 1,) * 2)
    np.add.at(L, (pairs[:, 0], pairs[:, 1]), -w)
    L += L.T
    L -= np.diag(L.sum(axis=1))
    lowest = float(np.linalg.eigvalsh(L + np.trace(L) / len(L) ** 2)[0])
    return abs(1.0 - value * lowest / float(w @ s)) if lowest > 0 else 1.0


def certificate(data: Data, model: Any) -> dict[str, float]:
    """What the answer is worth by its own proof."""
    return {"gap": abs(float(model.duality_gap_)), "violation": float(model.constraint_violation_)}


def proof(data: Data, model: Any) -> dict[str, float]:
    """The same, and how near the answer is to the truth."""
    assert data.truth is not None
    return {**certificate(data, model), "affine_r2": affine_r2(np.asarray(model.embedding_), data.truth)}
