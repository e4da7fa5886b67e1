"""Hessian LLE, Donoho & Grimes (2003), doi:10.1073/pnas.1031596100.

X --neighbours--> N --patches--> X_i --local PCA--> V_i --quadratics--> Q_i --sum Q_i Q_i'--> K --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._hessian import hessian_alignment, quadratic_dimension
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_method import AFFINE_WAYS_OUT, AlignmentMethod, affine_fit, aligned, patch_corner
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.methods._in_blocks import InBlocks, with_landmarks
from lowfold.methods._landmarks import Landmarked
from lowfold.methods._neighborhood import ByPatches, Needs
from lowfold.methods._parameters import WIDE_NEIGHBORS, Massed, Selected
from lowfold.methods._select import combined

FLAT = 1e-14  # of the largest eigenvalue: below it a direction of the anchor's patch is rounding


def _anchor_inside(method: Any, data: Data) -> None:
    if method.anchor is not None and method.anchor >= data.n:
        raise InvalidInput(f"anchor must be the number of a point, at most {data.n - 1}; got {method.anchor}")


class HessianLLE(Massed, Selected, Landmarked, AlignmentMethod):
    """Embed by the functions whose second derivatives along the manifold vanish.

    H(f) = integral of ||Hess f||^2 is zero exactly for affine functions of isometric coordinates. Each patch
    estimates the Hessian by the part Q_i of quadratics in its tangent coordinates that is orthogonal to affine
    functions; Y are the bottom eigenvectors, after the constant, of K = sum_i S_i' Q_i Q_i' S_i. Exact for manifolds
    locally isometric to an open connected region, which need not be convex. Second derivatives are sensitive to
    noise.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: as `anchor` and `mass` say
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    mass_ : "points" or "kernel", what was used
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    local_errors_ : array (n,), sum of the singular values of each patch beyond n_components: 0 where it is flat, NaN
        in pieces that were not embedded or fit into one patch
    reconstruction_error_ : float, tr(V' K V) = sum of eigenvalues_
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    landmarks_ : array of indices, or None; what else is said of points or neighbours belongs to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_hole(800, random_state=0)
    >>> lowfold.HessianLLE(2, n_neighbors=12).fit_transform(roll.X).shape
    (800, 2)
    """

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        WIDE_NEIGHBORS + "At least d_q = 1 + d + d(d + 1)/2 for d components: 3, 6, 10 for d = 1, "
        "2, 3; None is at least that. For one component take 10 or more.",
    )
    include_self: bool | None = param(
        None,
        Flag(),
        Null("n_components > 1"),
        "Whether a point belongs to its own patch. Without, a point that is nobody's neighbour has a "
        "zero row in K and is joined as `on_disconnected` says. With, points at an end share one "
        "patch; for n_components = 1, where a patch gives a single condition, that leaves coordinates "
        "undetermined. None is yes from two components on.",
    )
    anchor: int | None = param(
        None,
        Int(0),
        Null("all points"),
        "Scale of the coordinates. None: V'V = I over all points. A point's number: over that point's "
        "neighbourhood N_0 (the point included), Y = V R^(-1/2) with R = sum over N_0 of v v', as "
        "Donoho & Grimes do, so that lengths are right near it. Where pieces are embedded by "
        "themselves, only the one with the point is scaled so.",
    )

    checks: ClassVar[tuple[Check, ...]] = (*AlignmentMethod.checks, _anchor_inside)

    in_blocks: ClassVar[InBlocks] = with_landmarks
    ways_out: ClassVar[tuple[str, str] | None] = AFFINE_WAYS_OUT

    def _needs(self) -> Needs:
        d = self.n_components
        hangs = ByPatches(d, self._own())
        least, corner = quadratic_dimension(d), partial(patch_corner, d=d)
        return Needs(least=least, distinct=True, hangs=hangs, corner=corner)

    def _own(self) -> bool:
        """Whether a point belongs to its own patch."""
        return self.n_components > 1 if self.include_self is None else bool(self.include_self)

    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        patches = Patches.around(data.neighbors, include_self=self._own())
        alignment, errors = hessian_alignment(patches, geometry, self.n_components, run)
        return alignment, {"local_errors_": errors}

    def _recipe(self, data: Connected, run: Run) -> Fit:
        anchor = self._anchor_in(data)
        K, errors = aligned(self._alignment, data, self.n_components, run)  # sum of Q_i Q_i' over the patches
        fit = affine_fit(K, data, self, errors, run)
        return (
            fit if anchor is None else combined(fit, anchoring(fit.coordinates, Patches.around(data.neighbors), anchor))
        )

    def _anchor_in(self, data: Connected) -> int | None:
        """The anchor's place in a piece: its own piece is scaled by it, the others by all their points."""
        if self.anchor is None or data.rows is None:
            return self.anchor
        inside = np.flatnonzero(data.rows == self.anchor)
        if len(inside) == 0 and self.on_disconnected == "largest":
            raise InvalidInput(f"anchor = {self.anchor} is not in the largest component, which alone is embedded")
        return int(inside[0]) if len(inside) else None


def anchoring(V: Floats, patches: Patches, anchor: int) -> Floats:
    """R^(-1/2), R = sum over the anchor's patch of v v'."""
    N0 = patches.members[patches.indptr[anchor] : patches.indptr[anchor + 1]]
    values, E = stacked_eigh(V[N0].T @ V[N0])
    if values[0] <= FLAT * values[-1]:
        raise InvalidInput(
            f"the neighbourhood of point {anchor} does not span {V.shape[1]} directions in the embedding; choose "
            "another anchor, or anchor=None"
        )
    return np.asarray((E / np.sqrt(values)) @ E.T)
