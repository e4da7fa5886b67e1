"""Fitted models as files of data alone: a zip of npy arrays and one JSON text. Nothing in a file is ever executed.

    model -> get_params and fitted attributes -> JSON tree, arrays by number -> zip, whole or not at all

Classes are named in the file and looked up in the registry or in `CLASSES` below; whatever is not listed there can be
neither written nor read. Sizes are compared with the file before anything is allocated.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.file_words import existing_file, parsing, refuse
from lowfold._core.limits import check_limits
from lowfold._core.rows import Rows
from lowfold.datasets._read_arrays import _npy
from lowfold.datasets._write_table import replacing
from lowfold.graph._source import Blocks
from lowfold.methods._file_checks import READ_FROM, check_members, checked_part, misfit
from lowfold.methods._pipeline_files import decoded_pipeline, encoded_steps, is_pipeline
from lowfold.methods._row_files import read_blocks, write_member
from lowfold.methods.registry import BY_NAME
from lowfold.methods.registry import load as load_class

FORMAT = 1
TEXT = "lowfold.json"
# Of one fit, not of the model: the same model gives the same bytes
PASSING = ("_skl_callbacks", "_history", "_read_from")
FLOAT_BYTES = (4, 8)
KINDS = "fiubcU"  # of arrays: numbers, truth values, fixed-width text; never objects

CLASSES: dict[str, str] = {
    "AffineMap": "lowfold.methods._linear_method",
    "BackThroughLandmarks": "lowfold.methods._placing.landmarks",
    "Barycentric": "lowfold.methods._placing.maps",
    "Bridges": "lowfold.graph._connect",
    "Combined": "lowfold.methods._select",
    "ConditionalScores": "lowfold.methods.empca",
    "DiffusionRow": "lowfold.methods._placing.walks",
    "Eigenpairs": "lowfold.spectral._types",
    "FeatureProjection": "lowfold.methods.nonlinear_pca",
    "FixedPoint": "lowfold.methods._placing.preimages",
    "GramRow": "lowfold.methods._placing.maps",
    "Graph": "lowfold.graph._types",
    "HarmonicRow": "lowfold.methods._placing.harmonics",
    "Impossible": "lowfold.methods._placing.maps",
    "KernelExpansion": "lowfold.methods.kernel_lpp",
    "KernelRow": "lowfold.methods.kernel_pca",
    "LandmarkModel": "lowfold.methods._placing.landmarks",
    "LandmarkRow": "lowfold.methods._placing.geodesics",
    "LinearBack": "lowfold.methods._placing.back",
    "LinearRow": "lowfold.methods.locally_linear_isomap",
    "Measured": "lowfold.graph._source",
    "Mercer": "lowfold.kernels._functions",
    "MergedRow": "lowfold.methods._several_matrices",
    "Moments": "lowfold.lowrank._streaming",
    "MultilinearMap": "lowfold.methods.multilinear_pca",
    "NearestCorner": "lowfold.methods._placing.maps",
    "NeighborRow": "lowfold.methods._neighbor_embedding",
    "Neighbors": "lowfold.graph._types",
    "NonnegativeRow": "lowfold.methods.nmf",
    "Pairs": "lowfold.graph._source",
    "PatchMap": "lowfold.methods._placing.patches",
    "Piece": "lowfold.methods._placing.maps",
    "Pieces": "lowfold.methods._placing.maps",
    "PlaneMap": "lowfold.methods._placing.sheets",
    "Points": "lowfold.graph._source",
    "RandomMap": "lowfold.methods.random_projection",
    "ReconstructionRow": "lowfold.methods._placing.patches",
    "RidgePreimage": "lowfold.methods._placing.preimages",
    "Sheet": "lowfold.graph._source",
    "SparseErrorRow": "lowfold.methods.robust_pca",
    "SparseRows": "lowfold._core.sparse_rows",
    "StressRow": "lowfold.methods._placing.stress",
    "ThroughLandmarks": "lowfold.methods._placing.landmarks",
    "Trained": "lowfold.methods._fit",
    "Unknown": "lowfold.methods._placing.maps",
    "VectorRow": "lowfold.methods._placing.fields",
    "WeightedRow": "lowfold.methods.weighted_mds",
}
"""Class -> module of every part that a fitted model may hold. A new extension gets a line here."""

FORMER = {"_Corner": "NearestCorner"}  # names of 0.1
FORMER_FIELDS = {"LinearRow": ("n_components", "linearity")}  # of parts of 0.1 that have them no more


def save(path: str | Path, model: Any, *, overwrite: bool = False) -> None:
    """Write a fitted model, or a Pipeline of such and of scikit-learn's steps, to a file that `load` reads bit for bit.

    The file appears whole or not at all; an existing one is left alone unless `overwrite`. Rows in blocks that a model
    needs are written into it, and stay in it when it is read. Functions (a callable
    metric) and random generators cannot be written as data: use a name and an int, or pickle.

    >>> import lowfold, numpy, tempfile
    >>> model = lowfold.PCA(1).fit(numpy.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lowfold.save(f"{folder}/line.lowfold", model)
    ...     lowfold.load(f"{folder}/line.lowfold").transform([[1.0, 2.0]]).tolist()
    [[0.0]]
    """
    if hasattr(path, "get_params"):
        raise InvalidInput("save takes the name of the file first: save(path, model)")
    if Path(path).exists() and not Path(path).is_file():
        raise FileProblem(f"{path}: is no ordinary file and is not replaced; name a file")
    arrays = _Arrays()
    head = {"format": FORMAT, "versions": _versions()}
    if is_pipeline(model):
        steps = encoded_steps(model, arrays.encode, lambda step: _content(step, arrays))
        content = {**head, "class": "Pipeline", "parameters": {}, "fitted": {}, "steps": steps}
    else:
        content = {**head, **_content(model, arrays)}
    with replacing(Path(path), overwrite=overwrite) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(TEXT), json.dumps(content, allow_nan=False))  # no date: same model, same bytes
        for number, array in enumerate(arrays.found):
            with archive.open(f"{number}.npy", "w", force_zip64=True) as stream:
                write_member(stream, array)


def _content(model: Any, arrays: _Arrays) -> dict[str, Any]:
    """Class, parameters and fitted values of one method."""
    name = type(model).__name__
    if name not in BY_NAME or type(model) is not load_class(name):
        raise InvalidInput(
            f"lowfold's own methods and pipelines of them can be saved, as save(path, model); got {name}"
        )
    if not hasattr(model, "embedding_") and not hasattr(model, "_extend"):  # a streamed model has no embedding
        raise InvalidInput(f"this {name} is not fitted, so there is nothing to save yet; call fit first")
    params = model.get_params(deep=False)
    fitted = {key: value for key, value in vars(model).items() if key not in (*params, *PASSING)}
    return {
        "class": name,
        "parameters": {key: arrays.encode(value, key) for key, value in params.items()},
        "fitted": {key: arrays.encode(value, key) for key, value in fitted.items()},
    }


def load(path: str | Path) -> Any:
    """The fitted model that `save` wrote. Only data are read; a damaged or foreign file is refused in one sentence."""
    file = existing_file(path)
    if not zipfile.is_zipfile(file):
        refuse(path, "is not a model of lowfold: it is no zip archive, or it is cut short")
    try:
        with parsing(path, "model of lowfold"), zipfile.ZipFile(file) as archive:
            check_members(archive, file, TEXT)
            content = json.loads(archive.read(TEXT))
            reader = _Reader(archive, str(path))
            if isinstance(content, dict) and content.get("class") == "Pipeline":
                _check_format(content, path)
                return decoded_pipeline(
                    content.get("steps"), reader.decode, lambda step: _model(step, reader, path), path
                )
            _check_format(content, path)
            return _model(content, reader, path)
    except InvalidInput as error:  # a part that refuses its own values does not know the file
        raise error if isinstance(error, FileProblem) else FileProblem(f"{path}: {error}") from error


def _model(content: Any, reader: _Reader, path: object) -> Any:
    """One method from its content."""
    _check_content(content, path)
    params = {key: reader.decode(value) for key, value in content["parameters"].items()}
    fitted = {key: reader.decode(value) for key, value in content["fitted"].items()}
    return _assembled(load_class(content["class"]), params, fitted, path)


# Writing ------------------------------------------------------------------------------------------------------------


class _Arrays:
    """Turns values into JSON and keeps the arrays met on the way, each once."""

    def __init__(self) -> None:
        self.found: list[NDArray[Any] | Rows] = []
        self._number: dict[int, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value; `where` names it in errors."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.generic):
            return {"scalar": self._place(np.asarray(value), where)}
        if isinstance(value, int):
            return value if abs(value) < 2**63 else {"int": str(value)}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, dict):
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"dict": pairs}
        return self._object(value, where)

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype == object:
            if value.ndim == 1 and all(isinstance(item, str) for item in value):
                return {"names": value.tolist()}  # feature_names_in_ is such an array
            raise InvalidInput(f"{where} is an array of Python objects, which cannot be saved as data; use pickle")
        return {"array": self._place(value, where)}

    def _place(self, array: NDArray[Any] | Rows, where: str) -> int:
        if array.dtype.kind not in KINDS or array.dtype.fields is not None:
            raise InvalidInput(f"{where} is an array of {array.dtype}, which cannot be saved as data; use pickle")
        if id(array) not in self._number:
            self._number[id(array)] = len(self.found)
            self.found.append(array)
        return self._number[id(array)]

    def _object(self, value: Any, where: str) -> Any:
        from scipy.sparse import issparse

        from lowfold.metrics._metric import Metric

        name = type(value).__name__
        if isinstance(value, np.dtype) and value.kind in KINDS:
            return {"dtype": value.str}
        if isinstance(value, Metric) and value.name != "callable":
            return {"metric": value.name, "params": self.encode(value.params, where)}
        if isinstance(value, Blocks):
            return {"blocks": self._place(value.rows, where), "metric": self.encode(value.metric, where)}
        if issparse(value):
            matrix: Any = value
            matrix = matrix.tocsr()
            parts = {key: self.encode(getattr(matrix, key), where) for key in ("data", "indices", "indptr")}
            return {"csr": parts, "shape": [int(side) for side in matrix.shape]}
        if CLASSES.get(name) and type(value) is _part(name):
            return {
                "object": name,
                "fields": {key: self.encode(part, f"{where}.{key}") for key, part in _fields(value).items()},
            }
        unlisted = dataclasses.is_dataclass(value) and not isinstance(value, Metric)
        if not unlisted and (callable(value) or isinstance(value, Metric)):
            raise InvalidInput(f"{where} is a function, which cannot be saved as data; use a name, or pickle the model")
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            raise InvalidInput(f"{where} is a random generator, which cannot be saved as data; pass an int, or pickle")
        raise InvalidInput(f"{where} is a {name}, which lowfold.methods.files.CLASSES does not list; use pickle")


def _fields(part: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(part):
        return {field.name: getattr(part, field.name) for field in dataclasses.fields(part) if field.init}
    return dict(vars(part))


def _versions() -> dict[str, str]:
    """What wrote the file: for the reader of an old one, and for bug reports."""
    from lowfold._core.versions import CORE, versions

    known = versions()
    return {name: known[name] for name in ("python", *CORE)}


# Reading ------------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns JSON back into values; arrays are read when first named, and shared where the model shared them."""

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self._archive, self._source = archive, source
        self._arrays: dict[int, NDArray[Any]] = {}

    def decode(self, node: Any) -> Any:
        if node is None or isinstance(node, (bool, str, int, float)):
            return node
        if not isinstance(node, dict) or not node:
            refuse(self._source, "is not a readable model: its text has parts that save never writes")
        kind, value = next(iter(node.items()))
        if kind == "array":
            return self._array(value)
        if kind == "scalar":
            return self._array(value)[()]
        if kind == "int":
            return int(str(value)[:1000])
        if kind == "float":
            return float(value)
        if kind in ("list", "tuple"):
            items = [self.decode(item) for item in value]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {self.decode(key): self.decode(item) for key, item in value}
        if kind == "names":
            return np.array([str(item) for item in value], dtype=object)
        return self._object(kind, value, node)

    def _array(self, number: Any) -> NDArray[Any]:
        if not isinstance(number, int):
            refuse(self._source, f"names an array {number!r}, where a number should stand")
        if number not in self._arrays:
            info = self._archive.getinfo(f"{number}.npy")
            with self._archive.open(info) as stream:
                array = _npy(stream, info.file_size, f"{self._source}, array {number}", kinds=KINDS)
            if array.dtype.kind == "f" and array.dtype.itemsize not in FLOAT_BYTES:
                refuse(self._source, f"array {number} holds {array.dtype}, and models hold float32 and float64")
            # writable and in the order of this machine's bytes, as the arrays of a fresh fit are
            self._arrays[number] = np.array(array, dtype=array.dtype.newbyteorder("="), order="K")
        return self._arrays[number]

    def _object(self, kind: str, value: Any, node: dict[str, Any]) -> Any:
        if kind == "dtype":
            return np.dtype(str(value)[:20])
        if kind == "metric":
            from lowfold.metrics._resolve import resolve_metric

            return resolve_metric(str(value), self.decode(node["params"]), None)
        if kind == "blocks":
            return read_blocks(self._archive, f"{int(value)}.npy", self.decode(node["metric"]), self._source)
        if kind == "csr":
            from scipy.sparse import csr_array

            data, indices, indptr = (self.decode(value[key]) for key in ("data", "indices", "indptr"))
            matrix = csr_array((data, indices, indptr), shape=tuple(node["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        value = FORMER.get(value, value) if isinstance(value, str) else value
        if kind == "object" and value in CLASSES:
            former = FORMER_FIELDS.get(value, ())
            fields = {str(key): self.decode(part) for key, part in node["fields"].items() if key not in former}
            return checked_part(_part(value)(**fields), self._source)
        return refuse(self._source, f"holds a part {value!r} that this version of lowfold does not know")


def _part(name: str) -> Any:
    """A class of the list above."""
    return getattr(importlib.import_module(CLASSES[name]), name)


LACKING = "is not a readable model: its text lacks the format, the parameters or the fitted values"


def _check_format(content: Any, path: object) -> None:
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        refuse(path, LACKING)
    if content["format"] > FORMAT:
        version = str(dict(content.get("versions") or {}).get("lowfold"))[:20]
        refuse(path, f"was written by lowfold {version} in a newer format ({content['format']}); update lowfold")


def _check_content(content: Any, path: object) -> None:
    known = isinstance(content, dict) and all(isinstance(content.get(key), dict) for key in ("parameters", "fitted"))
    if not known:
        refuse(path, LACKING)
    if content.get("class") not in BY_NAME:
        refuse(path, f"holds a {str(content.get('class'))[:50]!r}; the methods known here are {', '.join(BY_NAME)}")


def _assembled(cls: Any, params: dict[str, Any], fitted: dict[str, Any], path: object) -> Any:
    """The model from its values; names that would replace part of the class itself are refused."""
    name = cls.__name__
    known = cls.parameters
    for key in params:
        if key not in known:
            refuse(path, f"{name} has no parameter {key!r} in this version of lowfold; it has {', '.join(known)}")
    check_limits(name, params, cls.limits)
    model = cls(**params)
    for key, value in fitted.items():
        # a method may set a plain flag of its class per model; nothing else of the class can come from a file
        of_class = hasattr(cls, key) and not isinstance(getattr(cls, key), (bool, int, float, str))
        if not key.isidentifier() or key.startswith("__") or of_class or key in known:
            refuse(path, f"holds a value {key[:50]!r}, which is no fitted attribute of {name}")
        setattr(model, key, value)
    _check_model(model, path)
    READ_FROM[model] = str(path)
    return model


def _check_model(model: Any, path: object) -> None:
    from lowfold.methods._fit import Trained

    trained = getattr(model, "_trained", None)
    embedding = getattr(model, "embedding_", None)
    whole = (
        isinstance(trained, Trained)
        # a linear map need not keep its training points, and a streamed one has embedded none
        and (embedding is None or (isinstance(embedding, np.ndarray) and embedding.ndim == 2))
        and len(trained.coordinates) in (0 if embedding is None else len(embedding), 0)
        and hasattr(getattr(model, "_extend", None), "place")
        and hasattr(getattr(model, "_invert", None), "restore")
    )
    if not whole:
        refuse(path, f"is damaged: the parts of this {type(model).__name__} are missing or do not belong together")
    words = misfit(model)
    if words is not None:
        refuse(path, f"is damaged: {words}")


__all__ = ["CLASSES", "load", "save"]
