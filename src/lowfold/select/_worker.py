"""One process that fits methods for a comparison: `python -m lowfold.select._worker FOLDER FIRST`.

It reads tasks.pickle from a folder that its parent made, runs the tasks from number FIRST on, one after the other, and
leaves for each: N.choosing and N.fitting, empty files that say what has begun; N.npz, arrays; N.json, the rest, last.
Time and memory are those of the fit alone: packages are loaded, data read and kernels warm before the clock starts.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import json
import pickle
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import ScaleWarning
from lowfold._core.limits import check_limits
from lowfold._core.processes import end_with_parent
from lowfold.methods.registry import BY_NAME, is_method, load
from lowfold.select._adapters import EXTERNAL

# What a method says of its own success, in the order in which one of them is shown first.
OWN = (
    "normalized_stress_",
    "stress_",
    "kl_divergence_",
    "reconstruction_error_",
    "duality_gap_",
    "constraint_violation_",
    "normalized_cut_",
    "explained_variance_ratio_",
)
UNTOLD = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)
# Points of the first fits: 450 take the iterative solvers, 1500 the compiled loops. The first fit of a size loads what
# is not there yet; where the second one is not quick, the next size might take minutes and is left out.
WARM = (60, 60, 450, 450, 1500)
QUICK = 0.05  # seconds of computing


@dataclass(frozen=True)
class Task:
    """One fit: a name with parameters, or a ready model; names of the files with the data and the classes."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    model: bytes | None = None
    data: str = "X.npy"
    labels: str | None = None
    tune: dict[str, Any] | None = None


def build(task: Task) -> Any:
    """The unfitted estimator; its parameters are checked before anything is fitted."""
    if task.model is not None:
        return pickle.loads(task.model)
    if task.name in EXTERNAL:
        return EXTERNAL[task.name].build(task.params)
    cls = load(task.name)
    model = cls(**task.params)
    check_limits(task.name, model.get_params(deep=False), cls.limits)
    return model


def embed(model: Any, X: Any, y: Any) -> NDArray[np.floating]:
    """The embedding. Only lowfold's own methods see the classes: to others they would change what is compared."""
    if is_method(model):
        return np.asarray(model.fit(X, y).embedding_)
    Y = np.asarray(model.fit_transform(X))
    return Y[:, None] if Y.ndim == 1 else Y


def warm_up(model: Any, X: Any, y: Any) -> None:
    """Fit small parts first, so that compiling and loading is not counted. What fails here fails again."""
    n, last = len(X), 0
    for size in WARM:
        rows = np.linspace(0, n - 1, min(size, n)).astype(np.int64)
        part = X[np.ix_(rows, rows)] if str(getattr(model, "metric", "")).startswith("precomputed") else X[rows]
        start = time.process_time()
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            embed(pickle.loads(pickle.dumps(model)), part, None if y is None else y[rows])
        if size >= n or (size == last and time.process_time() - start > QUICK):
            return
        last = size


def memory_now() -> tuple[float, float] | None:
    """Resident megabytes of this process, now and at their peak; None where the system does not tell."""
    with suppress(OSError, KeyError, ValueError):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        found = {line.partition(":")[0]: line.split() for line in lines}
        return int(found["VmRSS"][1]) / 1e3, int(found["VmHWM"][1]) / 1e3
    return None


def forget_peak() -> None:
    """Give back what warming up has freed, and let the peak start anew from there, where the system can (Linux)."""
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measured_fit(model: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], dict[str, Any]]:
    """The embedding, and what it took."""
    forget_peak()
    before = memory_now()
    cpu, start = time.process_time(), time.perf_counter()
    Y = embed(model, X, y)
    took: dict[str, Any] = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    after = memory_now()
    took["memory_mb"] = None if before is None or after is None else max(0.0, after[1] - before[0])
    return Y, took


def fitted_facts(model: Any) -> dict[str, Any]:
    """What a fitted model says of itself: parameters that are not the defaults, solver, residual, own errors."""
    own = {}
    for name in OWN:
        value = getattr(model, name, None)
        if value is not None and np.ndim(value) <= 1 and np.size(value):
            number = float(np.sum(value))
            if np.isfinite(number):
                own[name.rstrip("_")] = number
    dependence = getattr(model, "dependence_", None)
    if dependence is not None and np.size(dependence):
        own["dependence"] = float(np.max(dependence))
    residual = getattr(model, "residual_", None)
    return {
        "params": given_parameters(model),
        "neighbors": _scalar(getattr(getattr(model, "_trained", None), "n_neighbors", None)),
        "solver": None if getattr(model, "solver_", None) is None else str(model.solver_),
        "residual": _scalar(residual),
        "own": own,
    }


