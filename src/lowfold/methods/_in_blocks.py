"""Rows in blocks at the door of a method: which ones fit them, how they are read, and how a fitted model maps them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.rows import Rows
from lowfold._core.types import AnyFloats
from lowfold.graph._reading import read_blocks
from lowfold.graph._source import Blocks
from lowfold.methods._estimator import output_kind
from lowfold.methods._refusals import negative

InBlocks = Callable[[Any], str]
"""A model -> what to set so that it fits rows in blocks; "" where it does."""

OTHERS = "PCA, RandomProjection, LaplacianEigenmaps, DiffusionMaps and Isomap fit them"


def never(model: Any) -> str:
    """It works on all rows at once."""
    return f"fit it on some rows, X.take(...), and place all of them by transform; {OTHERS}"


def always(model: Any) -> str:
    """Whatever is set."""
    return ""


def with_landmarks(model: Any) -> str:
    """It solves on landmarks and places the others."""
    return "" if model.landmarks is not None else "set landmarks=2000, say: it is solved on them and places all others"


def read_for(
    method: Any, rows: Rows, *, gaps: bool = False, positive: bool = False, least: int = 2, metric: Any = "euclidean"
) -> Blocks:
    """The rows with what the first pass finds; refused in words where the method cannot fit them."""
    instead = type(method).in_blocks(method)
    if instead:
        raise InvalidInput(f"X is in blocks, and {type(method).__name__} does not fit them as it is set: {instead}")
    n, D = rows.shape
    if n < least:
        raise InvalidInput(f"Found array with {n} sample(s) (shape=({n}, {D})) while a minimum of {least} is required.")
    blocks = read_blocks(rows, metric, getattr(method, "metric_params", None), gaps=gaps)
    least_value = float(blocks.extent.low.min())
    if positive and least_value < 0:
        raise negative(method, least_value)
    method.n_features_in_ = D
    if hasattr(method, "feature_names_in_"):
        del method.feature_names_in_
    return blocks


def mapped_rows(rows: Rows, model: Any, way: str, columns: int, width: int) -> Any:
    """The rows through a fitted model, block by block, when they are asked for; the model is sent once."""
    if rows.shape[1] != columns:
        raise InvalidInput(f"X has {rows.shape[1]} columns, but {way} of this {type(model).__name__} takes {columns}")
    if output_kind(model) != "default":
        raise InvalidInput(
            "X is in blocks, and set_output would gather them in a table; leave set_output at its default"
        )
    return rows.lazily(mapped_block, width, model._output_type, _Mapped(model, rows.jobs), way)


class _Mapped:
    """A fitted model that uses so many threads."""

    def __init__(self, model: Any, jobs: int | None) -> None:
        self.model, self.jobs = model, jobs


def mapped_block(block: AnyFloats, start: int, mapped: _Mapped, way: str) -> AnyFloats:
    """One block: no answer depends on the other rows."""
    model = mapped.model
    if mapped.jobs is not None:
        model = copy(model)
        model.n_jobs = mapped.jobs
    return np.asarray(getattr(model, way)(block))
