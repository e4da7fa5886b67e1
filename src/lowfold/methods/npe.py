"""Neighbourhood preserving embedding, He, Cai, Yan & Zhang (2005), doi:10.1109/ICCV.2005.167.

X --neighbours--> N --weights--> W --> K = (I - W)'(I - W) --linear--> X'K X a = lambda X'X a --> (x - mean) A
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._lle import reconstruction_alignment
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_graph import LINEAR_GRAPH_LIMITS, LinearGraphMethod


class NPE(LinearGraphMethod):
    """The linear map under which the neighbours' weights still reconstruct each point: LLE of linear functions.

    Minimises sum_i ||y_i - sum_j w_ij y_j||^2 with Y'Y = I over y = A'(x - mean), with LLE's weights w.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        NPE needs more than n_components of them.
    {radius}
    {point_metric}
    {metric_params}
    {search}
    reg : float of at least 0, default=1e-3
        Ridge of the weights, as a share of the trace of each local Gram matrix; 0 takes the weights of least norm.
    {energy}
    {normalization}
    {n_jobs}
    {verbose}

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

    limits: ClassVar[Limits] = {**LINEAR_GRAPH_LIMITS, "reg": (Real(0),)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        reg: float = 1e-3,
        energy: float = 1.0,
        normalization: str = "natural",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.reg = reg
        self.energy = energy
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _smallest_k(self) -> int:
        return int(self.n_components) + 1

    def _embed(self, data: Data, run: Run) -> Fit:
        self.neighbors_ = self._neighborhoods(data, run)
        return self._linear(self._alignment(data.points(), self.neighbors_, run), None, data, run, {})

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

    def kernel(self) -> SparseOperator:
        """(I - W)'(I - W), rebuilt."""
        return self._alignment(self._trained.source, self.neighbors_, self._run())
