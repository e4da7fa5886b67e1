"""Affinities of all pairs on a device: squared distances held there, which become P in their place."""

from __future__ import annotations

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._descend import heat_moments
from lowfold._cuda._device import Array, Device, active
from lowfold._cuda._ranks import row_distances
from lowfold.optimize._neighbor import DenseAffinities
from lowfold.optimize._perplexity import (
    Bandwidths,
    bandwidths_by,
    joined_probabilities,
    joint_bandwidth_by,
    row_entropy,
    row_probabilities,
)

TILE_BYTES = 2**31  # of the rows that are worked on together
COPIES = 8.0  # of such rows: distances, exponents, probabilities of both ends, logarithms


def affinities_on_device(F: AnyFloats, perplexity: float, kind: str, scale: float, run: Run) -> DenseAffinities | None:
    """`dense_affinities` of rows with Euclidean distances; None where the CPU has to make them."""
    device, n = active(run), len(F)
    if device is None or not device.has_room(affinity_bytes(*F.shape), "affinities of all pairs"):
        return None
    with run.stage("perplexity on the device"):
        parts = block_slices(n, max(1, int(TILE_BYTES // (8.0 * COPIES * n))))
        P = _squared_distances(device, F, parts)
        widths = _joint_bandwidth(device, P, perplexity) if kind == "joint" else _bandwidths(device, P, perplexity)
        there = Bandwidths(device.put(widths.beta), device.put(widths.log_mass))
        conditional = joined = 0.0
        for part in parts:
            if kind == "sum":
                conditional += float(row_entropy(row_probabilities(P[part], there.of(part))).sum())
            P[part] = scale * joined_probabilities(P[part], part, there)
            if kind != "sum":
                joined += float(row_entropy(P[part]).sum())

    def columns(part: slice) -> tuple[Floats, int]:
        return np.ascontiguousarray(device.get(P[part]).T), 0

    return DenseAffinities(n, columns, conditional + joined, run.n_jobs, run.device, P)


def affinity_bytes(n: int, columns: int) -> float:
    """P, the rows, and what is worked on."""
    size = 8.0 * n * n
    return size + 8.0 * n * columns + min(TILE_BYTES, COPIES * size)


def _squared_distances(device: Device, F: AnyFloats, parts: list[slice]) -> Array:
    """Of all pairs, inf from a point to itself."""
    xp, n = device.xp, len(F)
    X, S = device.put(F, np.float64), device.xp.empty((len(F), len(F)))
    for part in parts:
        S[part] = row_distances(device, X, xp.arange(part.start, part.stop)) ** 2
    S[xp.arange(n), xp.arange(n)] = np.inf
    return S


def _bandwidths(device: Device, S: Array, perplexity: float) -> Bandwidths:
    near = device.get(S.min(axis=1))
    every = heat_moments(device, S, device.xp.arange(len(S), dtype=np.int32), device.put(near), device.put(0.0 * near))
    mean = every[:, 1] / every[:, 0]
    scale = np.where(mean > 0, mean, 1.0)

    def moments(rows: Ints, b: Floats) -> tuple[Floats, Floats, Floats]:
        asked = device.put(rows, np.int32), device.put(near[rows]), device.put(b / scale[rows])
        mass, first, second = heat_moments(device, S, *asked).T
        return mass, first / scale[rows], second / scale[rows] ** 2

    return bandwidths_by(moments, near, every[:, 0].astype(np.int64), mean, perplexity)


def _joint_bandwidth(device: Device, S: Array, perplexity: float) -> Bandwidths:
    n = len(S)
    near, rows = float(S.min()), device.xp.arange(n, dtype=np.int32)

    def sums(beta: float) -> tuple[float, float]:
        same = device.put(np.full(n, near)), device.put(np.full(n, beta))
        mass, moment, _ = heat_moments(device, S, rows, *same).sum(axis=0)
        return float(mass), float(moment)

    mean = near + sums(0.0)[1] / (n * (n - 1))
    return joint_bandwidth_by(sums, near, mean, n, perplexity)
