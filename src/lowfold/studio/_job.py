"""One worker: `python -m lowfold.studio._job`, tasks come as lines of JSON on standard input, answers go the same way.

It is started by `_jobs.Pool`, in a folder and with a memory budget that its parent chose. A task that fails is answered
in words; only a task that is ended from outside ends the process.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lowfold._core.processes import end_with_parent

NICE = 5  # the server and the page come first
UNTOLD = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Take tasks until the parent closes the pipe."""
    end_with_parent()
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a package prints goes to the log, not between the answers

    def say(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content, allow_nan=False) + "\n")
        answers.flush()

    from lowfold.studio._tasks import TASKS  # loads the methods, once, before the first task

    for line in sys.stdin:
        run(json.loads(line), TASKS, say)


def run(task: dict[str, Any], tasks: dict[str, Callable[..., dict[str, Any]]], say: Say) -> None:
    """Do one task and say what came of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = tasks[task.pop("do")](say, **task)
            told = [" ".join(str(w.message).split()) for w in caught if not issubclass(w.category, UNTOLD)]
            say({"event": "done", "result": {**result, "warnings": list(dict.fromkeys(told))}})
        except MemoryError as error:
            words = " ".join(str(error).split())
            say({"event": "failed", "reason": words or "there is not enough memory; ask what the method needs first"})
        except Exception as error:  # noqa: BLE001 - whatever a method raises is a card with words
            words = " ".join(str(error).split()) or type(error).__name__
            known = isinstance(error, (ValueError, OSError, ImportError))
            say({"event": "failed", "reason": words if known else f"{type(error).__name__}: {words}"})


if __name__ == "__main__":
    main()
