"""Messages as text, in and out, and as types of the page's script: `static/protocol.js` is written from here.

A command is taken only if its fields are exactly those that `_protocol` declares, of these types: nothing else of what
the page sends is looked at.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import Any, Literal

from lowfold._core.errors import InvalidInput
from lowfold.studio._protocol import BY_NAME, COMMANDS, EVENTS, SHOWN, Command, Event

LONGEST = 4_000_000  # characters of one command; the longest are lists of chosen rows


def encode(event: Event) -> str:
    """The text of an event; numbers that JSON does not have are null."""
    content = {"say": type(event).__name__.lower(), **plain(event)}
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """A message, or a part of one, as JSON knows it."""
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def decode(text: str) -> Command:
    """The command of a text, or the sentence why it is none.

    >>> decode('{"do": "near", "id": 3, "row": 17, "k": 10}')
    Near(id=3, row=17, k=10)
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"a command has at most {LONGEST} characters; got {len(text)}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("a command is one JSON object") from None
    if not isinstance(content, dict) or content.get("do") not in BY_NAME:
        raise InvalidInput(f"a command has a field 'do', one of {', '.join(BY_NAME)}")
    cls = BY_NAME[content.pop("do")]
    kinds = typing.get_type_hints(cls)
    if set(content) != set(kinds):
        raise InvalidInput(f"the command {cls.__name__.lower()!r} has the fields {', '.join(kinds)}")
    for name, kind in kinds.items():
        if not _fits(content[name], kind):
            raise InvalidInput(f"{name} of the command {cls.__name__.lower()!r} must be {_script(kind)}")
    return typing.cast(Command, cls(**content))


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is list:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(k, str) and _fits(v, parts[1]) for k, v in value.items())
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _script(kind: Any) -> str:
    """A type as TypeScript writes it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    simple = {int: "number", float: "number", str: "string", bool: "boolean", Any: "any", type(None): "null"}
    if kind in simple:
        return simple[kind]
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin is list:
        inner = _script(parts[0])
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if origin is dict:
        return f"{{[name: string]: {_script(parts[1])}}}"
    if origin in (types.UnionType, typing.Union):
        return " | ".join(_script(part) for part in parts)
    return str(kind.__name__)


def script() -> str:
    """The text of static/protocol.js: one typedef for each message."""
    lines = ["// Written by `python -m lowfold.studio._wire`; the messages are declared in _protocol.py.", ""]
    for cls in (*SHOWN, *COMMANDS, *EVENTS):
        tag = [f'"do": "{cls.__name__.lower()}"'] if cls in COMMANDS else []
        tag += [f'"say": "{cls.__name__.lower()}"'] if cls in EVENTS else []
        hints = typing.get_type_hints(cls)
        fields = [*tag, *(f'"{f.name}": {_script(hints[f.name])}' for f in dataclasses.fields(cls))]
        name = f"{cls.__name__}{'Command' if cls in COMMANDS else 'Event' if cls in EVENTS else ''}"
        lines.append(f"/** @typedef {{{{{', '.join(fields)}}}}} {name} */")
    for name, every in (("Command", COMMANDS), ("Event", EVENTS)):
        union = " | ".join(f"{cls.__name__}{name}" for cls in every)
        lines.append(f"/** @typedef {{{union}}} {'AnyCommand' if name == 'Command' else 'AnyEvent'} */")
    return "\n".join([*lines, "", "export {};", ""])


if __name__ == "__main__":
    from pathlib import Path

    (Path(__file__).parent / "static" / "protocol.js").write_text(script(), encoding="utf-8")
