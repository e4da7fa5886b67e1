"""What stands in a table where a value is missing: the usual words, what the caller names, and numbers that look so."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import AnyFloats

# Ways to write that there is no value: of pandas, R, Excel, and the marks of statistics packages; none is a number
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", ".", "-", "--"})
# Numbers that instruments, survey programs and archives write for it: nines, the least of int16, fill values of NetCDF
STAND_INS = (-99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, -32768.0, 1e20, -1e30, 1e30)
SHOWN = 3  # columns named in a sentence


@dataclass(frozen=True)
class Marks:
    """Words, in small letters, and numbers that mean a missing value."""

    words: frozenset[str] = MISSING
    numbers: tuple[float, ...] = ()

    def has(self, field: str) -> bool:
        """Whether the field is one of the words."""
        return field.strip().lower() in self.words

    def blank(self, values: AnyFloats) -> AnyFloats:
        """The values with NaN in place of the numbers."""
        if not self.numbers:
            return values
        there = np.isin(values, np.array(self.numbers, dtype=values.dtype))
        return np.where(there, np.array(np.nan, dtype=values.dtype), values) if there.any() else values


USUAL = Marks()


def marks_of(na: Any) -> Marks:
    """The usual words and what `na=` adds: a number, a word, or several."""
    several = isinstance(na, Iterable) and not isinstance(na, str)
    given = list(na) if several else [] if na is None else [na]
    if any(isinstance(one, bool) or not isinstance(one, str | numbers.Real) for one in given):
        raise InvalidInput(f"na must be a word or a number that means a missing value, or several; got {na!r}")
    if not given:
        return USUAL
    known = [(str(one).strip().lower(), _number(one)) for one in given]
    return Marks(
        MISSING | {word for word, number in known if number is None},
        tuple(number for _, number in known if number is not None),
    )


def _number(one: Any) -> float | None:
    try:
        return float(one)
    except ValueError:
        return None


def told_stand_ins(X: NDArray[np.floating], names: Sequence[str]) -> list[str]:
    """A word about columns that end in a number such as -999, farther from the others than these reach."""
    found: dict[float, list[str]] = {}
    count: dict[float, int] = {}
    ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    for end in ends:
        for j in np.flatnonzero(np.isin(end, np.array(STAND_INS, dtype=X.dtype))).tolist():
            column, mark = X[:, j], end[j]
            rest = column[(column != mark) & np.isfinite(column)]
            if len(rest) < 2 or not np.abs(rest - mark).min() > np.ptp(rest) > 0:
                continue
            found.setdefault(float(mark), []).append(repr(names[j]))
            count[float(mark)] = count.get(float(mark), 0) + int((column == mark).sum())
    return [
        f"{mark:g} stands {count[mark]} times, far from all other values, in column"
        f"{'s' if len(where) > 1 else ''} {', '.join(where[:SHOWN])}{', ...' if len(where) > SHOWN else ''}; "
        f"where it means a missing value, say na={mark:g}"
        for mark, where in found.items()
    ]
