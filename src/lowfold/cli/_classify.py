"""`lowfold classify`: does reducing the data first help a classifier?"""

from __future__ import annotations

from typing import Annotated

import typer

from lowfold.cli._errors import told_once, wrong_usage
from lowfold.cli._shared import Debug, File, Quiet, Read, Settings, Standardize

EXAMPLES = [
    "lowfold classify data.csv --label class --method pca --n-components 2,5,10",
    "lowfold classify data.csv --label class -m isomap --classifier svm --json",
]


USUAL = (2, 5, 10)  # dimensions that are tried where none are given, as far as there are columns


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("classify", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(classify)


def classify(
    file: File,
    label: Annotated[str, typer.Option("--label", metavar="NAME", help="Column with the classes.")],
    method: Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="A method of `lowfold list`.")] = "pca",
    n_components: Annotated[
        str | None, typer.Option("--n-components", metavar="D,D,...", help="Dimensions to try; else 2, 5 and 10.")
    ] = None,
    classifier: Annotated[str, typer.Option(metavar="NAME", help="nearest, logistic or svm.")] = "nearest",
    folds: Annotated[int, typer.Option(metavar="K", help="Parts, each tested once.")] = 5,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cross-validate a classifier on the data as they are, and reduced; the reduction never sees the test rows."""
    import json

    from lowfold.apps import before_after
    from lowfold.cli._data import read_input, reading, tell_table
    from lowfold.cli._values import parse_given

    try:
        dims = [] if n_components is None else [int(part) for part in n_components.split(",")]
    except ValueError:
        wrong_usage(f"--n-components takes numbers with commas between them, as 2,5,10; got {n_components!r}")
    with told_once(quiet):
        table = read_input(file, [label], reading(read, standardize), matrix=False)
        tell_table(table, "euclidean", quiet=quiet)
        given = parse_given(settings, ("method", "n_components", "classifier", "folds", "random_state"))
        classes = table.labels[label]
        dims = dims or [d for d in USUAL if d <= table.X.shape[1]] or [1]
        found = before_after(
            table.X, classes, method, dims, classifier=classifier, folds=folds, random_state=random_state, **given
        )
    if not as_json:
        print(found)
        return
    rows = [
        {
            "name": trial.name,
            "n_components": trial.n_components,
            "accuracies": trial.accuracies.tolist(),
            "gain": trial.gain,
            "interval": list(trial.interval),
            "verdict": trial.verdict,
        }
        for trial in found.trials
    ]
    print(json.dumps(rows, indent=2))
