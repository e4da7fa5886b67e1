"""`lowfold dimension`: every estimate of the intrinsic dimension of a file, as a table and as curves."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from lowfold.cli._shared import Debug, File, Labels, Memory, Overwrite, Quiet, Read, Standardize

EXAMPLES = [
    "lowfold dimension data.csv --out curves.png",
    "lowfold dimension data.csv -m mle,two_nn,skdim:DANCo --json",
    "lowfold dimension distances.csv --metric precomputed",
]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("dimension", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(dimension)


def dimension(
    file: File,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAMES",
            help="Estimators, separated by commas; all by default. skdim:NAME is one of scikit-dimension.",
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(metavar="NAME", help='Distance of points; "precomputed": FILE is a matrix of distances.'),
    ] = "euclidean",
    metric_params: Annotated[
        str | None, typer.Option(metavar="DICT", help="Parameters of the metric, as \"{'p': 3}\".")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", "--plot", metavar="FILE", help="Curves: .png, .svg, .pdf or .jpg.")
    ] = None,
    local: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Dimension at every point, a column for each estimator with it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything, curves included, as JSON.")] = False,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    n_jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; all cores by default.")] = None,
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    memory: Memory = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Estimate the intrinsic dimension of the rows of a file, in many ways.

    Prints for each estimator its value, where 95% of other samples would put it, the same with what scales and edges of
    the set do, the scales that it rests on, and what speaks against it, or why it cannot tell. An estimator's own bias
    comes on top of the sampling: of clean sets the second span held the truth in 86%, the first in 62%. --out draws the
    curves behind the values.
    """
    from lowfold._core.config import config_context
    from lowfold.cli._data import carried, read_input, reading, refuse_existing, tell, tell_table, write_output
    from lowfold.cli._embed import _check_picture
    from lowfold.cli._errors import told_once
    from lowfold.dimension._estimate import Estimates

    with config_context(memory=memory), told_once(quiet):
        names = estimator_names(method or [])
        refuse_existing(out, local, overwrite=overwrite, read=[file])
        _check_picture(out)
        matrix = metric.startswith("precomputed")
        table = read_input(file, label or [], reading(read, standardize), matrix=matrix)
        tell_table(table, metric, quiet=quiet)
        found = []
        for name in names:
            start = time.perf_counter()
            found.append(_estimate(table.X, name, metric, metric_params, random_state, n_jobs))
            if time.perf_counter() - start > 5:
                tell([f"{name} took {time.perf_counter() - start:.0f} s"], quiet=quiet)
        estimates = Estimates(tuple(found))
        print(json_text(estimates, table, file) if as_json else table_text(estimates))
        if local is not None:
            columns, values = local_columns(estimates)
            write_output(local, values, columns, carried(table, columns), overwrite=overwrite, quiet=quiet)
        if out is not None:
            from lowfold.viz._curves import dimension_curves

            n, D = table.X.shape
            dimension_curves(estimates, path=out, title=f"{file}: {n} points" + ("" if matrix else f", {D} columns"))
        if not quiet:
            written = [f"wrote {path}" for path in (out, local) if path not in (None, "-")]
            tell([*_notes(estimates), *written], quiet=quiet)


def estimator_names(given: Sequence[str]) -> list[str]:
    """Names as a user may type them, to those of the library; all of them where none is given."""
    from lowfold._core.names import plain
    from lowfold.cli._values import find_typed
    from lowfold.dimension._estimate_all import NAMES
    from lowfold.dimension._scikit_dimension import PREFIX, scikit_dimension_names

    families = {family: [name for name in NAMES if name.startswith(family + "_")] for family in ("linear", "capacity")}
    found: list[str] = []
    for word in (part.strip() for text in given for part in text.split(",")):
        if word.lower().startswith(PREFIX):
            others = scikit_dimension_names()
            found.append(PREFIX + find_typed(word[len(PREFIX) :], others, "scikit-dimension estimator"))
        elif plain(word) in families:
            found.extend(families[plain(word)])
        elif word:
            found.append(find_typed(word, (*NAMES, "skdim:NAME"), "estimator"))
    return list(dict.fromkeys(found)) or list(NAMES)


