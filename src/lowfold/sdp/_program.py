"""The unfolding programs: which pairs keep their distance, and in which sense.

    maximise tr K  over K psd, K 1 = 0, with d_e(K) = K_ii + K_jj - 2 K_ij for the pairs e = (i, j)
    "eq"     d_e(K) = s_e
    "ineq"   d_e(K) <= s_e
    "slack"  maximise tr K - nu sum_e (d_e(K) - s_e)^2 instead

Wang (2012), Section 9.1, eqs. (9.8)-(9.11), doi:10.1007/978-3-642-27497-8; the slack form is Section 9.3, eq. (9.19),
whose
"minimise" is a misprint. Weinberger & Saul (2006), doi:10.1007/s11263-005-4939-z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._components import is_connected
from lowfold.graph._geodesics import geodesics
from lowfold.graph._types import Graph, Neighbors

Form = Literal["eq", "ineq", "slack"]

FORMS: tuple[str, ...] = ("slack", "eq", "ineq")
# Under a mean of squared lengths, or a penalty, in units of the mean squared distance of the pairs, which is 1: reached
# only where all points of a part coincide, and there any positive number does.
NOTHING = 1e-12
# Points from which path lengths are measured: for a mean that sets a scale, of which two digits are enough, and for a
# layout to start from.
SOURCES = 50
NO_PATHS = 1e-6  # of the largest eigenvalue of their products: below are directions that paths do not take
SLACK = 0.002  # what nu="auto" aims at: the mean of |d_e(K) - s_e| in units of the mean s_e


def neighbor_pairs(neighbors: Neighbors, rows: Ints | None = None) -> Ints:
    """All pairs inside {i} and N(i), for every i (or for `rows`), each once: (m, 2) with i < j, sorted.

    Distances and angles inside every neighbourhood are fixed by them. A neighbourhood of k points gives k (k + 1) / 2.

    >>> star = Neighbors.from_lists([[1, 2, 3], [0], [0], [0]], [[1.0, 1.0, 1.0], [1.0], [1.0], [1.0]])
    >>> len(neighbor_pairs(star))
    6
    """
    part = neighbors if rows is None else neighbors.take(rows)
    own = np.arange(neighbors.n) if rows is None else np.asarray(rows)
    found = [np.empty((0, 2), dtype=np.int64)]
    for k in np.unique(part.counts):
        chosen = np.flatnonzero(part.counts == k)
        if k == 0:
            continue
        members = np.column_stack([own[chosen], part.indices[part.indptr[chosen][:, None] + np.arange(k)]])
        a, b = np.triu_indices(k + 1, 1)
        found.append(np.column_stack([members[:, a].ravel(), members[:, b].ravel()]))
    pairs = np.concatenate(found).astype(np.int64)
    pairs.sort(axis=1)
    return np.unique(pairs, axis=0)


@dataclass(frozen=True, eq=False)
class Unfolding:
    """One program. `squared` holds s_e in units of `unit`, their mean; solvers work in these units."""

    n: int
    pairs: Ints
    squared: Floats
    unit: float
    form: Form
    nu: float

    @property
    def m(self) -> int:
        """Number of pairs; the centring is one constraint more."""
        return len(self.pairs)

    def incidence(self) -> csr_array:
        """(m, n) with row e_i - e_j for the pair (i, j)."""
        e = np.arange(self.m)
        values = np.concatenate([np.ones(self.m), -np.ones(self.m)])
        index = (np.concatenate([e, e]), np.concatenate([self.pairs[:, 0], self.pairs[:, 1]]))
        return csr_array((values, index), shape=(self.m, self.n))

    def graph(self) -> Graph:
        """The pairs as a graph with their lengths."""
        return Graph.from_edges(self.n, self.pairs, np.sqrt(self.squared))

    def with_form(self, form: Form, nu: float | None = None) -> Unfolding:
        return replace(self, form=form, nu=self.nu if nu is None else nu)


def stress_laplacian(E: csr_array, w: Floats) -> csr_array:
    """L_w = E' diag(w) E for the incidence matrix E."""
    return csr_array(E.T @ (E.multiply(w[:, None])).tocsr())


@dataclass(frozen=True, eq=False)
class RankOne:
    """maximise <C, L> over psd L (q, q) with g_e' L g_e = s_e (or <=, or slack) for the rows g_e of G.

    The dense form of every program here: in a basis of the complement of the constant for plain unfolding, in landmark
    coordinates for the landmark form.
    """

    C: Floats
    G: Floats
    squared: Floats
    form: Form
    nu: float


