"""Loops of the shortest-path engine. Numba, loaded on first use by `_paths`.

A batch carries LANES = ROW_BYTES / itemsize sources at once. `labels[v]` is one row of LANES tentative distances, one
per source, and every edge operation works on whole rows, so the machine's vector unit serves all sources of the batch
together.

Labels are whole numbers of a unit, int32 or float64, with `far` for no path (`_units`), and are corrected until no edge
improves one: at the end labels[v] = min over paths of the sum of lengths. Their sums are exact, so this is one number,
whatever the order of the corrections: sweeps, Dijkstra, batches and threads all give the same bits.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from lowfold._core._vectors import Vectors
from lowfold.graph._heap_loops import new_heap, settle

ROW_BYTES = 256  # 64 int32 or 32 float64 sources: measured better than 64 and 128 bytes from 2,000 vertices on
TURN_BYTES = 32  # of a row that is transposed in registers
LEAST_VISITS = 4  # of every edge, for a batch of few rows
WORTH = 3  # eighths of a visit of every edge for each search that a batch replaces
REWORK = 0.5  # visits per vertex beyond the first before `correct` changes to sweeps
ONE = np.uint64(1)

# The only set bit of x is number BIT_INDEX[(x * DE_BRUIJN) >> 58]: every 6-bit window of the constant is different.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_INDEX = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    BIT_INDEX[((int(DE_BRUIJN) << _bit) & (2**64 - 1)) >> 58] = _bit


def lanes_of(dtype):
    """Sources per batch for labels of `dtype`."""
    return ROW_BYTES // int(np.dtype(dtype).itemsize)


# --- Row operations, written as vector instructions -----------------------------------------------------------------
# By itself LLVM splits "improves and was visited" into two branches, of which the second is a coin toss (2.4 times
# slower with 16 lanes).


def _rows(context, builder, array_type, array):
    """Whole rows of labels."""
    return Vectors(context, builder, array_type, array, lanes_of(f"f{array_type.dtype.bitwidth // 8}"), whole=True)


def _edges(context, builder, signature, args, first: int):
    """Pointers to `indices` and `lengths`, arguments `first` and `first + 1` of an intrinsic."""
    return [context.make_array(signature.args[i])(context, builder, args[i]).data for i in (first, first + 1)]


@intrinsic
def pull(typing_context, labels, v, indices, lengths, start, stop):
    """labels[v] = min(labels[v], labels[u] + length) over the edges (u, v) stored in [start, stop)."""

    def generate(context, builder, signature, args):
        rows = _rows(context, builder, signature.args[0], args[0])
        tails, weights = _edges(context, builder, signature, args, 2)
        mine = rows.row(args[1], signature.args[1])
        best = cgutils.alloca_once_value(builder, rows.load(mine))
        with cgutils.for_range_slice(builder, args[4], args[5], ir.Constant(args[4].type, 1), inc=True) as (edge, _):
            tail = rows.load(rows.row(builder.load(builder.gep(tails, [edge])), signature.args[2].dtype))
            weight = rows.spread(builder.load(builder.gep(weights, [edge])))
            builder.store(rows.smaller(rows.plus(tail, weight), builder.load(best)), best)
        rows.store(builder.load(best), mine)
        return context.get_dummy_value()

    return types.void(labels, v, indices, lengths, start, stop), generate


@intrinsic
def loose(typing_context, labels, v, indices, lengths, start, stop, position, front):
    """True if labels[v] + length < labels[u] in a lane of an edge (v, u) in [start, stop) with position[u] < front."""

    def generate(context, builder, signature, args):
        rows = _rows(context, builder, signature.args[0], args[0])
        heads, weights = _edges(context, builder, signature, args, 2)
        places = context.make_array(signature.args[6])(context, builder, args[6]).data
        mask = ir.VectorType(ir.IntType(1), rows.lanes)
        bits = ir.IntType(rows.lanes)
        mine = rows.load(rows.row(args[1], signature.args[1]))
        found = cgutils.alloca_once_value(builder, ir.Constant(bits, 0))
        with cgutils.for_range_slice(builder, args[4], args[5], ir.Constant(args[4].type, 1), inc=True) as (edge, _):
            head = builder.load(builder.gep(heads, [edge]))
            place = builder.load(
                builder.gep(places, [context.cast(builder, head, signature.args[2].dtype, types.intp)])
            )
            place = context.cast(builder, place, signature.args[6].dtype, types.intp)
            visited = rows.spread(builder.icmp_signed("<", place, args[7]), mask)
            weight = rows.spread(builder.load(builder.gep(weights, [edge])))
            improves = rows.less(rows.plus(mine, weight), rows.load(rows.row(head, signature.args[2].dtype)))
            hit = builder.bitcast(builder.and_(improves, visited), bits)
            builder.store(builder.or_(builder.load(found), hit), found)
        return builder.icmp_unsigned("!=", builder.load(found), ir.Constant(bits, 0))

    return types.boolean(labels, v, indices, lengths, start, stop, position, front), generate


# --- Sweeps: label correcting in the order of one Dijkstra per batch ------------------------------------------------


@njit(nogil=True, cache=True)
def correct(out_edges, in_edges, labels, order, position, n_order, due, budget):
    """Correct labels until no edge improves one; False if more than `budget` edges had to be looked at.

    A vertex that is due pulls its row from its in-neighbours and then looks whether a vertex visited before gains
    from it: that one is due again. `due` has one bit per position in `order`; all start set, so vertices beyond the
    front need no marking.

    At first the due vertex that comes first in `order` is next, which costs little more than one visit per vertex where
    the sources of the batch see the vertices in about the same order. Where they do not (sources far apart, shortcuts,
    many dimensions), going back at once repeats work that is corrected again later: after REWORK visits per vertex too
    many, the due vertices are taken in sweeps through `order`, forwards and backwards in turn.
    """
    indptr, indices, lengths = out_edges
    in_indptr, in_indices, in_lengths = in_edges
    n_words = (n_order + 63) // 64
    due[:n_words] = ~np.uint64(0)
    if n_order % 64:
        due[n_words - 1] = (ONE << np.uint64(n_order % 64)) - ONE
    word = 0
    step = 1
    front = 0
    visits = 0
    work = 0
    sweeping = False
    clean = True
    while True:
        if word < 0 or word >= n_words:
            if clean:
                return True
            clean = True
            step = -step
            word += step
        bits = due[word]
        if bits == 0:
            word += step
            continue
        lowest = bits & (~bits + ONE)
        due[word] = bits ^ lowest
        place = 64 * word + BIT_INDEX[(lowest * DE_BRUIJN) >> np.uint64(58)]
        v = order[place]
        pull(labels, v, in_indices, in_lengths, in_indptr[v], in_indptr[v + 1])
        visits += 1
        start = indptr[v]
        stop = indptr[v + 1]
        work += stop - start
        if work > budget:
            return False
        if not sweeping:
            front = max(front, place)
            if visits - front > REWORK * n_order:
                sweeping = True
                front = n_order
        if loose(labels, v, indices, lengths, start, stop, position, front):
            for e in range(start, stop):
                if loose(labels, v, indices, lengths, e, e + 1, position, front):
                    p = int(position[indices[e]])
                    due[p >> 6] |= ONE << np.uint64(p & 63)
                    if sweeping:
                        clean = False
                    else:
                        word = min(word, p >> 6)


@intrinsic
def turn(typing_context, labels, lane, columns, first, limit, unit, rows, out):
    """out[rows[lane + l], first + j] = unit labels[columns[first + j], lane + l], inf beyond `limit`: a square block.

    As many lanes and columns as 32 bytes hold, transposed in registers.
    """

    def generate(context, builder, signature, args):
        width = TURN_BYTES * 8 // signature.args[0].dtype.bitwidth
        source = Vectors(context, builder, signature.args[0], args[0], width, whole=False)
        target = Vectors(context, builder, signature.args[7], args[7], width, whole=False)
        names, places = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (2, 6))
        nowhere = ir.Constant(target.vector, [float("inf")] * width)
        bound, factor = source.spread(args[4]), target.spread(args[5])

        def one(array, at, i):
            return builder.load(builder.gep(array, [builder.add(at, ir.Constant(at.type, i))]))

        lines = []
        for j in range(width):
            line = source.load(source.row(one(names, args[3], j), signature.args[2].dtype), args[1])
            beyond = source.less(bound, line)
            if source.integer:
                line = builder.sitofp(line, target.vector)
            elif source.itemsize > target.itemsize:
                line = builder.fptrunc(line, target.vector)
            lines.append(builder.select(beyond, nowhere, builder.fmul(line, factor)))
        for i, line in enumerate(_transposed(builder, lines)):
            target.store(line, target.row(one(places, args[1], i), signature.args[6].dtype), args[3])
        return context.get_dummy_value()

    n = types.intp
    return types.void(labels, n, columns, n, labels.dtype, out.dtype, rows, out), generate


def _transposed(builder, lines):
    """Lines of a square block become its columns: blocks of half the size change places, at every scale."""
    width = len(lines)
    half = width // 2
    while half:
        turned = list(lines)
        for i in range(width):
            if not i & half:
                near = [k if not k & half else width + k - half for k in range(width)]
                far = [k + half if not k & half else width + k for k in range(width)]
                for place, mask in ((i, near), (i + half, far)):
                    chosen = ir.Constant(ir.VectorType(ir.IntType(32), width), mask)
                    turned[place] = builder.shuffle_vector(lines[i], lines[i + half], chosen)
        lines = turned
        half //= 2
    return lines


@njit(nogil=True, cache=True)
def store_rows(labels, rows, columns, limit, unit, out):
    """out[rows[lane], j] = unit labels[columns[j], lane], inf beyond `limit`; whole lines of the cache at a time."""
    width = TURN_BYTES // labels.itemsize
    scale = out.dtype.type(unit)
    lanes = len(rows) // width * width
    line = 64 // out.itemsize
    whole = len(columns) // line * line if lanes else 0
    for first in range(0, whole, line):
        for lane in range(0, lanes, width):
            for j in range(first, first + line, width):
                turn(labels, lane, columns, j, limit, scale, rows, out)
        for lane in range(lanes, len(rows)):
            for j in range(first, first + line):
                d = labels[columns[j], lane]
                out[rows[lane], j] = d * unit if d <= limit else np.inf
    for lane in range(len(rows)):
        for j in range(whole, len(columns)):
            d = labels[columns[j], lane]
            out[rows[lane], j] = d * unit if d <= limit else np.inf


@njit(nogil=True, cache=True)
def sweep_batches(out_edges, in_edges, seeds, batches, columns, limit, far, unit, labels, out):
    """Fill the rows of `out` named by `batches`, whose row b holds the seed sets of batch b, padded with -1.

    Returns how many batches were finished: it stops at the first one for which one Dijkstra search per seed set is
    likely to be faster. `labels` is the (n, LANES) work space.
    """
    indptr, indices, lengths = out_edges
    seed_indptr, seed_indices, seed_lengths = seeds
    n = len(indptr) - 1
    distance = np.empty(n, lengths.dtype)
    order = np.empty(n, np.int32)
    position = np.empty(n, np.int32)
    heap = new_heap(n, lengths)
    due = np.empty((n + 63) // 64, np.uint64)
    wanted = np.zeros(1, np.bool_)
    for b in range(len(batches)):
        rows = batches[b][batches[b] >= 0]
        labels[:] = far
        n_seeds = 0
        for lane in range(len(rows)):
            n_seeds += seed_indptr[rows[lane] + 1] - seed_indptr[rows[lane]]
        all_seeds = np.empty(n_seeds, seed_indices.dtype)
        all_lengths = np.empty(n_seeds, lengths.dtype)
        n_seeds = 0
        for lane in range(len(rows)):
            for s in range(seed_indptr[rows[lane]], seed_indptr[rows[lane] + 1]):
                v = seed_indices[s]
                labels[v, lane] = min(labels[v, lane], seed_lengths[s])
                all_seeds[n_seeds] = v
                all_lengths[n_seeds] = seed_lengths[s]
                n_seeds += 1
        # Distance from the nearest source of the batch: close to every lane's own Dijkstra order.
        n_order = settle(
            indptr, indices, lengths, all_seeds, all_lengths, limit, far, wanted, -1, distance, order, heap
        )
        position[:] = n
        for p in range(n_order):
            position[order[p]] = p
        # An edge of a visit costs one to two edges of a Dijkstra search, of which this batch replaces len(rows).
        budget = len(indices) * max(LEAST_VISITS, WORTH * len(rows) // 8)
        if not correct(out_edges, in_edges, labels, order, position, n_order, due, budget):
            return b
        store_rows(labels, rows, columns, limit, unit, out)
    return len(batches)
