"""The lines above the rows of a table as text, the mark between its fields, and how lines are split by it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import IO, Any

from lowfold.datasets._read_columns import COMMA
from lowfold.datasets._table_header import is_number

REMARK = "#%"  # what begins a line of words above the rows, as NumPy, gnuplot, R and MATLAB write them
NAMED = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # the first line of a file for Excel, which names the mark
SAME = 5  # lines in a row with as many fields: where a table begins


def remarks_above(lines: list[str]) -> int:
    """How many lines at the top are blank or begin with # or %; none where nothing else follows."""
    count = next((i for i, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in REMARK), 0)
    return count if any(line.strip() for line in lines[:count]) else 0


def named_mark(lines: list[str]) -> str | None:
    """The mark that the first line names for Excel, as sep=; does; None where it is no such line."""
    found = NAMED.fullmatch(lines[0]) if lines else None
    return None if found is None else found[1]


def title_lines(lines: list[str]) -> int:
    """How many lines stand above the first that several after it are like, which have more than one field; 0 where
    there are none such.
    """
    for i in range(1, len(lines) - SAME + 1):
        if lines[i].strip():
            mark = likely_delimiter(lines[i + 1], ".")
            counts = {len(fields_of(line, mark)) for line in lines[i : i + SAME]}
            filled_here, filled_above = (sum(map(bool, fields_of(line, mark))) for line in (lines[i], lines[i - 1]))
            if len(counts) == 1 and (count := counts.pop()) > max(1, filled_above) and filled_here >= count - 1:
                return i
    return 0


def fields_above(remarks: list[str], delimiter: str) -> list[str]:
    """The fields of the last remark, which may be names."""
    return fields_of(next((line.lstrip()[1:] for line in reversed(remarks) if line.strip()), ""), delimiter)


def fields_of(line: str, delimiter: str) -> list[str]:
    return [field.strip() for field in next(reader_of(io.StringIO(line), delimiter, strict=False), [])]


def likely_delimiter(line: str, decimal: str) -> str:
    """Of comma, semicolon, tab, | and space the one that splits the line into most fields; comma when none does.

    Where all commas of the line stand inside numbers between other marks, as in 1,5;2,5, they divide no fields.
    """
    if decimal != ".":
        for mark in ";\t| ":
            fields = line.split(mark)
            commas = [field for field in fields if "," in field]
            if len(fields) > 1 and commas and all(map(COMMA.fullmatch, commas)):
                return mark
    counts = {mark: len(fields_of(line, mark)) for mark in ",;\t|"}
    if decimal == ",":
        counts.pop(",")
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] > 1 or " " not in line.strip() else " "


def decimal_commas(lines: list[str], delimiter: str) -> bool:
    """Whether numbers are written with a comma, and none with a point."""
    fields = [field.strip().strip('"') for line in lines for field in line.split(delimiter)]
    points = any("." in field and is_number(field) for field in fields)
    return not points and any(COMMA.fullmatch(field) for field in fields)


def reader_of(stream: IO[str], delimiter: str, strict: bool = True) -> Any:
    lines = (line.strip() for line in stream) if delimiter == " " else stream
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=True)


def filled(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows that are not blank lines."""
    return (row for row in reader if len(row) > 1 or (row and row[0].strip()))
