"""One picture per method: what it makes of a roll, of a roll with a hole and of handwritten digits, few points each."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cache import drawn

import lowfold
from lowfold.methods.registry import Entry

POINTS = 400
HEIGHT = 8.0  # of the roll: so few points are dense enough for the neighbours as they come, without shortcuts
FEWER = {"MVU": 150, "LandmarkMVU": 200, "SNE": 100, "SymmetricSNE": 100}  # the page has to be made in seconds


@cache
def data(n: int) -> dict[str, tuple[Any, Any, bool]]:
    """Name -> (rows, colour, whether the colours are classes)."""
    from sklearn.datasets import load_digits

    roll = lowfold.datasets.swiss_roll(n, height=HEIGHT, random_state=0)
    hole = lowfold.datasets.swiss_hole(n, height=HEIGHT, random_state=0)
    digits, labels = load_digits(n_class=5, return_X_y=True)
    return {
        "Swiss roll": (roll.X, roll.color, False),
        "roll with a hole": (hole.X, hole.color, False),
        "digits 0 to 4": (digits[:n], labels[:n], True),
    }


def _rows(entry: Entry, X: Any) -> Any:
    """The data in the form that the method takes."""
    if "matrices" in entry.inputs:
        half = X.shape[1] // 2 + 1
        return [lowfold.metrics.pairwise(part) for part in (X, X[:, :half])]
    return X - X.min(axis=0) if entry.name == "NMF" else X


def _fit(entry: Entry, X: Any, color: Any, classes: bool) -> tuple[Any, list[str]]:
    model = getattr(lowfold, entry.name)(2)
    groups = color if classes else np.digitize(color, np.quantile(color, (1 / 3, 2 / 3)))
    y = groups if entry.name.startswith("Supervised") else None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(_rows(entry, X), y)
    return model.embedding_, [f"{one.category.__name__}: {one.message}" for one in heard]


def panel(ax: Any, Y: Any, color: Any, *, classes: bool = False) -> None:
    """Points alone, at equal scales: the figures at the axes and the scale of colours say nothing here."""
    before = set(ax.figure.axes)
    lowfold.viz.scatter(Y, **({"labels": color} if classes else {"color": color}), ax=ax)
    for scale in set(ax.figure.axes) - before:
        scale.remove()
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    if hasattr(ax, "set_zlabel"):
        ax.set(zlabel="", zticks=[])
    else:  # a strip ten times as long as wide is shown as one, here where pictures stand side by side
        ax.set_aspect("equal", adjustable="datalim")


def _draw(entry: Entry, path: Path) -> dict[str, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.3), layout="constrained")
    said: dict[str, list[str]] = {}
    n = FEWER.get(entry.name, POINTS)
    for place, (name, (X, color, classes)) in enumerate(data(n).items(), 1):
        ax = figure.add_subplot(1, 3, place)
        ax.set_title(f"{name}, {n} points", fontsize=10)
        try:
            Y, said[name] = _fit(entry, X, color, classes)
        except Exception as error:  # noqa: BLE001 # a refusal belongs on the page, in its own words
            said[name] = [f"{type(error).__name__}: {error}"]
            ax.axis("off")
            continue
        panel(ax, Y, color, classes=classes)
    figure.savefig(path, dpi=90)
    return {"said": {name: words for name, words in said.items() if words}}


def picture(entry: Entry, folder: Path) -> dict[str, list[str]]:
    """Draw it; what the method said to each data set."""
    said: dict[str, list[str]] = drawn(folder, entry.module, lambda path: _draw(entry, path), Path(__file__))["said"]
    return said
