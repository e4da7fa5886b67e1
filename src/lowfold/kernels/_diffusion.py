"""Diffusion kernels: how strongly two points exchange heat, and the Markov chain that this makes of them.

Coifman & Lafon (2006), doi:10.1016/j.acha.2006.04.006; Wang (2012), Chapter 14; Zelnik-Manor & Perona (2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator, SparseOperator
from lowfold._core.stacks import stacked_eigvalsh
from lowfold._core.types import AnyFloats, Floats
from lowfold._cuda._device import Array, Device, holding, on_cpu
from lowfold._cuda._sparse import DeviceSparse, row_sums, with_diagonal
from lowfold._cuda._tree import row_of_entry
from lowfold.graph._reach import lengths_in_widths
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._gaussian import auto_scale
from lowfold.kernels._measure import Measure, check_power

DECAY = 2.0  # -log of the weight at the common reach: the scale is then the mean d^2 of points spread over a disc
# Of the largest weight: K = A A' from a product in float64 is uneven by 1e-13 or so, a transposed or one-sided matrix
# by whole weights. The walk needs one weight for both directions, and which is right cannot be known here.
ASYMMETRY = 1e-10
LOCAL = ("self_tuning", "variable")  # weights whose scale is the product of one at each end
Q = TypeVar("Q", Floats, Array)
CURVE = 200_000  # edges for the curve of `slope_scale`: evenly chosen among the sorted, they tell it as all do


@dataclass(frozen=True, eq=False)
class Profile:
    """k(x, y) as a function of the squared distance d^2, the same for training points and new ones.

    weights  "heat": exp(-d^2 / scale); "self_tuning": exp(-d^2 / (t_x t_y scale)); "binary": 1; or a function h, which
             gives h(d^2 / scale)
    local    t_j of the training points, their distance to the `tuning`-th nearest other point, for "self_tuning"; their
             width rho_j for "variable", which is weighed alike; with other weights how many times wider than `scale`
             the kernel is at each point, or None for nowhere
    logs, d  log rho before it was averaged, and the dimension of the data, for "variable"
    """

    weights: str | Callable[[Floats], Floats]
    scale: float
    local: Floats | None = None
    logs: Floats | None = None
    d: int = 0

    def __call__(self, squared: Floats, product: Floats | float = 1.0) -> Floats:
        """Weights of pairs with these squared distances; `product` is `joint` of their ends where scales are local."""
        if self.weights == "binary":
            return np.ones(np.shape(squared))
        ratio = squared / (self.scale * product)
        if not callable(self.weights):
            return np.exp(-ratio)
        values = np.asarray(self.weights(ratio), dtype=np.float64)
        if values.shape != np.shape(squared):
            raise InvalidInput(
                f"weights must map an array of squared distances over scale to one of its shape; got {values.shape} "
                f"for {np.shape(squared)}"
            )
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise InvalidInput("weights must be a finite function, 0 or more; an admissible kernel has no other values")
        return values

    def joint(self, x: Floats, y: Floats) -> Floats:
        """t_x t_y; the square of the wider of two widths, so that a far point hangs on its neighbours by theirs."""
        return np.asarray(x * y if self.weights in LOCAL else np.maximum(x, y) ** 2)

    def itself(self) -> float:
        """k(x, x)."""
        return float(self(np.zeros(1))[0])

    def of_graph(self, graph: Graph) -> Floats:
        """Weights in the order of the graph's entries."""
        product: Floats | float = 1.0
        if self.local is not None:
            product = self.joint(self.local[graph.rows()], self.local[graph.indices])
        return self(graph.lengths**2, product)


