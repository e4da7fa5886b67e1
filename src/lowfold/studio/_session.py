"""The state behind the page: data, runs, and the jobs that are under way. `_commands` does what the page asks for."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import REGISTRY
from lowfold.studio import _catalogue
from lowfold.studio import _protocol as say
from lowfold.studio._jobs import Job, JobFailed, Pool
from lowfold.studio._protocol import Column, DataInfo, MethodInfo, RunInfo
from lowfold.studio._uploads import Uploads
from lowfold.studio._wire import encode

LATER = 10.0  # seconds until a worker for short answers is started unasked: the first picture comes before


class Session:
    """One person's work: everything is in `folder`, which the server removes when it ends."""

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder, self.memory = folder, memory
        for name in ("col", "data", "run", "out", "stages"):
            (folder / name).mkdir()
        self.pool = Pool(folder, memory)
        self.uploads = Uploads(folder / "up", memory)
        self.listeners: set[asyncio.Queue[str]] = set()
        self.data: DataInfo | None = None
        self.source: dict[str, Any] | None = None
        self.batch = ""  # the upload that the data come from
        self.look: dict[str, Any] | None = None
        self.methods = [MethodInfo(e.name, e.family, e.line, e.citation, "", []) for e in REGISTRY]
        self.runs: dict[str, RunInfo] = {}
        self.out: dict[str, Path] = {}
        self.jobs: dict[str, Job] = {}
        self.columns: set[str] = set()
        self.asked: dict[str, Column] = {}  # columns of the data that the page wanted to colour by
        self.files: dict[str, tuple[Path, str]] = {}
        self.trouble = ""
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # Talking ----------------------------------------------------------------------------------------------------------

    def tell(self, event: say.Event) -> None:
        """Say something to every page."""
        text = encode(event)
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

    # Jobs -------------------------------------------------------------------------------------------------------------

    async def job(self, name: str, task: dict[str, Any], **options: Any) -> dict[str, Any]:
        """A task under a name by which it can be stopped; another one of that name is not waited for any more."""
        if name in self.jobs:
            self.pool.leave(self.jobs[name])
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
        """Have the methods' controls, and a worker ready in every lane."""
        self.pool.warm("work")
        cards = _catalogue.kept()
        if cards is None:
            cards = (await self.job("methods", {"do": "catalogue"}, lane="ask"))["methods"]
            _catalogue.keep(cards)
        self.methods = [MethodInfo(**{**one, "controls": [say.Control(**c) for c in one["controls"]]}) for one in cards]
        self.tell(say.Methods(self.methods))
        await asyncio.sleep(LATER)
        self.pool.warm("ask")

    # Data and runs ----------------------------------------------------------------------------------------------------

    def where(self) -> dict[str, str]:
        """Where a job finds the data, writes columns and keeps stages."""
        return {
            "folder": str(self.data_folder()),
            "columns": str(self.folder / "col"),
            "stages": str(self.folder / "stages"),
        }

    def data_folder(self) -> Path:
        """The folder of the data that are loaded."""
        if self.data is None:
            raise InvalidInput("there are no data yet; load a file or a built-in set first")
        return self.folder / "data" / self.data.id

    def register(self, columns: list[dict[str, Any]]) -> list[Column]:
        """Columns that the page may fetch from now on."""
        found = [Column(**one) for one in columns]
        self.columns |= {one.hash for one in found}
        return found

    def sweep(self) -> None:
        """Remove columns that nothing shows any more."""
        shown = [*self.asked.values()]
        if self.data:
            shown += [*self.data.colours.values(), *self.data.picture, *([self.data.rows] if self.data.rows else [])]
        for run in self.runs.values():
            shown += [*run.picture, *run.colours.values(), *([run.edges] if run.edges else [])]
        kept = {one.hash for one in shown}
        for file in (self.folder / "col").iterdir():
            if file.name not in kept and not self.jobs:
                file.unlink(missing_ok=True)
                self.columns.discard(file.name)

    async def words(self, job: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
        """The result of a job whose failure is the answer to a command."""
        try:
            return await job
        except JobFailed as error:
            raise InvalidInput(str(error)) from None

    def told(self, run: RunInfo) -> None:
        """Say that a run has changed, unless it was removed meanwhile."""
        if run.id in self.runs:
            self.tell(say.Ran(run))

    def add_colours(self, run: RunInfo, found: dict[str, Any]) -> None:
        """Let a run be coloured by what a job has found."""
        colours = found.get("colours", {})
        run.colours |= dict(zip(colours, self.register(list(colours.values()))))

    def forget(self, name: str) -> None:
        """End a run and remove its files."""
        run = self.runs.pop(name)
        if name in self.jobs:
            self.pool.stop(self.jobs[name])
        shutil.rmtree(self.out.pop(name), ignore_errors=True)
        self.tell(say.Gone(run.id))

    def one(self, name: str) -> RunInfo:
        """The run of that name."""
        if name not in self.runs:
            raise InvalidInput("this run is not here any more")
        return self.runs[name]

    def next_name(self) -> str:
        """A name that nothing had before."""
        self._number += 1
        return str(self._number)
