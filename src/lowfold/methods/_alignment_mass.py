"""What a point counts in an alignment kernel: one, or as much as its patches hold it.

The indicator of point i has the energy K_ii. A point that only its own patch holds, and that is the patch's longest
direction, has K_ii near 0: then it has an eigenvector of its own below those of smooth functions.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._source import Points, Source

MASSES = ("auto", "points", "kernel")


def choose_masses(mass: str, K: SparseOperator, source: Source | None, d: int) -> tuple[str, ...]:
    """The rule of "auto": "kernel" where d single points have less energy than d linear functions of the data.

    By the min-max principle both bound the d-th eigenvalue from above; a bound may miss, so that "kernel" also follows
    "points" where a coordinate turns out to hold a few points. Without points there is no linear function.
    """
    if mass != "auto":
        return (mass,)
    if not isinstance(source, Points) or source.metric.feature_map is None or d >= K.n:
        return ("points",)
    single = float(np.partition(K.diagonal(), d - 1)[d - 1])
    return ("kernel",) if single < linear_energy(K, source, d) else ("points", "kernel")


def linear_energy(K: SparseOperator, source: Points, d: int, *, sample: int = 500) -> float:
    """max f'Kf / f'f over the span of the d leading principal components of at most `sample` points, centred."""
    X = source.features()
    rows = X[np.linspace(0, len(X) - 1, min(sample, len(X))).astype(np.int64)].astype(np.float64)
    mean = rows.mean(axis=0)
    rows -= mean
    values, U = stacked_eigh(rows @ rows.T)
    directions = rows.T @ U[:, ::-1][:, :d]
    F = np.concatenate([(X[part].astype(np.float64) - mean) @ directions for part in block_slices(len(X), 65_536)])
    F -= F.mean(axis=0)
    values, E = stacked_eigh(F.T @ F)
    kept = values > ROUNDING * values[-1]
    if not kept.any():
        return 0.0
    G = F @ (E[:, kept] / np.sqrt(values[kept]))
    return float(stacked_eigh(G.T @ K.apply(G))[0][-1])


def diagonal_mass(K: SparseOperator) -> Floats:
    """D = diag(K), kept above zero."""
    diagonal = K.diagonal()
    return np.asarray(np.maximum(diagonal, ROUNDING * diagonal.mean()))