@dataclass(frozen=True, eq=False)
class Walk:
    """The Markov chain P = D^-1 K~ with K~_ij = K_ij / (q_i q_j)^alpha, q = K 1, D = diag(K~ 1).

    q = K 1 is the density smoothed by the kernel, too even wherever it changes within a width. Every further pass
    multiplies it by K (1 / q), which is constant where q is the density that the kernel sees as 1 / q everywhere: the
    weights 1 / q are then a rule that integrates the kernel at every point. It is Sinkhorn's iteration for one side of
    K, whose smooth parts come first.

    `operator` is S = D^-1/2 K~ D^-1/2, which is symmetric, has P's eigenvalues, and 1 as its largest. A walk that waits
    (`Measure.pace` p) is I - p (I - P), with D / p in place of D. `earlier` are the densities of the passes before the
    last, which that of a new point takes.
    """

    operator: SparseOperator | DenseOperator
    densities: Floats
    degrees: Floats
    earlier: tuple[Floats, ...] = ()

    @property
    def trivial(self) -> Floats:
        """The eigenvector of 1, sqrt(d), as a column."""
        return np.sqrt(self.degrees)[:, None]

    @property
    def stationary(self) -> Floats:
        """phi_0 = d / sum(d): where the walk ends up, whatever its start."""
        return np.asarray(self.degrees / self.degrees.sum())

    def right(self, vectors: Floats) -> Floats:
        """Of eigenvectors of S: psi with P psi = lambda psi and sum_i psi_i^2 phi_0(i) = 1; psi_0 = 1."""
        return vectors / np.sqrt(self.stationary)[:, None]

    def left(self, vectors: Floats) -> Floats:
        """Of eigenvectors of S: phi with phi' P = lambda phi' and sum_i phi_i^2 / phi_0(i) = 1.

        phi_l = psi_l phi_0, and phi_k' psi_l = delta_kl.
        """
        return vectors * np.sqrt(self.stationary)[:, None]

    def transition(self) -> csr_array | Floats:
        """P itself; rows sum to 1. Not symmetric."""
        root = np.sqrt(self.degrees)
        if isinstance(self.operator, DenseOperator):
            return np.asarray(self.operator.matrix * root[None, :] / root[:, None])
        return csr_array(diags_array(1 / root) @ self.operator.matrix @ diags_array(root))


def walk_of(
    graph: Graph,
    profile: Profile,
    loops: float,
    *,
    alpha: float,
    measure: Measure | None = None,
    passes: int = 1,
    n_jobs: int | None = None,
) -> Walk:
    """The walk by a profile of the lengths; where a device has these, the weights are made there and stay."""
    device = holding(graph.lengths)
    if device is not None and (profile.weights != "heat" or measure is not None):
        on_cpu("the weights of a walk", "only heat has a twin on the device, and no measure but its own")
        device = None
    if device is None:
        k = profile.of_graph(graph)
        return markov(graph, k, loops, alpha=alpha, measure=measure, passes=passes, n_jobs=n_jobs)
    lengths = lengths_in_widths(device, graph, profile.local)
    k = device.xp.exp(-(lengths**2) / profile.scale)
    return _markov_on_device(device, graph, k, loops, alpha, passes, n_jobs)


def markov(
    graph: Graph,
    values: Floats,
    loops: float,
    *,
    alpha: float,
    measure: Measure | None = None,
    passes: int = 1,
    n_jobs: int | None = None,
) -> Walk:
    """The walk on the edges of a graph with weights `values` and self-loops of weight `loops`."""
    measure = measure or Measure()
    rows, columns = graph.rows(), graph.indices
    first = measure.densities(_positive(np.bincount(rows, values, minlength=graph.n) + loops))
    q, earlier = _sharpened(
        first, passes, lambda q: q * np.bincount(rows, values / q[columns], minlength=graph.n) + loops
    )
    a, pace = measure.factors(q, alpha), measure.pace()
    tilde = values * (a[rows] * a[columns])  # grouped so that rounding keeps the symmetry
    d = np.bincount(rows, tilde, minlength=graph.n) + loops * a * a
    m = d if pace is None else d / pace
    s = 1.0 / np.sqrt(m)
    S = graph.to_scipy(tilde * (s[rows] * s[columns]))
    itself = loops * a * a / d
    if pace is not None:
        itself = 1.0 - pace * (1.0 - itself)
    if loops > 0 or pace is not None:
        S = csr_array(S + diags_array(itself, format="csr"))
    return Walk(SparseOperator(S, bound=1.0, n_jobs=n_jobs), q, m, earlier)


