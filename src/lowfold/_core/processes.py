"""Processes that lowfold starts: what they hold, how they are ended, and why they ended."""

from __future__ import annotations

import ctypes
import os
import re
import signal
from contextlib import suppress
from pathlib import Path


def resident(pid: int) -> int:
    """Resident bytes of a process; 0 where the system does not tell (then only the budget of `auto` holds)."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def processor_seconds(pid: int) -> float | None:
    """Processor time that a process has used; None where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        # the name of the program, in parentheses, may hold spaces: what follows it is counted from there
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


def end_group(pid: int) -> None:
    """End a process that leads a session of its own, and whatever it has started."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def end_with_parent() -> None:
    """On Linux: ask to be killed when the parent is, whatever happens to it."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def why_ended(code: int | None, said: str) -> str:
    """Why a process ended without a result: the signal, or its code and the last line of what it said."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        told = f"its process was ended by {name}"
        return told + (", as the system does when memory runs out" if name == "SIGKILL" else "")
    last = next((line.strip() for line in reversed(said.split("\n")) if line.strip()), "")
    return shown_words(f"its process ended with code {code}" + (f": {last}" if last else ""))


def shown_words(words: str) -> str:
    """Without folders of this machine: a path keeps its last part only.

    >>> shown_words("no file /somewhere/of/mine/data.csv here")
    'no file data.csv here'
    """
    return re.sub(r"(?<![\w.:/])(?:[A-Za-z]:)?[\\/](?:[^\s'\"\\/:;,]+[\\/])+", "", words)
