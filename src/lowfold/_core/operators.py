"""Symmetric operators that carry what is known about them; a solver reads the tags and refuses what it cannot honour.

`psd`        proven positive semidefinite
`bound`      an upper bound of the spectrum that is attained or nearly so (a Markov operator: 1); None where unknown
`laplacian`  off-diagonal entries <= 0 and a known positive null vector: aggregation preconditioners apply
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.sparse_rows import canonical
from lowfold._core.types import Floats, Ints

LANDMARKS = 256  # points from which a first guess of the leading eigenvectors is made
COMPILED_FROM = 2_000  # points; below, a product takes less time than loading or compiling the loops


@runtime_checkable
class Operator(Protocol):
    """A symmetric n x n matrix, known by what it does to a block of columns."""

    @property
    def n(self) -> int: ...

    @property
    def psd(self) -> bool: ...

    @property
    def bound(self) -> float | None: ...

    def apply(self, V: Floats) -> Floats:
        """A V for a float64 block V of shape (n, m)."""
        ...

    def dense(self) -> Floats:
        """The whole matrix in float64. The caller asks the memory budget first."""
        ...


@runtime_checkable
class ColumnOperator(Operator, Protocol):
    """An operator that also shows its columns: what methods that pick some of them ask for."""

    def columns(self, index: NDArray[np.int64]) -> Floats:
        """A[:, index] in float64."""
        ...

    def column_squares(self) -> Floats:
        """Squared length of each column; one pass over the operator."""
        ...

    def diagonal(self) -> Floats:
        """A_ii."""
        ...


@dataclass(frozen=True, eq=False)
class SparseOperator:
    """A symmetric sparse matrix."""

    matrix: csr_array
    psd: bool = False
    bound: float | None = None
    laplacian: bool = False
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def apply(self, V: Floats) -> Floats:
        return multiply(self.matrix, V, n_jobs=self.n_jobs)

    def dense(self) -> Floats:
        return np.asarray(self.matrix.toarray(), dtype=np.float64)

    def columns(self, index: NDArray[np.int64]) -> Floats:
        return np.asarray(self.matrix[index].toarray().T, dtype=np.float64)  # rows: the matrix is symmetric

    def column_squares(self) -> Floats:
        return np.asarray(self.matrix.multiply(self.matrix).sum(axis=1), dtype=np.float64).ravel()

    def diagonal(self) -> Floats:
        return np.asarray(self.matrix.diagonal(), dtype=np.float64)

    def scaled(self, s: Floats) -> SparseOperator:
        """diag(s) A diag(s); the indices are those of A, not copies."""
        A = canonical(self.matrix)
        values = A.data * np.repeat(s, np.diff(A.indptr))
        values *= s[A.indices]
        return replace(self, matrix=csr_array((values, A.indices, A.indptr), shape=A.shape), bound=None)

    def flipped(self) -> SparseOperator:
        """bound I - A: the leading end becomes the bottom, and is positive semidefinite."""
        if self.bound is None:
            raise InvalidInput("only an operator with a known bound of its spectrum can be flipped")
        eye = eye_array(self.n, format="csr")
        nonnegative = self.matrix.nnz == 0 or bool(self.matrix.data.min() >= 0)
        flipped = csr_array(self.bound * eye - self.matrix)
        return SparseOperator(flipped, psd=True, laplacian=nonnegative, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False)
class DenseOperator:
    """A symmetric matrix held whole; float32 storage is multiplied in float64, block by block."""

    matrix: NDArray[np.floating]
    psd: bool = False
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def apply(self, V: Floats) -> Floats:
        out = np.empty((self.n, V.shape[1]))
        rows = block_slices(self.n, _rows_per_block(self.n))

        def work(i: int) -> None:
            out[rows[i]] = self.matrix[rows[i]].astype(np.float64, copy=False) @ V

        run_blocks(work, len(rows), n_jobs=self.n_jobs)
        return out

    def dense(self) -> Floats:
        return self.matrix.astype(np.float64)

    def columns(self, index: NDArray[np.int64]) -> Floats:
        return np.ascontiguousarray(self.matrix[index].T, dtype=np.float64)

    def column_squares(self) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.matrix, self.matrix, dtype=np.float64))

    def diagonal(self) -> Floats:
        return np.diagonal(self.matrix).astype(np.float64)


@dataclass(frozen=True, eq=False)
class CentredGram:
    """-1/2 H (D o D) H for a matrix D of distances, H = I - 11'/n; squares and centring are never stored.

    With `squared=True` D already holds squared distances; with `gram=True` it holds inner products, and the operator is
    H D H. `shift` adds a constant to every distance but the zero diagonal (the additive constant). Rows are squared in
    float64, so float32 storage costs one rounding of each distance and nothing more.
    """

    distances: NDArray[np.floating]
    squared: bool = False
    gram: bool = False
    shift: float = 0.0
    psd: bool = False
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.distances.shape[0])

    @property
    def scale(self) -> float:
        """Of the powers that `rows` gives: G = scale H P H."""
        return 1.0 if self.gram else -0.5

    def rows(self, chosen: Ints) -> Floats:
        """Squares of the distances (or inner products) from some points to all."""
        return np.vstack([self._block(slice(i, i + 1)) for i in chosen.tolist()])

    def _block(self, rows: slice) -> Floats:
        return self._powers(np.arange(rows.start, rows.stop), self.distances[rows].astype(np.float64))

    def _powers(self, index: NDArray[np.int64], block: Floats) -> Floats:
        """Squared distances (or inner products) of these rows, from a float64 copy of what is stored."""
        if self.squared or self.gram:
            return block
        if self.shift:
            block += self.shift
            block[np.arange(len(block)), index] = 0.0
        return np.square(block, out=block)

    def _centred(self, index: NDArray[np.int64], block: Floats) -> Floats:
        """Rows of the operator from rows of squares: means taken off, and the factor -1/2 of distances."""
        means = self.row_means()
        block -= means[None, :]
        block -= (means[index] - means.mean())[:, None]
        if not self.gram:
            block *= -0.5
        return block

    def columns(self, index: NDArray[np.int64]) -> Floats:
        block = self._powers(index, self.distances[index].astype(np.float64))
        return np.ascontiguousarray(self._centred(index, block).T)

    def column_squares(self) -> Floats:
        out = np.empty(self.n)
        rows = block_slices(self.n, _rows_per_block(self.n))
        self.row_means()

        def work(i: int) -> None:
            index = np.arange(rows[i].start, rows[i].stop)
            block = self._centred(index, self._block(rows[i]))
            out[rows[i]] = np.einsum("ij,ij->i", block, block)

        run_blocks(work, len(rows), n_jobs=self.n_jobs)
        return out

    def diagonal(self) -> Floats:
        means, own = self.row_means(), np.diagonal(self.distances).astype(np.float64)
        if not (self.squared or self.gram):
            own = np.zeros(self.n) if self.shift else own**2
        centred: Floats = own - 2 * means + means.mean()
        return centred if self.gram else -0.5 * centred

    def apply(self, V: Floats) -> Floats:
        V = V - V.mean(axis=0)
        if not self._known:  # a pass over the distances is what all of this costs: the first one serves the means too
            out = self._times(np.column_stack([V, np.ones(self.n)]))
            self._known["row_means"] = out[:, -1] / self.n
            out = out[:, :-1]
        else:
            out = self._times(V)
        out = out - out.mean(axis=0)
        return np.asarray(self.scale * out)

    def row_means(self) -> Floats:
        """Mean squared distance (or mean inner product) of each point to all points."""
        if not self._known:
            self._known["row_means"] = self._times(np.ones((self.n, 1)))[:, 0] / self.n
        return self._known["row_means"]

    @cached_property
    def _known(self) -> dict[str, Floats]:
        """Row means, from the first pass that is made."""
        return {}

    def _times(self, V: Floats) -> Floats:
        """(D o D) V, or D V where D holds squares or inner products."""
        out = np.empty((self.n, V.shape[1]))
        square = not (self.squared or self.gram)
        if self.n < COMPILED_FROM or not self.distances.flags.c_contiguous:
            rows = block_slices(self.n, _rows_per_block(self.n))

            def work(i: int) -> None:
                out[rows[i]] = self._block(rows[i]) @ V

        else:
            loops = compiled("lowfold._core._product_loops")
            rows = block_slices(self.n, 256)
            W = np.zeros((self.n, -(-V.shape[1] // loops.COLUMNS) * loops.COLUMNS))
            W[:, : V.shape[1]] = V
            out = np.empty_like(W)
            every = np.arange(self.n, dtype=np.int32)
            shift = self.shift if square else 0.0

            def work(i: int) -> None:
                loops.times_powers(self.distances, W, every, square, shift, rows[i].start, rows[i].stop, out)

        run_blocks(work, len(rows), n_jobs=self.n_jobs)
        return np.ascontiguousarray(out[:, : V.shape[1]])

    def trace(self) -> float:
        """Sum of the eigenvalues: half the mean squared distance times n, tr(G) = (1/2n) sum_ij d_ij^2."""
        means = self.row_means()
        diagonal = np.diagonal(self.distances).astype(np.float64)
        if self.gram:
            return float(diagonal.sum() - means.sum())
        if not self.squared:
            diagonal = np.zeros(self.n) if self.shift else diagonal**2
        return float(0.5 * means.sum() - 0.5 * diagonal.sum())

    def start(self, width: int) -> Floats:
        """A block near the leading eigenvectors."""
        return landmark_start(self.n, lambda chosen: -2 * self.scale * self.rows(chosen), width)

    def dense(self) -> Floats:
        S = self._block(slice(0, self.n))
        means = S.mean(axis=1)
        S -= means[:, None]
        S -= means[None, :]
        S += means.mean()
        return S if self.gram else -0.5 * S


def landmark_start(n: int, rows: Callable[[Ints], Floats], width: int) -> Floats:
    """A block (n, width) near the leading eigenvectors of -1/2 H S H: classical MDS of some points, then triangulation.

    `rows(chosen)` are rows of S. Two columns stay random, so that nothing is missed which the points do not see.
    """
    block = np.random.default_rng([n, width]).normal(size=(n, width))
    guessed = min(width - 2, LANDMARKS // 4)
    if n < 4 * LANDMARKS or guessed < 1:
        return block
    chosen = np.linspace(0, n - 1, LANDMARKS).astype(np.int64)
    S = rows(chosen)
    means = S.mean(axis=0)
    B = S[:, chosen] - means[chosen]
    B = -0.5 * (B - B.mean(axis=1)[:, None])
    _, U = np.linalg.eigh((B + B.T) / 2)
    leading = U[:, ::-1][:, :guessed]
    guess = S.T @ leading - np.outer(means, leading.sum(axis=0))  # (S - means)' U, without a second S
    size = np.linalg.norm(guess, axis=0)
    good = np.isfinite(size) & (size > 0)
    block[:, : good.sum()] = guess[:, good] / size[good]
    return block


def multiply(matrix: csr_array, V: Floats, *, n_jobs: int | None = None) -> Floats:
    """matrix @ V, by fixed blocks of rows on threads; SciPy's loop releases the interpreter."""
    n = int(matrix.shape[0])
    if matrix.nnz * V.shape[1] < 500_000:
        return np.asarray(matrix @ V)
    out = np.empty((n, V.shape[1]))
    rows = block_slices(n, -(-n // 8))

    def work(i: int) -> None:
        a, b = rows[i].start, rows[i].stop
        start, stop = matrix.indptr[a], matrix.indptr[b]
        part = csr_array(
            (matrix.data[start:stop], matrix.indices[start:stop], matrix.indptr[a : b + 1] - start),
            shape=(b - a, matrix.shape[1]),
        )
        out[rows[i]] = part @ V

    run_blocks(work, len(rows), n_jobs=n_jobs)
    return out


def _rows_per_block(n: int) -> int:
    """Rows whose float64 copy takes about 4 MB: it stays in cache between conversion and multiplication."""
    return max(1, min(n, 2**19 // max(n, 1) + 1))
