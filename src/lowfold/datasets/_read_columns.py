"""Columns of a table: numbers to X, words and ids kept aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.file_words import refuse
from lowfold._core.types import AnyFloats
from lowfold.datasets._file_table import Table
from lowfold.datasets._gaps import Missing, with_gaps
from lowfold.datasets._marks import MISSING, USUAL, Marks, told_stand_ins

WORDS_AT_MOST = 1 << 26
COMMA = re.compile(r"\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][+-]?\d+)?\s*")  # 1,5 and 1.234,5
# A number with a mark before it or a unit behind, and its thousands apart: $8.19, 8%, 1,927, 1 234, 5 kg
DRESSED = re.compile(
    r"(?P<sign>[+-]?)(?P<before>[^\w\s.,+'\"()-]{0,2})\s?"
    r"(?P<whole>\d{1,3}(?:[ ,'\u00a0\u202f]\d{3})+|\d+)(?P<rest>(?:[.,]\d+)?)\s?(?P<after>[^\d\s()]{0,12})"
)
CLASS_NAMES = frozenset(
    {"class", "classes", "label", "labels", "target", "species", "category", "cluster", "group", "gnd"}
)
FEW_CLASSES = 20  # whole numbers, so few of them, under such a name are hardly a measurement
MANY = 5  # columns of words from which they are told in one sentence
ID_NAMES = frozenset({"id", "ids", "index", "idx", "row", "rowid", "row_id", "key", "nr", "no", "#", "unnamed: 0"})
# The last word of a name that numbers rows: patient_id, PatientID, Sample No.
ID_WORD = re.compile(r".+(?:[\W_](?i:id|ids|nr|no)|(?<=[a-z])(?:ID|IDs|Id|Nr|No))[.#]?")


class Column:
    """One column as it grows: undecided until its first value that is not missing, then numbers or text."""

    def __init__(
        self,
        name: str,
        kind: Literal["number", "text"] | None,
        values: NDArray[Any] | list[str] | None = None,
        *,
        decimal: str = ".",
        marks: Marks = USUAL,
    ) -> None:
        self.name = name
        self.kind = kind
        self.decimal = decimal
        self.marks = marks
        self._parts: list[Any] = [] if values is None else [values]

    def extend(self, fields: list[str], done: int, source: str) -> None:
        """Take the next fields; `done` rows came before."""
        if self.kind is None:
            value = next((field for field in fields if not self.marks.has(field)), None)
            if value is not None:
                number = as_float(value, self.decimal) is not None and not (called_id(self.name) and _long(value))
                self.kind = "number" if number else "text"
        numeric = self.kind == "number"
        self._parts.append(self._floats(fields, done, source) if numeric else fields)

    def values(self) -> NDArray[Any]:
        """All values: float64, or text."""
        if self.kind == "text":
            words = [field for part in self._parts for field in part]
            # NumPy gives every word the room of the longest
            room = 4 * len(words) * max(map(len, words), default=0)
            return np.array(words, dtype=str if room <= WORDS_AT_MOST else object)
        # parts kept as text before the column was decided hold missing values only
        return self.marks.blank(
            np.concatenate([p if isinstance(p, np.ndarray) else np.full(len(p), np.nan) for p in self._parts])
        )

    def _floats(self, fields: list[str], done: int, source: str) -> NDArray[np.float64]:
        if self.decimal == "." and "_" not in "".join(fields):
            try:
                return np.array([float(field) for field in fields])
            except ValueError:
                pass
        values = [as_float(field, self.decimal, self.marks) for field in fields]
        if None in values:
            at = values.index(None)
            kind = "a number with a decimal comma" if self.decimal == "," else "a number"
            refuse(
                source,
                f"row {done + at + 1}, column {self.name!r} holds {fields[at][:40]!r}, not {kind}; correct it, say "
                f"na={fields[at][:40]!r} where it means a missing value, or keep the column aside with "
                f"label={self.name!r}",
            )
        return np.array(values, dtype=np.float64)


def as_float(field: str, decimal: str = ".", marks: Marks = USUAL) -> float | None:
    """The number that is written, NaN where a value is missing, None for anything else."""
    if marks.has(field):
        return float("nan")
    if decimal == ",":
        if "." in field and not COMMA.fullmatch(field):
            return None  # 1.234 may be a thousand or a little more than one
        field = field.replace(".", "").replace(",", ".")
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


@dataclass(frozen=True)
class Aside:
    """What is kept aside: columns that the caller named, ids, and whether the first column has no name where the others
    have one (`corner`), as the index that pandas and R write.
    """

    label: str | Sequence[str] | None = None
    ids: bool | str = "auto"
    corner: bool = False


def assemble(
    columns: list[Column],
    aside: Aside,
    *,
    source: str,
    missing: Missing,
    whole: AnyFloats | None = None,
    notices: Sequence[str] = (),
) -> Table:
    """The table from its columns; `whole` is the matrix of all of them where there is one already."""
    label, ids, corner = aside.label, aside.ids, aside.corner
    names = [column.name for column in columns]
    wanted = [label] if isinstance(label, str) else list(label or ())
    for name in [*wanted, *([ids] if isinstance(ids, str) and ids != "auto" else [])]:
        if name not in names:
            raise FileProblem(f"{source}: there is no column {name!r}; the columns are {', '.join(names[:50])}")
    notices = list(notices)
    id_column = _id_column(columns, wanted, ids, notices, corner)
    repeated = corner and id_column is None and ids == "auto" and _repeated_index(columns, wanted)
    if repeated:
        wanted = [*wanted, names[0]]
        notices.append(f"column 1 has no name, numbers rows and is kept aside as label {names[0]!r}")
    labels, kept, words = {}, [], []
    for j, column in enumerate(columns):
        if column is id_column:
            continue
        if column.kind is None and column.name == f"x{j + 1}" and column.name not in wanted:
            notices.append(f"column {j + 1} has neither a name nor values and is left out")
        elif column.name in wanted:
            labels[column.name] = _as_labels(column)
        elif column.kind == "text":
            labels[column.name] = column.values()
            words.append(column)
        else:
            kept.append(j)
            notices += _told_class(column)
    if repeated:  # the first label is what colours a picture and names classes
        labels[names[0]] = labels.pop(names[0])
    notices += _told_words(words)
    if not kept:
        refuse(source, f"has no numeric column to use as data{_why_no_number(words)}")
    if whole is not None:
        X = whole if len(kept) == whole.shape[1] else np.ascontiguousarray(whole[:, kept])
    else:
        X = _side_by_side([columns[j].values() for j in kept])
    kept_names = [names[j] for j in kept]
    chosen = None if id_column is None else _as_labels(id_column)
    notices += told_stand_ins(X, kept_names)
    return with_gaps(Table(X, kept_names, labels, chosen, notices, source), missing)


def _why_no_number(columns: list[Column]) -> str:
    """What the first column of words holds, and what may be done about it: a row of units is like no other."""
    way = "delimiter= says what divides the fields"
    if not columns:
        return f"; {way}"
    values = columns[0].values()
    if dressed := _dressed(columns[0]):
        way = dressed.removeprefix("; ")
    elif len(values) > 1 and as_float(str(values[1]), columns[0].decimal) is not None:
        way = "below the names stands a row of words, as of units: take it out"
    return f": {columns[0].name!r} holds {_shown(columns[0])}; {way}"


def _told_words(columns: list[Column]) -> list[str]:
    """That columns of words are kept aside, each with its first value, which shows why it is no number."""
    if len(columns) <= MANY:
        return [
            f"column {column.name!r} is not numeric and is kept aside as a label: {_shown(column)}{_dressed(column)}"
            for column in columns
        ]
    some = ", ".join(f"{column.name!r} ({_shown(column)})" for column in columns[:MANY])
    like = next((f"; {column.name!r} is one of them{words}" for column in columns if (words := _dressed(column))), "")
    return [f"{len(columns)} columns are not numeric and are kept aside as labels: {some}, ...{like}"]


def _dressed(column: Column) -> str:
    """What to do about a column of numbers with marks for money, shares, thousands or a unit, the same in all rows."""
    words = [word.strip() for word in column.values().tolist() if word.strip().lower() not in MISSING]
    found = [DRESSED.fullmatch(word) for word in words]
    if len(words) < 2 or None in found:
        return ""
    marks = {(one["before"], one["after"]) for one in found if one is not None}
    if len(marks) > 1 or found[0] is None:
        return ""
    if all(as_float(word, column.decimal) is not None for word in words):
        return "; it holds numbers written as text: store them as numbers to use them as data"
    plain = found[0]["sign"] + re.sub(r"\D", "", found[0]["whole"]) + found[0]["rest"].replace(",", ".")
    return f"; it looks like numbers with marks: write them plainly, as {plain}, to use them as data"


def _shown(column: Column) -> str:
    value = next((word for word in column.values().tolist() if word.strip().lower() not in MISSING), "")
    return f"{' '.join(value.split())[:20]!r}, ..."


def _told_class(column: Column) -> list[str]:
    """A word about numbers that are called classes: they would move the points that they tell from each other."""
    if column.name.lower() not in CLASS_NAMES or column.kind is None:
        return []
    values = column.values()
    known = values[~np.isnan(values)]
    number = len(np.unique(known))
    if number > FEW_CLASSES or not _whole(known):
        return []
    told = f"column {column.name!r} holds {number} different numbers and is used as data"
    return [f"{told}; label={column.name!r} keeps it aside"]


def _side_by_side(columns: list[NDArray[Any]]) -> AnyFloats:
    """np.column_stack by blocks of rows that stay in cache: several times faster for long columns."""
    X = np.empty((len(columns[0]), len(columns)), dtype=np.result_type(*columns))
    step = max(1, 2**17 // len(columns))
    for start in range(0, len(X), step):
        for j, values in enumerate(columns):
            X[start : start + step, j] = values[start : start + step]
    return X


def _as_labels(column: Column) -> NDArray[Any]:
    """Values of a kept column: whole numbers where they all are, numbers where they can be, else text."""
    values = column.values()
    if column.kind == "text":
        numbers = [as_float(field, column.decimal) for field in values.tolist()]
        if None in numbers or np.isnan(np.array(numbers, dtype=np.float64)).any():
            return values
        values = np.array(numbers, dtype=np.float64)
    return values.astype(np.int64) if _whole(values) else values


def _whole(values: NDArray[Any]) -> bool:
    """Whether every value is a whole number that int64 and float64 both hold."""
    return bool(np.isfinite(values).all() and (np.abs(values) < 2**53).all() and (values == np.round(values)).all())


def _repeated_index(columns: list[Column], wanted: list[str]) -> bool:
    """Whether the first column, which has no name, holds whole numbers, as of tables that were put together."""
    first = columns[0]
    numeric = [column for column in columns[1:] if column.kind == "number" and column.name not in wanted]
    return first.kind == "number" and first.name not in wanted and bool(numeric) and _whole(first.values())


def _id_column(
    columns: list[Column], wanted: list[str], ids: bool | str, notices: list[str], corner: bool
) -> Column | None:
    if ids is False:
        return None
    if isinstance(ids, str) and ids != "auto":
        return next(column for column in columns if column.name == ids)
    if ids not in (True, "auto"):
        raise InvalidInput(f"ids must be 'auto', True, False or the name of a column; got {ids!r}")
    free = [column for column in columns if column.kind != "text" and column.name not in wanted]
    # `embed` writes ids behind the coordinates: a later column counts by its name alone, the first by its values too.
    named = [column for column in free if called_id(column.name)]
    first = [column for column in free if column is columns[0]]
    for column in dict.fromkeys([*first, *named]):
        values = column.values()
        if len(free) < 2 or len(values) < 3 or not _whole(values) or len(np.unique(values)) < len(values):
            continue
        if ids is True or column in named or corner or (np.diff(values) == 1).all():
            words = f"column {column.name!r} numbers the rows and is kept aside as ids; ids=False keeps it as data"
            notices.append(words)
            return column
    return None


def long_ids(names: list[str], X: AnyFloats) -> bool:
    """Whether a column called id holds whole numbers that no float tells apart: its digits are kept as text."""
    called = [j for j, name in enumerate(names) if called_id(name)]
    return any(bool((np.abs(X[:, j]) >= 2**53).any()) for j in called)


def _long(field: str) -> bool:
    return field.strip().lstrip("+-").isdigit() and abs(int(field)) >= 2**53


def called_id(name: str) -> bool:
    """Whether the name is one of those that number rows."""
    lower = name.lower()
    last = ID_WORD.fullmatch(name.strip())
    return lower.rstrip(".") in ID_NAMES or last is not None or lower.startswith("__index_level")
