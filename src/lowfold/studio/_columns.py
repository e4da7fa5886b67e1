"""Arrays as the page draws them: 16-bit steps, bytes or pairs, in files that are named by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold.studio._protocol import Column

LEVELS = 65_534  # steps of a number; the one above stands for "none"
CLASSES = 250  # names that a byte can stand for; the last bytes are the renderer's own
EDGES = 200_000  # lines of a graph that are drawn


def _write(folder: Path, array: NDArray[Any]) -> str:
    raw = np.ascontiguousarray(array).tobytes()
    name = hashlib.blake2b(raw, digest_size=16).hexdigest()
    target = folder / name
    if not target.exists():
        part = folder / f"{name}.part"
        part.write_bytes(raw)
        part.replace(target)
    return name


def numbers(folder: Path, values: NDArray[Any]) -> Column:
    """Numbers as steps between their least and their largest."""
    there = np.isfinite(values)
    whole = bool(there.all())
    inside = values if whole else values[there]
    low, high = (float(inside.min()), float(inside.max())) if len(inside) else (0.0, 1.0)
    span = high - low if high > low else 1.0
    scaled = (inside.astype(np.float64, copy=False) - low) * (LEVELS / span)
    steps = np.full(len(values), LEVELS + 1, dtype="<u2")
    steps[slice(None) if whole else there] = np.rint(scaled)
    return Column(_write(folder, steps), "steps", len(values), low, low + span)


def classes(folder: Path, values: NDArray[Any]) -> Column:
    """Classes as bytes with their names; too many to tell apart are numbered in the order of their names."""
    names, codes = np.unique(values, return_inverse=True)
    if len(names) > CLASSES:
        return numbers(folder, codes)
    return Column(_write(folder, codes.astype("<u1")), "codes", len(values), names=[str(name) for name in names])


def any_column(folder: Path, values: NDArray[Any]) -> Column:
    """Classes where the values are words, truth values or few whole numbers; else numbers."""
    if values.dtype.kind in "fiu":
        few = values.dtype.kind in "iu" and len(np.unique(values)) <= 20
        return classes(folder, values) if few else numbers(folder, values)
    return classes(folder, values.astype(str))


def places(folder: Path, Y: NDArray[Any], rows: NDArray[np.int64] | None = None, n: int | None = None) -> list[Column]:
    """At most three coordinates, one column each; `rows` of n points have a place, the others none."""
    if rows is not None:
        assert n is not None
        whole = np.full((n, Y.shape[1]), np.nan)
        whole[rows] = Y
        Y = whole
    found = [numbers(folder, np.asarray(Y[:, j])) for j in range(min(3, Y.shape[1]))]
    if len(found) == 1:  # heights by the golden ratio, so that points on a line do not hide one another
        heights = (np.arange(len(Y)) * 0.6180339887498949) % 1.0
        column = numbers(folder, heights)
        span = found[0].high - found[0].low
        found.append(Column(column.hash, "steps", len(Y), 0.0, 0.1 * span))
    return found


def whole(folder: Path, values: NDArray[Any]) -> Column:
    """Whole numbers as they are."""
    return Column(_write(folder, values.astype("<u4")), "whole", len(values))


def pairs(folder: Path, edges: NDArray[Any]) -> tuple[Column, int]:
    """Edges, or as many of them as are drawn; and how many there are."""
    total = len(edges)
    if total > EDGES:
        edges = edges[np.sort(np.random.default_rng(0).choice(total, EDGES, replace=False))]
    return Column(_write(folder, edges.astype("<u4")), "pairs", len(edges)), total
