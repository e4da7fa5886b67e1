"""What the pictures of a report are drawn from: numbers rounded to what a screen shows, as base64 inside the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold.select._compare_types import Comparison, Row
from lowfold.viz._colors import MANY

DRAWN = 200_000  # points of one picture: drawn within a second, 1 MB each
SPOKEN = 20_000  # rows whose text is shown at the pointer
THUMBS, SIDE = 4_000_000, 24  # bytes of thumbnails, and their longest side in pixels
EDGES = 20_000  # lines of one picture
COLUMNS = 4  # columns of the data that can colour the points
LEVELS = 65_534  # steps of a coordinate; the one above stands for "no place"


def drawn_rows(comparison: Comparison) -> NDArray[np.int64]:
    """Rows that are drawn: all, or a sample in which those that were measured come first."""
    n = len(comparison.X)
    if n <= DRAWN:
        return np.arange(n)
    rng = np.random.default_rng(0)
    trusted = np.zeros(n, dtype=bool)
    for row in comparison.rows:
        if row.quality is not None:
            trusted |= np.isfinite(row.quality.trust)
    measured, others = np.flatnonzero(trusted), np.flatnonzero(~trusted)
    if len(measured) >= DRAWN:
        return np.sort(rng.choice(measured, DRAWN, replace=False))
    return np.sort(np.concatenate([measured, rng.choice(others, DRAWN - len(measured), replace=False)]))


def picture_data(comparison: Comparison) -> dict[str, Any]:
    """Everything the script of the page needs, as JSON."""
    rows = drawn_rows(comparison)
    graphs: list[dict[str, Any]] = []
    seen: dict[bytes, int] = {}
    pictures = []
    for row in comparison.rows:
        if row.done:
            pictures.append({**_picture(row, rows), "graph": _graph(row, rows, len(comparison.X), graphs, seen)})
    return {
        "n": len(rows),
        "rows": None if len(rows) == len(comparison.X) else _packed(rows.astype("<u4")),
        "fields": _fields(comparison, rows),
        "pictures": pictures,
        "graphs": graphs,
        "thumbs": _thumbs(comparison, rows),
    }


def _packed(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _steps(values: NDArray[Any]) -> dict[str, Any]:
    """Numbers as 16-bit steps between their least and their largest; LEVELS + 1 where there is none."""
    numbers = np.asarray(values, dtype=np.float64)
    there = np.isfinite(numbers)
    low, high = (float(numbers[there].min()), float(numbers[there].max())) if there.any() else (0.0, 1.0)
    span = high - low if high > low else 1.0
    steps = np.full(len(numbers), LEVELS + 1, dtype="<u2")
    steps[there] = np.rint((numbers[there] - low) / span * LEVELS)
    return {"low": float(f"{low:.6g}"), "high": float(f"{low + span:.6g}"), "steps": _packed(steps)}


def shown_columns(row: Row) -> NDArray[Any]:
    """The columns of an embedding that are drawn: at most three; of clusterings the first one says nothing."""
    assert row.embedding is not None
    Y = np.asarray(row.embedding, dtype=np.float64)
    skip = 1 if row.method == "SpectralClustering" and Y.shape[1] > 2 else 0
    return Y[:, skip : skip + 3]


def _picture(row: Row, rows: NDArray[np.int64]) -> dict[str, Any]:
    Y = shown_columns(row)[rows]
    if Y.shape[1] == 1:  # heights by the golden ratio, so that points on a line do not hide one another
        Y = np.column_stack([Y, 0.1 * np.ptp(Y) * ((rows * 0.6180339887498949) % 1.0)])
    trust = np.full(len(rows), 255, dtype=np.uint8)
    if row.quality is not None:
        values = row.quality.trust[rows]
        there = np.isfinite(values)
        trust[there] = np.rint(np.clip(values[there], 0.0, 1.0) * 254)
    return {"name": row.name, "axes": [_steps(column) for column in Y.T], "trust": _packed(trust)}


def _graph(
    row: Row, rows: NDArray[np.int64], n: int, graphs: list[dict[str, Any]], seen: dict[bytes, int]
) -> int | None:
    """Number of the row's graph among those of the page; methods with the same graph share it."""
    if row.edges is None or not len(row.edges):
        return None
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    pairs = place[row.edges]
    pairs = pairs[(pairs >= 0).all(axis=1)]
    total = len(pairs)
    if total > EDGES:
        pairs = pairs[np.sort(np.random.default_rng(0).choice(total, EDGES, replace=False))]
    packed = pairs.astype("<u2" if len(rows) <= 65_536 else "<u4").tobytes()
    if packed not in seen:
        seen[packed] = len(graphs)
        graphs.append({"edges": base64.b64encode(packed).decode("ascii"), "total": len(row.edges), "shown": len(pairs)})
    return seen[packed]


