"""Patches on a device: local principal components, and alignment kernels summed from patch matrices."""

from __future__ import annotations

import numpy as np

from lowfold._cuda._device import Array, Device

MOST = 32  # members of a patch


def tangents(device: Device, X: Array, members: Array, d: int, tolerance: float) -> tuple[Array, Array]:
    """(m, K, d) leading principal directions of patches (m, K) of rows of X, and the singular values left out, summed.

    A direction whose singular value is at most `tolerance` of the largest is zero.
    """
    xp, (m, K) = device.xp, members.shape
    V, rest = xp.empty((m, K, d)), xp.empty(m)
    width, warps = (16, 4) if K <= 16 else (32, 2)
    device.launch(
        "patches", f"tangents{width}", (-(-m // warps),), 32 * warps, X, m, X.shape[1], members, K, d, tolerance, V,
        rest,
    )  # fmt: skip
    return V, rest


def weights(device: Device, X: Array, members: Array, reg: float) -> tuple[Array, Array]:
    """(m, K) rows (1, -w): each patch's first member by affine weights of the others; and how far off they are.

    (C + reg tr(C) I) w = 1, divided by its sum, with the local Gram matrix C; reg is above rounding.
    """
    xp, (m, K) = device.xp, members.shape
    B, error = xp.empty((m, K)), xp.empty(m)
    width, warps = (16, 4) if K <= 17 else (32, 2)
    device.launch(
        "patches", f"weights{width}", (-(-m // warps),), 32 * warps, X, m, X.shape[1], members, K, reg, B, error
    )  # fmt: skip
    return B, error


def align(device: Device, members: Array, factor: Array, n: int, *, complement: bool) -> tuple[Array, Array, Array]:
    """Rows (indptr, indices, values) of K = sum_i S_i' W_i S_i, W = B B' or I - B B'; factor is (m, K, r).

    Every entry adds its patches in their order.
    """
    xp, (m, K) = device.xp, members.shape
    device.require(48.0 * m * K * K, f"the {m} patch matrices of {K} x {K}", "use fewer neighbours")
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
