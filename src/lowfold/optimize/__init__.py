"""Losses by descent: stress by majorisation and by gradient, isotonic regression, neighbour embeddings."""

from lowfold.optimize._descend import descend, descend_rows
from lowfold.optimize._isotonic import Ranking, isotonic, majorise_ordinal
from lowfold.optimize._rows import place_rows, triangulate
from lowfold.optimize._smacof import Minimum, majorise
from lowfold.optimize._stress import Computed, EdgeTerms, Held, PairTerms, Sums, Terms

__all__ = [
    "Computed",
    "EdgeTerms",
    "Held",
    "Minimum",
    "PairTerms",
    "Ranking",
    "Sums",
    "Terms",
    "descend",
    "descend_rows",
    "isotonic",
    "majorise",
    "majorise_ordinal",
    "place_rows",
    "triangulate",
]
