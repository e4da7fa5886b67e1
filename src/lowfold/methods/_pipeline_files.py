"""Pipelines of lowfold's methods and of scikit-learn's steps as data: a step is its class by name, parameters, arrays.

scikit-learn's classes are those listed here, whose fitted state is numbers and words; nothing else is looked up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import refuse
from lowfold.methods.registry import is_method

SKLEARN: Mapping[str, str] = {
    "Binarizer": "preprocessing",
    "KMeans": "cluster",
    "KNeighborsClassifier": "neighbors",
    "KNeighborsRegressor": "neighbors",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "LinearRegression": "linear_model",
    "LogisticRegression": "linear_model",
    "MaxAbsScaler": "preprocessing",
    "MinMaxScaler": "preprocessing",
    "NearestCentroid": "neighbors",
    "Normalizer": "preprocessing",
    "PCA": "decomposition",
    "PolynomialFeatures": "preprocessing",
    "PowerTransformer": "preprocessing",
    "QuantileTransformer": "preprocessing",
    "Ridge": "linear_model",
    "RobustScaler": "preprocessing",
    "SimpleImputer": "impute",
    "StandardScaler": "preprocessing",
    "TruncatedSVD": "decomposition",
    "VarianceThreshold": "feature_selection",
}
"""Class -> module of scikit-learn, of the steps that can be saved."""

TREES = {"kd_tree": "KDTree", "ball_tree": "BallTree"}
"""How neighbours are found -> the class of the tree, which is made again of the rows that the step keeps."""

Encode = Callable[[Any, str], Any]
Decode = Callable[[Any], Any]


def is_pipeline(model: object) -> bool:
    """Whether it is scikit-learn's Pipeline itself."""
    return type(model).__name__ == "Pipeline" and type(model).__module__ == "sklearn.pipeline"


def encoded_steps(pipeline: Any, encode: Encode, encode_method: Callable[[Any], Any]) -> list[Any]:
    """Every step with its name, as JSON."""
    return [[name, _step(name, step, encode, encode_method)] for name, step in pipeline.steps]


def _step(name: str, step: Any, encode: Encode, encode_method: Callable[[Any], Any]) -> Any:
    if step in (None, "passthrough"):
        return {"sklearn": "passthrough"}
    if is_method(step):
        return {"method": encode_method(step)}
    kind = type(step).__name__
    if kind not in SKLEARN or type(step) is not _class(kind):
        raise InvalidInput(
            f"step {name!r} is a {kind}, which is not saved as data; lowfold's methods are, and scikit-learn's "
            f"{', '.join(SKLEARN)}: save the others with pickle or skops"
        )
    params = step.get_params(deep=False)
    fitted = {key: value for key, value in vars(step).items() if key not in params}
    if not fitted and kind not in ("Normalizer", "Binarizer"):
        raise InvalidInput(f"step {name!r} is not fitted, so there is nothing to save yet; call fit first")
    inner = {key: value for key, value in fitted.items() if type(value).__name__ in SKLEARN}
    data = {key: value for key, value in fitted.items() if key not in inner and not _is_tree(value)}
    return {
        "sklearn": kind,
        "parameters": {key: encode(value, f"{name}.{key}") for key, value in params.items()},
        "fitted": {key: encode(value, f"{name}.{key}") for key, value in data.items()},
        "inner": {key: _step(f"{name}.{key}", value, encode, encode_method) for key, value in inner.items()},
    }


def _is_tree(value: object) -> bool:
    return type(value).__name__ in TREES.values() and type(value).__module__.startswith("sklearn.")


def decoded_pipeline(
    steps: Any, decode: Callable[[Any], Any], decode_method: Callable[[Any], Any], path: object
) -> Any:
    """The pipeline from its steps."""
    from sklearn.pipeline import Pipeline

    if not isinstance(steps, list) or not steps:
        refuse(path, "is not a readable pipeline: it has no steps")
    found = []
    for entry in steps:
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], dict)):
            refuse(path, "is not a readable pipeline: a step is no name with its content")
        name, content = str(entry[0]), entry[1]
        found.append((name, decode_method(content["method"]) if "method" in content else _made(content, decode, path)))
    pipeline = Pipeline(found)
    pipeline._validate_steps()  # names and kinds of the steps, before any of them is used
    return pipeline


def _made(content: Any, decode: Decode, path: object) -> Any:
    kind = content.get("sklearn")
    if kind == "passthrough":
        return "passthrough"
    if kind not in SKLEARN:
        refuse(path, f"holds a step {str(kind)[:50]!r}; known are {', '.join(SKLEARN)}")
    cls = _class(kind)
    step = cls(**{str(key): decode(value) for key, value in content["parameters"].items()})
    fitted = {key: decode(value) for key, value in content["fitted"].items()}
    fitted |= {key: _made(value, decode, path) for key, value in content.get("inner", {}).items()}
    for key, value in fitted.items():
        if not key.isidentifier() or key.startswith("__") or hasattr(cls, key):
            refuse(path, f"holds a value {key[:50]!r}, which is no fitted attribute of {kind}")
        setattr(step, key, value)
    if fitted.get("_fit_method") in TREES:
        _plant(step, path)
    return step


def _plant(step: Any, path: object) -> None:
    """The tree of a step's rows, made as its fit made it."""
    places = importlib.import_module(type(step).__module__.rpartition(".")[0])
    try:
        tree = getattr(places, TREES[step._fit_method])
        metric = {"metric": step.effective_metric_, **step.effective_metric_params_}
        step._tree = tree(step._fit_X, step.leaf_size, **metric)
    except (AttributeError, TypeError, ValueError) as error:
        refuse(path, f"holds rows of {type(step).__name__} of which no tree can be made ({error})")


def _class(name: str) -> Any:
    return getattr(importlib.import_module(f"sklearn.{SKLEARN[name]}"), name)
