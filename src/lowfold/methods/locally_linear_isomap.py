"""Locally linear Isomap, after Saxena, Gupta & Mukerjee (2004), doi:10.1007/978-3-540-30499-9_161.

X --neighbours--> N --those in both local planes--> N' --union--> graph --shortest paths--> d_G --Gram--> G
    --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Limits, Real
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._local_planes import linear_neighbors
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Data, Fit, Queries, Trained
from lowfold.methods.isomap import Isomap


class LocallyLinearIsomap(Isomap):
    """Isomap whose neighbours are chosen by local linearity, not by distance alone: it does not jump between folds.

    Among the `n_neighbors` nearest points those are kept that lie near the plane which most neighbours span, at both
    ends of the edge. A neighbour on another sheet rises steeply from that plane and is dropped, where a single such
    edge would short-circuit all geodesics. The planes have `n_components` dimensions.

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
    linearity : float in (0, 1], default=0.7
        Largest sine of the angle between an edge and a local plane; 1 keeps every edge. Edges within three times the
        median height of their neighbourhood are kept at any angle, for noise has no direction.
    conformal : bool, default=False
        Edges in units of the local spacing; see `ConformalIsomap`.
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
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(400, random_state=0)
    >>> lowfold.LocallyLinearIsomap(2, n_neighbors=8).fit_transform(roll.X).shape
    (400, 2)
    """

    limits: ClassVar[Limits] = {**Isomap.limits, "linearity": (Real(0, 1, open_low=True),)}

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
        linearity: float = 0.7,
        conformal: bool = False,
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
        self.linearity = linearity

    def _with_graph(self, data: Data, run: Run) -> Data:
        data = super()._with_graph(data, run)
        if data.neighbors is None:
            raise InvalidInput(
                "LocallyLinearIsomap chooses neighbours by the points themselves; X was a ready graph: use Isomap"
            )
        kept = linear_neighbors(
            features(data.points()), data.neighbors, self.n_components, linearity=self.linearity, run=run
        )
        return replace(data, neighbors=kept, graph=getattr(kept, self.symmetrize)())

    def _embed(self, data: Data, run: Run) -> Fit:
        fit = super()._embed(data, run)
        return replace(fit, extend=LinearRow(fit.extend, self.n_components, float(self.linearity)))


@dataclass(frozen=True, eq=False)
class LinearRow:
    """Isomap's extension, through those neighbours of the new point that lie in its own local plane."""

    inner: Any
    n_components: int
    linearity: float
    neighbors: ClassVar[bool] = True

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        assert isinstance(trained.source, Points)
        assert isinstance(queries, np.ndarray)
        kept = linear_neighbors(
            features(trained.source),
            found,
            self.n_components,
            linearity=self.linearity,
            queries=features(trained.source, queries),
            run=run,
        )
        return np.asarray(self.inner.place(trained, queries, kept, run))

    def lengths(self, found: Neighbors) -> Neighbors:
        """Edges in the graph's own units."""
        return self.inner.lengths(found)  # type: ignore[no-any-return]


def features(source: Points, X: NDArray[np.floating] | None = None) -> NDArray[np.floating]:
    """Rows where the metric is Euclidean, which planes need."""
    if source.metric.feature_map is None:
        raise InvalidInput(f"local planes need a Euclidean metric, perhaps after a map; {source.metric.name!r} is not")
    return source.features(X)
