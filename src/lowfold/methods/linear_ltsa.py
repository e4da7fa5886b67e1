"""Linear local tangent space alignment, Zhang, Yang, Zhao & Ge (2007), doi:10.1016/j.neucom.2006.11.007.

X --neighbours--> patches --local PCA--> V_i --align--> K = sum (I - G_i G_i') --linear--> X'K X a = lambda X'X a --> (x
- mean) A
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._linear_graph import LinearGraphMethod, linear_fit
from lowfold.methods._losses import ALIGN, Lowered, alignment
from lowfold.methods._neighborhood import Needs


class LinearLTSA(LinearGraphMethod):
    """The linear map whose patches are affine images of their tangent coordinates: LTSA restricted to linear functions.

    Minimises tr(Y'K Y) with Y'Y = I over y = A'(x - mean), K the alignment matrix of LTSA. Its eigenvalues are none
    below the corresponding ones of `LTSA`.

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
    >>> lowfold.LinearLTSA(2).fit_transform(roll.X).shape
    (300, 2)
    """

    loss: ClassVar[Lowered] = Lowered(alignment, ALIGN + " with the alignment kernel of LTSA", "linear")

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        "Nearest neighbours of each point, itself not counted. None is 10, or 3 n_components where that is more (up to "
        "n / 10), at most n - 1; or all within `radius` if given. Linear LTSA needs more than n_components of them.",
    )

    keeps_neighbors: ClassVar[bool] = True

    per_component: ClassVar[int] = 3  # as in the alignment methods

    def _needs(self) -> Needs:
        return Needs(least=self.n_components + 1, apart=True)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K = self._alignment(data.points(), data.neighbors, run)
        return linear_fit(K, None, data, self.n_components, self.energy, run, {}, center=self.center)

    def _alignment(self, source: Points, neighbors: Neighbors, run: Run) -> SparseOperator:
        """Sum over the patches (each point with its neighbours) of I - G_i G_i'."""
        patches = Patches.around(neighbors, include_self=True)
        alignment, _ = tangent_alignment(patches, geometry_of(source, neighbors), self.n_components, run)
        return align(alignment, run=run)

    def _operator(self) -> SparseOperator:
        """The alignment matrix, rebuilt."""
        return self._alignment(self._trained.points, self.neighbors_, self._run())
