"""Neighbourhood preserving embedding, He, Cai, Yan & Zhang (2005), doi:10.1109/ICCV.2005.167.

X --neighbours--> N --weights--> W --> K = (I - W)'(I - W) --linear--> X'K X a = lambda X'X a --> (x - mean) A
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.limits import Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._lle import reconstruction_alignment
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.methods._linear_graph import LinearAlignment
from lowfold.methods._losses import ALIGN, Lowered, alignment


class NPE(LinearAlignment):
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

    reg: float = param(
        0.001,
        Real(0),
        "Ridge of the weights, as a share of the trace of each local Gram matrix; 0 takes the weights of least norm.",
    )

    def _aligned(self, source: Points, neighbors: Neighbors, run: Run) -> SparseOperator:
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
