"""Loops of the multifrontal Cholesky factorisation. Numba, loaded on first use.

A front is stored by columns, F[column, row], so that the rows of a column lie side by side; only row >= column counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NARROW = 24  # columns that loops eliminate before BLAS updates the rest of their panel
WIDE = 96  # columns of a panel, eliminated before BLAS updates the rest of the front


@njit(nogil=True, cache=True)
def assemble(indptr, indices, data, shift, order, rank, begin, end, rows, where, F):
    """Zero the front and add the matrix's own entries of the columns begin..end; sets `where` for these rows."""
    width, m = end - begin, len(F)
    for j in range(m):
        for i in range(j, m):
            F[j, i] = 0.0
    for j in range(begin, end):
        where[j] = j - begin
    for q in range(len(rows)):
        where[rows[q]] = width + q
    for j in range(begin, end):
        v = order[j]
        column = j - begin
        F[column, column] += shift
        for e in range(indptr[v], indptr[v + 1]):
            i = rank[indices[e]]
            if i >= j:
                F[column, where[i]] += data[e]


@njit(nogil=True, cache=True)
def extend_add(U, rows, where, F):
    """Add a child's update matrix to the front of its parent."""
    b = len(rows)
    place = np.empty(b, np.int64)
    for i in range(b):
        place[i] = where[rows[i]]
    for j in range(b):
        column = place[j]
        for i in range(j, b):
            F[column, place[i]] += U[j, i]


@njit(nogil=True, cache=True)
def _block(F, first, last, left, right):
    """A contiguous copy of columns first..last, rows left..right."""
    out = np.empty((last - first, right - left))
    for j in range(last - first):
        for i in range(right - left):
            out[j, i] = F[first + j, left + i]
    return out


@njit(nogil=True, cache=True)
def _subtract_product(F, first, last, left, right, top, bottom):
    """F[left:right, top:bottom] -= F[first:last, left:right]' F[first:last, top:bottom]."""
    product = np.dot(_block(F, first, last, left, right).T, _block(F, first, last, top, bottom))
    for j in range(right - left):
        for i in range(bottom - top):
            F[left + j, top + i] -= product[j, i]


@njit(nogil=True, cache=True)
def eliminate_square(F, first, last, floor):
    """Cholesky factor of the square block first..last, in place; pivots below `floor` become `floor`."""
    for j in range(first, last):
        for k in range(first, j):
            f = F[k, j]
            for i in range(j, last):
                F[j, i] -= f * F[k, i]
        pivot = np.sqrt(max(F[j, j], floor))
        F[j, j] = pivot
        for i in range(j + 1, last):
            F[j, i] /= pivot


@njit(nogil=True, cache=True)
def eliminate_rows(F, first, last, top, bottom):
    """Rows top..bottom of the columns first..last, whose square block is factored already."""
    for left in range(first, last, NARROW):
        right = min(left + NARROW, last)
        if left > first:
            _subtract_product(F, first, left, left, right, top, bottom)
        for j in range(left, right):
            for k in range(left, j):
                f = F[k, j]
                for i in range(top, bottom):
                    F[j, i] -= f * F[k, i]
            pivot = 1.0 / F[j, j]
            for i in range(top, bottom):
                F[j, i] *= pivot


@njit(nogil=True, cache=True)
def update_columns(F, first, last, left, right):
    """Columns left..right minus what the eliminated columns first..last contribute, rows from `left` on."""
    _subtract_product(F, first, last, left, right, left, len(F))


@njit(nogil=True, cache=True)
def eliminate(F, width, floor):
    """The first `width` columns of a front, and the update of the rest."""
    m = len(F)
    for first in range(0, width, WIDE):
        last = min(first + WIDE, width)
        eliminate_square(F, first, last, floor)
        eliminate_rows(F, first, last, last, m)
        for left in range(last, m, WIDE):
            update_columns(F, first, last, left, min(left + WIDE, m))


