"""Pictures that are drawn once: a change of lowfold, of what draws or of the packages below draws them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lowfold

PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


@cache
def digest(*drawing: Path) -> str:
    """One word for everything that a picture depends on: lowfold, the files that draw it, the packages below."""
    package = Path(lowfold.__file__).parent
    files = [path for path in sorted(package.rglob("*.py")) if path.parent.name != "cli"]
    parts = [path.read_bytes() for path in [*files, *drawing]]
    words = [f"{name}{version(name)}".encode() for name in PACKAGES]
    return hashlib.sha256(b"".join(parts + words)).hexdigest()[:16]


def drawn(folder: Path, name: str, draw: Callable[[Path], dict[str, Any]], *drawing: Path) -> dict[str, Any]:
    """What `draw(path of the picture)` had to say, from the notes of last time where nothing has changed."""
    now = digest(*drawing)
    picture, notes = folder / "pictures" / f"{name}.png", folder / "cache" / f"{name}.json"
    if picture.exists() and notes.exists():
        known: dict[str, Any] = json.loads(notes.read_text(encoding="utf-8"))
        if known["digest"] == now:
            return known
    for path in (picture, notes):
        path.parent.mkdir(parents=True, exist_ok=True)
    said = {**draw(picture), "digest": now}
    notes.write_text(json.dumps(said), encoding="utf-8")
    return said
