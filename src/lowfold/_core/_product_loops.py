"""Loops of matrix products. Numba, loaded on first use.

Sums run in an order fixed by the loops alone, so the bits depend neither on threads nor on which block a row is in.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from lowfold._core._vectors import Vectors

BLOCK_BYTES = 64  # of a row, in registers
ROWS = 4  # rows in registers: with 64 bytes each eight vectors of 32 bytes, half of a register file of sixteen
COLUMNS = 8  # float64 numbers in a block: widths of V and of the result are multiples of it
TILE = 16, 128  # rows and columns of D whose powers stay in the first-level cache


def block_product(n_rows, plus, times):
    """The intrinsic C plus= A times B for `n_rows` rows at a time, in the algebra of two methods of `Vectors`.

    The rows of C, 64 bytes of each, stay in registers while the inner index runs, so that every load serves them all.
    """

    @intrinsic
    def product(typing_context, C, into, first, B, through, start, stop, A, place, by_row, by_k, left, right):
        """C[into[first + r], c] plus= A[place + r by_row + (k - start) by_k] times B[through[k], c].

        r < n_rows, start <= k < stop, left <= c < right; A is flat; left and right are multiples of a block.
        """

        def generate(context, builder, signature, args):
            _, _, first_, _, _, start_, stop_, _, place_, by_row_, by_k_, left_, right_ = args
            lanes = BLOCK_BYTES * 8 // signature.args[0].dtype.bitwidth
            C_, B_ = (Vectors(context, builder, signature.args[i], args[i], lanes, whole=False) for i in (0, 3))
            heads, tails, factors = (
                context.make_array(signature.args[i])(context, builder, args[i]).data for i in (1, 4, 7)
            )

            def number(value):
                return ir.Constant(first_.type, value)

            index = signature.args[1].dtype
            rows = [
                C_.row(builder.load(builder.gep(heads, [builder.add(first_, number(r))])), index) for r in range(n_rows)
            ]
            begins = [builder.add(place_, builder.mul(by_row_, number(r))) for r in range(n_rows)]
            with cgutils.for_range_slice(builder, left_, right_, number(lanes), inc=True) as (c, _):
                sums = [cgutils.alloca_once(builder, C_.vector) for _ in rows]
                for slot, row in zip(sums, rows, strict=True):
                    builder.store(C_.load(row, c), slot)
                with cgutils.for_range_slice(builder, start_, stop_, number(1), inc=True) as (k, _):
                    b = B_.load(B_.row(builder.load(builder.gep(tails, [k])), index), c)
                    step = builder.mul(builder.sub(k, start_), by_k_)
                    for slot, begin in zip(sums, begins, strict=True):
                        a = C_.spread(builder.load(builder.gep(factors, [builder.add(begin, step)])))
                        builder.store(plus(C_, times(C_, b, a), builder.load(slot)), slot)
                for slot, row in zip(sums, rows, strict=True):
                    C_.store(builder.load(slot), row, c)
            return context.get_dummy_value()

        n = types.intp
        return types.void(C, into, n, B, through, n, n, A, n, n, n, n, n), generate

    return product


add_rows, add_row = (block_product(rows, Vectors.plus, Vectors.times) for rows in (ROWS, 1))


@njit(nogil=True, cache=True)
def add_product(C, into, first, last, B, through, start, stop, A, place, by_row, by_k, left, right):
    """C[into] += A B[through], the rows first..last of `into`."""
    whole = first + (last - first) // ROWS * ROWS
    for i in range(first, whole, ROWS):
        add_rows(C, into, i, B, through, start, stop, A, place + (i - first) * by_row, by_row, by_k, left, right)
    for i in range(whole, last):
        add_row(C, into, i, B, through, start, stop, A, place + (i - first) * by_row, by_row, by_k, left, right)


@njit(nogil=True, cache=True)
def _powers(D, first, last, left, right, square, shift, S):
    """S[r, j] = p(d) for the entries of D in rows first..last and columns left..right."""
    for r in range(last - first):
        line, source = S[r], D[first + r, left:right]
        if square:
            for j in range(right - left):
                d = np.float64(source[j]) + shift
                line[j] = d * d
        else:
            for j in range(right - left):
                line[j] = np.float64(source[j]) + shift
        if shift != 0.0 and left <= first + r < right:
            line[first + r - left] = 0.0


@njit(nogil=True, cache=True)
def times_powers(D, V, every, square, shift, begin, end, out):
    """out[i] = sum_j p(d_ij) V[j] for begin <= i < end, in float64; p(d) is d or d^2, of d + shift off the diagonal.

    V and `out` have a multiple of COLUMNS columns; `every` counts from 0.
    """
    n, (rows, columns) = D.shape[1], TILE
    S = np.empty((rows, columns))
    flat = S.reshape(-1)
    for first in range(begin, end, rows):
        last = min(first + rows, end)
        out[first:last] = 0.0
        for left in range(0, n, columns):
            right = min(left + columns, n)
            _powers(D, first, last, left, right, square, shift, S)
            add_product(out, every, first, last, V, every, left, right, flat, 0, columns, 1, 0, V.shape[1])


@njit(nogil=True, cache=True)
def times_sparse(indptr, indices, data, V, first, last, out):
    """out[i] = sum_j a_ij V[j] for first <= i < last; four columns at a time, so that their sums stay in registers."""
    b = V.shape[1]
    whole = b - b % 4
    for i in range(first, last):
        for c in range(0, whole, 4):
            s0 = s1 = s2 = s3 = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                a, j = data[e], indices[e]
                s0 += a * V[j, c]
                s1 += a * V[j, c + 1]
                s2 += a * V[j, c + 2]
                s3 += a * V[j, c + 3]
            out[i, c] = s0
            out[i, c + 1] = s1
            out[i, c + 2] = s2
            out[i, c + 3] = s3
        for c in range(whole, b):
            s0 = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                s0 += data[e] * V[indices[e], c]
            out[i, c] = s0


@njit(nogil=True, cache=True)
def smoothing_step(indptr, indices, data, weight, R, X, P, alpha, beta, first, last, out):
    """P = alpha diag(weight) (R - A X) + beta P and out = X + P, in rows first..last; X itself stays for other rows."""
    times_sparse(indptr, indices, data, X, first, last, out)
    for i in range(first, last):
        for c in range(R.shape[1]):
            P[i, c] = alpha * weight[i] * (R[i, c] - out[i, c]) + beta * P[i, c]
            out[i, c] = X[i, c] + P[i, c]
