"""The messages, the controls that are made of the methods' limits, and the palettes that two languages share."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from lowfold.methods.registry import REGISTRY, load
from lowfold.studio import _protocol as say
from lowfold.studio import _wire
from lowfold.studio._controls import controls
from lowfold.viz._colors import FEW_CLASSES, MORE_CLASSES


def test_the_types_of_the_page_are_those_of_the_server() -> None:
    text = (files("lowfold.studio") / "static" / "protocol.js").read_text(encoding="utf-8")
    assert text == _wire.script(), "run: python -m lowfold.studio._wire"


def test_an_event_is_one_line_of_json_without_nan() -> None:
    run = say.RunInfo("1", "PCA", {"tol": float("nan")}, "done", "1", picture=[say.Column("ab", "steps", 3)])
    found = json.loads(_wire.encode(say.Ran(run)))
    assert found["say"] == "ran"
    assert found["run"]["params"] == {"tol": None}
    assert found["run"]["picture"][0]["hash"] == "ab"


@pytest.mark.parametrize("name", [entry.name for entry in REGISTRY])
def test_every_method_has_controls_that_its_limits_allow(name: str) -> None:
    cls = load(name)
    found = controls(cls)
    assert found, "a method without any control"
    for one in found:
        assert one.sentence, f"{one.name} has no sentence"
        assert any(limit.allows(one.default) for limit in cls.limits[one.name]), one.name
        for option in one.options:
            assert any(limit.allows(option) for limit in cls.limits[one.name]), (one.name, option)
        if one.none is not None:
            assert any(limit.allows(None) for limit in cls.limits[one.name]), one.name


def test_the_renderer_has_the_palettes_of_the_plots() -> None:
    text = (files("lowfold.viz") / "scatter.js").read_text(encoding="utf-8")
    for palette in (FEW_CLASSES, MORE_CLASSES):
        assert json.dumps(list(palette)) in text
