"""What `lowfold list` and `lowfold datasets` print and make."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lowfold.cli._errors import wrong_usage
from lowfold.cli._values import find_typed, parse_given
from lowfold.methods.registry import REGISTRY

if TYPE_CHECKING:
    from numpy.typing import NDArray


def columns_of(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """Rows under a header, in aligned columns; the last one wraps at the width of the terminal."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header) - 1)]
    indent = sum(widths) + 2 * len(widths)
    room = max(30, shutil.get_terminal_size((110, 24)).columns - indent - 1)
    lines = []
    for row in [header, *rows]:
        start = "".join(f"{cell:{width}s}  " for cell, width in zip(row, widths))
        lines.append(("\n" + " " * indent).join(textwrap.wrap(row[-1], room) or [""]).join((start, "")))
    return "\n".join(lines)


def methods_table() -> str:
    """The registry, without loading any of it."""
    rows = [(e.name, e.family, ", ".join(e.inputs), e.line) for e in REGISTRY]
    return columns_of(rows, ("method", "family", "takes", "preserves"))


def datasets_table() -> str:
    """The generators that give points."""
    from lowfold.datasets._table import SURFACES

    return columns_of([(name, entry.description) for name, entry in SURFACES.items()], ("data set", "what it is"))


def made(name: str, common: Mapping[str, Any], settings: Sequence[str]) -> Any:
    """The named data set with these options."""
    from lowfold.datasets._table import SURFACES

    make = SURFACES[find_typed(name, SURFACES, "data set")].make
    known = inspect.signature(make).parameters
    given = parse_given(settings, common)
    for key in given:
        if key not in known:
            wrong_usage(f"{make.__name__} has no option {key!r}; it has {', '.join(known)}")
    return make(**(dict(common) | given))


def truth_columns(data: Any) -> dict[str, NDArray[Any]]:
    """What is known of each point: colour, class, and its isometric coordinates, or parameters where it has none."""
    found: dict[str, NDArray[Any]] = {"color": data.color}
    if data.labels is not None:
        found["class"] = data.labels
    coordinates = data.parameters if data.coordinates is None else data.coordinates
    return found | {f"u{i + 1}": coordinates[:, i] for i in range(coordinates.shape[1])}
