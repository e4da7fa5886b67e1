"""What a remade figure is: its data, how it is drawn, what was printed, and what has to hold for our sentence on it.

A figure is drawn by a function that returns the picture and rows of facts; its words are in words.toml. `holds` reads
the facts: if it is false when the pages are made, the sentence is no longer true, and the build says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import lowfold
from lowfold._core.errors import LowfoldError, LowfoldWarning

Row = dict[str, Any]
ACROSS = 3  # panels beside each other: more are too small on a phone
SIDE = 3.1
KEPT, ALONG, ACROSS_IT = "neighbours kept", "R² along", "R² across"
TEN = {"n_neighbors": 10}


@dataclass(frozen=True)
class Drawn:
    """A picture, the facts under it as rows of a table, and the warnings that were heard."""

    figure: Any
    rows: Sequence[Row] = ()
    said: Sequence[str] = ()


@dataclass(frozen=True)
class Made:
    """How a figure is drawn, and whether its facts bear out what is said about it; `holds` is called with the rows."""

    draw: Callable[[], Drawn]
    holds: Callable[[Sequence[Row]], bool] = lambda rows: True


@dataclass(frozen=True)
class Figure:
    """One figure or table of a text: words.toml and the functions that make it.

    key       name of the page and of the picture
    setting   data, N, k and parameters
    printed   what the text shows or says, in our words
    verdict   one sentence: whether ours agrees, or why not
    instead   what stands in for data that cannot be shipped
    """

    key: str
    number: str
    title: str
    setting: str
    printed: str
    verdict: str
    made: Made
    text: str = "Wang (2012)"
    instead: str = ""


@dataclass(frozen=True)
class Data:
    """A surface of `lowfold.datasets`, by name; `height` is the book's length of a roll or height of a sphere."""

    name: str
    n: int = 1000
    height: float | None = None
    noise: float = 0.0

    def make(self) -> Any:
        """The points; the same for every figure that asks for them."""
        return _made(self)


@cache
def _made(data: Data) -> Any:
    options = {} if data.height is None else {"height": data.height}
    return getattr(lowfold.datasets, data.name)(data.n, noise=data.noise, random_state=0, **options)


@dataclass(frozen=True)
class Cell:
    """One panel: a surface, a method and its parameters."""

    title: str
    data: Data
    method: str
    parameters: tuple[tuple[str, Any], ...] = ()


def cell(title: str, data: Data, method: str, **parameters: Any) -> Cell:
    """A panel, its parameters by name."""
    return Cell(title, data, method, tuple(parameters.items()))


SQUARE, CLUSTER, SPHERE = Data("square"), Data("cluster_3d"), Data("punched_sphere")
ROLL, CURVE = Data("swiss_roll"), Data("s_curve")
FOUR = {"3-D cluster": CLUSTER, "punched sphere": SPHERE, "Swiss roll": ROLL, "S-curve": CURVE}


def heights(method: str, **parameters: Any) -> list[Cell]:
    """Punched spheres of growing height."""
    return [cell(f"height {h}", Data("punched_sphere", height=h), method, **parameters) for h in (0.5, 0.75, 0.9)]


def lengths(name: str, values: Sequence[float], method: str, **parameters: Any) -> list[Cell]:
    """Rolls or S-curves of growing length with as many points."""
    return [cell(f"length {h:g}", Data(name, height=h), method, **parameters) for h in values]


def noisy(noise: float, names: Sequence[str], method: str, **parameters: Any) -> list[Cell]:
    """Surfaces with noise on all coordinates."""
    one = {title: Data(data.name, noise=noise) for title, data in FOUR.items() if title in names}
    return [cell(title, data, method, **parameters) for title, data in one.items()]


def neighbors(data: Data, counts: Sequence[int], method: str, **parameters: Any) -> list[Cell]:
    """One surface, growing neighbourhoods."""
    return [cell(f"k = {k}", data, method, n_neighbors=k, **parameters) for k in counts]


# Scores -----------------------------------------------------------------------------------------------------------


def truth(data: Any) -> Any:
    """Isometric coordinates; of the punched sphere its stereographic image; of the 3-D cluster the points."""
    if data.coordinates is not None:
        return data.coordinates
    if data.labels is not None:
        return data.X
    turn, down = data.parameters.T
    return np.column_stack([np.cos(turn), np.sin(turn)]) * np.tan((np.pi - down) / 2)[:, None]


