"""Intrinsic dimension: estimators with their scales, curves, intervals, and an honest "cannot tell"."""

from lowfold.dimension._capacity import capacity
from lowfold.dimension._correlation import correlation
from lowfold.dimension._elbow import residual_elbow
from lowfold.dimension._estimate_all import estimate_all
from lowfold.dimension._linear import linear, local_pca
from lowfold.dimension._multiscale import multiscale_svd
from lowfold.dimension._nearest import maximum_likelihood, two_nearest
from lowfold.dimension._scikit_dimension import scikit_dimension
from lowfold.dimension._unfolding import mvu_spectrum

__all__ = [
    "capacity",
    "correlation",
    "estimate_all",
    "linear",
    "local_pca",
    "maximum_likelihood",
    "multiscale_svd",
    "mvu_spectrum",
    "residual_elbow",
    "scikit_dimension",
    "two_nearest",
]
