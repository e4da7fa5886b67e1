"""The sections of a report, from a comparison to HTML. Everything that comes from outside is escaped here."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from lowfold.select._compare_measure import BY_NAME
from lowfold.select._compare_types import Comparison, Row
from lowfold.viz._report_curves import Line, curves, legend, sparkline


def words(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text), quote=True)


def figure(value: float | None, digits: int = 3) -> str:
    """A number as a reader wants it: at most `digits` that count."""
    if value is None or not math.isfinite(value):
        return "-"
    if value != 0 and (abs(value) < 0.1**digits < 0.1 or abs(value) >= 1e5):
        return f"{value:.1e}"
    return f"{value:.{digits}f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def section(name: str, title: str, *parts: str) -> str:
    """One section with its heading."""
    return f'<section id="{name}"><h2>{words(title)}</h2>{"".join(parts)}</section>'


def in_short(comparison: Comparison) -> str:
    """Two or three sentences with figures, before everything else."""
    done = [row for row in comparison.rows if row.done]
    told = [f"{len(done)} of {len(comparison.rows)} methods finished."]
    for name in ("geodesic_area", "procrustes", "misclassification"):
        ranked = [row for row in comparison.ranking(name) if not math.isnan(row[name])]
        if ranked:
            best = ", ".join(f"{row.name} ({figure(row[name])})" for row in ranked[:3])
            sense = "largest" if BY_NAME[name].larger else "smallest"
            told.append(f"{BY_NAME[name].title} ({BY_NAME[name].meaning}) is {sense} for {best}.")
    timed = sorted((row for row in done if row.seconds is not None), key=lambda row: row.seconds or 0.0)
    if len(timed) > 1:
        quick, slow = timed[0], timed[-1]
        told.append(
            f"The quickest fit was {quick.name} ({figure(quick.seconds)} s), "
            f"the slowest {slow.name} ({figure(slow.seconds)} s)."
        )
    return "".join(f"<p>{words(sentence)}</p>" for sentence in told)


# What the data look like ---------------------------------------------------------------------------------------------


def data_facts(comparison: Comparison) -> str:
    """The table of data in figures."""
    items = "".join(
        f"<div><dt>{words(key)}</dt><dd>{words(value)}</dd></div>" for key, value in comparison.facts.items()
    )
    return f'<dl class="facts">{items}</dl>'


def findings(comparison: Comparison) -> str:
    """The diagnosis: what was seen, and which methods it speaks for or against."""
    if comparison.diagnosis is None:
        return '<p class="soft">The data were not diagnosed.</p>'
    told = comparison.diagnosis.to_dict()
    cards = []
    for finding in told["findings"]:
        lines = [f"<p>{words(finding['saw'])}</p>"]
        for kind, key in (("for", "rules_in"), ("against", "rules_out")):
            grouped: dict[str, list[str]] = {}
            for rule in finding[key]:
                grouped.setdefault(rule["reason"], []).append(rule["method"])
            for reason, methods in grouped.items():
                lines.append(f'<p><span class="{kind}">{kind} {words(", ".join(methods))}</span>: {words(reason)}</p>')
        if finding["advice"]:
            lines.append(f'<p class="soft">{words(finding["advice"])}</p>')
        cards.append(
            f'<article><h3>{words(finding["name"])}: <span class="verdict">{words(finding["verdict"])}</span></h3>'
            f"{''.join(lines)}</article>"
        )
    used = told.get("n_used", 0)
    sample = f" A sample of {used} points was looked at." if used and used != told.get("n_points") else ""
    basis = f"{told.get('n_neighbors')} neighbours; dimension {told.get('n_components')}."
    return f'<p class="soft">{words(basis + sample)}</p><div class="findings">{"".join(cards)}</div>'


# The ranking ---------------------------------------------------------------------------------------------------------


def ranking_table(comparison: Comparison) -> str:
    """All methods, best first; a click on a heading sorts."""
    measures = [name for name in comparison.measures if BY_NAME[name].first]
    heads = [_head("method", "", "ascending"), _head("seconds", "of the fit, by the clock", "ascending")]
    heads += [_head("MB", "memory that the fit added at its peak", "ascending")]
    for name in measures:
        sense = "larger is better" if BY_NAME[name].larger else "smaller is better"
        first = "descending" if BY_NAME[name].larger else "ascending"
        now = f' aria-sort="{first}"' if name == measures[0] else ""
        heads.append(_head(BY_NAME[name].title, f"{BY_NAME[name].meaning}; {sense}", first, now))
    heads.append(_head("residual", "bound of the angle to the true eigenvectors", "ascending"))
    best = {name: comparison.ranking(name)[0][name] for name in measures}
    body = [_ranked_row(row, measures, best) for row in comparison.ranking()]
    body += [_failed_row(row, len(measures) + 3) for row in comparison.rows if not row.done]
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="ranking"><table id="ranking">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _head(name: str, meaning: str, first: str, more: str = "") -> str:
    title = f' title="{words(meaning)}"' if meaning else ""
    return f'<th scope="col" data-first="{first}"{more}><button type="button"{title}>{words(name)}</button></th>'


def _ranked_row(row: Row, measures: Sequence[str], best: dict[str, float]) -> str:
    cells = [_cell(row.seconds, 3), _cell(row.memory_mb, 1)]
    cells += [_cell(row[name], 3, " best" if figure(row[name]) == figure(best[name]) else "") for name in measures]
    cells.append(_cell(row.residual, 3))
    return f'<tr data-name="{words(row.name)}">{_row_head(row)}{"".join(cells)}</tr>'


def _row_head(row: Row) -> str:
    return f'<th scope="row" data-v="{words(row.name)}">{words(row.name)}</th>'


def _cell(value: float | None, digits: int, kind: str = "") -> str:
    known = value is not None and math.isfinite(value)
    style = f' class="{kind.strip()}"' if kind and known else ""
    return f'<td data-v="{f"{value:.9g}" if known else ""}"{style}>{figure(value, digits)}</td>'


def _failed_row(row: Row, columns: int) -> str:
    return (
        f'<tr class="failed" data-name="{words(row.name)}">{_row_head(row)}'
        f'<td class="words" colspan="{columns}">{words(row.status)}: {words(row.reason)}</td></tr>'
    )


def meanings(comparison: Comparison) -> str:
    """What each column of the table says."""
    items = "".join(
        f"<li><b>{words(m.title)}</b> ({'larger' if m.larger else 'smaller'} is better): {words(m.meaning)}</li>"
        for m in (BY_NAME[name] for name in comparison.measures)
    )
    settings = comparison.settings
    count, n = settings["measured_points"], len(comparison.X)
    of = "all points" if count == n else f"{count} of the {n} points, drawn at random, each against all others"
    basis = f"Measured on {of}, with {settings['measured_neighbors']} neighbours where a measure needs a number."
    basis += f" By the draw, {comparison.sampling().partition('; ')[2]}." if comparison.sampling() else ""
    alone = "in a process of its own" if settings["isolate"] else "in one process, where memory cannot be told apart"
    return (
        f'<p class="soft">{words(basis)} Each method ran {alone}; seconds and MB are those of the fit '
        f"alone, after loading and a warm-up.</p>"
        f"<details><summary>what the columns mean</summary><ul>{items}</ul></details>"
        f"<details><summary>every measure</summary>{_every_measure(comparison)}</details>"
    )


def _every_measure(comparison: Comparison) -> str:
    """All numbers, one line per measure."""
    rows = comparison.ranking()
    heads = "".join(f'<th scope="col">{words(row.name)}</th>' for row in rows)
    lines = "".join(
        f'<tr><th scope="row">{words(BY_NAME[name].title)}</th>{"".join(_cell(row[name], 3) for row in rows)}</tr>'
        for name in comparison.measures
    )
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="every measure"><table>'
        f'<thead><tr><th scope="col">measure</th>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


# Pictures ------------------------------------------------------------------------------------------------------------


def controls(drawn: int, n: int, graphs: Iterable[dict[str, Any]]) -> str:
    """What can be changed in all pictures at once."""
    sample = "" if drawn == n else f" {drawn} of the {n} points are drawn."
    thinned = any(graph["shown"] < graph["total"] for graph in graphs)
    lines = " Of large graphs a part of the edges is drawn." if thinned else ""
    return (
        '<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript><div class="controls">'
        '<label>colour <select id="by"></select></label>'
        '<label><input type="checkbox" id="edges"> graph</label>'
        '<label>axes <select id="axes"><option value="0,1">1, 2</option><option value="0,2">1, 3</option>'
        '<option value="1,2">2, 3</option></select></label><label>drag to <select id="tool">'
        '<option value="rectangle">choose a rectangle</option><option value="lasso">choose by lasso</option>'
        '<option value="move">move</option></select></label><button type="button" id="whole">show all</button>'
        '<button type="button" id="free" hidden>let go</button>'
        '<button type="button" id="save" hidden>download chosen rows</button>'
        '<canvas id="thumb" hidden aria-hidden="true"></canvas>'
        f'<span id="told" aria-live="polite">Point at a picture: the same point is marked in all of them. Drag to '
        f"choose points; the wheel, over a picture that was clicked, zooms.{sample}{lines}</span></div>"
        '<div id="scale"></div>'
    )


def pictures(comparison: Comparison) -> str:
    """One figure per embedding, in the order of the ranking; the script draws them."""
    found = []
    for row in comparison.ranking():
        assert row.embedding is not None
        facts = [f"{figure(row.seconds)} s"]
        facts += [f"{BY_NAME[name].title} {figure(row[name])}" for name in comparison.measures[:2]]
        facts += [f"{row.neighbors} neighbours"] if row.neighbors else []
        d = row.embedding.shape[1]
        facts += [f"{min(d, 3)} of {d} coordinates"] if d > 3 else []
        found.append(
            f'<figure data-name="{words(row.name)}"><h3>{words(row.name)}<button type="button">larger</button></h3>'
            f'<div class="pane"></div><figcaption>{words(", ".join(facts))}</figcaption></figure>'
        )
    return f'<div class="pictures">{"".join(found)}</div>'


def neighborhood_curves(comparison: Comparison) -> str:
    """R_NX over the size of the neighbourhood, all methods in one picture."""
    lines = [
        Line(row.name, row.quality.sizes.tolist(), row.quality.r_nx.tolist())
        for row in comparison.ranking()
        if row.quality is not None
    ]
    if not lines:
        return ""
    drawn = curves(
        lines,
        title="Share of neighbours kept beyond chance, over the size of the neighbourhood",
        x_name="size K of the neighbourhood",
        y_name="R_NX(K)",
    )
    return (
        "<p>How many of the K nearest points of the data are among the K nearest of the picture, beyond chance. High "
        "on the left: near points are kept; high on the right: the large shape is.</p>"
        f'<div class="split">{drawn}{legend([line.name for line in lines])}</div>'
    )


# What was chosen, what failed, how to do it again --------------------------------------------------------------------


def parameters(comparison: Comparison) -> str:
    """What each method ran with, what it says of itself, and why its parameters were chosen."""
    rows = []
    for row in comparison.rows:
        if not row.done:
            continue
        given = ", ".join(f"{key}={value!r}" for key, value in row.params.items())
        if row.neighbors is not None and "n_neighbors" not in row.params:
            given += f" ({row.neighbors} neighbours)"
        own = "; ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in row.own.items())
        said = "".join(f"<div>{words(text)}</div>" for text in (*row.notes, *row.warnings)) + _choices(row)
        rows.append(
            f'<tr><th scope="row">{words(row.name)}</th><td class="words">{words(given)}</td>'
            f'<td class="words">{words(row.solver or "-")}</td><td class="words">{words(own or "-")}</td>'
            f'<td class="words long">{said or "-"}</td></tr>'
        )
    heads = ("method", "parameters", "solver", "its own measure", "chosen, noted, warned")
    first, *others = (f'<th scope="col" class="words" style="text-align:left">{name}</th>' for name in heads)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="parameters"><table>'
        f"<thead><tr>{first}{''.join(others)}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _choices(row: Row) -> str:
    """Reasons and curves of `tune`."""
    if not row.tuned:
        return ""
    parts = [f"<div>{words(reason)}</div>" for reason in row.tuned.get("reasons", [])]
    for curve in row.tuned.get("curves", []):
        values = [str(value) for value in curve["values"]]
        place = values.index(str(curve["chosen"])) if str(curve["chosen"]) in values else None
        span = f"{curve['parameter']} from {values[0]} to {values[-1]}"
        drawn = sparkline(curve["scores"], place, f"{curve['measure']} over {span}, chosen {curve['chosen']}")
        parts.append(f'<div class="soft">{drawn} {words(span)}</div>')
    return "".join(parts)


def failures(comparison: Comparison) -> str:
    """Methods that did not finish, with the reason."""
    rows = [row for row in comparison.rows if not row.done]
    if not rows:
        return "<p>None: every method finished.</p>"
    items = "".join(f"<li><b>{words(row.name)}</b>, {words(row.status)}: {words(row.reason)}</li>" for row in rows)
    return f"<ul>{items}</ul>"


def environment(comparison: Comparison) -> str:
    """Versions of what was used."""
    there = {key: value for key, value in comparison.versions.items() if value != "not installed"}
    items = "".join(f"<div><dt>{words(key)}</dt><dd>{words(value)}</dd></div>" for key, value in there.items())
    return f'<dl class="facts">{items}</dl>'


def reproduce(comparison: Comparison, command: str | None) -> str:
    """The same comparison once more, in Python and on the command line."""
    settings = comparison.settings
    given = [f"n_components={settings['n_components']}"]
    given += [f"{name}={name}" for name in ("labels", "truth", "color") if getattr(comparison, name) is not None]
    given += [f"params={settings['params']!r}"] if settings["params"] else []
    given += [f"n_neighbors={settings['n_neighbors']}"] if settings["n_neighbors"] is not None else []
    given += [f"metric={settings['metric']!r}"] if settings["metric"] != "euclidean" else []
    given += ["tune=True"] if settings["tune"] else []
    given += [f"budget={settings['budget']!r}", f"random_state={settings['random_state']}"]
    methods = ", ".join(settings["methods"])
    python = (
        f"import lowfold\n\ncomparison = lowfold.compare(\n    X,\n    [{methods}],\n    "
        + ",\n    ".join(given)
        + ',\n)\nprint(comparison)\nlowfold.viz.write_report(comparison, "report.html")'
    )
    return f"<pre>{words(python)}</pre><pre>{words(command or _command(settings))}</pre>"


def _command(settings: dict[str, Any]) -> str:
    """The command line that comes nearest; models given as objects have no name there."""
    names = [name.partition("(")[0].strip("'").lower() for name in settings["methods"]]
    line = f"lowfold compare FILE --methods {','.join(dict.fromkeys(names))} --n-components {settings['n_components']}"
    line += f" --n-neighbors {settings['n_neighbors']}" if settings["n_neighbors"] is not None else ""
    line += " --tune" if settings["tune"] else ""
    return f"{line} --out report.html"


def embedded(data: dict[str, Any]) -> str:
    """JSON that no text inside can end early."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="packed">{text}</script>'
