"""Distances between rows, and the maps after which they are Euclidean (Wang 2012, Section 3.1.1)."""

from lowfold.metrics._dissimilarity import compose, kernel_distance, similarity_to_distance, squared_distances
from lowfold.metrics._metric import Metric
from lowfold.metrics._pairwise import one_to_many, pairwise
from lowfold.metrics._resolve import resolve_metric
from lowfold.metrics._table import METRICS

__all__ = [
    "METRICS",
    "Metric",
    "compose",
    "kernel_distance",
    "one_to_many",
    "pairwise",
    "resolve_metric",
    "similarity_to_distance",
    "squared_distances",
]
