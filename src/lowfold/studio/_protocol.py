"""Every message between the page and the server, both directions; `static/protocol.js` is written from this file.

Commands come from the page as {"do": name, "id": number, ...fields}; events go to it as {"say": name, ...fields}. A
command is taken only if its fields are exactly those declared here, of these types: nothing else of what the page sends
is looked at.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from dataclasses import dataclass, field
from typing import Any, Literal

from lowfold._core.errors import InvalidInput

LONGEST = 4_000_000  # characters of one command; the longest are lists of chosen rows

Role = Literal["data", "label", "colour", "ignored"]
Json = dict[str, Any]


# What is shown ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """Numbers of all points as the page fetches them: /col/<hash>, little-endian.

    kind   "steps": 16-bit steps from low to high, 65535 for none; "codes": bytes, places in `names`; "pairs": 32-bit
    """

    hash: str
    kind: Literal["steps", "codes", "pairs"]
    n: int
    low: float = 0.0
    high: float = 1.0
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ColumnInfo:
    """One column of the table."""

    name: str
    kind: str
    role: Role
    missing: int = 0
    constant: bool = False


@dataclass(frozen=True)
class DataInfo:
    """The data that are loaded. `shape` is that of an image in a row; `item` says how a row is best shown."""

    id: str
    name: str
    n: int
    features: int
    shown: int
    columns: list[ColumnInfo]
    more_columns: int
    notices: list[str]
    item: Literal["image", "curve", "row"]
    shape: list[int]
    low: float
    high: float
    colours: dict[str, Column]
    missing: int
    dropped: int
    matrix: bool
    square: bool
    picture: list[Column]


@dataclass(frozen=True)
class Control:
    """One parameter: what it may be, and its sentence. `kind` chooses the control of the page."""

    name: str
    kind: Literal["int", "real", "choice", "flag", "text"]
    default: Any
    options: list[str]
    low: float | None
    high: float | None
    open_low: bool
    none: str | None
    sentence: str
    allowed: str
    more: bool
    tuned: bool


@dataclass(frozen=True)
class MethodInfo:
    """One card."""

    name: str
    family: str
    line: str
    citation: str
    unusable: str
    controls: list[Control]


@dataclass(frozen=True)
class StageInfo:
    """One step of a run: `seconds` is None while it is under way, `kept` says that it was not computed again."""

    name: str
    seconds: float | None = None
    share: float | None = None
    bytes: int | None = None
    kept: bool = False


@dataclass
class RunInfo:
    """One run, as its card shows it."""

    id: str
    method: str
    params: Json
    status: Literal["waiting", "running", "done", "failed", "stopped"]
    data: str
    reason: str = ""
    stages: list[StageInfo] = field(default_factory=list)
    picture: list[Column] = field(default_factory=list)
    preview: int = 0
    facts: Json = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    edges: Column | None = None
    edges_total: int = 0
    measured: Json | None = None
    colours: dict[str, Column] = field(default_factory=dict)
    stability: Json | None = None
    placed: list[Json] = field(default_factory=list)
    invertible: bool = False
    silent: float = 0.0


# Commands -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """Take a built-in set."""

    id: int
    name: str
    n: int
    noise: float
    seed: int


@dataclass(frozen=True)
class Batch:
    """Begin an upload: the answer is the name under which files are sent."""

    id: int


@dataclass(frozen=True)
class Take:
    """Read what was uploaded as the data."""

    id: int
    batch: str


@dataclass(frozen=True)
class Assign:
    """Change what the columns are for. `missing`: keep rows with missing values, or leave them out."""

    id: int
    roles: dict[str, str]
    missing: Literal["keep", "drop"]
    matrix: bool


@dataclass(frozen=True)
class Look:
    """Intrinsic dimension and diagnosis."""

    id: int


@dataclass(frozen=True)
class Plan:
    """What a method would need."""

    id: int
    method: str
    params: Json


@dataclass(frozen=True)
class Start:
    """Run a method."""

    id: int
    method: str
    params: Json


@dataclass(frozen=True)
class Tune:
    """Choose the parameters that `tune` can choose."""

    id: int
    method: str
    params: Json


@dataclass(frozen=True)
class Stop:
    """End a run, or what else is under that name ("look", "tune")."""

    id: int
    what: str


@dataclass(frozen=True)
class Remove:
    """Forget a run."""

    id: int
    run: str


@dataclass(frozen=True)
class Stability:
    """Fit again to parts of the data and with other seeds."""

    id: int
    run: str


@dataclass(frozen=True)
class Place:
    """Place the uploaded rows by the model of a run."""

    id: int
    run: str
    batch: str


@dataclass(frozen=True)
class Invert:
    """Lead places of the picture back to data space."""

    id: int
    run: str
    points: list[list[float]]


@dataclass(frozen=True)
class Near:
    """The nearest points in data space."""

    id: int
    row: int
    k: int


@dataclass(frozen=True)
class Colour:
    """A column of the table, for colouring."""

    id: int
    name: str


@dataclass(frozen=True)
class Export:
    """Write a file to take home; the answer is its address. Empty `rows` are all rows."""

    id: int
    what: Literal["csv", "parquet", "rows", "model", "report", "session"]
    run: str
    rows: list[int]


@dataclass(frozen=True)
class Recipe:
    """The run as Python and as a command."""

    id: int
    run: str


COMMANDS: tuple[type[Any], ...] = (
    Open, Batch, Take, Assign, Look, Plan, Start, Tune, Stop, Remove, Stability, Place, Invert, Near, Colour, Export,
    Recipe,
)  # fmt: skip
BY_NAME = {command.__name__.lower(): command for command in COMMANDS}
Command = (
    Open | Batch | Take | Assign | Look | Plan | Start | Tune | Stop | Remove | Stability | Place | Invert | Near
    | Colour | Export | Recipe
)  # fmt: skip


# Events -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """Everything, when a page has come."""

    version: str
    data: DataInfo | None
    look: Json | None
    runs: list[RunInfo]
    methods: list[MethodInfo]
    sets: list[Json]
    budget: int
    busy: list[str]
    uploads: int


@dataclass(frozen=True)
class Methods:
    """The cards with their controls, once the methods are loaded."""

    methods: list[MethodInfo]


@dataclass(frozen=True)
class Data:
    """Other data."""

    data: DataInfo | None


@dataclass(frozen=True)
class Looked:
    """What the data look like so far; None while nothing is known."""

    look: Json | None


@dataclass(frozen=True)
class Ran:
    """A run has changed."""

    run: RunInfo


@dataclass(frozen=True)
class Gone:
    """A run was removed."""

    run: str


@dataclass(frozen=True)
class Busy:
    """What is under way beside runs."""

    busy: list[str]


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    id: int
    result: Any


@dataclass(frozen=True)
class Refused:
    """A command that was not done, in words. id 0: nobody asked for it."""

    id: int
    words: str


EVENTS: tuple[type[Any], ...] = (Hello, Methods, Data, Looked, Ran, Gone, Busy, Answer, Refused)
Event = Hello | Methods | Data | Looked | Ran | Gone | Busy | Answer | Refused
SHOWN = (Column, ColumnInfo, DataInfo, Control, MethodInfo, StageInfo, RunInfo)


# Text ---------------------------------------------------------------------------------------------------------------


def encode(event: Event) -> str:
    """The text of an event; numbers that JSON does not have are null."""
    content = {"say": type(event).__name__.lower(), **_plain(event)}
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def decode(text: str) -> Command:
    """The command of a text, or the sentence why it is none.

    >>> decode('{"do": "near", "id": 3, "row": 17, "k": 10}')
    Near(id=3, row=17, k=10)
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"a command has at most {LONGEST} characters; got {len(text)}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("a command is one JSON object") from None
    if not isinstance(content, dict) or content.get("do") not in BY_NAME:
        raise InvalidInput(f"a command has a field 'do', one of {', '.join(BY_NAME)}")
    cls = BY_NAME[content.pop("do")]
    kinds = typing.get_type_hints(cls)
    if set(content) != set(kinds):
        raise InvalidInput(f"the command {cls.__name__.lower()!r} has the fields {', '.join(kinds)}")
    for name, kind in kinds.items():
        if not _fits(content[name], kind):
            raise InvalidInput(f"{name} of the command {cls.__name__.lower()!r} must be {_script(kind)}")
    return typing.cast(Command, cls(**content))


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is list:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(k, str) and _fits(v, parts[1]) for k, v in value.items())
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


