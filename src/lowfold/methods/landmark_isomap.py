"""Landmark Isomap, de Silva & Tenenbaum (2003), doi:10.5555/2968618.2968708.

X --neighbours--> graph --landmarks--> L --shortest paths from L--> d_G(L, .) --Gram of L--> sqrt(lambda) v
    --triangulation--> all
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.params import param
from lowfold._core.types import Ints
from lowfold.methods._losses import STRAIN, Lowered, strain
from lowfold.methods.isomap import Isomap


class LandmarkIsomap(Isomap):
    """Isomap for large n: classical MDS of a few landmarks, all other points by their geodesics to them.

    With G = -1/2 H (d_LL o d_LL) H = V Lambda V' of the landmarks, a point with geodesics delta to them goes to
    -1/2 Lambda^-1/2 V' (delta^2 - mean of d_LL^2). Only landmark rows of geodesics are ever computed; with all points
    as landmarks it is Isomap.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: its landmarks are centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    reconstruction_error_ : float, sum of the eigenvalues left out, over landmarks
    landmarks_ : array of indices
    landmark_error_ : float; half of the landmarks, placed by the others alone: how far off, relative
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

    loss: ClassVar[Lowered] = Lowered(strain, STRAIN + " of geodesic distances among the landmarks")

    landmarks: int | Ints | None = param(
        None,
        "How many, or which; None is min(n, 500). Where pieces are embedded by themselves, at most so many in each.",
    )
    default_landmarks: ClassVar[int | None] = 500  # each costs one row of geodesics
