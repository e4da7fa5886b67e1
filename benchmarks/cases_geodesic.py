"""Isomap, and the geodesics inside it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

K = 12
SHAPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("s_curve", {}),
    ("sphere_cap", {}),
    ("cube", {"dim": 3}),
    ("curved_sheet", {"columns": 784}),
)

# Geodesics above 5,000 points are stored in float32 and have compiled code of their own: the warm-up has to be larger.
CASES = (
    Case(
        name="isomap-10k",
        group="isomap",
        n=10_000,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_isomap"), Side("sklearn", "sklearn_isomap"), Side("tapkee", "tapkee_isomap")),
        check="quality.embedding",
        target=Target(speedup=40, memory=1e9, at_most={"residual": 1e-3}),
        warm=5_500,
    ),
    Case(
        name="isomap-20k",
        group="isomap",
        n=20_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_isomap"),
            Side("sklearn", "sklearn_isomap"),
            Side("tapkee", "tapkee_isomap", skip="about eight times the time of 10,000 points"),
        ),
        check="quality.embedding",
        target=Target(speedup=45, memory=2.6e9, at_most={"residual": 1e-3}),
        warm=5_500,
        timeout=600,
    ),
    Case(
        name="isomap-50k",
        group="isomap",
        n=50_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_isomap"),
            Side("sklearn", "sklearn_isomap", skip="its two float64 matrices alone are 40 GB"),
        ),
        check="quality.embedding",
        target=Target(memory=11e9, at_most={"residual": 1e-3}),
        warm=5_500,
        repeat=1,
        timeout=600,
        note="exact, all 50,000 x 50,000 geodesics; no peer",
    ),
    *(
        Case(
            name=f"isomap-{n // 1000}k-free",
            group="isomap-free",
            n=n,
            data="swiss_roll",
            sides=(Side("lowfold", "lowfold_isomap_free"),),
            check="quality.embedding",
            target=Target(memory=4.3e9, at_most={"residual": 1e-3}),
            warm=5_500,
            repeat=1,
            timeout=1200,
            large=True,
            note="exact, within a budget of 1 GB: the geodesics are made again in every product",
        )
        for n in (50_000, 100_000, 200_000)
    ),
    *(
        Case(
            name=f"geodesics-{shape}-{n // 1000}k",
            group=f"geodesics-{shape}",
            n=n,
            data=shape,
            sides=(Side("lowfold", "lowfold_all_pairs"), Side("sweeps", "lowfold_sweeps")),
            check="distances",
            options={"sources": n, **options},
            warm=5_500,
            note="all pairs; beside them our own sweeps: elimination may only be chosen where it is quicker",
        )
        for shape, options in SHAPES
        for n in (6_000, 12_000)
    ),
    Case(
        name="geodesics-cube6-6k",
        group="geodesics-cube6",
        n=6_000,
        data="cube",
        sides=(Side("lowfold", "lowfold_all_pairs"), Side("sweeps", "lowfold_sweeps")),
        check="distances",
        options={"sources": 6_000, "dim": 6},
        warm=5_500,
        note="all pairs in six dimensions, where the sweeps have to be chosen",
    ),
    Case(
        name="geodesics-50k",
        group="geodesics",
        n=50_000,
        data="swiss_roll",
        sides=(Side("lowfold", "lowfold_geodesics"), Side("scipy", "scipy_geodesics")),
        check="distances",
        options={"sources": 500},
        note="500 sources to all 50,000 points; both get the same graph",
    ),
)


def lowfold_isomap(data: Data) -> Callable[[], Any]:
    import lowfold

    # Half of the memory, the default budget, is less than the 50,000 points need on some machines.
    lowfold.set_config(memory=max(lowfold.get_config().memory, int(4.5 * len(data.X) ** 2)))
    model = lowfold.Isomap(2, n_neighbors=K, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def lowfold_isomap_free(data: Data) -> Callable[[], Any]:
    import lowfold

    lowfold.set_config(memory="1GB" if len(data.X) > 16_000 else "100MB")
    model = lowfold.Isomap(2, n_neighbors=K, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_isomap(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import Isomap

    model = Isomap(n_neighbors=K, n_components=2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def tapkee_isomap(data: Data) -> Callable[[], Any]:
    import tapkee

    columns = np.asfortranarray(data.X.T)
    return lambda: SimpleNamespace(
        embedding_=tapkee.embed(columns, method="isomap", num_neighbors=K, target_dimension=2)
    )


def _graph(data: Data) -> Any:
    """One graph for both sides: k nearest neighbours, either way."""
    from sklearn.neighbors import NearestNeighbors

    from lowfold.graph import Neighbors

    n = len(data.X)
    distance, index = NearestNeighbors(n_neighbors=K + 1).fit(data.X).kneighbors(data.X)
    indptr = np.arange(0, n * K + 1, K)
    return Neighbors(indptr, index[:, 1:].ravel(), distance[:, 1:].ravel(), n).union()


def _sources(data: Data) -> Any:
    return np.linspace(0, len(data.X) - 1, min(data.options["sources"], len(data.X))).astype(int)


def lowfold_geodesics(data: Data) -> Callable[[], Any]:
    from lowfold._core.run import Run
    from lowfold.graph import geodesics

    graph, sources = _graph(data), _sources(data)
    return lambda: geodesics(graph, sources, run=Run(n_jobs=THREADS), dtype=np.float64)


def lowfold_all_pairs(data: Data) -> Callable[[], Any]:
    return _all_pairs(data, "auto")


def lowfold_sweeps(data: Data) -> Callable[[], Any]:
    return _all_pairs(data, "sweep")


def _all_pairs(data: Data, method: str) -> Callable[[], Any]:
    from lowfold._core.run import Run
    from lowfold.graph import geodesics

    graph = _graph(data)
    return lambda: geodesics(graph, method=method, run=Run(n_jobs=THREADS))


def scipy_geodesics(data: Data) -> Callable[[], Any]:
    from scipy.sparse.csgraph import dijkstra

    matrix, sources = _graph(data).to_scipy(), _sources(data)
    return lambda: dijkstra(matrix, directed=True, indices=sources)


def distances(data: Data, D: Any) -> dict[str, float]:
    """Largest relative error of ten rows against SciPy's Dijkstra, and milliseconds are per case: divide by sources."""
    from scipy.sparse.csgraph import dijkstra

    rows = np.linspace(0, len(D) - 1, min(10, len(D))).astype(int)
    true = dijkstra(_graph(data).to_scipy(), directed=True, indices=_sources(data)[rows])
    return {"distance_error": float((np.abs(D[rows] - true) / np.maximum(true, 1e-12)).max())}
