"""What a method will do with data, told before it does it: stages, searches, solvers, bytes, and what to do instead.

The rules are those the methods themselves follow (`select_search`, `select_solver`, `count_fill`, the memory budget). A
method may define `_plan(data) -> list[Stage]`; the families below serve all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from lowfold._core.config import get_config
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import check_limits
from lowfold._core.memory import fits, pretty_bytes
from lowfold._core.operators import DenseOperator, SparseOperator
from lowfold.graph._geodesics import geodesic_dtype
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._search import select_search
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Data
from lowfold.methods.registry import BY_NAME, Entry, load
from lowfold.spectral._doors import select_solver
from lowfold.spectral._factor import count_fill

COUNTED = 100_000  # up to so many points the graph is built and the factor counted; beyond, the plan would take minutes


@dataclass(frozen=True)
class Stage:
    """One step: its name, what it uses, and the bytes that it holds at its peak."""

    name: str
    what: str
    bytes: float


@dataclass(frozen=True)
class Plan:
    """What a method will do. `print(plan)` shows it as a table."""

    method: str
    n: int
    stages: tuple[Stage, ...]
    budget: int
    way_out: str = ""

    @property
    def total(self) -> float:
        """Bytes of all stages together."""
        return float(sum(stage.bytes for stage in self.stages))

    @property
    def fits(self) -> bool:
        """Whether they fit into the memory budget."""
        return self.total <= self.budget

    def __str__(self) -> str:
        width = max(len(stage.name) for stage in self.stages)
        lines = [f"{self.method}, {self.n} points"]
        lines += [f"  {s.name:{width}s}  {pretty_bytes(s.bytes):>9s}  {s.what}" for s in self.stages]
        verdict = "fits" if self.fits else f"does not fit: {self.way_out}"
        lines.append(f"  {'total':{width}s}  {pretty_bytes(self.total):>9s}  of {pretty_bytes(self.budget)}; {verdict}")
        return "\n".join(lines)


def plan(X: Any, method: Any, **params: Any) -> Plan:
    """Say what `method` (a name, a class, or a model that need not be fitted) would do with X.

    Nothing is solved. For sparse kernels of up to 100,000 points the graph is built and the factor's fill counted, so
    that the solver named is the one the fit will take.

    >>> import numpy, lowfold
    >>> told = lowfold.plan(numpy.random.default_rng(0).random((500, 3)), "isomap", n_neighbors=8)
    >>> told.fits, [stage.name for stage in told.stages]
    (True, ['data', 'neighbours', 'geodesics', 'eigenvectors'])
    """
    model = _model(method, params)
    name = type(model).__name__
    check_limits(name, model.get_params(deep=False), model.limits)
    data = model.reader.data(model, X, np.zeros(len(X)) if model.supervised else None)  # labels change no plan
    model._check(data)
    entry = BY_NAME[name]
    stages = model._plan(data) if hasattr(model, "_plan") else [_input(data), *_family(entry, model)(model, data)]
    made = Plan(name, data.n, tuple(stages), get_config().memory)
    return made if made.fits else replace(made, way_out=_way_out(entry, made))


def _model(method: Any, params: dict[str, Any]) -> Any:
    if isinstance(method, str):
        method = load(method)
    name = method.__name__ if isinstance(method, type) else type(method).__name__
    if name not in BY_NAME:
        raise InvalidInput(f"method must be a name, a class or a model of lowfold; got {name}")
    cls: Any = method if isinstance(method, type) else type(method)
    for key in params:
        if key not in cls._get_param_names():
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(cls._get_param_names())}")
    return cls(**params) if isinstance(method, type) else cls(**{**method.get_params(deep=False), **params})


# Families -----------------------------------------------------------------------------------------------------------


def _family(entry: Entry, model: Any) -> Callable[[Any, Data], list[Stage]]:
    """Which of the kernels below a method has, by what the registry says of it and whether it looks for neighbours."""
    words = f"{entry.line} {entry.vectors}".lower()
    if entry.family == "linear":
        return _linear
    if not hasattr(model, "n_neighbors"):
        return _all_pairs
    if "geodesic" in words:
        return _geodesic
    if "bottom" in entry.vectors and "laplacian" not in words:
        return _alignment
    return _walk


def _input(data: Data) -> Stage:
    source = data.source
    if isinstance(source, Points):
        n, D = source.X.shape
        return Stage("data", f"{n} x {D}, {source.X.dtype}, metric {source.metric.name}", float(source.X.nbytes))
    if source is not None and hasattr(source, "distances"):
        return Stage("data", f"{data.n} x {data.n} distances, {source.distances.dtype}", float(source.distances.nbytes))
    pairs = getattr(source, "pairs", None) or data.neighbors or data.graph
    assert pairs is not None
    return Stage("data", f"{len(pairs.indices)} measured pairs", 12.0 * len(pairs.indices) + 8.0 * data.n)


def _linear(model: Any, data: Data) -> list[Stage]:
    """The smaller of covariance and Gram matrix, as `principal_axes` chooses."""
    n, D = data.points().X.shape
    side = min(n, D)
    what = f"{side} x {side} {'covariance' if side == D else 'Gram matrix'}, dense"
    axes = Stage("principal axes", what, 3 * 8.0 * side**2)
    return [_search(model, data), axes] if hasattr(model, "n_neighbors") else [axes]


def _all_pairs(model: Any, data: Data) -> list[Stage]:
    """A kernel of all pairs, solved from its leading end; or a loss over them, lowered step by step."""
    n = data.n
    item = data.source.X.dtype.itemsize if isinstance(data.source, Points) else 0
    stages = [Stage("kernel", f"{n} x {n} of all pairs" + ("" if item else ", as given"), float(item) * n * n)]
    if BY_NAME[type(model).__name__].vectors.startswith("none"):
        return [*stages, Stage("descent", "steps over all pairs", 8.0 * n * n)]
    return [*stages, _leading(model, data)]


def _geodesic(model: Any, data: Data) -> list[Stage]:
    """Neighbours, shortest paths between all points (or from the landmarks), classical MDS."""
    n = data.n
    landmarks = getattr(model, "landmarks", None)
    rows = min(n, int(landmarks)) if isinstance(landmarks, (int, np.integer)) and not isinstance(landmarks, bool) else n
    dtype = np.dtype(geodesic_dtype(n))
    paths = Stage("geodesics", f"{rows} x {n} shortest paths, {dtype}", 1.05 * dtype.itemsize * float(rows) * n)
    return [_search(model, data), paths, _leading(model, data, rows)]


def _walk(model: Any, data: Data) -> list[Stage]:
    """Neighbours, a sparse Laplacian (or the walk that it generates), its bottom."""
    found = _graph(model, data)
    entries = 2 * data.n * _degree(model, data) if found is None else len(found.union().indices)
    kernel = Stage("kernel", f"sparse, {entries + data.n:.0f} entries", 12.0 * (entries + data.n))
    if found is None:
        return [_search(model, data), kernel, _uncounted(data)]
    graph = found.union()
    pattern = csr_array(graph.to_scipy(np.ones(len(graph.indices))) + eye_array(data.n, format="csr"))
    return [_search(model, data), kernel, _bottom(model, data, pattern, laplacian=True)]


def _alignment(model: Any, data: Data) -> list[Stage]:
    """Neighbours, a local problem at every point, the sparse kernel that aligns them, its bottom."""
    k = _degree(model, data)
    found = _graph(model, data)
    if found is None or not fits(12.0 * data.n * (k + 1) ** 2):
        entries = float(data.n) * (k + 1) ** 2
        kernel = Stage("kernel", f"sparse, at most {entries:.2g} entries", 12.0 * entries)
        return [_search(model, data), kernel, _uncounted(data)]
    patches = csr_array((np.ones(len(found.indices)), found.indices, found.indptr), shape=(data.n, data.n))
    patches = csr_array(patches + eye_array(data.n, format="csr"))
    pattern = csr_array(patches.T @ patches)  # i and j meet where one neighbourhood holds both
    kernel = Stage("kernel", f"sparse, {pattern.nnz} entries", 12.0 * pattern.nnz)
    return [_search(model, data), kernel, _bottom(model, data, pattern, laplacian=False)]


# Stages -------------------------------------------------------------------------------------------------------------


def _degree(model: Any, data: Data) -> float:
    k = getattr(model, "n_neighbors", None)
    return float(default_neighbors(data.n)) if k is None else float(np.mean(k))


def _search(model: Any, data: Data) -> Stage:
    """What the neighbour search will use."""
    n, k = data.n, _degree(model, data)
    size = 12.0 * n * k + 8.0 * n
    if data.neighbors is not None or data.graph is not None:
        return Stage("neighbours", "given", 0.0)
    if not isinstance(data.source, Points):
        return Stage("neighbours", f"{k:g} nearest, read from the given distances", size)
    metric = data.source.metric
    mapped = metric.feature_map is not None
    width = data.source.features(data.source.X[:1]).shape[1] if mapped else data.source.X.shape[1]
    named = getattr(model, "search", "auto")
    backend = select_search(n, width, mapped=mapped) if named == "auto" else named
    radius = getattr(model, "radius", None)
    which = f"within {radius:g}" if radius is not None and model.n_neighbors is None else f"{k:g} nearest"
    return Stage("neighbours", f"{which}, {backend} on {width} columns", size)


def _graph(model: Any, data: Data) -> Neighbors | None:
    """The neighbourhoods themselves where building them is quick, for counting."""
    if data.neighbors is not None:
        return data.neighbors
    if data.graph is not None:
        return data.graph.neighbors()
    if data.n > COUNTED or data.source is None:
        return None
    radius = getattr(model, "radius", None)
    k = getattr(model, "n_neighbors", None)
    k = default_neighbors(data.n) if k is None and radius is None else k
    search = getattr(model, "search", "auto")
    return neighborhoods(data.source, n_neighbors=k, radius=radius, search=search, run=model._run())


def _leading(model: Any, data: Data, side: int | None = None) -> Stage:
    """The solver at the leading end of a dense kernel."""
    n = data.n if side is None else side
    d = min(_columns(model), n - 1)
    solver = getattr(model, "solver", "auto")
    if solver == "auto":  # the rules look at sizes only, so that a matrix without storage will do
        stand_in = DenseOperator(np.broadcast_to(np.float64(0.0), (n, n)))
        solver = select_solver(stand_in, d, end="largest", null=np.ones((n, 1)))[0]
    size = 3 * 8.0 * n * n if solver == "dense" else 8.0 * n * (12 * (d + 5) + d)
    return Stage("eigenvectors", f"{d} leading, solver {solver}", size)


def _bottom(model: Any, data: Data, pattern: csr_array, *, laplacian: bool) -> Stage:
    """The solver at the bottom of a sparse kernel of this pattern, with the counted fill of its factor."""
    n, d = data.n, min(_columns(model), data.n - 1)
    solver = getattr(model, "solver", "auto")
    if solver == "auto":
        op = SparseOperator(pattern, psd=True, laplacian=laplacian)
        solver = select_solver(op, d, end="smallest", null=np.ones((n, 1)))[0]
    if solver == "dense":
        return Stage("eigenvectors", f"{d} from the bottom, solver dense", 3 * 8.0 * n * n)
    fill = count_fill(pattern)
    counted = "its factor would fill up"
    if fill.tree is not None:
        counted = f"its factor would have at most {fill.entries:.2g} entries, {pretty_bytes(fill.bytes)}"
    size = fill.bytes if solver == "shift_invert" else 8.0 * n * (d + 2) * 12
    return Stage("eigenvectors", f"{d} from the bottom, solver {solver}; {counted}", size)


def _uncounted(data: Data) -> Stage:
    return Stage("eigenvectors", f"from the bottom; not counted beyond {COUNTED} points", 8.0 * data.n * 60)


def _columns(model: Any) -> int:
    return int(getattr(model, "n_components", 0) or getattr(model, "n_clusters", 2))


def _way_out(entry: Entry, made: Plan) -> str:
    """What to use instead, for the stage that needs most."""
    worst = max(made.stages, key=lambda stage: stage.bytes)
    needs = f"{worst.name} need{'' if worst.name.endswith('s') else 's'} {pretty_bytes(worst.bytes)}"
    if worst.name == "eigenvectors":
        advice = 'name a solver that factors nothing, such as solver="davidson"'
    elif entry.family == "linear":
        advice = "reduce the columns first, with RandomProjection"
    elif worst.name == "data":
        advice = "take fewer rows, or float32"
    else:
        advice = "use landmarks, fewer rows, or a method with a sparse kernel such as LaplacianEigenmaps"
    return f"{needs}; {advice}, or raise the budget with lowfold.set_config(memory=...) or --memory"


__all__ = ["Plan", "Stage", "plan"]
