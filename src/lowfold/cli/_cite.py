"""`lowfold cite`: BibTeX of a method's publications."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = ["lowfold cite isomap >> references.bib", "lowfold cite tsne ltsa"]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("cite", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(cite)


def cite(
    methods: Annotated[list[str], typer.Argument(metavar="METHOD", help="Of `lowfold list`, in any spelling.")],
) -> None:
    """BibTeX of the publications that methods rest on, each entry once."""
    from lowfold.cli._values import find_method
    from lowfold.methods.citations import CITED, entries

    keys = dict.fromkeys(key for method in methods for key in CITED[find_method(method).name])
    found = entries()
    print("\n\n".join(found[key] for key in keys))
