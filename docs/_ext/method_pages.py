"""One page per method, and the table of all: from the registry, the class and the publications."""

from __future__ import annotations

import csv
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path

from figures import FIGURES
from markup import body, docstring, escape, fenced, fields, table
from method_pictures import picture
from turned import picture as turned

import lowfold
from lowfold.methods.registry import REGISTRY, Entry

COSTS = Path(__file__).resolve().parents[1] / "costs.csv"  # written by tools/costs.py
WHEN = tomllib.loads((Path(__file__).resolve().parents[1] / "when.toml").read_text(encoding="utf-8"))
HEADER = ("method", "family", "preserves", "parameters", "inputs", "eigenvectors kept", "new points", "inverse")

# Parameters that nearly every method has; the page names them once, above the table.
SHARED = {
    "metric", "metric_params", "n_components", "n_jobs", "normalization", "on_disconnected", "random_state", "search",
    "solver", "symmetrize", "tol", "verbose",
}  # fmt: skip

# What the titles of the remade figures call a method, where that is not its name.
TITLES = {
    "HessianLLE": "Hessian LLE",
    "LLE": "(?<!Hessian )LLE",
    "LaplacianEigenmaps": "Laplacian eigenmaps",
    "DiffusionMaps": "Diffusion maps",
    "LandmarkMVU": "MVU by landmarks",
    "MVU": "MVU(?! by landmarks)",
}
# How a new point is placed; what is not named here follows from the family.
PLACED = {
    "ClassicalMDS": "row of distances",
    "ConformalIsomap": "geodesics",
    "DiffusionMaps": "row of the kernel",
    "HessianLLE": "affine map of a patch",
    "Isomap": "geodesics",
    "KernelIsomap": "geodesics",
    "KernelLPP": "row of the kernel",
    "LandmarkIsomap": "triangulation",
    "LandmarkMVU": "barycentric weights",
    "LaplacianEigenmaps": "row of the kernel",
    "LLE": "barycentric weights",
    "LTSA": "affine map of a patch",
    "LocallyLinearIsomap": "geodesics",
    "ModifiedLLE": "barycentric weights",
    "MVU": "barycentric weights",
    "NMF": "nonnegative least squares",
    "NonlinearPCA": "feature map",
    "ReplicatedMDS": "row of distances",
    "SpectralClustering": "row of the kernel",
    "SupervisedLLE": "barycentric weights",
    "VectorDiffusionMaps": "row of the kernel",
    "WeightedMDS": "row of distances",
}
# The way back, where it does not follow from the family or from the input.
RESTORED = {"KernelLPP": "barycentric"}
BY_FAMILY = {
    "linear": "linear map",
    "MDS": "descent over its row",
    "kernel": "row of the kernel",
    "neighbour embedding": "descent over its row",
}

TABLE_PAGE = """# The methods

Shared parameters are not repeated: {shared}. "New points" says how `transform` places a point; at a training point it
gives back its coordinates. `inverse_transform` is the linear map back, or barycentric weights among the nearest
embedded points. `lowfold list` prints this table's beginning, `lowfold list METHOD` one method.

{table}

```{{toctree}}
:hidden:

{names}
```
"""


def _placed(entry: Entry) -> str:
    return PLACED.get(entry.name, BY_FAMILY.get(entry.family, "-"))


def _way_back(entry: Entry) -> str:
    if entry.name in RESTORED:
        return RESTORED[entry.name]
    if "points" not in entry.inputs and "tensors" not in entry.inputs:
        return "-"
    return "linear map" if entry.family == "linear" else "barycentric"


def row(entry: Entry) -> tuple[str, ...]:
    """One line of the table."""
    names = [name for name in getattr(lowfold, entry.name).parameters if name not in SHARED]
    return (
        f"[{entry.name}](methods/{entry.module}.md)",
        entry.family,
        escape(entry.line),
        ", ".join(f"`{name}`" for name in names) or "-",
        ", ".join(entry.inputs),
        escape(entry.vectors),
        _placed(entry),
        _way_back(entry),
    )


def _formula(entry: Entry) -> str:
    """The way from data to coordinates, as the module draws it."""
    words = importlib.import_module(f"lowfold.methods.{entry.module}").__doc__ or ""
    drawings = [part for part in words.split("\n\n") if "-->" in part]
    return "\n\n".join(fenced(part, "text") for part in drawings)


