"""`lowfold warmup`: compile everything now, so that no first fit has to."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from lowfold.cli._shared import Debug, Quiet

EXAMPLES = "\b\nExamples:\n  lowfold warmup\n  lowfold warmup isomap lle"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(warmup)


def warmup(
    methods: Annotated[
        list[str] | None, typer.Argument(metavar="METHOD", help="Methods of `lowfold list`; all by default.")
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile the loops of the methods now and keep them, so that the first fit of each is as fast as the next."""
    from lowfold._core.jit import cache_dir
    from lowfold.cli._data import tell
    from lowfold.cli._values import find_method
    from lowfold.methods.warmup import warmup as compile_all

    names = [find_method(name).name for name in methods] if methods else None

    def report(name: str, seconds: float) -> Any:
        tell([f"{name}: {seconds:.1f} s"], quiet=quiet)

    with _ended_by_ctrl_c():
        took = compile_all(names, report=report)
    tell([f"compiled in {took:.1f} s; kept in {cache_dir()}"], quiet=quiet)


@contextlib.contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Let the system end the process: Python would hear of Ctrl-C when LLVM is done with a loop, after seconds.

    Nothing is lost: Numba keeps a loop by renaming a file that is whole. A host that has a handler of its own keeps it.
    """
    former = signal.getsignal(signal.SIGINT)
    ours = former is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, former)
