"""See that an installed lowfold works: every method loads, one is fitted, saved and loaded, the command embeds a file.

    python tools/smoke.py

Needs lowfold and its core dependencies alone, and writes to a temporary folder only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import lowfold


def library(folder: Path) -> None:
    """Every public name can be had; a fitted model places new points, before and after it was a file."""
    for name in lowfold.__all__:
        getattr(lowfold, name)
    roll = lowfold.datasets.swiss_roll(300, random_state=0)
    model = lowfold.Isomap(2, n_neighbors=8).fit(roll.X)
    placed = model.transform(roll.X[:5] + 0.01)
    assert np.isfinite(placed).all()
    lowfold.save(folder / "roll.lowfold", model)
    assert np.array_equal(lowfold.load(folder / "roll.lowfold").transform(roll.X[:5] + 0.01), placed)


def command(folder: Path) -> None:
    """`lowfold` as a program: a data set to a file, the file to its embedding."""
    said = run(folder, "--version")
    assert said.split() == ["lowfold", lowfold.__version__], said
    run(folder, "datasets", "swiss_roll", "--n", "300", "--out", "roll.csv")
    run(folder, "embed", "roll.csv", "--method", "ltsa", "--out", "flat.csv")
    assert len((folder / "flat.csv").read_text(encoding="utf-8").splitlines()) == 301


def run(folder: Path, *words: str) -> str:
    """What the command wrote to standard output."""
    program = shutil.which("lowfold", path=str(Path(sys.executable).parent))
    assert program, "the command lowfold is not beside this Python"
    return subprocess.run([program, *words], cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout


def main() -> None:
    """Say what is tried, then try it."""
    place = Path(lowfold.__file__).parent
    print(f"lowfold {lowfold.__version__} in {place}")
    assert version("lowfold") == lowfold.__version__
    assert (place / "py.typed").exists()
    with tempfile.TemporaryDirectory() as folder:
        library(Path(folder))
        command(Path(folder))
    print("works")


if __name__ == "__main__":
    main()
