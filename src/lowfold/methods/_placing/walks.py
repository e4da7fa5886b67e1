"""New points of walks on a graph: their edges, their row of the kernel, and the Nystrom formula on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._radius import within_radius
from lowfold.graph._search import nearest
from lowfold.graph._source import Measured, Pairs
from lowfold.graph._types import Neighbors
from lowfold.kernels._diffusion import Profile, common_width
from lowfold.methods._fit import Extension, Looks, Queries, Trained, known_source
from lowfold.methods._walk_measure import edges_within, width_at
from lowfold.spectral._nystrom import nystrom

# Least that the average of a new point's neighbours is divided by: where the walk waits longest, a fast coordinate
# would be divided by nearly 0, which a training point beside it is not.
STILL = 0.1


def query_edges(
    trained: Trained, queries: Queries, found: Neighbors, kth_distance: Floats | None, symmetrize: str, run: Run
) -> Neighbors:
    """The edges that a new point would have in the symmetrised graph.

    They lead to its own neighbours AND to every point that would count it among its own. Without these
    reverse edges a training point would come back displaced by about one percent.
    """
    if trained.n_neighbors is None or kth_distance is None or trained.source is None:
        return found
    reverse = within_radius(trained.source, kth_distance, queries=queries, run=run)
    n = found.n_points
    keys_f = found.rows() * n + found.indices
    keys_b = reverse.rows() * n + reverse.indices
    if symmetrize == "mutual":
        kept = np.isin(keys_f, keys_b)
        keys, lengths = keys_f[kept], found.distances[kept]
    else:
        extra = ~np.isin(keys_b, keys_f)
        keys = np.concatenate([keys_f, keys_b[extra]])
        lengths = np.concatenate([found.distances, reverse.distances[extra]])
        if symmetrize == "average":
            both = np.isin(keys, keys_b) & np.isin(keys, keys_f)
            lengths = np.where(both, lengths, lengths / np.sqrt(2))
    rows, columns = keys // n, keys % n
    order = np.lexsort((columns, lengths, rows))
    counts = np.bincount(rows, minlength=found.n)
    lonely = np.flatnonzero(counts == 0)
    if len(lonely):
        raise InvalidInput(
            f"row {lonely[0]} of the new points has no mutual neighbour among the training points; fit with "
            "symmetrize='union'"
        )
    return Neighbors(np.concatenate([[0], np.cumsum(counts)]), columns[order], lengths[order], n)


def all_pairs(trained: Trained, queries: Queries) -> Neighbors:
    """Every training point as a neighbour of every new one, as far as its distance is known."""
    if isinstance(queries, Measured):
        return queries.pairs
    if isinstance(queries, Pairs):
        D = queries.distances.astype(np.float64)
    else:
        D = trained.points.rows(queries)
    n = D.shape[1]
    order = np.argsort(D, axis=1, kind="stable")
    flat = np.take_along_axis(D, order, 1)
    kept = np.isfinite(flat)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return Neighbors(indptr, order[kept], flat[kept], n)


class KernelRows(NamedTuple):
    """k(x, j) / q_j^alpha, the density q_x and the degree d_x of each new x."""

    rows: csr_array
    densities: Floats
    degrees: Floats


@dataclass(frozen=True, eq=False)
class DiffusionRow(Extension):
    """Nystrom: psi(x) = sum_j p(x, j) psi_j / lambda with the row p(x, .) of the walk that starts at the new point.

    `reach` replaces the neighbours' rules: all points within it (inf: all points). Densities of the training points are
    stored; the new point's own density cancels from p, but for convention "symmetric", which takes it in the passes
    that theirs took: `earlier` are those before the last. `factors` are those of the training points where they are not
    their densities^-alpha alone; `logs` tell the width of a new point, where that varies: the walk then waits at it,
    psi(x) = sum_j p(x, j) psi_j / (1 - (1 - lambda) (rho_x / min rho)^2).
    """

    weights: Any
    scale: float
    local: Floats | None
    tuning: int
    densities: Floats
    degrees: Floats
    alpha: float
    values: Floats
    convention: str
    symmetrize: str
    kth_distance: Floats | None
    reach: float | None
    factors: Floats | None = None
    logs: Floats | None = None
    earlier: Floats | None = None
    looks: ClassVar[Looks] = "neighbors"

    @property
    def recognise(self) -> bool:  # type: ignore[override]
        """Rows of weights do not say which training point a new one is."""
        return not isinstance(self.weights, str) or self.weights != "precomputed"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        K = self.rows(trained, queries, found, run)
        weight = np.asarray(K.rows.sum(axis=1)).reshape(-1, 1)
        if self.convention != "symmetric":
            return nystrom(K.rows, trained.coordinates, self._values(trained, queries, run) * weight)
        psi = nystrom(K.rows, trained.coordinates / np.sqrt(self.degrees)[:, None], self.values * weight)
        return psi * np.sqrt(K.degrees)[:, None]

    def rows(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> KernelRows:
        """The new points' rows of the density-corrected kernel."""
        edges = self._edges(trained, queries, found, run)
        profile = Profile(self.weights, self.scale, self.local)
        if self.weights == "precomputed":
            k = edges.distances
        else:
            k = profile(edges.distances**2, self._product(profile, trained, queries, edges, run))
        at = edges.rows()
        q: Floats = np.bincount(at, k, minlength=edges.n).astype(np.float64)
        if not (q > 0).all():
            raise InvalidInput(
                f"row {np.flatnonzero(~(q > 0))[0]} of the new points is so far from all training points that its "
                "weights are zero; use a larger scale, or leave this row out"
            )
        if self.factors is not None:
            rows = csr_array((k * self.factors[edges.indices], edges.indices, edges.indptr), (edges.n, edges.n_points))
            return KernelRows(rows, np.ones(edges.n), np.asarray(rows.sum(axis=1)).ravel())
        for before in () if self.earlier is None else self.earlier:
            q = q * np.bincount(at, k / before[edges.indices], minlength=edges.n)
        corrected = k * self.densities[edges.indices] ** -self.alpha
        rows = csr_array((corrected, edges.indices, edges.indptr), shape=(edges.n, edges.n_points))
        return KernelRows(rows, q, np.asarray(rows.sum(axis=1)).ravel() * q**-self.alpha)

    def _values(self, trained: Trained, queries: Queries, run: Run) -> Floats:
        """What the row's average is divided by: lambda, or what is left of it beside waiting."""
        if self.logs is None:
            return self.values
        rho = np.minimum(self._local(trained, queries, run), np.asarray(self.local).max())
        slower = (rho / np.asarray(self.local).min()) ** 2
        return np.asarray(np.maximum(1.0 - (1.0 - self.values) * slower[:, None], STILL))

    def _edges(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Neighbors:
        if self.reach is None:
            return query_edges(trained, queries, found, self.kth_distance, self.symmetrize, run)
        if np.isinf(self.reach):
            return all_pairs(trained, queries)
        if self.logs is not None:
            return edges_within(self, known_source(trained.source), queries, run)
        return within_radius(known_source(trained.source), self.reach, queries=queries, run=run)

    def _product(
        self, profile: Profile, trained: Trained, queries: Queries, edges: Neighbors, run: Run
    ) -> Floats | float:
        """`Profile.joint` of the new points and those at the other ends of their edges."""
        if self.local is None:
            return 1.0
        return profile.joint(self._local(trained, queries, run)[edges.rows()], self.local[edges.indices])

    def _local(self, trained: Trained, queries: Queries, run: Run) -> Floats:
        """The new points' own scales. The nearest point stands for x, as x_i does in its own row: t_x is the distance
        to the one after `tuning`.
        """
        source = known_source(trained.source)
        if self.logs is not None:
            return width_at(self, source, queries, run)
        t = nearest(source, min(self.tuning + 1, source.n), queries=queries, run=run).kth_distance()
        if self.weights == "self_tuning":
            return np.where(t > 0, t, np.asarray(self.local).min())
        return np.maximum(1.0, t / common_width(self.scale))
