"""The table of methods, and how a row or a class is found in it.

No method is imported here; `lowfold.__getattr__`, the command line, the documentation and the contract test read it.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold._core.names import find_name, plain
from lowfold.methods._elsewhere import NO_SUCH, NOT_HERE, OTHER_NAMES
from lowfold.methods._table import BY_NAME, REGISTRY, Entry

__all__ = ["BY_NAME", "REGISTRY", "Entry", "entry_of", "find", "is_method", "load", "model_of"]


def find(name: str) -> Entry:
    """The row of a method, by its name or another that people know it by, in any case, with or without dashes.

    `InvalidInput` where there is none.

    >>> find("laplacian-eigenmaps").name, find("hlle").name
    ('LaplacianEigenmaps', 'HessianLLE')
    """
    if words := elsewhere_alone(name):
        raise InvalidInput(words)
    return BY_NAME[OTHER_NAMES.get(plain(name)) or find_name(name, BY_NAME, "method")]


def elsewhere_alone(name: str) -> str | None:
    """What to say of a method that other packages have and lowfold has not."""
    return NO_SUCH.format(name=name) if plain(name) in map(plain, NOT_HERE) else None


def load(name: str) -> Any:
    """The class of a method, by any name that `find` takes; this loads scikit-learn."""
    entry = find(name)
    with uncollected():
        return getattr(importlib.import_module(f"lowfold.methods.{entry.module}"), entry.name)


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: what is imported stays, and looking again and again takes a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def entry_of(method: object) -> Entry:
    """The row of a class, a model, or what inherits from one; `InvalidInput` where it is none of lowfold's."""
    cls = method if isinstance(method, type) else type(method)
    found = _row(cls)
    if found is None:
        data = "; the data come first, then the method" if hasattr(cls, "shape") else ""
        raise InvalidInput(f"method must be a name, a class or a model of lowfold; got {cls.__name__}{data}")
    return found


def is_method(model: object) -> bool:
    """Whether a model is one of lowfold's."""
    return _row(type(model)) is not None


def _row(cls: type) -> Entry | None:
    rows = (BY_NAME.get(base.__name__) for base in cls.__mro__ if base.__module__.startswith("lowfold.methods."))
    return next((row for row in rows if row is not None), None)


def model_of(method: Any, params: Mapping[str, Any]) -> Any:
    """A model, not fitted, from a name, a class or a model, with these parameters."""
    if isinstance(method, str):
        method = load(method)
    name = entry_of(method).name
    cls: Any = method if isinstance(method, type) else type(method)
    for key in params:
        if key not in cls.parameters:
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(cls.parameters)}")
    return cls(**params) if isinstance(method, type) else cls(**{**method.get_params(deep=False), **params})
