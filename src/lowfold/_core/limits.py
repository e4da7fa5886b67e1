"""Limits of parameters as data, and the one sentence that a value outside them gets."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput


class Limit(Protocol):
    """One kind of allowed value: tests a value and says itself in words."""

    def allows(self, value: object) -> bool: ...

    def words(self) -> str: ...

    def kind(self) -> str:
        """The type as a docstring names it."""
        ...


@dataclass(frozen=True)
class Int:
    """A whole number in [low, high]."""

    low: int = 0
    high: float = math.inf

    def allows(self, value: object) -> bool:
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, (bool, np.bool_))
            and self.low <= int(value) <= self.high
        )

    def words(self) -> str:
        return f"an int of at least {self.low}" if math.isinf(self.high) else f"an int from {self.low} to {self.high}"

    def kind(self) -> str:
        return f"int of at least {self.low}" if math.isinf(self.high) else f"int from {self.low} to {self.high}"


@dataclass(frozen=True)
class Real:
    """A finite number from `low` to `high`; `open_low`/`open_high` leave the end out."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: object) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond float64
            return False
        if not math.isfinite(number):
            return False
        low = number > self.low if self.open_low else number >= self.low
        high = number < self.high if self.open_high else number <= self.high
        return low and high

    def words(self) -> str:
        parts = []
        if math.isfinite(self.low):
            parts.append(f"{'above' if self.open_low else 'of at least'} {self.low:g}")
        if math.isfinite(self.high):
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        return "a number " + " and ".join(parts) if parts else "a number"

    def kind(self) -> str:
        return self.words().replace("a number", "float", 1)


@dataclass(frozen=True)
class Choice:
    """One of the named strings."""

    options: tuple[str, ...]

    def allows(self, value: object) -> bool:
        return isinstance(value, str) and value in self.options

    def words(self) -> str:
        return " or ".join(repr(option) for option in self.options)

    def kind(self) -> str:
        return "{" + ", ".join(f'"{option}"' for option in self.options) + "}"


@dataclass(frozen=True)
class Null:
    """None, with what it means."""

    meaning: str = ""

    def allows(self, value: object) -> bool:
        return value is None

    def words(self) -> str:
        return f"None ({self.meaning})" if self.meaning else "None"

    def kind(self) -> str:
        return "None"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def allows(self, value: object) -> bool:
        return isinstance(value, (bool, np.bool_))

    def words(self) -> str:
        return "True or False"

    def kind(self) -> str:
        return "bool"


@dataclass(frozen=True)
class Function:
    """Something that can be called."""

    signature: str = ""

    def allows(self, value: object) -> bool:
        return callable(value)

    def words(self) -> str:
        return f"a callable {self.signature}".rstrip()

    def kind(self) -> str:
        return "callable"


def _array(value: object) -> NDArray[Any] | None:
    """The array that a list, a tuple or an array stands for; None for anything else, and for rows of unequal length."""
    if not isinstance(value, (np.ndarray, list, tuple)):
        return None
    try:
        return np.asarray(value)
    except ValueError:
        return None


@dataclass(frozen=True)
class IntArray:
    """One whole number per point, each of at least `low`."""

    low: int = 1

    def allows(self, value: object) -> bool:
        array = _array(value)
        if array is None:
            return False
        return array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu" and bool((array >= self.low).all())

    def words(self) -> str:
        return f"an array with one int of at least {self.low} per point"

    def kind(self) -> str:
        return "array of int"


@dataclass(frozen=True)
class RealArray:
    """An array of finite numbers."""

    what: str = "an array of finite numbers"

    def allows(self, value: object) -> bool:
        array = _array(value)
        if array is None:
            return False
        return array.size > 0 and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())

    def words(self) -> str:
        return self.what

    def kind(self) -> str:
        return "array"


@dataclass(frozen=True)
class Table:
    """A mapping from names to values."""

    def allows(self, value: object) -> bool:
        return isinstance(value, Mapping)

    def words(self) -> str:
        return "a dict"

    def kind(self) -> str:
        return "dict"


@dataclass(frozen=True)
class Seed:
    """What numpy can make a Generator of."""

    def allows(self, value: object) -> bool:
        return isinstance(value, (np.random.Generator, np.random.RandomState)) or Int(0).allows(value)

    def words(self) -> str:
        return "an int of at least 0 or a numpy Generator or RandomState"

    def kind(self) -> str:
        return "int, Generator or RandomState"


@dataclass(frozen=True)
class Jobs:
    """A number of threads."""

    def allows(self, value: object) -> bool:
        return Int(-(2**20)).allows(value) and value != 0

    def words(self) -> str:
        return "an int that is not 0"

    def kind(self) -> str:
        return "int"


Limits = Mapping[str, tuple[Limit, ...]]


def _nearest(allowed: tuple[Limit, ...], value: object) -> str | None:
    """The option that a misspelt word may mean."""
    options = [option for limit in allowed if isinstance(limit, Choice) for option in limit.options]
    if not isinstance(value, str) or not options:
        return None
    from difflib import get_close_matches

    near = get_close_matches(value, options, n=1)
    return f"did you mean {near[0]!r}?" if near else None


def check_limits(
    owner: str, values: Mapping[str, object], limits: Limits, advice: Mapping[tuple[str, Any], str] | None = None
) -> None:
    """Raise the sentence for the first value outside its limits, with the advice for this name and value.

    >>> check_limits("Isomap", {"n_neighbors": 0}, {"n_neighbors": (Int(1), Null())})
    Traceback (most recent call last):
    lowfold._core.errors.InvalidInput: n_neighbors of Isomap must be an int of at least 1 or None; got 0
    """
    for name, value in values.items():
        allowed = limits[name]
        if allowed and not any(limit.allows(value) for limit in allowed):  # none: of a user's own class
            words = " or ".join(limit.words() for limit in allowed)
            shown = repr(value) if len(repr(value)) <= 80 else f"{type(value).__name__} {repr(value)[:60]}..."
            plain = isinstance(value, (str, int, float, type(None)))
            more = ((advice or {}).get((name, value)) or _nearest(allowed, value)) if plain else None
            raise InvalidInput(f"{name} of {owner} must be {words}; got {shown}{'' if more is None else f'; {more}'}")
