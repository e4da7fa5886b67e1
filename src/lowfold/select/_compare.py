"""`compare`: run several methods on the same data and measure them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.config import parse_bytes
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null, Real, check_limits
from lowfold._core.versions import versions
from lowfold.graph._reading import read_rows
from lowfold.metrics._scales import column_names, tell_scales
from lowfold.select._compare_measure import Yardstick, measure
from lowfold.select._compare_models import Entrant, entrants
from lowfold.select._compare_run import Limits, Outcome, build_here, run_here, run_tasks
from lowfold.select._compare_types import Comparison, Row
from lowfold.select._worker import one_line

COUNTED = 10_000_000  # numbers of a table whose repeated rows are counted
NEIGHBORS = 12  # of the measures, where no number is given
LIMITS = {
    "n_components": (Int(1),),
    "n_neighbors": (Int(1), Null("each method's own rule")),
    "budget": (Real(0, open_low=True), Null("no limit")),
    "quality_points": (Int(10),),
    "isolate": (Flag(),),
    "tune": (Flag(),),
    "diagnose": (Flag(),),
    "random_state": (Int(0),),
}


def compare(
    X: ArrayLike,
    methods: Sequence[Any] | str | None = None,
    *,
    n_components: int = 2,
    labels: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    color: ArrayLike | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    tune: bool = False,
    diagnose: bool = True,
    budget: float | None = 120.0,
    memory: int | float | str | None = None,
    isolate: bool = True,
    quality_points: int = 5000,
    random_state: int = 0,
    name: str = "data",
    progress: Callable[[Row], None] | None = None,
) -> Comparison:
    """Embed the same points by several methods; what each took, what it is worth, and why one of them did not finish.

    Rows are ranked by the neighbours along the data that they keep, after the linear map that fits the lengths of edges
    best: a chart whose axes have another scale is as good.

    Every method runs in a process of its own, one after the other, so that time and memory are its own and a method
    that exceeds them is ended; it becomes a row with the reason. `lowfold.viz.write_report` makes one HTML file of the
    result.

    Parameters
    ----------
    X : array (n, D), rows are points; a matrix of distances with metric="precomputed".
    methods : names in any spelling, "umap" and "pacmap" among them (extra `compare`), or ready models with
        `fit_transform`; None is a dozen of different kinds, and those two where they are installed; "all" is every
        method that takes points, clustering left out.
    n_components : int, of every method named.
    labels : array (n,) or None, classes: class separation, misclassified points, colours. Seen by methods that need
        them.
    truth : array (n, p) or None, true coordinates: Procrustes and affine R^2.
    color : array (n,) or None, numbers that colour the pictures.
    params : method -> its parameters, as {"Isomap": {"n_neighbors": 8}}.
    n_neighbors : int or None, of every method that has it; None is each method's own rule.
    metric : str, of every method that has it, and of the measures.
    tune : bool, choose the parameters of each method by `lowfold.tune` first.
    diagnose : bool, ask `lowfold.quality.diagnose` what the data look like.
    budget : seconds that one fit (and one choice of parameters) may take, or None.
    memory : bytes that the process of one method may reach, or "4GB"; None leaves it to the methods' own budget.
    isolate : bool; False runs everything in this process: nothing is ended, memory is not measured.
    quality_points : int, from how many points at most all others are ranked and measured; drawn at random where there
        are more, fewer beyond 5,000 points (200 at the least). The result says so, with standard errors.
    random_state : int, seed of every method and draw.
    name : what the data are called in reports.
    progress : function called with every finished `Row`, or None.

    >>> import lowfold
    >>> data = lowfold.datasets.s_curve(300, random_state=0)
    >>> found = lowfold.compare(data.X, ["pca", "isomap"], truth=data.coordinates, isolate=False, diagnose=False)
    >>> [row.name for row in found.ranking("procrustes")]
    ['Isomap', 'PCA']
    """
    given = {
        "n_components": n_components,
        "n_neighbors": n_neighbors,
        "budget": budget,
        "quality_points": quality_points,
        "isolate": isolate,
        "tune": tune,
        "diagnose": diagnose,
        "random_state": random_state,
    }
    check_limits("compare", given, LIMITS)
    data = _read(X)
    if metric == "euclidean":
        tell_scales(data, column_names(X))
    n = len(data)
    classes = None if labels is None else _one_per_point(labels, n, "labels")
    numbers = None if color is None else _one_per_point(color, n, "color").astype(np.float64)
    coordinates = None if truth is None else _read_truth(truth, n)
    limits = Limits(budget, None if memory is None else parse_bytes(memory))
    shared = {
        "n_components": n_components,
        "random_state": random_state,
        **({} if n_neighbors is None else {"n_neighbors": n_neighbors}),
        **({} if metric == "euclidean" else {"metric": metric}),
    }
    choices = {"n_components": n_components, "random_state": random_state}
    if n_neighbors is not None:
        choices["n_neighbors"] = n_neighbors
    field = entrants(methods, shared, params or {}, labelled=classes is not None, tune=choices if tune else None)
    k = min(NEIGHBORS if n_neighbors is None else n_neighbors, max(1, (n - 1) // 2))
    against = Yardstick(data, metric, k, quality_points, coordinates, classes, random_state)
    settings = {
        "name": name,
        "methods": [_asked(entrant) for entrant in field],
        "n_components": n_components,
        "params": {key: {k: _shown(v) for k, v in value.items()} for key, value in (params or {}).items()},
        "n_neighbors": n_neighbors,
        "metric": metric,
        "tune": tune,
        "budget": budget,
        "memory": limits.memory,
        "isolate": isolate,
        "measured_points": against.measured,
        "measured_neighbors": against.n_neighbors,
        "random_state": random_state,
        "default_methods": methods is None,
    }
    return Comparison(
        rows=_run(field, data, classes, limits, against, isolate, progress),
        X=data,
        labels=classes,
        truth=coordinates,
        color=numbers,
        facts=_facts(data, metric, classes, coordinates),
        settings=settings,
        versions=versions(),
        diagnosis=_diagnosis(data, metric, n_neighbors, random_state) if diagnose else None,
    )


def _run(
    field: Sequence[Entrant],
    X: NDArray[Any],
    y: NDArray[Any] | None,
    limits: Limits,
    against: Yardstick,
    isolate: bool,
    progress: Callable[[Row], None] | None,
) -> tuple[Row, ...]:
    arrays = {"X.npy": X} | ({} if y is None else {"y.npy": _storable(y)})
    rows = []
    for entrant in field:
        outcome = _one(entrant, arrays, limits, isolate)
        row = _row(entrant, outcome, against)
        rows.append(row)
        if progress is not None:
            progress(row)
    return tuple(rows)


def _one(entrant: Entrant, arrays: dict[str, NDArray[Any]], limits: Limits, isolate: bool) -> Outcome:
    """Run one method, in a process of its own if it can be sent there."""
    X, y = arrays["X.npy"], arrays.get("y.npy")
    if entrant.refused:
        return Outcome("failed", entrant.refused)
    if entrant.model is not None and (not isolate or entrant.task.model is None):
        why = "" if not isolate else "cannot be sent to another process; ran in this one, without a limit"
        return run_here(entrant.task, entrant.model, X, y, why)
    if not isolate:
        try:
            model = build_here(entrant.task)
        except (ValueError, ImportError, TypeError) as error:
            return Outcome("failed", one_line(error))
        return run_here(entrant.task, model, X, y, "")
    (outcome,) = run_tasks([entrant.task], arrays, limits)
    if outcome.status == "not read":
        why = f"another process could not read it ({outcome.reason}); ran in this one, without a limit"
        return run_here(entrant.task, entrant.model, X, y, why)
    return outcome


def _row(entrant: Entrant, outcome: Outcome, against: Yardstick) -> Row:
    task, said = entrant.task, outcome.said
    notes = tuple(words for words in outcome.notes if words)
    if task.tune is not None and outcome.status == "done" and not said.get("tuned"):
        notes = (*notes, "choosing its parameters took longer than the budget; it kept its defaults")
    base = Row(
        entrant.label,
        task.name,
        outcome.status,
        outcome.reason,
        params={key: _shown(value) for key, value in task.params.items()},
        warnings=tuple(said.get("warnings", ())),
        notes=notes,
        tuned=said.get("tuned"),
    )
    if outcome.status != "done":
        return base
    Y = outcome.arrays["embedding"]
    lost = int((~np.isfinite(Y).all(axis=1)).sum())
    if lost:
        base = replace(base, notes=(*base.notes, f"{lost} points have no place"))
    told: Any = {
        key: said.get(key)
        for key in ("params", "neighbors", "seconds", "cpu_seconds", "memory_mb", "solver", "residual", "own")
    }
    row = replace(base, embedding=Y, edges=outcome.arrays.get("edges"), **told)
    try:
        return replace(row, quality=measure(Y, against))
    except ValueError as error:
        return replace(row, notes=(*row.notes, f"not measured: {one_line(error)}"))


def _diagnosis(X: NDArray[Any], metric: str, n_neighbors: int | None, seed: int) -> Any:
    """What the data look like; None where no diagnosis is possible (too few points, distances alone)."""
    from lowfold.quality._diagnose import diagnose

    try:
        return diagnose(X, n_neighbors=n_neighbors, metric=metric, random_state=seed)
    except ValueError:
        return None


def _facts(X: NDArray[Any], metric: str, labels: NDArray[Any] | None, truth: NDArray[Any] | None) -> dict[str, Any]:
    """What a reader should know of the table before the pictures."""
    facts: dict[str, Any] = {"points": len(X)}
    if metric.startswith("precomputed"):
        facts["input"] = "distances between the points"
    else:
        spread = X.std(axis=0)
        facts |= {
            "columns": X.shape[1],
            "constant columns": int((spread == 0).sum()),
        }
        if X.size <= COUNTED:
            facts["repeated rows"] = len(X) - len(np.unique(X, axis=0))
        live = spread[spread > 0]
        if len(live) > 1:
            facts["largest over smallest spread of a column"] = float(f"{live.max() / live.min():.3g}")
    facts["dtype"] = str(X.dtype)
    if labels is not None:
        facts["classes"] = len(np.unique(labels))
    if truth is not None:
        facts["true coordinates"] = truth.shape[1]
    return facts


def _read(X: ArrayLike) -> NDArray[Any]:
    data = read_rows(X)
    if len(data) < 5:
        raise InvalidInput(f"X must have at least 5 rows for embeddings of it to be compared; got {len(data)}")
    return data


def _read_truth(truth: ArrayLike, n: int) -> NDArray[np.float64]:
    T = np.asarray(truth, dtype=np.float64)
    T = T[:, None] if T.ndim == 1 else T
    if T.ndim != 2 or len(T) != n or not np.isfinite(T).all():
        raise InvalidInput(f"truth must have {n} rows of finite coordinates; got shape {T.shape}")
    return T


def _one_per_point(values: ArrayLike, n: int, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise InvalidInput(f"{name} must have one value per point, shape ({n},); got shape {array.shape}")
    if name == "color" and array.dtype.kind not in "fiub":
        raise InvalidInput(f"color must hold numbers; got {array.dtype}; use labels for classes")
    return array.astype(str) if array.dtype.kind == "O" else array


def _storable(y: NDArray[Any]) -> NDArray[Any]:
    return y.astype(str) if y.dtype.kind == "O" else y


def _asked(entrant: Entrant) -> str:
    """How a method was asked for, as Python: a name, or a model with its parameters."""
    if entrant.model is None:
        return repr(entrant.task.name)
    given = ", ".join(f"{key}={value!r}" for key, value in entrant.task.params.items())
    return f"{entrant.task.name}({given})"


def _shown(value: Any) -> Any:
    from lowfold.select._worker import plain

    return plain(value)
