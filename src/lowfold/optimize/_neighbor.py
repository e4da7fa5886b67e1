"""Costs of neighbour embeddings and their gradients, in strips.

Every cost here is a divergence KL(P || Q) whose Q is made of weights w_ij of the distances of the layout,

    SNE             q_{j|i} = w_ij / sum_{l != i} w_il          w = exp(-||y_i - y_j||^2)
    symmetric SNE   q_ij = w_ij / sum_{k != l} w_kl             the same w
    t-SNE           q_ij = w_ij / sum_{k != l} w_kl             w = (1 + ||y_i - y_j||^2 / v)^-(v + 1)/2, v = 1

so that each gradient is an attraction by P less a repulsion by Q:

    SNE             2 sum_j (p_{j|i} + p_{i|j} - q_{j|i} - q_{i|j}) (y_i - y_j)
    symmetric SNE   4 sum_j (p_ij - q_ij) (y_i - y_j)
    t-SNE           4 sum_j (p_ij - q_ij) w_ij (y_i - y_j)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from lowfold._core.extras import load_extra
from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices, resolve_jobs, run_blocks
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda import Device, active
from lowfold._cuda._descend import (
    COLUMNS,
    attraction_sums,
    gaussian_masses,
    gaussian_repulsion,
    sparse_attraction_sums,
    student_sums,
)
from lowfold._cuda._device import Array
from lowfold.optimize._neighbor_panels import Panels

LOOPS = "lowfold.optimize._neighbor_loops"
SENT = 16  # strips that are sent to a device together
STRIP = 256  # points of a strip: its sums stay in the nearest cache
LARGE = 1e4  # coordinates up to which squared distances from products err by less than 1e-7
ALL_DIGITS = 300  # points whose gradients have them: with more, panels in float32 take a third of the time
FEW = 1_000  # points whose pairs NumPy sums up: quicker than loops, and nothing has to be compiled for a first fit


class Affinities(Protocol):
    """A symmetric P: what pulls points together."""

    @property
    def n(self) -> int: ...

    @property
    def entropy(self) -> float:
        """sum p log p over the distribution that the cost compares with, natural log."""
        ...

    def masses(self) -> Floats:
        """(n,) sum of p_ij over j: how hard each point is pulled."""
        ...

    def pull(self, Y: Floats, student: bool) -> Floats:
        """sum_j p_ij w_ij (y_i - y_j)."""
        ...

    def pull_cost(self, Y: Floats, student: bool) -> float:
        """-sum_ij p_ij log w_ij."""
        ...


def on_device(Y: Floats, device: str) -> Device | None:
    """What sums over the pairs of this layout, None for the CPU."""
    return active(Run(device=device)) if Y.shape[1] <= COLUMNS else None


def strips(n: int, work: Callable[[slice], None], n_jobs: int | None) -> None:
    """`work` on fixed strips of points."""
    parts = block_slices(n, STRIP)
    run_blocks(lambda b: work(parts[b]), len(parts), n_jobs=n_jobs if n > STRIP else 1)


@dataclass(frozen=True, eq=False)
class DenseAffinities:
    """All pairs. `columns(part)` gives P[:, part] and the column where the part starts; P is held, or made for it."""

    n: int
    columns: Callable[[slice], tuple[Floats, int]]
    entropy: float
    n_jobs: int | None = None
    device: str = "cpu"
    made_there: Array = None  # the whole P, where the device made it

    @classmethod
    def held(
        cls, P: Floats, entropy: float | None = None, n_jobs: int | None = None, device: str = "cpu"
    ) -> DenseAffinities:
        """From a symmetric matrix in memory."""
        if entropy is None:
            entropy = float((P[P > 0] * np.log(P[P > 0])).sum())
        return cls(len(P), lambda part: (P, part.start), entropy, n_jobs, device)

    @cached_property
    def _there(self) -> Array:
        """P on the device, made there or sent once, some strips at a time; None where there is no room."""
        if self.made_there is not None:
            return self.made_there
        device = active(Run(device=self.device))
        assert device is not None
        if not device.has_room(8.0 * self.n**2, "the attraction of all pairs"):
            return None
        P = device.xp.empty((self.n, self.n))
        for some in block_slices(self.n, SENT * STRIP):
            panel = np.empty((some.stop - some.start, self.n))

            def work(part: slice, some: slice = some, panel: Floats = panel) -> None:
                columns, first = self.columns(slice(some.start + part.start, some.start + part.stop))
                panel[part] = columns[:, first : first + part.stop - part.start].T

            strips(len(panel), work, self.n_jobs)
            P[some] = device.upload(panel)
        return P

    def _sums_there(self, Y: Floats, student: bool) -> tuple[Floats, Floats] | None:
        """The attraction and its cost of every point by the device, if there is one that holds P."""
        used = on_device(Y, self.device)
        return None if used is None or self._there is None else attraction_sums(used, self._there, Y, student)

    @cached_property
    def panels(self) -> Panels | None:
        """All of P for few points on the CPU."""
        if self.n > FEW or active(Run(device=self.device)) is not None:
            return None
        return Panels(self.columns(slice(0, self.n))[0])

    @cached_property
    def quick_panels(self) -> Panels | None:
        """The same for gradients, in float32 where the points are not so few that it takes no time."""
        held = self.panels
        return held if held is None or self.n <= ALL_DIGITS else Panels(held.P, single=True)

    def masses(self) -> Floats:
        device = None if self.made_there is None else active(Run(device=self.device))
        if device is not None:
            return np.asarray(device.get(self.made_there.sum(axis=0)), dtype=np.float64)
        out = np.empty(self.n)

        def work(part: slice) -> None:
            P, first = self.columns(part)
            out[part] = P[:, first : first + part.stop - part.start].sum(axis=0)

        strips(self.n, work, self.n_jobs)
        return out

    def pull(self, Y: Floats, student: bool) -> Floats:
        found = self._sums_there(Y, student)
        if found is not None:
            return found[0]
        loops = compiled(LOOPS)
        YT = np.ascontiguousarray(Y.T)
        out = np.zeros_like(YT)

        def work(part: slice) -> None:
            P, first = self.columns(part)
            mine = np.zeros((len(YT), part.stop - part.start))
            loops.attraction(P, first, YT, np.ascontiguousarray(YT[:, part]), student, mine)
            out[:, part] = mine

        strips(self.n, work, self.n_jobs)
        return np.ascontiguousarray(out.T)

    def pull_cost(self, Y: Floats, student: bool) -> float:
        found = self._sums_there(Y, student)
        if found is not None:
            return float(found[1].sum())
        loops = compiled(LOOPS)
        YT = np.ascontiguousarray(Y.T)
        cost = np.zeros(self.n)

        def work(part: slice) -> None:
            P, first = self.columns(part)
            loops.attraction_cost(P, first, YT, np.ascontiguousarray(YT[:, part]), student, cost[part])

        strips(self.n, work, self.n_jobs)
        return float(cost.sum())


@dataclass(frozen=True, eq=False)
class SparseAffinities:
    """Pairs of neighbours only: P is zero elsewhere."""

    matrix: csr_array
    entropy: float
    n_jobs: int | None = None
    device: str = "cpu"

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def masses(self) -> Floats:
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def _there(self) -> tuple[Array, Array, Array]:
        """P on the device, sent once."""
        device, A = active(Run(device=self.device)), self.matrix
        assert device is not None
        return device.put(A.indptr, np.int64), device.put(A.indices, np.int32), device.put(A.data, np.float64)

    def _rows(self, loop: str, Y: Floats, student: bool, out: Floats) -> Floats:
        """What a loop over the rows of P, in fixed blocks, writes for each."""
        run, A = getattr(compiled(LOOPS), loop), self.matrix
        parts = block_slices(self.n, 4096)

        def work(b: int) -> None:
            run(A.indptr, A.indices, A.data, parts[b].start, parts[b].stop, Y, student, out)

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return out

    def pull(self, Y: Floats, student: bool) -> Floats:
        used, Y = on_device(Y, self.device), np.ascontiguousarray(Y)
        if used is not None:
            return sparse_attraction_sums(used, *self._there, Y, student)[0]
        return self._rows("sparse_attraction", Y, student, np.zeros_like(Y))

    def pull_cost(self, Y: Floats, student: bool) -> float:
        used, Y = on_device(Y, self.device), np.ascontiguousarray(Y)
        if used is not None:
            return float(sparse_attraction_sums(used, *self._there, Y, student)[1].sum())
        return float(self._rows("sparse_attraction_cost", Y, student, np.zeros(self.n)).sum())


@dataclass(frozen=True, eq=False)
class TSNECost:
    """KL(P || Q) with Student's t of `dof` degrees of freedom, exact: repulsion over all pairs.

    With y' = y / sqrt(dof) the weights are powers of 1 / (1 + ||y'_i - y'_j||^2), the attraction that of one degree.
    `single`: gradients in the plane take the repulsion of each pair in float32, with seven digits of its sums.
    """

    P: Affinities
    n_jobs: int | None = None
    device: str = "cpu"
    dof: float = 1.0
    single: bool = False

    def gradient(self, Y: Floats, exaggeration: float = 1.0) -> Floats:
        if self.dof == 1 and (panels := panels_of(self.P, Y, quick=True)) is not None:
            return 4.0 * panels.student(Y, exaggeration)
        power, root = tails(self.dof)
        Y = Y / root
        flat = self.single and self.dof == 1 and Y.shape[1] == 2 and on_device(Y, self.device) is None
        push, Z = _strip_sums(Y, compiled(LOOPS).plane_repulsion, self.n_jobs, np.float32) if flat else self._push(Y)
        return 4.0 * power / root * (exaggeration * self.P.pull(Y, True) - push / Z)

    def value(self, Y: Floats) -> float:
        if self.dof == 1 and (panels := panels_of(self.P, Y)) is not None:
            cost, Z = panels.student_cost(Y)
            return self.P.entropy + cost + float(np.log(Z))
        power, root = tails(self.dof)
        Y = Y / root
        return self.P.entropy + power * self.P.pull_cost(Y, True) + float(np.log(self._push(Y)[1]))

    def _push(self, Y: Floats) -> tuple[Floats, float]:
        if self.dof == 1:
            return _student(Y, self.n_jobs, self.device)
        loops, power = compiled(LOOPS), tails(self.dof)[0]
        return _strip_sums(Y, lambda *args: loops.power_repulsion(*args[:3], power, *args[3:]), self.n_jobs)


def panels_of(P: Affinities, Y: Floats, *, quick: bool = False) -> Panels | None:
    """The panels of few points, all of whose pairs have an affinity, in a layout that did not run away."""
    if not isinstance(P, DenseAffinities) or float(np.abs(Y).max(initial=0.0)) > LARGE:
        return None
    return P.quick_panels if quick else P.panels


def tails(dof: float) -> tuple[float, float]:
    """The power (dof + 1) / 2 of the weights, and sqrt(dof), by which a layout is divided for them."""
    return (dof + 1) / 2, float(np.sqrt(dof))


def _student(Y: Floats, n_jobs: int | None, device: str) -> tuple[Floats, float]:
    """sum_j w_ij^2 (y_i - y_j), and Z = sum_{k != l} w_kl."""
    used = on_device(Y, device)
    if used is not None:
        push, masses = student_sums(used, Y)
        return push, max(float(masses.sum()), NO_DIVISOR)
    return _strip_sums(Y, compiled(LOOPS).student_repulsion, n_jobs)


def _strip_sums(
    Y: Floats, loop: Callable[..., None], n_jobs: int | None, dtype: DTypeLike = np.float64
) -> tuple[Floats, float]:
    """What a loop over strips sums up for each point, and the mass of all."""
    YT = np.ascontiguousarray(Y.T, dtype=dtype)
    out, mass = np.zeros(YT.shape), np.zeros(len(Y))

    def work(part: slice) -> None:
        mine = np.zeros((len(YT), part.stop - part.start))
        loop(YT, part.start, np.ascontiguousarray(YT[:, part]), mine, mass[part])
        out[:, part] = mine

    strips(len(Y), work, n_jobs)
    return np.ascontiguousarray(out.T), max(float(mass.sum()), NO_DIVISOR)


@dataclass(frozen=True, eq=False)
class FFTCost:
    """The same, repulsion on a grid by openTSNE; Linderman et al. (2019), doi:10.1038/s41592-018-0308-4."""

    P: SparseAffinities
    n_jobs: int | None = None

    def gradient(self, Y: Floats, exaggeration: float = 1.0) -> Floats:
        return self._evaluate(Y, exaggeration, False)[1]

    def value(self, Y: Floats) -> float:
        return self._evaluate(Y, 1.0, True)[0]

    def _evaluate(self, Y: Floats, exaggeration: float, value: bool) -> tuple[float, Floats]:
        tsne = load_extra("openTSNE.tsne", "tsne", 'method="fft"')
        P = self.P.matrix
        if exaggeration != 1.0:
            P = csr_array((P.data * exaggeration, P.indices, P.indptr), shape=P.shape)
        grid = {"n_interpolation_points": 3, "min_num_intervals": 50, "ints_in_interval": 1}
        jobs = resolve_jobs(self.n_jobs)
        cost, gradient = tsne.kl_divergence_fft(
            np.ascontiguousarray(Y), P, 1, grid, should_eval_error=value, n_jobs=jobs
        )
        return float(cost or 0.0), 4.0 * np.asarray(gradient)


@dataclass(frozen=True, eq=False)
class GaussianCost:
    """Symmetric SNE (`joint`): KL(P || Q). Else SNE: sum_i KL(P_i || Q_i), where P is p_{j|i} + p_{i|j}."""

    P: Affinities
    joint: bool
    n_jobs: int | None = None
    device: str = "cpu"

    def gradient(self, Y: Floats, exaggeration: float = 1.0) -> Floats:
        size = 4.0 if self.joint else 2.0
        if (panels := panels_of(self.P, Y, quick=True)) is not None:
            return size * panels.gaussian(Y, exaggeration, joint=self.joint)
        if self.joint and on_device(Y, self.device) is None:
            push, Z = _strip_sums(Y, compiled(LOOPS).gaussian_sums, self.n_jobs)
            return size * (exaggeration * self.P.pull(Y, False) - push / Z)
        mass = _gaussian_masses(Y, self.n_jobs, self.device)
        a = np.full(len(Y), 0.5 / mass.sum()) if self.joint else 1.0 / mass
        push = self._push(Y, a)
        return size * (exaggeration * self.P.pull(Y, False) - push)

    def _push(self, Y: Floats, a: Floats) -> Floats:
        """sum_j (a_i + a_j) w_ij (y_i - y_j)."""
        used = on_device(Y, self.device)
        if used is not None:
            return gaussian_repulsion(used, Y, a)
        loops = compiled(LOOPS)
        YT = np.ascontiguousarray(Y.T)
        out = np.zeros_like(YT)

        def work(part: slice) -> None:
            mine = np.zeros((len(YT), part.stop - part.start))
            loops.gaussian_repulsion(YT, np.ascontiguousarray(YT[:, part]), a, a[part], mine)
            out[:, part] = mine

        strips(len(Y), work, self.n_jobs)
        return out.T

    def value(self, Y: Floats) -> float:
        if (panels := panels_of(self.P, Y)) is not None:
            pull, mass = panels.gaussian_cost(Y)
        else:
            mass = _gaussian_masses(Y, self.n_jobs, self.device)
            pull = self.P.pull_cost(Y, False)
        if self.joint:
            return self.P.entropy + pull + float(np.log(mass.sum()))
        return self.P.entropy + pull / 2 + float(np.log(mass).sum())


def _gaussian_masses(Y: Floats, n_jobs: int | None, device: str) -> Floats:
    """sum_{l != i} exp(-||y_i - y_l||^2) of each point; never 0, so that a lone point far away stays defined."""
    used = on_device(Y, device)
    if used is not None:
        return np.maximum(gaussian_masses(used, Y), NO_DIVISOR)
    loops = compiled(LOOPS)
    YT = np.ascontiguousarray(Y.T)
    mass = np.zeros(len(Y))
    strips(
        len(Y),
        lambda part: loops.gaussian_mass(YT, part.start, np.ascontiguousarray(YT[:, part]), mass[part]),
        n_jobs,
    )
    return np.maximum(mass, NO_DIVISOR)


def row_divergence(P: Floats, Y: Floats, rows: Floats, power: float) -> tuple[Floats, Floats]:
    """KL(P_x || Q_x) and its gradient 2 sum_j (p_j - q_j) u_j (y - y_j) for new points y, q_j = w_j / sum_l w_l.

    P (m, n) has the new points' probabilities of the fixed points Y (n, d); w = (1 + ||y - y_j||^2)^-power and
    u = power / (1 + ||y - y_j||^2), or with power 0 a Gaussian and 1.
    """
    value, slope = np.empty(len(rows)), np.empty_like(rows)
    compiled(LOOPS).row_divergences(P, Y, rows, float(power), value, slope)
    return value, slope