# Types for the page's script ----------------------------------------------------------------------------------------


def _script(kind: Any) -> str:
    """A type as TypeScript writes it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    simple = {int: "number", float: "number", str: "string", bool: "boolean", Any: "any", type(None): "null"}
    if kind in simple:
        return simple[kind]
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin is list:
        inner = _script(parts[0])
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if origin is dict:
        return f"{{[name: string]: {_script(parts[1])}}}"
    if origin in (types.UnionType, typing.Union):
        return " | ".join(_script(part) for part in parts)
    return str(kind.__name__)


def script() -> str:
    """The text of static/protocol.js: one typedef for each message."""
    lines = ["// Written by `python -m lowfold.studio._protocol`; the messages are declared in _protocol.py.", ""]
    for cls in (*SHOWN, *COMMANDS, *EVENTS):
        tag = [f'"do": "{cls.__name__.lower()}"'] if cls in COMMANDS else []
        tag += [f'"say": "{cls.__name__.lower()}"'] if cls in EVENTS else []
        hints = typing.get_type_hints(cls)
        fields = [*tag, *(f'"{f.name}": {_script(hints[f.name])}' for f in dataclasses.fields(cls))]
        name = f"{cls.__name__}{'Command' if cls in COMMANDS else 'Event' if cls in EVENTS else ''}"
        lines.append(f"/** @typedef {{{{{', '.join(fields)}}}}} {name} */")
    for name, every in (("Command", COMMANDS), ("Event", EVENTS)):
        union = " | ".join(f"{cls.__name__}{name}" for cls in every)
        lines.append(f"/** @typedef {{{union}}} {'AnyCommand' if name == 'Command' else 'AnyEvent'} */")
    return "\n".join([*lines, "", "export {};", ""])


if __name__ == "__main__":
    from pathlib import Path

    (Path(__file__).parent / "static" / "protocol.js").write_text(script(), encoding="utf-8")
