"""Tables as text: CSV, TSV and the like, with the csv module and NumPy, and pyarrow for large ones where it is there.

A file of numbers only is parsed by NumPy in C; anything else, and anything that fails there, goes through the csv
module, which names the row and the column. Rows count from 1 below the header.
"""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import existing_file, refuse
from lowfold._core.types import AnyFloats
from lowfold.datasets._file_table import Table, numbered
from lowfold.datasets._gaps import Missing, check_missing_option
from lowfold.datasets._marks import Marks, marks_of
from lowfold.datasets._read_arrow import WORTH, arrow_columns
from lowfold.datasets._read_columns import COMMA, Aside, Column, assemble, long_ids
from lowfold.datasets._table_header import completed, is_header, is_number
from lowfold.datasets._table_top import (
    decimal_commas,
    fields_above,
    fields_of,
    filled,
    likely_delimiter,
    named_mark,
    reader_of,
    remarks_above,
    title_lines,
)
from lowfold.datasets._unpack import check_encoding, in_utf8, mark_of, refuse_binary, unpacked

CHUNK = 5000
FIRST_BELOW = 20  # rows that a first line with words and numbers is compared with
FIRST = 200  # rows that show the kinds of the columns
WIDE = 5_000  # columns from which pyarrow, which makes an array of each, takes longer than the csv module


def read_table(
    path: str | Path,
    *,
    label: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    skip: int = 0,
    header: bool | Literal["auto"] = "auto",
    missing: Missing = "error",
    na: Any = None,
    ids: bool | str | Literal["auto"] = "auto",
    decimal: Literal["auto", ".", ","] = "auto",
    encoding: str | None = None,
) -> Table:
    """Read a table of numbers from a text file, plain or packed (.gz, .bz2, .xz); "-" reads CSV from standard input.

    Columns that are not numeric are kept aside in `labels`. A column is what its first value is: a word further down in
    a column of numbers is an error that names row and column. Lines at the top that begin with # or % are remarks; the
    last of them may hold the names. Nothing else is guessed.

    Parameters
    ----------
    label : names of columns to keep aside although they are numeric.
    delimiter : one character; None takes the tab for .tsv, else the one of comma, semicolon, tab, | and space that
        splits the first line into most fields.
    skip : lines above the table, as a title, that are left out.
    header : whether the first line holds names; "auto" says yes when no field in it is a number, and of words and
        numbers when a word stands over numbers, or when all of its numbers are outside of their columns (wavelengths);
        of numbers alone when they count columns (0, 1, 2) as no row below does, which is told.
    missing : "error" names the first missing value (empty, NA, N/A, NaN, null, None, ?, ., -); "keep" makes it NaN,
        "drop" leaves its row out, "mean" fills in the mean of its column.
    na : a word or a number that means a missing value besides these, as -999, or several.
    ids : "auto" keeps a column of distinct whole numbers aside that is called id, index and the like, or that is the
        first and counts up by one or has no name where the others have; a name keeps that column aside; False keeps
        none.
    decimal : the mark before a fraction; "auto" is the comma where it stands in the numbers of the first lines, no
        number among them has a point, and fields are divided by something else.
    encoding : of the text, as "cp1252" (Windows, Excel) or "latin-1"; None is UTF-8, or UTF-16 where its mark says so.
    """
    _check_options(delimiter, header, missing, decimal, encoding)
    if isinstance(skip, bool) or not isinstance(skip, int) or skip < 0:
        raise InvalidInput(f"skip must be a number of lines, 0 or more; got {skip!r}")
    marks = marks_of(na)
    with _text_of(path, encoding) as (source, file, text):
        with _opened(file, text, source) as stream:
            look = _opening(stream, source, delimiter, header, decimal, file, skip)
        numbers = _all_numbers(file, text, look) if look.decimal == "." and not _worth_arrow(file, look) else None
        if numbers is not None and not long_ids(look.names, numbers):
            numbers = marks.blank(numbers)
            columns = [Column(name, "number", numbers[:, j]) for j, name in enumerate(look.names)]
        else:
            numbers, columns = None, _parsed(file, text, source, look, _kept_aside(label, ids), marks)
    notices = ["decimal commas: 1,5 is read as 1.5"] if look.decimal == "," and decimal == "auto" else []
    notices += [look.told] if look.told else []
    if look.titles and not any(column.kind == "number" for column in columns):
        refuse(source, f"has no numeric column to use as data; {_way_below(look)}")
    aside = Aside(label, ids, corner=look.corner)
    return assemble(columns, aside, source=source, missing=missing, whole=numbers, notices=notices)


def read_fields(path: str | Path, encoding: str | None = None) -> list[list[str]]:
    """The fields of every row of a text, remarks and blank lines left out, all rows alike; 1,5 as 1.5."""
    with _text_of(path, encoding) as (source, file, text), _opened(file, text, source) as stream:
        look = _opening(stream, source, None, False, "auto", file)
        stream.seek(0)
        reader = reader_of(_below(stream, look.remarks), look.delimiter)
        with _csv_errors(reader, source):
            rows = [[field.strip() for field in row] for row in filled(reader)]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            refuse(source, f"row {number} has {len(row)} fields, the first line has {len(rows[0])}; mend that row")
    return rows if look.decimal == "." else [[_with_point(field) for field in row] for row in rows]


