"""Loops of the shortest-path engine. Numba, loaded on first use by `_paths`.

A batch carries LANES = ROW_BYTES / itemsize sources at once. `labels[v]` is one row of LANES tentative distances, one
per source, and every edge operation works on whole rows, so the machine's vector unit serves all sources of the batch
together.

Labels are corrected until no edge improves one: at the end labels[v] = min over paths of the sum of lengths, added
from the source on. Floating addition is monotone, so this least fixed point is one number, whatever the order of the
corrections: sweeps, Dijkstra, batches and threads all give the same bits.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

ROW_BYTES = 256  # 64 float32 or 32 float64 sources: measured better than 64 and 128 bytes from 2,000 vertices on
ARITY = 4  # children per heap node
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
# LLVM does not vectorise these loops by itself: it cannot know that two rows of one array do not overlap, and it splits
# "improves and was visited" into two branches, of which the second is a coin toss (2.4 times slower with 16 lanes).


class _Rows:
    """Code generation for the rows of a C-contiguous (n, LANES) array."""

    def __init__(self, context, builder, array_type, array):
        self.context, self.builder = context, builder
        self.data = context.make_array(array_type)(context, builder, array).data
        self.itemsize = array_type.dtype.bitwidth // 8
        self.lanes = lanes_of(f"f{self.itemsize}")
        self.vector = ir.VectorType(context.get_value_type(array_type.dtype), self.lanes)

    def pointer(self, v, v_type):
        index = self.context.cast(self.builder, v, v_type, types.intp)
        first = self.builder.gep(self.data, [self.builder.mul(index, ir.Constant(index.type, self.lanes))])
        return self.builder.bitcast(first, self.vector.as_pointer())

    def load(self, v, v_type):
        return self.builder.load(self.pointer(v, v_type), align=self.itemsize)

    def spread(self, scalar, vector):
        """`scalar` in every lane."""
        undefined = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, zeros)


def _edges(context, builder, signature, args, first: int):
    """Pointers to `indices` and `lengths`, arguments `first` and `first + 1` of an intrinsic."""
    return [context.make_array(signature.args[i])(context, builder, args[i]).data for i in (first, first + 1)]


@intrinsic
def pull(typing_context, labels, v, indices, lengths, start, stop):
    """labels[v] = min(labels[v], labels[u] + length) over the edges (u, v) stored in [start, stop)."""

    def generate(context, builder, signature, args):
        rows = _Rows(context, builder, signature.args[0], args[0])
        tails, weights = _edges(context, builder, signature, args, 2)
        best = cgutils.alloca_once_value(builder, rows.load(args[1], signature.args[1]))
        with cgutils.for_range_slice(builder, args[4], args[5], ir.Constant(args[4].type, 1), inc=True) as (edge, _):
            tail = rows.load(builder.load(builder.gep(tails, [edge])), signature.args[2].dtype)
            weight = rows.spread(builder.load(builder.gep(weights, [edge])), rows.vector)
            through, old = builder.fadd(tail, weight), builder.load(best)
            builder.store(builder.select(builder.fcmp_ordered("<", through, old), through, old), best)
        builder.store(builder.load(best), rows.pointer(args[1], signature.args[1]), align=rows.itemsize)
        return context.get_dummy_value()

    return types.void(labels, v, indices, lengths, start, stop), generate


@intrinsic
def loose(typing_context, labels, v, indices, lengths, start, stop, position, front):
    """True if labels[v] + length < labels[u] in a lane of an edge (v, u) in [start, stop) with position[u] < front."""

    def generate(context, builder, signature, args):
        rows = _Rows(context, builder, signature.args[0], args[0])
        heads, weights = _edges(context, builder, signature, args, 2)
        places = context.make_array(signature.args[6])(context, builder, args[6]).data
        mask = ir.VectorType(ir.IntType(1), rows.lanes)
        bits = ir.IntType(rows.lanes)
        mine = rows.load(args[1], signature.args[1])
        found = cgutils.alloca_once_value(builder, ir.Constant(bits, 0))
        with cgutils.for_range_slice(builder, args[4], args[5], ir.Constant(args[4].type, 1), inc=True) as (edge, _):
            head = builder.load(builder.gep(heads, [edge]))
            place = builder.load(
                builder.gep(places, [context.cast(builder, head, signature.args[2].dtype, types.intp)])
            )
            place = context.cast(builder, place, signature.args[6].dtype, types.intp)
            visited = rows.spread(builder.icmp_signed("<", place, args[7]), mask)
            weight = rows.spread(builder.load(builder.gep(weights, [edge])), rows.vector)
            improves = builder.fcmp_ordered("<", builder.fadd(mine, weight), rows.load(head, signature.args[2].dtype))
            hit = builder.bitcast(builder.and_(improves, visited), bits)
            builder.store(builder.or_(builder.load(found), hit), found)
        return builder.icmp_unsigned("!=", builder.load(found), ir.Constant(bits, 0))

    return types.boolean(labels, v, indices, lengths, start, stop, position, front), generate


# --- Dijkstra with an indexed heap ----------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def _sift_up(keys, vertices, slot, i, key, v):
    """Put (key, v) at heap place i or above."""
    while i > 0:
        parent = (i - 1) // ARITY
        if keys[parent] <= key:
            break
        keys[i] = keys[parent]
        vertices[i] = vertices[parent]
        slot[vertices[i]] = i
        i = parent
    keys[i] = key
    vertices[i] = v
    slot[v] = i


@njit(nogil=True, cache=True)
def _sift_down(keys, vertices, slot, size, key, v):
    """Put (key, v) at the root or below, in a heap of `size`."""
    i = 0
    while True:
        child = ARITY * i + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, min(child + ARITY, size)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[i] = keys[least]
        vertices[i] = vertices[least]
        slot[vertices[i]] = i
        i = least
    keys[i] = key
    vertices[i] = v
    slot[v] = i


@njit(nogil=True, cache=True)
def settle(
    indptr,
    indices,
    lengths,
    seeds,
    seed_lengths,
    limit,
    wanted,
    n_wanted,
    distance,
    order,
    heap,
):
    """Dijkstra from a set of (vertex, initial distance): fill `distance`, write the vertices to `order` as they settle.

    Stops beyond `limit`, or once `n_wanted` vertices with wanted[v] are settled (n_wanted < 0: never). Returns how many
    vertices settled; `distance` of the others is inf or not final.
    """
    keys, vertices, slot = heap
    distance[:] = np.inf
    size = 0
    count = 0
    for s in range(len(seeds)):
        v = seeds[s]
        d = seed_lengths[s]
        if d <= limit and d < distance[v]:
            place = slot[v] if distance[v] != np.inf else size
            size = max(size, place + 1)
            distance[v] = d
            _sift_up(keys, vertices, slot, place, d, v)
    while size > 0:
        v = vertices[0]
        base = keys[0]
        size -= 1
        if size > 0:
            _sift_down(keys, vertices, slot, size, keys[size], vertices[size])
        order[count] = v
        count += 1
        if n_wanted >= 0 and wanted[v]:
            n_wanted -= 1
            if n_wanted == 0:
                break
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            d = base + lengths[e]
            if d < distance[u] and d <= limit:
                place = slot[u] if distance[u] != np.inf else size
                size = max(size, place + 1)
                distance[u] = d
                _sift_up(keys, vertices, slot, place, d, u)
    return count


@njit(nogil=True, cache=True)
def new_heap(n, like):
    """Keys (dtype of `like`), vertices, and the heap place of each vertex."""
    return np.empty(n, like.dtype), np.empty(n, np.int32), np.empty(n, np.int32)


@njit(nogil=True, cache=True)
def dijkstra_rows(out_edges, seeds, rows, columns, limit, early, out):
    """out[r, j] = distance from seed set r to vertex columns[j], for r in rows, one Dijkstra each.

    With `early` a search ends once all columns are settled.
    """
    indptr, indices, lengths = out_edges
    seed_indptr, seed_indices, seed_lengths = seeds
    n = len(indptr) - 1
    distance = np.empty(n, lengths.dtype)
    order = np.empty(n, np.int32)
    heap = new_heap(n, lengths)
    wanted = np.zeros(n, np.bool_)
    n_wanted = -1
    if early:
        n_wanted = 0
        for v in columns:
            n_wanted += not wanted[v]
            wanted[v] = True
    for r in rows:
        mine = slice(seed_indptr[r], seed_indptr[r + 1])
        settle(
            indptr,
            indices,
            lengths,
            seed_indices[mine],
            seed_lengths[mine],
            limit,
            wanted,
            n_wanted,
            distance,
            order,
            heap,
        )
        for j in range(len(columns)):
            out[r, j] = distance[columns[j]]


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


@njit(nogil=True, cache=True)
def _store(labels, rows, columns, limit, out):
    """out[rows[lane], j] = labels[columns[j], lane], inf beyond `limit`; by tiles that stay in the nearest cache."""
    width = 64
    tile = np.empty((width, labels.shape[1]), labels.dtype)
    for first in range(0, len(columns), width):
        n_here = min(width, len(columns) - first)
        for j in range(n_here):
            source = labels[columns[first + j]]
            for lane in range(len(source)):
                d = source[lane]
                tile[j, lane] = d if d <= limit else np.inf
        for lane in range(len(rows)):
            target = out[rows[lane], first : first + n_here]
            column = tile[:, lane]
            for j in range(n_here):
                target[j] = column[j]


@njit(nogil=True, cache=True)
def sweep_batches(out_edges, in_edges, seeds, batches, columns, limit, labels, out):
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
        labels[:] = np.inf
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
        n_order = settle(indptr, indices, lengths, all_seeds, all_lengths, limit, wanted, -1, distance, order, heap)
        position[:] = n
        for p in range(n_order):
            position[order[p]] = p
        # An edge of a visit costs one to two edges of a Dijkstra search, of which this batch replaces len(rows).
        budget = len(indices) * max(4, 3 * len(rows) // 8)
        if not correct(out_edges, in_edges, labels, order, position, n_order, due, budget):
            return b
        _store(labels, rows, columns, limit, out)
    return len(batches)
