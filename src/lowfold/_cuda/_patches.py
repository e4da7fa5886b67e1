"""Patches on a device: local principal components, and alignment kernels summed from patch matrices."""

from __future__ import annotations

import numpy as np

from lowfold._cuda._device import Array, Device

MOST = 32  # members of a patch
PATCH_BYTES = 48.0  # of an entry of a patch matrix: its value, its key, and both sorted, with their order
FEW_DIMENSIONS, WIDEST = 6, 16  # of a transport: for the quick kernel, and at most


def tangents(device: Device, X: Array, members: Array, d: int, tolerance: float) -> tuple[Array, Array]:
    """(m, K, d) leading principal directions of patches (m, K) of rows of X, and the singular values left out, summed.

    A direction whose singular value is at most `tolerance` of the largest is zero.
    """
    xp, (m, K) = device.xp, members.shape
    V, rest = xp.empty((m, K, d)), xp.empty(m)
    _launch(device, "tangents", K, m, X, m, X.shape[1], members, K, d, tolerance, V, rest)
    return V, rest


def weights(device: Device, X: Array, members: Array, reg: float) -> tuple[Array, Array]:
    """(m, K) rows (1, -w): each patch's first member by affine weights of the others; and how far off they are.

    (C + reg tr(C) I) w = 1, divided by its sum, with the local Gram matrix C; reg is above rounding.
    """
    xp, (m, K) = device.xp, members.shape
    B, error = xp.empty((m, K)), xp.empty(m)
    _launch(device, "weights", K - 1, m, X, m, X.shape[1], members, K, reg, B, error)
    return B, error


def spoke_eigen(device: Device, X: Array, members: Array) -> tuple[Array, Array]:
    """Eigenvalues (m, k), ascending, and vectors (m, k, k) of each patch's Gram matrix about its first member."""
    xp, (m, K) = device.xp, members.shape
    values, V = xp.empty((m, K - 1)), xp.empty((m, K - 1, K - 1))
    _launch(device, "spoke_eigen", K - 1, m, X, m, X.shape[1], members, K, values, V)
    return values, V


def directions(
    device: Device, X: Array, Q: Array, near: Array, distances: Array, scale: float, d: int
) -> tuple[Array, Array]:
    """Leading singular directions (m, columns, d) of sqrt(w_j) (x_j - q), and all singular values, descending.

    w_j = exp(-(s_j - s_0) / scale) with the squared distances s of the neighbours (m, k), s_0 the least above 0.
    """
    xp, (m, k), columns = device.xp, near.shape, X.shape[1]
    kept = min(k, columns)
    bases, spectra = xp.empty((m, columns, d)), xp.empty((m, kept))
    size = columns if columns <= MOST else k
    _launch(device, "directions", size, m, X, Q, m, columns, near, distances, k, d, kept, scale, bases, spectra)
    return bases, spectra


def transports(device: Device, O: Array, rows: Array, items: Array) -> tuple[Array, Array]:  # noqa: E741 - the paper's
    """The orthogonal matrix (entries, d, d) nearest to O_i' O_j for every entry (i, j), and how certain each one is."""
    xp, (_, columns, d), count = device.xp, O.shape, len(rows)
    out, certainty = xp.empty((count, d, d)), xp.empty(count)
    grid, kernel = (max(1, -(-count // 128)),), "transports6" if d <= FEW_DIMENSIONS else "transports16"
    device.launch("patches", kernel, grid, 128, O, columns, d, rows, items, count, out, certainty)
    return out, certainty


def _launch(device: Device, kernel: str, size: int, patches: int, *args: object) -> None:
    """One warp a patch, by the kernel for matrices of up to 16 or of up to 32 rows."""
    width, warps = (16, 4) if size <= 16 else (32, 2)
    device.launch("patches", f"{kernel}{width}", (max(1, -(-patches // warps)),), 32 * warps, *args)


def align(device: Device, members: Array, factor: Array, n: int, *, complement: bool) -> tuple[Array, Array, Array]:
    """Rows (indptr, indices, values) of K = sum_i S_i' W_i S_i, W = B B' or I - B B'; factor is (m, K, r).

    Every entry adds its patches in their order.
    """
    xp, K = device.xp, members.shape[1]
    W = factor @ factor.transpose(0, 2, 1)
    if complement:
        W = xp.eye(K) - W
    ids = members.astype(np.int64)
    keys = (ids[:, :, None] * n + ids[:, None, :]).ravel()
    order = xp.argsort(keys, kind="stable") if xp is np else xp.argsort(keys)
    keys = keys[order]
    first = xp.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    starts = xp.flatnonzero(first)
    ptr = xp.concatenate([starts, xp.asarray([len(keys)])]).astype(np.int64)
    values = xp.empty(len(starts))
    device.launch(
        "sparse", "add_segments", (-(-len(starts) // 256),), 256, ptr, order.astype(np.int64),
        xp.ascontiguousarray(W).ravel(), len(starts), values,
    )  # fmt: skip
    keys = keys[starts]
    indptr = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    return indptr, (keys % n).astype(np.int32), values
