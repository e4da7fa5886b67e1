"""The stages of each family with the bytes that they hold: what `lowfold.plan` tells.

A method's fact `stages` is one of these functions, (method, data) -> stages: what a stage keeps for the later ones, and
what it holds besides at its peak. Most factors were fitted to one measured peak; a slow test compares them anew.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowfold._core.memory import fits
from lowfold._core.operators import DenseOperator
from lowfold._core.rows import BLOCK_BYTES
from lowfold._core.sparse_rows import SparseRows
from lowfold._cuda._device import SHARE
from lowfold._cuda._minplus import padded
from lowfold._cuda._search import search_bytes
from lowfold.graph._search import select_search
from lowfold.graph._source import Blocks, Pairs, Points, copied
from lowfold.kernels._kernel_operator import EXACT, GROUPS, TILE
from lowfold.kernels._tiles_on_device import tile_bytes
from lowfold.lowrank._component_count import components_to_compute
from lowfold.lowrank._on_device import scatter_bytes
from lowfold.methods._fit import Data
from lowfold.spectral._doors import select_solver

EDGE = 12.0  # bytes of a neighbour: an index of 4 and a distance of 8
FLOAT = 8.0
QUADRATIC = 200_000  # points from which an exact search in many columns is told to be long


@dataclass(frozen=True)
class Stage:
    """One step: its name, what it uses, the bytes that it holds at its peak, and those that later stages need.

    `there` are those of its twin on a device, None without one; `streamed` those where it does not fit there whole;
    `words` say what the twin does where that is something else.
    """

    name: str
    what: str
    bytes: float
    kept: float = 0.0
    there: float | None = None
    streamed: float | None = None
    words: str = ""

    def on_device(self, free: float) -> Stage:
        """The same with what it holds of the device's free bytes: nothing where it is computed on the CPU."""
        if self.there is None:
            return replace(self, what=f"{self.what}; on the CPU", bytes=0.0, kept=0.0)
        whole = self.streamed is None or self.there <= SHARE * free
        size = self.there if whole or self.streamed is None else self.streamed
        words = self.words or self.what
        words = words if whole else f"{words}; in panels, made again in each pass"
        return replace(self, what=words, bytes=size, kept=min(self.kept, size))


Stages = Callable[[Any, Data], list[Stage]]


def peak(stages: tuple[Stage, ...]) -> float:
    """The most that is held at once: each stage on top of what the former ones keep."""
    kept, most = 0.0, 0.0
    for stage in stages:
        most = max(most, kept + stage.bytes)
        kept += stage.kept
    return most


BUFFERS = 40e6  # measured peaks of all methods lie so much above their arrays


# Parts ----------------------------------------------------------------------------------------------------------------


def read_stage(data: Data) -> Stage:
    """The data as they came, which the model keeps."""
    source = data.source
    if data.given is not None:
        size = float(data.given.nbytes)
        return Stage("data", " x ".join(map(str, data.given.shape)), size, size, size)
    if isinstance(source, Points):
        size = _bytes(source.X)
        words = " x ".join(map(str, source.X.shape))
        return Stage("data", f"{words}, {source.X.dtype}, metric {source.metric.name}", size, size, size)
    if isinstance(source, Blocks):
        words = " x ".join(map(str, source.rows.shape))
        return Stage("data", f"{words}, {source.rows.dtype}, in blocks, metric {source.metric.name}", 2.0 * BLOCK_BYTES)
    if isinstance(source, Pairs):
        size = float(source.distances.nbytes)
        return Stage("data", f"{data.n} x {data.n} distances, {source.distances.dtype}", size, size, size)
    pairs = getattr(source, "pairs", None) or data.neighbors or data.graph
    count = 0 if pairs is None else len(pairs.indices)
    return Stage("data", f"{count} measured pairs", EDGE * count + FLOAT * data.n, EDGE * count)


def buffers_stage(stages: list[Stage]) -> Stage:
    """What a process holds besides arrays that grow with the data; small data have small blocks."""
    size = min(BUFFERS, peak(tuple(stages)))
    return Stage("buffers", "of BLAS and of threads", size, size)