def _markov_on_device(
    device: Device, graph: Graph, k: Array, loops: float, alpha: float, passes: int, n_jobs: int | None
) -> Walk:
    """`markov` where the weights k are; the operator stays there."""
    indptr, columns = device.put(graph.indptr), device.put(graph.indices)
    first = row_sums(device, indptr, k) + loops
    _positive(device.get(first))
    q, earlier = _sharpened(first, passes, lambda q: q * row_sums(device, indptr, k / q[columns]) + loops)
    densities = np.asarray(device.get(q), dtype=np.float64)
    check_power(densities, alpha)
    rows, a = row_of_entry(device.xp, indptr, len(columns)), q**-alpha
    tilde = k * (a[rows] * a[columns])
    d = row_sums(device, indptr, tilde) + loops * a * a
    s = 1.0 / device.xp.sqrt(d)
    parts = indptr, columns, tilde * (s[rows] * s[columns])
    if loops > 0:
        parts = with_diagonal(device, *parts, loops * a * a / d)
    before = tuple(np.asarray(device.get(one), dtype=np.float64) for one in earlier)
    return Walk(DeviceSparse(device, *parts, bound=1.0, n_jobs=n_jobs), densities, np.asarray(device.get(d)), before)


def markov_dense(
    K: Floats, *, alpha: float, measure: Measure | None = None, passes: int = 1, n_jobs: int | None = None
) -> Walk:
    """The walk of a whole symmetric matrix of weights, which is overwritten."""
    measure = measure or Measure()
    q, earlier = _sharpened(measure.densities(_positive(K.sum(axis=1))), passes, lambda q: q * (K @ (1.0 / q)))
    a, pace = measure.factors(q, alpha), measure.pace()
    K *= a[:, None]
    K *= a[None, :]
    d = K.sum(axis=1)
    m = d if pace is None else d / pace
    s = 1.0 / np.sqrt(m)
    K *= s[:, None]
    K *= s[None, :]
    if pace is not None:
        K[np.diag_indices_from(K)] += 1.0 - pace
    return Walk(DenseOperator(K, bound=1.0, n_jobs=n_jobs), q, m, earlier)


def _sharpened(q: Q, passes: int, further: Callable[[Q], Q]) -> tuple[Q, tuple[Q, ...]]:
    """The density after the last pass, of which q is the first, and those before it."""
    earlier: list[Q] = []
    for _ in range(passes - 1):
        earlier.append(q)
        q = further(q)
    return q, tuple(earlier)


def complete_weights(distances: NDArray[np.floating], profile: Profile, loops: float) -> Floats:
    """k(x_i, x_j) for all pairs, `loops` on the diagonal, 0 where the distance is unmeasured (NaN) or infinite."""
    n = len(distances)
    require(4 * 8.0 * n * n, f"a complete graph of {n} points", "use n_neighbors, radius, threshold > 0 or landmarks")
    squared = distances.astype(np.float64) ** 2
    known = np.isfinite(squared)
    squared[~known] = 0.0
    product = 1.0 if profile.local is None else profile.joint(profile.local[:, None], profile.local[None, :])
    K = np.where(known, profile(squared, product), 0.0)
    np.fill_diagonal(K, loops)
    return K


def _positive(q: NDArray[np.floating]) -> Floats:
    lonely = np.flatnonzero(~(q > 0))
    if len(lonely):
        raise InvalidInput(
            f"point {lonely[0]} has no weight at all ({len(lonely)} such points), so no walk leaves it; use a larger "
            "scale, "
            "more n_neighbors, or self_loops above 0"
        )
    return np.asarray(q, dtype=np.float64)


def local_scales(neighbors: Neighbors, m: int) -> Floats:
    """t_i = distance from point i to its m-th nearest neighbour; for coincident points the smallest positive t."""
    t = neighbors.distances[neighbors.indptr[:-1] + m - 1]
    positive = t > 0
    if not positive.any():
        return np.ones(len(t))
    return np.where(positive, t, t[positive].min())


def common_width(scale: float) -> float:
    """The reach whose weight is exp(-DECAY)."""
    return float(np.sqrt(DECAY * scale))


