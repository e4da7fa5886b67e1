"""The list of every generator: for the command line, the tests and the gallery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from lowfold.datasets import _clusters, _curves, _graphs, _hyperspectral, _images, _rolls, _round, _sheets
from lowfold.datasets._graphs import GraphExample
from lowfold.datasets._types import Dataset

Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True)
class Entry(Generic[Result_co]):
    """A generator and one line about it."""

    make: Callable[..., Result_co]
    description: str


SURFACES: dict[str, Entry[Dataset]] = {
    "swiss_roll": Entry(_rolls.swiss_roll, "rectangle rolled into a spiral; flat"),
    "swiss_hole": Entry(_rolls.swiss_hole, "Swiss roll without the middle of its rectangle; flat, not convex"),
    "uneven_swiss_roll": Entry(_rolls.uneven_swiss_roll, "Swiss roll crowded at one corner; flat"),
    "s_curve": Entry(_rolls.s_curve, "rectangle bent into an S; flat"),
    "square": Entry(_sheets.square, "flat square in space"),
    "uneven_square": Entry(_sheets.uneven_square, "flat square in space, crowded at one corner"),
    "corner_planes": Entry(_sheets.corner_planes, "rectangle folded along its middle line; flat"),
    "twin_peaks": Entry(_sheets.twin_peaks, "two peaks and two pits over a square"),
    "saddle": Entry(_sheets.saddle, "z = x^2 - y^2 over a square"),
    "gaussian": Entry(_sheets.gaussian, "bell over normally distributed points"),
    "punched_sphere": Entry(_round.punched_sphere, "sphere with its top cut off at a given height"),
    "sphere": Entry(_round.sphere, "sphere in R^3; closed"),
    "ellipsoid": Entry(_round.ellipsoid, "ellipsoid with three half-axes; closed"),
    "cylinder": Entry(_round.cylinder, "open cylinder; flat, closed around"),
    "torus": Entry(_round.torus, "torus in R^3; closed"),
    "clifford_torus": Entry(_round.clifford_torus, "flat torus in R^4; closed"),
    "moebius_strip": Entry(_round.moebius_strip, "strip with a half twist; not orientable"),
    "circle": Entry(_curves.circle, "circle in R^D; closed curve"),
    "concentric_circles": Entry(_curves.concentric_circles, "circles around one centre; one class each"),
    "moons": Entry(_curves.moons, "two interleaved half circles; one class each"),
    "conic": Entry(_curves.conic, "circle, ellipse or hyperbola in the plane"),
    "toroidal_helix": Entry(_curves.toroidal_helix, "closed curve wound around a torus"),
    "cluster_3d": Entry(_clusters.cluster_3d, "three spheres joined by two segments; not smooth"),
    "union_of_subspaces": Entry(_clusters.union_of_subspaces, "linear subspaces through the origin; one class each"),
    "kernel_pca_toy": Entry(_clusters.kernel_pca_toy, "three Gaussian clouds in the plane; one class each"),
    "occluded_disks": Entry(_images.occluded_disks, "images of a disk moving behind another; two parameters"),
    "rotating_object": Entry(_images.rotating_object, "images of a head turning; one parameter"),
    "rendered_object": Entry(_images.rendered_object, "images of a head: turn, nod, light; three parameters"),
    "word_images": Entry(_images.word_images, 'images of the word "3D" turned by two angles'),
    "hyperspectral_cube": Entry(_hyperspectral.hyperspectral_cube, "spectra of a scene with known materials"),
}

GRAPHS: dict[str, Entry[GraphExample]] = {
    "path_graph": Entry(_graphs.path_graph, "path of n vertices"),
    "ring_graph": Entry(_graphs.ring_graph, "ring of n vertices"),
    "grid_graph": Entry(_graphs.grid_graph, "rectangular grid with the given sides"),
    "torus_graph": Entry(_graphs.torus_graph, "grid closed in every direction, with the given sides"),
    "complete_graph": Entry(_graphs.complete_graph, "all pairs of n vertices joined"),
    "star_graph": Entry(_graphs.star_graph, "one centre joined to n - 1 leaves"),
    "hypercube_graph": Entry(_graphs.hypercube_graph, "hypercube of 2^dim vertices"),
}