def _fields(comparison: Comparison, rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    """What can colour the points, the most telling first."""
    found: list[dict[str, Any]] = []
    settings = comparison.settings
    if comparison.labels is not None:
        names, codes = np.unique(comparison.labels, return_inverse=True)
        name = str(settings.get("labels_name") or "class")
        if len(names) <= MANY:
            words = [str(value) for value in names]
            found.append({"name": name, "kind": "class", "names": words, "codes": _packed(codes[rows].astype("<u1"))})
        else:
            found.append({"name": f"{name} (numbered)", "kind": "number", **_steps(codes[rows])})
    if comparison.color is not None:
        found.append(
            {"name": str(settings.get("color_name") or "colour"), "kind": "number"} | _steps(comparison.color[rows])
        )
    if comparison.truth is not None:
        for i, column in enumerate(comparison.truth.T[:COLUMNS]):
            found.append({"name": f"true coordinate {i + 1}", "kind": "number"} | _steps(column[rows]))
    if any(row.quality is not None for row in comparison.rows):
        found.append({"name": "trust of each point", "kind": "trust", "low": _lowest_trust(comparison), "high": 1.0})
    if not str(settings.get("metric", "")).startswith("precomputed"):
        columns = settings.get("columns") or [f"column {i + 1}" for i in range(comparison.X.shape[1])]
        shown = comparison.X.shape[1] if comparison.X.shape[1] <= COLUMNS else 0
        for i in range(shown):
            found.append({"name": f"data: {columns[i]}", "kind": "number"} | _steps(comparison.X[rows, i]))
    found += _aside(settings, rows, {str(field["name"]) for field in found})
    coloured = any(field["kind"] != "text" for field in found)
    return found if coloured else [*found, {"name": "row", "kind": "number"} | _steps(rows.astype(np.float64))]


def _aside(settings: dict[str, Any], rows: NDArray[np.int64], known: set[str]) -> list[dict[str, Any]]:
    """The other columns that were kept aside: classes and numbers colour, texts are shown at the pointer."""
    found: list[dict[str, Any]] = []
    for name, values in (settings.get("aside") or {}).items():
        if name in known:
            continue
        here = np.asarray(values)[rows]
        classes = np.unique(np.asarray(values).astype(str)) if here.dtype.kind not in "f" else np.empty(0)
        if here.dtype.kind in "fiu" and not 1 < len(classes) <= MANY:
            found.append({"name": name, "kind": "number", **_steps(here)})
        elif 1 < len(classes) <= MANY and len(classes) < len(values):
            codes = np.searchsorted(classes, here.astype(str)).astype("<u1")
            found.append({"name": name, "kind": "class", "names": classes.tolist(), "codes": _packed(codes)})
        elif len(rows) <= SPOKEN:
            found.append({"name": name, "kind": "text", "values": [str(value)[:200] for value in here.tolist()]})
    return found


def _thumbs(comparison: Comparison, rows: NDArray[np.int64]) -> dict[str, Any] | None:
    """Small pictures of the rows where they are images, every so many pixels one."""
    shape = comparison.settings.get("point_shape")
    if shape is None:
        return None
    step = max(1, -(-max(shape[:2]) // SIDE))
    images = comparison.X.reshape(len(comparison.X), *shape)[:, ::step, ::step]
    if images[0].size * len(rows) > THUMBS:
        return None
    low, high = float(images.min()), float(images.max())
    pixels = np.rint((images[rows] - low) / ((high - low) or 1.0) * 255).astype(np.uint8)
    channels = 3 if len(shape) == 3 else 1
    return {"height": images.shape[1], "width": images.shape[2], "channels": channels, "pixels": _packed(pixels)}


def _lowest_trust(comparison: Comparison) -> float:
    """Where the scale of trust begins: what 2 % of the points of the worst picture fall below."""
    low = [
        float(np.nanquantile(row.quality.trust, 0.02))
        for row in comparison.rows
        if row.quality is not None and np.isfinite(row.quality.trust).any()
    ]
    return float(np.clip(np.floor(20 * min(low, default=0.5)) / 20, 0.0, 0.95))