@njit(nogil=True, cache=True)
def store(F, width, L):
    """Keep the eliminated columns: the square block, then the rows below, each contiguous."""
    b = len(F) - width
    for j in range(width):
        for i in range(j, width):
            L[j * width + i] = F[j, i]
        for i in range(b):
            L[width * width + j * b + i] = F[j, width + i]


@njit(nogil=True, cache=True)
def factor_branch(
    indptr, indices, data, shift, order, rank, start, stop, children, pointer, rows, place, L, first, last, largest,
    deepest, floor,
):  # fmt: skip
    """Factor the nodes first..last, a whole branch, children first; returns what its root leaves over."""
    front = np.empty(largest)
    stack = np.empty(deepest)
    where = np.empty(len(order), np.int32)
    waiting = np.empty(last - first + 1, np.int64)
    count, top = 0, 0
    for p in range(first, last + 1):
        below = rows[pointer[p] : pointer[p + 1]]
        width = stop[p] - start[p]
        m = width + len(below)
        F = front[: m * m].reshape(m, m)
        assemble(indptr, indices, data, shift, order, rank, start[p], stop[p], below, where, F)
        for _ in range(children[p]):
            count -= 1
            c = waiting[count]
            b = pointer[c + 1] - pointer[c]
            top -= b * b
            extend_add(stack[top : top + b * b].reshape(b, b), rows[pointer[c] : pointer[c + 1]], where, F)
        eliminate(F, width, floor)
        store(F, width, L[place[p] : place[p + 1]])
        b = len(below)
        for j in range(b):
            for i in range(j, b):
                stack[top + j * b + i] = F[width + j, width + i]
        top += b * b
        waiting[count] = p
        count += 1
    b = pointer[last + 1] - pointer[last]
    out = np.empty((b, b))
    for j in range(b):
        for i in range(j, b):
            out[j, i] = stack[j * b + i]
    return out


@njit(nogil=True, cache=True)
def forward(start, stop, pointer, rows, place, L, X):
    """X <- L^-1 X, rows in elimination order."""
    for p in range(len(start)):
        begin, width = start[p], stop[p] - start[p]
        b = pointer[p + 1] - pointer[p]
        square = L[place[p] : place[p] + width * width].reshape(width, width)
        own = X[begin : begin + width]
        for j in range(width):
            for c in range(X.shape[1]):
                own[j, c] /= square[j, j]
            for i in range(j + 1, width):
                f = square[j, i]
                for c in range(X.shape[1]):
                    own[i, c] -= f * own[j, c]
        if b > 0:
            below = L[place[p] + width * width : place[p + 1]].reshape(width, b)
            out = np.dot(below.T, own)
            for q in range(b):
                for c in range(X.shape[1]):
                    X[rows[pointer[p] + q], c] -= out[q, c]


@njit(nogil=True, cache=True)
def backward(start, stop, pointer, rows, place, L, X):
    """X <- L^-T X, rows in elimination order."""
    for p in range(len(start) - 1, -1, -1):
        begin, width = start[p], stop[p] - start[p]
        b = pointer[p + 1] - pointer[p]
        square = L[place[p] : place[p] + width * width].reshape(width, width)
        own = X[begin : begin + width]
        if b > 0:
            below = L[place[p] + width * width : place[p + 1]].reshape(width, b)
            gathered = np.empty((b, X.shape[1]))
            for q in range(b):
                for c in range(X.shape[1]):
                    gathered[q, c] = X[rows[pointer[p] + q], c]
            out = np.dot(below, gathered)
            for j in range(width):
                for c in range(X.shape[1]):
                    own[j, c] -= out[j, c]
        for j in range(width - 1, -1, -1):
            for i in range(j + 1, width):
                f = square[j, i]
                for c in range(X.shape[1]):
                    own[j, c] -= f * own[i, c]
            for c in range(X.shape[1]):
                own[j, c] /= square[j, j]
