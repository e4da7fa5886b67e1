"""Data of the benchmarks, made without lowfold, so that a peer's process holds nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Data:
    """Points, their true coordinates where there are any, and the case's options."""

    X: Any
    truth: NDArray[np.float64] | None
    options: dict[str, Any]


def swiss_roll(n: int, options: dict[str, Any]) -> Data:
    """(t cos t, s, t sin t), t in 3 pi / 2 (1 + 2 u); true coordinates (arc length, s)."""
    rng = np.random.default_rng(0)
    t, s = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21.0 * rng.random(n)
    length = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    X = np.column_stack([t * np.cos(t), s, t * np.sin(t)])
    return Data(X, np.column_stack([length, s]), options)


def s_curve(n: int, options: dict[str, Any]) -> Data:
    """(sin t, s, sign(t) (cos t - 1)), t in 3 pi / 2 [-1, 1]; true coordinates (t, s)."""
    rng = np.random.default_rng(0)
    t, s = 3 * np.pi * (rng.random(n) - 0.5), 2 * rng.random(n)
    return Data(np.column_stack([np.sin(t), s, np.sign(t) * (np.cos(t) - 1)]), np.column_stack([t, s]), options)


def sphere_cap(n: int, options: dict[str, Any]) -> Data:
    """Even points of the unit sphere above a height of 0.2."""
    rng = np.random.default_rng(0)
    z, angle = 0.2 + 0.8 * rng.random(n), 2 * np.pi * rng.random(n)
    r = np.sqrt(1 - z * z)
    return Data(np.column_stack([r * np.cos(angle), r * np.sin(angle), z]), None, options)


def cube(n: int, options: dict[str, Any]) -> Data:
    """Even points of a cube of `dim` dimensions."""
    X = np.random.default_rng(0).random((n, options["dim"]))
    return Data(X, X, options)


def sparse_rows(n: int, options: dict[str, Any]) -> Data:
    """float32 rows in `columns` dimensions of which a `share` of the entries is not zero, as counts of words are."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    columns = options["columns"]
    each = max(1, round(options["share"] * columns))
    places = np.sort(rng.integers(0, columns, size=(n, each)), axis=1)
    values = rng.random(n * each, dtype=np.float32) + 0.1
    X = csr_array((values, places.ravel(), np.arange(0, n * each + 1, each)), shape=(n, columns))
    X.sum_duplicates()
    return Data(X, None, options)


def curved_sheet(n: int, options: dict[str, Any]) -> Data:
    """float32 points near a curved sheet of 8 dimensions in `columns` dimensions, as images or spectra are."""
    rng = np.random.default_rng(0)
    Z = rng.random((n, 8), dtype=np.float32)
    inner = np.sin(Z @ rng.normal(size=(8, 64)).astype(np.float32))
    X = inner @ rng.normal(size=(64, options["columns"])).astype(np.float32)
    X += 0.1 * rng.normal(size=X.shape).astype(np.float32)
    return Data(np.ascontiguousarray(X, dtype=np.float32), None, options)


def parts(n: int, options: dict[str, Any]) -> Data:
    """Sums of `parts` nonnegative parts, half of whose `columns` entries are zero, with noise that is not negative."""
    rng = np.random.default_rng(0)
    k, D = options["parts"], options["columns"]
    H = rng.random((k, D)) * (rng.random((k, D)) < 0.5)
    return Data(rng.random((n, k)) @ H + 0.1 * rng.random((n, D)), None, options)
