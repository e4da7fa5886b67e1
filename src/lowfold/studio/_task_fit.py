"""Tasks about methods: their controls, plans, fits, measures, and how steady a picture is."""

from __future__ import annotations

import importlib.util
import inspect
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, LowfoldError
from lowfold._core.limits import check_limits
from lowfold._core.stages import StageCache, keeping
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.methods._placing.maps import Impossible
from lowfold.methods.files import save
from lowfold.methods.plan import plan as make_plan
from lowfold.methods.registry import REGISTRY
from lowfold.methods.registry import load as method_class
from lowfold.metrics._resolve import resolve_metric
from lowfold.quality._stability import _laid, _standard, stability
from lowfold.quality._summary import Summary, summary
from lowfold.select._compare_measure import CURVE, MEASURES
from lowfold.select._tune import tune as choose
from lowfold.select._worker import edges_of, fitted_facts, forget_peak, memory_now
from lowfold.studio import _columns
from lowfold.studio._controls import TUNED, controls
from lowfold.studio._stored import labels, matrix, stored

PREVIEW = 20_000  # from so many points on a sample is embedded first
SAMPLE = 4000  # its size
MEASURED, RANKED = 3000, 100_000_000  # points from which all others are ranked, and pairs that this may take
SHEPARD = 3000  # pairs of the Shepard diagram
DENSITY = 200_000  # points up to which the density is looked at
OFTEN = 0.5  # seconds between two pictures of a descent
PARTS, SEEDS = 8, 4  # fits of the question how steady a picture is

Say = Callable[[dict[str, Any]], None]


def catalogue(say: Say) -> dict[str, Any]:
    """Every method with its controls, or why it cannot be used here."""
    found = []
    for entry in REGISTRY:
        why = ""
        if entry.inputs == ("matrices",):
            why = "takes several matrices of the same points; use `lowfold embed` with several files"
        elif entry.extra and importlib.util.find_spec(_MODULES.get(entry.extra, entry.extra)) is None:
            why = f"needs an optional package: pip install 'lowfold[{entry.extra}]'"
        cards = [asdict(one) for one in controls(method_class(entry.name))]
        parts = {"name": entry.name, "family": entry.family, "line": entry.line, "citation": entry.citation}
        found.append({**parts, "unusable": why, "controls": cards})
    return {"methods": found}


_MODULES = {"tsne": "openTSNE", "sdp": "clarabel", "amg": "pyamg", "ann": "faiss"}


def build(name: str, params: dict[str, Any], square: bool) -> Any:
    """The unfitted model; its parameters are checked before anything is computed."""
    cls = method_class(name)
    known = cls.parameters
    for key in params:
        if key not in known:
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
    if square:
        if "metric" not in known:
            raise InvalidInput(f"{name} takes points, not a matrix of distances")
        params = {**params, "metric": "precomputed"}
    model = cls(**params)
    check_limits(name, model.get_params(deep=False), cls.limits)
    return model


def plan(say: Say, folder: str, method: str, params: dict[str, Any], stages: str) -> dict[str, Any]:
    """What the method would do, as `lowfold.plan` says it."""
    where = Path(folder)
    with keeping(StageCache(Path(stages))):
        told = make_plan(matrix(where), build(method, params, stored(where).matrix))
    return {
        "stages": [{"name": s.name, "what": s.what, "bytes": s.bytes} for s in told.stages],
        "total": told.total,
        "budget": told.budget,
        "fits": told.fits,
        "way_out": told.way_out,
    }


def tune(say: Say, folder: str, method: str, params: dict[str, Any], stages: str, names: list[str]) -> dict[str, Any]:
    """These parameters chosen by `lowfold.tune`, with the curves; others stay where they have a number."""
    where = Path(folder)
    model = build(method, {k: v for k, v in params.items() if k not in names}, stored(where).matrix)
    held = {name: value for name, value in model.get_params(deep=False).items() if name in TUNED - set(names)}
    fixed: dict[str, Any] = {name: value for name, value in held.items() if isinstance(value, (int, float))}
    with keeping(StageCache(Path(stages))):
        found = choose(matrix(where), model, y=_classes(method, where), **fixed).to_dict()
    return {**found, "params": {name: value for name, value in found["params"].items() if name not in fixed}}


def _classes(method: str, folder: Path) -> NDArray[Any] | None:
    """Labels where the method learns from them."""
    found = labels(folder)
    needs = method_class(method)().__sklearn_tags__().target_tags.required
    if needs and found is None:
        raise InvalidInput(f"{method} learns from classes; give a column the role label under Data")
    return found if needs else None


