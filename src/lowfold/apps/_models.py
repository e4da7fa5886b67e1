"""A method given by name or as a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import load


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
    cls = load(method)
    unknown = [key for key in parameters or {} if key not in cls.parameters]
    if unknown:
        raise InvalidInput(f"{cls.__name__} has no parameter {unknown[0]!r}; it has {', '.join(cls.parameters)}")
    return cls(**given, **(parameters or {}))
