"""Commands about the data: where they come from, what their columns are for, what they look like."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.studio import _protocol as say
from lowfold.studio._jobs import JobFailed
from lowfold.studio._protocol import Column, DataInfo, RunInfo, StageInfo
from lowfold.studio._session import Session
from lowfold.studio._stored import column, stored

MOST_POINTS = 2_000_000  # of a built-in set
SESSION = ".studio"


async def open_set(session: Session, command: say.Open) -> None:
    """A built-in set."""
    from lowfold.datasets._table import SURFACES

    if command.name != "digits" and command.name not in SURFACES:
        raise InvalidInput(f"there is no built-in set {command.name!r}")
    if not (3 <= command.n <= MOST_POINTS and command.noise >= 0 and command.seed >= 0):
        raise InvalidInput(f"a set has 3 to {MOST_POINTS:,} points, noise and seed of at least 0")
    known = {"n": command.n, "noise": command.noise, "seed": command.seed}
    await read(session, {"kind": "set", "name": command.name, **({} if command.name == "digits" else known)})


async def read(session: Session, source: dict[str, Any], **options: Any) -> None:
    """Read data in a job; the page keeps the old ones until the new ones are there."""
    number = session.next_name()
    folder = session.folder / "data" / number
    task = {"do": "read", "source": source, "folder": str(folder), "columns": str(session.folder / "col"), **options}
    try:
        found = await session.job("data", task)
    except JobFailed as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidInput(str(error)) from None
    _put(session, number, found)
    session.source = source
    session.sweep()


def _put(session: Session, number: str, found: dict[str, Any]) -> None:
    """Put new data in the place of the old ones; runs of the old ones go."""
    for run in list(session.runs):
        session.forget(run)
    for name in ("look", "tune"):
        if name in session.jobs:
            session.pool.stop(session.jobs[name])
    old, session.look = session.data, None
    session.asked.clear()
    found = {key: value for key, value in found.items() if key != "warnings"}
    session.data = DataInfo(
        id=number,
        **{
            **found,
            "columns": [say.ColumnInfo(**one) for one in found["columns"]],
            "colours": dict(zip(found["colours"], session.register(list(found["colours"].values())))),
            "picture": session.register(found["picture"]),
            "rows": session.register([found["rows"]])[0] if found["rows"] else None,
        },
    )
    if old is not None:
        shutil.rmtree(session.folder / "data" / old.id, ignore_errors=True)
    session.tell(say.Looked(None))
    session.tell(say.Data(session.data))


async def assign(session: Session, command: say.Assign) -> None:
    """The same source again, with columns in other roles."""
    if session.data is None:
        raise InvalidInput("there are no data yet")
    if session.source is None:
        raise InvalidInput("a saved session holds its data as they were read; open their file to read it another way")
    known = {one.name for one in session.data.columns}
    for name, role in command.roles.items():
        if name not in known or role not in ("data", "label", "colour", "ignored"):
            raise InvalidInput(f"{name!r} cannot be given the role {role!r}")
    header = stored(session.data_folder()).header if command.header == "same" else command.header
    options = {"missing": command.missing, "matrix": command.matrix, "standardize": command.standardize}
    await read(session, session.source, roles=command.roles or None, header=header, **options)


async def open_file(session: Session, path: Path, name: str) -> None:
    """A file of data, or a saved session."""
    if path.suffix == SESSION:
        await reopen(session, path)
    else:
        await read(session, {"kind": "file", "name": name, "path": str(path)})


async def take_upload(session: Session, command: say.Take) -> None:
    """What was uploaded, as the data."""
    await open_file(session, *session.uploads.content(command.batch))
    session.uploads.forget(session.batch)
    session.batch = command.batch  # which can be read again, with other roles


async def reopen(session: Session, path: Path) -> None:
    """A saved session: its data and its runs."""
    number = session.next_name()
    task = {
        "do": "reopen",
        "path": str(path),
        "folder": str(session.folder / "data" / number),
        "columns": str(session.folder / "col"),
        "runs": str(session.folder / "run" / number),
    }
    try:
        found = await session.job("data", task)
    except JobFailed as error:
        raise InvalidInput(str(error)) from None
    _put(session, number, found["data"])
    session.source, session.look = None, found["look"]
    session.tell(say.Looked(session.look))
    for run in found["runs"]:
        _reopened(session, run)
    session.sweep()  # not before: the runs' columns lie there already


def _reopened(session: Session, run: dict[str, Any]) -> None:
    """A run of a saved session."""
    name = session.next_name()
    edges = session.register([run["edges"]])[0] if run["edges"] else None
    info = RunInfo(
        name,
        run["method"],
        run["params"],
        "done",
        session.data.id if session.data else "",
        picture=session.register(run["picture"]),
        facts=run["facts"],
        warnings=run["warnings"],
        edges=edges,
        edges_total=run["edges_total"],
        measured=run["measured"],
        colours=dict(zip(run["colours"], session.register(list(run["colours"].values())))),
        stability=run["stability"],
        placed=run["placed"],
        invertible=run["invertible"],
        stages=[StageInfo(**stage) for stage in run["stages"]],
    )
    session.runs[name], session.out[name] = info, Path(run["out"])
    session.tell(say.Ran(info))


async def colour(session: Session, command: say.Colour) -> Column:
    """A column of the table."""
    from lowfold.studio import _columns

    if command.name not in session.asked:
        values = await asyncio.to_thread(column, session.data_folder(), command.name)
        if values is None:
            raise InvalidInput(f"there is no column {command.name!r}")
        found = await asyncio.to_thread(_columns.any_column, session.folder / "col", values)
        session.columns.add(found.hash)
        session.asked[command.name] = found
    return session.asked[command.name]


async def look(session: Session, command: say.Look) -> None:
    """Dimension and diagnosis, told as they come."""

    def hear(said: dict[str, Any]) -> None:
        session.look = {**said["look"], "done": False}
        session.tell(say.Looked(session.look))

    where = session.where()
    task = {"do": "look", "folder": where["folder"], "stages": where["stages"]}
    found = await session.words(session.job("look", task, hear=hear))
    session.look = {**found, "done": True}
    session.tell(say.Looked(session.look))


async def near(session: Session, command: say.Near) -> Any:
    """The nearest points in data space."""
    task = {"do": "near", "folder": str(session.data_folder()), "row": command.row, "k": max(1, min(command.k, 50))}
    return await session.words(session.job("near", task, lane="ask"))
