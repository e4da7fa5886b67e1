"""A run as Python and as a command: what has to be typed to get the same picture again."""

from __future__ import annotations

import shlex
from typing import Any

from lowfold.datasets import __all__ as public
from lowfold.studio._stored import MOST_ROWS, Stored

OWN = frozenset({"color", "label", "memory", "method", "out", "plot", "read", "save", "verbose"})  # flags of `embed`
NOT_THERE = "# this run cannot be written as one command: "


def python(known: Stored, method: str, params: dict[str, Any]) -> str:
    """A script that ends with the coordinates Y."""
    lines = ["import lowfold"]
    reading, labels = _reading(known)
    if any("np." in line for line in reading):
        lines.append("import numpy as np")
    given = {**params, **({"metric": "precomputed"} if known.matrix else {})}
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    lines += ["", *reading, f"model = lowfold.{method}({arguments})"]
    lines.append(f"Y = model.fit_transform(X{labels if method == 'SupervisedLLE' else ''})")
    return "\n".join(lines) + "\n"


def _reading(known: Stored) -> tuple[list[str], str]:
    """Lines that make X, and how the labels are called there."""
    source = known.source
    label = next((name for name in known.aside if known.roles.get(name) == "label"), None)
    if source["kind"] == "set":
        if source["name"] == "digits":
            lines = ["from sklearn.datasets import load_digits", "", "X, y = load_digits(return_X_y=True)"]
            return lines, ", y"
        given = f"{source['n']}, noise={source['noise']!r}, random_state={source['seed']}"
        name = source["name"]
        make = f"lowfold.datasets.{name}" if name in public else f'lowfold.datasets.SURFACES["{name}"].make'
        return [f"data = {make}({given})", "X = data.X", *_fewer(known)], ", data.labels"
    aside = [name for name in known.aside if known.roles.get(name) and name in known.roles]
    options = []
    if "missing" in known.reader:
        options.append('missing="keep"')
    if "label" in known.reader and aside:
        options.append(f"label={[name for name in aside if name != 'id']!r}")
    if known.matrix and "label" in known.reader:
        options.append("ids=False")
    text = "".join(f", {option}" for option in options)
    lines = [f'table = lowfold.datasets.read("{source["name"]}"{text})']
    if "label" in known.reader or not aside:
        lines.append("X = table.X")
    else:
        lines.append(f"X = table.X[:, [table.columns.index(name) for name in {known.columns!r}]]")
    lines += [f"X = np.column_stack([X, table.labels[{name!r}]])" for name in known.stacked]
    return [*lines, *_fewer(known)], f", table.labels[{label!r}]"


def _fewer(known: Stored) -> list[str]:
    lines = []
    if known.dropped:
        lines.append("X = X[~np.isnan(X).any(axis=1)]")
    if known.rows == MOST_ROWS and known.total - known.dropped > MOST_ROWS:
        lines.append(f"X = X[np.sort(np.random.default_rng(0).choice(len(X), {MOST_ROWS}, replace=False))]")
    return lines


def command(known: Stored, method: str, params: dict[str, Any]) -> str:
    """A line for the shell that writes the coordinates, or why there is none."""
    if known.dropped or known.rows < known.total:
        return NOT_THERE + "rows were left out; copy it as Python"
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
    elif [name for name in known.aside if name != "id"] and "label" not in known.reader:
        return NOT_THERE + "columns of an array were left out; copy it as Python"
    else:
        words += [w for name in known.aside if name != "id" for w in ("--label", name)]
    words += ["--method", method.lower()]
    for name, value in {**params, **({"metric": "precomputed"} if known.matrix else {})}.items():
        # one that the command has under this name for itself is set by --set
        words += ["--set", f"{name}={value}"] if name in OWN else [f"--{name.replace('_', '-')}", str(value)]
    return before + shlex.join([*words, "--out", f"{method.lower()}.csv"])
