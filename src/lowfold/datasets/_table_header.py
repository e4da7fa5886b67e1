"""Whether the first line of a table holds names, which may be numbers."""

from __future__ import annotations

import numpy as np

from lowfold.datasets._marks import MISSING
from lowfold.datasets._read_columns import as_float

SURELY_COUNTED = 8  # numbers with even steps in a row: hardly ever the values of a point
LEAST_ROWS = 3  # that are to show what their first field is
LAST_DIGITS = 1e-6  # of a step, which is a difference of rounded numbers


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether the field reads as a number; a missing value does not."""
    return field.strip().lower() not in MISSING and as_float(field, decimal) is not None


def is_header(first: list[str], below: list[list[str]], decimal: str) -> tuple[bool, str]:
    """Whether the first line holds names, and what to say of it where it has numbers.

    No number in it: names. Numbers beside words are names, as of wavelengths, where a word stands over numbers, or
    where every one of them is outside of what its column holds. Numbers beside an empty corner are names over an index,
    numbers alone where they count up as no row does (`_counted`).
    """
    number = [is_number(field, decimal) for field in first]
    numbers = [j for j, yes in enumerate(number) if yes]
    over = [j for j, yes in enumerate(number) if not yes and first[j].strip().lower() not in MISSING]
    if not numbers:
        return True, ""
    columns = {j: [as_float(row[j], decimal) for row in below] for j in range(len(first))}
    shown = ", ".join([*(field.strip() for field in first[:4]), *(["..."] if len(first) > 4 else [])])
    as_names = True, f"the first line is read as names ({shown}); header=False reads it as data"
    as_data = False, f"the first line is read as data ({shown}); header=True takes it as names"
    if len(numbers) == len(first):
        counted = _counted([as_float(field, decimal) for field in first], below, columns, decimal)
        return (False, "") if counted is None else as_names if counted else as_data
    corner = not first[0].strip() and len(numbers) == len(first) - 1
    if corner and below and all(row[0].strip() for row in below):
        return True, ""
    if not over:
        return False, ""
    titles = any(columns[j] and None not in columns[j] for j in over)
    outside = len(below) > 1 and all(_outside(as_float(first[j], decimal), columns[j]) for j in numbers)
    return as_names if titles or outside else as_data


def completed(first: list[str], rows: list[list[str]], decimal: str) -> tuple[list[str], str]:
    """The names with an empty one where every row has one field more, and what to say of it.

    It stands behind where lines end with a mark, and in front where R wrote names of the rows: words that are all
    different, or numbers that count up from the first. Of anything else a comma in a number may be the reason.
    """
    if len(rows) < LEAST_ROWS or any(len(row) != len(first) + 1 for row in rows) or any(map(is_number, first)):
        return first, ""
    if all(not row[-1].strip() for row in rows):
        return [*first, ""], ""
    names = [row[0].strip() for row in rows]
    numbers = [as_float(name, decimal) for name in names]
    counted = None not in numbers and [number - numbers[0] for number in numbers] == list(range(len(rows)))  # type: ignore[operator]
    words = all(number is None for number in numbers) and len(set(names)) == len(names)
    if not (counted or words):
        return first, ""
    return [
        "",
        *first,
    ], "rows have one field more than there are names: the first is read as the names of rows, as R has it"


def _counted(
    first: list[float | None], below: list[list[str]], columns: dict[int, list[float | None]], decimal: str
) -> bool | None:
    """Whether a line of numbers counts columns, as those of an array and wavelengths do; None for a row of data.

    Such a line has even steps where no row below has them. It is names where all of it is outside of its columns, or
    whole above columns that are not, or too long to be an accident; else it may be either.
    """
    rows = [[as_float(field, decimal) for field in row] for row in below]
    short = len(first) == 2  # two numbers always have even steps
    if len(rows) < 2 or not _even(first) or (not short and any(map(_even, rows))):
        return None
    if _mirrored(first, rows):
        return None
    whole = all(value is not None and value == int(value) for value in first)
    broken = all(any(x is not None and x == x and x != round(x, 0) for x in column) for column in columns.values())
    outside = all(_outside(value, columns[j]) for j, value in enumerate(first))
    if not short and (outside or (whole and broken) or len(first) >= SURELY_COUNTED):
        return True
    if short and not broken:
        return None
    return False if first in (list(range(len(first))), list(range(1, len(first) + 1))) else None


def _mirrored(first: list[float | None], rows: list[list[float | None]]) -> bool:
    """Whether the line may begin a square whose first column is the same: the distances of points in a row."""
    seen = [row[0] for row in rows[: len(first) - 1]]
    return len(seen) == len(rows) and seen == first[1 : len(seen) + 1]


def _even(row: list[float | None]) -> bool:
    """Whether the numbers go up by even steps, up to their last digits."""
    if None in row or len(row) < 2 or not np.isfinite(row).all():  # type: ignore[arg-type]
        return False
    steps = np.diff(np.array(row, dtype=np.float64))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=LAST_DIGITS, atol=0))


def _outside(value: float | None, column: list[float | None]) -> bool:
    known = [x for x in column if x is not None and x == x]
    return value is not None and bool(known) and not min(known) <= value <= max(known)
