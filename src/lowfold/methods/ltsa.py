"""Local tangent space alignment, Zhang & Zha (2004), doi:10.1137/S1064827502419154.

X --neighbours--> N --patches--> X_i --local PCA--> V_i --projector--> W_i = I - G_i G_i' --sum--> K --eigen--> v_1 ..
v_d
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Choice, Flag, Limits
from lowfold._core.run import Run
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.kernels._tangent import tangent_alignment
from lowfold.methods._alignment_extend import PatchMap
from lowfold.methods._alignment_mass import MASSES
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS


class LTSA(AlignmentMethod):
    """Embed so that the tangent coordinates of every neighbourhood are an affine image of its embedding.

    Each patch has local coordinates by PCA, X_i H = U S V'; W_i = I - G_i G_i' with G_i = [1 / sqrt(K), V_d] takes
    affine functions of them out, and Y minimises tr(Y' K Y), K = sum_i S_i' W_i S_i, with Y'Y = I and Y'1 = 0: the
    bottom eigenvectors after the constant. Exact for manifolds that are locally isometric to a flat region, convex or
    not; the scale of each coordinate is lost (Y'Y = I).

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        LTSA needs more than n_components of them (one more without `include_self`).
    {radius}
    {metric}
    {metric_params}
    {search}
    include_self : bool, default=True
        Whether a point belongs to its own patch. Without, a point that is nobody's neighbour is in no patch: its row
        of K is zero; such points are counted in a warning and joined as `on_disconnected` says.
    mass : {"auto", "points", "kernel"}, default="auto"
        What a point counts: with "points" Y'Y = I, as published; with "kernel" Y' D Y = I and Y' D 1 = 0, D = diag(K).
        A point that only its own patch holds, and hardly, has an eigenvector of its own near zero; images and
        other scattered data have such points. "auto" is "kernel" where `n_components` single points have less energy
        (K_ii) than the leading principal components have, which on smooth surfaces they do not.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: as `mass` says, orthonormal columns, each summing to 0
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    mass_ : "points" or "kernel", what was used
    local_errors_ : array (n,), sum of the singular values of each patch beyond n_components: 0 where it is flat, NaN
        in pieces that were not embedded or fit into one patch
    reconstruction_error_ : float, tr(Y' K Y) = sum of eigenvalues_
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(800, random_state=0)
    >>> lowfold.LTSA(2, n_neighbors=10).fit_transform(roll.X).shape
    (800, 2)
    """

    limits: ClassVar[Limits] = {**LIMITS, "include_self": (Flag(),), "mass": (Choice(MASSES),)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        include_self: bool = True,
        mass: str = "auto",
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
        self.include_self = include_self
        self.mass = mass
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _smallest_k(self) -> int:
        return int(self.n_components) + (1 if self.include_self else 2)

    def _patches(self, neighbors: Neighbors) -> Patches:
        return Patches.around(neighbors, include_self=bool(self.include_self))

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        assert data.neighbors is not None
        patches = self._patches(data.neighbors)
        alignment, errors = tangent_alignment(patches, geometry, self.n_components, run)
        return alignment, {"local_errors_": errors}

    def _embed(self, data: Data, run: Run) -> Fit:
        assert data.neighbors is not None
        K, errors = self._operator(data, run)  # sum of I - G_i G_i' over the patches
        pairs = self._bottom(K, data, run)
        patches = Patches.around(data.neighbors)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=None,
            extend=PatchMap(patches.indptr, patches.members),
            invert=Barycentric(),
            extra={**errors, "reconstruction_error_": float(pairs.values.sum()), "mass_": self.mass_},
        )
