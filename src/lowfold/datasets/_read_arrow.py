"""Large tables as text by pyarrow's parser, where it is installed; whatever it might see otherwise is left to the csv
module: the answer is the same, or None.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from lowfold.datasets._marks import MISSING, Marks
from lowfold.datasets._read_columns import Column

WORTH = 1 << 20  # bytes: below, loading pyarrow takes longer than reading
QUOTE = ord('"')


def arrow_columns(
    file: Path,
    names: Sequence[str],
    kinds: Sequence[str | None],
    *,
    skipped: int,
    delimiter: str,
    decimal: str,
    marks: Marks,
) -> list[Column] | None:
    """The columns of a file whose kinds are known from its first rows; None where the csv module is to be asked.

    `skipped` lines come before the rows.
    """
    if file.stat().st_size < WORTH or delimiter == " " or len(names) < 2 or None in kinds:
        return None
    try:
        csv = importlib.import_module("pyarrow.csv")
        pa = importlib.import_module("pyarrow")
    except ImportError:
        return None
    raw = np.memmap(file, dtype=np.uint8, mode="r")
    quotes = np.flatnonzero(raw == QUOTE)
    if not _well_quoted(raw, quotes, delimiter):
        return None
    types = {name: pa.float64() if kind == "number" else pa.string() for name, kind in zip(names, kinds)}
    try:
        table = csv.read_csv(
            str(file),
            read_options=csv.ReadOptions(column_names=list(names), skip_rows=skipped, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=len(quotes) > 0),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=_spellings(marks), strings_can_be_null=False, decimal_point=decimal
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    columns = [_column(name, table.column(name), kind == "number", marks) for name, kind in zip(names, kinds)]
    return None if None in columns or not table.num_rows else columns  # type: ignore[return-value]


def _column(name: str, values: Any, numeric: bool, marks: Marks) -> Column | None:
    if numeric:
        return Column(name, "number", values.to_numpy(), marks=marks)
    words = values.to_pylist()
    # the csv module takes blanks off the front of a field, and the quotes behind them
    return None if any(word[:1] == " " for word in words) else Column(name, "text", words)


def _well_quoted(raw: Any, quotes: Any, delimiter: str) -> bool:
    """Whether every quote opens or closes a whole field, or is one of a pair inside."""
    if len(quotes) % 2:
        return False
    edge = np.zeros(256, dtype=bool)
    edge[[ord(delimiter), ord("\n"), ord("\r"), QUOTE]] = True
    opening, closing = quotes[::2], quotes[1::2]
    before = edge[raw[np.maximum(opening - 1, 0)]] | (opening == 0)
    after = edge[raw[np.minimum(closing + 1, len(raw) - 1)]] | (closing == len(raw) - 1)
    return bool(before.all() and after.all())


def _spellings(marks: Marks) -> list[str]:
    """The usual ways to write a missing value in every mixture of capitals and small letters; words of the caller,
    which may be long, in the three that people write: the csv module is asked about others.
    """
    usual = ["".join(letters) for word in MISSING for letters in product(*({c, c.upper()} for c in word))]
    return [*usual, *(way for word in marks.words - MISSING for way in (word, word.upper(), word.capitalize()))]
