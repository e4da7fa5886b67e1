"""Kernels on a device: local tangents, weights, the sum of patch matrices; transports and their blocks."""

from __future__ import annotations

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._device import Array, Device, active, on_cpu
from lowfold._cuda._patches import (
    MOST,
    PATCH_BYTES,
    WIDEST,
    align,
    directions,
    spoke_eigen,
    tangents,
    transports,
    weights,
)
from lowfold._cuda._sparse import DeviceSparse, block_rows, row_sums
from lowfold._cuda._tree import row_of_entry
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._lle import energy_shares, turned_weights
from lowfold.kernels._patches import RANK_TOL, Coordinates, Geometry, Patches
from lowfold.kernels._tangent import orthonormal_columns

BLOCK = 2**27  # numbers of the stacks that are worked on together: 1 GB
BLOCK_BYTES = 120.0  # of an entry of a transport: itself, weighted, with its place, and in the rows of the matrix
LEAST_REG = 1e-9  # below, a Cholesky factor of a local Gram matrix may break down


def _common_size(patches: Patches) -> int | None:
    """The number of members that all patches have, if the device sorts so many."""
    sizes = patches.sizes
    size = int(sizes[0]) if len(sizes) else 0
    return size if 0 < size <= MOST and bool((sizes == size).all()) else None


def tangents_on_device(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Array, Floats] | None:
    """G = [1 / sqrt(K), V] of every member and the singular values left out; None where the CPU has to find them."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None or not isinstance(geometry, Coordinates) or d > min(K - 1, geometry.n_features):
        on_cpu("local tangents", f"the device takes coordinates in patches of one size of at most {MOST}")
        return None
    xp = device.xp
    members = device.put(patches.members).reshape(-1, K)
    V, rest = tangents(device, device.put(geometry.F, np.float64), members, d, RANK_TOL)
    G = xp.empty((len(members), K, d + 1))
    G[:, :, 0] = 1.0 / np.sqrt(K)
    G[:, :, 1:] = V
    return G.reshape(-1, d + 1), np.asarray(device.get(rest))


def hessians_on_device(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Array, Floats] | None:
    """Q of every member (`hessian_rows`) and the singular values left out; None where the CPU has to find them."""
    found = tangents_on_device(patches, geometry, d, run)
    device, K = active(run), _common_size(patches)
    if found is None or device is None or K is None:
        return None
    G = found[0].reshape(-1, K, d + 1)
    V = G[:, :, 1:]
    products = device.xp.concatenate([V[:, :, a : a + 1] * V[:, :, a:] for a in range(d)], axis=2)
    return orthonormal_columns(products, G).reshape(-1, d * (d + 1) // 2), found[1]


def _weighed(patches: Patches, geometry: Geometry, reg: float, run: Run) -> tuple[Device, Array, Array] | None:
    """The device, the points and the members of patches whose weights it finds; None where the CPU has to."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None or K < 2 or not isinstance(geometry, Coordinates) or reg < LEAST_REG:
        on_cpu("reconstruction weights", f"the device takes coordinates, patches of one size up to {MOST}, and a ridge")
        return None
    return device, device.put(geometry.F, np.float64), device.put(patches.members).reshape(-1, K)


def weights_on_device(patches: Patches, geometry: Geometry, reg: float, run: Run) -> tuple[Array, Floats] | None:
    """B_i = e_i - w_i of every member and the residuals; None where the CPU has to find them."""
    found = _weighed(patches, geometry, reg, run)
    if found is None:
        return None
    device, X, members = found
    B, error = weights(device, X, members, reg)
    return B.reshape(-1, 1), np.asarray(device.get(error))


