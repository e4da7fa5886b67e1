"""Ways to make weights dual feasible: L_w - (I - 11'/n) psd, at a low price.

A direction v with v' L_w v = 1 - delta lacks delta. Three ways to give it, each by weights u that are added:

- a flow: send v along the pairs, v = E'f. By Cauchy-Schwarz L_u - v v' is psd for u_e = |f_e| t / sqrt(s_e),
  t = sum_e |f_e| sqrt(s_e), at the price sum_e u_e s_e = t^2. All weights are positive;
- a bend: in a clique (all pairs held) the matrix P that takes out the mean and the coordinates Y is a Laplacian of its
  pairs, and costs <P, Y Y'>, next to nothing. Cliques in which v bends away from Y, each by how much, make u. Cheap
  where v is local, as the rough directions are; some weights are negative;
- a balance: the least change of w with L_w y = y for the columns y of Y that carry the load. In these directions there
  is no cheaper way, and a minimisation ends a little beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, vstack

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats, Ints
from lowfold.sdp._program import Unfolding, stress_laplacian
from lowfold.sdp._solution import ordered

# In units of the mean squared distance: a pair nearer than a thousandth of the typical one would carry all the current.
SHORTEST = 1e-6
# Of the largest diagonal entry, added before a factor of a Laplacian: the constant is in its null space, where a pivot
# is rounding. Well above that rounding; an eigenvalue so little below 0 is shown by the eigen-solve that follows.
GROUND = 1e-9
CANDIDATES, MEMBERS = 24, 12  # nearest partners of a point that are tried for its clique, and those taken
# Squared spread of Y inside a clique, in units of the mean squared distance, that counts as none: a tenth of one.
FLAT = 1e-2
LOADED, COLUMNS = 1e-3, 4  # share of the trace from which a column of Y is balanced, and how many at most
# Up to so many points matrices are given to LAPACK as a whole: it factors one of 1,000 points in 12 ms, SuperLU
# in 10 on sheets and in 400 on clouds.
DENSE_POINTS = 1_500


def flows(program: Unfolding, E: csr_array, V: Floats) -> Floats:
    """u (m, p) with L_u - v v' psd for each column v of V, from its electric flow."""
    lengths = np.sqrt(np.maximum(program.squared, SHORTEST))
    conductance = stress_laplacian(E, 1.0 / lengths)
    grounded = conductance + GROUND * float(conductance.diagonal().max()) * eye_array(program.n)
    if program.n <= DENSE_POINTS:
        factor = scipy.linalg.cho_factor(grounded.toarray(), lower=True, overwrite_a=True)
        potentials = scipy.linalg.cho_solve(factor, V)
    else:
        from scipy.sparse.linalg import splu

        potentials = splu(csc_array(grounded)).solve(np.ascontiguousarray(V))
    f = np.abs(E @ potentials) / lengths[:, None]
    return np.asarray(f * (lengths @ f) / lengths[:, None])