@contextmanager
def _text_of(path: str | Path, encoding: str | None) -> Iterator[tuple[str, Path | None, str | None]]:
    """What errors call it, and the file, unpacked and in UTF-8; or, of standard input, its text."""
    if str(path) == "-":
        yield "standard input", None, _standard_input(encoding)
        return
    with unpacked(existing_file(path), str(path)) as file, in_utf8(file, encoding, str(path)) as readable:
        yield str(path), readable, None


def _with_point(field: str) -> str:
    return field.replace(".", "").replace(",", ".") if COMMA.fullmatch(field) else field


@dataclass(frozen=True)
class Look:
    """What the first lines say: column names, how many physical lines come before the rows, how many of these are
    remarks and not the header, the two marks, what to tell of the first line, and whether names stand over all columns
    but the first, and how many of the first lines look like a title.
    """

    names: list[str]
    skipped: int
    remarks: int
    delimiter: str
    decimal: str
    told: str = ""
    corner: bool = False
    titles: int = 0


def _worth_arrow(file: Path | None, look: Look) -> bool:
    large = file is not None and file.stat().st_size >= WORTH and len(look.names) < WIDE
    return large and find_spec("pyarrow") is not None


def _parsed(
    file: Path | None, text: str | None, source: str, look: Look, aside: set[str], marks: Marks
) -> list[Column]:
    """By pyarrow where that is the same and faster, else by the csv module."""
    if file is not None and _worth_arrow(file, look):
        with _opened(file, text, source) as stream:
            first = _by_rows(stream, source, look, aside, marks, at_most=FIRST)
        kinds = [column.kind for column in first]
        found = arrow_columns(
            file, look.names, kinds, skipped=look.skipped, delimiter=look.delimiter, decimal=look.decimal, marks=marks
        )
        if found is not None:
            return found
    with _opened(file, text, source) as stream:
        return _by_rows(stream, source, look, aside, marks)


def _check_options(delimiter: object, header: object, missing: object, decimal: object, encoding: object) -> None:
    check_encoding(encoding)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"'):
        raise InvalidInput(f"delimiter must be one character, such as ',' or '\\t', or None; got {delimiter!r}")
    if header not in ("auto", True, False):
        raise InvalidInput(f"header must be 'auto', True or False; got {header!r}")
    if decimal not in ("auto", ".", ",") or (decimal == "," and delimiter == ","):
        raise InvalidInput(f"decimal must be 'auto', '.' or ',', and not the delimiter; got {decimal!r}")
    check_missing_option(missing)


def _standard_input(encoding: str | None) -> str:
    data = sys.stdin.buffer.read()
    if not data:
        refuse("standard input", "is empty")
    refuse_binary(data[:16], "standard input")
    known = encoding or mark_of(data) or "utf-8-sig"
    try:
        return data.decode(known)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse("standard input", f"line {line} {_no_text(data[error.start], encoding)}")


@contextmanager
def _opened(file: Path | None, text: str | None, source: str) -> Iterator[IO[str]]:
    """The text from its beginning; bytes that are no UTF-8 are reported by line."""
    stream = io.StringIO(text, newline="") if file is None else file.open(encoding="utf-8-sig", newline="")
    with stream:
        try:
            yield stream
        except UnicodeDecodeError:
            if file is None:  # a text has no bytes to be wrong
                raise
            _refuse_encoding(file, source)


def _refuse_encoding(file: Path, source: str) -> None:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                refuse(source, f"line {number} {_no_text(line[error.start], None)}")
    refuse(source, "is not UTF-8 text; save it as UTF-8")


def _no_text(byte: int, encoding: str | None) -> str:
    """Bytes of other files are hardly ever UTF-8: what a text without the mark was probably written in."""
    if encoding is not None:
        return f"is no text in {encoding!r} (byte {byte:#04x})"
    way = "save it as UTF-8, or read a text of Windows or Excel with encoding='cp1252'"
    return f"is not UTF-8 text (byte {byte:#04x}); {way}"


