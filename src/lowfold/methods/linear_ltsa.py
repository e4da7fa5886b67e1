"""Linear local tangent space alignment, Zhang, Yang, Zhao & Ge (2007), doi:10.1016/j.neucom.2006.11.007.

X --neighbours--> patches --local PCA--> V_i --align--> K = sum (I - G_i G_i') --linear--> X'K X a = lambda X'X a
    --> (x - mean) A
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods._linear_graph import LinearAlignment
from lowfold.methods._losses import ALIGN, Lowered, alignment


class LinearLTSA(LinearAlignment):
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

    def _aligned(self, source: Points, neighbors: Neighbors, run: Run) -> SparseOperator:
        """Sum over the patches (each point with its neighbours) of I - G_i G_i'."""
        patches = Patches.around(neighbors, include_self=True)
        alignment, _ = tangent_alignment(patches, geometry_of(source, neighbors), self.n_components, run)
        return align(alignment, run=run)