@dataclass(frozen=True, eq=False)
class Bends:
    """Cliques of equal size: `members` (b, k), the `places` of their pairs in the program, and P (b, k, k)."""

    members: Ints
    places: Ints
    P: Floats

    def shares(self, V: Floats) -> Floats:
        """How much each column of V bends in each clique."""
        inside = V[self.members]
        return np.asarray(np.einsum("bkp,bkp->bp", self.P @ inside, inside))

    def add(self, shares: Floats, out: Floats) -> None:
        """The Laplacian sum_b shares_b P_b as weights of pairs, for each column of the shares."""
        a, b = np.triu_indices(self.members.shape[1], 1)
        rows, columns = np.arange(self.places.size), self.places.ravel()
        each = csr_array((-self.P[:, a, b].ravel(), (columns, rows // len(a))), shape=(len(out), len(self.members)))
        out += np.asarray(each @ shares)


def bends_of(program: Unfolding, Y: Floats) -> list[Bends]:
    """A clique around every point, of its nearest partners, and what Y leaves of it."""
    key = program.pairs[:, 0] * program.n + program.pairs[:, 1]
    order = np.argsort(key)
    members = _cliques(program, key[order])
    counts, out = (members >= 0).sum(axis=1), []
    for k in np.unique(counts[counts > 2]):
        some = members[counts == k, :k]
        a, b = np.triu_indices(k, 1)
        places = order[np.searchsorted(key[order], _keys(some[:, a], some[:, b], program.n))]
        inside = Y[some] - Y[some].mean(axis=1, keepdims=True)
        gram = inside @ np.swapaxes(inside, 1, 2)
        spread = np.linalg.solve(gram + FLAT * np.eye(k), gram)  # U s^2 / (s^2 + FLAT) U'
        out.append(Bends(some, places, np.eye(k) - 1.0 / k - (spread + np.swapaxes(spread, 1, 2)) / 2))
    return out


def bends(parts: list[Bends], V: Floats, m: int) -> Floats:
    """u (m, p) with v' L_u v = 1 for each column v of V; inf where it bends nowhere."""
    u = np.zeros((m, V.shape[1]))
    shares = [part.shares(V) for part in parts]
    total = sum((np.sum(share**2, axis=0) for share in shares), np.zeros(V.shape[1]))
    for part, share in zip(parts, shares):
        part.add(share, u)
    return np.where(total > NO_DIVISOR, u / np.maximum(total, NO_DIVISOR), np.inf)


def _keys(i: Ints, j: Ints, n: int) -> Ints:
    return np.minimum(i, j) * n + np.maximum(i, j)


def _cliques(program: Unfolding, keys: Ints) -> Ints:
    """(n, MEMBERS) a clique around each point, its nearest partners first, -1 beyond; greedy."""
    n, (i, j) = program.n, program.pairs.T
    rows, columns, squared = np.concatenate([i, j]), np.concatenate([j, i]), np.tile(program.squared, 2)
    order = np.lexsort((columns, squared, rows))
    rows, columns = rows[order], columns[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    nearest = np.full((n, CANDIDATES), -1)
    kept = place < CANDIDATES
    nearest[rows[kept], place[kept]] = columns[kept]
    members, count = np.full((n, MEMBERS), -1), np.ones(n, dtype=np.int64)
    members[:, 0] = np.arange(n)
    for tried in nearest.T:
        open_ = np.flatnonzero((tried >= 0) & (count < MEMBERS))
        others = members[open_]
        wanted = _keys(tried[open_][:, None], others, n)
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        joined = open_[((keys[found] == wanted) | (others < 0)).all(axis=1)]
        members[joined, count[joined]] = tried[joined]
        count[joined] += 1
    return members


def balance(E: csr_array, Y: Floats) -> Callable[[Floats], Floats]:
    """Leads w to the nearest weights with L_w y = y for the columns y of Y that carry the load.

    Where more than COLUMNS carry it, w stays as it is: clouds then pay a few ten-thousandths of the value, and their
    pairs, many at each point, would fill the factor: it took half of the time of a proof.
    """
    from scipy.sparse.linalg import splu

    Y = ordered(Y)
    sizes = np.sum(Y**2, axis=0)
    Y = Y[:, sizes > LOADED * sizes.sum()]
    if Y.shape[1] > COLUMNS:
        return lambda w: w
    A = vstack([E.T @ diags_array(u) for u in (E @ Y).T], format="csr")
    M = csc_array(A @ A.T)
    grounded = csc_array(M + GROUND * float(M.diagonal().max()) * eye_array(M.shape[0]))
    lu = splu(grounded, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def balanced(w: Floats) -> Floats:
        missing = (Y - stress_laplacian(E, w) @ Y).T.ravel()
        x = lu.solve(missing)
        return np.asarray(w + A.T @ (x + lu.solve(missing - M @ x)))

    return balanced
