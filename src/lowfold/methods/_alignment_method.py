"""Methods whose kernel aligns patches: LLE, LTSA, Hessian LLE. They use directed neighbourhoods, not a graph.

Connected means here that the kernel's null space is right: for LLE one closed class of the directed graph, for LTSA and
Hessian LLE patches that hang together and cover every point.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np

from lowfold._core import errors
from lowfold._core.limits import Choice
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._detours import THIN
from lowfold.graph._source import Points, Sheet
from lowfold.graph._types import Graph
from lowfold.kernels._alignment import Alignment, align, kernel_sum
from lowfold.kernels._bridge_patches import LOOSE, bridge_alignment
from lowfold.kernels._patches import Geometry, Patches, geometry_of, twins
from lowfold.kernels._tangent import tangents
from lowfold.methods._alignment_mass import choose_masses, diagonal_mass
from lowfold.methods._fit import Connected, Extension, Fit
from lowfold.methods._graph_method import WeightMethod
from lowfold.methods._independent import dependence
from lowfold.methods._landmarks import PLACING_BY_WEIGHTS, landmark_stages
from lowfold.methods._losses import ALIGN, Lowered, alignment
from lowfold.methods._normalize import LENGTHS
from lowfold.methods._parameters import NORMALIZATIONS
from lowfold.methods._placing.maps import Barycentric, NearestCorner
from lowfold.methods._placing.patches import PatchMap
from lowfold.methods._placing.sheets import plane_map
from lowfold.methods._select import CHOSEN_ROUGH, Doubt, selected
from lowfold.methods._sparse_stages import alignment_stages
from lowfold.methods._stages import Stages
from lowfold.spectral._doors import smallest
from lowfold.spectral._held import ENOUGH_TO_TELL, held_columns
from lowfold.spectral._types import REPEATED, Eigenpairs

NULL = 1e-13  # of the kernel's largest diagonal entry: eigenvalues below are 0 up to rounding
LOOKED_AT = 200  # patches, about, whose directions are counted
ZETA = 0.25  # say of the energies in a choice of eigenvectors: those of reconstruction weights are rough ones
# Of coordinates that hold a few points, and of repeated ones, where coordinates keep lengths
AFFINE_WAYS_OUT = (
    "mass='kernel' does not let points count that neighbourhoods hardly hold, and more n_neighbors hold them",
    "use select='independent', or neighbourhoods that bends do not fill: fewer n_neighbors, more points",
)

AlignmentOf = Callable[[Connected, Geometry, Run], tuple[Alignment, dict[str, Any]]]


class AlignmentMethod(WeightMethod):
    """Adds `neighbors_`; a method writes `_alignment` and its recipe."""

    stages: ClassVar[Stages] = landmark_stages(alignment_stages, PLACING_BY_WEIGHTS, charted=True)
    loss: ClassVar[Lowered] = Lowered(alignment, ALIGN)

    normalization: str = param(
        "natural",
        Choice((*NORMALIZATIONS, LENGTHS)),
        "Output as the theory gives it, with Y'Y = I, with unit variance in every column, or in the units of the data: "
        '"lengths" fits the edges of the graph, the longest axis first. Where a sheet can be laid flat, LTSA and '
        "HessianLLE keep its distances then. One linear map, undone by `inverse_transform`.",
    )

    keeps_neighbors: ClassVar[bool] = True
    charted: ClassVar[bool] = True
    per_component: ClassVar[int] = 3  # a patch with hardly more points than directions says nothing: measured on images
    per_point: ClassVar[tuple[str, ...]] = ("local_errors_", "robust_weights_", "weight_counts_")

    @abstractmethod
    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        """Patches and factors of the kernel, and fitted attributes that come with them."""

    @final
    def _operator(self) -> SparseOperator:
        return aligned(self._alignment, self._kept(), self.n_components, self._run())[0]

    @final
    def _kept(self) -> Connected:
        """The neighbourhoods and bridges that the model keeps."""
        few = getattr(self, "landmarks_", None) is not None
        return Connected(
            self._extend.trained.source if few else self._trained.source,
            self.neighbors_,
            bridges=self.bridges_,
            labels=self.component_labels_,
            second=getattr(self, "class_neighbors_", None),
        )

    @property
    def graph_(self) -> Graph:  # type: ignore[override]
        """The neighbourhoods as a symmetric graph (union), bridges included; made when asked for."""
        return self._kept().graph


def aligned(of: AlignmentOf, data: Connected, d: int, run: Run) -> tuple[SparseOperator, dict[str, Any]]:
    """K of all patches, those across bridges included, and what came with them."""
    geometry = geometry_of(data.source, data.neighbors)
    alignment, extra = of(data, geometry, run)
    K = align(alignment, run=run)
    if len(data.bridges):
        across = bridge_alignment(data.bridges, data.neighbors, data.labels, geometry_across(data), d, run)
        K = kernel_sum(K, align(across, run=run), 1.0 if alignment.affine else LOOSE)
    return K, extra


def geometry_across(data: Connected) -> Geometry:
    """Of patches across bridges: there is no surface to go along."""
    source = data.source
    return geometry_of(Points(source.X, source.metric) if isinstance(source, Sheet) else source, data.neighbors)


def bottom(K: SparseOperator, data: Connected, m: int, run: Run, *, mass: str = "points") -> Eigenpairs:
    """Eigenvectors 2..m+1 from the bottom; repeated points get the very place of the first of them."""
    pairs = smallest(K, m, mass=diagonal_mass(K) if mass == "kernel" else None, null=np.ones((data.n, 1)), run=run)
    twin = np.flatnonzero(twins(data.neighbors))
    if len(twin) == 0:
        return pairs
    vectors = pairs.vectors.copy()  # the kernel holds them together up to the size of the eigenvalue only
    vectors[twin] = vectors[data.neighbors.indices[data.neighbors.indptr[twin]]]
    return replace(pairs, vectors=vectors)


def selected_bottom(
    K: SparseOperator,
    data: Connected,
    d: int,
    how: str,
    row: Extension,
    extra: dict[str, Any],
    run: Run,
    *,
    masses: tuple[str, ...] = (),
    leading_doubt: Doubt | None = None,
) -> Fit:
    """The fit of an alignment kernel: its bottom eigenvectors, or independent combinations of more of them.

    `masses` are tried until no coordinate holds a few points alone; the last one is taken as it is. Without any, points
    count one each.
    Roots of the eigenvalues grow with a coordinate's waves as those of a Laplacian do: K is nearly its square.
    """

    def fit_of(m: int) -> Fit:
        for mass in masses or ("points",):
            pairs = bottom(K, data, m, run, mass=mass)
            if not len(held_columns(pairs.vectors[:, :d])):
                break
        extend = plane_map(data, pairs.vectors) or row
        attributes = {**extra, "mass_": mass} if masses else extra
        return Fit(pairs.vectors, pairs, graph=None, extend=extend, invert=Barycentric(), extra=attributes)

    doubts = leading_doubt, CHOSEN_ROUGH
    fit = selected(fit_of, data, d, how, _root, run, zeta=ZETA, doubts=doubts)
    error = 0.0 if fit.pairs is None else float(fit.pairs.values.sum())
    return replace(fit, extra={**fit.extra, "reconstruction_error_": error})


def _root(values: Floats) -> Floats:
    return np.sqrt(np.maximum(values, 0.0))


def affine_fit(K: SparseOperator, data: Connected, method: Any, extra: dict[str, Any], run: Run) -> Fit:
    """The fit of a kernel whose null vectors are affine functions of local coordinates, which place new points."""
    d = method.n_components
    masses = choose_masses(method.mass, K, data.source, d)
    patches = Patches.around(data.neighbors)
    row = PatchMap(patches.indptr, patches.members)
    fit = selected_bottom(K, data, d, method.select, row, extra, run, masses=masses)
    if fit.pairs is not None:
        size = 1.0 if fit.extra["mass_"] == "kernel" else float(K.diagonal().max())
        more = method.select == "leading" and _has_more_null_vectors(fit.pairs, size, d, type(method).__name__)
        thin = not more and _tell_thin(patches, geometry_of(data.source, data.neighbors), fit.coordinates, run)
        fit = replace(fit, doubtful=fit.doubtful or more or thin)
    return fit


def _tell_thin(patches: Patches, geometry: Geometry, Y: Floats, run: Run) -> bool:
    """Say that the patches of a curve, or of a surface with d - 1 directions, do not hold the d coordinates Y; whether
    that is so.
    """
    size, d = int(np.median(patches.sizes)), Y.shape[1]
    some = np.flatnonzero(patches.sizes == size)[:: max(1, len(patches.sizes) // LOOKED_AT)]
    if d < 2 or size <= d or len(some) == 0 or len(Y) < ENOUGH_TO_TELL:
        return False
    sigma = tangents(geometry.centred(patches.members[patches.indptr[some][:, None] + np.arange(size)]), d).sigma
    width = np.median(sigma / np.maximum(sigma[:, :1], np.finfo(np.float64).tiny), axis=0)
    thin = bool(width[0] > 0 and width[-1] < THIN and dependence(Y, run).max() <= REPEATED)  # else that is told
    if thin:
        m = int((width >= THIN).sum())
        warn(
            f"neighbourhoods have {m} direction{'s' if m > 1 else ''} and hardly more ({width[m]:.1%} of the first); "
            f"later coordinates show bends or noise: use n_components={m}, or more n_neighbors",
            errors.AccuracyWarning,
        )
    return thin


def _has_more_null_vectors(pairs: Eigenpairs, size: float, d: int, name: str) -> bool:
    """Whether there are more than d, with a warning."""
    following = float(pairs.values[-1]) + pairs.gap
    if following <= NULL * size:
        warn(
            f"the kernel of {name} has more than {d} null vectors (the next eigenvalue is {following:.1g}), so that "
            "which of their combinations are the coordinates is rounding; patches hold together by too few points, or "
            "have fewer directions than n_components: use more n_neighbors or fewer n_components",
            errors.AccuracyWarning,
        )
    return following <= NULL * size


def patch_corner(part: Connected, *, d: int) -> Fit | None:
    """A piece that fits into one patch has its local coordinates; the directions it lacks are 0."""
    if part.n > d + 2:
        return None
    P = geometry_of(part.source, part.neighbors).centred(np.arange(part.n)[None])
    return Fit(tangents(P, d).V[0], None, None, NearestCorner(), Barycentric())
