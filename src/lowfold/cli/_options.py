"""Flags made from the registry: every constructor parameter of every method, with the text of its documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lowfold.methods.registry import REGISTRY, load

PREFIX = "parameter_"
# Names of the commands' own flags. A parameter of that name is reached by --set.
OWN = {
    "color", "debug", "file", "help", "label", "memory", "method", "out", "overwrite", "plot", "quiet", "read", "save",
    "set", "settings", "verbose",
}  # fmt: skip


class MethodCommand(TyperCommand):
    """A command whose help shows the methods' parameters in a section of their own."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Parameters of the methods": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            if str(param.name).startswith(PREFIX):
                kind = "Parameters of the methods"
                record = (record[0].replace(f", --{str(param.name).removeprefix(PREFIX)}", "", 1), record[1])
            sections[kind].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def parameter_texts() -> dict[str, tuple[str, list[str]]]:
    """Parameter -> (its text, the methods that have it), in the order of the registry."""
    from lowfold.methods._parameters import TEXT

    shared = {name: text for block in TEXT.values() for name, text in _blocks(block).items()}
    found: dict[str, tuple[str, list[str]]] = {}
    for entry in REGISTRY:
        cls = load(entry.name)
        own = {name: _first_sentence(text) for name, text in documented(cls.__doc__ or "").items()}
        for name in inspect.signature(cls).parameters:
            if name not in OWN:
                found.setdefault(name, (shared.get(name, own.get(name, "")), []))[1].append(entry.name)
    return found


def _first_sentence(text: str) -> str:
    """The kind of value and one sentence: the rest is in `lowfold list METHOD`."""
    kind, stop, words = text.partition(". ")
    return kind + stop + re.split(r"(?<=[.;:]) ", words, maxsplit=1)[0].rstrip(";:")


def documented(doc: str) -> dict[str, str]:
    """Parameter -> its text, from the Parameters section of a numpy-style docstring, on one line."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", doc, re.MULTILINE | re.DOTALL)
    return {} if section is None else _blocks(section[1])


def _blocks(text: str) -> dict[str, str]:
    """Parameter -> kind and text on one line, from "name : kind" with its text indented below."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        head, _, body = block.partition("\n")
        names, _, kind = head.partition(" : ")
        line = " ".join(f"{kind}. {body}".split())
        found |= {name.strip(): line for name in names.split(",")}
    return found


def with_parameters(function: Callable[..., None]) -> Callable[..., None]:
    """The command with one flag per parameter; it receives those that were given as `parameters`, name -> text."""
    own = dict(inspect.signature(function, eval_str=True).parameters)
    del own["parameters"]
    flags = {}
    for name, (text, methods) in parameter_texts().items():
        only = "" if len(methods) > 3 else f" ({', '.join(methods)})"
        option = typer.Option(
            *dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")), metavar="VALUE", help=text + only
        )
        flags[PREFIX + name] = inspect.Parameter(
            PREFIX + name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, option],
        )

    def command(**values: Any) -> None:
        given = {name.removeprefix(PREFIX): values.pop(name) for name in flags}
        function(**values, parameters={name: text for name, text in given.items() if text is not None})

    signature = inspect.Signature([*own.values(), *flags.values()])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: param.annotation for name, param in signature.parameters.items()}
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    return command
