"""`lowfold tune`: parameters of a method for a file's data, with the curves they were decided on."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any

import typer

from lowfold.cli._shared import Debug, File, Labels, MethodName, Quiet, Read, Settings, Standardize

EXAMPLES = [
    "lowfold tune data.csv --method isomap",
    "lowfold tune data.csv -m diffusion-maps --n-neighbors 8,12,16 --n-components 2 --json > tuned.json",
]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("tune", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(tune)


def _numbers(text: str | None, flag: str) -> Any:
    """One number or several with commas between them."""
    from lowfold.cli._errors import wrong_usage

    if text is None:
        return None
    try:
        values = [float(part) if "." in part or "e" in part.lower() else int(part) for part in text.split(",")]
    except ValueError:
        return wrong_usage(f"{flag} takes numbers with commas between them, as 6,8,12; got {text!r}")
    return values[0] if len(values) == 1 else values


def tune(
    file: File,
    *,
    method: MethodName,
    n_neighbors: Annotated[str | None, typer.Option("--n-neighbors", metavar="K,K,...", help="Candidates.")] = None,
    n_components: Annotated[str | None, typer.Option("--n-components", metavar="D,D,...", help="Candidates.")] = None,
    scale: Annotated[str | None, typer.Option("--scale", metavar="S,S,...", help="Candidates.")] = None,
    perplexity: Annotated[str | None, typer.Option("--perplexity", metavar="P,P,...", help="Candidates.")] = None,
    gamma: Annotated[str | None, typer.Option("--gamma", metavar="G,G,...", help="Candidates.")] = None,
    subsamples: Annotated[int, typer.Option("--subsamples", metavar="N", help="How many subsamples.")] = 3,
    max_points: Annotated[int, typer.Option("--max-points", metavar="N", help="Largest subsample.")] = 800,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the choice and its curves as JSON.")] = False,
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose neighbours, scale and dimension of a method by what its embeddings are worth on subsamples.

    Prints the choice, the curves it rests on, and the command that embeds with it. Without candidates a grid is tried.
    Methods that need labels take the first column of --label.
    """
    from lowfold.cli._data import classes, is_matrix, read_input, reading, tell_table
    from lowfold.cli._errors import told_once
    from lowfold.cli._values import find_method, parameters_for, parse_settings
    from lowfold.methods.registry import load
    from lowfold.select._tune import tune as choose

    candidates = {
        "n_neighbors": _numbers(n_neighbors, "--n-neighbors"),
        "n_components": _numbers(n_components, "--n-components"),
        "scale": _numbers(scale, "--scale"),
        "perplexity": _numbers(perplexity, "--perplexity"),
        "gamma": _numbers(gamma, "--gamma"),
    }
    with told_once(quiet):
        cls = load(find_method(method).name)
        said = [name for name, values in candidates.items() if values is not None]
        model = cls(**parameters_for(cls, parse_settings(settings or [], "--set", said)))
        table = read_input(file, label or [], reading(read, standardize), matrix=is_matrix(model))
        tell_table(table, getattr(model, "metric", "euclidean"), by_size=model.by_size, quiet=quiet)
        y = classes(table, label or [], model, quiet=quiet) if model.__sklearn_tags__().target_tags.required else None
        found = choose(
            table.X,
            model,
            y=y,
            n_subsamples=subsamples,
            max_points=max_points,
            random_state=random_state,
            **candidates,
        )
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
        return
    scaled = None if standardize == "none" else [standardize]
    given = [("--label", label), ("--read", read), ("--standardize", scaled), ("--set", settings)]
    words = ["lowfold", "embed", str(file)]
    words += [word for flag, values in given for value in values or [] for word in (flag, value)]
    words += ["--method", cls.__name__]
    words += [word for name, value in found.params.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    print(f"{found}\n\n{shlex.join(words)}")
