"""The page "What can go wrong": each failure made on purpose, with its picture and what lowfold says about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import method_pictures
import numpy as np
from cache import drawn
from markup import fenced
from method_pictures import panel

import lowfold

DRAWING = (Path(__file__), Path(method_pictures.__file__))


@dataclass(frozen=True)
class Case:
    """One failure: data as (X, colour), what goes wrong, what does not, and the question of `diagnose` that tells."""

    key: str
    title: str
    words: str
    data: Callable[[], tuple[Any, Any]]
    wrong: str
    right: str
    question: str
    way_out: str


def _roll() -> tuple[Any, Any]:
    roll = lowfold.datasets.swiss_roll(600, random_state=1)
    return roll.X, roll.color


def _hole() -> tuple[Any, Any]:
    hole = lowfold.datasets.swiss_hole(800, random_state=0)
    return hole.X, hole.color


def _strip() -> tuple[Any, Any]:
    u = np.random.default_rng(0).uniform((0, 0), (8, 1), (600, 2))
    return np.column_stack([u, np.zeros(600)]), u[:, 0]


def _stray() -> tuple[Any, Any]:
    X, color = _roll()
    rng = np.random.default_rng(0)
    return np.vstack([X, X[:1] + rng.normal(0, 1, (12, 3)) + 40]), np.append(color, np.full(12, color.max()))


CASES = (
    Case(
        "shortcut",
        "A shortcut",
        "With too many neighbours an edge jumps from one turn of the roll to the next. Every geodesic that can use it "
        "becomes too short, so the sheet does not open.",
        _roll,
        "Isomap(n_neighbors=25)",
        "Isomap(n_neighbors=6)",
        "shortcuts",
        "Fewer neighbours; `lowfold.tune` leaves out those with shortcuts. `LocallyLinearIsomap` takes neighbours in "
        "the tangent plane only, `DiffusionMaps` averages over all paths.",
    ),
    Case(
        "hole",
        "A hole",
        "Geodesics go around a hole and are longer than in the flat picture, so Isomap widens the hole and presses the "
        "rest together. Methods that look at neighbourhoods only are not disturbed.",
        _hole,
        "Isomap(n_neighbors=8)",
        "LTSA(n_neighbors=8)",
        "with holes",
        "`LTSA` or `HessianLLE`.",
    ),
    Case(
        "repeated",
        "A repeated direction",
        "On a long strip the second eigenvector of the Laplacian is a wave along the same direction as the first, "
        "twice as fast: cos 2x is smoother than anything that changes across the strip. The picture is a curve, the "
        "data are a sheet.",
        _strip,
        "LaplacianEigenmaps(n_neighbors=10)",
        "LTSA(n_neighbors=10)",
        "",
        "Ask for more components and choose those that do not depend on earlier ones, or take a method that looks for "
        "linear functions: `LTSA`, `HessianLLE`, `Isomap`.",
    ),
    Case(
        "single",
        "A few points take a coordinate",
        "Twelve points far from all others hang on the rest by a bridge. The smoothest function on such a graph is "
        "nearly constant on both sides of the bridge: one coordinate tells only who is on which side.",
        _stray,
        "LaplacianEigenmaps(n_neighbors=8)",
        'LaplacianEigenmaps(n_neighbors=8, on_disconnected="largest")',
        "one piece",
        "Leave the strays out, or embed the largest piece only. The curve that is left is the failure before this one: "
        "an unrolled roll is a long strip.",
    ),
    Case(
        "few",
        "Too few neighbours",
        "The graph falls into pieces. They are joined by bridges so that there is a picture at all, and every distance "
        "over a bridge is a guess.",
        _roll,
        "Isomap(n_neighbors=3)",
        "Isomap(n_neighbors=6)",
        "",
        "The warning names the number of neighbours that connects the graph.",
    ),
)


def _fitted(code: str, X: Any) -> tuple[Any, list[str]]:
    model = eval(f"lowfold.{code}", {"lowfold": lowfold})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Y = model.fit_transform(X)
    return Y, [f"{one.category.__name__}: {one.message}" for one in heard]


def _draw(case: Case, path: Path) -> dict[str, Any]:
    """Data, wrong, right: side by side."""
    from matplotlib.figure import Figure

    X, color = case.data()
    (wrong, said), (right, _) = _fitted(case.wrong, X), _fitted(case.right, X)
    figure = Figure(figsize=(9.6, 3.2), layout="constrained")
    axes = [figure.add_subplot(1, 3, 1, projection="3d"), figure.add_subplot(1, 3, 2), figure.add_subplot(1, 3, 3)]
    for ax, Y, title in zip(axes, (X, wrong, right), ("data", case.wrong, case.right)):
        panel(ax, Y, color)
        ax.set_title("\n(".join(title.split("(", 1)), fontsize=9)
    figure.savefig(path, dpi=100)
    return {"said": said, "found": _finding(case, X)}


def _finding(case: Case, X: Any) -> str:
    if not case.question:
        return ""
    text = str(lowfold.quality.diagnose(X))
    start = text.index(f"\n{case.question}: ") + 1
    return text[start:].partition("\n\n")[0]


def _section(case: Case, folder: Path) -> str:
    notes = drawn(folder, f"wrong_{case.key}", lambda path: _draw(case, path), *DRAWING)
    said = fenced("\n".join(notes["said"]), "text") if notes["said"] else "nothing while it is fitted."
    parts = [
        f"## {case.title}",
        case.words,
        f"![{case.title}: data, {case.wrong}, {case.right}](pictures/wrong_{case.key}.png)",
    ]
    parts += [f"`{case.wrong}` says: {'' if notes['said'] else said}", said if notes["said"] else ""]
    if notes["found"]:
        parts += ["`lowfold.quality.diagnose(X)` and `lowfold diagnose FILE` say:", fenced(notes["found"], "text")]
    return "\n\n".join(part for part in [*parts, f"What to do: {case.way_out}"] if part)


def write(folder: Path) -> dict[str, str]:
    """The page."""
    head = (
        "# What can go wrong\n\nEvery method gives a picture; whether it shows the data is another question. Each "
        "section makes one failure on purpose. The words are what lowfold said when this page was made; warnings are "
        "of the kind `LowfoldWarning` and can be caught, filtered or made errors as any other."
    )
    return {"failures.md": "\n\n".join([head, *(_section(case, folder) for case in CASES)]) + "\n"}
