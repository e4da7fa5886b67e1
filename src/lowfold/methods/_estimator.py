"""scikit-learn's protocol for estimators, kept without its base classes: a fit of plain arrays never loads it.

Importing `sklearn.base` takes longer than importing lowfold, NumPy and SciPy together, mostly for SciPy's statistics
and pandas. What scikit-learn asks of an estimator are methods and tags, not a base class; they stand here, and what
needs its own classes (tags, tables, views, callbacks) loads it when it is asked for.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.params import Declared, foreign_words

LONGEST = 60  # characters of a value in the text of a model; an array is told by its shape beyond


def setting(name: str, default: Any) -> Any:
    """scikit-learn's setting of that name; the default where it is not loaded, so that nobody can have changed it."""
    asked = getattr(sys.modules.get("sklearn"), "get_config", None)  # another thread may be importing it at this moment
    return default if asked is None else asked().get(name, default)


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` if the model was not fitted."""
    if not model.__sklearn_is_fitted__():
        _not_fitted(type(model).__name__)


def _not_fitted(name: str) -> NoReturn:
    from sklearn.exceptions import NotFittedError

    raise NotFittedError(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )


def output_kind(model: Any) -> str:
    """What `transform` answers with: "default" is an array; set by `set_output` or scikit-learn's `set_config`."""
    own = model.__dict__.get("_sklearn_output_config", {})
    return str(own.get("transform", setting("transform_output", "default")))


def in_container(model: Any, answer: Any, X: Any) -> Any:
    """The answer as a table of the kind that was asked for."""
    if output_kind(model) == "default":
        return answer
    from sklearn.utils._set_output import _wrap_data_with_container

    return _wrap_data_with_container("transform", answer, X, model)


def learned(name: str) -> bool:
    """Whether the name is that of a fitted attribute, by scikit-learn's rule."""
    return name.endswith("_") and not name.startswith("_")


class Estimator(Declared):
    """What scikit-learn's pipelines, searches, `clone`, `set_output`, callbacks and views ask of an estimator."""

    _estimator_type: ClassVar[str | None] = None  # scikit-learn's word for what it is, beside a transformer
    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = {"transform"}  # what scikit-learn asks: `set_output` is kept

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a fit to ask for anything."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` those of estimators among them as well, as name__parameter."""
        found: dict[str, Any] = {}
        for name in sorted(self.parameters):
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": part for inner, part in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as in scikit-learn, whose own names are answered with ours."""
        known = self.get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, nested, part = key.partition("__")
            if name not in known:
                told = foreign_words(type(self), params)
                raise InvalidInput(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(known)}{told}"
                )
            if nested:
                inner.setdefault(name, {})[part] = value
            else:
                known[name] = value
        for name, parts in inner.items():
            if not hasattr(known[name], "set_params"):
                raise InvalidInput(f"{name} of {type(self).__name__} has no parameters of its own; got {known[name]!r}")
            known[name].set_params(**parts)
        for name in params.keys() & known.keys():
            setattr(self, name, known[name])
        return self

    def __repr__(self) -> str:
        every, values = not setting("print_changed_only", default=True), self.get_params(deep=False)
        shown = [
            f"{name}={_short(value)}"
            for name, value in values.items()
            if every or not _same(value, self.parameters[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __getitem__(self, key: Any) -> NoReturn:
        """Elsewhere, as in openTSNE, `fit` gives the coordinates themselves."""
        raise TypeError(
            f"{type(self).__name__} is a model: its coordinates are embedding_, and fit_transform gives them"
        )

    def __dir__(self) -> list[str]:
        """Names to choose from; without those of a fitted model before there is one."""
        names, fitted = list(super().__dir__()), self.__sklearn_is_fitted__()
        return [name for name in names if fitted or not learned(name)]

    # Loaded when asked for ------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=["float64", "float32"]),
        )

    def set_output(self, *, transform: str | None = None) -> Self:
        """Let `transform` and `fit_transform` answer with "pandas" or "polars" tables; "default" is an array."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the output's columns: the method's name in small letters, and a number."""
        return _names_out(self, input_features)

    def get_metadata_routing(self) -> Any:
        """That `fit` and its like need nothing beside X and y."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=type(self).__name__)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Let scikit-learn's callbacks watch the fit (version 1.9 and later): progress, and a way to stop it."""
        from lowfold.methods._watching import callback_support

        callback_support().set_callbacks(self, *callbacks)
        return self

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator._get_params_html(self, *args, **kwargs)

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        """What the fit has left; what a property would compute, as Isomap's matrix of distances, is not shown."""
        from sklearn.base import BaseEstimator

        stored = SimpleNamespace(**{name: value for name, value in vars(self).items() if learned(name)})
        shown = BaseEstimator._get_fitted_attr_html(stored, *args, **kwargs)
        shown.estimator_class = type(self)  # whose docstring has the words
        return shown

    def _repr_html_inner(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if setting("display", "diagram") != "diagram":
            raise AttributeError("_repr_html_ is there only while scikit-learn's setting `display` is 'diagram'")
        return self._repr_html_inner

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        text = {"text/plain": repr(self)}
        return text | ({"text/html": self._repr_html_inner()} if setting("display", "diagram") == "diagram" else {})


def _names_out(model: Any, input_features: Any) -> NDArray[np.object_]:
    check_fitted(model)
    if input_features is not None:
        known, came = getattr(model, "feature_names_in_", None), np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(known, came):
            raise InvalidInput("input_features is not equal to feature_names_in_; leave it out")
        if len(came) != model.n_features_in_:
            raise InvalidInput(
                f"input_features should have length equal to number of features ({model.n_features_in_}), "
                f"got {len(came)}"
            )
    name = type(model).__name__.lower()
    return np.asarray([f"{name}{i}" for i in range(model._n_features_out)], dtype=object)


def _same(value: Any, default: Any) -> bool:
    """As scikit-learn compares them: NaN is NaN, and no array is asked whether it is true."""
    return value is default or repr(value) == repr(default)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and len(repr(value)) > LONGEST:
        return f"<array {value.shape}, {value.dtype}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
