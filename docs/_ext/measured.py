"""The page of benchmarks: the results of the last `make bench` of this checkout, where there are any."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "results.md"

HEAD = """# Benchmarks

`make bench` measures time and memory of lowfold and of other packages on the same data, each side in a process of its
own, and writes `benchmarks/results/results.md` with the machine, the versions and the load. A comparison that was not
made, failed or ran out of time is a row too.
"""

NONE = """There are no results in the checkout that these pages were made from: run `make bench`, then `make docs`.
Until then, what was measured for the landing page:

{measured}
"""


def _landing() -> str:
    """The section of the README, its links as seen from here."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Measured\n")[2].partition("\n## ")[0].strip()
    return section.replace("(docs/", "(../")


def write(folder: Path) -> dict[str, str]:
    """The page; the headings of the results go one level down."""
    if not RESULTS.exists():
        return {"benchmarks.md": f"{HEAD}\n{NONE.format(measured=_landing())}"}
    text = re.sub(r"^#", "##", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"benchmarks.md": f"{HEAD}\n{text}"}
