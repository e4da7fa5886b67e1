"""Products with matrices of distances that stay on the device: f(D) V, squares made in the product, sums in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.operators import landmark_start
from lowfold._core.types import Floats
from lowfold._cuda._device import Array, Device
from lowfold._cuda._minplus import Panels

WIDTH = 8  # vectors in one pass
CHUNK = 128


def times(
    device: Device, D: Array, V: Array, *, square: bool, scale: float = 1.0, shift: float = 0.0, diagonal: bool = True
) -> Array:
    """(scale D + shift)^2 V, zero on the diagonal (where D has one), or scale D V; D (n, ld), V of up to ld rows."""
    xp, (n, ld), out = device.xp, D.shape, []
    kernel = {"i4": "times_labels", "f4": "times_floats", "f8": "times_doubles"}[D.dtype.str[1:]]
    shared = 4 * (32 * CHUNK * D.dtype.itemsize + WIDTH * CHUNK * 8)
    blocks = -(-n // 32)
    parts = max(1, min(8, 1056 // blocks))  # enough blocks for a large GPU
    chunks = -(-ld // CHUNK)
    span = -(-chunks // parts) * CHUNK
    parts = -(-ld // span)
    for c in range(0, V.shape[1], WIDTH):
        block = V[:, c : c + WIDTH]
        Vt = xp.zeros((WIDTH, ld))
        Vt[: block.shape[1], : len(V)] = block.T
        part = xp.empty((parts, n, WIDTH))
        device.launch(
            "gram", kernel, (blocks, parts), 256, D, ld, n, Vt, span, square, scale, shift, diagonal, part,
            shared=shared,
        )  # fmt: skip
        out.append(part.sum(axis=0)[:, : block.shape[1]])
    return xp.concatenate(out, axis=1)


@dataclass(frozen=True, eq=False)
class DeviceMatrix:
    """Distances `scale` D on the device, D (n, ld) int32 or floats; row and column i belong to vertex order[i].

    A product takes squares of (distance + shift), zero on the diagonal, or the entries as they are.
    """

    device: Device
    D: Array
    order: Array
    scale: float = 1.0

    @property
    def n(self) -> int:
        return int(self.D.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def times(self, V: Array, *, square: bool, shift: float = 0.0) -> Array:
        out = self.device.xp.empty((self.n, V.shape[1]))
        out[self.order] = times(self.device, self.D, V[self.order], square=square, scale=self.scale, shift=shift)
        return out

    def rows(self, chosen: NDArray[np.int64]) -> Floats:
        """Distances from some points to all, on the host."""
        xp = self.device.xp
        place = xp.empty(self.n, np.int64)
        place[self.order] = xp.arange(self.n)
        part = self.D[place[xp.asarray(chosen)], : self.n]
        out = np.empty((len(chosen), self.n))
        out[:, self.device.get(self.order)] = self.device.get(part) * self.scale
        return out

    def to_host(self, dtype: Any, far: int) -> NDArray[np.floating]:
        """The matrix in the order of the points; inf where there is no path."""
        n, order = self.n, self.device.get(self.order)
        out = np.empty((n, n), dtype)
        rows = max(1, 2**27 // n)
        for start in range(0, n, rows):
            part = self.device.get(self.D[start : start + rows, :n])
            wide = part.astype(np.float64) * self.scale
            if part.dtype.kind == "i":
                wide[part == far] = np.inf
            block = np.empty(wide.shape, dtype)
            block[:, order] = wide
            out[order[start : start + rows]] = block
        return out


@dataclass(frozen=True, eq=False)
class DevicePanels:
    """The same distances without the matrix: every product makes the columns again, panel by panel."""

    device: Device
    panels: Panels
    order: Array
    rows: Callable[[NDArray[np.int64]], Floats]  # distances from some points to all, on the host
    scale: float = 1.0

    @property
    def n(self) -> int:
        return int(self.panels.F.tree.n)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def times(self, V: Array, *, square: bool, shift: float = 0.0) -> Array:
        xp = self.device.xp
        V, total = V[self.order], xp.zeros((self.n, V.shape[1]))
        blocks: Iterable[Any] = self.panels
        for panel, vertices in blocks:
            part = V[vertices]
            total += times(
                self.device, panel, part, square=square, scale=self.scale, shift=shift, diagonal=False
            )  # columns beyond the panel's vertices meet zeros
        if square and shift:
            total -= shift**2 * V  # the diagonal was shifted with the rest
        out = xp.empty_like(total)
        out[self.order] = total
        return out


class DeviceGram:
    """-1/2 H (D o D) H on the device, with power=1 -1/2 H D H: the twin of `CentredGram`. Blocks come and go as arrays
    of either side.
    """

    psd = False
    bound = None

    def __init__(self, distances: DeviceMatrix | DevicePanels, *, power: int = 2, shift: float = 0.0) -> None:
        self.distances, self.shift, self.device = distances, shift, distances.device
        self.square = power == 2
        self._means: Floats | None = None

    @property
    def n(self) -> int:
        return self.distances.n

    def apply(self, V: Any) -> Any:
        """G V."""
        host = isinstance(V, np.ndarray)
        B = self.device.xp.asarray(V)
        out = self._powers(B - B.mean(axis=0))
        out -= out.mean(axis=0)
        out *= -0.5
        return self.device.get(out) if host else out

    def _powers(self, V: Array) -> Array:
        """(D o D) V, or D V; the first pass that has room for one more column finds the row means as well."""
        if self._means is not None or V.shape[1] % WIDTH == 0:
            return self.distances.times(V, square=self.square, shift=self.shift)
        xp = self.device.xp
        wider = xp.concatenate([V, xp.ones((self.n, 1))], axis=1)
        out = self.distances.times(wider, square=self.square, shift=self.shift)
        self._means = np.asarray(self.device.get(out[:, -1]) / self.n, dtype=np.float64)
        return out[:, :-1]

    def row_means(self) -> Floats:
        """Mean squared distance, or mean distance, of each point to all points."""
        if self._means is None:
            self._powers(self.device.xp.zeros((self.n, 1)))
        assert self._means is not None
        return self._means

    def start(self, width: int) -> Floats | None:
        """A block near the leading eigenvectors; None where the matrix is held: a pass costs less than a guess."""
        if isinstance(self.distances, DeviceMatrix):
            return None

        def rows(chosen: NDArray[np.int64]) -> Floats:
            D = self.distances.rows(chosen) + self.shift
            D[np.arange(len(chosen)), chosen] = 0.0
            return np.square(D) if self.square else D

        return landmark_start(self.n, rows, width)

    def trace(self) -> float:
        """Sum of the eigenvalues, half the sum of the row means: the diagonal of the distances is zero."""
        return float(0.5 * self.row_means().sum())

    def dense(self) -> Floats:
        """The whole matrix on the host."""
        return np.asarray(self.apply(np.eye(self.n)))


@dataclass(frozen=True, eq=False)
class DeviceDense:
    """A symmetric matrix held whole on the device, in float64."""

    device: Device
    matrix: Array
    psd: bool = False
    bound: float | None = None

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def apply(self, V: Any) -> Any:
        """A V."""
        out = self.matrix @ self.device.xp.asarray(V)
        return self.device.get(out) if isinstance(V, np.ndarray) else out

    def dense(self) -> Floats:
        """The whole matrix on the host."""
        return np.asarray(self.device.get(self.matrix))
