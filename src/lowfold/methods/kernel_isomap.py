"""Kernel Isomap, Choi & Choi (2007), doi:10.1016/j.patcog.2006.04.025; Wang (2012), Section 8.1.4.

X --neighbours--> graph --shortest paths--> d_G --shift--> d_G + tau --Gram--> G_tau, psd --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.params import param
from lowfold.methods._losses import STRAIN, Lowered, strain
from lowfold.methods.isomap import Isomap


class KernelIsomap(Isomap):
    """Isomap with a kernel that is positive semidefinite, so that it is kernel PCA.

    Geodesics of a finite sample need not be Euclidean, and G may have negative eigenvalues. The smallest constant tau
    for which d_G + tau (off the diagonal) is Euclidean makes G_tau = 1/2 (tau^2 H - 2 tau H D H - H (D o D) H) psd. It
    is the largest eigenvalue of [[0, -H(DoD)H], [-I, 2HDH]], found here on a space that grows with tau.

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

    loss: ClassVar[Lowered] = Lowered(strain, STRAIN + " of geodesic distances plus the constant")

    shift: float | str | None = param(
        "minimal",
        "The smallest constant; a bound of it that needs two solves, sqrt(mu^2 - lambda) - mu; a number; or none.",
    )
