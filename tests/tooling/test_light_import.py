"""`import lowfold` is quick: nothing heavy is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lowfold"
HEAVY = ("sklearn", "numba", "pandas", "matplotlib", "pyarrow", "faiss", "pyamg")
STAGES = ("_core", "geometry", "metrics", "datasets", "graph", "kernels", "spectral", "lowrank")
MODULES = ["lowfold", *(f"lowfold.{stage}" for stage in STAGES if (SOURCE / stage).is_dir())]


@pytest.mark.parametrize("module", MODULES)
def test_import_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "", f"import {module} also loads {done.stdout.strip()}"
