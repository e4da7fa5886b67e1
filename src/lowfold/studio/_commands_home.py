"""Commands to a run that is done: ask its model, measure it again, take it home."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.studio import _protocol as say
from lowfold.studio._protocol import RunInfo
from lowfold.studio._session import Session
from lowfold.studio._wire import plain

ASKED_AT_ONCE = 60  # places of one question to the model
ENDINGS = {"csv": "csv", "parquet": "parquet", "rows": "csv", "model": "lowfold", "report": "html", "session": "studio"}


def _finished(session: Session, name: str) -> RunInfo:
    """A run that has a model."""
    run = session.one(name)
    if run.status != "done":
        raise InvalidInput(f"this run is {run.status}; only one that is done can be asked")
    return run


async def stability(session: Session, command: say.Stability) -> None:
    """Parts of the data and other seeds."""
    run = _finished(session, command.run)
    task = {"do": "steady", **session.where(), "method": run.method, "params": run.params}
    found = await session.words(session.job(f"stability {run.id}", task))
    run.stability = found["stability"]
    session.add_colours(run, found)
    session.told(run)


async def place(session: Session, command: say.Place) -> None:
    """Uploaded rows, placed by the model of a run."""
    run = _finished(session, command.run)
    path, name = session.uploads.content(command.batch)
    task = {"do": "place", "folder": str(session.data_folder()), "out": str(session.out[run.id]), "path": str(path)}
    try:
        found = await session.words(session.job("place", task, lane="ask"))
    finally:
        session.uploads.forget(command.batch)
    run.placed = [*run.placed, {**found, "name": name}]
    session.told(run)


async def invert(session: Session, command: say.Invert) -> Any:
    """Places of the picture, led back to data space."""
    run = _finished(session, command.run)
    points = command.points
    if not 1 <= len(points) <= ASKED_AT_ONCE or any(len(one) not in (1, 2, 3) for one in points):
        raise InvalidInput(f"1 to {ASKED_AT_ONCE} places of 1 to 3 coordinates can be asked for at once")
    folder = str(session.data_folder())
    task = {"do": "invert", "folder": folder, "out": str(session.out[run.id]), "points": points}
    return await session.words(session.job("invert", task, lane="ask"))


async def export(session: Session, command: say.Export) -> Any:
    """A file to take home; the answer is its address."""
    folder = session.data_folder()
    run = _finished(session, command.run) if command.what in ("csv", "parquet", "model") else None
    done = [one for one in session.runs.values() if one.status == "done"]
    if command.what == "report" and not done:
        raise InvalidInput("a report needs at least one run that is done")
    name = f"{secrets.token_hex(8)}.{ENDINGS[command.what]}"
    target = session.folder / "out" / name
    task = {
        "do": "export",
        "what": command.what,
        "folder": str(folder),
        "out": str(session.out[run.id]) if run else "",
        "target": str(target),
        "rows": command.rows,
        "run": plain(run) if run else {},
        "runs": [_whole(session, one, number) for number, one in enumerate(done)],
        "look": session.look,
    }
    found = await session.words(session.job("export", task, lane="ask"))
    assert session.data is not None
    stem = re.sub(r"[^\w-]", "_", Path(session.data.name).stem)
    shown = stem + (f"-{run.method}" if run else "-rows" if command.what == "rows" else "")
    key = secrets.token_hex(16)
    session.files[key] = (target, f"{shown}.{ENDINGS[command.what]}")
    return {"address": f"/file/{key}", "name": session.files[key][1], "bytes": found["bytes"]}


def _whole(session: Session, run: RunInfo, number: int) -> dict[str, Any]:
    """A run as the report and the saved session take it."""
    title = f"{run.method} {number + 1}"
    return {**plain(run), "title": title, "out": str(session.out[run.id]), "columns": str(session.folder / "col")}


async def recipe(session: Session, command: say.Recipe) -> dict[str, str]:
    """The run as Python and as a command."""
    from lowfold.studio import _recipe
    from lowfold.studio._stored import stored

    run, known = _finished(session, command.run), stored(session.data_folder())
    return {
        "python": _recipe.python(known, run.method, run.params),
        "command": _recipe.command(known, run.method, run.params),
    }
