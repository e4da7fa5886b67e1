"""The figures and tables of the source texts, remade: words in words.toml, one function each, one page each."""

from __future__ import annotations

import tomllib
from pathlib import Path

from figures import diffusion, fast, geodesics, linear, local, notes, parts, unfolding
from figures.parts import Figure, Made

MADE: dict[str, Made] = {}
DRAWING: dict[str, tuple[Path, Path]] = {}  # the files that a picture depends on
for part in (linear, geodesics, unfolding, local, diffusion, fast, notes):
    MADE |= part.MADE
    DRAWING |= dict.fromkeys(part.MADE, (Path(parts.__file__), Path(part.__file__)))

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))["figure"]
FIGURES = tuple(Figure(made=MADE[words["key"]], **words) for words in WORDS)
