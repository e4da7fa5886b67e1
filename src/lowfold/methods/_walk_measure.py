"""The measure that a walk tends to and the width that it steps by: parameters, what they refuse, their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Function, Int, Null, Real, RealArray
from lowfold._core.params import Declared, param
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._radius import within_radius
from lowfold.graph._reach import AMONG, MOST, SAMPLE, SHARE, own_reach, regular_reach
from lowfold.graph._search import nearest, trim
from lowfold.graph._source import Pairs, Points, Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._diffusion import DECAY, Profile, local_scales
from lowfold.kernels._measure import Measure, averaged, neighbor_dimension, power
from lowfold.methods._fit import Connected, Data, Fit

Values = Floats | Callable[[Any], Any] | None
ENOUGH_TO_TELL = 100  # points below which a tenth of them is chance
FEWEST = 5  # neighbours that tell the density at a point
LOOKED_AT = 20_000  # points whose density is told: those of a million took half of the time of a walk on a GPU
# Times the measure of a walk that the densest tenth of the points keeps more than the sparsest tenth of the volume. It
# is 1.0 to 1.8 on even samples, 1.8 to 2.3 on circles whose angles are off by 0.1 to 0.2 then, 6 and more from 0.5.
KEPT = 1.85
STANDING = 1e-10  # of 1: an eigenvalue nearer to 1 than rounding lets know is that of a part never left
TENTHS = 2.56  # between the quantiles 0.1 and 0.9 of a normal distribution, in standard deviations
# Passes of the density estimate where one reach joins all pairs. Circles with density 20 to 1 were off by 0.07 (3,000
# points) to 0.17 (500) after one pass, by 0.02 and 0.06 after three; sheets with noise of a twentieth of their width
# lost 0.003 of R^2 by the third pass, and more by further ones.
PASSES = 3
# On a curve, whose noise is no part of it: of 170 circles of 500 to 1,000 points 11 were off by more than 0.08 after
# three passes, 6 after eight (5 after twenty), of which 6 and 1 were not told.
PASSES_ALONG = 8
NEAREST = 16  # neighbours whose distances tell the density at a point, to a quarter; averaging halves that


class Corrected(Declared):
    """A measure of the user's in place of the sample's, and a kernel whose width varies."""

    density: Values = param(
        None,
        RealArray("an array with a number above 0 per point"),
        Function("f(X) -> densities"),
        Null("row sums of the kernel"),
        "The density q that the points were drawn from, up to a factor, if it is known: one number per point, or a "
        "function of X. None estimates it by the row sums of the kernel.",
    )
    passes: int | None = param(
        None,
        Int(1),
        Null(f"{PASSES} where all pairs within the automatic reach are joined, {PASSES_ALONG} on a curve; 1 elsewhere"),
        "Passes of that estimate. 1 is the row sums K 1, as published, which smooth the density; every other one "
        "multiplies q by K (1 / q), and sharpens it where it changes.",
    )
    target: Values = param(
        None,
        RealArray("an array with a number above 0 per point"),
        Function("f(X) -> densities"),
        Null("the volume"),
        "The measure pi that the walk is to tend to in place of the volume, up to a factor: one number per point, or a "
        "function of X. With it K~_ij = sqrt(pi_i pi_j) k_ij / (q_i q_j), and the generator is Lap f + grad log pi . "
        "grad f; it goes with alpha=1.",
    )
    bandwidth: float = param(
        -0.5,
        Real(),
        'Power of the density that is the width rho = q^bandwidth of weights "variable"; -1/2 keeps the error even '
        "where the density falls to 0. rho is averaged over the `tuning` nearest points.",
    )
    tangent_dim: int | None = param(
        None,
        Int(1),
        Null("from neighbours"),
        'Dimension d of the data, for weights "variable"; None estimates it from distances to neighbours.',
    )


def options_agree(method: Any, data: Data) -> None:
    """Refuse weights, scale and graph that do not go together."""
    if method.threshold is not None and method.threshold > 0 and method.weights != "heat":
        raise InvalidInput(f"a threshold above 0 goes with weights='heat'; got weights={method.weights!r}")
    if method.weights == "precomputed" and (method.metric != "precomputed" or not isinstance(data.source, Pairs)):
        raise InvalidInput(
            "weights='precomputed' takes a dense symmetric matrix of weights as X, with metric='precomputed'"
        )
    if method.weights == "self_tuning" and isinstance(method.scale, str) and method.scale != "auto":
        raise InvalidInput(
            f"with weights='self_tuning' scale is a factor, a number or 'auto' (1); got {method.scale!r}"
        )
    if method.tuning is not None and method.tuning > data.n - 1:
        raise InvalidInput(f"tuning must be at most {data.n - 1} for n_samples = {data.n}; got {method.tuning}")


def measure_agrees(method: Any, data: Data) -> None:
    """Refuse what has no meaning together."""
    given = [name for name in ("density", "target") if getattr(method, name) is not None]
    if method.tangent_dim is not None and method.weights != "variable":
        raise InvalidInput(f"tangent_dim goes with weights='variable'; got weights={method.weights!r}")
    if method.target is not None and method.alpha != 1:
        raise InvalidInput(
            f"target goes with alpha=1, which takes the density of the sample out; got alpha={method.alpha:g}"
        )
    if method.density is not None and method.alpha == 0 and method.weights != "variable":
        raise InvalidInput("density has no say at alpha=0, which leaves the density in; use alpha=1, or leave it out")
    if given and method.weights == "self_tuning":
        raise InvalidInput(
            f"{given[0]} needs a kernel whose density is known, which that of weights='self_tuning' is not; use "
            "'variable', or 'heat'"
        )
    if (given or method.weights == "variable") and method.convention == "symmetric":
        raise InvalidInput(
            f"{given[0] if given else 'weights=' + repr('variable')} goes with convention='markov' or 'degree': in "
            "'symmetric' a new point would need a value of its own"
        )
    if (method.passes or 1) > 1:
        why = _no_estimate(method)
        if why:
            raise InvalidInput(f"passes above 1 need a density that row sums estimate, not {why}; got {method.passes}")
    for name in given:
        values = getattr(method, name)
        if not callable(values) and method.landmarks is not None:
            raise InvalidInput(f"{name} must be a function of X where landmarks are embedded; got an array")
        if not callable(values) and np.shape(values) != (data.n,):
            raise InvalidInput(f"{name} must have one number per point, {data.n}; got shape {np.shape(values)}")
    if method.weights == "variable" and isinstance(method.scale, str) and method.scale != "auto":
        raise InvalidInput(f"with weights='variable' scale is a number or 'auto'; got {method.scale!r}")


def _no_estimate(method: Any) -> str:
    """Why the density is not estimated in several passes; nothing where it may be."""
    if method.density is not None:
        return "the given density"
    return f"weights={method.weights!r}" if method.weights in ("variable", "self_tuning") else ""


def passes_of(method: Any, within_reach: bool, along: Callable[[], bool]) -> int:
    """How often the density is estimated; `within_reach` says that all pairs within the automatic reach are joined, and
    `along` whether these are those of a curve.
    """
    if method.passes is not None:
        return int(method.passes)
    if not within_reach or _no_estimate(method):
        return 1
    return PASSES_ALONG if along() else PASSES


def read_values(name: str, values: Values, source: Source | None, rows: Ints | None) -> Floats | None:
    """One number above 0 per point, over their geometric mean."""
    if values is None:
        return None
    if callable(values):
        if not isinstance(source, Points):
            raise InvalidInput(f"{name} is a function of the points, and X was a matrix or a graph; give an array")
        q = np.asarray(values(source.X), dtype=np.float64).ravel()
        if q.shape != (source.n,):
            raise InvalidInput(f"{name} must give one number per row, {source.n}; got {q.shape[0]}")
    else:
        q = np.asarray(values, dtype=np.float64)
        q = q if rows is None else q[rows]
    wrong = np.flatnonzero(~(q > 0) | ~np.isfinite(q))
    if len(wrong):
        raise InvalidInput(f"{name} must be finite and above 0 at every point; it is {q[wrong[0]]} at {wrong[0]}")
    return np.asarray(q / np.exp(np.log(q).mean()))


def variable(method: Any, data: Connected, k: int, run: Run) -> Profile:
    """The kernel of width rho_i = q_i^bandwidth, averaged: of the given density, or of the `tuning`-th neighbour's."""
    m = nearest_count(method, data.n)
    near = _exactly(data, m, method.search, run)
    d = method.tangent_dim or neighbor_dimension(near)
    density = read_values("density", method.density, data.source, data.rows)
    log_q = -d * np.log(local_scales(near, m)) if density is None else np.log(density)
    logs = method.bandwidth * (log_q - log_q.mean())
    rho = np.exp(averaged(near, logs, logs))
    scale = common_scaled_reach(data, rho, k) ** 2 / DECAY if method.scale == "auto" else float(method.scale)
    return Profile("variable", scale, rho, logs, int(d))


