"""Conformal Isomap, de Silva & Tenenbaum (2003), doi:10.5555/2968618.2968708.

X --neighbours--> graph --d_ij / sqrt(m_i m_j)--> conformal graph --shortest paths--> d_G --Gram--> G
    --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits
from lowfold.methods.isomap import Isomap


class ConformalIsomap(Isomap):
    """Isomap that keeps angles: lengths are measured in units of the local spacing.

    Where a manifold was sampled evenly and then stretched by a factor that varies from place to place (a conformal
    map), edges d_ij / sqrt(m_i m_j), with m_i the mean distance from i to its neighbours, have the lengths from before.
    Dense regions are enlarged and sparse ones shrunk; with even sampling it is Isomap up to scale.

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
    landmarks : int, array of indices or None, default=None
        Classical MDS of so many points only; see `LandmarkIsomap`.
    landmark_rule : {"maxmin", "random", "kmeans++"}, default="maxmin"
        How landmarks are chosen; see `lowfold.graph.choose_landmarks`.
    shift : float of at least 0, "minimal", "bound" or None, default=None
        Constant added to all geodesics but d(i, i); see `KernelIsomap`.
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
    graph_, n_neighbors_, component_labels_, bridges_ : the conformal graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> bowl = lowfold.datasets.punched_sphere(300, random_state=0)
    >>> lowfold.ConformalIsomap(2, n_neighbors=10).fit_transform(bowl.X).shape
    (300, 2)
    """

    limits: ClassVar[Limits] = {name: limit for name, limit in Isomap.limits.items() if name != "conformal"}

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
        landmarks: int | NDArray[np.int64] | None = None,
        landmark_rule: str = "maxmin",
        shift: float | str | None = None,
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
            landmarks=landmarks,
            landmark_rule=landmark_rule,
            shift=shift,
            on_disconnected=on_disconnected,
            normalization=normalization,
            solver=solver,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            conformal=True,
        )
