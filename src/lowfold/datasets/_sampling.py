"""What the generators share: checked arguments, draws, noise, frames, distances on flat pieces."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats


def check_count(n: object, name: str = "n", minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or int(n) < minimum:
        raise InvalidInput(f"{name} must be a whole number of at least {minimum}; got {n!r}")
    return int(n)


def check_positive(value: object, name: str) -> float:
    """A finite number above zero."""
    number = _number(value)
    if number is None or number <= 0:
        raise InvalidInput(f"{name} must be a finite number above 0; got {value!r}")
    return number


def check_between(value: object, name: str, low: float, high: float) -> float:
    """A number in the closed interval [low, high]."""
    number = _number(value)
    if number is None or not low <= number <= high:
        raise InvalidInput(f"{name} must be a number from {low:g} to {high:g}; got {value!r}")
    return number


def check_noise(value: object) -> float:
    """A standard deviation: finite, zero or more."""
    number = _number(value)
    if number is None or number < 0:
        raise InvalidInput(
            f"noise is the standard deviation of the noise: a finite number of at least 0; got {value!r}"
        )
    return number


def check_choice(value: object, name: str, allowed: Iterable[str]) -> str:
    """One of a few words."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise InvalidInput(f"{name} must be one of {', '.join(map(repr, words))}; got {value!r}")
    return value


def check_numbers(value: object, name: str) -> Floats:
    """An array of finite numbers, of whatever shape came."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} must hold finite numbers; got {value!r}")
    return array


def check_lengths(value: object, name: str, count: int | None = None) -> Floats:
    """A row of numbers above zero: `count` of them, or at least one."""
    array = check_numbers(value, name)
    if array.ndim != 1 or len(array) == 0 or (array <= 0).any() or count not in (None, len(array)):
        wanted = "one or more" if count is None else str(count)
        raise InvalidInput(f"{name} must be {wanted} lengths above 0; got {value!r}")
    return array


def check_counts(value: object, name: str, minimum: int, count: int | None = None) -> list[int]:
    """A row of whole numbers of at least `minimum`: `count` of them, or at least one."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise InvalidInput(f"{name} must be a row of whole numbers; got {value!r}")
    numbers_given = [check_count(item, f"each number of {name}", minimum) for item in value]
    if not numbers_given or count not in (None, len(numbers_given)):
        wanted = "one or more" if count is None else str(count)
        raise InvalidInput(f"{name} must be {wanted} whole numbers; got {value!r}")
    return numbers_given


def _number(value: object) -> float | None:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        return None
    return float(value)


def uniform(rng: np.random.Generator, n: int, *ranges: tuple[float, float]) -> Floats:
    """(n, len(ranges)) independent uniform draws, column c from ranges[c]."""
    low, high = np.array(ranges, dtype=np.float64).T
    return np.asarray(low + (high - low) * rng.random((n, len(ranges))))


def rejection(
    rng: np.random.Generator,
    n: int,
    draw: Callable[[np.random.Generator, int], Floats],
    chance: Callable[[Floats], Floats],
) -> Floats:
    """n rows of `draw`, each kept with probability `chance(row)`: density proportional to draw's times chance."""
    kept: list[Floats] = []
    missing = n
    while missing > 0:
        rows = draw(rng, max(2 * missing, 64))
        rows = rows[rng.random(len(rows)) < chance(rows)][:missing]
        kept.append(rows)
        missing -= len(rows)
    return np.concatenate(kept)


def noisy(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """X plus isotropic Gaussian noise of standard deviation `noise`; drawn last, so a seed keeps its clean points."""
    return X if noise == 0 else X + noise * rng.standard_normal(X.shape)


def frame(ambient_dim: int, d: int) -> Floats:
    """A fixed (ambient_dim, d) orthonormal frame, tilted against every axis: columns 1..d of the cosine transform.

    The columns are orthogonal to the vector of ones, so adding a multiple of it moves a plane off the origin.
    Where ambient_dim = d the frame is the identity.
    """
    if ambient_dim == d:
        return np.eye(d)
    j, k = np.arange(ambient_dim)[:, None], np.arange(1, d + 1)[None, :]
    return np.asarray(np.sqrt(2.0 / ambient_dim) * np.cos(np.pi * (j + 0.5) * k / ambient_dim))


def split(n: int, parts: int) -> NDArray[np.int64]:
    """Part number of each of n points, the parts as equal as they can be, in order."""
    return np.sort(np.arange(n, dtype=np.int64) % parts)


def wrap(angle: Floats) -> Floats:
    """Angle difference folded to [0, pi]: the short way round."""
    turn = np.abs(angle) % (2 * np.pi)
    return np.minimum(turn, 2 * np.pi - turn)


def euclidean(a: Floats, b: Floats) -> Floats:
    """Straight-line distance: the geodesic of a convex piece of isometric coordinates."""
    return np.asarray(np.linalg.norm(a - b, axis=1), dtype=np.float64)
