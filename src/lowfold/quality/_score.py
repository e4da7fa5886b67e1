"""What every measure returns: one number, which way is better, and a number per point where one is defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from lowfold._core.types import Floats


@dataclass(frozen=True, eq=False)
class Score(float):
    """One measure of one embedding: a float, its value, that knows more of itself.

    name    the measure
    value   the number
    perfect the value of an embedding without fault
    points  (n,) the same measure at every point, for colouring; None where it is defined for the whole only

    >>> t = Score("trustworthiness", 0.9876, 1.0)
    >>> f"{t:.2f}", round(1 - t, 4), str(t)
    ('0.99', 0.0124, 'trustworthiness = 0.9876 (perfect: 1)')
    """

    name: str
    value: float
    perfect: float
    points: Floats | None = None

    def __new__(cls, name: str, value: float, *rest: Any, **more: Any) -> Self:
        return super().__new__(cls, value)

    def __getnewargs__(self) -> tuple[Any, ...]:  # copies and pickles are made by __new__
        return (self.name, self.value)

    def __repr__(self) -> str:
        return f"{self.name} = {self.value:.4g} (perfect: {self.perfect:g})"
