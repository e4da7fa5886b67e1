"""Modified LLE, Zhang & Wang (2007), Advances in Neural Information Processing Systems 19, pp. 1593-1600.

X --neighbours--> N --several weights--> W_i (k x s_i) --sum--> K = sum_i (e_i 1' - W_i)(e_i 1' - W_i)' --eigen--> v_1
.. v_d
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits, Real
from lowfold._core.run import Run
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import modified_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_extend import ReconstructionRow
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._closed_classes import closed_class_labels, closed_classes_in_words
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS


class ModifiedLLE(AlignmentMethod):
    """LLE with several weight vectors per point, which makes it nearly isometric and stable in n_neighbors.

    Where a point's local Gram matrix is nearly singular many weights rebuild it equally well, and the one that the
    ridge picks is arbitrary. Here all of them count: Y minimises sum_i sum_l ||y_i - sum_j w_ijl y_j||^2 over the s_i
    weight vectors of each point, with Y'Y = I and Y'1 = 0.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        More than n_components are needed.
    {radius}
    {metric}
    {metric_params}
    {search}
    reg : float of at least 0, default=1e-3
        Ridge of the weights that all vectors of a point share, as a share of the trace of its local Gram matrix.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: orthonormal columns, each summing to 0
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    reconstruction_error_ : float, sum of eigenvalues_
    weight_counts_ : array (n,), number s_i of weight vectors of each point
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(600, random_state=0)
    >>> lowfold.ModifiedLLE(2, n_neighbors=12).fit_transform(curve.X).shape
    (600, 2)
    """

    limits: ClassVar[Limits] = {**LIMITS, "reg": (Real(0),)}

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
        on_disconnected: str = "connect",
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
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
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _piece_labels(self, data: Data) -> NDArray[np.int64]:
        assert data.neighbors is not None
        return closed_class_labels(data.neighbors)

    def _pieces_in_words(self, data: Data, labels: NDArray[np.int64], run: Run) -> str:
        assert data.neighbors is not None
        return closed_classes_in_words(data.neighbors, labels)

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        assert data.neighbors is not None
        patches = Patches.around(data.neighbors)
        alignment, counts = modified_alignment(patches, geometry, self.n_components, run, reg=float(self.reg))
        return alignment, {"weight_counts_": counts}

    def _embed(self, data: Data, run: Run) -> Fit:
        K, counts = self._operator(data, run)
        pairs = self._bottom(K, data, run)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=None,
            extend=ReconstructionRow(float(self.reg), "always", "affine"),
            invert=Barycentric(),
            extra={**counts, "reconstruction_error_": float(pairs.values.sum())},
        )
