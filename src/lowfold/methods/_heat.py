"""The scale of heat weights: one for all points, wider at those that have no neighbours within it."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold.graph._reach import own_reach, regular_reach
from lowfold.kernels._diffusion import DECAY
from lowfold.kernels._gaussian import Weighting, auto_scale
from lowfold.methods._fit import Connected

SCALE_TEXT = (
    'Width of the heat weights, in squared units. "auto" is half the squared distance within which all but the '
    "sparsest points have their neighbours; at these the weights are wider (`local_scales_`), else a far point "
    'would be a coordinate of its own. "mean" is the mean squared edge length.'
)


def heat_scales(scale: float | str, weighting: Weighting, data: Connected) -> tuple[float, Floats | None]:
    """The scale, and how many times wider it is at each point."""
    if not isinstance(scale, str):
        return float(scale), None
    if scale == "mean" or weighting != "heat":
        return auto_scale(data.unbridged), None
    t = own_reach(data.neighbors, tuning(data))
    reach = regular_reach(t)
    return reach**2 / DECAY, np.maximum(1.0, t / reach)


def tuning(data: Connected) -> int:
    """The neighbour whose distance is a point's own reach."""
    return int(np.median(data.neighbors.counts if data.n_neighbors is None else data.n_neighbors))
