"""What `compare` returns: a row for every method, and everything a report shows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.html import html_table
from lowfold._core.types import Floats
from lowfold.datasets._write_table import replacing
from lowfold.select._compare_measure import BY_NAME, MEASURES, Quality


@dataclass(frozen=True, eq=False)
class Row:
    """One method of a comparison.

    name        its name here, different from all others
    method      the class
    status      "done", "failed", "over budget" (ended after too long) or "over memory"
    reason      why it is not done, in one sentence
    params      parameters that differ from the defaults, and n_components
    neighbors   the number of neighbours that was used, where the method has one
    seconds, cpu_seconds  of the fit alone, by the clock and of all threads
    memory_mb   most memory that the fit added to that of packages and data, in megabytes; None where not known
    solver, residual  what solved the eigenproblem, and a bound of the angle to the truth
    own         the method's own measure of success, as stress or reconstruction_error
    warnings    what it warned about
    notes       what else is to be known of this run
    embedding   (n, d), or None
    edges       (m, 2) pairs that its graph joins, or None
    quality     the measures, or None
    tuned       what was chosen and why, as `Tuned.to_dict()`, or None
    """

    name: str
    method: str
    status: str
    reason: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    neighbors: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: float | None = None
    solver: str | None = None
    residual: float | None = None
    own: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    embedding: NDArray[np.floating] | None = None
    edges: NDArray[np.int64] | None = None
    quality: Quality | None = None
    tuned: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Row({self.name!r}, {self.status!r})"

    @property
    def done(self) -> bool:
        """Whether there is an embedding."""
        return self.embedding is not None

    def __getitem__(self, measure: str) -> float:
        """The value of a measure; NaN where it does not apply."""
        return math.nan if self.quality is None else self.quality.values.get(measure, math.nan)

    def to_dict(self, *, points: bool = True) -> dict[str, Any]:
        """Plain values, for JSON; NaN is None. `points` adds the embedding and the trust of each point."""
        plain: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "name",
                "method",
                "status",
                "reason",
                "params",
                "neighbors",
                "seconds",
                "cpu_seconds",
                "memory_mb",
                "solver",
                "residual",
                "own",
                "tuned",
            )
        }
        plain |= {"warnings": list(self.warnings), "notes": list(self.notes)}
        if self.quality is not None:
            plain["not_measured"] = dict(self.quality.missing)
            plain["errors"] = {name: _number(value) for name, value in self.quality.errors.items()}
            plain["quality"] = {name: _number(value) for name, value in self.quality.values.items()}
            plain["r_nx"] = {"sizes": self.quality.sizes.tolist(), "values": _numbers(self.quality.r_nx)}
        if points and self.embedding is not None:
            plain["embedding"] = [_numbers(row) for row in self.embedding]
            plain["trust"] = None if self.quality is None else _numbers(self.quality.trust)
        return plain


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several embeddings of the same points, with what each took and what it is worth. `print` shows the table.

    rows       one per method, in the order asked for
    X          the data, (n, D), or distances
    labels, truth, color  what is known of the points, or None
    facts      what the table of data looks like: name -> value
    settings   how it was run: budget, points measured, seed and so on
    versions   of the packages
    diagnosis  what `quality.diagnose` says of the data, or None
    """

    rows: tuple[Row, ...]
    X: NDArray[Any]
    labels: NDArray[Any] | None
    truth: Floats | None
    color: Floats | None
    facts: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str]
    diagnosis: Any

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise InvalidInput(f"there is no row {name!r}; there are {', '.join(row.name for row in self.rows)}")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that at least one row has, in the order of `MEASURES`."""
        return tuple(
            measure.name
            for measure in MEASURES
            if any(row.quality is not None and measure.name in row.quality.values for row in self.rows)
        )

    def ranking(self, measure: str | None = None) -> tuple[Row, ...]:
        """The rows that are done, best first, by a measure; None is `geodesic_area`, which needs no truth."""
        name = measure or MEASURES[0].name
        if name not in BY_NAME:
            raise InvalidInput(f"measure must be one of {', '.join(BY_NAME)}; got {name!r}")
        sign = -1.0 if BY_NAME[name].larger else 1.0
        done = [row for row in self.rows if row.done]
        return tuple(sorted(done, key=lambda row: math.inf if math.isnan(row[name]) else sign * row[name]))

    def _lines(self) -> list[list[str]]:
        """The header and one line for every row that is done, best first."""
        shown = [name for name in self.measures if BY_NAME[name].first]
        lines = [["method", "seconds", "MB", *(BY_NAME[name].title for name in shown)]]
        for row in self.ranking():
            took = [_short(row.seconds, 2), _short(row.memory_mb, 0)]
            lines.append([row.name, *took, *(_short(row[name], 3) for name in shown)])
        return lines

    def _notes(self) -> list[str]:
        failed = [f"{row.name}: {row.status}: {row.reason}" for row in self.rows if not row.done]
        return [words for words in [*failed, *self._warned(), self.sampling()] if words]

    def _warned(self) -> list[str]:
        """What methods warned about, each once, with the names of all who did."""
        told: dict[str, list[str]] = {}
        for row in self.rows:
            for words in row.warnings:
                told.setdefault(words, []).append(row.name)
        return [f"{', '.join(names)}: {words}" for words, names in told.items()]

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        return "\n".join(line.rstrip() for line in [*text, *self._notes()])

    def _repr_html_(self) -> str:
        header, *rows = self._lines()
        name = self.settings.get("name", "data")
        return html_table(header, rows, title=f"{name}, {len(self.X)} points", notes=self._notes())

    def sampling(self) -> str:
        """How many points were looked at, and the largest standard errors; "" where all were."""
        looked, n = self.settings.get("measured_points", len(self.X)), len(self.X)
        told = [row.quality.errors for row in self.rows if row.quality is not None]
        if looked >= n or not told:
            return ""
        most = {
            name: max((errors[name] for errors in told if name in errors), default=math.nan)
            for name in self.measures
            if BY_NAME[name].first
        }
        shown = ", ".join(f"{BY_NAME[name].title} {value:.2g}" for name, value in most.items() if value == value)
        return f"measured from {looked} of {n} points, drawn at random; standard errors of at most: {shown}"

    def to_dict(self, *, points: bool = True) -> dict[str, Any]:
        """Plain values, for JSON. `points` adds every embedding."""
        return {
            "facts": dict(self.facts),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_dict(),
            "measures": {name: BY_NAME[name].meaning for name in self.measures},
            "ranking": [row.name for row in self.ranking()],
            "rows": [row.to_dict(points=points) for row in self.rows],
        }

    def write_json(self, path: str | Path, *, overwrite: bool = False, points: bool = True) -> None:
        """Write `to_dict` to a file, whole or not at all; an existing one is left alone unless `overwrite`."""
        text = json.dumps(self.to_dict(points=points), allow_nan=False)
        with replacing(Path(path), overwrite=overwrite) as part:
            part.write_text(text + "\n", encoding="utf-8")


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: NDArray[np.floating]) -> list[float | None]:
    """Six digits: enough to draw and compare, a third of the size."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]


def _short(value: float | None, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"
