"""One worker: `python -m lowfold.studio._job NICE`. Tasks come as lines of JSON on standard input, answers go so too.

It is started by `_jobs.Pool`, in a folder, with a priority and a memory budget that its parent chose. A task that fails
is answered in words; only a task that is ended from outside ends the process.
"""

from __future__ import annotations

import json
import os
import select
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lowfold._core.processes import end_with_parent
from lowfold.studio._tasks import MODULES, find, load

IDLE = 0.05  # seconds without a task after which something is loaded that one may need
UNTOLD = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Take tasks until the parent closes the pipe."""
    end_with_parent()
    with suppress(AttributeError, OSError):
        os.nice(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a package prints goes to the log, not between the answers

    def say(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content, allow_nan=False) + "\n")
        answers.flush()

    later = list(MODULES)
    while True:
        while later and not _waits():
            load(later.pop(0))
        line = sys.stdin.readline()
        if not line:
            return
        run(json.loads(line), say)


def _waits() -> bool:
    """Whether a task has come, or comes at once: it is begun before everything is loaded that others may need."""
    if os.name != "posix":  # pipes cannot be waited for
        return False
    return bool(select.select([sys.stdin], [], [], IDLE)[0])


def run(task: dict[str, Any], say: Say) -> None:
    """Do one task and say what came of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = find(task.pop("do"))(say, **task)
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