def nearest_count(method: Any, n: int) -> int:
    """Neighbours that tell the width."""
    return min(method.tuning or NEAREST, n - 1)


def _exactly(data: Connected, m: int, search: str, run: Run) -> Neighbors:
    """m neighbours of every point."""
    near = data.neighbors
    if near.counts.min() < m and data.source is not None:
        near = nearest(data.source, m, search=search, run=run)
    if near.counts.min() < m:
        raise InvalidInput(
            f"tuning must be at most {near.counts.min()}, the smallest number of known neighbours; got {m}"
        )
    return trim(near, np.full(near.n, m))


def width_at(row: Any, source: Source, queries: Any, run: Run) -> Floats:
    """rho of new points: the nearest training point stands for x, as x_i does in its own average."""
    near = nearest(source, min(row.tuning + 1, source.n), queries=queries, run=run)
    return np.exp(averaged(near, row.logs))


def common_scaled_reach(data: Connected, rho: Floats, k: int) -> float:
    """The reach in units of rho within which points have k others, fewer where all would have too many."""
    ratio = own_reach(data.neighbors, k) / rho
    reach, n = regular_reach(ratio), len(rho)
    room = min(MOST * k, max(n // SHARE, k))
    if not isinstance(data.source, (Points, Pairs)) or room >= n - 1:
        return reach
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64)) for most in (SAMPLE, AMONG))
    if isinstance(data.source, Pairs):
        D = data.source.distances[np.ix_(rows, columns)].astype(np.float64)
    else:
        D = data.source.subset(columns).rows(data.source.subset(rows).X)
    D = D / np.sqrt(rho[rows, None] * rho[None, columns])
    return max(min(reach, float(np.quantile(D[np.isfinite(D)], (room + 1) / n))), float(np.median(ratio)))