class SlopeScale(NamedTuple):
    """Scale of steepest growth, and the dimension that the slope there suggests."""

    scale: float
    dimension: float


def slope_scale(graph: Graph, *, steps: int = 60) -> SlopeScale:
    """The scale e at which S(e) = sum_ij exp(-d_ij^2 / e), self included, grows fastest on log-log axes.

    Between too small (S = n, only the points themselves) and too large (S = number of pairs) log S rises with slope
    dim / 2 (Coifman, Shkolnisky, Sigworth & Singer 2008, doi:10.1109/TIP.2008.2002305). Edges that a graph leaves out
    lower the slope at large scales.
    """
    squared = graph.lengths[graph.lengths > 0] ** 2
    if len(squared) == 0:
        return SlopeScale(1.0, 0.0)
    if len(squared) > CURVE:
        squared = np.sort(squared)[:: len(squared) // CURVE]
    logs = np.linspace(np.log(squared.min()) - 3, np.log(squared.max()) + 3, steps)
    own = graph.n * len(squared) / max(len(graph.lengths), 1)
    slopes = np.empty(steps)
    for i, e in enumerate(np.exp(logs)):
        k = np.exp(-squared / e)
        slopes[i] = (k * squared).sum() / e / (k.sum() + own)  # d log S / d log e
    best = int(np.argmax(slopes))
    return SlopeScale(float(np.exp(logs[best])), float(2 * slopes[best]))


def std_scale(X: NDArray[np.floating]) -> float:
    """2 s^2 with s^2 the mean variance of the features: the kernel exp(-d^2 / (2 s^2)) with the data's own spread."""
    s2 = float(X.var(axis=0, dtype=np.float64).mean())
    return 2.0 * s2 if s2 > 0 else 1.0


SCALES: dict[str, Callable[[Graph], float]] = {
    "mean": auto_scale,  # mean squared edge length
    "listing": lambda graph: 4.0 * auto_scale(graph),  # the factor of Wang (2012), Sections 14.2.2 and 14.2.3
    "slope": lambda graph: slope_scale(graph).scale,
}


class Admissible(NamedTuple):
    """What a kernel matrix has of an admissible diffusion kernel; all three are needed."""

    symmetric: bool
    nonnegative: bool
    psd: bool
    smallest_eigenvalue: float

    def __bool__(self) -> bool:
        return self.symmetric and self.nonnegative and self.psd


def is_admissible(K: ArrayLike, *, tol: float = 1e-10) -> Admissible:
    """Whether K can drive a diffusion: symmetric, pointwise >= 0, positive semidefinite (Wang 2012, Definition 14.1).

    Without the last the walk still exists, but fractional times and the reading as a metric may not.

    >>> bool(is_admissible([[1.0, 0.5], [0.5, 1.0]])), bool(is_admissible([[0.0, 1.0], [1.0, 0.0]]))
    (True, False)
    """
    A: NDArray[Any] = np.asarray(K, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InvalidInput(f"K must be a square matrix; got shape {A.shape}")
    size = max(float(np.abs(A).max(initial=0.0)), np.finfo(float).tiny)
    require(3 * 8.0 * A.size, f"the spectrum of a {len(A)} x {len(A)} kernel", "test a random subset of the points")
    smallest = float(stacked_eigvalsh((A + A.T) / 2)[0])
    return Admissible(
        bool(np.abs(A - A.T).max(initial=0.0) <= tol * size),
        bool(A.min(initial=0.0) >= 0),
        smallest >= -tol * size * len(A),
        smallest,
    )


def given_weights(K: AnyFloats, self_loops: float) -> Floats:
    """A copy of the user's weights, checked; its diagonal times `self_loops`."""
    W = K.astype(np.float64)
    if not np.isfinite(W).all():
        raise InvalidInput("weights must be finite; X has NaN or inf. A pair without exchange has weight 0")
    if np.abs(W - W.T).max(initial=0.0) > ASYMMETRY * W.max(initial=0.0):
        raise InvalidInput("the matrix of weights must be symmetric; use (X + X.T) / 2")
    W[np.diag_indices_from(W)] *= self_loops
    return W