def own_rows_stage(data: Data, given: Any) -> list[Stage]:
    """The copy that a model keeps where the data are the caller's array, which may change."""
    array = getattr(data.source, "X", getattr(data.source, "distances", None))
    if given is None or array is None or not copied(array, given):
        return []
    return [Stage("model", "its own copy of the data", _bytes(array))]


def _bytes(X: Any) -> float:
    """Of a dense or a sparse matrix."""
    if hasattr(X, "tocsr"):
        return float(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return float(X.nbytes)


def values(data: Data) -> float:
    """The rows in float64; of sparse ones what is stored, of blocks two of them."""
    if isinstance(data.source, Blocks):
        return 2.0 * BLOCK_BYTES
    if isinstance(data.points().X, SparseRows):
        return _bytes(data.points().X)
    return FLOAT * float(np.prod(data.points().X.shape))


def degree(model: Any, data: Data) -> float:
    """Neighbours of a point, as asked and needed."""
    k = model._asked().k(data.n, model._needs().least)
    return float(np.mean(10 if k is None else k))


def search_stage(model: Any, data: Data) -> Stage:
    """What the neighbour search will use: the neighbours found, sorted and trimmed, and a copy of the rows."""
    n, k = data.n, degree(model, data)
    kept = EDGE * n * k + FLOAT * n
    if data.neighbors is not None or data.graph is not None:
        return Stage("neighbours", "given", 0.0)
    if not isinstance(data.source, (Points, Blocks)):
        return Stage("neighbours", f"{k:g} nearest, read from the given distances", 3 * kept, kept)
    metric = data.source.metric
    mapped = metric.feature_map is not None
    one = data.source.subset(np.arange(1))
    width = one.features().shape[1] if mapped else one.X.shape[1]
    backend = select_search(n, width, mapped=mapped) if model.search == "auto" else model.search
    alone = model.radius is not None and model.n_neighbors is None
    which = f"within {model.radius:g}" if alone else f"{k:g} nearest"
    words = f"{which}, {backend} on {width} columns"
    if backend == "brute" and n > QUADRATIC and mapped:
        words += f"; {float(n) ** 2:.0e} products of rows: search='faiss' is approximate and far quicker"
    rows = 4.0 * BLOCK_BYTES if isinstance(data.source, Blocks) else FLOAT * n * width
    twin = isinstance(data.source, Points) and mapped and model.search == "auto"
    there = search_bytes(n, width, int(k)) if twin and not alone else None
    return Stage("neighbours", words, SEARCHING * kept + rows, kept, there, words=f"{which}, on {width} columns")


def leading_stage(model: Any, side: int, end: str = "leading") -> Stage:
    """The solver at the leading end of a dense kernel."""
    d = min(columns(model), side - 1)
    solver = getattr(model, "solver", "auto")
    if solver == "auto":  # the rules look at sizes only, so that a matrix without storage will do
        stand_in = DenseOperator(np.broadcast_to(np.float64(0.0), (side, side)))
        solver = select_solver(stand_in, d, end="largest", null=np.ones((side, 1)))[0]
    vectors = FLOAT * side * (12 * (d + 5) + d)
    size = 3 * FLOAT * side * side if solver == "dense" else vectors
    return Stage("eigenvectors", f"{d} {end}, solver {solver}", size, there=2 * vectors)


def columns(model: Any) -> int:
    """How many are asked for; None, which is all of them, is more than there are points."""
    return int(getattr(model, "n_clusters", None) or model.n_components or sys.maxsize)


SEARCHING = 4.0  # copies of the neighbours at the search's peak: candidates, their exact distances, the sorted rows


# Linear methods -------------------------------------------------------------------------------------------------------


def principal_stages(model: Any, data: Data) -> list[Stage]:
    """The smaller of covariance and Gram matrix, as `principal_axes` chooses."""
    n, D = data.shape
    side = D if isinstance(data.source, Blocks) else min(n, D)
    what = f"{side} x {side} {'covariance' if side == D else 'Gram matrix'}, dense"
    written = 0 if isinstance(data.source, Blocks) else n
    output = 2 * FLOAT * written * components_to_compute(model.n_components, n, D)
    return [
        read_stage(data),
        Stage("principal axes", what, 3 * FLOAT * side**2 + output, there=scatter_bytes(side, n * D)),
    ]


def copy_stages(count: float, name: str) -> Stages:
    """A stage that holds so many copies of the rows in float64."""

    def stages(model: Any, data: Data) -> list[Stage]:
        work = Stage(name, f"{count:g} copies of the data in float64", count * values(data))
        return [read_stage(data), work]

    return stages


def projection_stages(model: Any, data: Data) -> list[Stage]:
    """The output and its cast."""
    k = model._dimension(data)
    return [read_stage(data), Stage("projection", f"{data.n} x {k}", 2 * FLOAT * data.n * k)]


def feature_stages(model: Any, data: Data) -> list[Stage]:
    """The features, which are centred block by block; the smaller of their covariance and Gram matrix."""
    n, D = data.points().X.shape
    M = D if callable(model.feature_map) else math.comb(D + model.degree - 1, model.degree)
    side = min(n, M)
    return [
        read_stage(data),
        Stage("features", f"{n} x {M}", FLOAT * n * M, FLOAT * n * M),
        Stage("principal axes", f"{side} x {side}, dense", 3 * FLOAT * side**2),
    ]


def linear_graph_stages(model: Any, data: Data) -> list[Stage]:
    """Neighbours, the sparse kernel, and the covariance that it is restricted to."""
    D = data.points().X.shape[1]
    n, k = data.n, degree(model, data)
    kernel = Stage("kernel", "sparse", ALIGNING * EDGE * n * k + 2 * FLOAT * n * D)
    return [read_stage(data), search_stage(model, data), kernel, Stage("linear map", f"{D} x {D}", 4 * FLOAT * D * D)]


ALIGNING = 10.0  # entries of a sparse kernel for each neighbour, with the patches that it is summed from


# Distances of all pairs -----------------------------------------------------------------------------------------------


def pair_stages(copies: float, name: str = "distances") -> Stages:
    """An n x n matrix in the type of the input, so many times at its peak, solved from its leading end."""

    def stages(model: Any, data: Data) -> list[Stage]:
        n = float(data.n)
        item = data.dtype.itemsize
        there = item * n * padded(data.n)
        held = Stage(name, f"{data.n} x {data.n}", copies * item * n * n, item * n * n, there)
        return [read_stage(data), held, leading_stage(model, data.n)]

    return stages


def tile_stages(model: Any, data: Data) -> list[Stage]:
    """The upper triangle in tiles, float32 above 5,000 points; sums of each group of tiles."""
    n = float(data.n)
    if data.given is not None:
        return [read_stage(data), leading_stage(model, data.n)]
    size = (4 if data.n > EXACT else 8) * 0.5 * n * (n + TILE)
    held = size if fits(size, share=1 / 3) else 0.0
    words = "held" if held else "made anew in each pass"
    width = 8 * -(-(min(columns(model), data.n) + 5) // 8)  # whole registers
    solve = leading_stage(model, data.n)
    products = FLOAT * n * GROUPS * width
    return [
        read_stage(data),
        Stage(
            "kernel",
            f"upper triangle of {data.n} x {data.n}, {words}",
            held,
            held,
            (4 if data.n > EXACT else 8) * n * padded(data.n) + tile_bytes(data.n),
            tile_bytes(data.n),
        ),
        replace(solve, bytes=solve.bytes + products),
    ]


def function_stages(model: Any, data: Data) -> list[Stage]:
    """All eigenvectors of an n x n kernel, the features made of them, and the graph."""
    n = float(data.n)
    m = n if model.n_eigenvectors is None else min(n, float(model.n_eigenvectors))
    kernel = Stage("kernel", f"{data.n} x {data.n}, {m:.0f} eigenvectors", 3 * FLOAT * n * n + 3 * FLOAT * n * m)
    return [read_stage(data), search_stage(model, data), kernel]
