"""Locally linear embedding, Roweis & Saul (2000), doi:10.1126/science.290.5500.2323.

X --neighbours--> N --reconstruction--> W --kernel--> K = (I - W)'(I - W) --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Choice, Null, Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Source
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import REG_WHEN, WEIGHTS, outlier_factors, reconstruction_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_method import AlignmentMethod, aligned, patch_corner, selected_bottom
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._in_blocks import InBlocks, with_landmarks
from lowfold.methods._landmarks import Landmarked
from lowfold.methods._lle_neighborhoods import Clusters, cluster_neighborhoods, flat_neighborhoods
from lowfold.methods._losses import ALIGN, Lowered, alignment
from lowfold.methods._neighborhood import ByClosedClasses, Needs, distinct_neighborhoods
from lowfold.methods._parameters import WIDE_NEIGHBORS, Selected
from lowfold.methods._placing.patches import ReconstructionRow
from lowfold.methods._select import LEADING_ROUGH


class LLE(Selected, Landmarked, AlignmentMethod):
    """Embed so that every point is the same affine combination of its neighbours as in the data.

    w_i minimises ||x_i - sum_j w_ij x_j||^2 + ridge with sum_j w_ij = 1; such weights do not change under rotation,
    shift and scaling. Y minimises sum_i ||y_i - sum_j w_ij y_j||^2 = tr(Y' K Y), K = (I - W)'(I - W), with Y'Y = I
    and Y'1 = 0: the bottom eigenvectors after the constant.

    n_components neighbours or fewer are refused: no point is a combination of so few. n_components + 1 have one exact
    combination on a flat piece, and are allowed. No warning is given where a neighbourhood has more points than
    features and the ridge decides among exact weights: on every surface in space it does; `reg_when` says where it may.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: orthonormal columns, each summing to 0
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    closeness_ : array (n_components,), 1 - sqrt(eigenvalues_), as the texts list them; 1 is exact
    explained_ : None; weights have no energy that coordinates could hold a share of
    selected_ : array (m, n_components), how the coordinates are made of the m eigenvectors looked at
    reconstruction_error_ : float, sum_i ||y_i - sum_j w_ij y_j||^2 = sum of eigenvalues_
    local_errors_ : array (n,), ||x_i - sum_j w_ij x_j||; NaN in pieces that were not embedded or fit into one patch
    robust_weights_ : array (n,), the factors of `robust`; ones without it
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    landmarks_ : array of indices, or None; what else is said of points or neighbours belongs to them
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(400, random_state=0)
    >>> lowfold.LLE(2, n_neighbors=12).fit_transform(curve.X).shape
    (400, 2)
    """

    loss: ClassVar[Lowered] = Lowered(alignment, ALIGN + ", K = (I - W)'(I - W)")

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        WIDE_NEIGHBORS + "LLE needs more than n_components of them: what as many or fewer points rebuild has less "
        "dimensions than the embedding. n_components + 1 are allowed, and frail.",
    )
    reg: float = param(
        0.001,
        Real(0),
        "Ridge on the weights, as a share of the trace of the local Gram matrix C, so that scaling "
        "the data changes nothing. 0 gives the limit of a vanishing ridge, whatever the rank of C. With more "
        "neighbours than features many weights rebuild a point, and the ridge picks them: that is so on every surface "
        "in space, and no reason to warn.",
    )
    reg_when: str = param(
        "always",
        Choice(REG_WHEN),
        "Which neighbourhoods get the ridge: all; those with more points than features (where weights "
        "are not unique; with distances instead of features, all); those with more points than "
        "n_components; none.",
    )
    weights: str = param(
        "affine",
        Choice(WEIGHTS),
        "Weights of either sign; negative ones set to 0 and the rest scaled to sum 1; or the best "
        "weights that are not negative, coordinates of the nearest point in the neighbours' hull.",
    )
    flatness: float | None = param(
        None,
        Real(0, 1, open_low=True, open_high=True),
        Null("every point keeps n_neighbors"),
        "Neighbourhoods that adapt to sampling and curvature: each point keeps its nearest of the "
        "n_neighbors for as long as at most this share of their energy lies off the best n_components "
        "directions; at least n_components + 2.",
    )
    clusters: int | NDArray[Any] | None = param(
        None,
        Clusters(),
        "Neighbours only from the point's own cluster, at most n_neighbors; an int finds so many "
        "clusters by K-means. Clusters are then pieces that `on_disconnected` joins.",
    )
    robust: float | None = param(
        None,
        Real(0, open_low=True),
        Null("all points count the same"),
        "Outliers count less, in both roles: with rho_i = 1 / (1 + (r_i / s)^2), r_i the residual of "
        "point i's reconstruction and s `robust` times the median residual, its term is multiplied by "
        "rho_i, and the ridge on its weight in other points' reconstructions divided by rho_i. 3 is a "
        "good value.",
    )

    ways_out: ClassVar[tuple[str, str] | None] = (
        "more n_neighbors or a larger reg hold them",
        "use select='independent', or LTSA, whose coordinates keep lengths",
    )

    in_blocks: ClassVar[InBlocks] = with_landmarks

    @property
    def closeness_(self) -> Floats:
        """1 - sqrt(lambda) of every coordinate."""
        return np.asarray(1.0 - np.sqrt(np.maximum(self.eigenvalues_, 0.0)))

    def _needs(self) -> Needs:
        d = self.n_components
        plain = self.clusters is None and self.flatness is None
        return Needs(
            least=d + 1,
            distinct=True,
            hangs=ByClosedClasses(),
            search=None if plain else self._search,
            corner=partial(patch_corner, d=d),
        )

    def _search(self, source: Source, k: int | Ints | None, run: Run) -> Neighbors:
        """Neighbours inside clusters, cut where the manifold bends."""
        asked = self._asked()
        if self.clusters is None:
            found = distinct_neighborhoods(source, asked.nearest(source, k, run), asked, self.n_components + 1, run)
        else:
            found = cluster_neighborhoods(source, self.clusters, k, self.radius, self.search, run)
        return found if self.flatness is None else flat_neighborhoods(source, found, self.n_components, self.flatness)

    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
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

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K, errors = aligned(self._alignment, data, self.n_components, run)  # (I - W)'(I - W)
        row = ReconstructionRow(float(self.reg), self.reg_when, self.weights)
        return selected_bottom(K, data, self.n_components, self.select, row, errors, run, leading_doubt=LEADING_ROUGH)
