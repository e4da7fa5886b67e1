"""Declared parameters: constructor, limits and docstring come from one line."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone

from lowfold._core.limits import Choice, Flag, Int
from lowfold._core.params import Declared, fixed, param, positional


class Shared(Declared):
    n_components: int = positional(default=2, limits=(Int(1),), text="Number of columns.", kw_only=False)
    verbose: bool = param(False, Flag(), "Say more.")


class Method(Shared, BaseEstimator):
    """A method.

    Attributes
    ----------
    embedding_ : array
    """

    rule: str = param("plain", Choice(("plain", "other")), "Which rule.")


class Other(Method):
    """Another default, one parameter settled, one more."""

    rule: str = param("other")
    verbose: Any = fixed(default=True, init=False)
    k: int = param(5, Int(1), "How many.")


def test_the_signature_has_own_parameters_first_and_inherited_ones_after() -> None:
    assert list(inspect.signature(Method).parameters) == ["n_components", "rule", "verbose"]
    kinds = [p.kind.name for p in inspect.signature(Method).parameters.values()]
    assert kinds == ["POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "KEYWORD_ONLY"]


def test_a_subclass_repeats_only_what_differs() -> None:
    assert Other().get_params() == {"n_components": 2, "k": 5, "rule": "other"}
    assert Other.limits["rule"] == Method.limits["rule"]
    assert Other.parameters["rule"].text == "Which rule."
    assert Other().verbose is True
    with pytest.raises(TypeError, match="unexpected keyword argument 'verbose'; its parameters are n_components, k"):
        Other(verbose=False)


def test_the_docstring_has_the_section_before_the_others() -> None:
    doc = Method.__doc__ or ""
    assert doc.index("Parameters\n---") < doc.index("Attributes\n---")
    assert 'rule : {"plain", "other"}, default="plain"\n    Which rule.' in doc


def test_estimators_are_cloned_and_set() -> None:
    model = clone(Method(3, rule="other"))
    assert model.get_params() == {"n_components": 3, "rule": "other", "verbose": False}
    assert model.set_params(rule="plain").rule == "plain"
    assert repr(Method(3)) == "Method(n_components=3)"


def test_a_model_from_before_a_parameter_existed_has_its_default() -> None:
    model = Method.__new__(Method)
    model.__dict__.update(n_components=2)
    assert model.rule == "plain"
