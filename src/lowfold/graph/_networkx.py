"""Affinities of NetworkX graphs; lengths are read by `_foreign`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput


def affinities(G: Any, *, weight: str = "weight") -> csr_array:
    """The matrix of a NetworkX graph whose edges have affinities (else 1), as NetworkX itself makes it.

    Vertices are in the order of its nodes; parallel edges add up, an edge of affinity 0 is none, and
    self-loops are left out.
    """
    place = {node: i for i, node in enumerate(G)}
    edges = [(place[a], place[b], w) for a, b, w in G.edges(data=weight, default=1) if a != b]
    try:
        values = np.array([w for _, _, w in edges], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{weight!r} of every edge must be a number: {error}") from error
    if not np.isfinite(values).all() or (values < 0).any():
        raise InvalidInput(f"{weight!r} of every edge must be a finite number of at least 0; some are not")
    i, j = np.array([(i, j) for i, j, _ in edges], dtype=np.int64).reshape(-1, 2).T
    A = csr_array((values, (i, j)), shape=(len(place), len(place)))
    return A if G.is_directed() else csr_array(A + A.T)
