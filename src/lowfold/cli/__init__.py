"""The command `lowfold`: embed a file, place new points, plan, list methods and data sets."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]

SELDOM = 100_000  # objects between two searches for garbage: a command makes little and ends soon


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 1 bad input, 2 wrong usage, 130 interrupted."""
    gc.set_threshold(SELDOM)
    try:
        from lowfold.cli._app import app
    except KeyboardInterrupt:  # before there are commands that answer it
        sys.stderr.write("lowfold: interrupted\n")
        return 130
    return int(app(args=args, prog_name="lowfold", standalone_mode=False) or 0)
