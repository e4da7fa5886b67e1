"""What a benchmark case is, and where the cases are.

A family is a file `cases_<family>.py` with a literal `CASES` and the functions that the cases name. A side is a
function that takes the data, does what is not to be timed, and returns the call that is:

    def sklearn_isomap(data):
        from sklearn.manifold import Isomap
        model = Isomap(n_neighbors=12, n_components=2, n_jobs=2)
        return lambda: model.fit(data.X)

A check is a function of (data, what the call returned) that gives a dict of numbers. The data sets are in
`data.py`, checks that families share in `quality.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
THREADS = 2


@dataclass(frozen=True)
class Side:
    """One package's way to do it. With `skip` it is only run by --all, and the reason is shown."""

    name: str
    call: str
    skip: str = ""


@dataclass(frozen=True)
class Target:
    """What the case has to reach: times faster than every peer (or those named), bytes at the peak, quality limits."""

    speedup: float | None = None
    over: tuple[str, ...] = ()
    memory: float | None = None
    at_most: dict[str, float] = field(default_factory=dict)
    at_least: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One row of the table: the first side is ours. Cases of one `group` that differ in n only show growth over n.

    A `large` case takes minutes and gigabytes: it runs with --large, or when --only names it.
    """

    name: str
    group: str
    n: int
    data: str
    sides: tuple[Side, ...]
    check: str
    options: dict[str, Any] = field(default_factory=dict)
    target: Target = Target()
    warm: int = 2_500  # above 2,000, up to which lowfold runs no compiled loops
    quick: int = 600
    repeat: int = 3
    timeout: float = 300.0
    note: str = ""
    large: bool = False
    file: str = ""


def load_module(path: Path) -> ModuleType:
    """A case file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def find(module: ModuleType, name: str) -> Any:
    """The function that a case names: of its own file, or "quality.embedding" of another one; None if there is none."""
    home, _, function = name.rpartition(".")
    return getattr(importlib.import_module(home) if home else module, function, None)


def load_cases(folder: Path = HERE) -> list[Case]:
    """All cases of a folder, in the order of the files; a name that stands twice, or names no function, is an error."""
    cases: list[Case] = []
    for path in sorted(folder.glob("cases_*.py")):
        module = load_module(path)
        for case in module.CASES:
            missing = [f for f in (case.check, *(side.call for side in case.sides)) if find(module, f) is None]
            if missing:
                raise LookupError(f"{path.name}: case {case.name} names {', '.join(missing)}, which is not there")
            cases.append(Case(**{**case.__dict__, "file": str(path)}))
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LookupError(f"these case names stand twice: {', '.join(twice)}")
    return cases
