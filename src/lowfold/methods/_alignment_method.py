"""Methods whose kernel aligns patches: LLE, LTSA, Hessian LLE. They use directed neighbourhoods, not a graph.

Connected means here that the kernel's null space is right: for LLE one closed class of the directed graph, for LTSA and
Hessian LLE patches that hang together and cover every point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lowfold._core.errors import AccuracyWarning, Disconnected, DisconnectedWarning, InvalidInput
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold._core.warn import warn
from lowfold.graph._connect import Bridges, connecting_k, find_bridges
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._source import Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._alignment import Alignment, align, kernel_sum
from lowfold.kernels._bridge_patches import bridge_alignment
from lowfold.kernels._patches import Geometry, Patches, geometry_of, twins
from lowfold.methods._alignment_extend import NearestCorner
from lowfold.methods._alignment_mass import choose_mass, diagonal_mass
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._graph_method import GraphMethod
from lowfold.spectral._doors import smallest
from lowfold.spectral._types import Eigenpairs


class AlignmentMethod(GraphMethod):
    """Adds `neighbors_`; a method writes `_alignment`, and `_piece_labels` where patches are not what must connect."""

    symmetrize: ClassVar[str] = "union"  # of `graph_`, which is only for looking at
    per_point: ClassVar[tuple[str, ...]] = ("local_errors_", "robust_weights_", "weight_counts_")

    # What a method writes -------------------------------------------------------------------------------------------

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        """Patches and factors of the kernel, and fitted attributes that come with them."""
        raise NotImplementedError(f"{type(self).__name__} must write _alignment: the patches of its kernel")

    def _smallest_k(self) -> int:
        """The fewest neighbours that say anything."""
        return int(self.n_components) + 1

    # Shared stages --------------------------------------------------------------------------------------------------

    def _operator(self, data: Data, run: Run) -> tuple[SparseOperator, dict[str, Any]]:
        """K of all patches, those across bridges included."""
        assert data.neighbors is not None
        geometry = geometry_of(data.source, data.neighbors)
        alignment, extra = self._alignment(data, geometry, run)
        K = align(alignment, run=run)
        if len(data.bridges):
            across = bridge_alignment(
                data.bridges, data.neighbors, self.component_labels_, geometry, self.n_components, run
            )
            K = kernel_sum(K, align(across, run=run))
        return K, extra

    def _bottom(self, K: SparseOperator, data: Data, run: Run) -> Eigenpairs:
        """Eigenvectors 2..d+1 from the bottom; repeated points get the very place of the first of them."""
        asked = getattr(self, "mass", None)  # LTSA and Hessian LLE have it
        used = "points" if asked is None else choose_mass(asked, K, data.source, self.n_components)
        mass = diagonal_mass(K) if used == "kernel" else None
        pairs = smallest(K, self.n_components, mass=mass, null=np.ones((data.n, 1)), run=run)
        if asked is not None:
            self.mass_ = used
        if asked is not None and used == "points":
            self._warn_of_single_points(pairs.vectors)
        assert data.neighbors is not None
        twin = np.flatnonzero(twins(data.neighbors))
        if len(twin) == 0:
            return pairs
        vectors = pairs.vectors.copy()  # the kernel holds them together up to the size of the eigenvalue only
        vectors[twin] = vectors[data.neighbors.indices[data.neighbors.indptr[twin]]]
        return replace(pairs, vectors=vectors)

    def _warn_of_single_points(self, V: NDArray[np.float64]) -> None:
        """Say that a coordinate is (almost) the indicator of one point, 1 / sum v^4 < 2."""
        alone = np.flatnonzero((V**4).sum(axis=0) > 0.5)
        if len(V) >= 100 and len(alone):
            rows = np.abs(V[:, alone]).argmax(axis=0)
            warn(
                f"coordinate {alone[0] + 1} of {type(self).__name__} tells one point from all others (row {rows[0]}), "
                "because its neighbourhoods hardly hold it; mass='kernel' does not let such points count, and more "
                "n_neighbors hold them",
                AccuracyWarning,
            )

    def kernel(self) -> SparseOperator:
        """The alignment kernel, rebuilt from the neighbourhoods and bridges that the model keeps."""
        data = Data(self._trained.source, neighbors=self.neighbors_, bridges=self.bridges_)
        return self._operator(data, self._run())[0]

    @property
    def graph_(self) -> Graph:  # type: ignore[override]
        """The neighbourhoods as a symmetric graph (union), bridges included; made when asked for."""
        return self.neighbors_.union().with_edges(self.bridges_.edges, self.bridges_.lengths)

    # Neighbourhoods -------------------------------------------------------------------------------------------------

    def _k(self, n: int) -> int | Ints | None:
        k = super()._k(n)
        if self.n_neighbors is None and self.radius is None:
            return min(n - 1, max(default_neighbors(n), self._smallest_k()))
        return k

    def _check(self, data: Data) -> None:
        super()._check(data)
        k, least = self._k(data.n), self._smallest_k()
        if k is not None and data.source is not None and np.min(k) < least:
            raise InvalidInput(
                f"n_neighbors of {type(self).__name__} must be at least {least} for n_components = "
                f"{self.n_components}; got {np.min(k)} for n_samples = {data.n}; use more neighbours (and points), "
                "or fewer n_components"
            )

    def _with_graph(self, data: Data, run: Run) -> Data:
        neighbors = data.graph.neighbors() if data.graph is not None else data.neighbors
        if neighbors is None:
            assert data.source is not None
            neighbors = self._search(data.source, run)
            self.n_neighbors_ = None if self.n_neighbors is None and self.radius is not None else self._k(data.n)
        else:
            self.n_neighbors_ = neighbors.k
        self.neighbors_ = neighbors
        return replace(data, neighbors=neighbors, graph=None)

    def _search(self, source: Source, run: Run) -> Neighbors:
        k = self._k(source.n)
        found = neighborhoods(source, n_neighbors=k, radius=self.radius, search=self.search, run=run)
        return self._distinct(source, found, run)

    def _distinct(self, source: Source, found: Neighbors, run: Run) -> Neighbors:
        def among(heads: Ints) -> Neighbors:
            k = self._distinct_k(len(heads), heads, source.n)
            return neighborhoods(source.subset(heads), n_neighbors=k, radius=self.radius, search=self.search, run=run)

        return distinct_neighborhoods(found, among)

    def _distinct_k(self, m: int, heads: Ints, n: int) -> int | Ints | None:
        k = self._k(n)
        if k is None:
            return None
        k = k if np.ndim(k) == 0 else np.asarray(k)[heads]
        if np.max(k) <= m - 1:
            return k
        if self.n_neighbors is None and m - 1 >= self._smallest_k():
            return m - 1
        raise InvalidInput(
            f"only {m} of the {n} points are different, so {type(self).__name__} can use at most {m - 1} neighbours "
            f"and needs {self._smallest_k()}; n_neighbors is {np.max(k)}"
        )

    # Pieces ---------------------------------------------------------------------------------------------------------

    def _solve(self, data: Data, run: Run) -> Fit:
        data = self._with_graph(data, run)
        labels = self._piece_labels(data)
        self.component_labels_ = labels
        self.bridges_ = Bridges.none()
        if labels.max(initial=0) == 0 or self.wants_components:
            return self._embed(data, run)
        if self.on_disconnected == "raise":
            raise Disconnected(self._pieces_in_words(data, labels, run) + "; on_disconnected='connect' joins them")
        if self.on_disconnected == "connect":
            return self._embed(self._connected(data, labels, run), run)
        return self._piecewise(data, labels, run)

    def _piece_labels(self, data: Data) -> Ints:
        """Points that hang together through patches with more than d + 1 members; a point in no such patch is alone."""
        assert data.neighbors is not None
        return patch_components(self._patches(data.neighbors), self.n_components)

    def _patches(self, neighbors: Neighbors) -> Patches:
        """The sets of points that a kernel entry comes from."""
        return Patches.around(neighbors)

    def _connected(self, data: Data, labels: Ints, run: Run) -> Data:
        if data.source is None:
            raise Disconnected(
                f"{self._pieces_in_words(data, labels, run)}, and without points there is no distance between them; "
                "use on_disconnected='largest' or 'separate', or pass connected neighbourhoods"
            )
        bridges = find_bridges(data.source, labels, run=run)
        warn(
            f"{self._pieces_in_words(data, labels, run)}; joined by {len(bridges)} bridges of length "
            f"{bridges.lengths.min():.4g} to {bridges.lengths.max():.4g} (bridges_)",
            DisconnectedWarning,
        )
        self.bridges_ = bridges
        return replace(data, bridges=bridges)

    def _pieces_in_words(self, data: Data, labels: Ints, run: Run) -> str:
        sizes = np.bincount(labels)
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
        words = f"the patches fall into {len(sizes)} components of {shown} points"
        assert data.neighbors is not None
        missing = data.n - len(np.unique(self._patches(data.neighbors).members))
        if missing:
            return words + f"; {missing} points are in no patch (no other point has them among its neighbours)"
        k = None if data.source is None else self._k(data.n)
        if k is not None and self.radius is None and np.ndim(k) == 0 and data.source is not None:
            enough = connecting_k(data.source, int(k), run=run)
            words += (
                f"; n_neighbors={enough} would connect them"
                if enough is not None
                else f"; n_neighbors up to {8 * int(k)} would not connect them"
            )
        return words

    def _embed_piece(self, part: Data, run: Run) -> Fit:
        """A piece that fits into one patch has its local coordinates; the directions it lacks are 0."""
        d = self.n_components
        if part.n > d + 2:
            self_labels, self.component_labels_ = self.component_labels_, np.zeros(part.n, dtype=np.int64)
            fit = self._embed(part, run)
            self.component_labels_ = self_labels
            return fit
        from lowfold.kernels._tangent import tangents

        assert part.neighbors is not None
        P = geometry_of(part.source, part.neighbors).centred(np.arange(part.n)[None])
        Y = tangents(P, d).V[0]
        return Fit(Y, None, None, NearestCorner(), Barycentric())


def distinct_neighborhoods(found: Neighbors, among: Callable[[Ints], Neighbors]) -> Neighbors:
    """Repeated points hang on the first of them; neighbourhoods are those of the distinct points, `among(heads)`.

    Otherwise a point repeated k times would have a neighbourhood without extent, and be alone in the kernel.
    """
    first = found.indptr[:-1][found.counts > 0]
    if not (found.distances[first] == 0).any():
        return found
    n = found.n
    zero = found.distances == 0
    pairs = csr_array((np.ones(int(zero.sum())), (found.rows()[zero], found.indices[zero])), shape=(n, n))
    group = connected_components(pairs, directed=False)[1]
    unique, head = np.unique(group, return_index=True)
    home = head[np.searchsorted(unique, group)]
    heads = np.unique(head)
    part = among(heads)
    counts = np.ones(n, dtype=np.int64)
    counts[heads] = part.counts
    indptr = np.concatenate([[0], np.cumsum(counts)])
    of_head = np.repeat(home == np.arange(n), counts)
    indices, distances = np.empty(indptr[-1], dtype=np.int64), np.zeros(indptr[-1])
    indices[of_head], distances[of_head] = heads[part.indices], part.distances
    indices[~of_head] = home[home != np.arange(n)]
    return Neighbors(indptr, indices, distances, found.n_points, found.recall)


def patch_components(patches: Patches, d: int) -> Ints:
    """Weak components of points through patches that determine something: twins, and more than d + 1 members."""
    sizes = patches.sizes
    useful = np.repeat((sizes > d + 1) | patches.twin, sizes)
    hub = np.repeat(patches.members[np.minimum(patches.indptr[:-1], max(len(patches.members) - 1, 0))], sizes)
    i, j = hub[useful].astype(np.int64), patches.members[useful].astype(np.int64)
    kept = i != j
    # Rows need not be sorted: a hub may lead several patches; the format merges them.
    edges = csr_array((np.ones(int(kept.sum()), dtype=np.int8), (i[kept], j[kept])), shape=(patches.n_points,) * 2)
    return ordered(connected_components(edges, directed=True, connection="weak")[1])


def ordered(labels: NDArray[np.integer]) -> Ints:
    """Labels renumbered so that 0 is the largest piece; ties go to the one with the smaller first point."""
    sizes = np.bincount(labels)
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[labels])


__all__ = ["AlignmentMethod", "distinct_neighborhoods", "ordered", "patch_components"]
