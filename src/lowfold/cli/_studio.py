"""`lowfold studio`: the page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from lowfold.cli._errors import told_once
from lowfold.cli._shared import Debug, Memory, Quiet

EXAMPLES = ["lowfold studio", "lowfold studio data.csv", "lowfold studio faces/ --port 8765 --no-browser"]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("studio", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(studio)


def studio(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Table, array, cube, folder, or a saved session (.studio).")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; others can reach all but 127.0.0.1.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(metavar="N", help="0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or print its address.")
    ] = True,
    memory: Memory = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look at data in the browser: choose a method, move a parameter, see what changes and whether to believe it.

    Without a file a playground opens. It answers only the page that it opened, on this machine. Ctrl-C ends it.
    """
    from lowfold.studio import studio as serve

    with told_once(quiet):
        serve(file, host=host, port=port, memory=memory, open_browser=browser)
