"""`lowfold compare`: several methods on one file, measured alike; one HTML page and a table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowfold.cli._errors import USER, told_once, wrong_usage
from lowfold.cli._shared import Debug, File, Memory, Overwrite, Quiet, Read, Standardize

if TYPE_CHECKING:
    from lowfold.select._compare_types import Row

EXAMPLES = [
    "lowfold compare data.csv --methods pca,isomap,ltsa --out report.html",
    "lowfold compare data.csv --label class --budget 30 --tune -o report.html --json report.json",
]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("compare", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(compare)


def compare(
    file: File,
    methods: Annotated[
        str | None,
        typer.Option("--methods", "-m", metavar="NAMES", help='As "pca,isomap,umap", or "all"; else a dozen.'),
    ] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="The report, one .html file.")] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="All numbers as JSON.")] = None,
    n_components: Annotated[int, typer.Option("--n-components", metavar="D", help="Dimension of the pictures.")] = 2,
    n_neighbors: Annotated[
        int | None, typer.Option("--n-neighbors", metavar="K", help="Of every method that has it; else its own rule.")
    ] = None,
    metric: Annotated[str, typer.Option(metavar="NAME", help="Of every method that has it.")] = "euclidean",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="METHOD.NAME=VALUE", help="A parameter of one method; may be given again."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "--labels", metavar="NAME", help="Column to keep aside; the first classes are used."),
    ] = None,
    truth: Annotated[
        list[str] | None, typer.Option("--truth", metavar="NAME", help="Column with a true coordinate; again for more.")
    ] = None,
    color: Annotated[str | None, typer.Option(metavar="NAME", help="Numeric column that colours the points.")] = None,
    tune: Annotated[bool, typer.Option("--tune", help="Choose the parameters of each method first.")] = False,
    diagnose: Annotated[bool, typer.Option("--diagnose/--no-diagnose", help="Say what the data look like.")] = True,
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="What one fit may take.")] = 120.0,
    quality_points: Annotated[
        int, typer.Option("--quality-points", metavar="N", help="From how many points the others are measured.")
    ] = 5000,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    read: Read = None,
    standardize: Standardize = "none",
    memory: Memory = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Embed a file by several methods; compare time, memory and quality, side by side.

    Every method runs in a process of its own. One that fails, or takes longer than --budget, is a row with the reason.
    The table goes to standard output, the pictures to --out.
    """
    from lowfold.cli._data import read_input, reading, refuse_existing, tell, tell_table
    from lowfold.select._compare import compare as run

    names, given = _methods(methods), _settings(settings or [])
    if out is not None and Path(out).suffix.lower() not in (".html", ".htm"):
        wrong_usage(f"--out is a report and ends in .html; got {out!r}; numbers go to --json")
    with told_once(quiet):
        refuse_existing(out, json, overwrite=overwrite, read=[file])
        aside = [*(label or []), *(truth or []), *([color] if color is not None else [])]
        matrix = metric.startswith("precomputed")
        table = read_input(file, list(dict.fromkeys(aside)), reading(read, standardize), matrix=matrix)
        tell_table(table, metric, quiet=quiet)
        known = _known(table, label or [], truth or [], color)
        found = run(
            table.X,
            names,
            n_components=n_components,
            labels=known["labels"],
            truth=known["truth"],
            color=known["color"],
            params=given,
            n_neighbors=n_neighbors,
            metric=metric,
            tune=tune,
            diagnose=diagnose,
            budget=budget,
            memory=memory,
            quality_points=quality_points,
            random_state=random_state,
            name="standard input" if file == "-" else Path(file).name,
            progress=lambda row: tell([_told(row)], quiet=quiet),
        )
        columns = {"columns": table.columns, "labels_name": known["labels_name"], "color_name": known["color_name"]}
        found = replace(found, settings={**found.settings, **columns})
        if out is not None:
            from lowfold.viz._report import write_report

            line = _again(
                file,
                names,
                given,
                found.settings,
                aside=(label or [], truth or [], color),
                read=reading(read, standardize),
            )
            seen = {"aside": table.labels, "point_shape": table.point_shape}
            shown = replace(found, settings={**found.settings, **seen})
            write_report(shown, out, overwrite=overwrite, command=line)
        if json is not None:
            found.write_json(json, overwrite=overwrite)
        print(found)
        tell([f"wrote {path}" for path in (out, json) if path is not None], quiet=quiet)
        if not any(row.done for row in found.rows):
            raise typer.Exit(USER)