def kept(T: Any, Y: Any) -> float:
    """Share of the ten nearest in the picture that are among the thirty nearest in truth."""
    found, real = cKDTree(Y).query(Y, 11)[1][:, 1:], cKDTree(T).query(T, 31)[1][:, 1:]
    return float((found[:, :, None] == real[:, None, :]).any(axis=2).mean())


def explained(T: Any, Y: Any) -> Any:
    """R^2 of each true coordinate by an affine map of the embedding."""
    A = np.column_stack([np.ones(len(Y)), Y])
    rest = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return 1 - (rest**2).sum(axis=0) / ((T - T.mean(axis=0)) ** 2).sum(axis=0)


def fitted(one: Cell) -> tuple[Any, list[str]]:
    """The embedding, and what the method said."""
    model = getattr(lowfold, one.method)(2, **dict(one.parameters))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Y = model.fit_transform(one.data.make().X)
    return Y, [f"{one.title}: {w.message}" for w in heard if issubclass(w.category, LowfoldWarning)]


def quietly(model: Any, X: Any) -> Any:
    """The embedding where the page says itself what the method would warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        return model.fit_transform(X)


def facts(one: Cell, Y: Any) -> Row:
    """Scores of one panel; a surface without flat coordinates has no R^2."""
    data = one.data.make()
    row: Row = {"": one.title, KEPT: kept(truth(data), Y)}
    if data.coordinates is not None:
        first, second = explained(data.coordinates, Y)
        row |= {ALONG: first, ACROSS_IT: second}
    return row


# Drawing ----------------------------------------------------------------------------------------------------------


def sheet(count: int, *, across: int = ACROSS, side: float = SIDE, solid: Sequence[int] = ()) -> tuple[Any, list[Any]]:
    """A figure with so many panels; those in `solid` are three-dimensional."""
    from matplotlib.figure import Figure as Sheet

    across = min(across, count)
    down = -(-count // across)
    figure = Sheet(figsize=(side * across, side * down), layout="constrained")
    places = range(count)
    return figure, [figure.add_subplot(down, across, i + 1, projection="3d" if i in solid else None) for i in places]


def dots(ax: Any, Y: Any, color: Any, title: str = "", *, size: float = 4.0, equal: bool = False) -> None:
    """Points without axes, coloured by the truth."""
    shade: dict[str, Any] = {"color": color} if isinstance(color, str) else {"c": color, "cmap": "viridis"}
    ax.scatter(*np.asarray(Y).T, s=size, linewidths=0, **shade)
    if title:
        ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[])
    if hasattr(ax, "set_zticks"):
        ax.set(zticks=[])
    elif equal:
        ax.set_aspect("equal", adjustable="datalim")


def hue(data: Any) -> Any:
    """The colour of a surface: its first true coordinate, or which part a point belongs to."""
    color = np.asarray(data.color)
    return color[:, 0] if color.ndim > 1 else color


def grid(cells: Sequence[Cell], *, equal: bool = False) -> Callable[[], Drawn]:
    """Draw one embedding per cell, with scores and words; a refusal stands in its panel."""

    def draw() -> Drawn:
        figure, axes = sheet(len(cells))
        rows, said = [], []
        for ax, one in zip(axes, cells):
            try:
                Y, words = fitted(one)
            except LowfoldError as error:
                refuse(ax, one.title, str(error))
                rows.append({"": one.title, "refused": 1.0})
                continue
            dots(ax, Y, hue(one.data.make()), one.title, equal=equal)
            rows.append(facts(one, Y))
            said += words
        return Drawn(figure, rows, said)

    return draw


def refuse(ax: Any, title: str, words: str) -> None:
    """A panel without an embedding: the words that came instead."""
    import textwrap

    ax.text(0.5, 0.5, textwrap.fill(words, 34), ha="center", va="center", fontsize=7, transform=ax.transAxes)
    ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[])


def column(rows: Sequence[Row], name: str) -> list[float]:
    """One column of the facts, where a row has it."""
    return [row[name] for row in rows if name in row]
