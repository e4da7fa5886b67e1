"""The command `lowfold`: embed a file, place new points, plan, list methods and data sets."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]

SELDOM = 100_000  # objects between two searches for garbage: a command makes little and ends soon


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 1 bad input, 2 wrong usage, 130 interrupted.

    Without `args` it is the process's own command, and the last thing that it does.
    """
    gc.set_threshold(SELDOM)
    last = args is None
    try:
        from lowfold.cli._app import app

        code = int(app(args=args, prog_name="lowfold", standalone_mode=False) or 0)
    except KeyboardInterrupt:  # before there are commands that answer it: loading them, or reading their flags
        _deaf(last)
        sys.stderr.write("lowfold: interrupted\n")
        return 130
    _deaf(last)
    return code


def _deaf(last: bool) -> None:
    """Hear no Ctrl-C any more where only the interpreter's end is left: it would take the exit code and the words."""
    if last:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Ctrl-C inside a text that some package executes leaves a mark, for which `python -m` would end itself by the
        # signal, whatever came after; the next text that is executed takes it away.
        exec("")
