"""Pieces that are embedded one by one: side by side along the first coordinate, or only the largest."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import DisconnectedWarning
from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold._core.warn import warn
from lowfold.methods._fit import Connected, Fit, Rules
from lowfold.methods._neighborhood import Asked, Needs, sizes_in_words
from lowfold.methods._placing.maps import Barycentric, NearestCorner, Piece, Pieces

MARGIN = 0.1  # room between two pieces, as a share of the width of the largest: enough to see them apart

FIGURES = re.compile(r"[\d.e+-]+")  # what differs between pieces of which the same is said


class Recipe(Protocol):
    """A method, as far as pieces need it."""

    n_components: int
    per_point: tuple[str, ...]
    of_largest: tuple[str, ...]

    def _recipe(self, data: Connected, run: Run) -> Fit: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def embed_pieces(method: Any, near: Connected, asked: Asked, needs: Needs, run: Run) -> Fit:
    """Every piece by itself, the largest first; with on_disconnected="largest" only that one, NaN elsewhere."""
    largest_only = asked.on_disconnected == "largest"
    groups = [np.flatnonzero(near.labels == c) for c in range(1 if largest_only else int(near.labels.max()) + 1)]
    parts = [near.piece(rows) for rows in groups]
    with _said_once(len(parts)):
        fits = [_embed_piece(method, part, needs, run) for part in parts]
    if largest_only:
        warn(
            f"the neighbourhoods fall into {sizes_in_words(near.labels)}; only the largest is embedded, "
            f"{int((near.labels > 0).sum())} of {near.n} rows are NaN",
            DisconnectedWarning,
        )
    coordinates = np.full((near.n, method.n_components), np.nan)
    pieces: list[Piece] = []
    offsets = _side_by_side([fit.coordinates for fit in fits])
    for rows, part, fit, offset in zip(groups, parts, fits, offsets, strict=True):
        coordinates[rows] = fit.coordinates + offset
        rules = Rules(needs.query_neighbors(asked, part.source, part.n), asked.radius, asked.search)
        pieces.append(Piece(rows, replace(fit, rules=rules).trained(part.source), fit.extend, offset))
    piece_of = np.where(near.labels < len(pieces), near.labels, -1)
    extra = _gathered(method, groups, [fit.extra for fit in fits], near.n)
    first = fits[0]
    graph = near.unbridged if first.graph is not None else None
    return Fit(coordinates, first.pairs, graph, Pieces(tuple(pieces), piece_of), first.invert, extra)


@contextmanager
def _said_once(pieces: int) -> Iterator[None]:
    """What is said of several pieces, but for its figures, is said of the first, with how many others it is true of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    kinds: dict[Any, list[warnings.WarningMessage]] = {}
    for one in said:
        kinds.setdefault((one.category, FIGURES.sub("", str(one.message))), []).append(one)
    for (category, _), alike in kinds.items():
        more = f" (so in {len(alike)} of {pieces} pieces)" if len(alike) > 1 else ""
        warn(str(alike[0].message) + more, category)


def _embed_piece(method: Recipe, part: Connected, needs: Needs, run: Run) -> Fit:
    """A piece with too few points for n_components directions has those it can have; the rest are 0."""
    small = None if needs.corner is None else needs.corner(part)
    if small is not None:
        return small
    d, room = method.n_components, part.n - 1
    if room >= d:
        return method._recipe(part, run)
    Y = np.zeros((part.n, d))
    if room == 0:
        return Fit(Y, None, part.graph, NearestCorner(), Barycentric())
    smaller: Recipe = type(method)(**{**method.get_params(deep=False), "n_components": room})
    fit = smaller._recipe(part, run)
    Y[:, :room] = fit.coordinates
    return Fit(Y, fit.pairs, part.graph, NearestCorner(), Barycentric(), fit.extra)


def _side_by_side(parts: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """What to add to each piece's coordinates: along the first one, in their order."""
    margin = MARGIN * float(np.ptp(parts[0][:, 0]))
    offsets, edge = [], 0.0
    for c, Y in enumerate(parts):
        offset = np.zeros(Y.shape[1])
        if c > 0:
            offset[0] = edge + margin - float(Y[:, 0].min())
        edge = float(Y[:, 0].max() + offset[0])
        offsets.append(offset)
    return offsets


def _gathered(method: Recipe, rows: list[Ints], extras: list[dict[str, Any]], n: int) -> dict[str, Any]:
    """Fitted attributes of a model in pieces: numbers of the largest, rows and landmarks of every piece."""
    kept = {name: v for name, v in extras[0].items() if np.ndim(v) == 0 or name in method.of_largest}
    for name in method.per_point:
        parts = [(at, extra[name]) for at, extra in zip(rows, extras, strict=True) if extra.get(name) is not None]
        if parts:
            kept[name] = _rows_of_pieces(parts, n)
    chosen = [at[e["landmarks_"]] for at, e in zip(rows, extras, strict=True) if e.get("landmarks_") is not None]
    return {**kept, "landmarks_": np.sort(np.concatenate(chosen))} if chosen else kept


def _rows_of_pieces(parts: list[tuple[Ints, Any]], n: int) -> NDArray[Any]:
    """One array of n rows; NaN, or 0 in whole numbers, where no piece has any. Narrower pieces are filled with 0."""
    arrays = [(rows, np.asarray(value)) for rows, value in parts]
    shape = tuple(np.max([value.shape[1:] for _, value in arrays], axis=0, initial=0).astype(int))
    dtype = arrays[0][1].dtype
    out = np.full((n, *shape), np.nan if dtype.kind == "f" else 0, dtype=dtype)
    for rows, value in arrays:
        out[rows] = 0
        out[np.ix_(rows, *(np.arange(width) for width in value.shape[1:]))] = value
    return out