def joined_within(source: Source, reach: float, rho: Floats, run: Run) -> Graph:
    """All pairs with d <= reach sqrt(rho_i rho_j): they lie within the reach of the wider of the two."""
    graph = within_radius(source, reach * rho, run=run).union()
    rows = graph.rows()
    kept = (graph.lengths <= reach * np.sqrt(rho[rows] * rho[graph.indices])) & (rows < graph.indices)
    return Graph.from_edges(graph.n, np.column_stack([rows, graph.indices])[kept], graph.lengths[kept])


def edges_within(row: Any, source: Source, queries: Any, run: Run) -> Neighbors:
    """The same of new points x: d <= reach sqrt(rho_x rho_j)."""
    rho = width_at(row, source, queries, run)
    found = within_radius(source, row.reach * np.sqrt(row.local * rho.max()), queries=queries, run=run)
    kept = found.distances <= row.reach * np.sqrt(rho[found.rows()] * row.local[found.indices])
    counts = np.bincount(found.rows()[kept], minlength=found.n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, found.indices[kept], found.distances[kept], found.n_points)


def measure_of(method: Any, source: Source | None, rows: Ints | None, profile: Profile) -> Measure | None:
    """What corrects the walk; None where its own row sums do."""
    density = read_values("density", method.density, source, rows)
    target = read_values("target", method.target, source, rows)
    width = profile.local if profile.weights == "variable" else None
    if density is None and target is None and width is None:
        return None
    return Measure(density, target, width, profile.d)


def power_of(method: Any, profile: Profile) -> float:
    """The power of the density in the walk."""
    return power(float(method.alpha), float(method.bandwidth) if profile.weights == "variable" else 0.0, profile.d)


