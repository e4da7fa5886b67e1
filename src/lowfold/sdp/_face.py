"""Facial reduction: where equalities hold whole neighbourhoods, K lives on a small face of the cone.

A clique (all pairs held) of c points whose distances fit into r < c - 1 dimensions has vectors v on it, 1'v = 0, with

    v' K v = -1/2 sum_ab v_a v_b s_ab = 0   for every feasible K, so that K v = 0

and K = V R V' with V a basis of what is orthogonal to all of them. Neighbourhoods of more than D + 1 points of R^D
often leave R of size D: the program has one feasible point, no interior, and the multipliers of a general solver grow
without end. On the face it is tiny and well posed. Krislock & Wolkowicz (2010), doi:10.1137/090759392.

The proof is carried back to all pairs, so that it holds for the whole program whatever the face was. Every v v' is a
Laplacian of the clique's pairs, v v' = sum_a<b -v_a v_b (e_a - e_b)(e_a - e_b)': the sum u of these weights costs
nothing, u's = 0, and holds every direction off the face. Multipliers w that carry the load Y, L_w Y = Y, become
feasible with t u for t large enough: L_(w + t u) - (I - 11'/n) psd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.sparse import coo_array, csc_array, csr_array, eye_array, vstack

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.stacks import stacked_eigh, stacked_eigvalsh
from lowfold._core.types import Floats, Ints
from lowfold.sdp._interior import interior
from lowfold.sdp._program import RankOne, Unfolding, complement, stress_laplacian
from lowfold.sdp._solution import Callback, Solution, Step, numerical_rank, ordered, relative_gap, rms
from lowfold.sdp._svec import smat, svec_rows, triangle

FLAT = 1e-13  # of a clique's largest eigenvalue: what counts as 0; measured distances are never so exact
OFF_FACE = 1e-13  # of the largest eigenvalue of sum v v': directions below it are on the face
# A face is sought by a dense eigenproblem of all points, and the program on it has d (d + 1) / 2 unknowns: beyond the
# first it takes longer than it saves, beyond the second it is no longer tiny.
FACE_POINTS, FACE_DIMENSIONS = 2_000, 40
RANK = 1e-7  # of the trace: directions of the face that K does not use carry less
INDEPENDENT = 1e-7  # of the largest diagonal entry of R: the face itself is known to 3e-7, the root of OFF_FACE
# Asked of the small program, whose error is carried to all pairs and judged there by `tol`.
SHARP, SHARPER = 1e-8, 1e-3  # at most the first, and the second of `tol`
GROUND = 1e-13  # of the largest diagonal entry: motions that change no distance make the stiffness matrix singular
REFINEMENTS = 20  # each takes off at least half of what is left; twenty take off six digits
NOT_EUCLIDEAN = 1e4  # times FLAT, below 0: more than rounding, so no points have these distances
LADDER = 4.0  # t rises by this factor while the bound gets better
FOOT, TOP = 0.1, 1e15  # of the ladder, in units of 1 / hold and absolute: beyond, w is lost in the digits of t u
EIGENVALUE = 10 * np.finfo(np.float64).eps  # of the largest eigenvalue: what LAPACK may be off by in the smallest


@dataclass(frozen=True, eq=False)
class Face:
    """V (n, q), orthonormal and centred, and `exposing` u with L_u = sum v v'; off V it is at least `hold`."""

    basis: Floats
    exposing: Floats
    hold: float

    @property
    def dimension(self) -> int:
        return int(self.basis.shape[1])


def cliques(n: int, pairs: Ints) -> list[Ints]:
    """A maximal clique around every pair, grown by the point that leaves most candidates; each once.

    >>> [c.tolist() for c in cliques(5, np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]]))]
    [[0, 1, 2], [2, 3], [3, 4]]
    """
    adjacent = [0] * n  # sets of points as the bits of integers
    for i, j in pairs.tolist():
        adjacent[i] |= 1 << j
        adjacent[j] |= 1 << i
    found = set()
    for i, j in pairs.tolist():
        clique, candidates = [i, j], adjacent[i] & adjacent[j]
        while candidates:
            best = max(_members(candidates), key=lambda v: (candidates & adjacent[v]).bit_count())
            clique.append(best)
            candidates &= adjacent[best]
        found.add(tuple(sorted(clique)))
    return [np.array(clique, dtype=np.int64) for clique in sorted(found)]


