"""The picture of the page "Which method": five kinds of data, a method that suits each and one that does not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import method_pictures
import numpy as np
from cache import drawn
from method_pictures import panel

import lowfold


class Kind(NamedTuple):
    """Data as (rows, colour, whether the colours are classes) and two models, the first the better choice."""

    title: str
    data: tuple[Any, Any, bool]
    suits: Any
    does_not: Any


def _kinds() -> tuple[Kind, ...]:
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    flat = rng.random((400, 2)) * (3, 2)
    sheet = np.column_stack([flat, 0.2 * flat[:, 0] + 0.05 * rng.normal(size=400)])
    roll, hole = (getattr(lowfold.datasets, name)(700, random_state=2) for name in ("swiss_roll", "swiss_hole"))
    u, v = rng.random((2, 600)) * [[4.0], [1.0]]
    strip = np.column_stack([np.cos(u), v, np.sin(u)])  # four times as long as wide
    digits, labels = load_digits(n_class=6, return_X_y=True)
    return (
        Kind("nearly flat", (sheet, flat[:, 0], False), lowfold.PCA(2), lowfold.TSNE(2)),
        Kind("a bent sheet", (roll.X, roll.color, False), lowfold.Isomap(2, n_neighbors=8), lowfold.PCA(2)),
        Kind("with a hole", (hole.X, hole.color, False), lowfold.LTSA(2, n_neighbors=8), lowfold.LLE(2)),
        Kind(
            "a long strip",
            (strip, v, False),
            lowfold.LaplacianEigenmaps(2, select="independent"),
            lowfold.LaplacianEigenmaps(2),
        ),
        Kind("clusters", (digits[:500], labels[:500], True), lowfold.TSNE(2), lowfold.PCA(2)),
    )


def _name(model: Any) -> str:
    return type(model).__name__ + (", independent" if getattr(model, "select", "") == "independent" else "")


def _shown(X: Any) -> Any:
    """Three columns to be drawn as they are; of wide rows the first three axes."""
    return X if X.shape[1] == 3 else lowfold.PCA(3).fit_transform(X)


def _draw(path: Path) -> dict[str, Any]:
    from matplotlib.figure import Figure

    kinds = _kinds()
    figure = Figure(figsize=(9.6, 3.0 * len(kinds)), layout="constrained")
    for down, kind in enumerate(kinds):
        X, color, classes = kind.data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page of failures has what is heard
            shown = [_shown(X), *(model.fit_transform(X) for model in (kind.suits, kind.does_not))]
        titles = (kind.title, f"{_name(kind.suits)}: yes", f"{_name(kind.does_not)}: no")
        for across, (Y, title) in enumerate(zip(shown, titles, strict=True)):
            space = {"projection": "3d"} if across == 0 else {}
            ax = figure.add_subplot(len(kinds), 3, 3 * down + across + 1, **space)
            panel(ax, Y, color, classes=classes)
            ax.set_title(title, fontsize=11)
            if ax.get_legend():
                ax.get_legend().remove()
    figure.savefig(path, dpi=90)
    return {}


def write(folder: Path) -> dict[str, str]:
    """Draw it; the page itself is written by hand."""
    drawn(folder, "which", _draw, Path(__file__), Path(method_pictures.__file__))
    return {}
