"""Every message between the page and the server, both directions; `_wire` reads and writes them as text.

Commands come from the page as {"do": name, "id": number, ...fields}; events go to it as {"say": name, ...fields}.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["data", "label", "colour", "ignored"]
Json = dict[str, Any]


# What is shown ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """Numbers of all points as the page fetches them: /col/<hash>, little-endian.

    kind   "steps": 16-bit steps from low to high, 65535 for none; "codes": bytes, places in `names`;
    "pairs", "whole": 32-bit
    """

    hash: str
    kind: Literal["steps", "codes", "pairs", "whole"]
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
    """The data that are loaded. `shape` is that of an image in a row; `item` says how a row is best shown.

    `missing` values are there still; of `gaps` in the source, `filled` says what was done. `rows` are the places in the
    source, where rows were left out. `header`: whether names come from the first line; None where there are no lines.
    """

    id: str
    name: str
    n: int
    features: int
    shown: int
    columns: list[ColumnInfo]
    more_columns: int
    notices: list[str]
    item: Literal["image", "curve", "words", "row"]
    shape: list[int]
    low: float
    high: float
    colours: dict[str, Column]
    missing: int
    dropped: int
    gaps: int
    filled: str
    standardize: str
    header: bool | None
    rows: Column | None
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
    """Change what the columns are for (no roles: as at first), what is done with missing values, and so on."""

    id: int
    roles: dict[str, str]
    missing: Literal["keep", "drop", "mean"]
    matrix: bool
    standardize: Literal["none", "unit", "robust"]
    header: Literal["same", "yes", "no"]


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
    """Choose the parameters of these names by `tune`."""

    id: int
    method: str
    params: Json
    names: list[str]


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
