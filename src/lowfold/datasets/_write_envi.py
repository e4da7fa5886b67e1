"""A cube written as ENVI: a header of text, and the values cell by cell (bip), block after block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.file_words import refuse
from lowfold.datasets._write_table import replacing

# What belongs to the grid of cells, and so holds for anything computed on it.
GRID_KEYS = ("map info", "coordinate system string", "projection info", "x start", "y start", "pixel size", "rotation")
FLOAT32 = 4  # ENVI's number of the data type


def write_envi(
    path: str | Path,
    blocks: Iterable[NDArray[Any]],
    shape: tuple[int, int, int],
    *,
    names: Sequence[str] | None = None,
    wavelengths: Sequence[float] | None = None,
    header: Mapping[str, str] | None = None,
    ignore: float | None = None,
    description: str = "lowfold",
    overwrite: bool = False,
) -> Path:
    """Write lines of a cube (lines, samples, bands), given in blocks (some lines, samples, bands), as float32.

    The values go to the header's name with .img in place of .hdr; the path of that file is returned. `header` is the
    one of the cube that this was computed from: its map projection is kept. `ignore` is the "data ignore value".
    """
    target = Path(path)
    if target.suffix.lower() != ".hdr":
        refuse(path, "an ENVI cube is named by its header; choose the ending .hdr")
    data = target.with_suffix(".img")
    with replacing(target, overwrite=overwrite) as text, replacing(data, overwrite=overwrite) as part:
        text.write_text(_header(shape, names, wavelengths, header or {}, ignore, description), encoding="latin-1")
        written = 0
        with part.open("wb") as stream:
            for block in blocks:
                values = np.ascontiguousarray(block, dtype="<f4")
                written += values.size
                stream.write(values.tobytes())
        if written != shape[0] * shape[1] * shape[2]:
            refuse(path, f"{written} values were given for a cube of shape {shape}")
    return data


def _header(
    shape: tuple[int, int, int],
    names: Sequence[str] | None,
    wavelengths: Sequence[float] | None,
    header: Mapping[str, str],
    ignore: float | None,
    description: str,
) -> str:
    lines, samples, bands = shape
    fields = {"description": f"{{{description}}}", "samples": samples, "lines": lines, "bands": bands}
    fields |= {"header offset": 0, "file type": "ENVI Standard", "data type": FLOAT32, "interleave": "bip"}
    fields |= {"byte order": 0}
    if ignore is not None:
        fields["data ignore value"] = f"{ignore:g}"
    if names is not None:
        fields["band names"] = "{" + ", ".join(name.replace(",", " ") for name in names) + "}"
    if wavelengths is not None:
        fields["wavelength"] = "{" + ", ".join(f"{value:.10g}" for value in wavelengths) + "}"
        fields["wavelength units"] = header.get("wavelength units", "Nanometers")
    for key in GRID_KEYS:
        if key in header:
            fields[key] = f"{{{header[key]}}}" if "," in header[key] else header[key]
    return "ENVI\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())
