"""Commands about runs: what one would need, choose its parameters, start, stop and forget it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import BY_NAME
from lowfold.studio import _protocol as say
from lowfold.studio._jobs import JobFailed
from lowfold.studio._protocol import RunInfo, StageInfo
from lowfold.studio._session import Session

MOST_RUNS = 60  # that stay side by side


def _method(name: str) -> str:
    if name not in BY_NAME:
        raise InvalidInput(f"there is no method {name!r}")
    return name


async def plan(session: Session, command: say.Plan) -> Any:
    """What a method would need."""
    return await session.words(session.job(f"plan {command.method}", _task(session, "plan", command), lane="ask"))


def _task(session: Session, do: str, command: say.Plan | say.Tune) -> dict[str, Any]:
    where = session.where()
    known = {"folder": where["folder"], "stages": where["stages"]}
    return {"do": do, **known, "method": _method(command.method), "params": command.params}


async def tune(session: Session, command: say.Tune) -> Any:
    """The parameters that `tune` chooses."""
    return await session.words(session.job("tune", {**_task(session, "tune", command), "names": command.names}))


async def start(session: Session, command: say.Start) -> dict[str, str]:
    """A run, which goes on by itself."""
    if len(session.runs) >= MOST_RUNS:
        raise InvalidInput(f"{MOST_RUNS} runs are here already; remove some first")
    where = session.where()
    name = session.next_name()
    assert session.data is not None
    run = RunInfo(name, _method(command.method), command.params, "waiting", session.data.id)
    session.runs[name], session.out[name] = run, session.folder / "run" / name
    session.soon(_run(session, run, where))
    session.tell(say.Ran(run))
    return {"run": name}


async def _run(session: Session, run: RunInfo, where: dict[str, str]) -> None:
    """Fit, show, then measure."""
    task = {**where, "out": str(session.out[run.id]), "params": run.params}
    try:
        found = await session.job(
            run.id,
            {"do": "fit", "method": run.method, **task},
            hear=lambda said: _heard(session, run, said),
            begun=lambda: _begun(session, run),
            silent=lambda seconds: _silent(session, run, seconds),
        )
    except JobFailed as error:
        run.status, run.reason, run.silent = ("stopped" if error.status == "stopped" else "failed"), str(error), 0.0
        run.stages = [stage for stage in run.stages if stage.seconds is not None or stage.kept]
        session.told(run)
        return
    run.status, run.preview, run.silent = "done", 0, 0.0
    run.picture, run.facts, run.warnings = session.register(found["picture"]), found["facts"], found["warnings"]
    run.invertible = found["invertible"]
    if "edges" in found:
        run.edges, run.edges_total = session.register([found["edges"]])[0], found["edges_total"]
    session.add_colours(run, found)
    session.told(run)
    await _measured(session, run, {"do": "measure", **task})


async def _measured(session: Session, run: RunInfo, task: dict[str, Any]) -> None:
    """What the picture of a run is worth."""
    try:
        found = await session.job(run.id, task)
        run.measured = found["measured"]
        session.add_colours(run, found)
    except JobFailed as error:
        run.measured = {"failed": str(error)}
    session.told(run)


def _begun(session: Session, run: RunInfo) -> None:
    run.status = "running"
    session.told(run)


def _silent(session: Session, run: RunInfo, seconds: float) -> None:
    if int(seconds) != int(run.silent):
        run.silent = seconds
        session.told(run)


def _heard(session: Session, run: RunInfo, said: dict[str, Any]) -> None:
    """Progress of a run: a stage, or a picture on the way."""
    if said["event"] == "picture":
        run.picture, run.preview = session.register(said["picture"]), said["preview"]
        run.facts = {**run.facts, **said.get("told", {})}
    else:
        now = StageInfo(said["name"], said.get("seconds"), said.get("share"), said.get("bytes"), bool(said.get("kept")))
        open_ = [i for i, s in enumerate(run.stages) if s.name == now.name and s.seconds is None and not s.kept]
        if open_ and not now.kept:
            run.stages[open_[-1]] = replace(now, share=now.share if now.seconds is None else None)
        else:
            run.stages.append(now)
    session.told(run)


async def stop(session: Session, command: say.Stop) -> None:
    """End a job, if it is still there."""
    job = session.jobs.get(command.what)
    if job is not None:
        session.pool.stop(job)


async def remove(session: Session, command: say.Remove) -> None:
    """Forget a run."""
    session.one(command.run)
    session.forget(command.run)
    session.sweep()
