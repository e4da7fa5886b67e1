"""A method given by name or as a model."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import BY_NAME
from lowfold.select._compare_models import find_name


def model_of(method: Any, n_components: int | None = None, parameters: Mapping[str, Any] | None = None) -> Any:
    """A fresh model: of the named class with these parameters, or a copy of the given model, unfitted.

    >>> model_of("laplacian-eigenmaps", 3, {"n_neighbors": 8}).n_neighbors
    8
    """
    given = {} if n_components is None else {"n_components": n_components}
    if not isinstance(method, str):
        if not hasattr(method, "fit_transform") or not hasattr(method, "get_params"):
            raise InvalidInput(f"method must be the name of a method or a model; got {type(method).__name__}")
        from sklearn.base import clone

        return clone(method).set_params(**given, **(parameters or {}))
    name = find_name(method)
    if name not in BY_NAME:
        raise InvalidInput(f"{name} is not lowfold's; pass a model of it instead of its name")
    cls = getattr(importlib.import_module(f"lowfold.methods.{BY_NAME[name].module}"), name)
    unknown = [key for key in parameters or {} if key not in cls._get_param_names()]
    if unknown:
        raise InvalidInput(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(cls._get_param_names())}")
    return cls(**given, **(parameters or {}))
