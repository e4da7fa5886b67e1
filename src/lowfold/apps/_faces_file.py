"""A model of faces as one .npz file of plain arrays."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from lowfold._core.file_words import existing_file, parsing, refuse
from lowfold.datasets._write_table import replacing

FORMAT = "lowfold eigenfaces 1"


def write_model(path: str | Path, model: Any, *, overwrite: bool) -> None:
    """Every field as an array; the file appears whole or not at all."""
    target = Path(path)
    if target.suffix.lower() != ".npz":
        refuse(path, "a model of faces is written as .npz; choose that ending")
    with replacing(target, overwrite=overwrite) as part, part.open("wb") as stream:
        np.savez(stream, format=FORMAT, **{field.name: getattr(model, field.name) for field in fields(model)})


def read_model(path: str | Path, cls: type) -> dict[str, Any]:
    """The fields of `cls` that `write_model` wrote; nothing in the file is executed."""
    with parsing(path, "model of faces"), np.load(existing_file(path), allow_pickle=False) as stored:
        found = {name: stored[name] for name in stored.files}
    names = [field.name for field in fields(cls)]
    if str(found.pop("format", "")) != FORMAT or set(found) != set(names):
        refuse(path, "is not a model of faces; make one with `lowfold faces train`")
    found["image_shape"] = tuple(int(side) for side in found["image_shape"])
    n, d = found["weights"].shape if found["weights"].ndim == 2 else (0, 0)
    if found["basis"].shape != (d, int(np.prod(found["image_shape"]))) or len(found["persons"]) != n:
        refuse(path, "is damaged: its parts do not fit together")
    return {name: value.item() if getattr(value, "ndim", 1) == 0 else value for name, value in found.items()}
