"""The graph of an image's pixels, for segmentation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold.graph._types import Graph


def pixel_graph(image: ArrayLike, *, radius: float = 5.0, intensity: float = 0.1, distance: float = 4.0) -> Graph:
    """Pixels within `radius` joined by edges with d^2 = |I_i - I_j|^2 / intensity^2 + |p_i - p_j|^2 / distance^2.

    Heat weights of scale 1 on it are Shi & Malik's: exp(-dI^2 / intensity^2) exp(-dp^2 / distance^2). `image` is (h, w)
    or (h, w, channels), with values of about 0 to 1; pixels are numbered row by row.

    >>> pixel_graph(np.zeros((2, 3)), radius=1).n_edges
    7
    """
    I = np.asarray(image, dtype=np.float64)  # noqa: E741 - the letter of the formula
    if I.ndim not in (2, 3) or I.shape[0] * I.shape[1] < 2:
        raise InvalidInput(f"image must be (height, width) or (height, width, channels); got shape {I.shape}")
    for name, value in (("radius", radius), ("intensity", intensity), ("distance", distance)):
        if not value > 0:
            raise InvalidInput(f"{name} must be above 0; got {value!r}")
    h, w = I.shape[:2]
    I = I.reshape(h, w, -1)  # noqa: E741
    number = np.arange(h * w).reshape(h, w)
    reach = int(radius)
    edges, squared = [], []
    for dy in range(reach + 1):
        for dx in range(-reach, reach + 1):
            if (dy == 0 and dx <= 0) or dy * dy + dx * dx > radius * radius or dy >= h or abs(dx) >= w:
                continue
            here = (slice(0, h - dy), slice(max(0, -dx), w - max(0, dx)))
            there = (slice(dy, h), slice(max(0, dx), w - max(0, -dx)))
            colour = ((I[here] - I[there]) ** 2).sum(axis=2)
            edges.append(np.column_stack([number[here].ravel(), number[there].ravel()]))
            squared.append(colour.ravel() / intensity**2 + (dy * dy + dx * dx) / distance**2)
    return Graph.from_edges(h * w, np.concatenate(edges), np.sqrt(np.concatenate(squared)))
