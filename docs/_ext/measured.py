"""The page of benchmarks: the results of the last `make bench` of this checkout, where there are any."""

from __future__ import annotations

import re
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "results.md"

HEAD = """# Benchmarks

`make bench` measures time and memory of lowfold and of other packages on the same data, each side in a process of its
own, and writes `benchmarks/results/results.md` with the machine, the versions and the load. A comparison that was not
made, failed or ran out of time is a row too.
"""

NONE = """There are no results in the checkout that these pages were made from: run `make bench`, then `make docs`.
Figures without a machine beside them are not printed here.
"""


def write(folder: Path) -> dict[str, str]:
    """The page; the headings of the results go one level down."""
    if not RESULTS.exists():
        return {"benchmarks.md": f"{HEAD}\n{NONE}"}
    text = re.sub(r"^#", "##", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"benchmarks.md": f"{HEAD}\n{text}"}