def weight_vectors_on_device(
    patches: Patches, geometry: Geometry, d: int, reg: float, run: Run
) -> tuple[Array, Ints] | None:
    """B of `modified_alignment` for every member and the number of weight vectors; None where the CPU finds them."""
    found = _weighed(patches, geometry, reg, run)
    if found is None:
        return None
    device, X, members = found
    (m, K), xp = members.shape, device.xp
    most = max(1, K - 1 - d)
    device.require(8.0 * m * (K * most + (K - 1) ** 2), f"weight vectors of {m} patches", "use fewer neighbours")
    values, V = spoke_eigen(device, X, members)
    w = -weights(device, X, members, reg)[0][:, 1:]
    eta = float(xp.median(energy_shares(values, d)[~device.put(patches.twin)]))
    B, counts = xp.empty((m, K, most)), xp.empty(m, np.int64)
    for part in block_slices(m, max(1, BLOCK // K**2)):
        W, counts[part] = turned_weights(values[part], V[part], w[part], d, eta)
        B[part, 0] = xp.arange(most) < counts[part][:, None]
        B[part, 1:] = -W
    return B.reshape(m * K, most), device.get(counts)


def local_pca_on_device(
    X: AnyFloats, Q: AnyFloats, neighbors: Neighbors, scale: float, d: int, run: Run
) -> tuple[Floats, Floats] | None:
    """Bases and spectra of `local_pca`, which the device remembers; None where the CPU has to find them."""
    device, k = active(run), neighbors.k
    if device is None:
        return None
    if not k or k > MOST:
        on_cpu("local directions", f"the device takes neighbourhoods of one size of at most {MOST}")
        return None
    near, distances = (device.put(part).reshape(-1, k) for part in (neighbors.indices, neighbors.distances))
    rows = device.put(X, np.float64)
    bases, spectra = directions(device, rows, rows if Q is X else device.put(Q, np.float64), near, distances, scale, d)
    if X.shape[1] > MOST and not bool((spectra[:, d - 1] > RANK_TOL * spectra[:, 0]).all()):
        on_cpu("local directions", "some neighbourhoods span fewer directions, which are then any")
        return None
    return device.remembered(bases), device.remembered(spectra)


def blocks_on_device(
    graph: Graph, weights: Floats, loops: float, bases: Floats, alpha: float, run: Run
) -> tuple[DeviceSparse, Floats, Floats, Floats, Floats] | None:
    """What `connection` gives: the operator, which stays on the device, densities, degrees, transports, certainty.

    None where the CPU has to make it.
    """
    device, d = active(run), bases.shape[2]
    if device is None:
        return None
    if d > WIDEST:
        on_cpu("transports", f"the device aligns up to {WIDEST} dimensions")
        return None
    xp, n = device.xp, graph.n
    indptr, columns, k = device.put(graph.indptr), device.put(graph.indices), device.put(weights)
    way_out = "use fewer n_neighbors or a smaller radius"
    device.require(BLOCK_BYTES * (len(columns) + n) * d * d, f"transports in dimension {d}", way_out)
    rows = row_of_entry(xp, indptr, len(columns))
    O, certainty = transports(device, device.put(bases), rows.astype(np.int32), columns)  # noqa: E741 - the paper's
    q = row_sums(device, indptr, k) + loops
    a = q**-alpha
    w = k * (a[rows] * a[columns])
    degrees = row_sums(device, indptr, w) + loops * a * a
    s = 1.0 / xp.sqrt(degrees)
    blocks = (w * (s[rows] * s[columns]))[:, None, None] * O
    own = (loops * a * a / degrees)[:, None, None] * xp.eye(d)
    operator = DeviceSparse(device, *block_rows(device, indptr, columns, blocks, own), bound=1.0, n_jobs=run.n_jobs)
    return operator, *(np.asarray(device.get(part)) for part in (q, degrees, O, certainty))  # type: ignore[return-value]


def align_on_device(patches: Patches, factor: Array, complement: bool, run: Run) -> DeviceSparse | None:
    """K, which stays on the device; None where the CPU has to sum it."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None:
        on_cpu("an alignment kernel", f"the device takes patches of one size of at most {MOST}")
        return None
    n = patches.n_points
    members = device.put(patches.members).reshape(-1, K)
    B = factor if not isinstance(factor, np.ndarray) else device.put(np.ascontiguousarray(factor))
    if not device.has_room(PATCH_BYTES * len(members) * K * K, "an alignment kernel"):
        return None
    rows = align(device, members, B.reshape(len(members), K, -1), n, complement=complement)
    return DeviceSparse(device, *rows, psd=True, n_jobs=run.n_jobs)
