"""What `tune` returns: an unfitted model, the curves it was decided on, and the reasons in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.html import html_table
from lowfold._core.types import Floats


@dataclass(frozen=True, eq=False)
class Curve:
    """The measure over the candidates of one parameter.

    parameter  its name
    values     the candidates, ascending
    scores     mean of the measure over subsamples; NaN where a candidate could not be used
    spread     standard deviation over subsamples
    chosen     the candidate taken
    measure    what was measured, in words; larger is better
    refused    candidate -> why it was not eligible, whatever its score
    """

    parameter: str
    values: tuple[Any, ...]
    scores: Floats
    spread: Floats
    chosen: Any
    measure: str
    refused: Mapping[Any, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; NaN is None."""
        return {
            "parameter": self.parameter,
            "values": list(self.values),
            "scores": _plain(self.scores),
            "spread": _plain(self.spread),
            "chosen": self.chosen,
            "measure": self.measure,
            "refused": {str(value): why for value, why in self.refused.items()},
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Each candidate, its score, and what is said of it."""
        shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in self.values]
        scores = ["-" if np.isnan(a) else f"{a:.4f} +- {b:.4f}" for a, b in zip(self.scores, self.spread)]
        return list(zip(shown, scores, map(self._said, self.values)))

    def _said(self, value: Any) -> str:
        chosen = "<- chosen" if value == self.chosen else ""
        refused = f"not eligible: {self.refused[value]}" if value in self.refused else ""
        return "  ".join(filter(None, [chosen, refused]))

    def __repr__(self) -> str:
        lines = [f"  {value:>10s}  {score:>17s}  {said}".rstrip() for value, score, said in self.rows()]
        return "\n".join([f"{self.parameter}: {self.measure}", *lines])


@dataclass(frozen=True, eq=False)
class Tuned:
    """A method with its parameters chosen; `print` shows what was chosen and the curves.

    model    the method, not fitted yet: call `model.fit(X)`
    params   the parameters that were chosen
    curves   one for each choice that was made
    reasons  one sentence for each choice, and for what could not be chosen
    """

    model: Any
    params: dict[str, Any]
    curves: tuple[Curve, ...]
    reasons: tuple[str, ...]

    def __getitem__(self, parameter: str) -> Curve:
        for curve in self.curves:
            if curve.parameter == parameter:
                return curve
        names = ", ".join(curve.parameter for curve in self.curves) or "none: nothing was chosen"
        raise InvalidInput(f"parameter must be one of {names}; got {parameter!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "method": type(self.model).__name__,
            "params": dict(self.params),
            "curves": [curve.to_dict() for curve in self.curves],
            "reasons": list(self.reasons),
        }

    def _head(self) -> str:
        chosen = ", ".join(f"{name}={_short(value)}" for name, value in self.params.items())
        return f"{type(self.model).__name__}({chosen})"

    def _repr_html_(self) -> str:
        rows = [(curve.parameter, *row) for curve in self.curves for row in curve.rows()]
        header = ("parameter", "candidate", "score", "")
        measured = [f"{curve.parameter}: {curve.measure}" for curve in self.curves]
        return html_table(header, rows, title=self._head(), notes=[*self.reasons, *measured])

    def __repr__(self) -> str:
        return "\n".join(
            [self._head(), *(f"  {words}" for words in self.reasons), *(str(curve) for curve in self.curves)]
        )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _plain(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
