"""A comparison as one HTML file that opens offline: tables, linked pictures, curves, reasons, versions."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.memory import pretty_bytes
from lowfold.datasets._write_table import replacing
from lowfold.select._compare_types import Comparison
from lowfold.viz import _report_parts as parts
from lowfold.viz._report_data import picture_data

# Nothing may be fetched: a browser that heeds this loads the page and nothing else.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
SIZE = "@size@"


def write_report(
    comparison: Comparison,
    path: str | Path,
    *,
    overwrite: bool = False,
    title: str | None = None,
    command: str | None = None,
) -> None:
    """Write a comparison as one self-contained HTML file.

    It needs no network and no other file: what the data look like, the ranking (sortable), the embeddings side by side
    with linked colours, pointing and choosing, curves of kept neighbours, parameters and why they were chosen, failures
    with their reasons, versions, and how to do it again. At most 200,000 points and 20,000 edges are drawn; the page
    says so where there are more. It appears whole or not at all, and leaves an existing file alone unless `overwrite`.

    Parameters
    ----------
    comparison : what `lowfold.compare` returned.
    path : file to write, ending in .html or .htm.
    title : heading of the page; by the name of the data if None.
    command : command line shown as the way to do it again; None composes one.
    """
    if not isinstance(comparison, Comparison):
        raise InvalidInput(f"write_report takes what lowfold.compare returns; got {type(comparison).__name__}")
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise FileProblem(f"{path}: a report is written as .html; choose this ending")
    text = report_html(comparison, title=title, command=command)
    with replacing(target, overwrite=overwrite) as part:
        part.write_text(text, encoding="utf-8")


def report_html(comparison: Comparison, *, title: str | None = None, command: str | None = None) -> str:
    """The page as text."""
    data = picture_data(comparison)
    name = comparison.settings["name"]
    done = sum(row.done for row in comparison.rows)
    heading = title or f"{done} embedding{'s' if done != 1 else ''} of {name}"
    n = len(comparison.X)
    sections = {
        "data": ("What the data look like", [parts.data_facts(comparison), parts.findings(comparison)]),
        "table": ("Ranking", [parts.in_short(comparison), parts.ranking_table(comparison), parts.meanings(comparison)]),
        "pictures": (
            "Pictures",
            [parts.controls(data["n"], n, data["graphs"]), parts.pictures(comparison)],
        ),
        "curves": ("Neighbours kept", [parts.neighborhood_curves(comparison)]),
        "parameters": ("Parameters, and why", [parts.parameters(comparison)]),
        "failures": ("What did not finish", [parts.failures(comparison)]),
        "environment": ("Versions", [parts.environment(comparison)]),
        "again": ("How to do it again", [parts.reproduce(comparison, command)]),
    }
    order = ("pictures", "table", "data", "curves", "parameters", "failures", "environment", "again")
    menu = "".join(f'<a href="#{key}">{parts.words(sections[key][0])}</a>' for key in order)
    body = "\n".join(parts.section(key, sections[key][0], *sections[key][1]) for key in order)
    version = comparison.versions.get("lowfold", "")
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{parts.words(heading)}</title><style>{_part('_report.css')}</style></head>\n<body>"
        f'<header><button type="button" id="theme" hidden>dark or light</button><h1>{parts.words(heading)}</h1>'
        f'<p class="soft">Written by lowfold {parts.words(version)}. This file holds everything and loads nothing; '
        f"its size is {SIZE}.</p><nav>{menu}</nav></header>\n<main>{body}</main>\n{parts.embedded(data)}"
        f'<script type="module">{_part("scatter.js")}\n{_part("_report.js")}</script></body></html>\n'
    )
    return page.replace(SIZE, pretty_bytes(len(page.encode())), 1)


def _part(name: str) -> str:
    return (files("lowfold.viz") / name).read_text(encoding="utf-8")
