"""Distances between rows, and the maps after which they are Euclidean (Wang 2012, Section 3.1.1)."""

from lowfold.metrics._dissimilarity import compose, kernel_distance, similarity_to_distance
from lowfold.metrics._metric import Metric
from lowfold.metrics._pairwise import pairwise
from lowfold.metrics._table import METRICS

__all__ = [
    "METRICS",
    "Metric",
    "compose",
    "kernel_distance",
    "pairwise",
    "similarity_to_distance",
]


def __getattr__(name: str) -> object:
    """Answer scikit-learn's name of the matrix of distances."""
    if name == "pairwise_distances":
        raise ImportError("scikit-learn's pairwise_distances is lowfold.metrics.pairwise(X, metric=)")
    raise AttributeError(f"module 'lowfold.metrics' has no attribute {name!r}")
