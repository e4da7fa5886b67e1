"""Neighbour search: a few columns, many columns, and distances that are Euclidean after a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from data import Data
from harness import THREADS, Case, Side, Target
from quality import neighbours

K = 12
EXACT = Target(at_least={"recall": 1.0})

CASES = (
    Case(
        name="search-3-100k",
        group="search-3",
        n=100_000,
        data="swiss_roll",
        sides=(
            Side("lowfold", "lowfold_search"),
            Side("scipy-kdtree", "scipy_search"),
            Side("sklearn-kd_tree", "sklearn_tree"),
        ),
        check="quality.neighbours",
        target=EXACT,
    ),
    Case(
        name="search-64-20k",
        group="search-64",
        n=20_000,
        data="curved_sheet",
        sides=(
            Side("lowfold", "lowfold_search"),
            Side("sklearn-brute", "sklearn_brute"),
            Side("sklearn-kd_tree", "sklearn_tree"),
            Side("scipy-kdtree", "scipy_search"),
        ),
        check="quality.neighbours",
        options={"columns": 64},
        target=EXACT,
        timeout=120,
    ),
    Case(
        name="search-784-10k",
        group="search-784",
        n=10_000,
        data="curved_sheet",
        sides=(
            Side("lowfold", "lowfold_search"),
            Side("sklearn-brute", "sklearn_brute"),
            Side("sklearn-kd_tree", "sklearn_tree"),
            Side("scipy-kdtree", "scipy_search", skip="a tree does not help in 784 columns"),
        ),
        check="quality.neighbours",
        options={"columns": 784},
        target=EXACT,
        timeout=120,
    ),
    Case(
        name="search-784-70k",
        group="search-784",
        n=70_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_search"), Side("sklearn-brute", "sklearn_brute")),
        check="quality.neighbours",
        options={"columns": 784},
        target=Target(at_least={"recall": 1.0}, at_most={"wall": 90.0}),
        repeat=1,
    ),
    Case(
        name="search-mapped-64-20k",
        group="search-mapped",
        n=20_000,
        data="curved_sheet",
        sides=(
            Side("lowfold", "lowfold_search"),
            Side("lowfold-euclidean", "lowfold_euclidean"),
            Side("sklearn-brute", "sklearn_cosine"),
        ),
        check="neighbours_or_none",
        options={"columns": 64, "metric": "cosine"},
        note="cosine distance; the second side is the Euclidean search on the same columns",
    ),
)


def _lowfold(data: Data, metric: str) -> Callable[[], Any]:
    from lowfold._core.parallel import single_threaded_blas
    from lowfold._core.run import Run
    from lowfold.graph import Points, nearest
    from lowfold.metrics._resolve import resolve_metric

    def call() -> Any:
        source = Points(data.X, resolve_metric(metric, None, data.X))
        with single_threaded_blas():  # as every fit does: the search has threads of its own
            found = nearest(source, K, run=Run(n_jobs=THREADS))
        return found.indices.reshape(-1, K), None if metric == "cosine" else found.distances.reshape(-1, K)

    return call


def lowfold_search(data: Data) -> Callable[[], Any]:
    return _lowfold(data, data.options.get("metric", "euclidean"))


def lowfold_euclidean(data: Data) -> Callable[[], Any]:
    call = _lowfold(data, "euclidean")
    return lambda: (call(), None)[1]


def _sklearn(data: Data, algorithm: str, metric: str = "euclidean") -> Callable[[], Any]:
    from sklearn.neighbors import NearestNeighbors

    def call() -> Any:
        model = NearestNeighbors(n_neighbors=K, algorithm=algorithm, metric=metric, n_jobs=THREADS).fit(data.X)
        distance, index = model.kneighbors()
        return index, None if metric == "cosine" else distance

    return call


def sklearn_brute(data: Data) -> Callable[[], Any]:
    return _sklearn(data, "brute")


def sklearn_tree(data: Data) -> Callable[[], Any]:
    return _sklearn(data, "kd_tree")


def sklearn_cosine(data: Data) -> Callable[[], Any]:
    return _sklearn(data, "brute", "cosine")


def scipy_search(data: Data) -> Callable[[], Any]:
    from scipy.spatial import cKDTree

    def call() -> Any:
        distance, index = cKDTree(data.X).query(data.X, K + 1, workers=THREADS)
        return index[:, 1:], distance[:, 1:]

    return call


def neighbours_or_none(data: Data, found: Any) -> dict[str, float]:
    """The Euclidean search of a cosine case is there for its time only."""
    return {} if found is None else neighbours(data, found)
