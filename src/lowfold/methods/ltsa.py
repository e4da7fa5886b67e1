"""Local tangent space alignment, Zhang & Zha (2004), doi:10.1137/S1064827502419154.

X --neighbours--> N --patches--> X_i --local PCA--> V_i --projector--> W_i = I - G_i G_i' --sum--> K
    --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Flag
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods._alignment_method import AFFINE_WAYS_OUT, AlignmentMethod, affine_fit, aligned, patch_corner
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._in_blocks import InBlocks, with_landmarks
from lowfold.methods._landmarks import Landmarked
from lowfold.methods._neighborhood import ByPatches, Needs
from lowfold.methods._parameters import WIDE_NEIGHBORS, Massed, Selected


class LTSA(Massed, Selected, Landmarked, AlignmentMethod):
    """Embed so that the tangent coordinates of every neighbourhood are an affine image of its embedding.

    Each patch has local coordinates by PCA, X_i H = U S V'; W_i = I - G_i G_i' with G_i = [1 / sqrt(K), V_d] takes
    affine functions of them out, and Y minimises tr(Y' K Y), K = sum_i S_i' W_i S_i, with Y'Y = I and Y'1 = 0: the
    bottom eigenvectors after the constant. Exact for manifolds that are locally isometric to a flat region, convex or
    not; the scale of each coordinate is lost (Y'Y = I).

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: as `mass` says, orthonormal columns, each summing to 0
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    mass_ : "points" or "kernel", what was used
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    local_errors_ : array (n,), sum of the singular values of each patch beyond n_components: 0 where it is flat, NaN
        in pieces that were not embedded or fit into one patch
    reconstruction_error_ : float, tr(Y' K Y) = sum of eigenvalues_
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    landmarks_ : array of indices, or None; what else is said of points or neighbours belongs to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(800, random_state=0)
    >>> lowfold.LTSA(2, n_neighbors=10).fit_transform(roll.X).shape
    (800, 2)
    """

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        WIDE_NEIGHBORS + "LTSA needs more than n_components of them (one more without `include_self`).",
    )
    include_self: bool = param(
        True,
        Flag(),
        "Whether a point belongs to its own patch. Without, a point that is nobody's neighbour is in "
        "no patch: its row of K is zero; such points are counted in a warning and joined as "
        "`on_disconnected` says.",
    )

    in_blocks: ClassVar[InBlocks] = with_landmarks
    ways_out: ClassVar[tuple[str, str] | None] = AFFINE_WAYS_OUT

    def _needs(self) -> Needs:
        d, own = self.n_components, bool(self.include_self)
        least = d + (1 if own else 2)
        corner = partial(patch_corner, d=d)
        return Needs(least=least, distinct=True, hangs=ByPatches(d, own), corner=corner)

    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        patches = Patches.around(data.neighbors, include_self=bool(self.include_self))
        alignment, errors = tangent_alignment(patches, geometry, self.n_components, run)
        return alignment, {"local_errors_": errors}

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K, errors = aligned(self._alignment, data, self.n_components, run)  # sum of I - G_i G_i' over the patches
        return affine_fit(K, data, self, errors, run)
