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
from lowfold._core.limits import Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._local_planes import linear_neighbors
from lowfold.graph._source import Points, Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Data, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._in_blocks import InBlocks, never
from lowfold.methods._input import AnySource, Reader
from lowfold.methods._neighborhood import Needs
from lowfold.methods.isomap import Isomap


def _points_given(method: Any, data: Data) -> None:
    if data.source is None:
        raise InvalidInput(
            "LocallyLinearIsomap chooses neighbours by the points themselves; X was a ready graph: use Isomap"
        )


class LocallyLinearIsomap(Isomap):
    """Isomap whose neighbours are chosen by local linearity, not by distance alone: it does not jump between folds.

    Among the `n_neighbors` nearest points those are kept that lie near the plane which most neighbours span, at both
    ends of the edge. A neighbour on another sheet rises steeply from that plane and is dropped, where a single such
    edge would short-circuit all geodesics. The planes have `n_components` dimensions.

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

    linearity: float = param(
        0.7,
        Real(0, 1, open_low=True),
        "Largest sine of the angle between an edge and a local plane; 1 keeps every edge. Edges "
        "within three times the median height of their neighbourhood are kept at any angle, for noise "
        "has no direction.",
    )

    reader: ClassVar[Reader] = AnySource(sparse=False)
    checks: ClassVar[tuple[Check, ...]] = (*Isomap.checks, _points_given)

    in_blocks: ClassVar[InBlocks] = never  # weights need the rows of every neighbourhood

    def _needs(self) -> Needs:
        return Needs(symmetrize=self.symmetrize, search=self._search)

    def _search(self, source: Source, k: int | Ints | None, run: Run) -> Neighbors:
        """The nearest points that lie in the local plane."""
        points = Data(source).points()
        found = self._asked().nearest(points, k, run)
        return linear_neighbors(features(points), found, self.n_components, linearity=self.linearity, run=run)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        fit = super()._recipe(data, run)
        return replace(fit, extend=LinearRow(fit.extend))


@dataclass(frozen=True, eq=False)
class LinearRow(Extension):
    """Isomap's extension, through the nearest training point and those neighbours of the new one that it has too.

    The training points' planes have chosen those; a plane of the new point's own neighbours is one of several sheets
    where they lie on several.
    """

    inner: Any
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return np.asarray(self.inner.place(trained, queries, with_the_nearest(trained.edges, found), run))

    def lengths(self, found: Neighbors) -> Neighbors:
        """Edges in the graph's own units."""
        return self.inner.lengths(found)  # type: ignore[no-any-return]


def with_the_nearest(graph: Graph, found: Neighbors) -> Neighbors:
    """Of each row the nearest point and those that an edge of the graph joins to it."""
    rows = found.rows()
    nearest = found.indices[found.indptr[:-1]].astype(np.int64)[rows]
    edges = np.sort(graph.rows() * graph.n + graph.indices)
    asked = nearest * graph.n + found.indices
    place = np.minimum(np.searchsorted(edges, asked), max(len(edges) - 1, 0))
    joined = (nearest == found.indices) | ((edges[place] == asked) if len(edges) else False)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[joined], minlength=found.n))])
    return replace(found, indptr=indptr, indices=found.indices[joined], distances=found.distances[joined])


def features(source: Points) -> NDArray[np.floating]:
    """Rows where the metric is Euclidean, which planes need."""
    if source.metric.feature_map is None:
        raise InvalidInput(f"local planes need a Euclidean metric, perhaps after a map; {source.metric.name!r} is not")
    return source.features()
