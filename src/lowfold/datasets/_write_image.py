"""One image as a file, by Pillow (the extra "images")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.extras import load_extra
from lowfold._core.file_words import refuse
from lowfold.datasets._write_table import replacing

FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}


def write_image(path: str | Path, pixels: NDArray[Any], *, overwrite: bool = False) -> None:
    """Write grey (height, width) or colour (height, width, 3) values from 0 to 255, whole or not at all."""
    target = Path(path)
    kind = FORMATS.get(target.suffix.lower())
    if kind is None:
        refuse(path, f"an image is written as {', '.join(FORMATS)}; choose one of these endings")
    image = load_extra("PIL.Image", "images", "writing an image")
    with replacing(target, overwrite=overwrite) as part:
        image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(part, format=kind)