# Fitting ------------------------------------------------------------------------------------------------------------


class _Stages(logging.Handler):
    """Turns what stages log into what the strip of the page shows."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.DEBUG)
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        name = getattr(record, "stage", None)
        if name is None:
            return
        told: dict[str, Any] = {"event": "stage", "name": name}
        for key in ("seconds", "share", "kept"):
            if hasattr(record, key):
                told[key] = getattr(record, key)
        if told.get("share") == 0.0:
            forget_peak()
            self.before = memory_now()
        if "seconds" in told:
            after, before = memory_now(), getattr(self, "before", None)
            if after is not None and before is not None:
                told["bytes"] = int(1e6 * max(0.0, after[1] - before[0]))
        self.say(told)


@contextmanager
def _watched(say: Say, stages: str) -> Iterator[None]:
    log = logging.getLogger("lowfold")
    handler, level = _Stages(say), log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        with keeping(StageCache(Path(stages))):
            yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def fit(
    say: Say, folder: str, columns: str, stages: str, out: str, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Embed the data: a sample first where they are many, pictures on the way where the method descends."""
    where, cols, target = Path(folder), Path(columns), Path(out)
    X, square = matrix(where), stored(where).matrix
    y = _classes(method, where)
    model = build(method, params, square)
    if len(X) > PREVIEW:
        _preview(say, model, X, y, square, cols)
    if "callback" in model.get_params(deep=False) and _layouts(model):
        model.set_params(callback=_on_the_way(say, cols))
    with _watched(say, stages):
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        took = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    if "callback" in model.get_params(deep=False):
        model.set_params(callback=None)
    Y = np.asarray(model.embedding_)
    target.mkdir(parents=True, exist_ok=True)
    np.save(target / "embedding.npy", Y, allow_pickle=False)
    result: dict[str, Any] = {
        "picture": [asdict(one) for one in _columns.places(cols, Y)],
        "facts": {**took, **fitted_facts(model)},
    }
    edges = edges_of(model)
    if edges is not None and len(edges):
        drawn, total = _columns.pairs(cols, edges)
        result |= {"edges": asdict(drawn), "edges_total": total}
    clusters = getattr(model, "labels_", None)
    if clusters is not None and len(clusters) == len(Y):
        result["colours"] = {"cluster": asdict(_columns.classes(cols, np.asarray(clusters)))}
    return {**result, **_saved(model, target)}


def _saved(model: Any, target: Path) -> dict[str, Any]:
    """The model as a file, and which ways it knows: new points in, places back."""
    try:
        save(target / "model.lowfold", model, overwrite=True)
    except LowfoldError as error:
        return {"invertible": False, "asked": str(error)}
    return {"invertible": not isinstance(getattr(model, "_invert", None), Impossible)}


def _preview(say: Say, model: Any, X: NDArray[Any], y: Any, square: bool, columns: Path) -> None:
    rows = np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))
    part = X[np.ix_(rows, rows)] if square else X[rows]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Y = type(model)(**model.get_params(deep=False)).fit(part, None if y is None else y[rows]).embedding_
    except ValueError:
        return  # what fails on a sample may work on all, and says so itself if not
    drawn = _columns.places(columns, np.asarray(Y), rows, len(X))
    say({"event": "picture", "picture": [asdict(one) for one in drawn], "preview": len(rows)})


def _layouts(model: Any) -> bool:
    """Whether the method's callback is given the layout, which those of semidefinite programs are not."""
    return any("layout" in limit.words() for limit in type(model).limits.get("callback", ()))


def _on_the_way(say: Say, columns: Path) -> Callable[..., None]:
    shown = time.perf_counter()

    def callback(iteration: int, cost: float, layout: NDArray[Any]) -> None:
        nonlocal shown
        now = time.perf_counter()
        if now - shown > OFTEN:
            shown = now
            drawn = [asdict(one) for one in _columns.places(columns, np.asarray(layout))]
            told = {"iteration": int(iteration), "cost": float(f"{cost:.6g}")}
            say({"event": "picture", "picture": drawn, "preview": 0, "told": told})

    return callback


# Trust --------------------------------------------------------------------------------------------------------------


