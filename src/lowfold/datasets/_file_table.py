"""What every reader returns, and how a reader says that a file cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, LowfoldError
from lowfold._core.memory import fits, pretty_bytes
from lowfold._core.types import AnyFloats


@dataclass(frozen=True, eq=False)
class Table:
    """Rows are points.

    Attributes
    ----------
    X : float32 or float64, (n, D); sparse where the file is.
    columns : D names.
    labels : columns kept aside, name -> array of n values.
    ids : an id column kept aside, or None.
    notices : what the reader decided, in sentences.
    source : where it came from.
    point_shape : rows are images of this shape (height, width) or (height, width, 3), or None.
    grid_shape : rows are the pixels of a picture of this shape (lines, samples), row by row, or None.
    scaling : (2, D), the centre that was taken off every column and the scale it was divided by, or None.
    """

    X: AnyFloats
    columns: list[str]
    labels: dict[str, NDArray[Any]] = field(default_factory=dict)
    ids: NDArray[Any] | None = None
    notices: list[str] = field(default_factory=list)
    source: str = ""
    point_shape: tuple[int, ...] | None = None
    grid_shape: tuple[int, int] | None = None
    scaling: AnyFloats | None = None


def refuse(source: object, words: str) -> NoReturn:
    """One sentence with the file in front."""
    raise FileProblem(f"{source}: {words}")


@contextmanager
def parsing(source: object, kind: str) -> Iterator[None]:
    """Whatever a parser of somebody else's throws at a malformed file becomes one sentence about that file."""
    try:
        yield
    except LowfoldError:
        raise
    # a parser fed with damaged bytes may raise anything (struct.error, zlib.error, RecursionError, ...)
    except Exception as error:
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileProblem(f"{source}: not a readable {kind}: {words}") from error


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


def small_float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 where it holds every value of `dtype` (integers up to 16 bits, half and single floats), else float64."""
    return np.dtype(np.float32) if np.can_cast(dtype, np.float32) else np.dtype(np.float64)


def numbered(n: int, stem: str = "x") -> list[str]:
    """x1, x2, ..."""
    return [f"{stem}{i}" for i in range(1, n + 1)]
