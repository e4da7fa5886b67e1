"""Losses by descent: stress by majorisation and by gradient, isotonic regression, neighbour embeddings."""

from lowfold.optimize._descend import descend, descend_rows, polish_rows
from lowfold.optimize._isotonic import Ranking, isotonic, majorise_ordinal
from lowfold.optimize._momentum import Callback, Layout, default_momentum, momentum_descent
from lowfold.optimize._neighbor import (
    Affinities,
    DenseAffinities,
    FFTCost,
    GaussianCost,
    SparseAffinities,
    TSNECost,
    row_divergence,
)
from lowfold.optimize._perplexity import Bandwidths, joint_bandwidth, row_bandwidths, row_probabilities
from lowfold.optimize._rows import place_rows, triangulate
from lowfold.optimize._smacof import Minimum, majorise
from lowfold.optimize._stress import Computed, EdgeTerms, Held, PairTerms, Slopes, Sums, Terms

__all__ = [
    "Affinities",
    "Bandwidths",
    "Callback",
    "Computed",
    "DenseAffinities",
    "EdgeTerms",
    "FFTCost",
    "GaussianCost",
    "Held",
    "Layout",
    "Minimum",
    "PairTerms",
    "Ranking",
    "Slopes",
    "SparseAffinities",
    "Sums",
    "TSNECost",
    "Terms",
    "default_momentum",
    "descend",
    "descend_rows",
    "isotonic",
    "joint_bandwidth",
    "majorise",
    "majorise_ordinal",
    "momentum_descent",
    "place_rows",
    "polish_rows",
    "row_bandwidths",
    "row_divergence",
    "row_probabilities",
    "triangulate",
]
