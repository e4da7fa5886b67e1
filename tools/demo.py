"""Compare methods on handwritten digits and on a Swiss roll: two reports to open in a browser.

    python tools/demo.py --out demo

Writes digits.html and swiss_roll.html, which need no other file and no network, and the numbers as JSON beside them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits

import lowfold
from lowfold.select._compare_models import USUAL, all_methods, usual_methods
from lowfold.select._compare_types import Comparison, Row

TUNED = "LaplacianEigenmaps"  # its second coordinate of a roll repeats the first one unless it is told to choose


def told(row: Row) -> None:
    """One line per method on standard error."""
    said = f"{row.seconds:6.2f} s" if row.done else f"{row.status}: {row.reason}"
    sys.stderr.write(f"  {row.name}: {said}\n")


def compared(X: Any, name: str, **options: Any) -> Comparison:
    """One comparison, told on the way."""
    sys.stderr.write(f"{name}:\n")
    return lowfold.compare(X, name=name, progress=told, **options)


def written(found: Comparison, target: Path, title: str) -> Path:
    """The report, over that of an earlier demo; the numbers beside it."""
    lowfold.viz.write_report(found, target, title=title, overwrite=True)
    found.write_json(target.with_suffix(".json"), overwrite=True)
    return target


def main() -> None:
    """Read the command line, run, write, say where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the reports")
    parser.add_argument("--n", type=int, default=1797, help="number of digits, at most 1797")
    parser.add_argument("--methods", nargs="*", help='only these, as in: isomap lle; "all" is every method')
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one fit")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    wanted = all_methods() if given.methods == ["all"] else given.methods

    digits = load_digits()
    X, y = digits.data[: given.n], digits.target[: given.n]
    of_digits = compared(X, "digits", methods=wanted or usual_methods(), labels=y, budget=given.budget)
    of_digits = replace(of_digits, settings={**of_digits.settings, "point_shape": (8, 8)})  # shown at the pointer
    first = written(of_digits, given.out / "digits.html", f"{len(X)} handwritten digits, 8 x 8 pixels")

    roll = lowfold.datasets.swiss_roll(1500, random_state=0)
    of_roll = compared(
        roll.X,
        "swiss_roll",
        methods=wanted or list(USUAL),
        truth=roll.coordinates,
        color=roll.color,
        budget=given.budget,
    )
    second = written(of_roll, given.out / "swiss_roll.html", f"A Swiss roll, {len(roll)} points")
    tuned = lowfold.tune(roll.X, TUNED)
    print(
        f"\ndigits\n{of_digits}\n\nSwiss roll, as the methods come\n{of_roll}\n\n{TUNED} of the roll, tuned\n{tuned}\n"
    )
    print(f"demo: open {first} and {second} in a browser")


if __name__ == "__main__":
    main()
