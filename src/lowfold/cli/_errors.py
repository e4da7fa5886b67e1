"""Errors in one line on standard error, and the exit code that belongs to each."""

from __future__ import annotations

import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from lowfold._core.errors import LowfoldError

OK, USER, USAGE, INTERRUPTED = 0, 1, 2, 130
# Options of the readers, which a command takes by --read
READER = "bad_bands|color|decimal|delimiter|dense|encoding|header|ids|missing|na|points|rep|size|skip|variable"
NO_CLASSES = "requires y to be passed, but the target y is None"
# What people type that is meant otherwise here, and the answer to it.
MEANT = (
    (
        r"No such option: --(missing|na|skip|encoding|delimiter|decimal|columns|variable)\b.*",
        r"No such option: --\1; it belongs to the reader: --read \1=VALUE",
    ),
    (r"(No such option: -k)\b.*", r"\1; neighbours are --n-neighbors"),
    (r"(No such option: -[dn])\b.*", r"\1; the dimension is --n-components"),
    (
        r"(Missing option '--method' / '-m'\.)",
        r"\1 lowfold diagnose FILE says what suits the data, lowfold list has all",
    ),
    (
        r"No such command '([^']*[./][^']*)'\.",
        r"'\1' is no command; try lowfold diagnose \1, or lowfold embed \1 -m isomap -o out.csv",
    ),
)

UsageError: Any = typer.BadParameter.__bases__[0]  # click's own class, which newer Typer carries inside itself
NothingTyped: Any = getattr(sys.modules[UsageError.__module__], "NoArgsIsHelpError", ())  # click 8.1 has none


def guarded(command: Callable[[], Any], args: Sequence[str]) -> int:
    """Run a command; whatever it raises becomes one line and an exit code. `--debug` shows the trace as well."""
    try:
        code = command()
        sys.stdout.flush()
        if code == INTERRUPTED:  # Typer has turned Ctrl-C into an exit already
            return _say("interrupted", INTERRUPTED)
        return code if isinstance(code, int) else OK
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", INTERRUPTED)
    except UsageError as error:
        if isinstance(error, NothingTyped):  # what it says is the help, in its lines
            sys.stderr.write(f"{error.format_message()}\n")
            return USAGE
        _trace(args)
        words = _file_like_a_flag(args) or _advised(_one_line(error.format_message()))
        where = getattr(getattr(error, "ctx", None), "command_path", "lowfold")
        return _say(f"{words} (see {where} --help)", USAGE)
    except MemoryError as error:
        _trace(args)
        return _say(_one_line(error) or "there is not enough memory; try lowfold plan, or another method", USER)
    except (LowfoldError, ValueError, OSError) as error:
        _trace(args)
        return _say(_one_line(error), USER)
    except Exception as error:  # noqa: BLE001 - a defect of lowfold: said so, without a page of trace
        _trace(args)
        return _say(f"this is a defect of lowfold: {type(error).__name__}: {_one_line(error)}; see --debug", USER)


def _advised(words: str) -> str:
    """With what was meant, where it is known."""
    for typed, answer in MEANT:
        words = re.sub(typed, answer, words)
    return words


def _file_like_a_flag(args: Sequence[str]) -> str:
    """A file whose name begins with a dash is taken for flags."""
    found = next((word for word in args if len(word) > 1 and word.startswith("-") and Path(word).exists()), None)
    return "" if found is None else f"{found} is read as an option; name the file as ./{found}"


def wrong_usage(words: str) -> NoReturn:
    """What was typed cannot be run; ends with exit code 2."""
    raise UsageError(words)


def _trace(args: Sequence[str]) -> None:
    if "--debug" in args:
        traceback.print_exc()


def _one_line(error: object) -> str:
    return " ".join(str(error).split())


def _say(words: str, code: int) -> int:
    sys.stderr.write(f"lowfold: {words}\n")
    return code


def in_options(words: str) -> str:
    """A sentence of a reader in words of the command: missing='drop' as --read missing=drop, label='x' as --label x."""
    words = words.replace("lowfold.set_config(memory=...) or LOWFOLD_MEMORY", "--memory")
    words = words.replace("lowfold.set_config(memory=...) or --memory", "--memory")
    words = words.replace(NO_CLASSES, "needs the classes of the points: --label names their column")
    words = words.replace("pass X.toarray()", "--read dense=true takes them with their zeros")
    words = re.sub(r"`datasets\.read\(file, ([^)]*)\)`", r"\1", words)
    words = re.sub(r"(?<![\w.])label=(['\"])(.*?)\1", lambda found: f"--label {shlex.quote(found[2])}", words)
    words = re.sub(r"(?<![\w.])metric='(\w+)'", r"--metric \1", words)
    return re.sub(rf"(?<!--read )(?<![\w.-])({READER})=(['\"]?)([^\s'\";,)]*)\2", r"--read \1=\3", words)


@contextmanager
def told_once(quiet: bool, spoken: Callable[[str], str] = str) -> Iterator[None]:
    """Warnings as one line each on standard error, none of them twice; they and errors as `spoken` puts them, and
    options of readers as the command takes them.
    """
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        words = in_options(spoken(_one_line(message)))
        if not quiet and words not in seen:
            seen.add(words)
            sys.stderr.write(f"lowfold: warning: {words}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.showwarning = show
        try:
            yield
        except LowfoldError as error:
            error.args = (in_options(spoken(str(error))),)
            raise
