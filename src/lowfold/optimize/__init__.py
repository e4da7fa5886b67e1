"""Losses by descent: stress by majorisation and by gradient, isotonic regression, neighbour embeddings."""

from lowfold.optimize._descend import descend
from lowfold.optimize._isotonic import isotonic
from lowfold.optimize._rows import triangulate

__all__ = [
    "descend",
    "isotonic",
    "triangulate",
]
