"""The command `lowfold`: embed a file, place new points, plan, list methods and data sets."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 1 bad input, 2 wrong usage, 130 interrupted."""
    from lowfold.cli._app import app

    return int(app(args=args, prog_name="lowfold", standalone_mode=False) or 0)
