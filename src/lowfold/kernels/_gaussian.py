"""Weights from edge lengths: heat, binary, and any positive decreasing function of the squared length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import LARGEST_EXPONENT, ROUNDING
from lowfold._core.types import Floats
from lowfold._cuda._device import holding
from lowfold.graph._foreign import as_graph
from lowfold.graph._types import Graph
from lowfold.graph._weights import Weights

SAFE = 1 / LARGEST_EXPONENT  # of the longest squared edge: a scale above it makes no weight zero

Weighting = Literal["heat", "binary", "affinity"] | Callable[[Floats], Floats]


def auto_scale(graph: Graph) -> float:
    """Mean squared edge length: what `scale="auto"` means. 1.0 where all edges have length zero.

    The mean over the entries of the symmetric graph, self excluded: sigma = (1/N*) sum_i sum_{j in N(i)} d_ij^2.
    """
    scale = float(np.mean(graph.lengths**2)) if len(graph.lengths) else 0.0
    return scale if scale > 0 else 1.0


def scale_from_sigma(sigma: float) -> float:
    """Scale of exp(-d^2 / (2 sigma^2)): 2 sigma^2."""
    return 2.0 * sigma**2


def scale_from_heat_time(t: float) -> float:
    """Scale of the heat kernel exp(-d^2 / (4 t)): 4 t."""
    return 4.0 * t


def gaussian(graph: Graph, *, scale: float, loops: float = 0.0) -> Weights:
    """w_ij = exp(-d_ij^2 / scale) on edges; `loops` on the diagonal."""
    if not scale > 0:
        raise InvalidInput(f'scale must be a number above 0, in squared units of length, or "auto"; got {scale!r}')
    graph = as_graph(graph)  # type: ignore[assignment] # of NetworkX or SciPy
    device = holding(graph.lengths)
    if device is not None and scale > SAFE * float(graph.lengths.max(initial=0.0)) ** 2:
        values = device.remembered(device.xp.exp(-(device.put(graph.lengths) ** 2) / scale))
        return Weights(graph, values, np.full(graph.n, loops))
    exponent = graph.lengths**2 / scale
    _some_weight_at_each(graph, exponent, scale)
    return Weights(graph, np.exp(-exponent), np.full(graph.n, loops))


def _some_weight_at_each(graph: Graph, exponent: Floats, scale: float) -> None:
    """Refuse a scale so small that all weights of a point are zero in float64: it has no degree to divide by."""
    if exponent.max(initial=0.0) <= LARGEST_EXPONENT:
        return
    joined = np.flatnonzero(np.diff(graph.indptr))
    lost = joined[np.minimum.reduceat(exponent, graph.indptr[joined]) > LARGEST_EXPONENT]
    if len(lost):
        nearest = graph.lengths[graph.indptr[lost[0]] : graph.indptr[lost[0] + 1]].min()
        raise InvalidInput(
            f"scale = {scale:g} makes all weights of {len(lost)} of {graph.n} points zero: of point {lost[0]} the "
            f'shortest edge is {nearest:g} long; use scale="auto", or one of about {auto_scale(graph):g}, the mean '
            "squared edge"
        )


def binary(graph: Graph, *, loops: float = 0.0) -> Weights:
    """w_ij = 1 on edges: the limit of `gaussian` for a large scale, free of parameters."""
    return Weights.unit(graph, loops=loops)


def decreasing(graph: Graph, g: Callable[[Floats], Floats], *, loops: float = 0.0) -> Weights:
    """w_ij = g(d_ij^2) for a positive decreasing function g of the squared length; checked on the edges."""
    squared = graph.lengths**2
    values = np.asarray(g(squared), dtype=np.float64)
    if values.shape != squared.shape:
        raise InvalidInput(f"weights must map an array of squared lengths to one of its shape; got {values.shape}")
    order = np.argsort(squared, kind="stable")
    if not np.isfinite(values).all() or np.any(values <= 0):
        raise InvalidInput("weights must be a positive function of the squared length; it gave values that are not")
    if np.any(np.diff(values[order]) > ROUNDING * values.max(initial=1.0)):
        raise InvalidInput("weights must be a decreasing function of the squared length; it increases somewhere")
    return Weights(graph, values, np.full(graph.n, loops))


def weigh(graph: Graph, weights: Weighting, scale: float, loops: float) -> Weights:
    """Weights by name or function; "affinity" is 1 / length, what a graph of given affinities was read from."""
    if callable(weights):
        return decreasing(graph, weights, loops=loops)
    if weights == "affinity":
        return Weights(graph, 1.0 / graph.lengths, np.full(graph.n, loops))
    return gaussian(graph, scale=scale, loops=loops) if weights == "heat" else binary(graph, loops=loops)
