"""A cube of spectra as it is read, looked at in blocks of lines, and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.brief import brief
from lowfold._core.config import get_config
from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import existing_file, parsing, refuse
from lowfold._core.types import Floats
from lowfold.datasets._read_envi import band_names, open_envi
from lowfold.datasets._write_envi import write_envi

BLOCK_BYTES = 64_000_000
COPIES = 4  # of a block at one time: as it was read, in float64, its used cells, and what is made of them


@dataclass(frozen=True, eq=False)
class Cube:
    """A picture with a spectrum, or a vector of features, in every cell.

    values       (lines, samples, bands); an array, or a map of a file, of which only blocks of lines are read
    names        of the bands; `wavelengths` their numbers where the names are numbers, else None
    good_bands   (bands,) bands that are used; noisy ones and those of water are False
    mask         (lines, samples) cells that are used, or None for all; cells that hold `ignore` or NaN never are
    ignore       the value of a cell without data, or None
    header       of the ENVI file it came from
    """

    values: NDArray[Any]
    names: list[str] = field(default_factory=list)
    good_bands: NDArray[np.bool_] | None = None
    mask: NDArray[np.bool_] | None = None
    ignore: float | None = None
    header: dict[str, str] = field(default_factory=dict)

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or 0 in self.values.shape:
            raise InvalidInput(f"a cube has lines, samples and bands; got shape {self.values.shape}")
        bands = self.values.shape[2]
        good = np.ones(bands, dtype=bool) if self.good_bands is None else np.asarray(self.good_bands, dtype=bool)
        if good.shape != (bands,) or not good.any():
            raise InvalidInput(f"good_bands must mark at least one of {bands} bands; got shape {good.shape}")
        if self.mask is not None and np.shape(self.mask) != self.values.shape[:2]:
            words = f"mask must have the shape of the picture, {self.values.shape[:2]}; got {np.shape(self.mask)}"
            raise InvalidInput(words)
        object.__setattr__(self, "good_bands", good)
        object.__setattr__(self, "names", list(self.names) or [f"band{i + 1}" for i in range(bands)])
        if len(self.names) != bands:
            raise InvalidInput(f"names must have one entry per band, {bands}; got {len(self.names)}")

    @classmethod
    def read(cls, path: str | Path, *, bad_bands: ArrayLike | str | None = None, mask: ArrayLike | None = None) -> Cube:
        """Map an ENVI cube (.hdr), or a .npy array of three axes. Bad bands of the header ("bbl") are honoured.

        bad_bands : further bands to leave out: numbers from 0, or text that counts from 1 as "1-10, 104-113".
        """
        file = existing_file(path)
        if file.suffix.lower() == ".npy":
            with parsing(path, ".npy array"):
                values, header, names = np.load(file, mmap_mode="r"), {}, []
            if values.ndim != 3 or values.dtype.kind not in "fiub":
                refuse(path, f"a cube has lines, samples and bands of numbers; this is {values.dtype} {values.shape}")
        else:
            found = open_envi(path)
            values, header = found.mapped(), found.header
            names = band_names(header, file, values.shape[2])
        good = _good_bands(header, values.shape[2], path)
        good[_bands(bad_bands, values.shape[2])] = False
        chosen = None if mask is None else np.asarray(mask, dtype=bool)
        return cls(values, names, good, chosen, _number(header.get("data ignore value")), header)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Lines, samples, bands."""
        lines, samples, bands = self.values.shape
        return int(lines), int(samples), int(bands)

    @property
    def wavelengths(self) -> Floats | None:
        """Of all bands, in the header's unit; None where the names are no numbers."""
        numbers = [_number(name) for name in self.names]
        known = [number for number in numbers if number is not None]
        return np.array(known) if len(known) == len(numbers) else None

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.bool_], Floats]]:
        """Lines, which of their cells are used (lines, samples), and the good bands of all of them in float64."""
        for part in self._parts():
            rows = np.asarray(self.values[part], dtype=np.float64)[:, :, self.good_bands]
            used = np.asarray(np.isfinite(rows).all(axis=2))
            if self.ignore is not None:
                used &= (rows != self.ignore).all(axis=2)
            if self.mask is not None:
                used &= self.mask[part]
            yield part, used, rows

    def rows(self) -> Iterator[Floats]:
        """The spectra of the used cells, block after block."""
        for _, used, rows in self.blocks():
            if used.any():
                yield rows[used]

    def write(self, path: str | Path, *, description: str = "lowfold", overwrite: bool = False) -> None:
        """Write as ENVI (float32), with wavelengths and map projection."""
        self.write_blocks(path, self._all(), description=description, overwrite=overwrite)

    def write_blocks(
        self, path: str | Path, blocks: Iterator[NDArray[Any]], *, description: str, overwrite: bool = False
    ) -> None:
        """The same of other values of these cells and bands, given as blocks of lines."""
        waves = self.wavelengths
        names = self.names if waves is None else None
        ignore = -9999.0 if self.ignore is None else self.ignore
        write_envi(
            path,
            (np.where(np.isfinite(rows), rows, ignore) for rows in blocks),
            self.shape,
            names=names,
            wavelengths=None if waves is None else list(waves),
            header=self.header,
            ignore=ignore,
            description=description,
            overwrite=overwrite,
        )

    def _all(self) -> Iterator[NDArray[Any]]:
        yield from (np.asarray(self.values[part]) for part in self._parts())

    def _parts(self) -> Iterator[slice]:
        """Lines of one block after the other, as many as the budget has room for."""
        lines, samples, bands = self.shape
        step = max(1, int(min(BLOCK_BYTES, get_config().memory // COPIES)) // (8 * samples * bands))
        yield from (slice(start, min(start + step, lines)) for start in range(0, lines, step))


def _good_bands(header: dict[str, str], bands: int, path: object) -> NDArray[np.bool_]:
    text = header.get("bbl", "")
    if not text:
        return np.ones(bands, dtype=bool)
    marks = [_number(part) for part in text.split(",")]
    if len(marks) != bands or None in marks:
        refuse(path, f"the bad-band list has {len(marks)} entries for {bands} bands")
    return np.array([mark != 0 for mark in marks])


def _bands(given: ArrayLike | str | None, bands: int) -> NDArray[np.int64]:
    """Numbers from 0; a text counts from 1 and may have ranges."""
    if given is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(given, str):
        found: list[int] = []
        for part in filter(None, (piece.strip() for piece in given.split(","))):
            match = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", part)
            if match is None:
                raise InvalidInput(f'bad bands are numbers and ranges from 1, as "1-10, 104"; got {part!r}')
            found += range(int(match[1]) - 1, int(match[2] or match[1]))
        numbers = np.array(found, dtype=np.int64)
    else:
        numbers = np.asarray(given, dtype=np.int64).ravel()
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= bands):
        raise InvalidInput(
            f"bad bands must be among the {bands} bands of the cube; got {numbers.min()}..{numbers.max()}"
        )
    return numbers


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
