"""Neighbourhood preserving embedding, He, Cai, Yan & Zhang (2005), doi:10.1109/ICCV.2005.167.

X --neighbours--> N --weights--> W --> K = (I - W)'(I - W) --linear--> X'K X a = lambda X'X a --> (x - mean) A
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._lle import reconstruction_alignment
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._linear_graph import LinearGraphMethod, linear_fit
from lowfold.methods._losses import ALIGN, Lowered, alignment
from lowfold.methods._neighborhood import Needs


class NPE(LinearGraphMethod):
    """The linear map under which the neighbours' weights still reconstruct each point: LLE of linear functions.

    Minimises sum_i ||y_i - sum_j w_ij y_j||^2 with Y'Y = I over y = A'(x - mean), with LLE's weights w.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: Y'Y = I, columns centred
    components_ : array (n_components, D), the rows a'; mean_ : array (D,)
    eigenvalues_ : array (n_components,), ascending
    rank_ : int, directions of the data that were used
    neighbors_, n_neighbors_, component_labels_ : the neighbourhoods and their pieces

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(300, random_state=0)
    >>> lowfold.NPE(2).fit_transform(roll.X).shape
    (300, 2)
    """

    loss: ClassVar[Lowered] = Lowered(alignment, ALIGN + ", K = (I - W)'(I - W)", "linear")

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        "Nearest neighbours of each point, itself not counted. None is 10, or 3 n_components where that is more (up to "
        "n / 10), at most n - 1; or all within `radius` if given. NPE needs more than n_components of them.",
    )
    reg: float = param(
        0.001,
        Real(0),
        "Ridge of the weights, as a share of the trace of each local Gram matrix; 0 takes the weights of least norm.",
    )

    keeps_neighbors: ClassVar[bool] = True

    per_component: ClassVar[int] = 3  # as in the alignment methods

    def _needs(self) -> Needs:
        return Needs(least=self.n_components + 1, apart=True)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K = self._alignment(data.points(), data.neighbors, run)
        return linear_fit(K, None, data, self.n_components, self.energy, run, {}, center=self.center)

    def _alignment(self, source: Points, neighbors: Neighbors, run: Run) -> SparseOperator:
        """(I - W)'(I - W)."""
        alignment, _ = reconstruction_alignment(
            Patches.around(neighbors),
            geometry_of(source, neighbors),
            self.n_components,
            run,
            reg=float(self.reg),
            reg_when="always",
            kind="affine",
        )
        return align(alignment, run=run)

    def _operator(self) -> SparseOperator:
        """(I - W)'(I - W), rebuilt."""
        return self._alignment(self._trained.points, self.neighbors_, self._run())
