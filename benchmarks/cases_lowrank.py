"""Approximate solvers against the exact one, updates of a ULV, and landmark versions against all points.

Deviations are those of `lowfold.lowrank.deviation` from the exact solver's axes; R^2 is that of the affine map from the
embedding to the true coordinates, overlap that of the ten nearest neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

GiB = 2.0**30
SOLVERS = ("auto", "randomized", "gat", "irat", "prat")
SURFACE = {
    "LTSA": dict(n_neighbors=12),
    "HessianLLE": dict(n_neighbors=14),
    "LLE": dict(n_neighbors=12),
    "LaplacianEigenmaps": dict(n_neighbors=12),
    "DiffusionMaps": dict(n_neighbors=12),
    "Isomap": dict(n_neighbors=12),
    "KernelPCA": dict(gamma=0.02),
}


def _solver_case(n: int) -> Case:
    sides = tuple(Side(f"lowfold-{solver}", f"mds_{solver}") for solver in SOLVERS)
    large = n > 20_000
    return Case(
        name=f"solvers-{n // 1000}k",
        group="solvers",
        n=n,
        data="swiss_roll",
        sides=sides,
        check="axes",
        warm=2_500,
        repeat=1 if large else 3,
        timeout=600.0,
        note="classical MDS of points by its kernel: the stage that the solver is; the first side is exact",
        large=large,
    )


def _landmark_case(method: str) -> Case:
    return Case(
        name=f"landmarks-{method.lower()}-100k",
        group="landmarks",
        n=100_000,
        data="swiss_roll",
        sides=(
            Side("lowfold-landmarks", f"few_{method}"),
            Side("lowfold-all", f"all_{method}", skip=_TOO_LARGE.get(method, "")),
        ),
        check="surface",
        warm=2_500,
        quick=2_500,
        repeat=1,
        timeout=900.0,
        note="2,000 landmarks; R^2 or overlap within 2% of all points'",
        large=True,
    )


_TOO_LARGE = {
    "Isomap": "100,000 x 100,000 geodesics",
    "KernelPCA": "a kernel of 10^10 pairs in each pass",
}

CASES = (
    Case(
        name="nmf-4k",
        group="nmf",
        n=4_000,
        data="parts",
        sides=(Side("lowfold", "lowfold_nmf"), Side("sklearn", "sklearn_nmf")),
        check="nmf_error",
        options={"columns": 300, "parts": 12},
        target=Target(speedup=1),
        note="both as they come, from the same start; lowfold's coordinates are exact minima",
    ),
    _solver_case(10_000),
    _solver_case(50_000),
    *(_landmark_case(method) for method in SURFACE),
    Case(
        name="kernel-pca-landmarks-1m",
        group="landmarks-1m",
        n=1_000_000,
        data="curved_sheet",
        options={"columns": 50},
        sides=(Side("lowfold", "kernel_pca_1m"), Side("sklearn-nystroem", "sklearn_nystroem")),
        check="nothing",
        target=Target(memory=8 * GiB, at_most={"wall": 300.0}),
        warm=3_000,
        quick=3_000,
        repeat=1,
        timeout=900.0,
        note="50 columns, 2,000 landmarks, within 5 minutes and 8 GiB",
        large=True,
    ),
    Case(
        name="ulv-insert-row",
        group="ulv",
        n=4_000,
        data="swiss_roll",
        sides=(Side("lowfold-update", "ulv_update"), Side("lowfold-fresh", "ulv_fresh")),
        check="rank",
        target=Target(speedup=3, over=("lowfold-fresh",)),
        note="one row more under a 4,000 x 300 matrix of numerical rank 8: the update against a fresh factorisation",
    ),
)


def _mds(solver: str) -> Callable[[Data], Callable[[], Any]]:
    def side(data: Data) -> Callable[[], Any]:
        from lowfold import KernelPCA

        return lambda: KernelPCA(2, gamma=0.002, solver=solver, n_jobs=2).fit(data.X)

    return side


mds_auto, mds_randomized, mds_gat, mds_irat, mds_prat = (_mds(solver) for solver in SOLVERS)


def _surface(method: str, landmarks: int | None) -> Callable[[Data], Callable[[], Any]]:
    def side(data: Data) -> Callable[[], Any]:
        import lowfold

        few = None if landmarks is None else min(landmarks, len(data.X) // 2)
        return lambda: getattr(lowfold, method)(2, landmarks=few, n_jobs=2, **SURFACE[method]).fit(data.X)

    return side


for _method in SURFACE:
    globals()[f"few_{_method}"], globals()[f"all_{_method}"] = _surface(_method, 2_000), _surface(_method, None)


def kernel_pca_1m(data: Data) -> Callable[[], Any]:
    from lowfold import KernelPCA

    X = data.X
    return lambda: KernelPCA(2, gamma=0.01, landmarks=min(2_000, len(X) // 2), n_jobs=2).fit(X)


def sklearn_nystroem(data: Data) -> Callable[[], Any]:
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    X = data.X
    return lambda: make_pipeline(
        Nystroem(gamma=0.01, n_components=min(2_000, len(X) // 2), random_state=0), PCA(2)
    ).fit_transform(X)


def _tall(data: Data) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    n = len(data.X)
    A = rng.standard_normal((n, 8)) @ rng.standard_normal((8, 300)) + 1e-6 * rng.standard_normal((n, 300))
    return A, rng.standard_normal(8) @ rng.standard_normal((8, 300))


def ulv_update(data: Data) -> Callable[[], Any]:
    from lowfold.lowrank import lulv_warm

    A, row = _tall(data)
    found = lulv_warm(A, 1e-2)
    return lambda: found.insert_row(row)


def ulv_fresh(data: Data) -> Callable[[], Any]:
    from lowfold.lowrank import lulv_warm

    A, row = _tall(data)
    whole = np.vstack([A, row])
    return lambda: lulv_warm(whole, 1e-2)


def axes(data: Data, model: Any) -> dict[str, float]:
    """Deviation from the exact axes, on models of up to 10,000 points; the residual everywhere."""
    from lowfold import KernelPCA
    from lowfold.lowrank import deviation

    found = {"residual": float(model.residual_)}
    if len(data.X) <= 10_000:
        found["deviation"] = deviation(KernelPCA(2, gamma=0.002, n_jobs=2).fit(data.X).embedding_, model.embedding_)
    return found


def surface(data: Data, model: Any) -> dict[str, float]:
    """Affine R^2 with the true coordinates, overlap of ten nearest neighbours with theirs, and `landmark_error_`."""
    from scipy.spatial import cKDTree

    Y, T = model.embedding_, data.truth
    A = np.column_stack([Y, np.ones(len(Y))])
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    rows = np.random.default_rng(0).choice(len(Y), min(len(Y), 5_000), replace=False)
    near = [cKDTree(Z).query(Z[rows], 11)[1][:, 1:] for Z in (Y, T)]
    overlap = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(*near)])
    found = {"r2": float(1 - np.square(left).sum() / np.square(T - T.mean(axis=0)).sum()), "overlap": float(overlap)}
    error = getattr(model, "landmark_error_", None)
    return found if error is None else {**found, "landmark_error": float(error)}


def rank(data: Data, found: Any) -> dict[str, float]:
    """The numerical rank that was found."""
    return {"rank": float(found.d)}


def nothing(data: Data, found: Any) -> dict[str, float]:
    """Time and memory only; the error where the model tells it."""
    error = getattr(found, "landmark_error_", None)
    return {} if error is None else {"landmark_error": float(error)}


def lowfold_nmf(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.NMF(data.options["parts"], n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_nmf(data: Data) -> Callable[[], Any]:
    from types import SimpleNamespace

    from sklearn.decomposition import NMF

    def call() -> Any:
        model = NMF(data.options["parts"], init="nndsvda")
        return SimpleNamespace(embedding_=model.fit_transform(data.X), components_=model.components_)

    return call


def nmf_error(data: Data, model: Any) -> dict[str, float]:
    """|X - Y H| / |X|."""
    return {"error": float(np.linalg.norm(data.X - model.embedding_ @ model.components_) / np.linalg.norm(data.X))}
