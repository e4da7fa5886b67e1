"""The public names: as many as a person can keep in mind, each with one home, each of them written about."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter

import lowfold

MOST = 250
HOMES = [
    module.name
    for module in pkgutil.iter_modules(lowfold.__path__)
    if module.ispkg and not module.name.startswith("_") and module.name != "cli"
]


def exported(home: str) -> list[str]:
    return list(getattr(importlib.import_module(f"lowfold.{home}"), "__all__", []))


def test_they_are_few() -> None:
    everywhere = {home: exported(home) for home in HOMES}
    count = len(set(lowfold.__all__).union(*everywhere.values()))
    table = ", ".join(f"{home} {len(names)}" for home, names in everywhere.items())
    assert count <= MOST, f"{count} public names, {MOST} at most; lowfold {len(lowfold.__all__)}, {table}"


def test_each_has_one_home() -> None:
    """The top level may repeat the same object of a folder (`lowfold.tune`); two folders never share a name."""
    times = Counter(name for home in HOMES for name in exported(home))
    assert not [name for name, n in times.items() if n > 1]
    for home in HOMES:
        folder = importlib.import_module(f"lowfold.{home}")
        for name in set(exported(home)) & set(lowfold.__all__):
            assert getattr(lowfold, name) is getattr(folder, name), f"lowfold.{name} and lowfold.{home}.{name} differ"


def test_each_is_explained() -> None:
    bare = [
        f"{home}.{name}"
        for home in HOMES
        for name in exported(home)
        if callable(thing := getattr(importlib.import_module(f"lowfold.{home}"), name)) and not inspect.getdoc(thing)
    ]
    assert not bare, f"public, but without a docstring: {bare}"