def _facts(entry: Entry) -> str:
    rows = [
        ("preserves", escape(entry.line)),
        ("takes", ", ".join(entry.inputs)),
        ("eigenvectors kept", escape(entry.vectors)),
        ("new points", _placed(entry)),
        ("way back", _way_back(entry)),
        ("needs the extra", f"`{entry.extra}`" if entry.extra else "-"),
        ("command line", f"`lowfold embed FILE --method {entry.module.replace('_', '-')}`"),
    ]
    return table(rows[0], rows[1:])


def _when(entry: Entry) -> str:
    words = WHEN[entry.name]
    return f"Use it\n: {words['use']}\n\nRather not\n: {words['avoid']}"


def _parameters(entry: Entry) -> str:
    every = getattr(lowfold, entry.name).parameters.items()
    return "\n\n".join(f"`{name}` : {escape(one.kind())}\n: {escape(one.text) or '-'}" for name, one in every)


def _pictured(entry: Entry, folder: Path) -> str:
    said = picture(entry, folder)
    words = [f"{name}: {line}" for name, lines in said.items() for line in lines]
    shown = f"![{entry.name} on three data sets](../pictures/{entry.module}.png)"
    heard = "\n\nWhat it said, with parameters as they come:\n\n" + fenced("\n".join(words), "text") if words else ""
    return f"{shown}\n\nParameters as they come; colours are the place along the roll, or the digit.{heard}"


@cache
def _measured() -> dict[str, list[list[str]]]:
    """Method -> rows of (points, CPU seconds, peak in MB)."""
    with COSTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {name: [row[1:] for row in rows if row[0] == name] for name in dict.fromkeys(row[0] for row in rows)}


def _costs(entry: Entry) -> str:
    rows = _measured().get(entry.name, [])
    if not rows:
        return ""
    lines = [(f"{int(n):,}", f"{float(cpu):.2g}", f"{max(float(mb), 1):.0f}") for n, cpu, mb in rows]
    head = "One fit of a Swiss roll on two shared cores, parameters as they come, compiling apart. Seconds are of the "
    what = "processor, over all threads; memory is the peak above what was held before."
    return f"{head}{what}\n\n" + table(("points", "CPU seconds", "peak, MB"), lines)


def _remade(entry: Entry) -> str:
    """Figures of the texts that show the method."""
    shown = [one for one in FIGURES if re.search(rf"\b{TITLES.get(entry.name, entry.name)}\b", one.title)]
    return ", ".join(f"[{one.number}](../figures/{one.key}.md) ({escape(one.title)})" for one in shown)


def page(entry: Entry, folder: Path) -> str:
    """The page of one method."""
    doc = docstring(getattr(lowfold, entry.name))
    sections = {
        "": body(doc),
        "When to use it": _when(entry),
        "At a glance": _facts(entry),
        "On three data sets": _pictured(entry, folder),
        "Parameters turned up and down": turned(entry, folder),
        "Costs": _costs(entry),
        "How it is computed": _formula(entry),
        "Example": fenced("\n".join(doc["Examples"]), "python") if doc["Examples"] else "",
        "Parameters": _parameters(entry),
        "Attributes": fields(doc, "Attributes"),
        "In the texts": _remade(entry),
        "Publication": f"{escape(entry.citation)}. `lowfold cite {entry.module.replace('_', '-')}` prints:\n\n"
        + fenced(lowfold.cite(entry.name), "bibtex"),
    }
    parts = [f"## {title}\n\n{text}" if title else text for title, text in sections.items() if text]
    return "\n\n".join([f"# {entry.name}", *parts]) + "\n"


def write(folder: Path) -> dict[str, str]:
    """The table and the pages."""
    pages = {f"methods/{entry.module}.md": page(entry, folder) for entry in REGISTRY}
    shared = ", ".join(f"`{name}`" for name in sorted(SHARED))
    names = "\n".join(f"methods/{entry.module}" for entry in REGISTRY)
    whole = table(HEADER, (row(entry) for entry in REGISTRY))
    return {"methods.md": TABLE_PAGE.format(shared=shared, table=whole, names=names), **pages}
