"""Linear local tangent space alignment, Zhang, Yang, Zhao & Ge (2007), doi:10.1016/j.neucom.2006.11.007.

X --neighbours--> patches --local PCA--> V_i --align--> K = sum (I - G_i G_i') --linear--> X'K X a = lambda X'X a --> (x
- mean) A
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import align
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_graph import LINEAR_GRAPH_LIMITS, LinearGraphMethod


class LinearLTSA(LinearGraphMethod):
    """The linear map whose patches are affine images of their tangent coordinates: LTSA restricted to linear functions.

    Minimises tr(Y'K Y) with Y'Y = I over y = A'(x - mean), K the alignment matrix of LTSA. Its eigenvalues are none
    below the corresponding ones of `LTSA`.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        Linear LTSA needs more than n_components of them.
    {radius}
    {point_metric}
    {metric_params}
    {search}
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
    >>> lowfold.LinearLTSA(2).fit_transform(roll.X).shape
    (300, 2)
    """

    limits: ClassVar[Limits] = LINEAR_GRAPH_LIMITS

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
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
        """Sum over the patches (each point with its neighbours) of I - G_i G_i'."""
        patches = Patches.around(neighbors, include_self=True)
        alignment, _ = tangent_alignment(patches, geometry_of(source, neighbors), self.n_components, run)
        return align(alignment, run=run)

    def kernel(self) -> SparseOperator:
        """The alignment matrix, rebuilt."""
        return self._alignment(self._trained.source, self.neighbors_, self._run())
