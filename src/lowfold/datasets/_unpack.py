"""Text files packed by gzip, bzip2 or xz, or not in UTF-8: brought into a private file while they are read."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import parsing, refuse, require_room

OPENERS: dict[str, Callable[..., IO[Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
}
HEADS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a sheet of Excel, or a zip archive, under another name; save the sheet as CSV, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "a sheet of Excel under another name; save it as CSV"),
    (b"\x1f\x8b", "packed by gzip; unpack it, or let its name end in .csv.gz"),
    (b"BZh", "packed by bzip2; unpack it, or let its name end in .csv.bz2"),
    (b"\xfd7zXZ", "packed by xz; unpack it, or let its name end in .csv.xz"),
    (b"PAR1", "a Parquet file; let its name end in .parquet"),
    (b"ARROW1", "a Feather file; let its name end in .feather"),
    (b"\x93NUMPY", "an array of NumPy; let its name end in .npy"),
    (b"MATLAB 5.0", "a file of MATLAB; let its name end in .mat"),
    (b"\x89HDF", "an HDF5 file; let its name end in .mat (MATLAB 7.3), .h5 or .h5ad"),
    (b"%PDF", "a PDF document; save the table in it as CSV"),
    (b"\x89PNG", "a picture; name the folder of the pictures"),
    (b"\xff\xd8\xff", "a picture; name the folder of the pictures"),
)
"""How files that are no text begin, and what they are."""
PART = 1 << 22  # bytes unpacked at a time: a small file may hold terabytes, and the budget is asked before each part


def check_encoding(encoding: object) -> None:
    """One that Python knows, or None."""
    try:
        codecs.lookup(encoding or "utf-8")  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        raise InvalidInput(f"encoding must be one that Python knows, as 'cp1252', or None; got {encoding!r}") from None


def kind_of(file: Path) -> str:
    """The ending that says what the file holds, in small letters: ".csv" of table.csv and of table.csv.gz."""
    last = file.suffix.lower()
    return Path(file.stem).suffix.lower() if last in OPENERS else last


@contextmanager
def unpacked(file: Path, source: object) -> Iterator[Path]:
    """The file itself, or one with its content that is gone afterwards."""
    last = file.suffix.lower()
    if last in (".zip", ".zst"):
        refuse(source, f"is packed as {last}; unpack it first, or use gzip, bzip2 or xz")
    if last not in OPENERS:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="lowfold-") as folder:
        plain = Path(folder) / f"table{kind_of(file)}"
        with parsing(source, f"{last} file"), OPENERS[last](file, "rb") as packed, plain.open("wb") as out:
            while part := packed.read(PART):
                require_room(source, out.tell() + len(part), "the text in it")
                out.write(part)
        if plain.stat().st_size == 0:
            refuse(source, "holds no rows")
        yield plain


def mark_of(start: bytes) -> str | None:
    """The encoding that the first bytes of a text name: UTF-16 has a mark; UTF-8 needs none."""
    return "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None


def refuse_binary(start: bytes, source: object) -> None:
    """Name what is no text by its first bytes, with the way to have it read."""
    for head, words in HEADS:
        if start.startswith(head):
            refuse(source, f"is {words}")


@contextmanager
def in_utf8(file: Path, encoding: str | None, source: object) -> Iterator[Path]:
    """The file itself where it is UTF-8, or one with its text in UTF-8 that is gone afterwards."""
    with file.open("rb") as stream:
        start = stream.read(16)
    refuse_binary(start, source)
    known = encoding or mark_of(start)
    if known is None or codecs.lookup(known).name in ("utf-8", "utf-8-sig", "ascii"):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="lowfold-") as folder:
        plain = Path(folder) / f"table{file.suffix}"
        with (
            parsing(source, f"text in {known}"),
            file.open(encoding=known, newline="") as text,
            plain.open("w", encoding="utf-8", newline="") as out,
        ):
            while part := text.read(PART):
                out.write(part)
        yield plain
