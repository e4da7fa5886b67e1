"""Points far apart on a curved surface: how far, and which way, measured along it.

    all points --local quadratics--> tangent planes of knots --links--> steps --shortest paths--> patches laid flat

Chords between points that are far apart compared with the bends of a surface are too short, and the nearest of them
lead from one sheet of a roll to the next. So a few points are known by more, the knots, whose tangent planes are those
of all points. With the principal angles th between the planes at both ends of a link and the rotation O that takes T_j
nearest to T_i, it is the step

    t_ij = U diag(th / sin th) U' (T_i' x + O T_j' x) / 2,    x = x_j - x_i,    T_i' T_j = U cos(th) V',    O = U V'

exact where the surface bends like a circle, to the third order elsewhere. Steps along a path add up as vectors, each
turned by the O before it; on a surface that can be laid flat the sum does not depend on the path. On an arc the chord
leaves both planes by |x| sin(th / 2); what is more, or differs between the ends, is the strain of a link (over |x|): it
is 1 for a link straight up to another sheet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.parallel import STACKED, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import nearest, sorted_rows
from lowfold.graph._source import Blocks, Points, Sheet, Source
from lowfold.graph._types import Neighbors
from lowfold.metrics._resolve import resolve_metric

KNOTS = 8  # for every point of the sheet: a third of its spacing in two dimensions, and an error a tenth
LEAST_KNOTS = 2_000  # show most surfaces, and cost little
LINKS = 10  # of a knot at least: they hold a random sample of a surface together
PER_DIRECTION = 4  # links for every direction of the surface
WIDER = 2  # times the links: candidates, most of them on the sheet even where it lies near another
STRAINED = 0.2  # above, a link leaves the surface: arcs have 0, other sheets of a roll 0.4 to 1, noise in between
BENT = 1.2  # radians between the planes of a link; beyond, an arc is a guess
ENOUGH = 0.9  # share of the knots that must have half of their links along the surface, or there is none
COARSER = 4  # times the points for the next tangent planes: noise hides those of the nearest
CLEAN = 0.02  # median strain: below, wider patches would add the surface's own bends
WIDEST = 4  # a patch has at most this part of all points
SCALES = 3  # so many sizes of patches for tangent planes are tried
SAMPLED = 20  # rows in blocks that are looked at for every landmark
SPARE = 2  # times the neighbours asked for are reached: a path's length and that of the straight line differ
RANK = 1e-8  # of a patch's extent: directions below are none
FLAT = 1e-12  # radians: below, th / sin th is 1
LOOPS = "lowfold.graph._sheet_loops"
BLOCK = 256  # points whose patches are laid flat by one thread


class Steps(NamedTuple):
    """Vectors (m, d) in the plane of the first point, turns (m, d, d), and strains; bent ones have the strain inf."""

    vectors: Floats
    turns: Floats
    strain: Floats


def steps(F: AnyFloats, T: Floats, i: Ints, j: Ints) -> Steps:
    """The steps from points i to points j with rows F and tangent planes T."""
    parts = [_steps(F, T, i[part], j[part]) for part in block_slices(len(i), max(1, STACKED // T[0].size))]
    return Steps(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _steps(F: AnyFloats, T: Floats, i: Ints, j: Ints) -> Steps:
    x = F[j].astype(np.float64) - F[i]
    U, cosine, Vt = stacked_svd(T[i].transpose(0, 2, 1) @ T[j])
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    turn = U @ Vt
    one = np.einsum("mpd,mp->md", T[i], x)
    other = np.einsum("mde,me->md", turn, np.einsum("mpe,mp->me", T[j], x))
    longer = np.where(angle > FLAT, angle / np.where(angle > FLAT, np.sin(angle), 1.0), 1.0)
    t = np.einsum("mde,me->md", U, longer * np.einsum("mde,md->me", U, (one + other) / 2))
    chord = np.linalg.norm(x, axis=1)
    off = [np.sqrt(np.maximum(chord**2 - np.square(along).sum(axis=1), 0.0)) for along in (one, other)]
    bend = angle.max(axis=1)
    strain = np.maximum(np.abs(off[0] - off[1]), np.maximum(*off) - chord * np.sin(bend / 2))
    strain = np.where(chord > 0, strain / np.where(chord > 0, chord, 1.0), 0.0)
    return Steps(t, turn, np.where(bend > BENT, np.inf, strain))


# From all points to a sheet ------------------------------------------------------------------------------------------


def sheet_of(source: Source, chosen: Ints, d: int, run: Run) -> Sheet | None:
    """The chosen points on the surface of dimension d that all points show.

    None where there are no rows of features, or no such surface: then too few knots have links along it. Planes come
    from the nearest points, or from more where noise hides them: from as many as strain the links least.
    """
    shown = _shown(source, chosen, run)
    if shown is None:
        return None
    around = _around(source, shown)
    if d > around.features(around.X[:1]).shape[1]:
        return None
    rows = around.X[np.searchsorted(shown, chosen)]
    knots = np.concatenate([rows, around.X[_more(shown, chosen, source.n, run)]])
    F, G = around.features(), around.features(knots)
    best, least = None, np.inf
    for scale in range(SCALES):
        width = (d + 1) * (d + 2) * COARSER**scale  # twice the terms of a quadratic
        if width > around.n // WIDEST:
            break
        found = nearest(around, width, queries=knots, run=run).indices.reshape(len(knots), width)
        at, T = _planes(F, G, found, d)
        strain, linked = _linked(at, T, run)
        if linked is not None and strain < least:
            best, least = Sheet(rows, around.metric, at, T, *linked, np.arange(len(chosen))), strain
        if strain < CLEAN or strain > least:
            break
    return best


def _shown(source: Source, chosen: Ints, run: Run) -> Ints | None:
    """All points, or a sample of rows in blocks; None where they have no features, or all of them are chosen."""
    if not isinstance(source, (Points, Blocks)) or source.metric.feature_map is None or source.n == len(chosen):
        return None
    if source.metric.finish is not None or (isinstance(source, Points) and isinstance(source.X, SparseRows)):
        return None
    few = SAMPLED * len(chosen)
    if isinstance(source, Points) or source.n <= few:
        return np.arange(source.n)
    return np.union1d(chosen, run.rng.choice(source.n, few, replace=False))


def _around(source: Source, shown: Ints) -> Points:
    """The points shown, in memory."""
    return source if isinstance(source, Points) else source.subset(shown)  # type: ignore[return-value]


def n_knots(n: int, m: int) -> int:
    """How many knots show the surface of n points to m of them."""
    return min(n, max(KNOTS * m, LEAST_KNOTS))


def _more(shown: Ints, chosen: Ints, n: int, run: Run) -> Ints:
    """Further knots, by their places among those shown: all where they are few, else some at random."""
    others = np.flatnonzero(~np.isin(shown, chosen))
    most = n_knots(n, len(chosen)) - len(chosen)
    return others if len(others) <= most else np.sort(run.rng.choice(others, most, replace=False))


def _planes(F: AnyFloats, at: AnyFloats, index: NDArray[np.integer], d: int) -> tuple[Floats, Floats]:
    """Where the surface through the points of each row of `index` passes rows `at`, (m, D); its planes, (m, D, d)."""
    m, D = len(index), F.shape[1]
    where, planes = np.empty((m, D)), np.empty((m, D, d))
    for part in block_slices(m, max(1, STACKED // (index.shape[1] * D))):
        here = at[part].astype(np.float64)
        off, planes[part] = _slopes(F[index[part]] - here[:, None], d)
        where[part] = here + off
    return where, planes


def _slopes(P: Floats, d: int) -> tuple[Floats, Floats]:
    """Values and slopes at 0 of quadratics through stacked points P (m, K, D), over their leading principal directions.

    The principal directions alone lean to the side where the surface bends, most of all at its edge.
    """
    U = stacked_svd(P - P.mean(axis=1, keepdims=True))[2][:, :d].transpose(0, 2, 1)
    u = P @ U
    u /= np.abs(u).max(axis=(1, 2), keepdims=True, initial=np.finfo(np.float64).tiny)
    first, second = np.triu_indices(d)
    A = np.concatenate([np.ones((*u.shape[:2], 1)), u, u[:, :, first] * u[:, :, second]], axis=2)
    fitted = np.linalg.pinv(A, rcond=RANK)[:, : d + 1] @ P
    left, sizes, right = stacked_svd(fitted[:, 1:])
    spans = (sizes[:, -1] > RANK * sizes[:, 0])[:, None, None]
    return fitted[:, 0], np.where(spans, (left @ right).transpose(0, 2, 1), U)


def _linked(F: Floats, T: Floats, run: Run) -> tuple[float, tuple[Neighbors, Floats, Floats] | None]:
    """Median strain to the nearest knots, and links along the surface with their steps and turns; None where too few
    knots have them.
    """
    n, most = len(F), max(LINKS, PER_DIRECTION * T.shape[2])
    width = min(n - 1, WIDER * most)
    index = nearest(Points(F, resolve_metric("euclidean", None, F)), width, run=run).indices.astype(np.int64)
    step = steps(F, T, np.repeat(np.arange(n), width), index)
    strain = step.strain.reshape(n, width)
    along = strain <= STRAINED
    level = float(np.median(strain[:, :most]))
    if (along.sum(axis=1) >= most // 2).mean() < ENOUGH:
        return level, None
    nearest_first = np.cumsum(along, axis=1)
    least = np.argsort(strain, axis=1, kind="stable")[:, : T.shape[2] + 1]
    kept = along & (nearest_first <= most)
    lonely = nearest_first[:, -1] <= T.shape[2]  # too few to span the plane: the least strained hold such a knot
    kept[np.flatnonzero(lonely)[:, None], least[lonely]] = True
    i, column = np.nonzero(kept)
    flat = i * width + column
    return level, _both_ways(i, index[flat], step.vectors[flat], step.turns[flat], n)


def _both_ways(i: Ints, j: Ints, t: Floats, turn: Floats, n: int) -> tuple[Neighbors, Floats, Floats]:
    """Links in either direction: the step back is -O' t, the turn O'."""
    back = turn.transpose(0, 2, 1)
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    t, turn = np.concatenate([t, -np.einsum("mde,me->md", back, t)]), np.concatenate([turn, back])
    once = np.unique(i * n + j, return_index=True)[1]
    lengths = np.linalg.norm(t, axis=1)
    order = once[np.lexsort((j[once], lengths[once], i[once]))]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i[order], minlength=n))])
    return Neighbors(indptr, j[order].astype(np.int32), lengths[order], n), t[order], turn[order]


# On a sheet -----------------------------------------------------------------------------------------------------------


def _loop_links(sheet: Sheet) -> tuple[NDArray[np.generic], ...]:
    links = sheet.links
    return links.indptr, links.indices, links.distances, sheet.steps, sheet.turns


def nearest_along(sheet: Sheet, k: int, run: Run) -> Neighbors:
    """The k nearest points of every point along the surface; fewer where no more are linked."""
    width = min(sheet.n - 1, SPARE * k)
    index, lengths = np.full((sheet.n, width), -1, dtype=np.int64), np.full((sheet.n, width), np.inf)
    number = np.full(len(sheet.knots), -1, dtype=np.int64)
    number[sheet.marks] = np.arange(sheet.n)
    blocks, loops, links = block_slices(sheet.n, BLOCK), compiled(LOOPS), _loop_links(sheet)

    def work(b: int) -> None:
        loops.nearest_marks(links, blocks[b].start, blocks[b].stop, sheet.marks, number, index, lengths)

    run_blocks(work, len(blocks), n_jobs=run.n_jobs)
    lengths, index = sorted_rows(lengths, index)
    lengths, index = lengths[:, :k], index[:, :k]
    found = np.isfinite(lengths)
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return Neighbors(indptr, index[found].astype(np.int32), lengths[found], sheet.n)


def chart(sheet: Sheet, base: Ints, index: Ints, run: Run) -> Floats:
    """(m, K, d): points of each row of `index` laid flat from its base; their shadows where no links lead to them."""
    starts, targets = sheet.marks[base], np.ascontiguousarray(sheet.marks[index])
    out = np.empty((*index.shape, sheet.steps.shape[1]))
    blocks, loops, links = block_slices(len(index), BLOCK), compiled(LOOPS), _loop_links(sheet)

    def work(b: int) -> None:
        loops.charts(links, blocks[b].start, blocks[b].stop, starts, targets, out)

    run_blocks(work, len(blocks), n_jobs=run.n_jobs)
    row, column = np.nonzero(np.isnan(out[:, :, 0]))
    out[row, column] = in_plane(sheet.knots, sheet.tangents, sheet.knots[targets[row, column]], starts[row])
    return out


def in_plane(F: AnyFloats, T: Floats, Q: AnyFloats, base: Ints) -> Floats:
    """(m, d): new points by their shadows on the planes of their bases."""
    return np.asarray(np.einsum("mpd,mp->md", T[base], Q.astype(np.float64) - F[base]))


class Homes(NamedTuple):
    """The point nearest to every knot along the surface, -1 for none, the knot's place and frame seen from it."""

    home: Ints
    position: Floats
    turn: Floats


def homes(sheet: Sheet) -> Homes:
    """Of all knots."""
    h, d = len(sheet.knots), sheet.steps.shape[1]
    found = Homes(np.empty(h, dtype=np.int64), np.empty((h, d)), np.empty((h, d, d)))
    compiled(LOOPS).homes(_loop_links(sheet), sheet.marks, *found)
    return found
