"""The methods' controls between sessions: making them loads every method, seconds that a person would wait for.

They lie in the user's cache folder, under a name that says which sources and packages they were made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

from lowfold._core.jit import cache_dir


def _file() -> Path:
    """Sources by size and time; packages by the time of their folder, which an installation changes."""
    root = Path(__file__).parent.parent
    known = [sys.version, str(Path(sysconfig.get_path("purelib")).stat().st_mtime_ns)]
    for source in sorted(root.rglob("*.py")):
        told = source.stat()
        known.append(f"{source.relative_to(root)} {told.st_size} {told.st_mtime_ns}")
    digest = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
    return cache_dir() / "studio" / f"methods-{digest}.json"


def kept() -> list[dict[str, Any]] | None:
    """The cards of all methods as they were kept; None where they have to be made."""
    with suppress(OSError, ValueError):
        found = json.loads(_file().read_text(encoding="utf-8"))
        return found if isinstance(found, list) else None
    return None


def keep(cards: list[dict[str, Any]]) -> None:
    """Keep them in the place of older ones; a folder that cannot be written is no error."""
    with suppress(OSError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.glob("methods-*.json"):
            old.unlink(missing_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(json.dumps(cards), encoding="utf-8")
        part.replace(file)