def _opening(
    stream: IO[str],
    source: str,
    delimiter: str | None,
    header: object,
    decimal: str,
    file: Path | None,
    skip: int = 0,
) -> Look:
    start = stream.read(1 << 16)
    if "\0" in start:
        refuse(source, "holds binary data, not a table as text")
    every = list(io.StringIO(start, newline=""))
    if (mark := named_mark(every[skip:])) is not None:
        skip, delimiter = skip + 1, delimiter or mark
    remarks = skip + remarks_above(every[skip:])
    lines = [line for line in every[remarks:] if line.strip()]
    if not lines:
        refuse(source, "holds no rows")
    if delimiter is None:
        tab = file is not None and file.suffix.lower() in (".tsv", ".tab")
        delimiter = "\t" if tab else likely_delimiter(lines[0], decimal)
    above = fields_above(every[skip:remarks], delimiter)
    if len(above) == len(fields_of(lines[0], delimiter)) and any(is_number(field, decimal) for field in above):
        remarks = skip  # a row of data that begins with the mark, as a colour does
    if decimal == "auto":
        whole = lines[:-1] if len(start) == 1 << 16 else lines
        decimal = "," if delimiter != "," and decimal_commas(whole, delimiter) else "."
    stream.seek(0)
    reader = reader_of(_below(stream, remarks), delimiter)
    with _csv_errors(reader, source):
        first: list[str] = next(filled(reader), [])
    if not first:
        refuse(source, "holds no rows")
    if len(first) > 1_000_000:
        refuse(source, f"row 1 has {len(first)} columns; at most 1000000 can be read")
    skipped = remarks + reader.line_num
    titles = skip + title_lines(every[skip:])
    titles = titles if titles > remarks else 0
    named, told = bool(header), ""
    if header:
        with _csv_errors(reader, source):
            rows = list(islice(filled(reader), FIRST_BELOW))
        full, told = completed(first, rows, decimal)
        if len(full) > len(first):
            first, named = full, True
        elif header == "auto":
            named, told = is_header(first, [row for row in rows if len(row) == len(first)], decimal)
    if named:
        given = [field.strip() for field in first]
        corner = not given[0] and all(given[1:])
        return Look(_unique(given), skipped, remarks, delimiter, decimal, told, corner, titles)
    names = above if remarks > skip and len(above) == len(first) and header == "auto" else None
    return Look(
        _unique(names or numbered(len(first))),
        remarks,
        remarks,
        delimiter,
        decimal,
        "" if names else told,
        False,
        titles,
    )


def _below(stream: IO[str], remarks: int) -> IO[str]:
    """The stream after the remarks."""
    for _ in range(remarks):
        stream.readline()
    return stream


@contextmanager
def _csv_errors(reader: Any, source: str) -> Iterator[None]:
    """What the csv module refuses (an open quote, a field of a megabyte), by line."""
    try:
        yield
    except csv.Error as error:
        refuse(source, f"line {reader.line_num} cannot be split into fields: {error}")


def _unique(names: list[str]) -> list[str]:
    """Names made distinct: an empty one becomes x3, a second `a` becomes a.2."""
    seen: dict[str, int] = {}
    result = []
    for position, given in enumerate(names, 1):
        name = given or f"x{position}"
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return result


def _all_numbers(file: Path | None, text: str | None, look: Look) -> AnyFloats | None:
    """The whole table by NumPy's parser, or None when a field is not a number (the csv module then says which)."""
    origin = str(file.resolve()) if file is not None else io.StringIO(text)
    by = None if look.delimiter == " " else look.delimiter
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "input contained no data": the csv module says it better
            # no quotes: NumPy would take one that is never closed, as in a file cut short
            numbers = np.loadtxt(
                origin,
                delimiter=by,
                skiprows=look.skipped,
                comments=None,
                quotechar=None,
                ndmin=2,
                encoding="utf-8-sig",
            )
    except (ValueError, OSError, EOFError):
        return None
    return numbers if numbers.shape[1] == len(look.names) and len(numbers) else None


def _way_below(look: Look) -> str:
    lines = f"the first {look.titles} lines look" if look.titles > 1 else "the first line looks"
    return f"{lines} like a title above the table: skip={look.titles} leaves that out"


def _kept_aside(label: str | Sequence[str] | None, ids: object) -> set[str]:
    """Columns that the caller named, which need not be numeric."""
    named = {label} if isinstance(label, str) else set(label or ())
    return named | ({ids} if isinstance(ids, str) and ids != "auto" else set())


def _by_rows(
    stream: IO[str], source: str, look: Look, aside: set[str], marks: Marks, *, at_most: int | None = None
) -> list[Column]:
    """The table by the csv module, a chunk of rows at a time, each column decided by its first value.

    `at_most` rows are enough to know the kinds of the columns.
    """
    names = look.names
    columns = [Column(name, "text" if name in aside else None, decimal=look.decimal, marks=marks) for name in names]
    reader = reader_of(_below(stream, look.remarks), look.delimiter)
    headed = look.skipped > look.remarks
    with _csv_errors(reader, source):
        rows = islice(filled(reader), None if at_most is None else at_most + 1)
        if headed:
            next(rows)
        done = 0
        while chunk := list(islice(rows, CHUNK)):
            for offset, row in enumerate(chunk, 1):
                if len(row) != len(names):
                    found = f"row {done + offset} has {len(row)} fields, the first line has {len(names)}"
                    way = f"mend or leave out that row: a word with {look.delimiter!r} in it needs quotes"
                    refuse(source, f"{found}; {_way_below(look) if look.titles else way}")
            for j, column in enumerate(columns):
                column.extend([row[j] for row in chunk], done, source)
            done += len(chunk)
    if done == 0:
        refuse(source, "holds a header but no rows" if headed else "holds no rows")
    return columns