def _members(bits: int) -> list[int]:
    out = []
    while bits:
        lowest = bits & -bits
        out.append(lowest.bit_length() - 1)
        bits ^= lowest
    return out


def face(program: Unfolding) -> Face | None:
    """The face that the cliques of an equality program leave; None where they leave all, or contradict each other."""
    n = program.n
    vectors = _null_vectors(program)
    if vectors is None or not vectors.shape[0]:
        return None
    held = csr_array(vectors.T @ vectors)
    V = complement(np.ones(n))
    values, U = stacked_eigh(V.T @ (held @ V))
    q = int((values <= OFF_FACE * values[-1]).sum())
    u = -np.asarray(held.tocsr()[program.pairs[:, 0], program.pairs[:, 1]], dtype=np.float64).ravel()
    return Face(np.ascontiguousarray(V @ U[:, :q]), u, float(values[q]) if q < n - 1 else np.inf)


def _null_vectors(program: Unfolding) -> csr_array | None:
    """All v of all cliques, as rows; None where a clique's distances fit into no Euclidean space."""
    n, (i, j) = program.n, program.pairs.T
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    S = coo_array((np.concatenate([program.squared] * 2), both), shape=(n, n)).tocsr()
    sets = cliques(n, program.pairs)
    rows: list[Floats] = []
    places: list[Ints] = []
    for size in sorted({len(c) for c in sets}):
        members = np.array([c for c in sets if len(c) == size])
        a = np.arange(size)
        entries = S[np.repeat(members, size, axis=1).ravel(), np.tile(members, (1, size)).ravel()]
        squared = np.asarray(entries, dtype=np.float64).reshape(len(members), size, size)
        squared[:, a, a] = 0.0
        Q = complement(np.ones(size))
        values, U = stacked_eigh(-0.5 * Q.T @ squared @ Q)
        flat = values <= FLAT * np.maximum(values[:, -1:], NO_DIVISOR)
        if (values < -NOT_EUCLIDEAN * FLAT * np.maximum(values[:, -1:], NO_DIVISOR)).any():
            return None
        which, column = np.nonzero(flat)
        rows.append(np.swapaxes(Q @ U, 1, 2)[which, column].ravel())
        places.append(members[which].ravel())
    lengths = np.concatenate([np.full(len(r) // size, size) for r, size in zip(rows, sorted({len(c) for c in sets}))])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((np.concatenate(rows), np.concatenate(places), indptr), shape=(len(lengths), n))


def solve_on_face(
    program: Unfolding, face: Face, *, tol: float = 1e-3, max_iter: int = 100, callback: Callback | None = None
) -> Solution:
    """Solve for R, then carry the multipliers back to all pairs; gap and violation are those of the whole program."""
    E = program.incidence()
    R, w, iterations, stopped = _reduced(program, E @ face.basis, tol, max_iter, callback)
    values, U = stacked_eigh(R)
    used = values > RANK * max(float(values.sum()), 0.0)
    Y = face.basis @ (U * np.sqrt(np.maximum(values, 0.0)))[:, used]
    idle = face.basis @ U[:, ~used]
    weights, bound = _proof(program, face, E, w + _resolving(E, Y, idle, w))
    Y = ordered(Y)
    excess = np.sum((E @ Y) ** 2, axis=1) - program.squared
    primal, violation = float(np.sum(Y**2)), rms(excess)
    gap, rank, unit = relative_gap(primal, bound), numerical_rank(Y), program.unit
    if callback is not None and not stopped:
        stopped = bool(callback(Step("facial", iterations, primal, bound, gap, violation, rank)))
    return Solution(
        Y * np.sqrt(unit),
        weights,
        primal * unit,
        bound * unit,
        gap,
        violation,
        float(np.abs(excess).max(initial=0.0)),
        rank,
        "facial",
        iterations,
        abs(gap) <= tol and violation <= tol,
        stopped,
    )


def _reduced(
    program: Unfolding, G: Floats, tol: float, max_iter: int, callback: Callback | None
) -> tuple[Floats, Floats, int, bool]:
    """R, multipliers of the pairs (0: none needed), iterations, whether a callback stopped it.

    Most pairs say the same on the face: a largest independent set is kept. Where it fixes all of R nothing is left to
    maximise.
    """
    q, w = G.shape[1], np.zeros(program.m)
    rows = svec_rows(G)
    _, triangle, order = qr(rows.T, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(triangle))
    kept = order[: int((sizes > INDEPENDENT * sizes[0]).sum())]
    if len(kept) == rows.shape[1]:
        x = np.linalg.lstsq(rows, program.squared, rcond=None)[0]
        return smat(np.asarray(x), q), w, 1, False
    small = RankOne(np.eye(q), G[kept], program.squared[kept], "eq", program.nu)
    found = interior(small, tol=min(SHARP, SHARPER * tol), max_iter=max_iter, callback=callback)
    w[kept] = found.w
    return found.L, w, found.iterations, found.stopped


def _resolving(E: csr_array, Y: Floats, idle: Floats, w: Floats) -> Floats:
    """The smallest dw with L_(w + dw) Y = Y, weights that carry the pull Y on every point, as complementarity asks.

    On the directions of the face that K does not use, `idle`, L_w stays what it is, or becomes 2 I where w is 0.
    dw = A'x with A A' x = the load, A A' being the stiffness matrix of the framework. It is singular by the motions
    that change no distance, which A' takes out again.
    """
    from scipy.sparse.linalg import splu

    U = E @ Y
    parts = [csr_array(E.multiply(U[:, c : c + 1]).T) for c in range(Y.shape[1])]
    load = (Y - E.T @ (w[:, None] * U)).T.ravel()
    if idle.shape[1]:
        kept = svec_rows(E @ idle).T
        parts.append(csr_array(kept))
        i, j = triangle(idle.shape[1])
        load = np.concatenate([load, np.zeros(len(i)) if w.any() else 2.0 * (i == j)])
    A = csr_array(vstack(parts))
    stiffness = csr_array(A @ A.T)
    shift = GROUND * float(stiffness.diagonal().max())
    factor = splu(csc_array(stiffness + shift * eye_array(len(load), format="csr")))
    dw, left = np.zeros_like(w), load
    for _ in range(REFINEMENTS):
        step = np.asarray(A.T @ factor.solve(left))
        after = load - A @ (dw + step)
        if not np.linalg.norm(after) < 0.5 * np.linalg.norm(left):
            break
        dw, left = dw + step, after
    return dw


def _proof(program: Unfolding, face: Face, E: csr_array, w: Floats) -> tuple[Floats, float]:
    """(w + t u) / mu and their value for the best t on a ladder; mu is the smallest eigenvalue less its rounding."""
    best, bound = w, np.inf
    t = FOOT / face.hold
    eps = float(np.finfo(np.float64).eps)
    V = complement(np.ones(program.n))
    while t < TOP:
        tried = w + t * face.exposing
        values = stacked_eigvalsh(V.T @ (stress_laplacian(E, tried) @ V))
        mu = float(values[0]) - EIGENVALUE * float(values[-1])
        parts = tried * program.squared
        value = (math.fsum(parts) + eps * float(np.abs(parts).sum())) / mu if mu > 0 else np.inf
        if value >= bound and np.isfinite(bound):
            break
        if value < bound:
            best, bound = tried / mu, value
        t *= LADDER
    return best, bound
