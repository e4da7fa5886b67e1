"""Each method's own objective, for any embedding: how far is this picture from what the method would call best?

The operators come from the method's own stages: it is fitted to X, or given fitted, and its kernel is rebuilt. Methods
that descend are only asked for their loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.types import Floats
from lowfold.methods.registry import entry_of, load
from lowfold.optimize._loss_formulas import LossValue
from lowfold.quality._score import Score
from lowfold.quality._spaces import read_coordinates, same_length


@dataclass(frozen=True, eq=False, repr=False)
class Objective(Score):
    """A method's objective at one embedding; smaller is better.

    value    the objective at Y
    perfect  the least value there is (`least` "global"), the method's own ("linear"), or 0, which bounds it ("local")
    points   (n,) the share of every point, or its own error; None where there is none
    method   the class that lowers it
    what     the formula in words
    least    over what the method's own embedding is the least: "global" all embeddings of as many columns, "linear"
             linear maps of the data (of its features), "local" embeddings nearby
    own      the value at the method's own embedding; None for a method that was not fitted, or whose embedding has too
             few directions
    parts    named parts of the value
    """

    method: str = ""
    what: str = ""
    least: str = "global"
    own: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


def objective(X: Any, Y: ArrayLike, method: Any, *, scaled: bool = False, **params: Any) -> Objective:
    """What `method` lowers, at the embedding Y of X, whichever way Y was made.

    Parameters
    ----------
    X : the data, as the method takes them; None for a fitted model that keeps them.
    Y : array (n, d), any embedding.
    method : name of a method ("LLE"), its class, or a model; a model that is fitted is not fitted again.
    scaled : bool, where the objective has a unit of length (strain, stress, springs, divergences), take the unit of Y
        that suits it best, for embeddings whose unit means nothing.
    **params : parameters of the method, where `method` is a name or a class; n_components is the width of Y.

    Returns
    -------
    Objective
        For spectral methods `perfect` is the least value that any embedding of d columns can have, and `own` equals
        it up to the solver.

    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(900, random_state=0)
    >>> flat, folded = roll.coordinates, lowfold.PCA(2).fit_transform(roll.X)
    >>> objective(roll.X, flat, "LTSA").value < objective(roll.X, folded, "LTSA").value
    True
    >>> objective(roll.X, flat, "PCA").value > objective(roll.X, folded, "PCA").value
    True
    """
    check_limits("objective", {"scaled": scaled}, {"scaled": (Flag(),)})
    image = np.asarray(read_coordinates(Y, "Y").X, dtype=np.float64)
    model = _model(method, image.shape[1], params)
    name, lowers = entry_of(model).name, model.loss
    if X is None and not _fitted(model):
        raise InvalidInput(f"X must be given: this {name} is not fitted")
    data = _data(model, X)
    if lowers.fitted and not _fitted(model):
        model = model.fit(X)
    if _fitted(model):
        _same_shape(model, image)
    with single_threaded_blas():
        loss = model._loss(data, scaled=bool(scaled))
        found = loss(image)
        own = _own(loss, model) if _fitted(model) else None
    return Objective(
        f"{name}'s objective",
        found.value,
        _least(lowers.least, own),
        found.points,
        method=name,
        what=lowers.what,
        least=lowers.least,
        own=None if own is None else own.value,
        parts=MappingProxyType(dict(found.parts)),
    )


def _fitted(model: Any) -> bool:
    """Whether the model has an embedding of its own."""
    return hasattr(model, "embedding_")


def _data(model: Any, X: Any) -> Any:
    """X as the model reads it; without X, or without the labels that go with it, what the fitted model keeps."""
    if X is None or (model.supervised and _fitted(model)):
        return model._kept_data()
    fresh = type(model)(**model.get_params(deep=False))  # reading sets attributes
    return fresh.reader.data(fresh, X, None)


def _own(loss: Callable[[Floats], LossValue], model: Any) -> LossValue | None:
    """The loss of the model's own embedding; None where that has too few directions to be judged."""
    try:
        return loss(np.asarray(model._trained.coordinates, dtype=np.float64))
    except InvalidInput:
        return None


def _least(over: str, own: LossValue | None) -> float:
    if over == "local":
        return 0.0
    if own is None:
        return float("nan")
    bound = dict(own.parts).get("bound")
    return own.value if bound is None else bound


def _model(method: Any, d: int, params: dict[str, Any]) -> Any:
    """An estimator from a name, a class or an estimator."""
    if isinstance(method, str):
        method = load(method)
    if not isinstance(method, type):
        if params:
            raise InvalidInput(f"{', '.join(params)}: parameters go with a name or a class; this is a model already")
        return method
    cls: Any = method
    width = next(name for name in ("n_components", "n_clusters") if name in cls.parameters)
    if params.get(width, d) != d:
        raise InvalidInput(f"{width} must be the number of columns of Y, {d}; got {params[width]!r}")
    return cls(**{**params, width: d})


def _same_shape(model: Any, Y: Floats) -> None:
    n, d = model._trained.coordinates.shape
    if n == 0:
        raise InvalidInput("this model keeps no embedding of its data (it was fitted in blocks); fit it to X whole")
    same_length(n, len(Y), "the model's data and Y")
    if d != Y.shape[1]:
        raise InvalidInput(f"Y has {Y.shape[1]} columns and the model {d}; fit the model with as many")
    labels = getattr(model, "component_labels_", None)
    apart = getattr(model, "on_disconnected", None) in ("largest", "separate")
    if labels is not None and apart and labels.max(initial=0) > 0:
        raise InvalidInput("the pieces of this model were embedded one by one; fit with on_disconnected='connect'")
