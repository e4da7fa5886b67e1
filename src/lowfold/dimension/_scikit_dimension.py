"""Estimators of the package scikit-dimension, by name. Bac et al. (2021), doi:10.3390/e23101368."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.limits import Int, check_limits
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled
from lowfold.dimension._read import distinct, read_source
from lowfold.graph._source import Points

PREFIX = "skdim:"
FEWEST = 20  # points on which the curve is still drawn
FIT_OPTIONS = ("n_neighbors", "comb")  # which estimators that have local values take when fitted


def scikit_dimension_names() -> tuple[str, ...]:
    """Names of the estimators that the installed scikit-dimension has."""
    public = {name: item for name, item in vars(_module()).items() if not name.startswith("_")}
    return tuple(sorted(name for name, item in public.items() if inspect.isclass(item)))


def scikit_dimension(
    X: Any,
    name: str,
    *,
    params: Mapping[str, Any] | None = None,
    max_points: int = 1000,
    n_resamples: int = 4,
    random_state: object = 0,
) -> Estimate:
    """An estimator of scikit-dimension (extra `dimension`), as "DANCo", "FisherS", "ESS"; in any case of letters.

    The curve is the value on random 1, 1/2, 1/4, ... of the points, that is at larger scales. Local where the estimator
    has values at points. What it warns of is in `note`; where it fails or gives no number, `reason` says what it said.
    Repeated points are left out.

    Parameters
    ----------
    X : points, Euclidean.
    name : one of `scikit_dimension_names()`.
    params : its own parameters; for those with local values also `n_neighbors` and `comb`.
    max_points : beyond this many points a random sample is used. Some are slow: ESS takes half a minute for 600.
    n_resamples : estimates on random halves for the interval; 0 for none.

    >>> import numpy as np
    >>> round(scikit_dimension(np.random.default_rng(0).random((300, 2)), "twonn", n_resamples=0).value)
    2
    """
    values = {"max_points": max_points, "n_resamples": n_resamples}
    check_limits("scikit_dimension", values, {"max_points": (Int(FEWEST),), "n_resamples": (Int(0),)})
    cls = _estimator(name)
    options, fitting = _options(cls, dict(params or {}))
    source = read_source(X, "euclidean", None)
    assert isinstance(source, Points)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, max_points, rng)
    points = np.asarray(source.X[kept], dtype=np.float64)
    shown = PREFIX + cls.__name__
    if len(points) < FEWEST:
        return cannot_tell(shown, f"{len(points)} different points are too few; at least {FEWEST}")
    if points.shape[1] == 1:
        points = np.pad(points, ((0, 0), (0, 1)))  # it refuses a single column
    seed = int(rng.integers(2**31))
    if "random_state" in inspect.signature(cls).parameters:
        options.setdefault("random_state", seed)
    value, local, said = _fitted(cls, options, fitting, points)
    note = "; ".join(words for words in (note, said) if words) or None
    if not np.isfinite(value):
        return cannot_tell(shown, said or "it gives no number for these points", note=note)
    scales, curve, part = [float(len(points))], [value], np.arange(len(points))
    while len(part) // 2 >= FEWEST and len(curve) < 4:
        part = np.sort(rng.choice(part, len(part) // 2, replace=False))
        scales.append(float(len(part)))
        curve.append(_fitted(cls, options, fitting, points[part])[0])

    def on_half(rows: Ints) -> float:
        return _fitted(cls, options, fitting, points[rows])[0]

    everywhere = None
    if local is not None:
        everywhere = np.full(source.n, np.nan)
        everywhere[kept] = local
    return Estimate(
        shown,
        value,
        half_samples(on_half, len(points), value, n_resamples, rng),
        used=(scales[0], scales[0]),
        scales=np.array(scales[::-1]),
        curve=np.array(curve[::-1]),
        axes=("points", "dimension"),
        local=everywhere,
        note=note,
    )


def _module() -> Any:
    return load_extra("skdim.id", "dimension", "an estimator of scikit-dimension")


def _estimator(name: str) -> Any:
    names = scikit_dimension_names()
    by_plain = {found.lower().replace("_", ""): found for found in names}
    plain = name.removeprefix(PREFIX).lower().replace("_", "").replace("-", "")
    if plain not in by_plain:
        raise InvalidInput(f"scikit-dimension has no estimator {name!r}; it has {', '.join(names)}")
    return getattr(_module(), by_plain[plain])


def _options(cls: Any, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the constructor and of `fit`; one that it does not have is refused with the list."""
    known = set(inspect.signature(cls).parameters)
    local = {name for name in FIT_OPTIONS if name in inspect.signature(cls.fit).parameters}
    for name in given:
        if name not in known | local:
            have = ", ".join(sorted(known | local)) or "none"
            raise InvalidInput(f"{cls.__name__} of scikit-dimension has no parameter {name!r}; it has {have}")
    if "verbose" in known:
        given.setdefault("verbose", False)
    return {k: v for k, v in given.items() if k in known}, {k: v for k, v in given.items() if k not in known}


def _fitted(
    cls: Any, options: dict[str, Any], fitting: dict[str, Any], points: Floats
) -> tuple[float, Floats | None, str | None]:
    """Value, local values or None, and what it warned of or failed with."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = cls(**options).fit(points, **fitting)
            value = float(model.dimension_)
            local = getattr(model, "dimension_pw_", None)
        except Exception as error:  # noqa: BLE001 - whatever another package raises is its answer
            return float("nan"), None, f"{cls.__name__} failed: {type(error).__name__}: {' '.join(str(error).split())}"
    said = dict.fromkeys(" ".join(str(item.message).split()) for item in heard)
    words = f"{cls.__name__} warns: {'; '.join(said)}" if said else None
    return value, None if local is None else np.asarray(local, dtype=np.float64), words
