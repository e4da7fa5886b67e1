"""How a file that cannot be read, used or written is told: one sentence with the file in front."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from lowfold._core.errors import FileProblem, LowfoldError
from lowfold._core.memory import fits, pretty_bytes


def refuse(source: object, words: str) -> NoReturn:
    """One sentence with the file in front."""
    raise FileProblem(f"{source}: {words}")


@contextmanager
def parsing(source: object, kind: str, way: str = "") -> Iterator[None]:
    """Whatever a parser of somebody else's throws at a malformed file becomes one sentence about that file."""
    try:
        yield
    except LowfoldError:
        raise
    # a parser fed with damaged bytes may raise anything (struct.error, zlib.error, RecursionError, ...)
    except Exception as error:
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileProblem(f"{source}: not a readable {kind}: {words}{way}") from error


def existing_file(path: str | Path) -> Path:
    """The path, known to be a file that can be opened, with at least one byte."""
    try:
        file = Path(path)
        if file.is_dir():
            refuse(path, "is a folder; pass a file, or read() for a folder of images or texts")
        with file.open("rb") as stream:
            if not stream.read(1):
                refuse(path, "the file is empty")
    except FileNotFoundError:
        refuse(path, "there is no such file")
    except (OSError, ValueError) as error:
        if isinstance(error, FileProblem):
            raise
        refuse(path, f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    return file


def require_room(source: object, n_bytes: int, what: str) -> None:
    """Refuse, before anything is allocated, what does not fit into the memory budget."""
    if not fits(n_bytes):
        refuse(source, f"{what} would need {pretty_bytes(float(n_bytes))}, more than the memory budget")