def unfolding(
    n: int, pairs: Ints, squared: Floats, *, form: Form = "slack", nu: float | Literal["auto"] = "auto"
) -> Unfolding:
    """A program from pairs and their squared distances. Pairs that are not finite (unmeasured) are left out.

    `nu` weighs the squares in units of the mean squared distance; "auto" is `auto_penalty`. The graph of the pairs
    must be connected: else parts can move away from each other for ever.
    """
    pairs, squared = np.asarray(pairs, dtype=np.int64).reshape(-1, 2), np.asarray(squared, dtype=np.float64)
    if form not in FORMS:
        raise InvalidInput(f"form must be one of {', '.join(map(repr, FORMS))}; got {form!r}")
    if len(pairs) != len(squared):
        raise InvalidInput(f"squared must have one entry per pair; got {len(squared)} for {len(pairs)} pairs")
    kept = np.isfinite(squared)
    pairs, squared = pairs[kept], squared[kept]
    if np.any(squared < 0):
        raise InvalidInput(f"squared distances must be 0 or more; the smallest is {squared.min():g}")
    if not is_connected(Graph.from_edges(n, pairs, squared)):
        raise InvalidInput(
            "the pairs do not connect all points, so the variance has no largest value: parts can move apart for ever; "
            "use more neighbours, join the parts, or embed them one by one"
        )
    unit = float(squared.mean()) if len(squared) else 0.0
    unit = unit if unit > 0 else 1.0
    program = Unfolding(n, pairs, squared / unit, unit, form, 1.0)
    value = auto_penalty(program) if isinstance(nu, str) else float(nu)
    if not value > 0:
        raise InvalidInput(f"nu must be above 0 or 'auto'; got {nu!r}")
    return replace(program, nu=value)


def unfolding_in(
    graph: Graph, pairs: Ints, squared: Floats, *, form: Form = "slack", nu: float | Literal["auto"] = "auto"
) -> Unfolding:
    """The same for pairs that need not connect the points, which move with the connected `graph` in some other way."""
    kept = np.isfinite(squared)
    pairs, squared = pairs[kept], squared[kept]
    unit = float(squared.mean()) if len(squared) else 0.0
    unit = unit if unit > 0 else 1.0
    value = path_variance(graph) / unit / (2 * SLACK * max(len(pairs), 1)) if isinstance(nu, str) else float(nu)
    return Unfolding(graph.n, pairs, squared / unit, unit, form, max(value, NOTHING))


def path_variance(graph: Graph) -> float:
    """T = (1/2n) sum_ij d_G(i, j)^2, which bounds tr K because no distance exceeds the path length.

    Taken from at most 50 evenly spaced points.
    """
    return graph.n * float(_path_squares(graph)[1].mean()) / 2


def path_layout(graph: Graph, columns: int) -> Floats:
    """Y (n, at most `columns`) whose distances are nearly those along paths: landmark scaling from the same points.

    Paths inside a sheet are as long when it is flat: where it unfolds, this is nearly the answer.
    """
    sources, squared = _path_squares(graph)
    mean = squared[:, sources].mean(axis=1)
    values, V = stacked_eigh(-0.5 * (squared[:, sources] - mean[:, None] - mean + mean.mean()))
    values, V = values[::-1][:columns], V[:, ::-1][:, :columns]
    held = values > NO_PATHS * values[0]
    Y = -0.5 * (squared - mean[:, None]).T @ (V[:, held] / np.sqrt(values[held]))
    return np.ascontiguousarray(Y - Y.mean(axis=0))


def _path_squares(graph: Graph) -> tuple[Ints, Floats]:
    """At most 50 evenly spaced points, and the squared path lengths from them to all."""
    sources = np.unique(np.linspace(0, graph.n - 1, SOURCES).astype(np.int64))
    return sources, np.asarray(geodesics(graph, sources), dtype=np.float64) ** 2


def auto_penalty(program: Unfolding) -> float:
    """nu = T / (2 m 0.002): at the optimum a pair stretches by w_e / (2 nu); the w_e s_e add up to tr K, about T."""
    return max(path_variance(program.graph()), NOTHING) / (2 * SLACK * program.m) if program.m else 1.0


def variance_bound(n: int, longest: float) -> float:
    """tr K <= n^3 tau^2 / 2 for a connected graph whose longest edge is tau: no two points are n tau apart.

    >>> variance_bound(10, 1.0) >= 10 * (10**2 - 1) / 12  # a chain of ten points with unit steps, straightened
    True
    """
    return float(n) ** 3 * longest**2 / 2


def complement(v: Floats) -> Floats:
    """Orthonormal basis (n, n - 1) of the complement of v: the columns of a Householder reflection but the first."""
    n = len(v)
    u = v / np.linalg.norm(v)
    u[0] += 1.0 if u[0] >= 0 else -1.0
    u /= np.linalg.norm(u)
    return np.asarray(np.eye(n)[:, 1:] - 2.0 * np.outer(u, u[1:]))
