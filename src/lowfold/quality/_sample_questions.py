"""Questions about the sample: are there enough points and neighbours, and do they lie evenly?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold.quality._findings import Finding, Rule, judge, rules_for, unknown
from lowfold.quality._flatness import no_patches
from lowfold.quality._neighborhood_view import NeighborhoodView
from lowfold.quality._shape import squared_bends

LOCAL = 0.5  # distance to neighbour k over the median distance: beyond it a neighbourhood is no small part
TURN = (0.5, 1.0)  # radians by which the data turn within one neighbourhood: enough points below, too few above
MOST_POINTS = 0.9  # of the points must turn less than is told
EVEN = (0.4, 0.6)  # standard deviation of the logarithm of the density: even below, uneven above


def enough_samples(view: NeighborhoodView, straight: Finding) -> Finding:
    """How far the data turn within one neighbourhood, and what the theorem on graph geodesics says."""
    far = float(np.median(view.distances[:, view.k - 1]) / np.median(view.straight[view.straight > 0]))
    if far > LOCAL:
        return _not_local(view, far, straight)
    if view.patches is None:
        return _unless_curved(no_patches("enough samples", view), view.k, far)
    if view.patches.shape[2] == view.d:
        return Finding(
            "enough samples", "yes", 0.0, f"the data fill all {view.d} dimensions: there is no curvature to follow"
        )
    bend = np.sqrt(np.maximum(squared_bends(view.patches, view.d), 0.0))
    reach = view.distances[view.centers, view.k - 1]
    turn = float(np.quantile(bend * reach, MOST_POINTS))
    verdict = judge(turn, *TURN)
    saw = (
        f"at 90% of {len(bend)} points the data turn by at most {turn:.2g} radians on the way to neighbour {view.k}; "
        f"{_guarantee(view, float(np.quantile(bend, MOST_POINTS)))}"
    )
    if verdict != "no":
        return Finding("enough samples", verdict, turn, saw)
    factor = (turn / TURN[0]) ** view.d
    return Finding(
        "enough samples",
        "no",
        turn,
        saw,
        (),
        rules_for(("Isomap", "LandmarkIsomap"), "geodesics are poor where the sample is thin")
        + rules_for(("LTSA", "HessianLLE", "MVU"), "neighbourhoods are not flat"),
        f"about {factor:.0f} times as many points, or fewer neighbours",
    )


def _not_local(view: NeighborhoodView, far: float, straight: Finding) -> Finding:
    """Where a neighbour is nearly as far as any point: what is not linear as a whole is not flat here either."""
    bent = rules_for(("LTSA", "HessianLLE", "MVU"), "neighbourhoods are not flat")
    return Finding(
        "enough samples",
        "no",
        far,
        f"neighbour {view.k} is {far:.2f} times as far as the median point: a neighbourhood is no small part of them",
        (),
        bent if straight.verdict == "no" else (),
        "more points, or fewer columns: linear methods and TSNE need no small neighbourhoods",
    )


def _unless_curved(finding: Finding, k: int, far: float) -> Finding:
    """What can be said without curvature: how much of it the sample would bear."""
    bearable = TURN[0] / max(far, np.finfo(np.float64).tiny)
    saw = (
        f"{finding.saw}; neighbour {k} is at {far:.2f} of the median distance: enough where the data turn by less than "
        f"{bearable:.1f} radians over that distance"
    )
    return replace(finding, saw=saw)


def enough_neighbors(view: NeighborhoodView, finding: Finding) -> Finding:
    """The same finding, with a word against methods that fit more numbers to a neighbourhood than it has points."""
    d, k = view.d, view.k
    least = {"HessianLLE": d * (d + 3) // 2, "LTSA": d + 1, "ModifiedLLE": d + 1}
    short = {name: need for name, need in least.items() if k < need}
    if not short:
        return finding
    rules = tuple(
        Rule(name, f"needs {need} neighbours in {d} dimensions; the graph has {k}") for name, need in short.items()
    )
    advice = "; ".join(filter(None, [finding.advice, f"n_neighbors={max(short.values())} for {' and '.join(short)}"]))
    return replace(finding, rules_out=finding.rules_out + rules, advice=advice)


def _guarantee(view: NeighborhoodView, bend: float) -> str:
    """The theorem of Bernstein et al. (2000) with its constants estimated from the sample, in words."""
    from lowfold.geometry._reach import branch_separation
    from lowfold.methods.isomap import isomap_guarantee

    eps = float(view.distances[:, view.k - 1].max())
    delta = float(view.distances[:, 0].max())
    if not bend > 0 or not delta > 0:
        return "flat, so that graph distances are bounded by the sampling alone"
    rows = view.landmarks
    s0 = branch_separation(view.X[rows], view.along, 1 / bend) if view.X is not None else np.inf
    try:
        found = isomap_guarantee(1 / bend, s0, eps, delta)
    except InvalidInput as problem:
        return f"the theorem on graph geodesics promises nothing ({str(problem).partition(';')[0]})"
    return f"graph distances are within -{found.lower:.0%} and +{found.upper:.0%} of geodesics, by the theorem"


def even(view: NeighborhoodView) -> Finding:
    """Spread of the local density beyond what an even sample has by chance."""
    from scipy.special import polygamma

    r = view.distances[:, view.k - 1]
    if not (r > 0).all():
        return unknown("even", f"{int((r == 0).sum())} points have {view.k} neighbours at distance 0")
    beyond = float(np.log(r).var() - polygamma(1, view.k) / view.d**2)
    spread = view.d * float(np.sqrt(max(0.0, beyond)))
    verdict = judge(spread, *EVEN)
    saw = (
        f"the logarithm of the density, by the distance to neighbour {view.k}, has a standard deviation of {spread:.2f}"
    )
    if verdict != "no":
        return Finding("even", verdict, spread, saw)
    return Finding(
        "even",
        "no",
        spread,
        saw,
        rules_for(("DiffusionMaps",), "alpha=1 takes the density out")
        + rules_for(("LTSA", "HessianLLE"), "weigh neighbourhoods alike"),
        rules_for(("LLE",), "handles uneven density poorly")
        + rules_for(("LaplacianEigenmaps",), "its limit depends on the density"),
    )
