"""Choosing: parameters of one method (`tune`), and between methods (`compare`)."""

from lowfold.select._compare import compare
from lowfold.select._compare_types import Comparison, Row
from lowfold.select._factors import Factors, seven_factors
from lowfold.select._tune import tune
from lowfold.select._types import Curve, Tuned

__all__ = ["Comparison", "Curve", "Factors", "Row", "Tuned", "compare", "seven_factors", "tune"]
