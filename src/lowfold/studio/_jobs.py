"""Jobs in processes of their own: started warm, watched, ended.

A worker is `python -m lowfold.studio._job`. It takes one task after the other as a line of JSON; what it has to say
comes back the same way. Cancelling is ending the process: the next task gets a new one. Nothing that a task does can
end the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowfold._core.memory import pretty_bytes
from lowfold._core.processes import end_group, processor_seconds, resident, shown_words, why_ended

LOOK = 0.1  # seconds between looks at a process
LINE = 64_000_000  # bytes of the longest answer
LARGE = 1_000_000_000  # a worker that holds more after its task is not used again
SILENT = 10.0  # seconds without processor time after which a job is said to hang
HANGING = 120.0  # and after which it is ended
# A worker of the first lane serves what a person waits for with the pointer in the picture; the second computes, and
# steps back (as nice(1) counts) behind the server, the page and the first.
LANES = {"ask": 1, "work": 2}
NICE = {"ask": 0, "work": 5}
# Loading the methods takes seconds of a processor. Until there is a worker for questions, the one that computes answers
# them when it is free; the second process is started when that one has been busy for so many seconds.
LENT = 2.0

Listener = Callable[[dict[str, Any]], None]


@dataclass(eq=False)
class Job:
    """One task, and what became of it. `done` is set with the result or with the reason."""

    name: str
    task: dict[str, Any]
    lane: str
    hear: Listener | None
    done: asyncio.Future[dict[str, Any]]
    worker: Worker | None = None
    begun: Callable[[], None] | None = None
    silent: Callable[[float], None] | None = None


class JobFailed(Exception):
    """A task that has no result; `status` is "failed" or "stopped", the words say why."""

    def __init__(self, words: str, status: str = "failed") -> None:
        super().__init__(words)
        self.status = status


@dataclass(eq=False)
class Worker:
    """One process."""

    process: asyncio.subprocess.Process
    errors: Any
    lane: str
    job: Job | None = None
    why: JobFailed | None = None
    watching: list[asyncio.Task[None]] = field(default_factory=list)

    def end(self, why: JobFailed | None = None) -> None:
        """End the process and what it has started."""
        self.why = self.why or why
        if self.process.returncode is None:
            end_group(self.process.pid)

    def last_words(self) -> str:
        self.errors.seek(0)
        return str(self.errors.read()[-4000:].decode("utf-8", "replace"))


class Pool:
    """Workers by lane, and the tasks that wait for one."""

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self.workers: list[Worker] = []
        self.waiting: deque[Job] = deque()
        self.closed = False
        self._starting: dict[str, int] = dict.fromkeys(LANES, 0)
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(
        self,
        name: str,
        task: dict[str, Any],
        *,
        lane: str = "work",
        hear: Listener | None = None,
        begun: Callable[[], None] | None = None,
        silent: Callable[[float], None] | None = None,
    ) -> Job:
        """Queue a task; await `job.done`."""
        job = Job(name, task, lane, hear, asyncio.get_running_loop().create_future(), begun=begun, silent=silent)
        job.done.add_done_callback(lambda future: future.cancelled() or future.exception())  # nobody may be waiting
        self.waiting.append(job)
        self._serve()
        return job

    def stop(self, job: Job) -> None:
        """End a job, wherever it is."""
        words = JobFailed("stopped", "stopped")
        if job in self.waiting:
            self.waiting.remove(job)
            job.done.set_exception(words)
        elif job.worker is not None:
            job.worker.end(words)
            _fail(job, words)

    def leave(self, job: Job) -> None:
        """Nobody waits for it any more. One that a person asked with the pointer ends sooner than a process starts."""
        if job.lane == "work" or job.worker is None:
            self.stop(job)
        else:
            _fail(job, JobFailed("stopped", "stopped"))

    def warm(self, *lanes: str) -> None:
        """Have a worker ready in these lanes, or in every one."""
        for lane in lanes or LANES:
            if not self._free(lane) and self._have(lane) < LANES[lane]:
                self._start(lane)

    async def close(self) -> None:
        """End every process and wait for it."""
        self.closed = True
        for job in list(self.waiting):
            self.stop(job)
        for task in list(self._tasks):
            task.cancel()
        for worker in list(self.workers):
            worker.end(JobFailed("stopped", "stopped"))
        for worker in list(self.workers):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(worker.process.wait(), 5)
            for watch in worker.watching:
                watch.cancel()

    # Serving --------------------------------------------------------------------------------------------------------

    def _free(self, lane: str) -> list[Worker]:
        mine = [worker for worker in self.workers if worker.lane == lane and worker.job is None]
        return [worker for worker in mine if worker.process.returncode is None and worker.why is None]

    def _have(self, lane: str) -> int:
        """Workers of a lane that live or are being started."""
        return sum(w.lane == lane and w.process.returncode is None for w in self.workers) + self._starting[lane]

    def _serve(self) -> None:
        """Give waiting jobs to free workers, computing before questions; start workers where there is room."""
        for job in sorted(self.waiting, key=lambda job: job.lane == "ask"):
            free = self._free(job.lane)
            if not free and job.lane == "ask" and not self._have("ask"):
                free = self._free("work")
            if free:
                self.waiting.remove(job)
                self._give(free[0], job)
        lent = sum(w.lane == "work" and w.job is not None and w.job.lane == "ask" for w in self.workers)
        wanted = sum(job.lane == "work" for job in self.waiting) - lent - self._starting["work"]
        for _ in range(min(LANES["work"] - self._have("work"), wanted)):
            self._start("work")
        if any(job.lane == "ask" for job in self.waiting) and not self._have("work"):
            self.warm("ask")

    def _start(self, lane: str) -> None:
        if self.closed or self._starting[lane]:
            return
        self._starting[lane] += 1
        task = asyncio.get_running_loop().create_task(self._started(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _started(self, lane: str) -> None:
        errors = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 - lives as long as the worker
        path = os.pathsep.join(part or str(Path.cwd()) for part in sys.path)
        environment = {**os.environ, "LOWFOLD_MEMORY": str(self.memory), "PYTHONPATH": path}
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-W", "ignore", "-m", "lowfold.studio._job", str(NICE[lane]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=environment,
                limit=LINE,
                start_new_session=os.name == "posix",  # so that whatever it starts can be ended with it
            )  # fmt: skip
        finally:
            self._starting[lane] -= 1
        worker = Worker(process, errors, lane)
        self.workers.append(worker)
        loop = asyncio.get_running_loop()
        worker.watching = [loop.create_task(self._listen(worker)), loop.create_task(self._watch(worker))]
        if self.closed:
            worker.end()
        self._serve()

    def _give(self, worker: Worker, job: Job) -> None:
        worker.job, job.worker = job, worker
        asyncio.get_running_loop().call_later(LENT, self._busy, worker, job)
        assert worker.process.stdin is not None
        worker.process.stdin.write(json.dumps(job.task).encode() + b"\n")
        if job.begun is not None:
            job.begun()

    def _busy(self, worker: Worker, job: Job) -> None:
        """Have a worker for questions where this one is still at its job."""
        if worker.job is job and not self.closed:
            self.warm("ask")

    async def _listen(self, worker: Worker) -> None:
        """What a worker says, until it ends; then why it ended."""
        assert worker.process.stdout is not None
        while line := await worker.process.stdout.readline():
            said = json.loads(line)
            job = worker.job
            if job is None:
                continue
            if said["event"] in ("done", "failed"):
                worker.job = None
                if said["event"] == "failed":
                    _fail(job, JobFailed(shown_words(said["reason"])))
                elif not job.done.done():
                    job.done.set_result(said["result"])
                if resident(worker.process.pid) > LARGE:
                    worker.end(JobFailed("grown"))
                self._serve()
            elif job.hear is not None and not job.done.done():
                job.hear(said)
        code = await worker.process.wait()
        self.workers.remove(worker)
        job, worker.job = worker.job, None
        if job is not None:
            _fail(job, worker.why or JobFailed(why_ended(code, worker.last_words())))
        worker.errors.close()
        if not self.closed:
            self.warm()
            self._serve()

    async def _watch(self, worker: Worker) -> None:
        """Memory, and whether it still computes."""
        used, since = -1.0, time.monotonic()
        while worker.process.returncode is None:
            await asyncio.sleep(LOOK)
            job = worker.job
            if job is None:
                used = -1.0
                continue
            held = resident(worker.process.pid)
            if held > self.memory:
                worker.end(JobFailed(
                    f"the process reached {pretty_bytes(held)}, more than the {pretty_bytes(self.memory)} allowed, and "
                    "was ended; `plan` says beforehand what a method needs"
                ))  # fmt: skip
                continue
            now, spent = time.monotonic(), processor_seconds(worker.process.pid)
            if spent is None or spent != used:
                if job.silent is not None and now - since > SILENT:
                    job.silent(0.0)
                used, since = spent if spent is not None else -1.0, now
            elif now - since > HANGING:
                worker.end(JobFailed(f"it had not computed for {HANGING:.0f} seconds and was ended"))
            elif job.silent is not None and now - since > SILENT:
                job.silent(now - since)


def _fail(job: Job, words: JobFailed) -> None:
    if not job.done.done():
        job.done.set_exception(words)
