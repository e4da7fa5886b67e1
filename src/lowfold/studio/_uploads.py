"""Files that the page sends: each upload in a folder of its own, counted against the budget of memory."""

from __future__ import annotations

import re
import secrets
import shutil
from pathlib import Path

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import pretty_bytes

MOST_FILES = 20_000  # of one upload
DEEP = 6  # folders of a path that are kept


class Uploads:
    """Uploads by name."""

    def __init__(self, folder: Path, memory: int) -> None:
        folder.mkdir()
        self.folder, self.memory = folder, memory
        self.received: dict[str, int] = {}

    def begin(self) -> str:
        """The name under which files are sent."""
        name = secrets.token_hex(8)
        (self.folder / name).mkdir()
        self.received[name] = 0
        return name

    def target(self, batch: str, name: str) -> Path:
        """Where a file is put: in the upload's own folder, under a name made harmless."""
        folder = self._folder(batch)
        if sum(1 for _ in folder.rglob("*")) >= MOST_FILES:
            raise InvalidInput(f"an upload has at most {MOST_FILES:,} files")
        parts = [re.sub(r"[^\w .()+-]", "_", part)[-80:].strip(". ") or "_" for part in name.split("/")[-DEEP:]]
        target = folder.joinpath(*parts)
        target.parent.mkdir(exist_ok=True, parents=True)
        return target

    def count(self, batch: str, n_bytes: int) -> None:
        """Refuse an upload that grows beyond the budget."""
        self.received[batch] += n_bytes
        if self.received[batch] > self.memory:
            raise InvalidInput(f"the upload is larger than the memory budget of {pretty_bytes(self.memory)}")

    def forget(self, batch: str) -> None:
        """Remove an upload, if there is one of that name."""
        if self.received.pop(batch, None) is not None:
            shutil.rmtree(self.folder / batch, ignore_errors=True)

    def content(self, batch: str) -> tuple[Path, str]:
        """What of an upload is read, and its name: the only file, the header of a cube, or the folder."""
        folder = self._folder(batch)
        files = [file for file in folder.rglob("*") if file.is_file()]
        if not files:
            raise InvalidInput("the upload holds no file")
        header = next((file for file in files if file.suffix.lower() == ".hdr"), None)
        if len(files) == 1 or header is not None:
            return (header or files[0]), (header or files[0]).name
        inner = list(folder.iterdir())
        return (inner[0], inner[0].name) if len(inner) == 1 and inner[0].is_dir() else (folder, "folder")

    def _folder(self, batch: str) -> Path:
        if batch not in self.received:
            raise InvalidInput("there is no such upload")
        return self.folder / batch
