"""Methods that start from a neighbourhood graph: building it, and what happens when it falls into pieces."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import Disconnected, DisconnectedWarning, InvalidInput
from lowfold._core.run import Run
from lowfold.graph import (
    Bridges,
    Graph,
    components,
    connecting_k,
    default_neighbors,
    find_bridges,
    neighborhoods,
)
from lowfold.methods._base import Method
from lowfold.methods._extend import Barycentric, Piece, Pieces
from lowfold.methods._fit import Data, Fit, Floats, Trained


class GraphMethod(Method):
    """Adds the graph parameters, `graph_`, `n_neighbors_`, `component_labels_`, `bridges_` and `on_disconnected`."""

    wants_components: ClassVar[bool] = False  # only clustering and full supervision do
    caps_bridges: ClassVar[bool] = (
        False  # a bridge in the graph is no longer than its longest edge: for weights, not paths
    )

    def _graph(self, data: Data, run: Run) -> Graph:
        """The symmetric graph of the data, by every graph parameter of self; bridges included."""
        assert data.graph is not None
        return data.graph

    def _solve(self, data: Data, run: Run) -> Fit:
        data = self._with_graph(data, run)
        labels = components(self._connected_by(data))
        self.component_labels_ = labels
        self.bridges_ = Bridges.none()
        if labels.max() == 0 or self.wants_components:
            return self._embed(data, run)
        if self.on_disconnected == "raise":
            raise Disconnected(self._pieces_in_words(data, labels, run) + "; on_disconnected='connect' joins them")
        if self.on_disconnected == "connect":
            return self._embed(self._connected(data, labels, run), run)
        return self._piecewise(data, labels, run)

    def _with_graph(self, data: Data, run: Run) -> Data:
        """Data with its neighbourhoods and graph; sets `n_neighbors_`."""
        if data.graph is not None:
            self.n_neighbors_ = None
            return data
        neighbors = data.neighbors
        if neighbors is None:
            assert data.source is not None
            neighbors = neighborhoods(
                data.source, n_neighbors=self._k(data.n), radius=self.radius, search=self.search, run=run
            )
            self.n_neighbors_ = None if self.n_neighbors is None and self.radius is not None else self._k(data.n)
        else:
            self.n_neighbors_ = neighbors.k
        return replace(data, neighbors=neighbors, graph=getattr(neighbors, self.symmetrize)())

    def _connected_by(self, data: Data) -> Any:
        """What must be connected: the graph here, neighbourhoods for alignment kernels."""
        return data.graph

    def _k(self, n: int) -> int | NDArray[np.int64] | None:
        """n_neighbors with its default filled in; None for a radius alone."""
        if self.n_neighbors is None:
            return None if self.radius is not None else default_neighbors(n)
        return int(self.n_neighbors) if np.ndim(self.n_neighbors) == 0 else np.asarray(self.n_neighbors)

    def _query_neighbors(self, data: Data) -> int | None:
        k = self._k(data.n)
        return None if k is None else int(np.median(k))

    def _check(self, data: Data) -> None:
        super()._check(data)
        k = self._k(data.n)
        if k is not None and data.source is not None and np.max(k) > data.n - 1:
            raise InvalidInput(
                f"n_neighbors of {type(self).__name__} must be at most {data.n - 1} for n_samples = {data.n}; "
                f"got {np.max(k)}"
            )

    # Pieces ---------------------------------------------------------------------------------------------------------

    def _pieces_in_words(self, data: Data, labels: NDArray[np.int64], run: Run) -> str:
        sizes = np.bincount(labels)
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
        words = f"the neighbourhood graph has {len(sizes)} components of {shown} points"
        k = self._k(data.n)
        if data.source is None or self.symmetrize != "union" or (k is not None and self.radius is not None):
            return words
        if k is None:
            try:
                longest = find_bridges(data.source, labels, run=run).lengths.max()
            except Disconnected:  # nothing was measured between them
                return words
            return words + f"; a radius of {np.nextafter(longest, np.inf):.6g} would connect it"
        most = int(np.max(np.asarray(k)))
        enough = connecting_k(data.source, most, run=run)
        if enough is None:
            return words + f"; n_neighbors up to {min(8 * most, data.n - 1)} would not connect it"
        return words + f"; n_neighbors={enough} would connect it"

    def _connected(self, data: Data, labels: NDArray[np.int64], run: Run) -> Data:
        if data.source is None:
            raise Disconnected(
                f"the given graph has {labels.max() + 1} components, and without points no distance between them; "
                "use on_disconnected='largest' or 'separate', or pass a connected graph"
            )
        bridges = find_bridges(data.source, labels, run=run)
        warnings.warn(
            f"{self._pieces_in_words(data, labels, run)}; joined by {len(bridges)} bridges of length "
            f"{bridges.lengths.min():.4g} to {bridges.lengths.max():.4g} (bridges_)",
            DisconnectedWarning,
            stacklevel=6,
        )
        self.bridges_ = bridges
        if not self.caps_bridges:
            return data.joined(bridges)
        assert data.graph is not None
        longest = data.graph.lengths.max(initial=0.0) or np.inf
        return data.joined(Bridges(bridges.edges, np.minimum(bridges.lengths, longest)))

    def _piecewise(self, data: Data, labels: NDArray[np.int64], run: Run) -> Fit:
        """Components one by one: side by side along the first coordinate, or only the largest with NaN elsewhere."""
        d, n = self.n_components, data.n
        only_largest = self.on_disconnected == "largest"
        coordinates = np.full((n, d), np.nan)
        pieces: list[Piece] = []
        first: Fit | None = None
        edge = 0.0
        for c in range(1 if only_largest else int(labels.max()) + 1):
            rows = np.flatnonzero(labels == c)
            part = data.subset(rows)
            fit = self._embed_piece(part, run)
            first = first or fit
            Y = fit.coordinates
            width = float(np.ptp(Y[:, 0]))
            margin = 0.1 * float(np.ptp(first.coordinates[:, 0]))
            offset = np.zeros(d)
            if c > 0:
                offset[0] = edge + margin - float(Y[:, 0].min())
            edge = float(Y[:, 0].max() + offset[0]) if width or c else float(Y[:, 0].max())
            coordinates[rows] = Y + offset
            trained = Trained(part.source, fit.graph, Y, self._query_neighbors(part), self.radius, self.search)
            pieces.append(Piece(rows, trained, fit.extend, offset))
        assert first is not None
        if only_largest:
            warnings.warn(
                f"{self._pieces_in_words(data, labels, run)}; only the largest is embedded, "
                f"{int((labels > 0).sum())} of {n} rows are NaN",
                DisconnectedWarning,
                stacklevel=6,
            )
        piece_of = np.where(labels < len(pieces), labels, -1)
        extra = {name: value for name, value in first.extra.items() if np.ndim(value) == 0}
        return Fit(coordinates, first.pairs, data.graph, Pieces(tuple(pieces), piece_of), first.invert, extra)

    def _embed_piece(self, part: Data, run: Run) -> Fit:
        """A component with too few points for n_components directions has those it can have; the rest are 0."""
        d = self.n_components
        room = part.n - 1
        if room >= d:
            return self._embed(part, run)
        Y = np.zeros((part.n, d))
        extend = _Corner()
        pairs = None
        if room >= 1:
            smaller = type(self)(**{**self.get_params(deep=False), "n_components": room})
            fit = smaller._embed(part, run)
            Y[:, :room], pairs = fit.coordinates, fit.pairs
        return Fit(Y, pairs, part.graph, extend, Barycentric())


class _Corner:
    """Extension of a component of a few points: the new point takes the place of its nearest one."""

    neighbors = True

    def place(self, trained: Trained, queries: Any, found: Any, run: Run) -> Floats:
        return np.asarray(trained.coordinates[found.indices[found.indptr[:-1]]])
