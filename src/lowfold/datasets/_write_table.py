"""Tables to files: whole or not at all, and never over an existing file unless told to."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.file_words import refuse
from lowfold.datasets._file_table import numbered

ROWS_AT_ONCE = 10_000


def write_table(
    path: str | Path,
    Y: object,
    columns: Sequence[str] | None = None,
    *,
    labels: Mapping[str, object] | None = None,
    overwrite: bool = False,
) -> None:
    """Write the rows of Y to a .csv, .tsv, .parquet or .npy file; "-" writes CSV to standard output.

    Numbers are written so that reading them gives the same bits. The file appears whole or not at all; an existing file
    is left alone unless `overwrite`. `labels` become further columns (not for .npy).
    """
    data = np.asarray(Y)
    data = data[:, None] if data.ndim == 1 else data
    if data.ndim != 2 or data.dtype.kind not in "fiub":
        raise InvalidInput(f"Y must be a matrix of real numbers; got {data.dtype} of shape {data.shape}")
    names = numbered(data.shape[1]) if columns is None else [str(name) for name in columns]
    if len(names) != data.shape[1]:
        raise InvalidInput(f"columns must name the {data.shape[1]} columns of Y; got {len(names)} names")
    if len(set(names)) < len(names):
        raise InvalidInput(f"columns must differ from one another; got {', '.join(names[:50])}")
    aside = {str(name): np.asarray(values) for name, values in (labels or {}).items()}
    for name, values in aside.items():
        if values.shape != (len(data),) or name in names:
            raise InvalidInput(f"labels: {name!r} must be a new name with {len(data)} values; got {values.shape}")
    if str(path) == "-":
        write_text(sys.stdout, data, names, aside, ",")
        sys.stdout.flush()
        return
    target = Path(path)
    write = _writer(target, data, names, aside)
    with replacing(target, overwrite=overwrite) as temporary:
        write(temporary)


ENDINGS = (".csv", ".tsv", ".parquet", ".npy")


def check_table_ending(path: str | Path) -> None:
    """Refuse a name whose ending says no kind of table."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise FileProblem(f"{path}: tables are written as .csv, .tsv, .parquet or .npy; choose one of these endings")


def _writer(
    target: Path, data: NDArray[Any], names: list[str], aside: dict[str, NDArray[Any]]
) -> Callable[[Path], None]:
    suffix = target.suffix.lower()
    if suffix in (".csv", ".tsv"):
        delimiter = "," if suffix == ".csv" else "\t"

        def write_lines(file: Path) -> None:
            with file.open("w", encoding="utf-8", newline="") as stream:
                write_text(stream, data, names, aside, delimiter)

        return write_lines
    if suffix == ".npy":
        if aside:
            raise InvalidInput("labels cannot be written to .npy; use .csv or .parquet")

        def write_npy(file: Path) -> None:
            with file.open("wb") as stream:
                np.save(stream, data, allow_pickle=False)

        return write_npy
    if suffix == ".parquet":
        pa = load_extra("pyarrow", "tables", "writing Parquet")
        pq = load_extra("pyarrow.parquet", "tables", "writing Parquet")
        arrays = {name: np.ascontiguousarray(data[:, j]) for j, name in enumerate(names)} | aside
        table = pa.table({name: pa.array(v.tolist() if v.dtype.kind in "US" else v) for name, v in arrays.items()})

        def write_parquet(file: Path) -> None:
            pq.write_table(table, str(file))

        return write_parquet
    check_table_ending(target)
    raise AssertionError(f"no writer for {suffix}")  # every allowed ending has one above


def write_text(
    stream: IO[str],
    data: NDArray[Any],
    names: list[str],
    aside: dict[str, NDArray[Any]],
    delimiter: str,
    *,
    header: bool = True,
) -> None:
    """Rows as lines of text, after the names of the columns."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow([*names, *aside])
    for start in range(0, len(data), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        rows = data[block]
        # the shortest text that reads back as the same number: str for float32, repr (by csv) for Python floats
        values = rows.tolist() if rows.dtype != np.float32 else rows.astype(str).tolist()
        kept = [column[block].tolist() for column in aside.values()]
        writer.writerows([*row, *extra] for row, extra in zip(values, zip(*kept) if kept else [()] * len(values)))


@contextmanager
def replacing(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A temporary file beside the target that takes its place when the block ends well, and vanishes otherwise."""
    taken = "the file exists; choose another name, or replace it with overwrite=True (--overwrite)"
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.is_dir():
            refuse(target, "is a folder")
        if target.exists() and not target.is_file():
            refuse(target, "is not an ordinary file, and only such are replaced")
        if target.exists() and not overwrite:
            refuse(target, taken)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        if overwrite:
            temporary.replace(target)
        else:
            _rename_to_new(temporary, target, taken)
    except (OSError, ValueError) as error:
        if isinstance(error, FileProblem | InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FileProblem(f"{target}: cannot be written: {reason}") from error
    finally:
        with suppress(OSError):  # nothing was written, or the folder does not exist
            temporary.unlink()


def _rename_to_new(temporary: Path, target: Path, taken: str) -> None:
    """A hard link fails when the target has appeared meanwhile, which a rename would overwrite."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        refuse(target, taken)
    except OSError:  # a file system without hard links
        if target.exists():
            refuse(target, taken)
        temporary.replace(target)
