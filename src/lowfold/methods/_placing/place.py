"""The one way to place new points: look up what the extension needs, recognise training points, extend the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._neighborhoods import query_neighborhoods
from lowfold.graph._search import nearest
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Extension, Queries, Trained, known_source


class Placed(NamedTuple):
    """Natural coordinates, the training point that each query is, -1 for none, and how far the nearest one is.

    NaN where nothing was looked for.
    """

    natural: Floats
    same: Ints
    away: Floats


PLACED = 65_536  # new points at a time: enough for all threads, and a bound for what is held beside the answer


def place(extend: Extension, trained: Trained, queries: Queries, run: Run) -> Placed:
    """Every query by itself: nothing depends on the rest of the batch."""
    m = count(queries)
    if m <= PLACED:
        return _placed(extend, trained, queries, run)
    out = Placed(np.empty((m, trained.coordinates.shape[1])), np.empty(m, dtype=np.int64), np.empty(m))
    for part in block_slices(m, PLACED):
        now = _placed(extend, trained, take(queries, np.arange(m)[part]), run)
        out.natural[part], out.same[part], out.away[part] = now
    return out


def _placed(extend: Extension, trained: Trained, queries: Queries, run: Run) -> Placed:
    found = looked_up(extend, trained, queries, run)
    same, away = np.full(found.n, -1, dtype=np.int64), np.full(found.n, np.nan)
    if extend.looks != "nowhere":
        first = found.indptr[:-1]
        alone = np.flatnonzero(first == found.indptr[1:])
        if len(alone):
            raise InvalidInput(
                f"row {alone[0]} of the new points has no measured distance to a training point ({len(alone)} such "
                "rows), which would say where it lies; measure one, or leave these rows out"
            )
        away = found.distances[first]
    if extend.looks != "nowhere" and extend.recognise:
        known = away == 0
        same[known] = found.indices[first[known]]
    new = np.flatnonzero(same < 0)
    out = np.zeros((found.n, trained.coordinates.shape[1]))
    if len(new) == found.n:
        return Placed(extend.place(trained, queries, found, run), same, away)
    if len(new):
        out[new] = extend.place(trained, take(queries, new), found.take(new), run)
    return Placed(out, same, away)


def looked_up(extend: Extension, trained: Trained, queries: Queries, run: Run) -> Neighbors:
    """What the extension looks for: nothing, the nearest point, or neighbours."""
    if extend.looks == "nowhere":
        return Neighbors(np.zeros(count(queries) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0), 0)
    if extend.looks == "neighbors":
        return neighbors_of(trained, queries, run)
    return nearest(known_source(trained.source), 1, queries=queries, search=trained.search, run=run)


def neighbors_of(trained: Trained, queries: Queries, run: Run) -> Neighbors:
    """The queries' neighbours among the training points, by the rules of the fit."""
    return query_neighborhoods(
        known_source(trained.source),
        queries,
        n_neighbors=trained.n_neighbors,
        radius=trained.radius,
        search=trained.search,
        run=run,
    )


def count(queries: Queries) -> int:
    """Number of new points."""
    if isinstance(queries, Pairs):
        return len(queries.distances)
    return queries.pairs.n if isinstance(queries, Measured) else int(queries.shape[0])


def take(queries: Queries, rows: Ints, columns: Ints | None = None) -> Queries:
    """Some of the new points; distances to some of the training points alone, where they are distances."""
    if isinstance(queries, Pairs):
        D = queries.distances[rows]
        return Pairs(D if columns is None else D[:, columns])
    if isinstance(queries, Measured):
        part = queries.pairs.take(rows)
        return Measured(part if columns is None else among(part, columns))
    return queries[rows]


def among(found: Neighbors, columns: Ints) -> Neighbors:
    """Those neighbours that are among `columns`, numbered as there."""
    place = np.full(found.n_points, -1, dtype=np.int64)
    place[columns] = np.arange(len(columns))
    kept = place[found.indices] >= 0
    counts = np.bincount(found.rows()[kept], minlength=found.n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, place[found.indices[kept]], found.distances[kept], len(columns))


def rows_of(source: Source, rows: Ints) -> Queries:
    """Training rows as queries."""
    if isinstance(source, (Points, Blocks)):
        return source.subset(rows).X
    return Pairs(source.distances[rows]) if isinstance(source, Pairs) else Measured(source.pairs.take(rows))
