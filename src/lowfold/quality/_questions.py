"""The questions of a diagnosis, one function each: what was measured, the verdict, and what it means for the methods.

The caveats are those of the texts: Wang (2012), doi:10.1007/978-3-642-27497-8, Section 1.5 and the conclusions of
Chapters 8 to 14; Gering, Ju & Vidal's table of strengths; Tenenbaum, de Silva & Langford (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lowfold._core.types import Floats
from lowfold.graph._connect import MOST_K
from lowfold.graph._geodesics import geodesics
from lowfold.metrics._scales import column_names, uneven_columns
from lowfold.quality._findings import Finding, Rule, judge, rules_for, unknown
from lowfold.quality._flatness import GEODESIC, HARMONIC, conformal, convex, isometric
from lowfold.quality._neighborhood_view import (
    BLURRED,
    DETOUR,
    FEWEST,
    NeighborhoodView,
    Pieces,
    isomap_residual,
)
from lowfold.quality._residuals import between, classical, residual
from lowfold.quality._sample_questions import enough_neighbors, enough_samples, even
from lowfold.quality._shape import edge_points, principal_patches
from lowfold.quality._topology import loops

__all__ = [
    "agreed",
    "closed",
    "compact",
    "conformal",
    "convex",
    "enough_neighbors",
    "enough_samples",
    "even",
    "few",
    "isometric",
    "linear",
    "noisy",
    "one_piece",
    "same_scale",
    "shortcuts",
    "with_holes",
]

LINEAR = ("PCA", "LPP", "NPE", "LinearLTSA", "ClassicalMDS")
CHARTS = ("Isomap", "MVU", "LLE", "ModifiedLLE", "LTSA", "HessianLLE")

# Share of the plane's residual variance of geodesics that Isomap may leave where planes are spoken against. Of 18
# tables and image sets that no plane holds, PCA kept more neighbours along the data than any chart, or as many, in all
# five where Isomap leaves more, and a chart in 12 of the 13 others.
BETTER = 0.5
STRAIGHT = (0.01, 0.02)  # variance off the best plane: linear below, not linear above
# The same of small patches. Planes, with noise, have 0.1% at most; rolls, spheres and strips bent by a radian 4% and
# more, where the whole may show 1%.
TILTED = (0.02, 0.1)
LOOP = (2.2, 1.8)  # a loop lives from its birth to so many times that, and so many covering radii long
LONG = (1.8, 2.3)  # length over width: of a rectangle beyond 2 the second harmonic of the length repeats the first
VERY_LONG = 8.0  # from about 10 the alignment by weights does so too
NOISY = 0.1  # noise over the distance to the k-th neighbour
RIM = (0.1, 0.2)  # points on an edge over n^((d-1)/d), which a boundary of the usual length has 1.5 times: closed; not
RIM_LEAST, RIM_DIRECTION, RIM_PART = 20, 10, 5  # neighbours of a patch for it, for each dimension; patches of the data
HOLES, HOLES_LEAST, HOLES_PART = 120, 16, 8  # landmarks for loops: their triangles grow as the cube; points for each


def same_scale(X: Any, metric: Any) -> Finding:
    """Whether some columns are so much larger than others that they decide all distances."""
    name = "same scale"
    points = np.asarray(X)
    if metric != "euclidean" or points.ndim != 2 or points.dtype.kind not in "fiu":
        return unknown(name, "this is asked of columns of numbers under the Euclidean metric")
    words = uneven_columns(points, column_names(X))
    if words is None:
        return Finding(name, "yes", 1.0, "no column spreads ten times as much as another, or they are of one kind")
    return Finding(
        name,
        "no",
        0.0,
        words,
        advice="where their units differ, standardise the columns and ask again: every answer below is about the "
        "columns that are largest now",
    )


def one_piece(pieces: Pieces, k: int, n: int) -> Finding:
    """Components of the graph, and the k that would join them."""
    count = len(pieces.sizes)
    if count == 1:
        return Finding("one piece", "yes", 1.0, f"the graph of {k} neighbours connects all {n} points")
    shown = ", ".join(map(str, pieces.sizes[:5])) + (", ..." if count > 5 else "")
    if pieces.connecting is None:
        joined = f"n_neighbors up to {min(MOST_K * k, n - 1)} would not join them"
        advice = "embed the pieces separately (on_disconnected='separate'); the rest of this page is about the largest"
    else:
        joined = f"n_neighbors={pieces.connecting} would join them"
        advice = f"n_neighbors={pieces.connecting} if they belong together; the rest of this page is about the largest"
    return Finding(
        "one piece",
        "no",
        float(count),
        f"the graph of {k} neighbours has {count} pieces of {shown} points; {joined}",
        rules_for(("SpectralClustering", "TSNE"), "need no connected graph"),
        rules_for(
            (*CHARTS, *GEODESIC[1:], "LaplacianEigenmaps"),
            "the distance between pieces is unknown to their graph; bridges are a guess",
        ),
        advice,
    )


def linear(view: NeighborhoodView) -> Finding:
    """Variance off the best plane, noise aside, of the whole and of small patches.

    It speaks against linear methods only where a chart holds more than the plane, not where neither holds the data.
    The patches see a bent strip, whose width is off the plane of its bend but next to nothing of the whole. Geodesics
    do not enter: a plane with a hole is a plane.
    """
    d = view.d
    fills = view.X is not None and d >= view.X.shape[1]
    plane, left = view.plane
    noise = 0.0 if np.isnan(view.noise) or view.X is None else (view.X.shape[1] - d) * view.noise**2
    left = 0.0 if fills else max(0.0, left - noise / max(_variance(view), np.finfo(np.float64).tiny))
    verdict = _worse(judge(left, *STRAIGHT), "yes" if np.isnan(view.tilt) else judge(view.tilt, *TILTED))
    patches = "" if np.isnan(view.tilt) else f" ({view.tilt:.1%} of that of small patches)"
    by_plane, by_chart = (0.0, 0.0) if fills else (residual(view.along, between(plane)), isomap_residual(view))
    saw = (
        f"the data fill all {d} dimensions of their space"
        if fills
        else f"{left:.1%} of the variance{patches}, noise aside, is off the best plane of dimension {d}; distances in "
        f"it leave {by_plane:.2%} of the variance of geodesic distances, Isomap in as many dimensions {by_chart:.2%}"
    )
    if verdict == "yes":
        for_linear = rules_for(LINEAR[:-1], "a linear map shows all there is")
        bent = rules_for(GEODESIC, "ways along edges only add error to distances that are straight")
        return Finding("linear", verdict, left, saw, for_linear, bent, "use PCA: anything else can only add error")
    if verdict == "no" and by_chart < BETTER * by_plane:
        against = rules_for(LINEAR, f"no plane of dimension {d} holds the data")
        return Finding("linear", verdict, left, saw, (), against)
    advice = f"no chart of dimension {d} holds much more than the plane: try PCA beside the others"
    return Finding("linear", verdict, left, saw, advice=advice if verdict == "no" else "")


def _worse(one: str, other: str) -> str:
    return max(one, other, key=("yes", "cannot tell", "no").index)


def _variance(view: NeighborhoodView) -> float:
    """Mean squared distance from the mean."""
    return float((view.straight**2).mean() / 2)


def shortcuts(view: NeighborhoodView, straight: Finding) -> Finding:
    """Edges between points that are far apart along the data. In a plane, edges across a gap of its outline are."""
    share, shrinking = view.base[1], view.shrinking
    planar = straight.verdict == "yes"
    sure = view.is_shrunk and not planar  # no way along a plane is shorter than it should be: the longer ones have gaps
    safe, all_safe = view.safe, view.safe == view.detours.shape[1]
    edges = f"of all {len(view.detours) * view.k} neighbours"
    worst = float(view.detours[:, : view.k].max())
    reach = f"none up to {safe} neighbours" if all_safe else f"the first of that kind is to neighbour {safe + 1}"
    apart = f"{view.detour:g} times farther apart along the data (worst {worst:.1f})"
    saw = f"{edges} {view.shortcuts} are {apart}; {reach}"
    if not np.isnan(shrinking):
        saw += f"; far geodesics are up to {shrinking:.2f} times shorter than with {view.fewer} neighbours"
    if view.shortcuts == 0 and share > BLURRED:
        hidden = f"{share:.0%} of the edges leave the tangent planes of both ends: noise hides which are shortcuts"
        advice = f"to be safe: use n_neighbors of at most {view.fewer}" if sure else ""
        return Finding("shortcuts", "cannot tell", shrinking, f"{hidden}; {saw}", advice=advice)
    if view.shortcuts == 0 and not sure:
        perhaps = (shrinking > view.shrunk and not planar) or worst > DETOUR
        if worst > DETOUR:
            saw += "; noise leaves gaps in the tangent planes that ways of such a length go around"
        verdict = "cannot tell" if perhaps else "no"
        return Finding("shortcuts", verdict, 0.0, saw, advice="" if all_safe else f"keep n_neighbors at most {safe}")
    if sure:
        safe = min(safe, view.fewer)
    return Finding(
        "shortcuts",
        "yes",
        float(view.shortcuts),
        f"{saw}; the rest of this page goes around them as far as it can",
        () if planar else _beside_shortcuts(),
        _against_shortcuts(planar),
        f"use n_neighbors of at most {safe}" if safe > view.d else "take more points: no n_neighbors is safe",
    )


def _beside_shortcuts() -> tuple[Rule, ...]:
    return rules_for(("LocallyLinearIsomap",), "takes neighbours in the tangent plane only") + rules_for(
        ("DiffusionMaps",), "averages over all paths, of which few use a shortcut"
    )


def _against_shortcuts(planar: bool) -> tuple[Rule, ...]:
    against = rules_for(GEODESIC, "one shortcut changes the geodesics of all points behind it")
    if planar:  # one sheet, and every neighbourhood lies in it
        return against
    return (
        against
        + rules_for(("MVU",), "an edge between sheets ties them together")
        + rules_for(("LTSA", "HessianLLE"), "a neighbourhood on two sheets has no tangent plane")
    )


def compact(view: NeighborhoodView) -> Finding:
    """How long the data are for their width: beyond two to one the second harmonic of the long side comes first."""
    if view.d == 1:
        return Finding("compact", "yes", 1.0, "a curve has one side only")
    sizes = classical(view.along, view.d, view.run)[0].std(axis=0)
    ratio = float(sizes[0] / max(sizes[-1], np.finfo(np.float64).tiny))
    verdict = judge(ratio, *LONG)
    saw = f"unfolded by geodesics, the data are {ratio:.1f} times as long as wide"
    if verdict != "no":
        return Finding("compact", verdict, ratio, saw)
    repeated = rules_for(HARMONIC, "a later coordinate repeats an earlier one on data so long")
    if ratio > VERY_LONG:
        repeated += rules_for(("LLE", "ModifiedLLE"), "a later coordinate may repeat an earlier one on data so long")
    return Finding(
        "compact",
        "no",
        ratio,
        saw,
        rules_for(("LTSA", "HessianLLE"), "find the narrow side as well"),
        repeated,
        "look at `dependence_` of a fit; select='independent' leaves repeated coordinates out",
    )


def closed(view: NeighborhoodView) -> Finding:
    """Is there a boundary? A closed manifold, as a sphere or a torus, has no single chart."""
    if view.X is None:
        return unknown("closed", "distances alone have no tangent planes; pass coordinates")
    k = max(RIM_LEAST, RIM_DIRECTION * view.d)
    if k > view.index.shape[1] or RIM_PART * k > view.n:
        return unknown("closed", f"{view.n} points are too few for patches of {k} neighbours")
    patches = principal_patches(view.X, np.arange(view.n), view.index[:, :k], view.d, normals=0)
    count = int(edge_points(patches, view.d).sum())
    expected = view.n ** ((view.d - 1) / view.d)
    share = count / expected
    verdict = "no" if share >= RIM[1] else "yes" if share < RIM[0] else "cannot tell"
    saw = (
        f"{count} of {view.n} points have all of their {k} neighbours on one side; a boundary of the usual length has "
        f"about {1.5 * expected:.0f}"
    )
    if verdict != "yes":
        return Finding("closed", verdict, float(count), saw)
    return Finding(
        "closed",
        "yes",
        float(count),
        saw,
        rules_for(HARMONIC, f"with n_components={view.d + 1} or more their first functions close up again"),
        rules_for(
            CHARTS, f"a closed manifold has no single chart of {view.d} coordinates: some points are torn or folded"
        ),
        f"use n_components={view.d + 1} or more, or cut the data open",
    )


def with_holes(view: NeighborhoodView, crossed: Finding, spread: Finding) -> Finding:
    """Loops of geodesics that nothing fills: persistent cohomology on two sets of up to 120 landmarks."""
    count = min(HOLES, view.n // HOLES_PART)
    if count < HOLES_LEAST:
        return unknown("with holes", f"{view.n} points are too few for landmarks to tell a hole from a gap")
    open_loops = [_open_loops(view, count) for _ in range(2)]
    fewest, most = sorted(open_loops, key=len)
    found = " and ".join(str(len(bars)) for bars in open_loops)
    where = f"two sets of {count} landmarks have {found} loops of geodesics that stay open"
    if len(most) == 0:
        return Finding("with holes", "no", 0.0, where)
    where += f" (the longest from {most[0, 0]:.3g} to {most[0, 1]:.3g})"
    if len(fewest) == 0:
        return Finding("with holes", "cannot tell", float(len(most)), where)
    doubt = ["shortcuts close loops of their own"] if crossed.verdict == "yes" else []
    doubt += ["uneven sampling leaves gaps"] if spread.verdict == "no" else []
    if doubt:
        return Finding("with holes", "cannot tell", float(len(fewest)), f"{where}; but {' and '.join(doubt)}")
    return Finding(
        "with holes",
        "yes",
        float(len(fewest)),
        where,
        (),
        rules_for(GEODESIC, "geodesics go around the hole, which widens it and presses the rest together"),
        "see also `closed`: the hole may be that of a ring, a tube or a torus, or a place without points",
    )


def _open_loops(view: NeighborhoodView, count: int) -> Floats:
    """Birth and death of loops that live from their birth to 2.2 times that, and 1.8 covering radii long."""
    from lowfold.graph._landmarks import choose_landmarks

    run = replace(view.run, rng=np.random.default_rng(view.rng.integers(2**32)))
    chosen = choose_landmarks(view.graph, count, rule="maxmin", run=run)
    cover = float(geodesics(view.graph, chosen, dtype=np.float64, run=view.run).min(axis=0).max())
    bars = loops(view.paths(view.graph, chosen))
    bars = bars[np.isfinite(bars[:, 1]) & (bars[:, 0] > 0)]
    scale = max(cover, float(np.median(view.distances[:, view.k - 1])))
    alive = (bars[:, 1] > LOOP[0] * bars[:, 0]) & (bars[:, 1] - bars[:, 0] > LOOP[1] * scale)
    return np.asarray(bars[alive])


def noisy(view: NeighborhoodView) -> Finding:
    """Variance off the tangent planes that does not vanish with the size of the patch."""
    if view.X is None:
        return unknown("noisy", "distances alone have no tangent planes; pass coordinates")
    if np.isnan(view.noise):
        return unknown("noisy", f"dimension {view.d} of {view.X.shape[1]} columns leaves no direction to see noise in")
    reach = float(np.median(view.distances[:, view.k - 1]))
    share = view.noise / reach if reach > 0 else 0.0
    saw = (
        f"standard deviation {view.noise:.3g} along each direction off the tangent planes, curvature aside; that is "
        f"{share:.1%} of the median distance {reach:.3g} to neighbour {view.k}"
    )
    if share <= NOISY:
        return Finding("noisy", "no", view.noise, saw, rules_for(("HessianLLE", "LTSA"), "tangent planes are sharp"))
    return Finding(
        "noisy",
        "yes",
        view.noise,
        saw,
        rules_for((*HARMONIC, "Isomap", "PCA"), "average over many neighbours or paths"),
        rules_for(("HessianLLE",), "second derivatives enlarge noise")
        + rules_for(("LTSA",), "tangent planes follow the noise"),
        "use more neighbours, as far as `shortcuts` allows",
    )


def agreed(low: Finding, high: Finding, dimensions: tuple[int, int]) -> Finding:
    """One finding where no dimension stands out: what holds for the least and for the most of them.

    Where they disagree, what speaks against a method in both still does, and a warning in one is advice to be safe.
    """
    first, last = dimensions
    doubt = f"no dimension stands out between {first} and {last}"
    rules_in, rules_out = (
        tuple(rule for rule in of_high if rule.method in {other.method for other in of_low})
        for of_high, of_low in ((high.rules_in, low.rules_in), (high.rules_out, low.rules_out))
    )
    if low.verdict != high.verdict:
        saw = f'{doubt}; "{low.verdict}" in {first}: {low.saw}; "{high.verdict}" in {last}: {high.saw}'
        warned = next((found.advice for found in (low, high) if found.rules_out and found.advice), "")
        advice = warned and f"to be safe: {warned}"
        return replace(high, verdict="cannot tell", saw=saw, rules_in=(), rules_out=rules_out, advice=advice)
    if high.verdict == "cannot tell":
        advice = high.advice if low.advice == high.advice else ""
        return replace(high, saw=f"{doubt}: {high.saw}", rules_in=(), rules_out=rules_out, advice=advice)
    saw = f"{doubt}, and the answer is the same for both; for {last}: {high.saw}"
    return replace(high, saw=saw, rules_in=rules_in, rules_out=rules_out)


def few(n: int) -> Callable[[str], Finding]:
    """Every question about too few points."""
    return lambda name: unknown(name, f"{n} points are too few; at least {FEWEST}")
