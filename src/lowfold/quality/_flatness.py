"""Can a flat picture keep the lengths? Curvature, change of scale, convexity: what it takes, and how far it is met."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from lowfold._core.errors import LowfoldError
from lowfold._core.types import Floats
from lowfold.graph._conformal import conformal_factors, conformal_lengths
from lowfold.graph._edge_map import edge_map
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric
from lowfold.quality._findings import Finding, Rule, judge, rules_for, unknown
from lowfold.quality._local import edge_lengths
from lowfold.quality._neighborhood_view import NeighborhoodView, isomap_residual
from lowfold.quality._residuals import between, classical, residual
from lowfold.quality._shape import squared_curvature

GEODESIC = ("Isomap", "LandmarkIsomap", "KernelIsomap", "ConformalIsomap")
HARMONIC = ("LaplacianEigenmaps", "DiffusionMaps")

FLAT = (0.2, 0.4)  # curvature times the squared mean geodesic: flat below, curved above
FITS, GOOD, POOR = 0.01, 0.03, 0.05  # residual variance: fits as it is; fits; does not fit
FOLDED = 2.0  # times the residual variance of a flat cube: whole spheres of 5 to 7 dimensions leave 2.2 to 3.1 times it
UNDONE, LEFT = 0.5, 0.7  # of the residual with plain lengths: local spacing has undone the change of scale; it has not
BETWEEN = 0.98  # times sqrt(m): half of 1.96, the ranks between which the median of m values lies with 95%
CHART = 0.1  # relative error of a chart's edges, above which it says nothing of straight lines
CONVEX = 0.003  # residual variance of Isomap: a convex region leaves about 0.2%
# 99% quantile of geodesic over chart distance beyond that of a cube: convex below, not above; a chart whose edges are
# wrong by a tenth bends lengths by as much.
ROUND = (0.05, 0.1)
# Times the noise over the distance to the farthest neighbour: what zigzags through noise add to that quantile, at most.
ZIGZAG = 0.5


def isometric(view: NeighborhoodView, straight: Finding) -> Finding:
    """Gaussian curvature: zero where a flat picture can keep all lengths. A plane is flat as it is."""
    if straight.verdict == "yes":
        return Finding("isometric", "yes", 0.0, "the data are linear: flat as they are", *_flat_rules("yes"))
    if view.d == 1:
        return Finding("isometric", "yes", 0.0, "a curve can be laid straight without stretching", *_flat_rules("yes"))
    if view.patches is None:
        return _by_isomap(view)
    products = np.sort(squared_curvature(view.patches, view.d, noisy=view.is_noisy))
    length = float(view.along[np.triu_indices(len(view.along), 1)].mean())
    middle, reach = len(products) / 2, BETWEEN * np.sqrt(len(products))
    places = (middle - reach, middle, middle + reach)
    low, value, high = (
        float(np.sqrt(max(0.0, products[int(np.clip(place, 0, len(products) - 1))]))) * length**2 for place in places
    )
    verdict = "yes" if high < FLAT[1] and value < FLAT[0] else "no" if low > FLAT[0] else "cannot tell"
    excess = float(np.degrees(np.sqrt(3) / 4 * value))
    turned = f"{excess:.2g}" if excess < 360 else "more than a full turn"
    saw = (
        f"curvature times the squared mean geodesic {length:.4g} is {value:.2g} (median of {len(products)} patches, "
        f"95%: {low:.2g} to {high:.2g}): the angles of a triangle so large differ from 180 degrees by {turned}"
    )
    if verdict == "no" and view.patch_size() > view.safe:
        verdict = "cannot tell"
        saw += f"; but patches of {view.patch_size()} neighbours reach beyond a shortcut"
    return Finding("isometric", verdict, value, saw, *_flat_rules(verdict))


def _flat_rules(verdict: str) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    keep = ("Isomap", "MVU", "HessianLLE", "LTSA")
    if verdict == "yes":
        return rules_for(keep, "a flat picture that keeps lengths exists, up to holes and closing"), ()
    if verdict == "no":
        promise = rules_for((*HARMONIC, "TSNE"), "promise neighbours, not lengths")
        return promise, rules_for(
            ("Isomap", "MVU", "HessianLLE"), "no flat picture keeps the lengths of a curved surface"
        )
    return (), ()


def no_patches(name: str, view: NeighborhoodView) -> Finding:
    if view.X is None:
        return unknown(name, "distances alone have no tangent planes; pass coordinates")
    return unknown(
        name,
        f"{view.n} points are too few for patches of {view.patch_size()} neighbours, which a quadratic fit in {view.d} "
        "dimensions takes",
    )


def _by_isomap(view: NeighborhoodView) -> Finding:
    """What geodesics say of data without patches: whether they fit a flat picture as well as those of a flat cube."""
    missing = no_patches("isometric", view)
    if view.X is None:
        return missing
    left, usual = isomap_residual(view), isomap_residual(_even_cube(view))
    saw = (
        f"{missing.saw}; Isomap in {view.d} leaves {left:.2%} of the variance of geodesics, of an even sample of a "
        f"flat cube, as large, {usual:.2%}: "
    )
    if left <= FOLDED * usual:
        return replace(missing, saw=f"{saw}nothing here speaks against a flat picture")
    against = rules_for(GEODESIC[:2], f"geodesics do not fit a flat picture of {view.d} dimensions")
    return replace(missing, saw=f"{saw}the data are curved, or flat with gaps", rules_out=against)


def _none() -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    return (), ()


def conformal(view: NeighborhoodView, flat: Finding, shut: Finding) -> Finding:
    """Does measuring in units of the local spacing make the data flat?"""
    if shut.verdict == "yes":
        return Finding(
            "conformal", "no", float("nan"), "a closed manifold has no chart, with or without change of scale"
        )
    found = view.graph
    factors = conformal_factors(view.neighbors(view.k))
    scaled = view.paths(conformal_lengths(found, factors), view.landmarks)
    after = residual(scaled, between(classical(scaled, view.d, view.run)[0]))
    before = isomap_residual(view)
    saw = (
        f"in {view.d} dimensions Isomap leaves {before:.2%} of the variance of geodesics; {after:.2%} with these in "
        "units of the local spacing"
    )
    if flat.verdict == "yes":
        saw += "; the data are isometric, which is more"
        verdict, rules = "yes", _none()
    elif before < FITS:
        saw += "; without change of scale the fit is good"
        verdict, rules = "yes", _none()
    elif after < GOOD and after < UNDONE * before:
        verdict = "yes"
        rules = (rules_for(("ConformalIsomap",), "undoes the change of scale from place to place"), ())
    elif after > POOR or after > LEFT * before:
        verdict, rules = (
            "no",
            ((), rules_for(("ConformalIsomap",), "local spacing does not tell the change of scale here")),
        )
    else:
        verdict, rules = "cannot tell", _none()
    return Finding("conformal", verdict, after, saw, *rules)


def convex(view: NeighborhoodView, straight: Finding, flat: Finding, shut: Finding, holed: Finding) -> Finding:
    """Do geodesics go straight in a chart that keeps lengths? Of linear data the plane itself is one, noisy or not."""
    if shut.verdict == "yes":
        return Finding("convex", "no", float("nan"), "a closed manifold is no convex region", (), _bent_rules())
    if holed.verdict == "yes":
        return Finding("convex", "no", holed.value, "there is a hole, and geodesics go around it", *_convex_rules("no"))
    if flat.verdict != "yes":
        return unknown("convex", "asked of data of which a flat picture can keep the lengths; see `isometric`")
    planar = straight.verdict == "yes"
    chart, error = (view.plane[0], _zigzag(view)) if planar else _chart(view)
    if chart is not None and (planar or error < CHART):
        value, usual = _bending(view.along, between(chart)), _usual_bending(view)
        verdict = judge(value - usual, ROUND[0], ROUND[1] + error)
        where = "the best plane" if planar else f"a chart that keeps lengths of edges within {error:.1%}"
        saw = (
            f"in {where}, geodesics of 99% of the far pairs are at most {value:.2f} times as long as straight lines, "
            f"compared with the median pair; an even sample of a cube, as large, has {usual:.2f}"
        )
        return Finding("convex", verdict, value, saw, *_convex_rules(verdict))
    left = isomap_residual(view)
    saw = f"Isomap leaves {left:.2%} of the variance of geodesics in {view.d} dimensions; a convex region about 0.2%"
    verdict = "yes" if left < CONVEX else "cannot tell"
    return Finding("convex", verdict, left, saw, *_convex_rules(verdict))


def _zigzag(view: NeighborhoodView) -> float:
    """What noise may add to the ratio of geodesics and straight lines."""
    reach = float(np.median(view.distances[:, view.k - 1]))
    return 0.0 if np.isnan(view.noise) or reach == 0 else ZIGZAG * view.noise / reach


def _bending(along: Floats, straight: Floats) -> float:
    """Geodesic over straight distance of the far pairs: the 99% quantile over the median."""
    far = along > 0.5 * np.median(along)
    ratio = along[far] / np.maximum(straight[far], np.finfo(np.float64).tiny)
    return float(np.quantile(ratio / np.median(ratio), 0.99))


def _usual_bending(view: NeighborhoodView) -> float:
    """The same of an even sample of a cube of dimension d with as many points and neighbours."""
    other = _even_cube(view)
    along = other.paths(other.neighbors(view.k).union(), other.landmarks)
    return _bending(along, other.straight) if np.isfinite(along).all() else 1.0


def _even_cube(view: NeighborhoodView) -> NeighborhoodView:
    cube = view.rng.random((view.n, view.d))
    return NeighborhoodView(Points(cube, resolve_metric("euclidean", None, cube)), view.k, view.d, view.rng, view.run)


def _chart(view: NeighborhoodView) -> tuple[Floats | None, float]:
    """Coordinates of the landmarks by LTSA, mapped linearly so that edges keep their lengths, and their error."""
    from lowfold.methods.ltsa import LTSA

    if view.X is None:
        return None, np.inf
    k = min(view.n - 1, max(min(view.k, 10), view.d + 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Y = np.asarray(LTSA(view.d, n_neighbors=k, n_jobs=view.run.n_jobs).fit_transform(view.X))
        except LowfoldError:
            return None, np.inf
    Z = Y @ edge_map(Y, view.graph)
    return Z[view.landmarks], edge_lengths(view.graph, Z).value


def _bent_rules() -> tuple[Rule, ...]:
    return rules_for(GEODESIC, "need a convex region: geodesics around a gap are longer than in the flat picture")


def _convex_rules(verdict: str) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    if verdict == "no":
        return rules_for(
            ("HessianLLE", "LTSA"), "look at neighbourhoods only, so that gaps do not matter"
        ), _bent_rules()
    return (
        (rules_for(GEODESIC[:2], "exact for a flat convex region, in the limit of many points"), ())
        if verdict == "yes"
        else ((), ())
    )
