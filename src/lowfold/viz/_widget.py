"""The picture of the studio inside a notebook, by anywidget (the extra "notebook")."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold.viz._colors import MANY
from lowfold.viz._report_data import _packed, _steps


def widget(
    Y: ArrayLike, *, labels: ArrayLike | None = None, color: ArrayLike | None = None, title: str = "", height: int = 420
) -> Any:
    """An embedding as a widget: point, choose by rectangle or lasso, zoom, turn in 3-D.

    `widget.chosen` holds the rows that were chosen with the mouse, and can be set.

    Parameters
    ----------
    Y : array (n, d), or a fitted model, whose `embedding_` is drawn; up to three columns are.
    labels : array (n,) or None, classes.
    color : array (n,) or None, numbers on a scale.
    title : what it shows, for readers who hear the page.
    height : pixels.
    """
    anywidget = load_extra("anywidget", "notebook", "the widget")
    traitlets = load_extra("traitlets", "notebook", "the widget")
    points = np.asarray(getattr(Y, "embedding_", Y), dtype=np.float64)
    if points.ndim != 2 or points.shape[1] < 2:
        raise InvalidInput(f"Y must have at least two columns; got shape {points.shape}")
    folder = files("lowfold.viz")
    kinds: dict[str, Any] = {
        "_esm": "".join((folder / name).read_text(encoding="utf-8") for name in ("scatter.js", "_widget.js")),
        "__doc__": widget.__doc__,
        "n": traitlets.Int(len(points)).tag(sync=True),
        "axes": traitlets.List([_steps(column) for column in points.T[:3]]).tag(sync=True),
        "field": traitlets.Dict(_field(len(points), labels, color)).tag(sync=True),
        "title": traitlets.Unicode(title or f"{len(points)} points").tag(sync=True),
        "height": traitlets.Int(height).tag(sync=True),
        "chosen": traitlets.List(traitlets.Int()).tag(sync=True),
    }
    return type("ScatterWidget", (anywidget.AnyWidget,), kinds)()


def _field(n: int, labels: ArrayLike | None, color: ArrayLike | None) -> dict[str, Any]:
    """What colours the points, packed as the renderer takes it."""
    if labels is not None and color is not None:
        raise InvalidInput("give color (numbers on a scale) or labels (classes), not both")
    given = np.asarray(labels if labels is not None else np.zeros(n) if color is None else color)
    if given.shape != (n,):
        raise InvalidInput(f"labels and color must have one value per point, shape ({n},); got shape {given.shape}")
    if labels is not None:
        names, codes = np.unique(given.astype(str) if given.dtype == object else given, return_inverse=True)
        if len(names) <= MANY:
            return {"kind": "class", "names": [str(name) for name in names], "codes": _packed(codes.astype("<u1"))}
        return {"kind": "number", **_steps(codes)}
    return {"kind": "plain"} if color is None else {"kind": "number", **_steps(given)}
