"""From what a user may name to tasks: registry names in any spelling, UMAP and PaCMAP, ready models."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold._core.names import find_name, plain
from lowfold.methods.registry import BY_NAME, REGISTRY, load
from lowfold.select._adapters import EXTERNAL
from lowfold.select._compare_run import sendable
from lowfold.select._worker import Task, given_parameters

# One of each kind, all quick at a few thousand points; UMAP and PaCMAP join when they are installed.
USUAL = (
    "PCA",
    "ClassicalMDS",
    "KernelPCA",
    "Isomap",
    "LandmarkIsomap",
    "LLE",
    "ModifiedLLE",
    "LTSA",
    "HessianLLE",
    "LaplacianEigenmaps",
    "DiffusionMaps",
    "TSNE",
)


@dataclass(frozen=True, eq=False)
class Entrant:
    """One method of a comparison, before it runs.

    label   its name in the comparison, different from all others
    task    what a worker is sent
    model   a ready model, where one was given
    refused why it cannot run at all, or ""
    """

    label: str
    task: Task
    model: Any = None
    refused: str = ""


def find_entrant(name: str) -> str:
    """The class name for a name as a user may type it, of lowfold's methods and of the others that take part."""
    return find_name(name, (*BY_NAME, *EXTERNAL), "method")


def usual_methods() -> list[str]:
    """The methods of a comparison that names none."""
    installed = [name for name, entry in EXTERNAL.items() if importlib.util.find_spec(entry.module) is not None]
    return [*USUAL, *installed]


def all_methods() -> list[str]:
    """Every method that takes points, clustering left out."""
    return [entry.name for entry in REGISTRY if "points" in entry.inputs and entry.family != "clustering"]


def entrants(
    methods: Sequence[Any] | str | None,
    shared: Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    *,
    labelled: bool,
    tune: Mapping[str, Any] | None,
) -> list[Entrant]:
    """One entrant per method. `shared` goes to every method that has such a parameter, `params` to the one named."""
    if isinstance(methods, str):
        methods = all_methods() if plain(methods) == "all" else [methods]
    wanted = usual_methods() if methods is None else list(methods)
    if not wanted:
        raise InvalidInput("methods must name at least one method, as in methods=['pca', 'isomap']")
    own = {find_entrant(name): dict(given) for name, given in params.items()}
    found: list[Entrant] = []
    for method in wanted:
        label = find_entrant(method) if isinstance(method, str) else type(method).__name__
        taken = {entrant.label for entrant in found}
        unique = next(name for i in range(1, len(taken) + 2) if (name := _numbered(label, i)) not in taken)
        if isinstance(method, str):
            found.append(_named(unique, label, shared, own.get(label, {}), labelled, tune))
        else:
            found.append(_ready(unique, method, labelled))
    names = {entrant.task.name for entrant in found}
    for name in own:
        if name not in names:
            raise InvalidInput(f"params names {name}, which is not among the methods: {', '.join(sorted(names))}")
    return found


def _numbered(label: str, i: int) -> str:
    return label if i == 1 else f"{label} ({i})"


def _named(
    label: str,
    name: str,
    shared: Mapping[str, Any],
    own: Mapping[str, Any],
    labelled: bool,
    tune: Mapping[str, Any] | None,
) -> Entrant:
    if name in EXTERNAL:
        known: Sequence[str] = EXTERNAL[name].parameters
    else:
        known = load(name).parameters
        for key in own:
            if key not in known:
                raise InvalidInput(f"params: {name} has no parameter {key!r}; it has {', '.join(known)}")
    common = {key: value for key, value in shared.items() if key in known}
    refused = ""
    if shared.get("metric", "euclidean") != "euclidean" and "metric" not in known:
        refused = f"{name} takes points with Euclidean distances only; metric is {shared['metric']!r}"
    if name in BY_NAME and "points" not in BY_NAME[name].inputs:
        refused = f"{name} takes several matrices of dissimilarities, not the rows of one table"
    choice = None if tune is None or name in EXTERNAL else dict(tune)
    task = Task(name, {**common, **own}, labels="y.npy" if labelled else None, tune=choice)
    return Entrant(label, task, refused=refused)


def _ready(label: str, model: Any, labelled: bool) -> Entrant:
    if isinstance(model, type) or not hasattr(model, "fit_transform") or not hasattr(model, "get_params"):
        raise InvalidInput(
            f"methods must hold names or models with fit_transform, as lowfold.Isomap(n_neighbors=8); got {model!r}"
        )
    params = given_parameters(model)
    task = Task(type(model).__name__, params, model=sendable(model), labels="y.npy" if labelled else None)
    return Entrant(label, task, model=model)
