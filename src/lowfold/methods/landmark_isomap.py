"""Landmark Isomap, de Silva & Tenenbaum (2003), doi:10.5555/2968618.2968708.

X --neighbours--> graph --landmarks--> L --shortest paths from L--> d_G(L, .) --Gram of L--> sqrt(lambda) v
    --triangulation--> all
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.limits import Limits
from lowfold.methods.isomap import Isomap


class LandmarkIsomap(Isomap):
    """Isomap for large n: classical MDS of a few landmarks, all other points by their geodesics to them.

    With G = -1/2 H (d_LL o d_LL) H = V Lambda V' of the landmarks, a point with geodesics delta to them goes to
    -1/2 Lambda^-1/2 V' (delta^2 - mean of d_LL^2). Only landmark rows of geodesics are ever computed; with all points
    as landmarks it is Isomap.

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
        How many, or which; None is min(n, 500). Where pieces are embedded by themselves, at most so many in each.
    landmark_rule : {"maxmin", "random", "kmeans++"}, default="maxmin"
        How landmarks are chosen; see `lowfold.graph.choose_landmarks`.
    conformal : bool, default=False
        Edges in units of the local spacing; see `ConformalIsomap`.
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
    embedding_ : array (n, n_components); natural: its landmarks are centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    reconstruction_error_ : float, sum of the eigenvalues left out, over landmarks
    landmarks_ : array of indices
    shift_ : float, the constant that was added
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(500, random_state=0)
    >>> lowfold.LandmarkIsomap(2, n_neighbors=8, landmarks=50).fit_transform(roll.X).shape
    (500, 2)
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
        landmarks: int | NDArray[np.int64] | None = None,
        landmark_rule: str = "maxmin",
        conformal: bool = False,
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
            conformal=conformal,
            shift=shift,
            on_disconnected=on_disconnected,
            normalization=normalization,
            solver=solver,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _landmarks_asked(self, n: int) -> int | NDArray[np.int64] | None:
        return min(n, 500) if self.landmarks is None else self.landmarks
