"""From the text of a flag to a parameter's value, and from a name as typed to a method."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lowfold._core.errors import InvalidInput
from lowfold._core.names import find_name
from lowfold._core.params import foreign_words
from lowfold.cli._errors import wrong_usage
from lowfold.methods.registry import Entry, find

if TYPE_CHECKING:
    from lowfold._core.limits import Limit

MEASURED = ("umap", "pacmap")  # by `lowfold compare`, where they are installed
IN_PYTHON = "`lowfold.compare` takes any estimator with fit_transform and measures it beside lowfold's own"
TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def parse_value(text: str, limits: Sequence[Limit] = ()) -> Any:
    """The value that `text` stands for: a named choice, none, true/false, a Python literal, else the text itself.

    >>> parse_value("12"), parse_value("1e-3"), parse_value("{'p': 3}"), parse_value("heat")
    (12, 0.001, {'p': 3}, 'heat')
    """
    from lowfold._core.limits import Choice, Flag, Null

    if any(isinstance(limit, Choice) and limit.allows(text) for limit in limits):
        return text
    word = text.strip().lower()
    if word in ("none", "null") and (not limits or any(isinstance(limit, Null) for limit in limits)):
        return None
    if word in TRUTH and (not limits or any(isinstance(limit, Flag) for limit in limits)):
        return TRUTH[word]
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def parse_settings(pairs: Iterable[str], flag: str, said: Iterable[str] = ()) -> dict[str, str]:
    """name=value pairs of a repeated flag; dashes in names are underscores. A name is given once, and none of `said`.

    said  names for which the command has a flag of its own that counts
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            wrong_usage(f"{flag} takes name=value; got {pair!r}")
        name = name.strip().replace("-", "_")
        if name in said:
            wrong_usage(f"--{name.replace('_', '-')} and {flag} {pair} are the same here; write the flag alone")
        if name in found and found[name] != value:
            wrong_usage(f"{flag} gives {name} twice, as {found[name]} and {value}; give it once")
        found[name] = value
    return found


def parse_given(pairs: Iterable[str] | None, said: Iterable[str] = ()) -> dict[str, Any]:
    """Parameters that --set gives, as values."""
    return {name: parse_value(text) for name, text in parse_settings(pairs or [], "--set", said).items()}


def find_typed(name: str, known: Iterable[str], what: str) -> str:
    """The one of `known` that a user typed; none of them is wrong usage."""
    try:
        return find_name(name, known, what)
    except InvalidInput as error:
        return wrong_usage(str(error))


def find_method(name: str) -> Entry:
    """The registry's row for a name as a user may type it, or knows it by."""
    try:
        return find(name)
    except InvalidInput as error:
        return wrong_usage(in_commands(name, str(error)))


def in_commands(name: str, words: str) -> str:
    """The answer to the name of a method that is not here, with the command that measures it where one does."""
    measured = f"`lowfold compare FILE --methods {name.lower()},tsne` measures it beside lowfold's own"
    return words.replace(IN_PYTHON, measured) if name.lower() in MEASURED else words


def parameters_for(cls: Any, given: Mapping[str, str]) -> dict[str, Any]:
    """Texts as values for this class; one that it does not have is refused with the list of those it has."""
    known = cls.parameters
    for name in given:
        if name not in known:
            shown = ", ".join(f"--{key.replace('_', '-')}" for key in known if key != "verbose")
            told = foreign_words(cls, {name: parse_value(given[name])})
            wrong_usage(f"{cls.__name__} has no parameter {name!r}{told}; it has {shown}")
    return {name: parse_value(text, cls.limits.get(name, ())) for name, text in given.items()}
