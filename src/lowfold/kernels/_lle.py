"""Reconstruction weights: each point as an affine combination of its neighbours.

Roweis & Saul (2000), doi:10.1126/science.290.5500.2323; Wang (2012), Sections 10.2 and 10.4,
doi:10.1007/978-3-642-27497-8; Zhang & Wang (2007), MLLE, Advances in Neural Information Processing Systems 19.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.parallel import run_blocks
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import Geometry, Patches

WEIGHTS = ("affine", "clipped", "convex")
LEAST_RIDGE = 1e-9  # of the trace, for convex weights: inside the hull they are not unique without some ridge
HULL = 1e-10  # of k, the squared length of 1: with less of 1 in the null space the point is off its neighbours' hull
OUTLIER = 1e-3  # weight of a point with a residual where most have none: nearly none, but no division by 0
ON_EDGE = 1e-14  # of the polygon's squared size: a cross product, twice the area with the edge, that is rounding
REG_WHEN = ("always", "k>D", "k>d", "never")


def gram_weights(C: Floats, *, reg: float = 1e-3, kind: str = "affine", penalty: Floats | None = None) -> Floats:
    """w (m, k) minimising w'Cw + reg tr(C) sum_j p_j w_j^2 with sum_j w_j = 1, from local Gram matrices C (m, k, k).

    (C + ridge) w = 1, divided by its sum; p = `penalty` (m, k) is 1 unless given. With reg=0 all four cases of the
    rank have their answer, the limit reg -> 0: see `limit_weights`. `kind` "clipped" sets negative weights to 0 and
    divides by the new sum (Wang 2012, Remark 10.1); "convex" minimises over w >= 0: generalised barycentric
    coordinates of the nearest point of the neighbours' hull. A point that coincides with a neighbour takes weight 1
    on it, whatever `reg`.
    """
    m, k, _ = C.shape
    trace = np.trace(C, axis1=1, axis2=2)
    p = np.ones((m, k)) if penalty is None else penalty
    share = max(reg, LEAST_RIDGE) if kind == "convex" else reg
    ridge = (np.where(trace > 0, share * trace, 1.0)[:, None] * p)[:, :, None] * np.eye(k)
    if kind == "convex":
        w = _convex(C + ridge)
    elif reg > 0:
        w = np.asarray(np.linalg.solve(C + ridge, np.ones((m, k, 1)))[:, :, 0], dtype=np.float64)
        w /= w.sum(axis=1, keepdims=True)
    else:
        w = limit_weights(C)
    if kind == "clipped":
        w = np.maximum(w, 0.0)
        w /= w.sum(axis=1, keepdims=True)  # positive: the weights summed to 1 before
    zero = np.diagonal(C, axis1=1, axis2=2) == 0
    hit = zero.any(axis=1)
    if hit.any():
        w[hit] = np.eye(k)[np.argmax(zero[hit], axis=1)]
    return w


def limit_weights(C: Floats, *, tol: float = 1e-12) -> Floats:
    """Weights without a ridge: the minimum-norm minimiser of w'Cw with sum 1, whatever the rank of C.

    With P the projector on the null space of C: w = P1 / (1'P1) where P1 is not zero (the point lies in the affine
    hull of its neighbours), else w = C^+ 1 / (1'C^+ 1). The second also covers a null vector that sums to zero
    (neighbours affinely dependent, the point off their hull), for which the rule of Wang (2012), Section 10.4.2
    divides by zero.
    """
    k = C.shape[1]
    values, V = stacked_eigh(C)
    size = np.maximum(values[:, -1:], 0.0)
    null = values <= tol * k * size
    b = V.sum(axis=1)  # V'1
    inside = np.where(null, b, 0.0)
    outside = np.where(null, 0.0, b / np.where(null, 1.0, values))
    from_null = (inside**2).sum(axis=1, keepdims=True) > HULL * k
    w = (V @ np.where(from_null, inside, outside)[:, :, None])[:, :, 0]
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _convex(C: Floats) -> Floats:
    loops = compiled("lowfold.kernels._convex_loops")
    w = np.empty(C.shape[:2])
    loops.simplex_weights(np.ascontiguousarray(C), w)
    return w


def applied_reg(reg: float, when: str, k: int, n_features: int, d: int) -> float:
    """The ridge for neighbourhoods of k points: up to k = D weights are unique without one. D = 0 is unknown."""
    use = {"always": True, "never": False, "k>D": k > n_features, "k>d": k > d}[when]
    return reg if use else 0.0


def reconstruction_alignment(
    patches: Patches,
    geometry: Geometry,
    d: int,
    run: Run,
    *,
    reg: float,
    reg_when: str = "always",
    kind: str = "affine",
    rho: Floats | None = None,
) -> tuple[Alignment, Floats]:
    """B_i = e_i - w_i, so that K = (I - W)'(I - W); and the residuals ||x_i - sum_j w_ij x_j||.

    Patches have the point itself first. Wang (2012), eq. (10.6). With `rho` (see `outlier_factors`) the ridge on
    neighbour j is divided by rho_j and row i of I - W multiplied by sqrt(rho_i).
    """
    if run.device != "cpu" and kind == "affine" and rho is None and patches.n:
        from lowfold.kernels._on_device import weights_on_device

        ridge = applied_reg(reg, reg_when, int(patches.sizes[0]) - 1, geometry.n_features, d)
        with run.stage("reconstruction weights on the device"):
            found = weights_on_device(patches, geometry, ridge, run)
        if found is not None:
            return Alignment(patches, found[0]), found[1]
    B = np.zeros((len(patches.members), 1))
    residuals = np.zeros(patches.n)
    blocks = list(patches.groups(geometry.cost))

    def work(b: int) -> None:
        rows, index, places = blocks[b]
        C = geometry.spokes(index[:, 0].astype(np.int64), index[:, 1:])
        ridge = applied_reg(reg, reg_when, C.shape[1], geometry.n_features, d)
        penalty = None if rho is None else 1.0 / rho[index[:, 1:]]
        w = gram_weights(C, reg=ridge, kind=kind, penalty=penalty)
        size = 1.0 if rho is None else np.sqrt(rho[rows])
        B[places[:, 0], 0] = size
        B[places[:, 1:], 0] = -w * np.reshape(size, (-1, 1))
        residuals[rows] = np.sqrt(np.maximum(np.einsum("mj,mjl,ml->m", w, C, w), 0.0))

    with run.stage("reconstruction weights") as progress:
        run_blocks(work, len(blocks), n_jobs=run.n_jobs, progress=progress)
    return Alignment(patches, B), residuals


def outlier_factors(residuals: Floats, scale: float, counted: NDArray[np.bool_] | None = None) -> Floats:
    """rho_i = 1 / (1 + (r_i / s)^2), s = `scale` times the median residual: near 0 for points their neighbours miss.

    Gering (2002) proposes to reduce the reconstruction weights of points with a large least-squares residual. The
    median is that of the points `counted`: repeated points have the residual 0.
    """
    s = scale * float(np.median(residuals if counted is None else residuals[counted]))
    return 1.0 / (1.0 + (residuals / s) ** 2) if s > 0 else np.where(residuals > 0, OUTLIER, 1.0)


def modified_alignment(
    patches: Patches, geometry: Geometry, d: int, run: Run, *, reg: float
) -> tuple[Alignment, NDArray[np.int64]]:
    """Several weight vectors per point (Zhang & Wang 2007), and how many each point has.

    Where C_i is nearly singular many weight vectors reconstruct the point equally well. The s_i smallest eigenvectors
    V_i of C_i, turned by a Householder reflection and shifted by the regularised weights, W_i = V_i H_i + (1 - a_i)
    w_i 1', all sum to one; s_i is the largest for which the energy left out is below the median share eta beyond d
    dimensions.
    """
    if run.device != "cpu":
        from lowfold.kernels._on_device import weight_vectors_on_device

        with run.stage("reconstruction weights on the device"):
            found = weight_vectors_on_device(patches, geometry, d, reg, run)
        if found is not None:
            return Alignment(patches, found[0]), found[1]
    eta = _median_share(patches, geometry, d)
    widest = int(patches.sizes.max(initial=2)) - 1
    B = np.zeros((len(patches.members), max(1, widest - min(d, widest - 1))))
    counts = np.zeros(patches.n, dtype=np.int64)
    blocks = list(patches.groups(geometry.cost))

    def work(b: int) -> None:
        rows, index, places = blocks[b]
        C = geometry.spokes(index[:, 0].astype(np.int64), index[:, 1:])
        W, s = multiple_weights(C, d, eta, reg)
        kept = np.arange(W.shape[2]) < s[:, None]
        B[places[:, 0], : W.shape[2]] = kept
        B[places[:, 1:], : W.shape[2]] = -W
        counts[rows] = s

    with run.stage("reconstruction weights") as progress:
        run_blocks(work, len(blocks), n_jobs=run.n_jobs, progress=progress)
    return Alignment(patches, B), counts


def _median_share(patches: Patches, geometry: Geometry, d: int) -> float:
    """eta: the median over the points of (energy beyond d directions) / (energy inside); repeated points count once."""
    shares = []
    for rows, index, _ in patches.groups(geometry.cost):
        index = index[~patches.twin[rows]]
        values, _ = stacked_eigh(geometry.spokes(index[:, 0].astype(np.int64), index[:, 1:]))
        shares.append(energy_shares(values, d))
    return float(np.median(np.concatenate(shares))) if shares else 0.0


def energy_shares(values: Floats, d: int) -> Floats:
    """(energy beyond d directions) / (energy inside), of ascending eigenvalues (m, k)."""
    values = np.maximum(values[:, ::-1], 0.0)
    inside = values[:, :d].sum(axis=1)
    return cast("Floats", values[:, d:].sum(axis=1) / np.where(inside > 0, inside, 1.0))


def multiple_weights(C: Floats, d: int, eta: float, reg: float) -> tuple[Floats, NDArray[np.int64]]:
    """W (m, k, s_max), columns beyond s_i zero, and s (m,): up to k - d weight vectors per point, summing to 1 each."""
    values, V = stacked_eigh(C)
    return turned_weights(values, V, gram_weights(C, reg=reg), d, eta)


def turned_weights(values: Floats, V: Floats, w: Floats, d: int, eta: float) -> tuple[Floats, NDArray[np.int64]]:
    """`multiple_weights` from eigenpairs of C and its regularised weights, as arrays of any library."""
    values = np.maximum(values, 0.0)
    most = max(1, V.shape[1] - d)
    total = values.sum(axis=1, keepdims=True)
    left_out = np.cumsum(values, axis=1)[:, :most]  # energy of the s smallest, s = 1..most
    kept = total - left_out
    s = np.maximum((left_out <= max(eta, ROUNDING) * kept).sum(axis=1), 1)
    inside = np.arange(most, like=V) < s[:, None]
    U = V[:, :, :most] * inside[:, None, :]  # the s_i smallest eigenvectors
    b = U.sum(axis=1)  # V'1
    alpha = np.linalg.norm(b, axis=1) / np.sqrt(s)
    h = np.where(inside, alpha[:, None], 0.0) - b
    size = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.where(size > ROUNDING, h / np.where(size > 0, size, 1.0), 0.0)
    reflected = U - 2.0 * (U @ h[:, :, None]) * h[:, None, :]
    W = (reflected + ((1.0 - alpha)[:, None] * w)[:, :, None]) * inside[:, None, :]
    return W, s


def barycentric_coordinates(p: NDArray[np.floating], vertices: NDArray[np.floating]) -> Floats:
    """The unique weights of points p (m, D) in a simplex of D + 1 vertices: sum w_i v_i = p, sum w_i = 1.

    >>> barycentric_coordinates(np.array([[0.25, 0.25]]), np.array([[0.0, 0], [1, 0], [0, 1]])).tolist()
    [[0.5, 0.25, 0.25]]
    """
    p, vertices = np.atleast_2d(np.asarray(p, np.float64)), np.asarray(vertices, np.float64)
    count, D = vertices.shape
    if count != D + 1:
        raise InvalidInput(f"a simplex in {D} dimensions has {D + 1} vertices; got {count}")
    edges = (vertices[1:] - vertices[0]).T
    try:
        rest = np.linalg.solve(edges, (p - vertices[0]).T).T
    except np.linalg.LinAlgError as error:
        raise InvalidInput("vertices must be in general position; these lie in a common hyperplane") from error
    return np.column_stack([1.0 - rest.sum(axis=1), rest])


def mean_value_coordinates(p: NDArray[np.floating], polygon: NDArray[np.floating]) -> Floats:
    """Generalised barycentric coordinates of points p (m, 2) in a convex polygon, vertices (n, 2) in order.

    w_i ~ (tan(a_{i-1} / 2) + tan(a_i / 2)) / ||v_i - p|| with a_i the angle at p between v_i and v_{i+1} (Floater 2003,
    doi:10.1016/S0167-8396(03)00002-5). On an edge they interpolate linearly, at a vertex they are 1 there.
    """
    p, v = np.atleast_2d(np.asarray(p, np.float64)), np.asarray(polygon, np.float64)
    if v.ndim != 2 or v.shape[1] != 2 or len(v) < 3:
        raise InvalidInput(f"polygon must be at least 3 vertices with 2 coordinates; got shape {v.shape}")
    spoke = v[None] - p[:, None]
    ahead = np.roll(spoke, -1, axis=1)
    r, r_ahead = np.linalg.norm(spoke, axis=2), np.linalg.norm(ahead, axis=2)
    cross = spoke[..., 0] * ahead[..., 1] - spoke[..., 1] * ahead[..., 0]
    dot = (spoke * ahead).sum(axis=2)
    size = np.linalg.norm(np.ptp(v, axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        half = (r * r_ahead - dot) / cross  # tan(a / 2)
        w = (np.roll(half, 1, axis=1) + half) / r
        w = w / w.sum(axis=1, keepdims=True)
    for i, e in np.argwhere((np.abs(cross) <= ON_EDGE * size**2) & (dot <= 0)):  # on the edge from v_e to v_{e+1}
        share = r[i, e] / max(r[i, e] + r_ahead[i, e], np.finfo(float).tiny)
        w[i] = 0.0
        w[i, e], w[i, (e + 1) % len(v)] = 1.0 - share, share
    return np.asarray(w)
