"""lowfold finds the low-dimensional manifold in high-dimensional data.

>>> import lowfold
>>> roll = lowfold.datasets.swiss_roll(500, random_state=0)
>>> Y = lowfold.Isomap(n_components=2, n_neighbors=10).fit_transform(roll.X)
"""

from __future__ import annotations

import importlib
from typing import Any

from lowfold._core.config import config_context, get_config, set_config
from lowfold._core.former import know_former_names
from lowfold._core.names import plain
from lowfold._version import __version__ as __version__
from lowfold.methods._elsewhere import ABSENT_MODULES, ANSWERS, MODULES, NO_SUCH, NOT_HERE, OTHER_NAMES
from lowfold.methods.registry import BY_NAME, REGISTRY
from lowfold.methods.registry import load as _load_class

know_former_names({**ANSWERS, **MODULES, **ABSENT_MODULES})

# Everything but the methods, which the registry lists: name -> module.
_PLACES = {
    "cite": "lowfold.methods.citations",
    "compare": "lowfold.select",
    "diagnose": "lowfold.quality",
    "fit_anndata": "lowfold.apps.anndata",
    "isomap_guarantee": "lowfold.methods.isomap",
    "load": "lowfold.methods.files",
    "plan": "lowfold.methods.plan",
    "save": "lowfold.methods.files",
    "show_versions": "lowfold._core.versions",
    "tune": "lowfold.select",
}
_FOLDERS = (
    *("apps", "datasets", "dimension", "errors", "geometry", "graph", "kernels", "lowrank", "metrics"),
    *("optimize", "quality", "sdp", "select", "spectral", "viz"),
)

# Names made from the tables above; type checkers read `__init__.pyi`. The folders are packages with names of their own.
__all__ = ["REGISTRY", "config_context", "get_config", "set_config", *BY_NAME, *_PLACES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load on first use: a method from the registry, a folder, or one of the functions above."""
    if name in BY_NAME:
        value = _load_class(name)
    elif name in _FOLDERS:
        value = importlib.import_module(f"lowfold.{name}")
    elif name in _PLACES:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    elif name in ANSWERS:
        raise ImportError(ANSWERS[name])  # seen by `from lowfold import` as well
    elif plain(name) in map(plain, NOT_HERE):
        raise ImportError(NO_SUCH.format(name=name.strip("_")))  # umap_ is the module of umap
    elif plain(name) in OTHER_NAMES:
        raise ImportError(f"{name} is lowfold.{OTHER_NAMES[plain(name)]}")
    elif places := _folders_with(name):
        raise ImportError(f"{name} is {' or '.join(f'lowfold.{folder}.{name}' for folder in places)}")
    else:
        raise AttributeError(f"lowfold has no attribute {name!r}; its methods are {', '.join(BY_NAME)}")
    globals()[name] = value
    return value


def _folders_with(name: str) -> list[str]:
    """Folders that list the name; they are loaded to look, so that none is for a private one, which tools ask for."""
    if name.startswith("_"):
        return []
    return [folder for folder in _FOLDERS if name in importlib.import_module(f"lowfold.{folder}").__all__]


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])
