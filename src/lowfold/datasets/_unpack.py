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

from lowfold._core.file_words import parsing, refuse, require_room

OPENERS: dict[str, Callable[..., IO[Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
}
PART = 1 << 22  # bytes unpacked at a time: a small file may hold terabytes, and the budget is asked before each part


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


@contextmanager
def in_utf8(file: Path, encoding: str | None, source: object) -> Iterator[Path]:
    """The file itself where it is UTF-8, or one with its text in UTF-8 that is gone afterwards."""
    with file.open("rb") as stream:
        known = encoding or mark_of(stream.read(2))
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