def _estimate(X: Any, name: str, metric: str, params: str | None, seed: int, n_jobs: int | None) -> Any:
    from lowfold.cli._values import parse_value
    from lowfold.dimension._estimate_all import estimate_all

    chosen = None if params is None else parse_value(params)
    if chosen is not None and not isinstance(chosen, dict):
        from lowfold.cli._errors import wrong_usage

        wrong_usage(f"--metric-params takes a dict, as \"{{'p': 3}}\"; got {params!r}")
    return estimate_all(X, (name,), metric=metric, metric_params=chosen, random_state=seed, n_jobs=n_jobs)[name]


def table_text(estimates: Any) -> str:
    """One line for each estimate, and the median of those with nothing against them; a question mark is a doubt."""
    from lowfold.cli._tables import columns_of

    rows = [
        (item.name, _value(item), _span_of(item.interval), _span_of(item.band), _scales(item), _remark(item))
        for item in estimates
    ]
    told = [item for item in estimates if item.told and not item.bound and not item.whole]
    text = columns_of(rows, ("estimator", "dimension", "sampling 95%", "with scales and edges", "scales", "remark"))
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    if not told:
        return f"{lines}\n\nno estimate without doubt"
    aside = "without doubt, bounds and charts aside"
    if len(told) == 1:
        return f"{lines}\n\nthe only estimate {aside}: {told[0].value:.3g} ({told[0].name})"
    return f"{lines}\n\nmedian of the {len(told)} estimates {aside}: {estimates.median():.3g}"


def _value(item: Any) -> str:
    if item.value != item.value:
        return "cannot tell"
    return f"{'<= ' if item.bound else 'whole ' if item.whole else ''}{item.value:.3g}{'' if item.told else ' ?'}"


def _span_of(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:.3g} .. {interval[1]:.3g}"


def _notes(estimates: Any) -> list[str]:
    """What was done to the data, each said once, with the estimators it holds for."""
    by_note: dict[str, list[str]] = {}
    for item in estimates:
        if item.note:
            by_note.setdefault(item.note, []).append(item.name)
    return [f"{note} ({', '.join(names)})" for note, names in by_note.items()]


def _span(interval: tuple[float, float]) -> str:
    low, high = (f"{value:.0f}" if value >= 1000 else f"{value:.3g}" for value in interval)
    return low if low == high else f"{low} .. {high}"


def _scales(item: Any) -> str:
    if item.used is None:
        return "-"
    word = {"neighbours k": "k", "radius r": "r", "size r": "r"}.get(item.axes[0], item.axes[0])
    word = "r" if word.startswith("median distance") else word
    return f"{word} {_span(item.used)}" + ("" if item.lengths is None else f" (r {_span(item.lengths)})")


def _remark(item: Any) -> str:
    return item.reason or ""


def json_text(estimates: Any, table: Any, file: str) -> str:
    """Everything as JSON; NaN is null."""
    n, D = table.X.shape
    median = estimates.median()
    return json.dumps(
        {
            "file": file,
            "points": n,
            "columns": D,
            "median": None if median != median else median,
            "estimates": [item.as_dict() for item in estimates],
        },
        indent=1,
        allow_nan=False,
    )


def local_columns(estimates: Any) -> tuple[list[str], Any]:
    """Names and values of the local dimensions."""
    import numpy as np

    from lowfold._core.errors import InvalidInput

    having = [item for item in estimates if item.local is not None]
    if not having:
        raise InvalidInput("--local: none of these estimators has values at points; local_pca, mle and others have")
    return [item.name for item in having], np.column_stack([item.local for item in having])
