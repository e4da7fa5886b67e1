"""What the measured error of a way back is worth: its bounds, told where they are wide."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core import errors
from lowfold._core.types import Floats
from lowfold._core.warn import warn

# Of 676 ways back on tables with heavy tails 74 had an error on new rows that was a quarter from the measured one. With
# these bounds 9 of them were not told, and 29% of all were told; with 2 standard errors 24 and 19%, without the first
# outlier alone 20 and 24%.
ERRORS = 3.0
OUTLIERS = 3
WIDE = 0.25  # the error and a bound that differ by this factor are told
MUCH = 0.1  # share of the spread that outliers hold: without them a small sample has wide bounds, but no few points


def error_range(squares: Floats, spread: Floats, times: Floats) -> tuple[float, tuple[float, float]]:
    """sqrt(sum of squared errors / sum of squared distances from the mean), each row `times`, and its bounds.

    They hold so many standard errors, and the errors without the outliers that hold most of the spread.
    """
    total = float(times @ spread)
    error = float(np.sqrt(times @ squares / total))
    if error == 0:
        return error, (error, error)
    own = ERRORS * float(np.linalg.norm(times * (squares - error**2 * spread))) / (2 * error * total)
    kept = np.argsort(-spread)[: min(OUTLIERS, len(spread) - 1)]
    left = total - np.cumsum((times * spread)[kept])
    missed = np.maximum(float(times @ squares) - np.cumsum((times * squares)[kept]), 0.0)
    without = np.sqrt(missed[left > 0] / left[left > 0])
    low, high = float(min(error - own, *without)), float(max(error + own, *without))
    return error, (max(low, 0.0), high)


def tell_uncertain(name: str, error: float, bounds: tuple[float, float], outliers: float) -> None:
    """Warn where the error of new points may be far from the measured one, because of the share that outliers hold."""
    low, high = bounds
    if outliers > MUCH and (low * (1 + WIDE) < error or high > (1 + WIDE) * error):
        warn(
            f"what the way back of {name} is worth rests on few points: outliers hold {outliers:.0%} of the squared "
            f"distances from the mean, and the error measured at fit, {error:.2g} (inverse_error_), may be "
            f"{low:.2g} to {high:.2g} on new points (inverse_error_range_); leave these rows out, or take logarithms "
            "of skewed columns",
            errors.AccuracyWarning,
        )


def misread(model: Any) -> str | None:
    """What is wrong with what a file says of the way back, in words."""
    if not hasattr(model, "inverse_outliers_"):
        return None
    error, bounds, outliers = (
        getattr(model, name, None) for name in ("inverse_error_", "inverse_error_range_", "inverse_outliers_")
    )
    numbers = [error, *bounds, outliers] if isinstance(bounds, tuple) and len(bounds) == 2 else [None]
    if all(isinstance(one, float) and np.isfinite(one) and one >= 0 for one in numbers):
        return None
    return "what the way back is worth is not said in numbers"
