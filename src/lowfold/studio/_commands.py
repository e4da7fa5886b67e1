"""Every command of the page, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from lowfold.studio import _commands_data as data
from lowfold.studio import _commands_home as home
from lowfold.studio import _commands_run as run
from lowfold.studio import _protocol as say
from lowfold.studio._session import Session

Action = Callable[[Session, Any], Coroutine[Any, Any, Any]]


async def batch(session: Session, command: say.Batch) -> dict[str, str]:
    """Begin an upload."""
    return {"batch": session.uploads.begin()}


ACTIONS: dict[type[Any], Action] = {
    say.Open: data.open_set,
    say.Batch: batch,
    say.Take: data.take_upload,
    say.Assign: data.assign,
    say.Colour: data.colour,
    say.Look: data.look,
    say.Near: data.near,
    say.Plan: run.plan,
    say.Tune: run.tune,
    say.Start: run.start,
    say.Stop: run.stop,
    say.Remove: run.remove,
    say.Stability: home.stability,
    say.Place: home.place,
    say.Invert: home.invert,
    say.Export: home.export,
    say.Recipe: home.recipe,
}


async def do(session: Session, command: say.Command) -> Any:
    """Do a command and return its result; what cannot be done is raised in words."""
    return await ACTIONS[type(command)](session, command)
