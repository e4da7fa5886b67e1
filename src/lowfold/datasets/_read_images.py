"""A folder of images as rows of pixels, by Pillow (the extra "images")."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
STACKS = frozenset({".tif", ".tiff", ".gif"})  # of which one file may hold many pictures
TURNED = 0x0112  # the tag of a photograph that says how the camera was held
NEARLY_GREY = 4  # of 255: channels of a grey picture differ by 1 when WebP has packed it, at qualities 30 and 80


def read_images(
    folder: str | Path,
    *,
    order: Literal["row", "column"] = "row",
    color: bool = False,
    size: tuple[int, int] | int | None = None,
) -> Table:
    """Read every image below a folder, in the order of their names (a number in a name counts as a number).

    Values are as stored, 0 to 255 for most files; photographs stand as the camera was held, transparent pixels are
    white. The name of each file is kept as label "file", the folder as label "folder" when there are subfolders. Every
    picture of a .tif or .gif is a row, its number the label "frame"; such a file may be named instead of a folder.

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
    files = [root] if root.is_file() else image_files(root)
    if not files:
        refuse(folder, f"no images in this folder (looked for {', '.join(sorted(IMAGE_SUFFIXES))})")
    counts = [_count(image, file) for file in files]
    places = [(file, frame) for file, count in zip(files, counts) for frame in range(count)]
    first = _picture(image, files[0], color, size).pixels
    require_room(folder, 4 * first.size * len(places), f"{len(places)} images of {first.shape}")
    stack = np.empty((len(places), *first.shape), dtype=np.float32)
    deep = np.zeros(len(places), dtype=bool)
    clear = np.zeros(len(places), dtype=bool)
    for i, (file, frame) in enumerate(places):
        picture = _picture(image, file, color, size, frame)
        if picture.pixels.shape != stack.shape[1:]:
            sizes = f"is {picture.pixels.shape[:2]}, the images before it are {stack.shape[1:3]}"
            which = f"{file}, frame {frame + 1}" if frame else file
            refuse(which, f"{sizes}; resize them all with size=(height, width)")
        stack[i], deep[i], clear[i] = picture.pixels, picture.deep, picture.clear
    X = np.ascontiguousarray(vectorize(stack, order), dtype=np.float32)
    shape = tuple(int(side) for side in stack.shape[1:])
    grey = not color and any(_has_colour(image, file) for file in (files[0], files[-1]))
    notices = ["the images have colours and were read as grey; color=True keeps the three channels"] if grey else []
    if clear.any():
        notices.append(f"{int(clear.sum())} images have transparent pixels, which are read as white")
    if deep.any() and not deep.all():
        some = f"{int(deep.sum())} of {len(deep)} images have more than 8 bits"
        name = places[int(np.argmax(deep))][0].name
        notices.append(f"{some}, as {name}, and larger values than the others; bring them to one depth")
    return Table(X, numbered(X.shape[1], "pixel"), _labels(root, places), None, notices, str(folder), point_shape=shape)


def _labels(root: Path, places: list[tuple[Path, int]]) -> dict[str, NDArray[Any]]:
    """The folder first, by which pictures are coloured; the frame where a file has several."""
    parents = [file.parent.relative_to(root).as_posix() if file != root else "." for file, _ in places]
    labels = {} if set(parents) == {"."} else {"folder": np.array(parents)}
    labels["file"] = np.array([file.name for file, _ in places])
    frames = np.array([frame + 1 for _, frame in places])
    return labels | ({"frame": frames} if frames.max() > 1 else {})


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
    return channels is not None and bool((np.ptp(channels.astype(np.int16), axis=2) > NEARLY_GREY).any())


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels, whether they have more than 8 bits, and whether some are transparent."""

    pixels: NDArray[np.float32]
    deep: bool
    clear: bool


@contextmanager
def _opened(image: Any, file: Path) -> Iterator[Any]:
    # Pillow only warns of an image that unpacks to an absurd size; here that is a damaged file
    with parsing(file, "image", "; mend it or take it out of the folder"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", image.DecompressionBombWarning)
        with image.open(file) as opened:
            yield opened


def _count(image: Any, file: Path) -> int:
    """How many pictures the file holds; other formats keep previews behind the first."""
    if file.suffix.lower() not in STACKS:
        return 1
    with _opened(image, file) as opened:
        return int(getattr(opened, "n_frames", 1))


def _picture(image: Any, file: Path, color: bool, size: tuple[int, int] | None, frame: int = 0) -> Picture:
    with _opened(image, file) as opened:
        if frame:
            opened.seek(frame)
        turned = opened.getexif().get(TURNED, 1) != 1  # Pillow 10 cannot read it once a stack is loaded
        opened.load()
        picture = opened
        if turned:
            picture = load_extra("PIL.ImageOps", "images", "reading images").exif_transpose(picture)
        deep = picture.mode.startswith(("I", "F"))
        clear = False
        if not deep and ("A" in picture.getbands() or "transparency" in picture.info):
            whole = picture.convert("RGBA")
            clear = whole.getextrema()[3][0] < 255
            if clear:
                picture = image.alpha_composite(image.new("RGBA", whole.size, "white"), whole).convert("RGB")
        if color:
            picture = picture.convert("RGB")
        elif not deep:
            picture = picture.convert("L")
        if size is not None:
            picture = picture.resize((size[1], size[0]))
        return Picture(np.asarray(picture, dtype=np.float32), deep, clear)
