"""In a process of its own: the peak of memory of one fit beside what `lowfold.plan` said, as JSON on standard output.

python peak_of_fit.py METHOD PARAMETERS n D KIND
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import lowfold

FEW = 2_100  # points of the fit before: up to 2,000 no loops are compiled


def made(kind: str, n: int, D: int, seed: int) -> np.ndarray:
    """Data of the kind that a method takes."""
    rng = np.random.default_rng(seed)
    if kind == "roll":
        X = lowfold.datasets.swiss_roll(n, random_state=seed).X
        return np.hstack([X, 1e-3 * rng.normal(size=(n, D - 3))]) if D > 3 else X
    if kind == "stack":
        P = rng.normal(size=(n, 3))
        return np.stack([np.linalg.norm(P[:, None] - P[None], axis=2)] * D)
    return rng.random((n, D, D)) if kind == "images" else rng.random((n, D))


def status(key: str) -> int:
    """A line of the kernel's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key))


def main() -> None:
    name, params, n, D, kind = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    warnings.simplefilter("ignore")
    cls = getattr(lowfold, name)
    few = {key: min(value, 50) if key == "landmarks" else value for key, value in params.items()}
    small = made(kind, 60 if kind == "stack" else min(n, FEW), D, 1)
    cls(**few).fit(small, np.arange(len(small)) % 3)  # compiles and loads
    gc.collect()
    before = status("VmRSS")
    X = made(kind, n, D, 0)
    told = lowfold.plan(X, cls(**params)).total
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    cls(**params).fit(X, np.arange(len(X)) % 3)
    sys.stdout.write(json.dumps({"peak": status("VmHWM") - before, "plan": told}))


if __name__ == "__main__":
    main()