def tell_walk(method: Any, data: Connected, fit: Fit) -> None:
    """Warn of what a walk knows of itself: pieces that it never leaves, and a density that it keeps."""
    assert fit.pairs is not None
    if not isinstance(method.scale, str) and 1 - fit.pairs.values[0] < STANDING:
        warn(
            f"at scale = {method.scale:g} the walk of DiffusionMaps does not leave parts of the data (its eigenvalue "
            "is 1 up to rounding), and coordinates tell no more than such parts; scale='auto' suits the spacing of "
            "the points",
            errors.AccuracyWarning,
        )
    tell_faded(method, fit.coordinates, fit.pairs.values)
    tell_kept_density(method, data, fit.extra["stationary_"])


def tell_faded(method: Any, Y: Floats, values: Floats) -> None:
    """Warn of coordinates that have become 0 by the time t."""
    gone = int((np.abs(Y).max(axis=0, initial=0.0) < np.finfo(float).tiny).sum())
    if method.t > 1 and gone:
        warn(
            f"by t = {method.t:g} {gone} of {Y.shape[1]} coordinates of {type(method).__name__} have faded to 0 "
            f"(eigenvalue^t); use a smaller t: the first keeps a hundredth until about {_lasting(values):.2g}",
            errors.AccuracyWarning,
        )


def _lasting(values: Floats) -> float:
    """The time after which a hundredth of the first coordinate is left."""
    return float(np.log(0.01) / np.log(np.clip(np.abs(values[0]), NO_DIVISOR, 1 - ROUNDING)))


def tell_kept_density(method: Any, data: Connected, stationary: Floats) -> None:
    """Warn where a kernel that is cut at the k-th neighbour keeps a density that `alpha` should take out.

    A walk whose generator has the drift (2 - 2 alpha) grad log q rests at a point for q^(1 - 2 alpha) of its time. The
    power that it really rests by tells the alpha that it has; between the densest tenth of the points and the sparsest
    tenth of the volume, which may be few points, its measure differs by the density to the power of twice what is
    missing.
    """
    cut = method.weights == "heat" and method.radius is None and method.threshold is None and data.source is not None
    given = method.density is not None or method.target is not None
    whole = method.n_neighbors is None and method.search != "faiss"  # all within one reach
    if whole or not cut or given or data.found is None or data.n < ENOUGH_TO_TELL:
        return
    some = np.unique(np.linspace(0, data.n - 1, min(data.n, LOOKED_AT)).astype(np.int64))
    k, logs = data.found.k, _log_densities(data.found, some)
    if method.alpha <= 0 or k is None or logs is None:
        return
    power = float(np.polyfit(logs, np.log(stationary[some]), 1)[0])
    real = (1.0 - power) / 2
    low, high = _sparsest_tenth(logs), np.quantile(logs, 0.9)
    spread = float(np.sqrt(max(0.0, (high - low) ** 2 - TENTHS**2 / k)))  # k points tell a density to 1 / sqrt(k)
    if np.exp(2 * (method.alpha - real) * spread) > KEPT:
        warn(
            f"the kernel of DiffusionMaps is cut at neighbour {k}, and points are {np.exp(spread):.2g} times as dense "
            f"in one place as in another: there alpha={method.alpha:g} takes no more of the density out than "
            f"alpha={max(real, 0.0):.2g} should; leave n_neighbors and search out, which joins all pairs within one "
            "reach",
            errors.AccuracyWarning,
        )


def _sparsest_tenth(logs: Floats) -> float:
    """The log density below which a tenth of the volume lies: a point stands for 1 / q of it."""
    logs = np.sort(logs)
    volume = np.cumsum(np.exp(logs[0] - logs))
    return float(logs[np.searchsorted(volume, volume[-1] / 10)])


def _log_densities(near: Neighbors, some: Ints) -> Floats | None:
    """log q at some points up to a constant, by distances to the last neighbour, averaged over neighbours; None where
    points are repeated.
    """
    if near.k is None or near.k < FEWEST or (near.kth_distance() == 0).any():
        return None
    around = near.take(some)
    logs = -neighbor_dimension(around) * np.log(near.kth_distance())
    return averaged(around, logs, logs[some])
