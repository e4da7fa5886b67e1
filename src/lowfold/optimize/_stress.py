"""Raw stress sigma(Y) = sum_{i<j} w_ij (delta_ij - d_ij(Y))^2: its sums over all pairs, in strips, and V^+.

A `Terms` object holds dissimilarities and weights and gives, for a configuration Y (n, d),

    B(Y) Y        row i: sum_j w_ij (delta_ij / d_ij) (y_i - y_j)
    V^+ G         the minimum-norm solution of V Z = G, V the Laplacian of the weights
    rho_i, eta_i  sum_j w_ij delta_ij d_ij and sum_j w_ij d_ij^2
    stress_i      sum_j w_ij (delta_ij - d_ij)^2; over all i twice sigma

No matrix of the size of the dissimilarities is made beside them, except the factor of V for a few thousand points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.memory import fits
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._descend import COLUMNS, stress_sums
from lowfold._cuda._device import Array, Device, active, on_cpu
from lowfold.optimize import _stress_plain
from lowfold.optimize._laplacian_solve import conjugate_gradients, factor_laplacian

Strip = tuple[NDArray[np.floating], int]


LOOPS = "lowfold.optimize._stress_loops"
EDGES, EDGE_BLOCKS = 50_000, 8  # edges of a block at least; blocks at most, since each has its own sums for all points
STRIP = 256  # points of a strip: its sums stay in the nearest cache
FEW = 1_000  # points up to which NumPy takes less time than compiling the loops, and no more than they do later
FACTORED = 3_000  # up to this many points V is factored once; beyond, solved by conjugate gradients
NOWHERE = -(2**40)  # "own" of a strip that holds none of the points it is compared with
WEIGHTS = {"unit": 0, "sammon": 1, "given": 2}
_NO_MATRIX = np.empty((0, 0))


def _loops(n: int) -> Any:
    """The sums of stress with Euclidean distances and weights of 1, or over edges."""
    return _stress_plain if n <= FEW else compiled(LOOPS)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the pairs of each point; see the module's text."""

    BY: Floats
    rho: Floats
    eta: Floats
    stress: Floats

    @property
    def raw(self) -> float:
        """sigma(Y): every pair once."""
        return float(self.stress.sum()) / 2

    @property
    def scale(self) -> float:
        """The c that minimises sigma(c Y): rho / eta; 1 where all points coincide."""
        eta = float(self.eta.sum())
        return float(self.rho.sum()) / eta if eta > 0 else 1.0

    @property
    def scaled_raw(self) -> float:
        """sigma(c Y) = sigma(Y) - (rho - eta)^2 / eta."""
        rho, eta = float(self.rho.sum()) / 2, float(self.eta.sum()) / 2
        return max(self.raw - (rho - eta) ** 2 / eta, 0.0) if eta > 0 else self.raw


@dataclass(frozen=True, eq=False)
class Slopes:
    """Gradient of sigma (n, d), and per point eta_i and stress_i, for Minkowski distances."""

    gradient: Floats
    eta: Floats
    stress: Floats

    @property
    def raw(self) -> float:
        """sigma(Y): every pair once."""
        return float(self.stress.sum()) / 2


class Terms(Protocol):
    """Dissimilarities and weights of a stress function."""

    @property
    def n(self) -> int: ...

    @property
    def total(self) -> float:
        """sum_{i<j} w_ij delta_ij^2."""
        ...

    def sums(self, Y: Floats) -> Sums: ...

    def solve(self, G: Floats) -> Floats:
        """V^+ G for G with columns that sum to zero."""
        ...

    def slopes(self, Y: Floats, p: float) -> Slopes:
        """The gradient of sigma for Minkowski distances of exponent p, with the sums of each point."""
        ...


@dataclass(frozen=True, eq=False)
class _Square:
    """A symmetric matrix of dissimilarities."""

    matrix: Any

    @property
    def n(self) -> int:
        return len(self.matrix)

    @property
    def dtype(self) -> Any:
        return self.matrix.dtype


@dataclass(frozen=True, eq=False)
class Held(_Square):
    """In memory; NaN or inf is unmeasured."""

    matrix: NDArray[np.floating]

    def strip(self, part: slice) -> Strip:
        """(rows j, columns i) and the column where `part` starts."""
        return self.matrix, part.start


@dataclass(frozen=True, eq=False)
class Computed:
    """Dissimilarities made anew for each strip: `rows(part)` gives those of all points (rows) to the part (columns)."""

    n: int
    columns: Callable[[slice], NDArray[np.floating]]
    dtype: Any = np.float32

    def strip(self, part: slice) -> Strip:
        return np.ascontiguousarray(self.columns(part), dtype=self.dtype), 0


@dataclass(frozen=True, eq=False)
class There(_Square):
    """On a device; the host fetches a strip when it has to."""

    matrix: Array
    device: Device

    def strip(self, part: slice) -> Strip:
        return np.ascontiguousarray(self.device.get(self.matrix[part]).T), 0