def measure(say: Say, folder: str, columns: str, stages: str, out: str, params: dict[str, Any]) -> dict[str, Any]:
    """Every measure of the embedding, its curves, and what colours its points: trust, error, density."""
    where, cols = Path(folder), Path(columns)
    X, known = matrix(where), stored(where)
    Y = np.asarray(np.load(Path(out) / "embedding.npy", allow_pickle=False), dtype=np.float64)
    inside = np.flatnonzero(np.isfinite(Y).all(axis=1))
    data, picture = (X[np.ix_(inside, inside)] if known.matrix else X[inside]), Y[inside]
    metric = "precomputed" if known.matrix else params.get("metric", "euclidean")
    most = max(100, min(MEASURED, RANKED // len(data)))
    with keeping(StageCache(Path(stages))):
        found = summary(data, picture, metric=metric, max_points=most, labels=_few(labels(where), inside))
        colours = _point_colours(found, inside, len(Y))
        if len(data) <= DENSITY and not known.matrix:
            source = Points(data, resolve_metric(metric, None, data))
            k = min(10, len(data) - 1)
            farthest = nearest(source, k).distances.reshape(len(data), k)[:, -1]
            colours["log density"] = _spread(-np.log(np.maximum(farthest, 1e-300)), inside, len(Y))
    sizes = np.unique(np.geomspace(1, len(found.curve.sizes), CURVE).astype(np.int64))
    return {
        "measured": {
            "values": [{**asdict(m), "value": found[m.name].value} for m in MEASURES if m.name in found],
            "missing": dict(found.missing),
            "points": min(len(data), most),
            "n_neighbors": found.n_neighbors,
            "sizes": sizes.tolist(),
            "r_nx": [_number(v) for v in found.curve.r_nx[sizes - 1]],
            "shepard": _shepard(data, picture, metric),
        },
        "colours": {name: asdict(_columns.numbers(cols, values)) for name, values in colours.items()},
    }


def _few(classes: NDArray[Any] | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """Classes of the rows, where there are at least two and not one for each."""
    if classes is None:
        return None
    part = classes[rows]
    return part if 1 < len(np.unique(part)) < len(part) // 2 else None


def _point_colours(found: Summary, inside: NDArray[np.int64], n: int) -> dict[str, NDArray[Any]]:
    names = {"trust": "trustworthiness", "continuity": "continuity", "local error": "local_isometry"}
    there = {title: found[name].points for title, name in names.items() if name in found}
    return {title: _spread(points, inside, n) for title, points in there.items() if points is not None}


def _spread(values: NDArray[Any], rows: NDArray[np.int64], n: int) -> NDArray[Any]:
    out = np.full(n, np.nan)
    out[rows] = values
    return out


def _shepard(X: NDArray[Any], Y: NDArray[Any], metric: str) -> dict[str, Any]:
    """Distances of random pairs, in the data and in the picture."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, len(X), (2, SHEPARD))
    i, j = i[i != j], j[i != j]
    if metric == "precomputed":
        far = np.asarray(X[i, j], dtype=np.float64)
    else:
        far = resolve_metric(metric, None, X).rowwise(X[i], X[j])
    near = np.linalg.norm(Y[i] - Y[j], axis=1)
    return {"data": [_number(v) for v in far], "picture": [_number(v) for v in near]}


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None


def steady(say: Say, folder: str, columns: str, stages: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The same picture again? Fits to parts of the data, and with other seeds where the method draws any."""
    where = Path(folder)
    X, y = matrix(where), _classes(method, where)
    model = build(method, params, stored(where).matrix)
    if len(X) > PREVIEW:
        raise InvalidInput(
            f"this fits the method {PARTS + SEEDS} times; with more than {PREVIEW:,} points take a part of them first"
        )
    with warnings.catch_warnings(), keeping(StageCache(Path(stages))):
        warnings.simplefilter("ignore")
        parts = stability(X, model, y=y, n_resamples=PARTS)
        seeds = _over_seeds(model, X, y)
    colour = None if parts.points is None else asdict(_columns.numbers(Path(columns), parts.points))
    return {
        "stability": {"parts": _number(parts.value), "n_parts": PARTS, "seeds": seeds, "n_seeds": SEEDS},
        "colours": {} if colour is None else {"instability": colour},
    }


def _over_seeds(model: Any, X: NDArray[Any], y: Any) -> float | None:
    """How far points move from seed to seed, in pictures of radius 1; None for a method without a seed."""
    if "random_state" not in inspect.signature(type(model)).parameters:
        return None
    pictures: list[NDArray[Any]] = []
    for seed in range(SEEDS):
        again = type(model)(**{**model.get_params(deep=False), "random_state": seed})
        Y = _standard(np.asarray(again.fit(X, y).embedding_, dtype=np.float64), "rigid")
        pictures.append(_laid(Y, pictures[0]) if pictures else Y)
    spread = np.nanvar(np.stack(pictures), axis=0, ddof=1).sum(axis=1)
    return _number(float(np.sqrt(np.nanmean(spread))))
