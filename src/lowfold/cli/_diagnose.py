"""`lowfold diagnose`: what a file's data look like, and which methods that speaks for or against."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lowfold.cli._shared import Debug, File, Labels, Quiet, Read, Standardize

EXAMPLES = ["lowfold diagnose data.csv", "lowfold diagnose data.csv --n-neighbors 12 --json > found.json"]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("diagnose", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(diagnose)


def diagnose(
    file: File,
    n_neighbors: Annotated[
        int | None, typer.Option("--n-neighbors", "-k", metavar="K", help="Neighbours of the graph; else 10.")
    ] = None,
    n_components: Annotated[
        int | None, typer.Option("--n-components", "-d", metavar="D", help="Dimension of the manifold; else estimated.")
    ] = None,
    metric: Annotated[str, typer.Option(metavar="NAME", help='As of the methods; "precomputed" for distances.')] = (
        "euclidean"
    ),
    max_points: Annotated[
        int, typer.Option("--max-points", metavar="N", help="Beyond these a random sample is looked at.")
    ] = 4000,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what the data look like: linear, in one piece, flat, convex, closed, noisy, ..., with figures.

    Every finding names the methods that it speaks for or against.
    """
    from lowfold.cli._data import read_input, reading, tell
    from lowfold.cli._errors import told_once
    from lowfold.quality._diagnose import diagnose as find

    with told_once(quiet):
        matrix = metric.startswith("precomputed")
        table = read_input(file, label or [], reading(read, standardize), matrix=matrix)
        tell(table.notices, quiet=quiet)
        found = find(
            table.X if hasattr(table.X, "tocsr") else table,  # with the names of its columns
            n_neighbors=n_neighbors,
            n_components=n_components,
            metric=metric,
            max_points=max_points,
            random_state=random_state,
        )
    print(json.dumps(found.to_dict(), indent=2) if as_json else found)