@dataclass(frozen=True, eq=False)
class PairTerms:
    """All pairs of n points. `weights`: "unit", "sammon" (1 / delta) or "given" (the matrix `W`)."""

    delta: Held | Computed | There
    weights: str = "unit"
    W: NDArray[np.floating] = field(default_factory=lambda: _NO_MATRIX)
    complete: bool = True
    small: float = 1.0
    n_jobs: int | None = None
    device: str = "cpu"

    @property
    def n(self) -> int:
        return self.delta.n

    @property
    def plain(self) -> bool:
        """All weights 1 and nothing missing: V^+ is 1/n, and the fast loop applies."""
        return self.weights == "unit" and self.complete

    def sums(self, Y: Floats) -> Sums:
        if self._held is not None and Y.shape[1] <= COLUMNS:
            return Sums(*stress_sums(*self._held, np.ascontiguousarray(Y)))
        n, d = Y.shape
        loops = _loops(n) if self.plain else compiled(LOOPS)
        YT = np.ascontiguousarray(Y.T, dtype=self.delta.dtype if self.plain else np.float64)
        BY, rho, eta, stress = np.zeros((d, n)), np.zeros(n), np.zeros(n), np.zeros(n)

        def work(part: slice) -> None:
            delta, first = self.delta.strip(part)
            strip, out = np.ascontiguousarray(YT[:, part]), np.zeros((d, part.stop - part.start))
            sums = (out, rho[part], eta[part], stress[part])
            if self.plain:
                loops.unit_strip(delta, first, YT, strip, *sums)
            else:
                loops.weighted_strip(delta, first, part.start, *self._weighting(part, first), YT, strip, *sums)
            BY[:, part] = out

        self._strips(work)
        return Sums(np.ascontiguousarray(BY.T), rho, eta, stress)

    def slopes(self, Y: Floats, p: float) -> Slopes:
        loops = compiled(LOOPS)
        n, d = Y.shape
        YT = np.ascontiguousarray(Y.T)
        slope, eta, stress = np.zeros((d, n)), np.zeros(n), np.zeros(n)

        def work(part: slice) -> None:
            delta, first = self.delta.strip(part)
            strip, out = np.ascontiguousarray(YT[:, part]), np.zeros((d, part.stop - part.start))
            weighting = self._weighting(part, first)
            loops.gradient_strip(delta, first, part.start, *weighting, p, YT, strip, out, eta[part], stress[part])
            slope[:, part] = out

        self._strips(work)
        return Slopes(np.ascontiguousarray(slope.T), eta, stress)

    @cached_property
    def _held(self) -> tuple[Device, Array] | None:
        """The device and the matrix on it, where sums are made there."""
        if isinstance(self.delta, There):
            return (self.delta.device, self.delta.matrix) if self.plain else None
        device = active(Run(device=self.device)) if self.plain and isinstance(self.delta, Held) else None
        if device is None or not isinstance(self.delta, Held):
            return None
        if self.delta.matrix.nbytes > device.free_bytes() / 2:
            on_cpu("stress", "the dissimilarities do not fit on the device")
            return None
        return device, device.put(self.delta.matrix)

    @cached_property
    def _totals(self) -> tuple[Floats, float]:
        """Degrees (the diagonal of V), and the sum of w delta^2 over pairs."""
        degree, total, _ = self._weigh(np.zeros((self.n, 0)))
        return degree, float(total.sum()) / 2

    def _weigh(self, Y: Floats) -> tuple[Floats, Floats, Floats]:
        """Degrees, sums of w delta^2, and sums of w y."""
        loops = compiled(LOOPS)
        n, d = Y.shape
        YT = np.ascontiguousarray(Y.T)
        degree, total, moment = np.zeros(n), np.zeros(n), np.zeros((d, n))

        def work(part: slice) -> None:
            delta, first = self.delta.strip(part)
            out = np.zeros((d, part.stop - part.start))
            weighting = self._weighting(part, first)
            loops.weights_strip(delta, first, part.start, *weighting, YT, degree[part], total[part], out)
            moment[:, part] = out

        self._strips(work)
        return degree, total, np.ascontiguousarray(moment.T)

    @property
    def total(self) -> float:
        if self._held is not None:
            return self.sums(np.zeros((self.n, 1))).raw
        return self._totals[1]

    def solve(self, G: Floats) -> Floats:
        if self.plain:
            return G / self.n
        if self._factor is not None:
            Z = scipy.linalg.cho_solve(self._factor, G, check_finite=False)
            return np.asarray(Z - Z.mean(axis=0))
        degree = self._totals[0]

        def apply(Z: Floats) -> Floats:
            return degree[:, None] * Z - self._weigh(Z)[2]

        return conjugate_gradients(apply, degree, G)

    @cached_property
    def _factor(self) -> Any:
        if self.n > FACTORED or not isinstance(self.delta, Held) or not fits(16.0 * self.n**2):
            return None
        V = np.empty((self.n, self.n))
        W = self.W if self.weights == "given" else _NO_MATRIX
        compiled(LOOPS).weight_matrix(self.delta.matrix, WEIGHTS[self.weights], W, self.small, V)
        return factor_laplacian(V)

    def _weighting(self, part: slice, first: int) -> tuple[int, NDArray[np.floating], float]:
        """Kind, matrix and smallest dissimilarity, as the loops take them; W is indexed as delta is."""
        W = self.W
        if self.weights == "given" and first != part.start:
            W = np.ascontiguousarray(W[:, part])
        return WEIGHTS[self.weights], W, self.small

    def _strips(self, work: Callable[[slice], None]) -> None:
        parts = block_slices(self.n, STRIP)
        run_blocks(lambda b: work(parts[b]), len(parts), n_jobs=self.n_jobs if self.n > STRIP else 1)


