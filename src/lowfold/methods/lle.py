"""Locally linear embedding, Roweis & Saul (2000), doi:10.1126/science.290.5500.2323.

X --neighbours--> N --reconstruction--> W --kernel--> K = (I - W)'(I - W) --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Choice, Limits, Null, Real
from lowfold._core.run import Run
from lowfold.graph._source import Source
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import REG_WHEN, WEIGHTS, outlier_factors, reconstruction_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_extend import ReconstructionRow
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._closed_classes import closed_class_labels, closed_classes_in_words
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._lle_neighborhoods import Clusters, cluster_neighborhoods, flat_neighborhoods
from lowfold.methods._parameters import LIMITS


class LLE(AlignmentMethod):
    """Embed so that every point is the same affine combination of its neighbours as in the data.

    w_i minimises ||x_i - sum_j w_ij x_j||^2 + ridge with sum_j w_ij = 1; such weights do not change under rotation,
    shift and scaling. Y minimises sum_i ||y_i - sum_j w_ij y_j||^2 = tr(Y' K Y), K = (I - W)'(I - W), with Y'Y = I
    and Y'1 = 0: the bottom eigenvectors after the constant.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        LLE needs more than n_components of them.
    {radius}
    {metric}
    {metric_params}
    {search}
    reg : float of at least 0, default=1e-3
        Ridge on the weights, as a share of the trace of the local Gram matrix C, so that scaling the data changes
        nothing. 0 gives the limit of a vanishing ridge, whatever the rank of C.
    reg_when : {"always", "k>D", "k>d", "never"}, default="always"
        Which neighbourhoods get the ridge: all; those with more points than features (where weights are not unique;
        with distances instead of features, all); those with more points than n_components; none.
    weights : {"affine", "clipped", "convex"}, default="affine"
        Weights of either sign; negative ones set to 0 and the rest scaled to sum 1; or the best weights that are not
        negative, coordinates of the nearest point in the neighbours' hull.
    flatness : float in (0, 1) or None, default=None
        Neighbourhoods that adapt to sampling and curvature: each point keeps its nearest of the n_neighbors for as
        long as at most this share of their energy lies off the best n_components directions; at least n_components +
        2.
    clusters : int, array of one label per point, or None, default=None
        Neighbours only from the point's own cluster, at most n_neighbors; an int finds so many clusters by K-means.
        Clusters are then pieces that `on_disconnected` joins.
    robust : float above 0 or None, default=None
        Outliers count less, in both roles: with rho_i = 1 / (1 + (r_i / s)^2), r_i the residual of point i's
        reconstruction and s `robust` times the median residual, its term is multiplied by rho_i, and the ridge on its
        weight in other points' reconstructions divided by rho_i. 3 is a good value.
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
    reconstruction_error_ : float, sum_i ||y_i - sum_j w_ij y_j||^2 = sum of eigenvalues_
    local_errors_ : array (n,), ||x_i - sum_j w_ij x_j||; NaN in pieces that were not embedded or fit into one patch
    robust_weights_ : array (n,), the factors of `robust`; ones without it
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(600, random_state=0)
    >>> lowfold.LLE(2, n_neighbors=12).fit_transform(curve.X).shape
    (600, 2)
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        "reg": (Real(0),),
        "reg_when": (Choice(REG_WHEN),),
        "weights": (Choice(WEIGHTS),),
        "flatness": (Real(0, 1, open_low=True, open_high=True), Null("every point keeps n_neighbors")),
        "clusters": (Clusters(),),
        "robust": (Real(0, open_low=True), Null("all points count the same")),
    }

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
        reg_when: str = "always",
        weights: str = "affine",
        flatness: float | None = None,
        clusters: int | NDArray[Any] | None = None,
        robust: float | None = None,
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
        self.reg_when = reg_when
        self.weights = weights
        self.flatness = flatness
        self.clusters = clusters
        self.robust = robust
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _search(self, source: Source, run: Run) -> Neighbors:
        found = (
            super()._search(source, run)
            if self.clusters is None
            else cluster_neighborhoods(source, self.clusters, self._k(source.n), self.radius, self.search, run)
        )
        return found if self.flatness is None else flat_neighborhoods(source, found, self.n_components, self.flatness)

    def _piece_labels(self, data: Data) -> NDArray[np.int64]:
        assert data.neighbors is not None
        return closed_class_labels(data.neighbors)

    def _pieces_in_words(self, data: Data, labels: NDArray[np.int64], run: Run) -> str:
        assert data.neighbors is not None
        return closed_classes_in_words(data.neighbors, labels)

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        assert data.neighbors is not None
        patches = Patches.around(data.neighbors)
        weigh = partial(
            reconstruction_alignment,
            patches,
            geometry,
            self.n_components,
            run,
            reg=float(self.reg),
            reg_when=self.reg_when,
            kind=self.weights,
        )
        alignment, residuals = weigh()
        rho = np.ones(data.n)
        if self.robust is not None:
            rho = outlier_factors(residuals, float(self.robust), ~patches.twin)
            alignment, _ = weigh(rho=rho)
        return alignment, {"local_errors_": residuals, "robust_weights_": rho}

    def _embed(self, data: Data, run: Run) -> Fit:
        K, errors = self._operator(data, run)  # (I - W)'(I - W)
        pairs = self._bottom(K, data, run)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=None,
            extend=ReconstructionRow(float(self.reg), self.reg_when, self.weights),
            invert=Barycentric(),
            extra={**errors, "reconstruction_error_": float(pairs.values.sum())},
        )
