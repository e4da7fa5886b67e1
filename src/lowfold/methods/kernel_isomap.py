"""Kernel Isomap, Choi & Choi (2007), doi:10.1016/j.patcog.2006.04.025; Wang (2012), Section 8.1.4.

X --neighbours--> graph --shortest paths--> d_G --shift--> d_G + tau --Gram--> G_tau, psd --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits
from lowfold.methods.isomap import Isomap


class KernelIsomap(Isomap):
    """Isomap with a kernel that is positive semidefinite, so that it is kernel PCA.

    Geodesics of a finite sample need not be Euclidean, and G may have negative eigenvalues. The smallest constant tau
    for which d_G + tau (off the diagonal) is Euclidean makes G_tau = 1/2 (tau^2 H - 2 tau H D H - H (D o D) H) psd. It
    is the largest eigenvalue of [[0, -H(DoD)H], [-I, 2HDH]], found here by a few symmetric solves.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
    {radius}
    {metric}
    {metric_params}
    {search}
    {symmetrize}
    paths : {"auto", "sweep", "dijkstra", "floyd_warshall"}, default="auto"
        Shortest-path algorithm; all give the same distances.
    shift : float of at least 0, "minimal", "bound" or None, default="minimal"
        The smallest constant; a bound of it that needs two solves, sqrt(mu^2 - lambda) - mu; a number; or none.
    conformal : bool, default=False
        Edges in units of the local spacing; see `ConformalIsomap`.
    landmarks : int, array of indices or None, default=None
        Classical MDS of so many points only; see `LandmarkIsomap`.
    landmark_rule : {"maxmin", "random", "kmeans++"}, default="maxmin"
        How landmarks are chosen; see `lowfold.graph.choose_landmarks`.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    random_state : int, Generator, RandomState or None, default=0
        Choice of landmarks.
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    reconstruction_error_ : float, sum of the eigenvalues left out
    shift_ : float, the constant that was added
    landmarks_ : array of indices, or None
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> ring = lowfold.datasets.circle(60, random_state=0)
    >>> bool(lowfold.KernelIsomap(2, n_neighbors=4).fit(ring.X).shift_ > 0)
    True
    """

    limits: ClassVar[Limits] = Isomap.limits

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        paths: str = "auto",
        shift: float | str | None = "minimal",
        conformal: bool = False,
        landmarks: int | NDArray[np.int64] | None = None,
        landmark_rule: str = "maxmin",
        on_disconnected: str = "connect",
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_components,
            n_neighbors=n_neighbors,
            radius=radius,
            metric=metric,
            metric_params=metric_params,
            search=search,
            symmetrize=symmetrize,
            paths=paths,
            shift=shift,
            conformal=conformal,
            landmarks=landmarks,
            landmark_rule=landmark_rule,
            on_disconnected=on_disconnected,
            normalization=normalization,
            solver=solver,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
