"""Conformal Isomap, de Silva & Tenenbaum (2003), doi:10.5555/2968618.2968708.

X --neighbours--> graph --d_ij / sqrt(m_i m_j)--> conformal graph --shortest paths--> d_G --Gram--> G
    --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.params import fixed
from lowfold.methods._losses import STRAIN, Lowered, strain
from lowfold.methods.isomap import Isomap


class ConformalIsomap(Isomap):
    """Isomap that keeps angles: lengths are measured in units of the local spacing.

    Where a manifold was sampled evenly and then stretched by a factor that varies from place to place (a conformal
    map), edges d_ij / sqrt(m_i m_j), with m_i the mean distance from i to its neighbours, have the lengths from before.
    Dense regions are enlarged and sparse ones shrunk; with even sampling it is Isomap up to scale.

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

    loss: ClassVar[Lowered] = Lowered(strain, STRAIN + " of geodesic distances in units of the local spacing")

    conformal: bool = fixed(default=True, init=False)