def given_parameters(model: Any) -> dict[str, Any]:
    """Parameters of a model that differ from the defaults of its class, and the number of components."""
    defaults = inspect.signature(type(model)).parameters
    return {
        name: plain(value)
        for name, value in model.get_params(deep=False).items()
        if name == "n_components" or (name in defaults and not _same(value, defaults[name].default))
    }


def _same(value: Any, default: Any) -> bool:
    return value is default or (np.ndim(value) == 0 and np.ndim(default) == 0 and bool(value == default))


def plain(value: Any) -> Any:
    """A value that JSON has: numbers, words, lists of few; anything else by a short name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and len(value) <= 8:
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return getattr(value, "__name__", type(value).__name__)


def _scalar(value: Any) -> float | int | None:
    if value is None or np.ndim(value) != 0:
        return None
    number = plain(value)
    return number if isinstance(number, (int, float)) and np.isfinite(number) else None


def edges_of(model: Any) -> NDArray[np.int64] | None:
    """Pairs that the model's graph joins."""
    graph: Any = getattr(model, "graph_", None)
    graph = graph.union() if hasattr(graph, "union") else graph
    return np.asarray(graph.edges(), dtype=np.int64) if hasattr(graph, "edges") else None


def one_line(words: object) -> str:
    """Text on one line."""
    return " ".join(str(words).split())


def run(task: Task, model: Any, X: Any, y: Any, begin: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Choose parameters if asked, fit, and say what happened; nothing that a method raises gets out of here."""
    said: dict[str, Any] = {"status": "failed", "reason": "", "warnings": [], "tuned": None}
    arrays: dict[str, NDArray[Any]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ScaleWarning)  # of the data, not of a method: said once for all of them
        try:
            if task.tune is not None and task.name in BY_NAME:
                from lowfold.select._tune import tune

                begin("choosing")
                start = time.perf_counter()
                tuned = tune(X, model, **task.tune)
                model = tuned.model
                said["tuned"] = {**tuned.to_dict(), "seconds": time.perf_counter() - start}
                caught.clear()  # those of candidates that were not chosen
            begin("fitting")
            Y, took = measured_fit(model, X, y)
            if Y.ndim != 2 or len(Y) != len(X) or Y.dtype.kind not in "fiu":
                raise ValueError(f"the result has shape {Y.shape}; one row of numbers per point is needed")
            arrays["embedding"] = Y
            edges = edges_of(model)
            if edges is not None:
                arrays["edges"] = edges
            said |= {"status": "done", **took, **fitted_facts(model)}
        except MemoryError as error:
            said |= {"status": "over memory", "reason": one_line(error) or "there is not enough memory"}
        except Exception as error:  # noqa: BLE001 - a method that fails is a row of the comparison, whatever it raises
            said["reason"] = one_line(error) or type(error).__name__
        told = [one_line(w.message) for w in caught if not issubclass(w.category, UNTOLD)]
    said["warnings"] = list(dict.fromkeys(told))
    return said, arrays


def main(folder: Path, first: int) -> None:
    """Run the tasks of a folder."""
    end_with_parent()
    tasks: list[Task] = pickle.loads((folder / "tasks.pickle").read_bytes())
    warmed: set[str] = set()
    for number, task in enumerate(tasks[first:], start=first):
        said: dict[str, Any] = {"status": "failed", "reason": "", "warnings": [], "tuned": None}
        arrays: dict[str, NDArray[Any]] = {}
        X = np.load(folder / task.data)
        y = None if task.labels is None else np.load(folder / task.labels)
        try:
            model = build(task)
        except Exception as error:  # noqa: BLE001 - as in run
            said["reason"] = one_line(error) or type(error).__name__
            if task.model is not None:
                said["status"] = "not read"  # the parent has the model itself, and can run it there
        else:
            if task.name not in warmed:
                warmed.add(task.name)
                warm_up(model, X, y)
            said, arrays = run(task, model, X, y, lambda what, n=number: (folder / f"{n}.{what}").touch())
        np.savez(folder / f"{number}.npz", **arrays)  # type: ignore[arg-type] # NumPy's flag comes after the arrays
        part = folder / f"{number}.part"
        part.write_text(json.dumps(said), encoding="utf-8")
        part.replace(folder / f"{number}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
