"""Dimension from the spectrum of the kernel that maximum variance unfolding learns.

Weinberger & Saul (2006), doi:10.1007/s11263-005-4939-z.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lowfold._core.limits import Int, Limits, Real, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats, Ints
from lowfold.dimension._capacity import farthest_first
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled
from lowfold.dimension._read import distance_rows, distinct, read_source
from lowfold.graph._components import components
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs, Points
from lowfold.sdp._program import neighbor_pairs

FAINT_GAP = 2.0  # a ratio of neighbouring eigenvalues below this is no gap
FEWEST = 20  # points
TOL = 1e-2  # of the program: eigenvalues are compared with shares of a few percent
UNSOLVED = 0.1  # duality gap beyond which the spectrum is doubted
IDLE = 1e-6  # of the variance: what a solver leaves on directions that the unfolded points do not have
SMALL = 1500  # pairs that are solved to the end
ROUNDS = 4  # of the low-rank solver for more of them; the gap that is left is judged
WALK = 20_000  # points that the evenly spread sample is chosen from


def mvu_spectrum(
    X: Any,
    n_neighbors: int = 4,
    *,
    share: float = 0.99,
    max_points: int = 400,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    n_resamples: int = 0,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Eigenvalues of maximum variance unfolding that hold `share` of its variance.

    The points are pulled apart as far as distances among neighbours allow: what is left in a direction is there because
    the manifold needs it. The curve is lambda_d / sum lambda_i; `reason` says when no gap follows the d-th. It is of
    the whole: a closed curve or surface cannot be unfolded and takes one more, neighbours that jump between folds hold
    them together, and the width of a narrow strip is less than the share left out. Of several pieces the largest is
    used.

    The program grows fast with the points, so that it is solved for `max_points` of them, each chosen as far as
    possible from those before; `note` says so. No interval by default: every resample is another program, on half as
    many points, at a coarser scale.

    Parameters
    ----------
    X : points with any metric, or a matrix of distances (metric="precomputed").
    n_neighbors : distances to so many neighbours, and among them, are kept; more make folds stick together.
    share : how much of the variance counts as all of it.
    max_points : beyond this many points an evenly spread sample is used.
    n_resamples : estimates on random halves of the sample for the interval; 0 for none.
    """
    values = {"n_neighbors": n_neighbors, "share": share, "max_points": max_points, "n_resamples": n_resamples}
    limits: Limits = {
        "n_neighbors": (Int(2),),
        "share": (Real(0, 1, open_low=True),),
        "max_points": (Int(20),),
        "n_resamples": (Int(0),),
    }
    check_limits("mvu_spectrum", values, limits)
    source = read_source(X, metric, metric_params)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, WALK, rng)
    source = source.subset(kept)
    if source.n > max_points:
        words = f"{max_points} of {source.n} points, evenly spread"
        note = words if note is None else f"{note}; {words}"
        with single_threaded_blas():
            source = source.subset(np.sort(farthest_first(source, max_points, int(rng.integers(source.n)))[0]))
    if source.n < max(FEWEST, n_neighbors + 2):
        return cannot_tell("mvu_spectrum", f"{source.n} different points are too few; at least 20")
    variance, reason = _variances(source, n_neighbors, n_jobs)
    if variance is None:
        return cannot_tell("mvu_spectrum", str(reason), note=note)
    value = _count(variance, share)
    after = variance[int(value)] if value < len(variance) else 0.0
    if after * FAINT_GAP > variance[int(value) - 1]:
        faint = f"no gap: the next eigenvalue is {after / variance[int(value) - 1]:.0%} of the last one counted"
        reason = faint if reason is None else f"{faint}; {reason}"
    if value > n_neighbors:
        reason = f"{n_neighbors} neighbours span {n_neighbors} directions; use more to tell {value:g}"

    def on_half(rows: Ints) -> float:
        half = _variances(source.subset(rows), n_neighbors, n_jobs)[0]
        return float("nan") if half is None else _count(half, share)

    return Estimate(
        "mvu_spectrum",
        value,
        half_samples(on_half, source.n, value, n_resamples, rng, whole=True),
        used=(1.0, value),
        scales=np.arange(1.0, len(variance) + 1),
        curve=variance,
        axes=("components", "share of the variance"),
        whole=True,
        reason=reason,
        note=note,
    )


def _variances(source: Points | Pairs, k: int, n_jobs: int | None) -> tuple[Floats | None, str | None]:
    """Shares of the variance in each direction of the unfolded largest piece, and what speaks against them."""
    from lowfold.methods.mvu import MVU

    with single_threaded_blas():
        found = neighborhoods(source, n_neighbors=min(k, source.n - 1))
        labels = components(found)
    inside = np.flatnonzero(labels == 0)
    if len(inside) < k + 2:
        return None, f"the graph of {k} neighbours is in pieces of at most {len(inside)} points"
    share = len(inside) / source.n
    words = f"the graph of {k} neighbours is in pieces; its largest, {share:.0%} of the points, was used"
    piece = source.subset(inside)
    D = distance_rows(piece, np.arange(piece.n))
    small = len(neighbor_pairs(found)) <= SMALL
    effort: dict[str, Any] = {"solver": "interior"} if small else {"solver": "lowrank", "max_iter": ROUNDS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is judged below
        model = MVU(1, n_neighbors=k, metric="precomputed", tol=TOL, **effort, n_jobs=n_jobs).fit(D)
    spectrum = np.asarray(model.spectrum_, dtype=np.float64)
    if not spectrum.sum() > 0:
        return None, "the unfolded points have no variance"
    reasons = [] if share == 1 else [words]
    if model.duality_gap_ > UNSOLVED:
        reasons.append(_unsolved(model.duality_gap_))
    spectrum = spectrum[spectrum > IDLE * spectrum.sum()]
    return spectrum / spectrum.sum(), "; ".join(reasons) or None


def _unsolved(gap: float) -> str:
    """What a duality gap speaks against.

    >>> _unsolved(0.25), _unsolved(float("inf"))
    ('the program was solved to 25% only', 'nothing proves that the program was solved')
    """
    if not np.isfinite(gap):
        return "nothing proves that the program was solved"
    return f"the program was solved to {gap:.0%} only"


def _count(variance: Floats, share: float) -> float:
    """Smallest d whose variances hold `share`."""
    return float(min(int((np.cumsum(variance) < share - ROUNDING).sum()) + 1, len(variance)))
