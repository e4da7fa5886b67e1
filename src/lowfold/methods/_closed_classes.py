"""Closed classes of the directed neighbourhoods: what has to be one for LLE's null space to be the constants.

A class is closed when no arc leaves it. Each closed class C makes I - W_CC singular, so I - W has at least as many null
vectors as there are closed classes, whatever the signs of the weights, even where the graph is weakly connected.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Ints
from lowfold.graph._components import all_reach_one, by_size, strong_components
from lowfold.graph._types import Neighbors


def closed_class_labels(neighbors: Neighbors) -> Ints:
    """Every point's closed class; a point outside all of them belongs to the class that it reaches in the fewest steps.

    One closed class: all zeros. Label 0 is the largest piece.
    """
    if all_reach_one(neighbors):
        return np.zeros(neighbors.n, dtype=np.int64)
    strong = strong_components(neighbors)
    count = int(strong.max(initial=0)) + 1
    if count == 1:
        return np.zeros(neighbors.n, dtype=np.int64)
    rows = neighbors.rows()
    leaves = np.zeros(count, dtype=bool)
    leaves[strong[rows[strong[rows] != strong[neighbors.indices]]]] = True
    if (~leaves).sum() == 1:
        return np.zeros(neighbors.n, dtype=np.int64)
    labels = np.where(leaves[strong], -1, strong)
    while True:
        reaching = (labels[rows] < 0) & (labels[neighbors.indices] >= 0)
        if not reaching.any():
            break
        step = np.full(neighbors.n, np.iinfo(np.int64).max)
        np.minimum.at(step, rows[reaching], labels[neighbors.indices[reaching]])
        labels = np.where(step < np.iinfo(np.int64).max, step, labels)
    return by_size(np.unique(labels, return_inverse=True)[1])
