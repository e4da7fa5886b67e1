"""`lowfold warmup`: compile everything now, so that no first fit has to."""

from __future__ import annotations

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

    took = compile_all(names, report=report)
    tell([f"compiled in {took:.1f} s; kept in {cache_dir()}"], quiet=quiet)
