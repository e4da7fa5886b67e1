"""What every measure returns: one number, which way is better, and a number per point where one is defined."""

from __future__ import annotations

from dataclasses import dataclass

from lowfold._core.types import Floats


@dataclass(frozen=True, eq=False)
class Score:
    """One measure of one embedding; `float(score)` is its value.

    name    the measure
    value   the number
    perfect the value of an embedding without fault
    points  (n,) the same measure at every point, for colouring; None where it is defined for the whole only
    """

    name: str
    value: float
    perfect: float
    points: Floats | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.4g} (perfect: {self.perfect:g})"
