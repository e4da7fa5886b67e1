"""A run as Python and as a command: what has to be typed to get the same picture again."""

from __future__ import annotations

import shlex
from typing import Any

from lowfold.datasets import __all__ as public
from lowfold.metrics._scales import QUARTILES
from lowfold.studio._stored import Stored

OWN = frozenset({"color", "label", "memory", "method", "out", "plot", "read", "save", "verbose"})  # flags of `embed`
SUPERVISED = frozenset({"SupervisedLLE"})  # whose `fit` takes y
NOT_THERE = "# this run cannot be written as one command: "


def python(known: Stored, method: str, params: dict[str, Any]) -> str:
    """A script that ends with the coordinates Y."""
    labelled = method in SUPERVISED
    reading = _made(known, labelled) if known.source["kind"] == "set" else _read(known, labelled)
    lines = ["import lowfold", *(["import numpy as np"] if any("np." in line for line in reading) else [])]
    given = {**params, **({"metric": "precomputed"} if known.matrix else {})}
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    lines += ["", *reading, f"model = lowfold.{method}({arguments})"]
    lines.append(f"Y = model.fit_transform({'X, y' if labelled else 'X'})")
    return "\n".join(lines) + "\n"


def _made(known: Stored, labelled: bool) -> list[str]:
    """Lines that make X of a built-in set, and y."""
    source, name = known.source, known.source["name"]
    if name == "digits":
        lines = ["from sklearn.datasets import load_digits", "", "X, y = load_digits(return_X_y=True)"]
        return [*lines, *_made_alike(known)]
    make = f"lowfold.datasets.{name}" if name in public else f'lowfold.datasets.SURFACES["{name}"].make'
    lines = [f"data = {make}({source['n']}, noise={source['noise']!r}, random_state={source['seed']})"]
    lines.append("X, y = data.X, data.labels" if labelled else "X = data.X")
    return [*lines, *_made_alike(known), *_fewer(known, labelled)]


def _read(known: Stored, labelled: bool) -> list[str]:
    """Lines that make X of a file, and y."""
    taken, by_reader = known.taken, _by_reader(known)
    options = [f"label={taken!r}"] if taken and by_reader else []
    if known.gaps:
        options.append(f"missing={known.missing if by_reader else 'keep'!r}")
    if known.standardize != "none" and by_reader:
        options.append(f"standardize={known.standardize!r}")
    if known.header != "auto":
        options.append(f"header={known.header == 'yes'}")
    if known.matrix and "label" in known.reader:
        options.append("ids=False")
    lines = [f"table = lowfold.datasets.read({', '.join([repr(known.source['name']), *options])})", "X = table.X"]
    if labelled:
        label = next(name for name in known.aside if known.roles.get(name) == "label")
        column = f"table.X[:, table.columns.index({label!r})]"
        lines.append(f"y = {column if label in taken and not by_reader else f'table.labels[{label!r}]'}")
    if taken and not by_reader:
        lines[1] = f"X = np.delete(table.X, [table.columns.index(name) for name in {taken!r}], axis=1)"
    lines += [f"X = np.column_stack([X, table.labels[{name!r}]])" for name in known.stacked]
    if not by_reader:
        lines += [*_without_gaps(known, labelled), *_made_alike(known)]
    return [*lines, *_fewer(known, labelled)]


def _by_reader(known: Stored) -> bool:
    """Whether `read` alone makes X of the file; else columns are put together and made alike after it."""
    return not known.stacked and (not known.taken or "label" in known.reader)


def _without_gaps(known: Stored, labelled: bool) -> list[str]:
    """Missing values, as `read` deals with them."""
    if not known.gaps or known.missing == "keep":
        return []
    if known.missing == "drop":
        return ["rows = ~np.isnan(X).any(axis=1)", _rows(labelled)]
    return [
        "gaps = np.isnan(X)",
        "X = np.where(gaps, np.nansum(X, axis=0) / (~gaps).sum(axis=0), X).astype(X.dtype)",
    ]


def _made_alike(known: Stored) -> list[str]:
    """Columns of one size, as `read` makes them."""
    spread = "np.nanstd(X, axis=0, dtype=np.float64)"
    if known.standardize == "none":
        return []
    lines = [f"centre, scale = np.nanmean(X, axis=0, dtype=np.float64), {spread}"]
    if known.standardize == "robust":
        lines = [
            "low, centre, high = np.nanpercentile(X.astype(np.float64), [25, 50, 75], axis=0)",
            f"scale = (high - low) / {QUARTILES}",
            f"scale = np.where(scale > 0, scale, {spread})",
        ]
    return [*lines, "X = ((X - centre) / np.where(scale > 0, scale, 1.0)).astype(X.dtype)"]


def _fewer(known: Stored, labelled: bool) -> list[str]:
    if known.rows + known.dropped == known.total:
        return []
    drawn = f"rows = np.sort(np.random.default_rng(0).choice(len(X), {known.rows}, replace=False))"
    return [drawn, _rows(labelled)]


def _rows(labelled: bool) -> str:
    return "X, y = X[rows], y[rows]" if labelled else "X = X[rows]"


def command(known: Stored, method: str, params: dict[str, Any]) -> str:
    """A line for the shell that writes the coordinates, or why there is none."""
    if known.rows + known.dropped < known.total:
        return NOT_THERE + "a random part of the rows is shown; copy it as Python"
    if known.stacked:
        return NOT_THERE + "a column that the reader keeps aside was made data; copy it as Python"
    source, before = known.source, ""
    words = ["lowfold", "embed", source["name"]]
    if source["kind"] == "set":
        if source["name"] == "digits":
            return NOT_THERE + "the digits come with scikit-learn; copy it as Python"
        file = f"{source['name']}.csv"
        made = ["lowfold", "datasets", source["name"], "--n", str(source["n"]), "--noise", repr(source["noise"])]
        before = shlex.join([*made, "--seed", str(source["seed"]), "--out", file]) + " && "
        words[2] = file
    elif not _by_reader(known):
        return NOT_THERE + "columns of an array were left out; copy it as Python"
    else:
        words += [word for name in known.taken for word in ("--label", name)]
        words += ["--read", f"missing={known.missing}"] if known.gaps else []
        words += ["--read", f"header={known.header == 'yes'}"] if known.header != "auto" else []
        words += ["--read", "ids=False"] if known.matrix and "label" in known.reader else []
    words += ["--standardize", known.standardize] if known.standardize != "none" else []
    words += ["--method", method.lower()]
    for name, value in {**params, **({"metric": "precomputed"} if known.matrix else {})}.items():
        # one that the command has under this name for itself is set by --set
        words += ["--set", f"{name}={value}"] if name in OWN else [f"--{name.replace('_', '-')}", str(value)]
    return before + shlex.join([*words, "--out", f"{method.lower()}.csv"])
