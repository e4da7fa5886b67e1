"""Hyperspectral cubes in ENVI format: a text header (.hdr), a data file beside it, perhaps wavelengths (.wvl)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold.datasets._file_table import Table, small_float

TYPES = {1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 12: "u2", 13: "u4", 14: "i8", 15: "u8"}
# where lines, samples, bands stand in the file
AXES = {
    "bsq": ("bands", "lines", "samples"),
    "bil": ("lines", "bands", "samples"),
    "bip": ("lines", "samples", "bands"),
}
DATA_SUFFIXES = ("", ".dat", ".img", ".raw", ".bsq", ".bil", ".bip", ".cube")
LARGEST_HEADER = 1 << 24


def read_envi(path: str | Path, *, bad_bands: Literal["drop", "keep"] = "drop") -> Table:
    """Read a cube by its header: rows are raster cells, line by line, columns are bands.

    Bands that the header calls bad (`bbl`, 0 for bad) are left out and told, unless `bad_bands="keep"`.

    The data file has the header's name without .hdr, or with .dat, .img, .raw or the interleave in its place.
    `X.reshape(*grid_shape, -1)` is the cube (lines, samples, bands); `X.T` has band images as rows.
    Column names are wavelengths where header or .wvl file give them.
    """
    if bad_bands not in ("drop", "keep"):
        raise InvalidInput(f"bad_bands must be 'drop' or 'keep'; got {bad_bands!r}")
    cube = open_envi(path)
    lines, samples, bands = cube.shape
    n = lines * samples * bands
    require_room(path, 2 * n * cube.dtype.itemsize, f"a cube of {lines} x {samples} cells and {bands} bands")
    with parsing(cube.file, "ENVI data file"):
        values = np.fromfile(cube.file, dtype=cube.dtype, count=n, offset=cube.offset).reshape(cube.stored_shape)
    X = values.transpose(cube.order).reshape(-1, bands).astype(small_float(cube.dtype.newbyteorder("=")))
    notices = []
    names = band_names(cube.header, cube.header_file, bands)
    good = good_bands(cube.header, cube.header_file, bands)
    if bad_bands == "drop" and not good.all():
        X, names = np.ascontiguousarray(X[:, good]), [name for name, fine in zip(names, good) if fine]
        notices.append(f"{bands - len(names)} of {bands} bands left out, which the header calls bad (bbl)")
    notices += _without_ignored(cube.header, X)
    return Table(X, names, {}, None, notices, str(path), grid_shape=(lines, samples))


@dataclass(frozen=True)
class EnviFile:
    """Where a cube lies on disk: `shape` is (lines, samples, bands), the file has it in the order of its interleave."""

    header_file: Path
    header: dict[str, str]
    file: Path
    dtype: np.dtype[Any]
    offset: int
    interleave: str
    shape: tuple[int, int, int]

    @property
    def stored_shape(self) -> tuple[int, ...]:
        sizes = dict(zip(("lines", "samples", "bands"), self.shape))
        return tuple(sizes[axis] for axis in AXES[self.interleave])

    @property
    def order(self) -> list[int]:
        """The axes of the file that are lines, samples and bands."""
        return [AXES[self.interleave].index(axis) for axis in ("lines", "samples", "bands")]

    def mapped(self) -> NDArray[Any]:
        """(lines, samples, bands) as a map of the file: only what is looked at is read."""
        with parsing(self.file, "ENVI data file"):
            stored = np.memmap(self.file, self.dtype, "r", self.offset, self.stored_shape)
        return stored.transpose(self.order)


def open_envi(path: str | Path) -> EnviFile:
    """What the header says, checked against the data file; no data are read."""
    header_file = existing_file(path)
    if header_file.suffix.lower() != ".hdr":
        refuse(path, "an ENVI cube is read by its header; pass the .hdr file")
    header = parse_header(header_file)
    lines, samples, bands = (_whole(header, name, header_file) for name in ("lines", "samples", "bands"))
    interleave = header.get("interleave", "bsq").lower()
    if interleave not in AXES:
        refuse(path, f"interleave must be bsq, bil or bip; it is {interleave!r}")
    dtype = _dtype(header, header_file)
    data_file = _data_file(header_file)
    offset = _whole(header, "header offset", header_file, default=0, least=0)
    needed = lines * samples * bands * dtype.itemsize
    available = data_file.stat().st_size - offset
    if needed > available:
        refuse(data_file, f"the header promises {needed} bytes of data, the file holds {max(available, 0)}")
    return EnviFile(header_file, header, data_file, dtype, offset, interleave, (lines, samples, bands))


def parse_header(file: Path) -> dict[str, str]:
    """Lower-case key -> value of an ENVI header; a value in braces may run over lines and loses its braces."""
    if file.stat().st_size > LARGEST_HEADER:
        refuse(file, "is too large for an ENVI header")
    lines = file.read_bytes().decode("latin-1").splitlines()
    if not lines or lines[0].strip() != "ENVI":
        refuse(file, "line 1 must be ENVI")
    header: dict[str, str] = {}
    rest = iter(enumerate(lines[1:], 2))
    for number, line in rest:
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            refuse(file, f"line {number} is not of the form: key = value")
        parts = [value.strip()]
        while parts[0].startswith("{") and not parts[-1].rstrip().endswith("}"):
            following = next(rest, None)
            if following is None:
                refuse(file, f"line {number}: the brace of {key.strip()!r} is never closed")
            parts.append(following[1])
        header[" ".join(key.lower().split())] = " ".join(parts).strip().removeprefix("{").removesuffix("}").strip()
    return header


def _whole(header: dict[str, str], key: str, file: Path, default: int | None = None, least: int = 1) -> int:
    text = header.get(key, None if default is None else str(default))
    if text is None:
        refuse(file, f"the header has no {key!r}")
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= least):
        refuse(file, f"{key!r} must be a whole number of at least {least}; it is {text[:40]!r}")
    return int(text)


def _dtype(header: dict[str, str], file: Path) -> np.dtype[Any]:
    code = _whole(header, "data type", file)
    if code not in TYPES:
        refuse(file, f"data type {code} is not one of {', '.join(map(str, TYPES))} (complex cubes are not read)")
    order = _whole(header, "byte order", file, default=0, least=0)
    if order > 1:
        refuse(file, f"byte order must be 0 (little endian) or 1 (big endian); it is {order}")
    return np.dtype("<>"[order] + TYPES[code])


def _data_file(header_file: Path) -> Path:
    stem = header_file.with_suffix("")
    # cube.dat.hdr stands beside cube.dat, cube.hdr beside cube or cube.dat
    candidates = [stem.with_name(stem.name + suffix) for suffix in DATA_SUFFIXES]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    if found is None:
        refuse(header_file, f"there is no data file beside it ({', '.join(file.name for file in candidates)})")
    return found


def band_names(header: dict[str, str], header_file: Path, bands: int) -> list[str]:
    """Wavelengths of the header or of a .wvl file, band names of the header, or band1, band2, ..."""
    wavelengths = header_file.with_suffix(".wvl")
    candidates = [header.get("wavelength", "").split(","), header.get("band names", "").split(",")]
    if wavelengths.is_file() and wavelengths.stat().st_size <= LARGEST_HEADER:
        lines = wavelengths.read_bytes().decode("latin-1").splitlines()
        candidates.insert(1, [line.split()[0] for line in lines if line.split()])
    for names in candidates:
        cleaned = [name.strip() for name in names]
        if len(cleaned) == bands and all(cleaned) and len(set(cleaned)) == bands:
            return cleaned
    return [f"band{i}" for i in range(1, bands + 1)]


def good_bands(header: dict[str, str], header_file: Path, bands: int) -> NDArray[np.bool_]:
    """Which bands the header's list of bad bands (`bbl`) lets through; all where there is none."""
    words = [word.strip() for word in header.get("bbl", "").split(",") if word.strip()]
    if not words:
        return np.ones(bands, dtype=bool)
    if len(words) != bands or not set(words) <= {"0", "1", "0.0", "1.0"}:
        refuse(header_file, f"'bbl' must have 0 or 1 for each of the {bands} bands; it has {len(words)} entries")
    good = np.array([word[0] == "1" for word in words])
    if not good.any():
        refuse(header_file, "'bbl' calls every band bad; read with bad_bands='keep'")
    return good


def _without_ignored(header: dict[str, str], X: NDArray[Any]) -> list[str]:
    """NaN where the header says that a value is none, and a word about these cells."""
    try:
        value = float(header["data ignore value"])
    except (KeyError, ValueError):
        return []
    absent = np.equal(X, value)
    cells = int(absent.any(axis=1).sum())
    if not cells:
        return []
    X[absent] = np.nan
    told = f"{cells} of {len(X)} cells hold the header's 'data ignore value' {value:g} and are NaN"
    return [f"{told}; missing='drop' leaves them out"]
