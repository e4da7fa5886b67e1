"""Modules under the names that they had before, which pickles of 0.1 name, or have in other libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PLACING = "lowfold.methods._placing"
FORMER: dict[str, tuple[str, ...]] = {
    "lowfold.methods._extend": (f"{PLACING}.maps",),
    "lowfold.methods._alignment_extend": (f"{PLACING}.patches", f"{PLACING}.maps"),
    "lowfold.methods._geodesic_extend": (f"{PLACING}.geodesics",),
    "lowfold.methods._diffusion_extend": (f"{PLACING}.walks", f"{PLACING}.landmarks"),
    "lowfold.methods._vector_extend": (f"{PLACING}.fields",),
    "lowfold.methods._descent_extend": (f"{PLACING}.stress",),
    "lowfold.methods._preimage": (f"{PLACING}.preimages",),
    "lowfold.spectral._streaming": ("lowfold.lowrank._streaming",),
}
"""Former name -> where its contents are now."""


class _Former(MetaPathFinder, Loader):
    def __init__(self, elsewhere: Mapping[str, str]) -> None:
        self.elsewhere = {f"lowfold.{name}": words for name, words in elsewhere.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in FORMER or fullname in self.elsewhere else None

    def exec_module(self, module: ModuleType) -> None:
        if words := self.elsewhere.get(module.__name__):
            raise ImportError(words)
        for name in FORMER[module.__name__]:
            now = vars(importlib.import_module(name))
            vars(module).update({key: value for key, value in now.items() if not key.startswith("__")})


def know_former_names(elsewhere: Mapping[str, str]) -> None:
    """Let the import system find them, once, and answer names of another library with a sentence each."""
    if not any(isinstance(finder, _Former) for finder in sys.meta_path):
        sys.meta_path.append(_Former(elsewhere))
