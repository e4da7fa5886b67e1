"""From a name (or a function) and parameters to a `Metric`, with errors in words."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput, InvalidType
from lowfold._core.extras import load_extra
from lowfold._core.rounding import LARGEST
from lowfold._core.types import AnyFloats
from lowfold.metrics import _maps as maps
from lowfold.metrics import _scipy as scipy_metrics
from lowfold.metrics import _unmapped as unmapped
from lowfold.metrics._mahalanobis import covariance_root
from lowfold.metrics._metric import Metric
from lowfold.metrics._table import METRICS

Params = dict[str, Any]

SCALING = ("mahalanobis", "seuclidean", "sqeuclidean")  # whose distances are of another size than the rows
SHOWN = 64  # rows
SILENT = 1e-6  # of the largest coefficient: the phase of a smaller one is that of its rounding
MOST_LEVELS = 30  # halvings of a row: 2**30 values are more than any has


def resolve_metric(
    metric: str | Callable[..., Any] | Metric, metric_params: Mapping[str, Any] | None, X: AnyFloats | None
) -> Metric:
    """The `Metric` of that name with these parameters, ready for data like X.

    X is the training data: it gives the defaults that depend on the number of columns and, for Mahalanobis, the
    covariance; it is checked for rows that the metric cannot take. With X None every parameter that depends on it
    must be given, as it is in `Metric.params`.
    """
    params = dict(metric_params or {})
    if isinstance(metric, Metric):
        if params:
            raise InvalidInput("metric_params must be empty when metric is a Metric, which has its own; use its name")
        return metric
    if callable(metric):
        return _from_callable(metric, params)
    if not isinstance(metric, str):
        raise InvalidType(f"metric must be a name, a function f(x, y) or a Metric; got {type(metric).__name__}")
    if metric not in METRICS:
        raise InvalidInput(f"metric must be a function or one of {', '.join(METRICS)}; got {metric!r}")
    allowed = METRICS[metric][1]
    for name in params:
        if name not in allowed:
            words = f"takes {', '.join(allowed)}" if allowed else "takes none"
            raise InvalidInput(f"metric_params: metric {metric!r} has no parameter {name!r}; it {words}")
    built = BUILDERS[metric](params, X) if metric in BUILDERS else scipy_metrics.build(metric, params, X)
    if metric in SCALING and X is not None:
        _check_scaled(built, X)
    return built


def _check_scaled(built: Metric, X: AnyFloats) -> None:
    """Refuse a scale at which distances leave the range; a few rows show it."""
    assert built.feature_map is not None
    with np.errstate(over="ignore", invalid="ignore"):
        F = built.feature_map(X[:: max(1, len(X) // SHOWN)])
        size = 2.0 * float(np.abs(F).max(initial=0.0)) * float(np.sqrt(F.shape[1]))
        size = size if built.finish is None else size**2
    most = float(np.finfo(np.float32).max) if X.dtype == np.float32 else LARGEST
    if not size <= most:
        raise InvalidInput(
            f"distances of metric {built.name!r} reach {size:.3g} on X, and beyond {most:.3g} they cannot be squared "
            "and summed; multiply X by a constant first, or look at metric_params"
        )


def _from_callable(function: Callable[..., Any], params: Params) -> Metric:
    if params:
        function = partial(function, **params)
    return Metric(
        "callable",
        block=partial(unmapped.callable_block, function=function),
        matched=partial(unmapped.callable_matched, function=function),
        params=params,
    )


def _euclidean(params: Params, X: AnyFloats | None) -> Metric:
    return Metric("euclidean", feature_map=maps.identity, linear=True)


def _angular(params: Params, X: AnyFloats | None) -> Metric:
    if X is not None:
        maps.require_directions(X)
    return Metric("angular", feature_map=maps.normalized)


def _cosine(params: Params, X: AnyFloats | None) -> Metric:
    if X is not None:
        maps.require_directions(X)
    return Metric("cosine", feature_map=maps.normalized, finish=maps.half_square, unfinish=maps.root_of_double)


def _correlation(params: Params, X: AnyFloats | None) -> Metric:
    if X is not None:
        maps.require_variation(X)
    return Metric("correlation", feature_map=maps.standardized, finish=maps.half_square, unfinish=maps.root_of_double)


def _template(params: Params, X: AnyFloats | None) -> Metric:
    return Metric(
        "template",
        block=partial(unmapped.minkowski_block, p=np.inf),
        matched=partial(unmapped.minkowski_matched, p=np.inf),
    )


def _minkowski(params: Params, X: AnyFloats | None) -> Metric:
    p = params.get("p", 2)
    if not isinstance(p, numbers.Real) or isinstance(p, bool) or not float(p) >= 1:
        raise InvalidInput(f"metric_params: p of minkowski must be a number of at least 1 (inf allowed); got {p!r}")
    p = float(p)
    if p == 2:
        return Metric("minkowski", feature_map=maps.identity, params={"p": p}, linear=True)
    return Metric(
        "minkowski",
        block=partial(unmapped.minkowski_block, p=p),
        matched=partial(unmapped.minkowski_matched, p=p),
        params={"p": p},
    )


def _fourier(params: Params, X: AnyFloats | None) -> Metric:
    s = _terms("fourier", params, X, smallest_left_out=0)
    band = _choice("fourier", "band", params.get("band", "symmetric"), ("symmetric", "first"))
    return Metric(
        "fourier",
        feature_map=partial(maps.fourier_lowpass, n_terms=s, band=band),
        params={"n_terms": s, "band": band},
        linear=True,
    )


def _fourier_phase(params: Params, X: AnyFloats | None) -> Metric:
    return _phase_metric("fourier_phase", maps.fourier_phases, _terms("fourier_phase", params, X, 0), params)


def _fourier_phase_difference(params: Params, X: AnyFloats | None) -> Metric:
    s = _terms("fourier_phase_difference", params, X, smallest_left_out=1)
    return _phase_metric("fourier_phase_difference", maps.fourier_phase_steps, s, params)


def _phase_metric(name: str, phases: Callable[..., AnyFloats], s: int, params: Params) -> Metric:
    wrap = params.get("wrap", True)
    threshold = params.get("threshold", SILENT)
    if not isinstance(wrap, bool | np.bool_):
        raise InvalidInput(f"metric_params: wrap of {name} must be True or False; got {wrap!r}")
    if not isinstance(threshold, numbers.Real) or not 0 <= float(threshold) < 1:
        raise InvalidInput(f"metric_params: threshold of {name} must be a number in [0, 1); got {threshold!r}")
    kept = {"n_terms": s, "wrap": bool(wrap), "threshold": float(threshold)}
    angles = partial(phases, n_terms=s, threshold=float(threshold))
    if not wrap:
        return Metric(name, feature_map=angles, params=kept)
    return Metric(name, prepare=angles, block=unmapped.torus_block, matched=unmapped.torus_matched, params=kept)


def _derivative(params: Params, X: AnyFloats | None) -> Metric:
    order = _whole("derivative", "order", params.get("order", 1), 1)
    operator = _choice("derivative", "operator", params.get("operator", "forward"), ("forward", "central"))
    shape = params.get("shape")
    shape = None if shape is None else tuple(_whole("derivative", "shape", side, 1) for side in shape)
    if shape is not None and len(shape) not in (2, 3):
        raise InvalidInput(f"metric_params: shape must be (height, width) or (height, width, channels); got {shape}")
    if X is not None and shape is not None and int(np.prod(shape)) != X.shape[1]:
        raise InvalidInput(f"metric_params: shape {shape} has {np.prod(shape)} pixels, but X has {X.shape[1]} columns")
    lost = order if operator == "forward" else 2 * order
    sides = shape[:2] if shape else (() if X is None else (X.shape[1],))
    if any(side <= lost for side in sides):
        raise InvalidInput(
            f"metric_params: order {order} ({operator}) needs more than {lost} values along each side; got {sides}"
        )
    return Metric(
        "derivative",
        feature_map=partial(maps.derivative, order=order, operator=operator, shape=shape),
        params={"order": order, "operator": operator} | ({} if shape is None else {"shape": shape}),
        linear=True,
    )


def _wavelet(params: Params, X: AnyFloats | None) -> Metric:
    name = params.get("wavelet", "haar")
    level = _whole("wavelet", "level", params.get("level", 1), 1)
    details = _whole("wavelet", "details", params.get("details", 0), 0)
    if details > level:
        raise InvalidInput(f"metric_params: details must be 0..level = {level}; got {details}")
    if level > MOST_LEVELS or (X is not None and 2**level > 2 * X.shape[1]):
        raise InvalidInput(f"metric_params: level {level} needs rows of at least {2 ** (level - 1)} values")
    pywt = load_extra("pywt", "wavelets", "metric='wavelet'")
    orthogonal = [w for w in pywt.wavelist(kind="discrete") if pywt.Wavelet(w).orthogonal]
    _choice("wavelet", "wavelet", name, tuple(orthogonal))
    return Metric(
        "wavelet",
        feature_map=partial(maps.wavelet_bands, wavelet=name, level=level, details=details),
        params={"wavelet": name, "level": level, "details": details},
        linear=True,
    )


def _mahalanobis(params: Params, X: AnyFloats | None) -> Metric:
    squared = params.get("squared", False)
    if not isinstance(squared, bool | np.bool_):
        raise InvalidInput(f"metric_params: squared must be True or False; got {squared!r}")
    M, L = covariance_root(params, X)
    return Metric(
        "mahalanobis",
        feature_map=partial(maps.whitened, root=L),
        finish=maps.square if squared else None,
        unfinish=maps.root if squared else None,
        params={"M": M, "squared": bool(squared)},
        linear=True,
    )


def _terms(name: str, params: Params, X: AnyFloats | None, smallest_left_out: int) -> int:
    """The number of Fourier terms: given, or half of the columns."""
    s = params.get("n_terms")
    if X is None:
        if s is None:
            raise InvalidInput(f"metric_params: metric {name!r} without data needs n_terms")
        return _whole(name, "n_terms", s, 1)
    largest = X.shape[1] - smallest_left_out
    if largest < 1:
        raise InvalidInput(f"metric {name!r} needs at least {1 + smallest_left_out} columns; got {X.shape[1]}")
    if s is None:
        return int(max(1, (X.shape[1] + 1 - smallest_left_out) // 2))
    s = _whole(name, "n_terms", s, 1)
    if s > largest:
        raise InvalidInput(f"metric_params: n_terms of {name} must be 1..{largest} for {X.shape[1]} columns; got {s}")
    return s


def _whole(metric: str, name: str, value: object, least: int) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise InvalidInput(f"metric_params: {name} of {metric} must be a whole number of at least {least}; got {value!r}")


def _choice(metric: str, name: str, value: object, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    raise InvalidInput(f"metric_params: {name} of {metric} must be one of {', '.join(allowed)}; got {value!r}")


BUILDERS: dict[str, Callable[[Params, AnyFloats | None], Metric]] = {
    "euclidean": _euclidean,
    "angular": _angular,
    "template": _template,
    "fourier": _fourier,
    "wavelet": _wavelet,
    "fourier_phase": _fourier_phase,
    "derivative": _derivative,
    "fourier_phase_difference": _fourier_phase_difference,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "cosine": _cosine,
    "correlation": _correlation,
}
