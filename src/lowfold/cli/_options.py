"""Flags made from the registry: every constructor parameter of every method, with the text of its documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lowfold._core.errors import InvalidInput
from lowfold._core.params import foreign_words
from lowfold.cli._errors import wrong_usage
from lowfold.cli._values import in_commands
from lowfold.methods.registry import BY_NAME, find, load

PREFIX = "parameter_"
# Names of the commands' own flags. A parameter of that name is reached by --set.
OWN = {
    "cluster", "color", "debug", "device", "file", "help", "label", "memory", "method", "out", "overwrite", "plot",
    "quiet", "read", "save", "set", "settings", "standardize", "verbose", "workers",
}  # fmt: skip


class MethodCommand(TyperCommand):
    """A command whose help shows the methods' parameters in a section of their own."""

    about = "the methods"

    def format_options(self, ctx: Any, formatter: Any) -> None:
        title = f"Parameters of {self.about}"
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], title: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            if str(param.name).startswith(PREFIX):
                kind = title
                record = (record[0].replace(f", --{str(param.name).removeprefix(PREFIX)}", "", 1), record[1])
            sections[kind].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def parameter_texts(methods: Iterable[str]) -> dict[str, tuple[str, list[str]]]:
    """Parameter -> (its text, those of the methods that have it), in their order."""
    found: dict[str, tuple[str, list[str]]] = {}
    for method in methods:
        for name, declared in load(method).parameters.items():
            if name not in OWN:
                text = f"{declared.kind()}. {_first_sentence(declared.text)}"
                found.setdefault(name, (text, []))[1].append(method)
    return found


def _first_sentence(text: str) -> str:
    """The rest is in `lowfold list METHOD`."""
    return re.split(r"(?<=[.;:]) ", text, maxsplit=1)[0].rstrip(";:")


def as_flags(method: str, words: str) -> str:
    """A sentence about parameters of a method in words of the command: n_neighbors=12 as --n-neighbors 12."""
    words = re.sub(r" \(\w+_\)", "", words)  # fitted attributes, which no command shows
    for name in load(find(method).name).parameters.keys() - OWN:
        flag = "--" + name.replace("_", "-")
        words = re.sub(rf"(?<![\w.(-]){name}=(['\"]?)([^\s'\",;)]+)\1", rf"{flag} \2", words)
        if "_" in name:  # `scale` or `weights` alone may be a plain word
            words = re.sub(rf"(?<![\w.(-]){name}(?![\w=])", flag, words)
    return words


def _flags_named(method: str, words: str) -> str:
    """An answer to parameters of another library in words of the command: max_iter= as --max-iter."""
    words = re.sub(
        r"; for (\w+) use ", lambda found: f"; for --{found[1].replace('_', '-')} use ", as_flags(method, words)
    )
    for name in load(method).parameters:
        flag, valued = (f"--set {name}", "=") if name in OWN else ("--" + name.replace("_", "-"), " ")
        for following, written in (("['{]", flag + valued), ("", flag)):
            words = re.sub(rf"(?<![\w.(-]){name}=(?={following})", written, words)
    return words


def named_method(words: list[str]) -> str | None:
    """The method that -m or --method names among the words of a command, where there is one of that name.

    Help about a method that is not there is answered like the method itself.
    """
    for word, following in zip(words, [*words, ""][1:], strict=True):
        flag, _, value = word.partition("=")
        if flag in ("-m", "--method") or (word.startswith("-m") and not word.startswith("--")):
            name = value or (following if word in ("-m", "--method") else word.removeprefix("-m"))
            try:
                return find(name).name
            except InvalidInput as error:
                if {"-h", "--help"} & set(words):
                    wrong_usage(in_commands(name, str(error)))
                return None
    return None


def with_parameters(
    function: Callable[..., None], method: str | None = None, words: Sequence[str] = ()
) -> Callable[..., None]:
    """The command with one flag per parameter; it receives those that were given as `parameters`, name -> text.

    The help shows those of `method` with its defaults, where one is named. A flag among `words` that is of another
    method is accepted too, so that it is answered in words; only then are all methods loaded.
    """
    shown = {} if method is None else load(method).parameters
    typed = {word.partition("=")[0].removeprefix("--").replace("-", "_") for word in words if word.startswith("--")}
    if method is not None and (told := foreign_words(load(method), dict.fromkeys(sorted(typed - OWN), ...))):
        wrong_usage(f"{method} has no parameter of that name{_flags_named(method, told)}")
    methods = BY_NAME if method is None or typed - OWN - shown.keys() else [method]
    own = dict(inspect.signature(function, eval_str=True).parameters)
    del own["parameters"]
    flags = {}
    for name, (text, having) in parameter_texts(methods).items():
        only = "" if len(having) > 3 else f" ({', '.join(having)})"
        text = f"{shown[name].kind()}. {shown[name].text}" if name in shown else text + only
        option = typer.Option(
            *dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")),
            metavar="VALUE",
            help=text,
            hidden=method is not None and name not in shown,
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
