"""Measure what one fit of every method costs, and write docs/costs.csv.

    python tools/costs.py [--out docs/costs.csv] [METHOD ...]

Each method runs in a process of its own after a small fit that compiles and loads what it needs. Seconds are those of
the processor over all threads, which other programs on the machine disturb least; memory is the peak above what was
held before the data were made. A size is left out where the one before took too long. What the file says of other
methods is kept.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SIZES = (200, 500, 1000, 2000, 4000)
FIRST = 100  # the fit that loads
LONG = 8.0  # CPU seconds after which no larger size is tried: ten times more would follow
COMPILED = 2000  # points, from which most methods take loops that have to be compiled
HEADER = ("method", "n", "cpu seconds", "peak MB")


def made(inputs: tuple[str, ...], name: str, n: int) -> Any:
    """A Swiss roll in the form that the method takes."""
    import numpy as np

    import lowfold

    X = lowfold.datasets.swiss_roll(n, random_state=0).X
    if "matrices" in inputs:
        return [lowfold.metrics.pairwise(part) for part in (X, X[:, :2])]
    if "points" not in inputs and "tensors" in inputs:
        return np.random.default_rng(0).random((n, 8, 8))
    return X - X.min(axis=0) if name == "NMF" else X


def peak(key: str) -> int:
    """A line of the kernel's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key))


def fit(name: str, n: int) -> tuple[float, float]:
    """CPU seconds and peak in MB of one fit."""
    import numpy as np

    import lowfold
    from lowfold.methods.registry import BY_NAME

    gc.collect()
    before = peak("VmRSS")
    X = made(BY_NAME[name].inputs, name, n)
    y = np.arange(n) % 3 if name.startswith("Supervised") else None
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    start = time.process_time()
    getattr(lowfold, name)(2).fit(X, y)
    return time.process_time() - start, (peak("VmHWM") - before) / 1e6


def one(name: str) -> None:
    """Print the rows of one method as JSON."""
    warnings.simplefilter("ignore")
    fit(name, FIRST)
    rows = []
    for n in SIZES:
        seconds, memory = fit(name, n)
        if seconds < LONG or n == COMPILED:  # once more: loops are compiled at the first size that takes them
            again, held = fit(name, n)
            seconds, memory = min(seconds, again), min(memory, held)
        rows.append((name, n, round(seconds, 3), round(memory, 1)))
        if seconds > LONG:
            break
    print(json.dumps(rows))


def known(path: Path) -> dict[str, list[list[Any]]]:
    """Method -> the rows that the file holds."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {name: [row for row in rows if row[0] == name] for name in {row[0] for row in rows}}


def main() -> None:
    """Every method, one after the other; what was measured so far is always in the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "costs.csv")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.one:
        one(given.one)
        return
    from lowfold.methods.registry import REGISTRY

    names = [entry.name for entry in REGISTRY]
    rows = known(given.out)
    for name in given.names or names:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name], capture_output=True, text=True, check=False, cwd=ROOT
        )
        rows[name] = json.loads(done.stdout) if done.returncode == 0 else []
        print(name, rows[name] or done.stderr[-300:], flush=True)
        with given.out.open("w", encoding="utf-8", newline="") as file:
            kept = [row for one in names for row in rows.get(one, [])]
            csv.writer(file, lineterminator="\n").writerows([HEADER, *kept])


if __name__ == "__main__":
    main()
