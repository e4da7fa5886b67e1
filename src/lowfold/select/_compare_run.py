"""Fits in processes of their own: what each took is its own, and one that takes too much is ended.

A fresh interpreter is started for each run of tasks, and arrays go by files in a private folder: a script needs no
`if __name__ == "__main__"`, and nothing of the parent's memory is counted.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.config import get_config
from lowfold._core.memory import pretty_bytes
from lowfold._core.processes import end_group, resident, shown_words, why_ended
from lowfold.select._worker import Task, build, run

POLL = 0.02  # seconds between looks at a process
START = 600.0  # seconds for loading packages, compiling and warming up, before a process counts as stuck


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one task. `said` is what the worker wrote; see `_worker.run`."""

    status: str
    reason: str
    said: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What one fit may take; None is no limit."""

    seconds: float | None = None
    memory: int | None = None


def run_tasks(
    tasks: Sequence[Task],
    arrays: dict[str, NDArray[Any]],
    limits: Limits,
    done: Callable[[int, Outcome], None] | None = None,
) -> list[Outcome]:
    """Run the tasks in order in worker processes; a new one follows where one had to be ended."""
    found: list[Outcome] = []

    def keep(outcome: Outcome) -> None:
        found.append(outcome)
        if done is not None:
            done(len(found) - 1, outcome)

    with tempfile.TemporaryDirectory(prefix="lowfold-") as name:
        folder = Path(name)
        for file, array in arrays.items():
            np.save(folder / file, array, allow_pickle=False)
        todo = list(tasks)
        while len(found) < len(todo):
            first = len(found)
            (folder / "tasks.pickle").write_bytes(pickle.dumps(todo))
            process = _start(folder, first, limits)
            try:
                for number in range(first, len(todo)):
                    outcome = _await(process, folder, number, limits)
                    if outcome.status == "over time to choose":  # fitted with what it has instead
                        todo[number] = replace(todo[number], tune=None)
                        for old in folder.glob(f"{number}.*"):
                            old.unlink()
                        break
                    keep(outcome)
                    if process.poll() is not None:
                        break
            finally:
                _end(process)
    return found


def run_here(task: Task, model: Any, X: NDArray[Any], y: NDArray[Any] | None, why: str) -> Outcome:
    """The same in this process, where a model cannot be sent to another one; nothing can end it."""
    said, arrays = run(task, model, X, y, lambda what: None)
    said["memory_mb"] = None
    return Outcome(said["status"], shown_words(said["reason"]), said, arrays, (why,))


def build_here(task: Task) -> Any:
    """The model of a task, in this process."""
    return build(task)


def sendable(model: Any) -> bytes | None:
    """The model as bytes for another process; None where pickle cannot, or where its class is in a script."""
    if type(model).__module__ == "__main__":
        return None
    try:
        return pickle.dumps(model)
    except Exception:  # noqa: BLE001 - pickle raises whatever the object's own code raises
        return None


def _start(folder: Path, first: int, limits: Limits) -> subprocess.Popen[bytes]:
    memory = limits.memory or get_config().memory
    path = os.pathsep.join(part or str(Path.cwd()) for part in sys.path)
    environment = {**os.environ, "LOWFOLD_MEMORY": str(memory), "PYTHONPATH": path}
    with (folder / "stderr.txt").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "lowfold.select._worker", str(folder), str(first)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            start_new_session=os.name == "posix",  # so that whatever it starts can be ended with it
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        end_group(process.pid)
    process.wait()


def _await(process: subprocess.Popen[bytes], folder: Path, number: int, limits: Limits) -> Outcome:
    """Wait for one task of a running worker, or end it."""
    result = folder / f"{number}.json"
    phase, since = "starting", time.monotonic()
    while True:
        alive = process.poll() is None
        if result.exists():
            return _read(folder, number)
        if not alive:
            errors = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")
            return Outcome("failed", why_ended(process.returncode, errors))
        now = time.monotonic()
        for begun in ("choosing", "fitting"):
            if phase != begun and (folder / f"{number}.{begun}").exists() and phase != "fitting":
                phase, since = begun, now
        allowed = START if phase == "starting" else limits.seconds
        if allowed is not None and now - since > allowed:
            _end(process)
            if phase == "choosing":
                return Outcome("over time to choose", "")
            what = "the fit" if phase == "fitting" else "loading and warming up"
            return Outcome("over budget", f"{what} took longer than {allowed:g} seconds and was ended")
        used = resident(process.pid) if limits.memory is not None else 0
        if limits.memory is not None and used > limits.memory:
            _end(process)
            return Outcome(
                "over memory",
                f"the process reached {pretty_bytes(used)}, more than the {pretty_bytes(limits.memory)} allowed, "
                "and was ended",
            )
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL)


def _read(folder: Path, number: int) -> Outcome:
    said = json.loads((folder / f"{number}.json").read_text(encoding="utf-8"))
    with np.load(folder / f"{number}.npz", allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    said["warnings"] = [shown_words(words) for words in said["warnings"]]
    return Outcome(said["status"], shown_words(said["reason"]), said, arrays)
