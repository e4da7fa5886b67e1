"""What a notebook shows of a fitted model: scikit-learn's view, and a small table of what happened."""

from __future__ import annotations

from html import escape
from typing import Any

STYLE = (
    "border-collapse:collapse;margin:.4em 0 .6em 0;font-size:.85em;line-height:1.35;"
    "font-family:system-ui,sans-serif;color:inherit"
)
CELL = "padding:.1em .9em .1em 0;text-align:left;vertical-align:top;border:none"
QUIET = f"{CELL};opacity:.7"


def with_history(html: str, model: Any) -> str:
    """The HTML of an estimator, followed by the table where the model was fitted."""
    rows = happened(model)
    if not rows:
        return html
    cells = "".join(
        f'<tr><th scope="row" style="{QUIET};font-weight:normal">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        f'{html}<table style="{STYLE}"><caption style="{QUIET};caption-side:top">what happened</caption>{cells}</table>'
    )


def happened(model: Any) -> list[tuple[str, str]]:
    """Stages with seconds, solver, residual, gap, pieces and warnings, as far as the model knows them."""
    history = getattr(model, "_history", None)
    if history is None:
        return []
    stages = ", ".join(f"{name} {_seconds(took)}" for name, took in _merged(history["stages"]))
    rows = [("seconds", _seconds(history["seconds"])), ("stages", stages or "none")]
    Y = getattr(model, "embedding_", None)
    if Y is not None:
        rows.insert(0, ("embedding", f"{Y.shape[0]} points in {Y.shape[1]} dimensions, {Y.dtype}"))
    for name, shown in (
        ("solver_", "solver"),
        ("residual_", "residual"),
        ("gap_", "gap"),
        ("n_neighbors_", "neighbours"),
    ):
        value = getattr(model, name, None)
        if isinstance(value, (int, float, str)):
            rows.append((shown, value if isinstance(value, str) else f"{value:.3g}"))
    rows += [("warning", words) for words in history["warnings"]]
    return rows


def _merged(stages: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Stages of one name together, in the order of their first end."""
    found: dict[str, float] = {}
    for name, took in stages:
        found[name] = found.get(name, 0.0) + took
    return list(found.items())


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"
