"""Methods that start from a neighbourhood graph: building it, and what happens when it falls into pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import Disconnected, DisconnectedWarning, InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._components import components
from lowfold.graph._connect import Bridges, connecting_k, find_bridges
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._types import Graph
from lowfold.methods._base import Method
from lowfold.methods._extend import Barycentric, Piece, Pieces
from lowfold.methods._fit import Data, Fit, Trained
from lowfold.metrics._pairwise import pairwise


class GraphMethod(Method):
    """Adds the graph parameters, `graph_`, `n_neighbors_`, `component_labels_`, `bridges_` and `on_disconnected`."""

    wants_components: ClassVar[bool] = False  # only clustering and full supervision do
    caps_bridges: ClassVar[bool] = (
        False  # a bridge in the graph is no longer than its longest edge: for weights, not paths
    )
    per_point: ClassVar[tuple[str, ...]] = ()  # fitted attributes with a row per point: put together from the pieces
    of_largest: ClassVar[tuple[str, ...]] = ()  # arrays that every piece has for itself: those of the largest are kept

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
        warn(
            f"{self._pieces_in_words(data, labels, run)}; joined by {len(bridges)} bridges of length "
            f"{bridges.lengths.min():.4g} to {bridges.lengths.max():.4g} (bridges_)",
            DisconnectedWarning,
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
        extras: list[dict[str, Any]] = []
        first: Fit | None = None
        edge = 0.0
        for c in range(1 if only_largest else int(labels.max()) + 1):
            rows = np.flatnonzero(labels == c)
            part = data.subset(rows)
            fit = self._for_piece(rows)._embed_piece(part, run)
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
            extras.append(fit.extra)
        assert first is not None
        if only_largest:
            warn(
                f"{self._pieces_in_words(data, labels, run)}; only the largest is embedded, "
                f"{int((labels > 0).sum())} of {n} rows are NaN",
                DisconnectedWarning,
            )
        piece_of = np.where(labels < len(pieces), labels, -1)
        extra = self._gathered([piece.rows for piece in pieces], extras, n)
        return Fit(coordinates, first.pairs, data.graph, Pieces(tuple(pieces), piece_of), first.invert, extra)

    def _gathered(self, rows: list[NDArray[np.int64]], extras: list[dict[str, Any]], n: int) -> dict[str, Any]:
        """Fitted attributes of a model in pieces: numbers of the largest, rows and landmarks of every piece."""
        kept = {name: v for name, v in extras[0].items() if np.ndim(v) == 0 or name in self.of_largest}
        for name in self.per_point:
            parts = [(at, extra[name]) for at, extra in zip(rows, extras, strict=True) if extra.get(name) is not None]
            if parts:
                kept[name] = _rows_of_pieces(parts, n)
        chosen = [at[e["landmarks_"]] for at, e in zip(rows, extras, strict=True) if e.get("landmarks_") is not None]
        return {**kept, "landmarks_": np.sort(np.concatenate(chosen))} if chosen else kept

    def _for_piece(self, rows: NDArray[np.int64]) -> GraphMethod:
        """The method for one component: parameters that name or count points are those of its rows."""
        return self

    def _embed_piece(self, part: Data, run: Run) -> Fit:
        """A component with too few points for n_components directions has those it can have; the rest are 0."""
        d = self.n_components
        room = part.n - 1
        if room >= d:
            return self._embed(part, run)
        Y = np.zeros((part.n, d))
        extend = _Corner()
        pairs = None
        extra: dict[str, Any] = {}
        if room >= 1:
            smaller = type(self)(**{**self.get_params(deep=False), "n_components": room})
            fit = smaller._embed(part, run)
            Y[:, :room], pairs, extra = fit.coordinates, fit.pairs, fit.extra
        return Fit(Y, pairs, part.graph, extend, Barycentric(), extra)

    def _of_one_model(self, what: str) -> None:
        """Refuse what only a connected model of all points has."""
        if isinstance(getattr(self._extend, "extend", self._extend), Pieces):
            raise InvalidInput(
                f"{what} needs one model of all points; with on_disconnected={self.on_disconnected!r} each component "
                "has its own: fit the rows of one alone (component_labels_), or use on_disconnected='connect'"
            )

    def distances(self, A: Any, B: Any = None, *, kind: str = "embedding") -> NDArray[np.floating]:
        """The learned metric: distances between rows of A and of B (of A itself if None), new or old points alike.

        kind="embedding" is Euclidean distance after `transform`; NaN where on_disconnected="largest" left a point out.
        """
        if kind != "embedding" or getattr(self, "on_disconnected", None) != "largest":
            return super().distances(A, B, kind=kind)
        first = self.transform(A)
        second = first if B is None else self.transform(B)
        rows, columns = (np.flatnonzero(np.isfinite(Y).all(axis=1)) for Y in (first, second))
        out = np.full((len(first), len(second)), np.nan)
        if len(rows) and len(columns):
            out[np.ix_(rows, columns)] = pairwise(first[rows], None if B is None else second[columns])
        return out


def _rows_of_pieces(parts: list[tuple[NDArray[np.int64], Any]], n: int) -> NDArray[Any]:
    """One array of n rows; NaN, or 0 in whole numbers, where no piece has any. Narrower pieces are filled with 0."""
    arrays = [(rows, np.asarray(value)) for rows, value in parts]
    shape = tuple(np.max([value.shape[1:] for _, value in arrays], axis=0, initial=0).astype(int))
    dtype = arrays[0][1].dtype
    out = np.full((n, *shape), np.nan if dtype.kind == "f" else 0, dtype=dtype)
    for rows, value in arrays:
        out[rows] = 0
        out[np.ix_(rows, *(np.arange(width) for width in value.shape[1:]))] = value
    return out


class _Corner:
    """Extension of a component of a few points: the new point takes the place of its nearest one."""

    neighbors = True

    def place(self, trained: Trained, queries: Any, found: Any, run: Run) -> Floats:
        return np.asarray(trained.coordinates[found.indices[found.indptr[:-1]]])
