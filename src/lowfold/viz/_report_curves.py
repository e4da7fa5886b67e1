"""Curves of a report as inline SVG: plain text, no package needed, readable in light and dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 12, 40
# Tol (2021), "Colour schemes", bright and muted, those that stay readable on white and on black; then with dashes.
COLORS = ("#4477AA", "#EE6677", "#228833", "#B8A020", "#33AABB", "#AA3377", "#999999", "#CC6633")
DASHES = ("", "6 3", "2 3")


@dataclass(frozen=True)
class Line:
    """One curve: its name, and points; None breaks it."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]


def stroke(number: int) -> str:
    """Attributes of the n-th line, different from all others up to 24."""
    dash = DASHES[number // len(COLORS) % len(DASHES)]
    return f'stroke="{COLORS[number % len(COLORS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    """Round numbers across a range."""
    if log:
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        return [10.0**p for p in powers]
    step = 10 ** math.floor(math.log10(max(high - low, 1e-12)))
    step = next(s * step for s in (0.1, 0.2, 0.25, 0.5, 1.0) if (high - low) / (s * step) <= 6.5)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]


def curves(lines: Sequence[Line], *, title: str, x_name: str, y_name: str, log: bool = True, low: float = 0.0) -> str:
    """Lines over a (logarithmic) axis from `low` to 1."""
    xs = [x for line in lines for x in line.x]
    x0, x1 = min(xs), max(xs)
    x1 = x1 if x1 > x0 else x0 + 1.0

    def across(x: float) -> float:
        share = math.log(x / x0) / math.log(x1 / x0) if log else (x - x0) / (x1 - x0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - (max(low, min(y, 1.0)) - low) / (1.0 - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}" class="curves">',
        f"<title>{html.escape(title)}</title>",
    ]
    for y in _ticks(low, 1.0, log=False):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(y):.1f}" y2="{up(y):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{y:.4g}</text>')
    for x in _ticks(x0, x1, log=log):
        parts.append(
            f'<line class="grid" x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        )
        parts.append(f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{html.escape(x_name)}</text>')
    turned = f'transform="translate(12 {HEIGHT / 2 - 10}) rotate(-90)" text-anchor="middle"'
    parts.append(f"<text {turned}>{html.escape(y_name)}</text>")
    for number, line in enumerate(lines):
        path, pen = "", "M"
        for x, height in zip(line.x, line.y):
            if height is None or not math.isfinite(height):
                pen = "M"
                continue
            path += f"{pen}{across(x):.1f} {up(height):.1f}"
            pen = "L"
        name = html.escape(line.name, quote=True)
        parts.append(f'<path data-name="{name}" d="{path}" {stroke(number)}><title>{name}</title></path>')
    return "".join(parts) + "</svg>"


def legend(names: Sequence[str]) -> str:
    """The lines of `curves`, named; pointing at one brings it out."""
    items = [
        f'<li data-name="{html.escape(name, quote=True)}" tabindex="0"><svg viewBox="0 0 28 10" aria-hidden="true">'
        f'<line x1="1" x2="27" y1="5" y2="5" {stroke(i)}/></svg>{html.escape(name)}</li>'
        for i, name in enumerate(names)
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def sparkline(values: Sequence[float | None], chosen: int | None, label: str) -> str:
    """A small curve with the chosen candidate marked."""
    there = [(i, value) for i, value in enumerate(values) if value is not None and math.isfinite(value)]
    if len(there) < 2:
        return ""
    ys = np.array([value for _, value in there])
    span = float(np.ptp(ys)) or 1.0
    last = max(1, len(values) - 1)
    points = [(4 + 112 * i / last, 28 - 24 * (value - ys.min()) / span) for i, value in there]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dot = next(((x, y) for (i, _), (x, y) in zip(there, points) if i == chosen), None)
    mark = "" if dot is None else f'<circle cx="{dot[0]:.1f}" cy="{dot[1]:.1f}" r="3.5"/>'
    head = f'<svg viewBox="0 0 120 32" class="spark" role="img" aria-label="{html.escape(label)}">'
    return f'{head}<path d="{path}"/>{mark}</svg>'
