"""`lowfold documents`: a folder of texts in a plane, by their words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lowfold.cli._errors import told_once
from lowfold.cli._shared import Debug, Out, Overwrite, Quiet, Settings

SHOWN = 5  # documents left out that are named
EXAMPLES = [
    "lowfold documents letters --out plane.csv --plot plane.png",
    "lowfold documents letters --similar letters/1834.txt",
]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("documents", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(documents)


def documents(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Texts, *.txt; subfolders are classes.")],
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="NAME", help="A method of `lowfold list`.")
    ] = "laplacian-eigenmaps",
    n_components: Annotated[int, typer.Option("--n-components", "-d", metavar="D", help="Columns.")] = 2,
    project: Annotated[int, typer.Option(metavar="N", help="Columns of the random projection.")] = 300,
    max_terms: Annotated[int | None, typer.Option("--max-terms", metavar="N", help="Most frequent terms only.")] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help='Of the texts, as "cp1252"; else UTF-8.')
    ] = None,
    stem: Annotated[bool, typer.Option("--stem", help="Take off English inflections.")] = False,
    out: Out = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="The plane, coloured by subfolder.")
    ] = None,
    similar: Annotated[
        str | None, typer.Option("--similar", metavar="FILE", help="Print the documents nearest to this one instead.")
    ] = None,
    settings: Settings = None,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Place documents so that those with the same words are near; the matrix of words is never made dense."""
    import numpy as np

    from lowfold.apps import embed_documents
    from lowfold.cli._data import refuse_existing, tell, write_output
    from lowfold.cli._values import parse_given
    from lowfold.datasets._read_text import read_texts

    with told_once(quiet, lambda words: words.replace("encoding='cp1252'", "--encoding cp1252")):
        refuse_existing(out, plot, overwrite=overwrite)
        names, texts = read_texts(folder, encoding)
        given = parse_given(settings, ("method", "n_components", "project", "stem", "max_terms", "random_state"))
        found = embed_documents(
            texts,
            method,
            n_components,
            project=project,
            stem="english" if stem else None,
            max_terms=max_terms,
            random_state=random_state,
            **given,
        )
        left = sorted(set(range(len(names))) - set(found.rows.tolist()))
        if left:
            some = ", ".join(names[i] for i in left[:SHOWN]) + (", ..." if len(left) > SHOWN else "")
            tell(
                [f"{len(left)} of {len(names)} documents have none of the terms and are left out: {some}"], quiet=quiet
            )
        told = f"{len(found.rows)} documents, {len(found.terms)} terms"
        if found.projected is not None:
            told += f"; projection keeps distances within {found.ratio[0]:.3f} +- {found.ratio[1]:.3f}"
        tell([told], quiet=quiet)
        if similar is not None:
            _print_similar(found, names, folder, similar)
            return
        kept = [names[i] for i in found.rows]
        classes = np.array([Path(name).parent.as_posix() for name in kept])
        if plot is not None:
            from lowfold.viz import scatter

            scatter(found.coordinates, labels=classes if len(set(classes.tolist())) > 1 else None, path=plot)
        aside = {"document": np.array(kept), "folder": classes}
        columns = [f"coordinate{i + 1}" for i in range(n_components)]
        if out is not None or plot is None:
            write_output(out or "-", found.coordinates, columns, aside, overwrite=overwrite, quiet=quiet)
        tell([f"wrote {path}" for path in (out, plot) if path not in (None, "-")], quiet=quiet)


def _print_similar(found: Any, names: list[str], folder: str, similar: str) -> None:
    from lowfold._core.errors import InvalidInput

    short = Path(similar).relative_to(folder).as_posix() if Path(similar).is_relative_to(folder) else similar
    if short not in names:
        raise InvalidInput(f"{similar} is not among the texts of {folder}")
    for row, cosine in found.similar(names.index(short), 10):
        print(f"{cosine:.3f}  {names[row]}")
