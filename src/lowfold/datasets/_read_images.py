"""A folder of images as rows of pixels, by Pillow (the extra "images")."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.file_words import parsing, refuse, require_room
from lowfold.datasets._file_table import Table, numbered
from lowfold.datasets._images import vectorize

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".pbm", ".webp"})


def read_images(
    folder: str | Path,
    *,
    order: Literal["row", "column"] = "row",
    color: bool = False,
    size: tuple[int, int] | int | None = None,
) -> Table:
    """Read every image below a folder, in the order of their names (a number in a name counts as a number).

    Values are as stored, 0 to 255 for most files. The name of each file is kept as label "file", the folder as label
    "folder" when there are subfolders.

    Parameters
    ----------
    order : pixels follow row by row or column by column; `lowfold.datasets.unvectorize` undoes it.
    color : three channels, pixel by pixel; otherwise grey.
    size : (height, width) to which every image is resized, one number for a square; None needs images of one size.
    """
    size = _sides(size)
    if order not in ("row", "column"):
        raise InvalidInput(f"order must be 'row' or 'column'; got {order!r}")
    image = load_extra("PIL.Image", "images", "reading images")
    root = Path(folder)
    files = image_files(root)
    if not files:
        refuse(folder, f"no images in this folder (looked for {', '.join(sorted(IMAGE_SUFFIXES))})")
    first = _pixels(image, files[0], color, size)
    require_room(folder, 4 * first.size * len(files), f"{len(files)} images of {first.shape}")
    stack = np.empty((len(files), *first.shape), dtype=np.float32)
    stack[0] = first
    for i, file in enumerate(files[1:], start=1):
        pixels = _pixels(image, file, color, size)
        if pixels.shape != stack.shape[1:]:
            sizes = f"is {pixels.shape[:2]}, the images before it are {stack.shape[1:3]}"
            refuse(file, f"{sizes}; resize them all with size=(height, width)")
        stack[i] = pixels
    parents = [file.parent.relative_to(root).as_posix() for file in files]
    labels = {} if set(parents) == {"."} else {"folder": np.array(parents)}  # first: pictures are coloured by it
    labels["file"] = np.array([file.name for file in files])
    X = np.ascontiguousarray(vectorize(stack, order), dtype=np.float32)
    shape = tuple(int(side) for side in stack.shape[1:])
    grey = not color and any(_has_colour(image, file) for file in (files[0], files[-1]))
    notices = ["the images have colours and were read as grey; color=True keeps the three channels"] if grey else []
    return Table(X, numbered(X.shape[1], "pixel"), labels, None, notices, str(folder), point_shape=shape)


def _sides(size: Any) -> tuple[int, int] | None:
    """Height and width in pixels; None for images as they are."""
    if size is None:
        return None
    sides = (size, size) if np.ndim(size) == 0 else tuple(size)
    if len(sides) != 2 or not all(isinstance(side, (int, np.integer)) and side >= 1 for side in sides):
        raise InvalidInput(f"size must be (height, width), two whole numbers of at least 1, or one; got {size!r}")
    return int(sides[0]), int(sides[1])


def image_files(root: Path) -> list[Path]:
    """Images below the folder in natural order."""
    try:
        if not root.is_dir():
            refuse(root, "there is no such folder")
        found = [file for file in root.rglob("[!.]*") if file.suffix.lower() in IMAGE_SUFFIXES and file.is_file()]
    except OSError as error:
        refuse(root, f"cannot be read: {error.strerror or error}")
    return sorted(found, key=lambda file: natural_key(file.relative_to(root).as_posix()))


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """A sort key in which face2 comes before face10."""
    parts = re.split(r"([0-9]+)", name)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part) for part in parts]


def _has_colour(image: Any, file: Path) -> bool:
    """Whether the channels of an image differ; grey pictures are often saved with three equal ones."""
    with image.open(file) as opened:
        channels = np.asarray(opened.convert("RGB")) if not opened.mode.startswith(("1", "L", "I", "F")) else None
    return channels is not None and bool((channels != channels[..., :1]).any())


def _pixels(image: Any, file: Path, color: bool, size: tuple[int, int] | None) -> NDArray[np.float32]:
    # Pillow only warns of an image that unpacks to an absurd size; here that is a damaged file
    with parsing(file, "image", "; mend it or take it out of the folder"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", image.DecompressionBombWarning)
        with image.open(file) as opened:
            if color:
                picture = opened.convert("RGB")
            else:
                picture = opened if opened.mode.startswith(("I", "F")) else opened.convert("L")
            if size is not None:
                picture = picture.resize((size[1], size[0]))
            return np.asarray(picture, dtype=np.float32)
