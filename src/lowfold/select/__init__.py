"""Choosing: parameters of one method (`tune`), and between methods (`compare`)."""

from lowfold.select._compare import compare
from lowfold.select._factors import seven_factors
from lowfold.select._tune import tune

__all__ = [
    "compare",
    "seven_factors",
    "tune",
]