@dataclass(frozen=True, eq=False)
class EdgeTerms:
    """Some pairs of n points: edge e joins i_e < j_e with dissimilarity delta_e and weight w_e (empty: all 1)."""

    n: int
    i: NDArray[np.int32]
    j: NDArray[np.int32]
    delta: Floats
    weight: Floats = field(default_factory=lambda: np.empty(0))
    n_jobs: int | None = None

    @property
    def total(self) -> float:
        squares = self.delta**2
        return float((squares * self.weight if len(self.weight) else squares).sum())

    @property
    def plain(self) -> bool:
        """Every pair is there, with weight 1."""
        return len(self.weight) == 0 and 2 * len(self.i) == self.n * (self.n - 1)

    def _blocks(self) -> list[slice]:
        return block_slices(len(self.i), max(EDGES, -(-len(self.i) // EDGE_BLOCKS)))

    def sums(self, Y: Floats) -> Sums:
        parts = self._blocks()
        n, d = Y.shape
        BY, flat = np.zeros((len(parts), n, d)), np.zeros((len(parts), 3, n))
        loops = _loops(n)

        def work(b: int) -> None:
            e = parts[b]
            loops.edge_sums(self.i[e], self.j[e], self.delta[e], self.weight[e], Y, BY[b], *flat[b])

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return Sums(BY.sum(axis=0), *flat.sum(axis=0))

    def pull(self, ratio: Floats, Y: Floats) -> Floats:
        """sum_e ratio_e (y_i - y_j) at i, and its negative at j: B(Y) Y for ratio = w dhat / d."""
        parts = self._blocks()
        out = np.zeros((len(parts), *Y.shape))
        loops = _loops(len(Y))

        def work(b: int) -> None:
            e = parts[b]
            loops.edge_pull(self.i[e], self.j[e], ratio[e], Y, out[b])

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return np.asarray(out.sum(axis=0))

    def slopes(self, Y: Floats, p: float) -> Slopes:
        parts = self._blocks()
        n, d = Y.shape
        slope, flat = np.zeros((len(parts), n, d)), np.zeros((len(parts), 2, n))
        loops = compiled(LOOPS)

        def work(b: int) -> None:
            e = parts[b]
            loops.edge_gradient(self.i[e], self.j[e], self.delta[e], self.weight[e], p, Y, slope[b], *flat[b])

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return Slopes(slope.sum(axis=0), *flat.sum(axis=0))

    def distances(self, Y: Floats, p: float = 2.0) -> Floats:
        """d_e for every edge."""
        out = np.empty(len(self.i))
        parts = self._blocks()
        loops = _loops(len(Y)) if p == 2.0 else compiled(LOOPS)

        def work(b: int) -> None:
            e = parts[b]
            loops.edge_distances(self.i[e], self.j[e], p, Y, out[e])

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return out

    @cached_property
    def _laplacian(self) -> Any:
        from scipy.sparse import coo_array, diags_array

        w = self.weight if len(self.weight) else np.ones(len(self.i))
        ends = (np.concatenate([self.i, self.j]), np.concatenate([self.j, self.i]))
        A = coo_array((np.concatenate([w, w]), ends), shape=(self.n, self.n)).tocsr()
        degree = np.asarray(A.sum(axis=1))
        return (diags_array(degree) - A).tocsr(), degree

    @cached_property
    def _factor(self) -> Any:
        if self.n > FACTORED or not fits(16.0 * self.n**2):
            return None
        return factor_laplacian(self._laplacian[0].toarray())

    def solve(self, G: Floats) -> Floats:
        if self.plain:
            return G / self.n
        if self._factor is not None:
            Z = scipy.linalg.cho_solve(self._factor, G, check_finite=False)
            return np.asarray(Z - Z.mean(axis=0))
        V, degree = self._laplacian
        return conjugate_gradients(lambda Z: np.asarray(V @ Z), degree, G)