def _methods(text: str | None) -> list[str] | None:
    """Class names from a list with commas."""
    from lowfold._core.errors import InvalidInput
    from lowfold.select._compare_models import all_methods, find_entrant

    if text is None:
        return None
    if text.strip().lower() == "all":
        return all_methods()
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        wrong_usage('--methods takes names with commas between them, as "pca,isomap"')
    try:
        return [find_entrant(name) for name in names]
    except InvalidInput as error:
        return wrong_usage(str(error))


def _settings(pairs: Sequence[str]) -> dict[str, dict[str, Any]]:
    """METHOD.NAME=VALUE -> {method: {name: value}}."""
    from lowfold.cli._values import find_method, parameters_for, parse_value
    from lowfold.methods.registry import load
    from lowfold.select._adapters import EXTERNAL
    from lowfold.select._compare_models import find_entrant

    texts: dict[str, dict[str, str]] = {}
    for pair in pairs:
        place, equals, value = pair.partition("=")
        method, dot, name = place.partition(".")
        if not equals or not dot or not name:
            wrong_usage(f"--set takes METHOD.NAME=VALUE, as isomap.n_neighbors=8; got {pair!r}")
        known = (
            find_entrant(method)
            if method.strip().lower() in {key.lower() for key in EXTERNAL}
            else find_method(method).name
        )
        texts.setdefault(known, {})[name.strip().replace("-", "_")] = value
    found: dict[str, dict[str, Any]] = {}
    for method, given in texts.items():
        if method in EXTERNAL:
            found[method] = {name: parse_value(text) for name, text in given.items()}
        else:
            found[method] = parameters_for(load(find_method(method).name), given)
    return found


def _known(table: Any, label: Sequence[str], truth: Sequence[str], color: str | None) -> dict[str, Any]:
    """What the columns kept aside are used for: classes, true coordinates, a colour."""
    import numpy as np

    from lowfold._core.errors import InvalidInput
    from lowfold.cli._data import FEW

    found: dict[str, Any] = dict.fromkeys(("labels", "labels_name", "truth", "color", "color_name"))

    def numbers(name: str, flag: str) -> Any:
        if table.labels[name].dtype.kind not in "fiub":
            raise InvalidInput(f"{flag} needs a numeric column; {name!r} holds {table.labels[name].dtype}")
        return table.labels[name].astype(np.float64)

    if truth:
        found["truth"] = np.column_stack([numbers(name, "--truth") for name in truth])
    if color is not None:
        found["color"], found["color_name"] = numbers(color, "--color"), color
    for name in [*label, *(key for key in table.labels if key not in label)]:
        values = table.labels[name]
        if name in truth or name == color:
            continue
        classes = values.dtype.kind not in "f" and (values.dtype.kind not in "iu" or len(np.unique(values)) <= FEW)
        classes = classes and 1 < len(np.unique(values)) < len(values)
        if classes and found["labels"] is None:
            found["labels"], found["labels_name"] = values, name
        elif values.dtype.kind in "fiu" and found["color"] is None:
            found["color"], found["color_name"] = values.astype(np.float64), name
    return found


def _told(row: Row) -> str:
    """One line about one method."""
    if not row.done:
        return f"{row.name}: {row.status}: {row.reason}"
    memory = "" if row.memory_mb is None else f", {row.memory_mb:.0f} MB"
    return f"{row.name}: {row.seconds:.2f} s{memory}" + "".join(f"; {words}" for words in row.notes)


def _again(
    file: str,
    names: Sequence[str] | None,
    given: dict[str, dict[str, Any]],
    settings: dict[str, Any],
    *,
    aside: tuple[Sequence[str], Sequence[str], str | None],
    read: dict[str, str],
) -> str:
    """The command once more, without folders."""
    words = ["lowfold", "compare", file if file == "-" else Path(file).name]
    words += [] if names is None else ["--methods", ",".join(name.lower() for name in names)]
    words += ["--n-components", str(settings["n_components"])]
    words += [] if settings["n_neighbors"] is None else ["--n-neighbors", str(settings["n_neighbors"])]
    words += [] if settings["metric"] == "euclidean" else ["--metric", settings["metric"]]
    label, truth, color = aside
    for flag, columns in (("--label", label), ("--truth", truth), ("--color", [] if color is None else [color])):
        words += [word for name in columns for word in (flag, name)]
    words += [word for name, value in read.items() for word in ("--read", f"{name}={value}")]
    words += [w for m, values in given.items() for k, v in values.items() for w in ("--set", f"{m.lower()}.{k}={v}")]
    words += ["--tune"] if settings["tune"] else []
    words += ["--budget", f"{settings['budget']:g}", "--seed", str(settings["random_state"]), "--out", "report.html"]
    return shlex.join(words)
