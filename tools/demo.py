"""Embed handwritten digits and a Swiss roll with every method: pictures and a small report.

    python tools/demo.py --out demo

Writes digits.png, swiss_roll.png and report.html, which holds the pictures and needs no other file.
"""

from __future__ import annotations

import argparse
import base64
import html
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import lowfold
from lowfold._core.errors import LowfoldError, LowfoldWarning
from lowfold.methods.registry import BY_NAME
from lowfold.viz import side_by_side

# What the demo passes where a method has the parameter.
PARAMETERS: dict[str, Any] = {"n_neighbors": 10, "n_clusters": 10, "random_state": 0}

# Families whose time grows too fast for all points: they are fitted to so many, and place the others.
SLOW = {"semidefinite": 100}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
img { max-width: 100% } table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .2rem .8rem; text-align: right }
td:first-child, th:first-child, td:last-child, th:last-child { text-align: left } tr + tr { border-top: 1px solid #ddd }
"""


@dataclass(frozen=True)
class Result:
    """One method on one data set."""

    method: str
    seconds: float
    embedding: np.ndarray | None
    solver: str
    residual: float
    trust: float
    words: str


def embed(name: str, X: np.ndarray, y: np.ndarray, truth: np.ndarray) -> Result:
    """Fit one method; what it refuses or warns about stands in the report in its own words."""
    cls = getattr(lowfold, name)
    known = cls._get_param_names()
    model = cls(**{key: value for key, value in PARAMETERS.items() if key in known})
    every = -(-len(X) // SLOW.get(BY_NAME[name].family, len(X)))
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LowfoldWarning)
        try:
            model.fit(X[::every], y[::every])
            Y = model.embedding_ if every == 1 else model.transform(X)
        except (LowfoldError, ValueError, TypeError) as error:
            return Result(name, time.perf_counter() - start, None, "", np.nan, np.nan, " ".join(str(error).split()))
    took = time.perf_counter() - start
    if BY_NAME[name].family == "clustering":
        Y = Y[:, 1:3]  # one column per cluster, the first of them nearly constant
    told = dict.fromkeys(" ".join(str(w.message).split()) for w in caught if issubclass(w.category, LowfoldWarning))
    return Result(
        name,
        took,
        Y,
        str(getattr(model, "solver_", "")),
        float(getattr(model, "residual_", np.nan)),
        float(trustworthiness(truth, Y, n_neighbors=12)),
        "; ".join([*told, *([f"fitted to every {every}th point, the others placed as new"] if every > 1 else [])]),
    )


def run(title: str, names: Sequence[str], X: np.ndarray, y: np.ndarray, truth: np.ndarray) -> list[Result]:
    """Every method on one data set, told on the way."""
    results = []
    for name in names:
        results.append(embed(name, X, y, truth))
        shown = "refused" if results[-1].embedding is None else f"{results[-1].seconds:5.1f} s"
        sys.stderr.write(f"  {title}: {name}: {shown}\n")
    return results


def table(results: Sequence[Result]) -> str:
    """Time, solver, residual and trustworthiness as HTML."""
    rows = ["<tr><th>method</th><th>seconds</th><th>solver</th><th>residual</th><th>trustworthiness</th><th></th></tr>"]
    for r in sorted(results, key=lambda r: -np.nan_to_num(r.trust, nan=-1.0)):
        residual = "" if np.isnan(r.residual) else f"{r.residual:.1e}"
        trust = "" if np.isnan(r.trust) else f"{r.trust:.3f}"
        cells = [r.method, f"{r.seconds:.2f}", r.solver, residual, trust, r.words]
        rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def section(title: str, text: str, picture: Path, results: Sequence[Result]) -> str:
    """One data set of the report, its picture inside."""
    data = base64.b64encode(picture.read_bytes()).decode()
    image = f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">'
    return f"<h2>{html.escape(title)}</h2><p>{html.escape(text)}</p>{image}{table(results)}"


def draw(results: Sequence[Result], target: Path, title: str, **colors: Any) -> Path:
    """The embeddings side by side."""
    shown = {r.method: r.embedding for r in results if r.embedding is not None}
    side_by_side(shown, path=target, title=title, per_row=5, **colors)
    return target


def main() -> None:
    """Read the command line, run, write, say where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for pictures and report")
    parser.add_argument("--n", type=int, default=800, help="number of digits; the roll has half as many again")
    parser.add_argument("--methods", nargs="*", help="only these, as in: Isomap LLE")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    names = [
        entry.name
        for entry in lowfold.REGISTRY
        if "points" in entry.inputs and (not given.methods or entry.name in given.methods)
    ]
    if not names:
        sys.exit(f"no such method; there are {', '.join(entry.name for entry in lowfold.REGISTRY)}")

    digits = load_digits()
    X, y = digits.data[: given.n], digits.target[: given.n]
    of_digits = run("digits", names, X, y, X)
    first = draw(of_digits, given.out / "digits.png", f"{len(X)} handwritten digits", labels=y, legend="digit")

    roll = lowfold.datasets.swiss_roll(given.n + given.n // 2, random_state=0)  # sparser, its turns would be joined
    assert roll.coordinates is not None
    halves = (roll.color > np.median(roll.color)).astype(int)
    of_roll = run("Swiss roll", names, roll.X, halves, roll.coordinates)
    second = draw(
        of_roll, given.out / "swiss_roll.png", f"Swiss roll, {len(roll)} points", color=roll.color, legend="angle"
    )

    body = section(
        "Handwritten digits",
        f"The first {len(X)} of scikit-learn's digits, 8 x 8 pixels. Trustworthiness (12 neighbours) says how far near "
        "points of the picture are near in the data: 1 is best.",
        first,
        of_digits,
    ) + section(
        "Swiss roll",
        "A rectangle rolled up in space. Here trustworthiness compares with the true coordinates on the rectangle.",
        second,
        of_roll,
    )
    report = given.out / "report.html"
    report.write_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lowfold demo</title>'
        f"<style>{STYLE}</style></head><body><h1>lowfold {lowfold.__version__}</h1>{body}</body></html>\n",
        encoding="utf-8",
    )
    print(f"demo: {report}, {first}, {second}")


if __name__ == "__main__":
    main()
