"""What every estimator of dimension returns, and how far it would move with another sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]

COVERAGE = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Estimate:
    """One estimate of the intrinsic dimension; `float(estimate)` is its value.

    name       the estimator
    value      the dimension, NaN where it cannot tell
    interval   95% by resampling points, or None
    used       the smallest and largest scale that the value rests on, or None
    scales     (m,) scales of the curve: radii, numbers of neighbours, numbers of components
    curve      (m,) the curve to plot over `scales`
    axes       what scales and curve are, in words
    local      (n,) the dimension at every point, NaN where not defined; or None
    reason     why the value cannot be told, or should not be trusted; None where nothing speaks against it
    """

    name: str
    value: float
    interval: Interval | None = None
    used: Interval | None = None
    scales: Floats | None = None
    curve: Floats | None = None
    axes: tuple[str, str] = ("scale", "value")
    local: Floats | None = None
    reason: str | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        value = "cannot tell" if np.isnan(self.value) else f"{self.value:.2f}"
        spread = "" if self.interval is None else f" [{self.interval[0]:.2f}, {self.interval[1]:.2f}]"
        reason = "" if self.reason is None else f" ({self.reason})"
        return f"{self.name}: {value}{spread}{reason}"


@dataclass(frozen=True, eq=False)
class Estimates:
    """Several estimates of one data set; `print` shows them as a table, `estimates["mle"]` is one of them."""

    items: tuple[Estimate, ...]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, name: str) -> Estimate:
        for item in self.items:
            if item.name == name:
                return item
        raise InvalidInput(f"name must be one of {', '.join(item.name for item in self.items)}; got {name!r}")

    def median(self) -> float:
        """Median of the values of estimators with nothing against them; NaN where there is none."""
        values = [item.value for item in self.items if item.reason is None]
        return float(np.median(values)) if values else float("nan")

    def __str__(self) -> str:
        width = max((len(item.name) for item in self.items), default=0)
        return "\n".join(f"{item.name:<{width}}  {str(item)[len(item.name) + 2 :]}" for item in self.items)


def cannot_tell(name: str, reason: str) -> Estimate:
    """An estimate without a value."""
    return Estimate(name, float("nan"), reason=reason)


def bootstrap(
    statistic: Callable[[Ints], float], n: int, value: float, times: int, rng: np.random.Generator
) -> Interval | None:
    """Basic bootstrap interval of a statistic of independent values: it is given rows drawn with replacement."""
    if times == 0 or n < 2:
        return None
    drawn = np.array([statistic(rng.integers(0, n, n)) for _ in range(times)])
    low, high = np.quantile(drawn - value, COVERAGE)
    return float(value - high), float(value - low)


def half_samples(
    estimate: Callable[[Ints], float],
    n: int,
    value: float,
    times: int,
    rng: np.random.Generator,
    *,
    whole: bool = False,
) -> Interval | None:
    """Interval from estimates on random halves of the points, drawn without replacement.

    Distances to repeated points are zero, so that drawing with replacement would spoil what is built on distances; and
    values at neighbouring points rest on the same distances, so that they cannot be resampled one by one. An
    estimate on half of the points, drawn without replacement, spreads about its mean as one on all points about the
    truth (Shao & Wu 1989, doi:10.1214/aos/1176347263). Estimates that are `whole` numbers are not moved: their interval
    is from the smallest to the largest.
    """
    if times == 0 or n < 20:
        return None
    drawn = np.array([estimate(np.sort(rng.choice(n, n // 2, replace=False))) for _ in range(times)])
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < 2 or np.isnan(value):
        return None
    if whole:
        return min(value, float(drawn.min())), max(value, float(drawn.max()))
    reach = 1.96 * float(drawn.std(ddof=1))
    return value - reach, value + reach


def slope(log_scale: Floats, log_value: Floats) -> float:
    """Slope of the least-squares line."""
    x = log_scale - log_scale.mean()
    return float(x @ (log_value - log_value.mean()) / (x @ x))
