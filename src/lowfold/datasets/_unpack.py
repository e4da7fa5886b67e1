"""Text files packed by gzip, bzip2 or xz: unpacked into a private file while they are read."""

from __future__ import annotations

import bz2
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
