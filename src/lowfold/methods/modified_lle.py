"""Modified LLE, Zhang & Wang (2007), Advances in Neural Information Processing Systems 19, pp. 1593-1600.

X --neighbours--> N --several weights--> W_i (k x s_i) --sum--> K = sum_i (e_i 1' - W_i)(e_i 1' - W_i)'
    --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import modified_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_method import AlignmentMethod, aligned, patch_corner, selected_bottom
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._in_blocks import InBlocks, with_landmarks
from lowfold.methods._landmarks import Landmarked
from lowfold.methods._neighborhood import ByClosedClasses, Needs
from lowfold.methods._parameters import WIDE_NEIGHBORS, Selected
from lowfold.methods._placing.patches import ReconstructionRow
from lowfold.methods._select import LEADING_ROUGH


class ModifiedLLE(Selected, Landmarked, AlignmentMethod):
    """LLE with several weight vectors per point, which makes it nearly isometric and stable in n_neighbors.

    Where a point's local Gram matrix is nearly singular many weights rebuild it equally well, and the one that the
    ridge picks is arbitrary. Here all of them count: Y minimises sum_i sum_l ||y_i - sum_j w_ijl y_j||^2 over the s_i
    weight vectors of each point, with Y'Y = I and Y'1 = 0.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: orthonormal columns, each summing to 0
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    reconstruction_error_ : float, sum of eigenvalues_
    weight_counts_ : array (n,), number s_i of weight vectors of each point
    landmarks_ : array of indices, or None; what else is said of points or neighbours belongs to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(600, random_state=0)
    >>> lowfold.ModifiedLLE(2, n_neighbors=12).fit_transform(curve.X).shape
    (600, 2)
    """

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        WIDE_NEIGHBORS + "More than n_components are needed.",
    )
    reg: float = param(
        0.001,
        Real(0),
        "Ridge of the weights that all vectors of a point share, as a share of the trace of its local Gram matrix.",
    )

    in_blocks: ClassVar[InBlocks] = with_landmarks
    ways_out: ClassVar[tuple[str, str] | None] = (
        "more n_neighbors or a larger reg hold them",
        "use select='independent', or LTSA, whose coordinates keep lengths",
    )

    def _needs(self) -> Needs:
        d = self.n_components
        return Needs(least=d + 1, distinct=True, hangs=ByClosedClasses(), corner=partial(patch_corner, d=d))

    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        patches = Patches.around(data.neighbors)
        alignment, counts = modified_alignment(patches, geometry, self.n_components, run, reg=float(self.reg))
        return alignment, {"weight_counts_": counts}

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K, counts = aligned(self._alignment, data, self.n_components, run)
        row = ReconstructionRow(float(self.reg), "always", "affine")
        return selected_bottom(K, data, self.n_components, self.select, row, counts, run, leading_doubt=LEADING_ROUGH)
