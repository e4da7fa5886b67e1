"""Hessian LLE, Donoho & Grimes (2003), doi:10.1073/pnas.1031596100.

X --neighbours--> N --patches--> X_i --local PCA--> V_i --quadratics--> Q_i --sum Q_i Q_i'--> K --eigen--> v_1 .. v_d
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Flag, Int, Limits, Null
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._hessian import hessian_alignment, quadratic_dimension
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_extend import PatchMap
from lowfold.methods._alignment_mass import MASSES
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS


class HessianLLE(AlignmentMethod):
    """Embed by the functions whose second derivatives along the manifold vanish.

    H(f) = integral of ||Hess f||^2 is zero exactly for affine functions of isometric coordinates. Each patch
    estimates the Hessian by the part Q_i of quadratics in its tangent coordinates that is orthogonal to affine
    functions; Y are the bottom eigenvectors, after the constant, of K = sum_i S_i' Q_i Q_i' S_i. Exact for manifolds
    locally isometric to an open connected region, which need not be convex. Second derivatives are sensitive to
    noise.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        At least d_q = 1 + d + d(d + 1)/2 for d components: 3, 6, 10 for d = 1, 2, 3; None is at least that. For one
        component take 10 or more.
    {radius}
    {metric}
    {metric_params}
    {search}
    include_self : bool or None, default=None
        Whether a point belongs to its own patch. Without, a point that is nobody's neighbour has a zero row in K and is
        joined as `on_disconnected` says. With, points at an end share one patch; for n_components = 1, where a patch
        gives a single condition, that leaves coordinates undetermined. None is yes from two components on.
    anchor : int or None, default=None
        Scale of the coordinates. None: V'V = I over all points. A point's number: over that point's neighbourhood N_0
        (the point included), Y = V R^(-1/2) with R = sum over N_0 of v v', as Donoho & Grimes do, so that lengths are
        right near it. Where pieces are embedded by themselves, only the one with the point is scaled so.
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
    embedding_ : array (n, n_components); natural: as `anchor` and `mass` say
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    mass_ : "points" or "kernel", what was used
    local_errors_ : array (n,), sum of the singular values of each patch beyond n_components: 0 where it is flat, NaN
        in pieces that were not embedded or fit into one patch
    reconstruction_error_ : float, tr(V' K V) = sum of eigenvalues_
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_hole(800, random_state=0)
    >>> lowfold.HessianLLE(2, n_neighbors=12).fit_transform(roll.X).shape
    (800, 2)
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        "include_self": (Flag(), Null("n_components > 1")),
        "anchor": (Int(0), Null("all points")),
        "mass": (Choice(MASSES),),
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
        include_self: bool | None = None,
        anchor: int | None = None,
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
        self.anchor = anchor
        self.mass = mass
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _smallest_k(self) -> int:
        return quadratic_dimension(int(self.n_components))

    def _patches(self, neighbors: Neighbors) -> Patches:
        own = self.n_components > 1 if self.include_self is None else bool(self.include_self)
        return Patches.around(neighbors, include_self=own)

    def _check(self, data: Data) -> None:
        super()._check(data)
        if self.anchor is not None and self.anchor >= data.n:
            raise InvalidInput(f"anchor must be the number of a point, at most {data.n - 1}; got {self.anchor}")

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        assert data.neighbors is not None
        patches = self._patches(data.neighbors)
        alignment, errors = hessian_alignment(patches, geometry, self.n_components, run)
        return alignment, {"local_errors_": errors}

    def _embed(self, data: Data, run: Run) -> Fit:
        assert data.neighbors is not None
        K, errors = self._operator(data, run)  # sum of Q_i Q_i' over the patches
        pairs = self._bottom(K, data, run)
        patches = Patches.around(data.neighbors)
        return Fit(
            coordinates=pairs.vectors if self.anchor is None else self._anchored(pairs.vectors, patches),
            pairs=pairs,
            graph=None,
            extend=PatchMap(patches.indptr, patches.members),
            invert=Barycentric(),
            extra={**errors, "reconstruction_error_": float(pairs.values.sum()), "mass_": self.mass_},
        )

    def _for_piece(self, rows: NDArray[np.int64]) -> HessianLLE:
        """The anchor's own component is scaled by it, the others by all their points."""
        if self.anchor is None:
            return self
        inside = np.flatnonzero(rows == self.anchor)
        if len(inside) == 0 and self.on_disconnected == "largest":
            raise InvalidInput(f"anchor = {self.anchor} is not in the largest component, which alone is embedded")
        anchor = int(inside[0]) if len(inside) else None
        method = type(self)(**{**self.get_params(deep=False), "anchor": anchor})
        method.component_labels_ = self.component_labels_
        return method

    def _anchored(self, V: Floats, patches: Patches) -> Floats:
        """V R^(-1/2), R = sum over the anchor's patch of v v'."""
        assert self.anchor is not None
        N0 = patches.members[patches.indptr[self.anchor] : patches.indptr[self.anchor + 1]]
        values, E = stacked_eigh(V[N0].T @ V[N0])
        if values[0] <= 1e-14 * values[-1]:
            raise InvalidInput(
                f"the neighbourhood of point {self.anchor} does not span {V.shape[1]} directions in the embedding; "
                "choose another anchor, or anchor=None"
            )
        return np.asarray(V @ ((E / np.sqrt(values)) @ E.T))
