"""The state behind the page: data, runs and what is known of them; every command of the page is done here."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import pretty_bytes
from lowfold.methods.registry import BY_NAME, REGISTRY
from lowfold.studio import _protocol as say
from lowfold.studio._jobs import Job, JobFailed, Pool
from lowfold.studio._protocol import Column, DataInfo, MethodInfo, RunInfo, StageInfo

MOST_POINTS = 2_000_000  # of a built-in set
MOST_FILES = 20_000  # of one upload
ASKED_AT_ONCE = 60  # places of one question to the model
MOST_RUNS = 60  # that stay side by side
ENDINGS = {"csv": "csv", "parquet": "parquet", "rows": "csv", "model": "lowfold", "report": "html", "session": "studio"}
SESSION = ".studio"


class Session:
    """One person's work: everything is in `folder`, which the server removes when it ends."""

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder, self.memory = folder, memory
        for name in ("col", "data", "run", "up", "out", "stages"):
            (folder / name).mkdir()
        self.pool = Pool(folder, memory)
        self.listeners: set[asyncio.Queue[str]] = set()
        self.data: DataInfo | None = None
        self.source: dict[str, Any] | None = None
        self.look: dict[str, Any] | None = None
        self.methods = [MethodInfo(e.name, e.family, e.line, e.citation, "", []) for e in REGISTRY]
        self.runs: dict[str, RunInfo] = {}
        self.out: dict[str, Path] = {}
        self.jobs: dict[str, Job] = {}
        self.columns: set[str] = set()
        self.batches: dict[str, int] = {}
        self.files: dict[str, tuple[Path, str]] = {}
        self.trouble = ""
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # Talking --------------------------------------------------------------------------------------------------------

    def tell(self, event: say.Event) -> None:
        """Say something to every page."""
        text = say.encode(event)
        for queue in self.listeners:
            queue.put_nowait(text)

    def hello(self) -> say.Hello:
        """Everything there is."""
        from lowfold import __version__
        from lowfold.datasets._table import SURFACES

        sets = [{"name": "digits", "line": "1,797 images of handwritten digits, 8 x 8"}]
        sets += [{"name": name, "line": entry.description} for name, entry in SURFACES.items()]
        runs = list(self.runs.values())
        return say.Hello(
            __version__, self.data, self.look, runs, self.methods, sets, self.memory, self._busy(), self.memory
        )

    def _busy(self) -> list[str]:
        return [name for name in self.jobs if name not in self.runs]

    async def do(self, command: say.Command) -> Any:
        """Do a command and return its result; what cannot be done is raised in words."""
        action: Callable[[Any], Coroutine[Any, Any, Any]] = getattr(self, f"_{type(command).__name__.lower()}")
        return await action(command)

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Go on with something that nobody waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        """What nobody waited for may have failed: a job that was stopped is no news, anything else is a defect."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, JobFailed):
            self.tell(say.Refused(0, f"this is a defect of lowfold: {type(error).__name__}: {error}"))

    async def close(self) -> None:
        """End everything."""
        await self.pool.close()
        for task in list(self._tasks):
            task.cancel()

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def _job(self, name: str, task: dict[str, Any], **options: Any) -> dict[str, Any]:
        """A task under a name by which it can be stopped; another one of that name is ended first."""
        if name in self.jobs:
            self.pool.stop(self.jobs[name])
        job = self.pool.submit(name, task, **options)
        self.jobs[name] = job
        self.tell(say.Busy(self._busy()))
        try:
            return await job.done
        finally:
            if self.jobs.get(name) is job:
                del self.jobs[name]
            self.tell(say.Busy(self._busy()))

    async def warm(self) -> None:
        """Load the methods and their controls."""
        self.pool.warm()
        found = await self._job("methods", {"do": "catalogue"}, lane="ask")
        cards = [{**one, "controls": [say.Control(**c) for c in one["controls"]]} for one in found["methods"]]
        self.methods = [MethodInfo(**card) for card in cards]
        self.tell(say.Methods(self.methods))

    def _where(self) -> dict[str, str]:
        return {
            "folder": str(self._folder()),
            "columns": str(self.folder / "col"),
            "stages": str(self.folder / "stages"),
        }

    def _folder(self) -> Path:
        if self.data is None:
            raise InvalidInput("there are no data yet; load a file or a built-in set first")
        return self.folder / "data" / self.data.id

    def _register(self, columns: list[dict[str, Any]]) -> list[Column]:
        found = [Column(**one) for one in columns]
        self.columns |= {one.hash for one in found}
        return found

    # Data -----------------------------------------------------------------------------------------------------------

    async def open_file(self, path: Path) -> None:
        """The file that was named at the start."""
        if path.suffix == SESSION:
            await self._reopen(path)
        else:
            await self._read({"kind": "file", "name": path.name, "path": str(path)})

    async def _open(self, command: say.Open) -> None:
        from lowfold.datasets._table import SURFACES

        if command.name != "digits" and command.name not in SURFACES:
            raise InvalidInput(f"there is no built-in set {command.name!r}")
        if not (3 <= command.n <= MOST_POINTS and command.noise >= 0 and command.seed >= 0):
            raise InvalidInput(f"a set has 3 to {MOST_POINTS:,} points, noise and seed of at least 0")
        known = {"n": command.n, "noise": command.noise, "seed": command.seed}
        await self._read({"kind": "set", "name": command.name, **({} if command.name == "digits" else known)})

    async def _read(self, source: dict[str, Any], **options: Any) -> None:
        number = self._next()
        folder = self.folder / "data" / number
        task = {"do": "read", "source": source, "folder": str(folder), "columns": str(self.folder / "col"), **options}
        try:
            found = await self._job("data", task)
        except JobFailed as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise InvalidInput(str(error)) from None
        self._take_data(number, found)
        self.source = source

    def _take_data(self, number: str, found: dict[str, Any]) -> None:
        """Put new data in the place of the old ones; runs of the old ones go."""
        for run in list(self.runs):
            self._forget(run)
        for name in ("look", "tune"):
            if name in self.jobs:
                self.pool.stop(self.jobs[name])
        old, self.look = self.data, None
        found = {key: value for key, value in found.items() if key != "warnings"}
        self.data = DataInfo(
            id=number,
            **{
                **found,
                "columns": [say.ColumnInfo(**one) for one in found["columns"]],
                "colours": dict(zip(found["colours"], self._register(list(found["colours"].values())))),
                "picture": self._register(found["picture"]),
            },
        )
        if old is not None:
            shutil.rmtree(self.folder / "data" / old.id, ignore_errors=True)
        self.tell(say.Looked(None))
        self.tell(say.Data(self.data))
        self._sweep()

    def _sweep(self) -> None:
        """Remove columns that nothing shows any more."""
        shown = [*self.data.colours.values(), *self.data.picture] if self.data else []
        for run in self.runs.values():
            shown += [*run.picture, *run.colours.values(), *([run.edges] if run.edges else [])]
        kept = {one.hash for one in shown}
        for file in (self.folder / "col").iterdir():
            if file.name not in kept and not self.jobs:
                file.unlink(missing_ok=True)
                self.columns.discard(file.name)

    async def _assign(self, command: say.Assign) -> None:
        if self.data is None or self.source is None:
            raise InvalidInput("there are no data yet")
        known = {one.name for one in self.data.columns}
        for name, role in command.roles.items():
            if name not in known or role not in ("data", "label", "colour", "ignored"):
                raise InvalidInput(f"{name!r} cannot be given the role {role!r}")
        await self._read(self.source, roles=command.roles, missing=command.missing, matrix=command.matrix)

    async def _batch(self, command: say.Batch) -> dict[str, str]:
        name = secrets.token_hex(8)
        (self.folder / "up" / name).mkdir()
        self.batches[name] = 0
        return {"batch": name}

    def upload_target(self, batch: str, name: str) -> Path:
        """Where a file of an upload is put: in the batch's own folder, under a name made harmless."""
        if batch not in self.batches:
            raise InvalidInput("there is no such upload")
        folder = self.folder / "up" / batch
        if sum(1 for _ in folder.rglob("*")) >= MOST_FILES:
            raise InvalidInput(f"an upload has at most {MOST_FILES:,} files")
        parts = [re.sub(r"[^\w .()+-]", "_", part)[-80:].strip(". ") or "_" for part in name.split("/")[-2:]]
        target = folder.joinpath(*parts)
        target.parent.mkdir(exist_ok=True)
        return target

    def count_upload(self, batch: str, n_bytes: int) -> None:
        """Refuse an upload that grows beyond the budget."""
        self.batches[batch] += n_bytes
        if self.batches[batch] > self.memory:
            raise InvalidInput(f"the upload is larger than the memory budget of {pretty_bytes(self.memory)}")

    def _uploaded(self, batch: str) -> tuple[Path, str]:
        """What of a batch is read, and its name: the only file, the header of a cube, or the folder."""
        if batch not in self.batches:
            raise InvalidInput("there is no such upload")
        folder = self.folder / "up" / batch
        files = [file for file in folder.rglob("*") if file.is_file()]
        if not files:
            raise InvalidInput("the upload holds no file")
        header = next((file for file in files if file.suffix.lower() == ".hdr"), None)
        if len(files) == 1 or header is not None:
            return (header or files[0]), (header or files[0]).name
        inner = list(folder.iterdir())
        return (inner[0], inner[0].name) if len(inner) == 1 and inner[0].is_dir() else (folder, "folder")

    async def _take(self, command: say.Take) -> None:
        path, name = self._uploaded(command.batch)
        if path.suffix == SESSION:
            await self._reopen(path)
        else:
            await self._read({"kind": "file", "name": name, "path": str(path)})

    async def _reopen(self, path: Path) -> None:
        number = self._next()
        task = {
            "do": "reopen",
            "path": str(path),
            "folder": str(self.folder / "data" / number),
            "columns": str(self.folder / "col"),
            "runs": str(self.folder / "run" / number),
        }
        try:
            found = await self._job("data", task)
        except JobFailed as error:
            raise InvalidInput(str(error)) from None
        self._take_data(number, found["data"])
        self.source = None
        for run in found["runs"]:
            self._reopened(run)

    def _reopened(self, run: dict[str, Any]) -> None:
        name = self._next()
        edges = self._register([run["edges"]])[0] if run["edges"] else None
        info = RunInfo(
            name,
            run["method"],
            run["params"],
            "done",
            self.data.id if self.data else "",
            picture=self._register(run["picture"]),
            facts=run["facts"],
            warnings=run["warnings"],
            edges=edges,
            edges_total=run["edges_total"],
            measured=run["measured"],
            colours=dict(zip(run["colours"], self._register(list(run["colours"].values())))),
            stability=run["stability"],
            invertible=run["invertible"],
            stages=[StageInfo(**stage) for stage in run["stages"]],
        )
        self.runs[name], self.out[name] = info, Path(run["out"])
        self.tell(say.Ran(info))

    async def _colour(self, command: say.Colour) -> Column:
        from lowfold.studio import _columns
        from lowfold.studio._stored import column

        folder = self._folder()
        values = await asyncio.to_thread(column, folder, command.name)
        if values is None:
            raise InvalidInput(f"there is no column {command.name!r}")
        found = await asyncio.to_thread(_columns.any_column, self.folder / "col", values)
        self.columns.add(found.hash)
        return found

    async def _look(self, command: say.Look) -> None:
        def hear(said: dict[str, Any]) -> None:
            self.look = {**said["look"], "done": False}
            self.tell(say.Looked(self.look))

        where = self._where()
        task = {"do": "look", "folder": where["folder"], "stages": where["stages"]}
        found = await self._words(self._job("look", task, hear=hear))
        self.look = {**found, "done": True}
        self.tell(say.Looked(self.look))

    async def _near(self, command: say.Near) -> Any:
        task = {"do": "near", "folder": str(self._folder()), "row": command.row, "k": max(1, min(command.k, 50))}
        return await self._words(self._job("near", task, lane="ask"))

    async def _words(self, job: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
        try:
            return await job
        except JobFailed as error:
            raise InvalidInput(str(error)) from None

    # Methods --------------------------------------------------------------------------------------------------------

    def _method(self, name: str) -> str:
        if name not in BY_NAME:
            raise InvalidInput(f"there is no method {name!r}")
        return name

    async def _plan(self, command: say.Plan) -> Any:
        where = self._where()
        task: dict[str, Any] = {"do": "plan", "folder": where["folder"], "stages": where["stages"]}
        task |= {"method": self._method(command.method), "params": command.params}
        return await self._words(self._job(f"plan {command.method}", task, lane="ask"))

    async def _tune(self, command: say.Tune) -> Any:
        where = self._where()
        task: dict[str, Any] = {"do": "tune", "folder": where["folder"], "stages": where["stages"]}
        task |= {"method": self._method(command.method), "params": command.params}
        return await self._words(self._job("tune", task))

    async def _start(self, command: say.Start) -> dict[str, str]:
        if len(self.runs) >= MOST_RUNS:
            raise InvalidInput(f"{MOST_RUNS} runs are here already; remove some first")
        where = self._where()
        name = self._next()
        assert self.data is not None
        run = RunInfo(name, self._method(command.method), command.params, "waiting", self.data.id)
        self.runs[name], self.out[name] = run, self.folder / "run" / name
        self.soon(self._run(run, where))
        self.tell(say.Ran(run))
        return {"run": name}

    async def _run(self, run: RunInfo, where: dict[str, str]) -> None:
        """Fit, show, then measure."""
        task = {**where, "out": str(self.out[run.id]), "params": run.params}
        try:
            found = await self._job(
                run.id,
                {"do": "fit", "method": run.method, **task},
                hear=lambda said: self._heard(run, said),
                begun=lambda: self._begun(run),
                silent=lambda seconds: self._silent(run, seconds),
            )
        except JobFailed as error:
            run.status, run.reason, run.silent = ("stopped" if error.status == "stopped" else "failed"), str(error), 0.0
            run.stages = [stage for stage in run.stages if stage.seconds is not None or stage.kept]
            self._told(run)
            return
        run.status, run.preview, run.silent = "done", 0, 0.0
        run.picture, run.facts, run.warnings = self._register(found["picture"]), found["facts"], found["warnings"]
        run.invertible = found["invertible"]
        if "edges" in found:
            run.edges, run.edges_total = self._register([found["edges"]])[0], found["edges_total"]
        self._colours(run, found)
        self._told(run)
        await self._measured(run, {"do": "measure", **task})

    async def _measured(self, run: RunInfo, task: dict[str, Any]) -> None:
        try:
            found = await self._job(run.id, task)
            run.measured = found["measured"]
            self._colours(run, found)
        except JobFailed as error:
            run.measured = {"failed": str(error)}
        self._told(run)

    def _told(self, run: RunInfo) -> None:
        if run.id in self.runs:
            self.tell(say.Ran(run))

    def _colours(self, run: RunInfo, found: dict[str, Any]) -> None:
        colours = found.get("colours", {})
        run.colours |= dict(zip(colours, self._register(list(colours.values()))))

    def _begun(self, run: RunInfo) -> None:
        run.status = "running"
        self._told(run)

    def _silent(self, run: RunInfo, seconds: float) -> None:
        if int(seconds) != int(run.silent):
            run.silent = seconds
            self._told(run)

    def _heard(self, run: RunInfo, said: dict[str, Any]) -> None:
        """Progress of a run: a stage, or a picture on the way."""
        if said["event"] == "picture":
            run.picture, run.preview = self._register(said["picture"]), said["preview"]
            run.facts = {**run.facts, **said.get("told", {})}
        else:
            now = StageInfo(
                said["name"], said.get("seconds"), said.get("share"), said.get("bytes"), bool(said.get("kept"))
            )
            open_ = [i for i, s in enumerate(run.stages) if s.name == now.name and s.seconds is None and not s.kept]
            if open_ and not now.kept:
                run.stages[open_[-1]] = replace(now, share=now.share if now.seconds is None else None)
            else:
                run.stages.append(now)
        self._told(run)

    async def _stop(self, command: say.Stop) -> None:
        job = self.jobs.get(command.what)
        if job is not None:
            self.pool.stop(job)

    async def _remove(self, command: say.Remove) -> None:
        self._one(command.run)
        self._forget(command.run)
        self._sweep()

    def _forget(self, name: str) -> None:
        run = self.runs.pop(name)
        if name in self.jobs:
            self.pool.stop(self.jobs[name])
        shutil.rmtree(self.out.pop(name), ignore_errors=True)
        self.tell(say.Gone(run.id))

    def _one(self, name: str) -> RunInfo:
        if name not in self.runs:
            raise InvalidInput("this run is not here any more")
        return self.runs[name]

    # Asking and taking home -----------------------------------------------------------------------------------------

    def _finished(self, name: str) -> RunInfo:
        run = self._one(name)
        if run.status != "done":
            raise InvalidInput(f"this run is {run.status}; only one that is done can be asked")
        return run

    async def _stability(self, command: say.Stability) -> None:
        run = self._finished(command.run)
        task = {"do": "steady", **self._where(), "method": run.method, "params": run.params}
        found = await self._words(self._job(f"stability {run.id}", task))
        run.stability = found["stability"]
        self._colours(run, found)
        self._told(run)

    async def _place(self, command: say.Place) -> None:
        run = self._finished(command.run)
        path, name = self._uploaded(command.batch)
        task = {"do": "place", "folder": str(self._folder()), "out": str(self.out[run.id]), "path": str(path)}
        found = await self._words(self._job("place", task, lane="ask"))
        run.placed = [*run.placed, {**found, "name": name}]
        self._told(run)

    async def _invert(self, command: say.Invert) -> Any:
        run = self._finished(command.run)
        points = command.points
        if not 1 <= len(points) <= ASKED_AT_ONCE or any(len(one) not in (1, 2, 3) for one in points):
            raise InvalidInput(f"1 to {ASKED_AT_ONCE} places of 1 to 3 coordinates can be asked for at once")
        task = {"do": "invert", "out": str(self.out[run.id]), "points": points}
        return await self._words(self._job("invert", task, lane="ask"))

    async def _export(self, command: say.Export) -> Any:
        folder = self._folder()
        run = self._finished(command.run) if command.what in ("csv", "parquet", "model") else None
        done = [one for one in self.runs.values() if one.status == "done"]
        if command.what == "report" and not done:
            raise InvalidInput("a report needs at least one run that is done")
        name = f"{secrets.token_hex(8)}.{ENDINGS[command.what]}"
        target = self.folder / "out" / name
        task = {
            "do": "export",
            "what": command.what,
            "folder": str(folder),
            "out": str(self.out[run.id]) if run else "",
            "target": str(target),
            "rows": command.rows,
            "run": say._plain(run) if run else {},
            "runs": [self._whole(one, number) for number, one in enumerate(done)],
        }
        found = await self._words(self._job("export", task, lane="ask"))
        assert self.data is not None
        stem = re.sub(r"[^\w-]", "_", Path(self.data.name).stem)
        shown = stem + (f"-{run.method}" if run else "-rows" if command.what == "rows" else "")
        key = secrets.token_hex(16)
        self.files[key] = (target, f"{shown}.{ENDINGS[command.what]}")
        return {"address": f"/file/{key}", "name": self.files[key][1], "bytes": found["bytes"]}

    def _whole(self, run: RunInfo, number: int) -> dict[str, Any]:
        plain: dict[str, Any] = say._plain(run)
        title = f"{run.method} {number + 1}"
        return {**plain, "title": title, "out": str(self.out[run.id]), "columns": str(self.folder / "col")}

    async def _recipe(self, command: say.Recipe) -> dict[str, str]:
        from lowfold.studio import _recipe
        from lowfold.studio._stored import stored

        run, known = self._finished(command.run), stored(self._folder())
        return {
            "python": _recipe.python(known, run.method, run.params),
            "command": _recipe.command(known, run.method, run.params),
        }

    def _next(self) -> str:
        self._number += 1
        return str(self._number)
