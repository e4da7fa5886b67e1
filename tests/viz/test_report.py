"""The report: one file, nothing fetched, everything escaped, numbers as they were. The browser is in tests/browser."""

from __future__ import annotations

import base64
import getpass
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.select._compare_types import Comparison, Row
from lowfold.viz import _report_data, write_report
from lowfold.viz._report import report_html
from lowfold.viz._report_curves import Line, curves, sparkline, stroke
from lowfold.viz._report_parts import figure

VOID = {"meta", "input", "line", "circle", "path", "option"}


class Checker(HTMLParser):
    """Collects tags and attributes, and sees whether every tag is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open, f"{tag} is closed and was not open"
            assert self.open.pop() == tag


def parsed(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker


def packed(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="packed">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def steps(axis: dict[str, Any]) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(axis["steps"]), dtype="<u2").astype(float)
    raw[raw == 65535] = np.nan
    return axis["low"] + raw / 65534 * (axis["high"] - axis["low"])


EVIL = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def found() -> Comparison:
    roll = lowfold.datasets.swiss_roll(150, random_state=0)
    made = lowfold.compare(
        roll.X,
        ["pca", "isomap", "laplacian-eigenmaps", "weighted-mds"],
        labels=np.where(roll.color > 9, "a", EVIL),
        truth=roll.coordinates,
        color=roll.color,
        name=EVIL,
        isolate=False,
    )
    failed = Row("Broken", "Broken", "over budget", f"took {EVIL} long")
    tuned = {
        "method": "Isomap",
        "params": {"n_neighbors": 8},
        "curves": [
            {
                "parameter": "n_neighbors",
                "values": [5, 8, 12],
                "scores": [0.1, 0.9, None],
                "chosen": 8,
                "measure": "R_NX",
            }
        ],
        "reasons": ["8 neighbours keep most"],
    }
    rows = tuple(replace(row, tuned=tuned) if row.name == "Isomap" else row for row in made.rows)
    return replace(made, rows=(*rows, failed))


def test_it_is_one_well_formed_page_that_fetches_nothing(found: Comparison) -> None:
    page = report_html(found)
    checker = parsed(page)
    tags = [tag for tag, _ in checker.seen]
    assert not {"img", "link", "iframe", "object", "embed", "base", "form"} & set(tags)
    for tag, attributes in checker.seen:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page
    policy = next(a["content"] for _, a in checker.seen if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in str(policy)
    ids = [attributes["id"] for _, attributes in checker.seen if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_section_says_something(found: Comparison) -> None:
    page = report_html(found)
    for words in (
        "What the data look like",
        "Ranking",
        "Neighbours kept",
        "Parameters, and why",
        "8 neighbours keep most",
        "What did not finish",
        "WeightedMDS takes several matrices",
        "over budget: took",
        "numpy",
        "lowfold.compare(",
        "lowfold compare FILE --methods pca,isomap,laplacianeigenmaps",
    ):
        assert words in page, words
    for finding in found.diagnosis.to_dict()["findings"]:
        assert f"<h3>{finding['name']}: " in page
    assert page.count("<figure ") == 3


def test_what_comes_from_outside_is_escaped(found: Comparison) -> None:
    page = report_html(found)
    assert "<img" not in page
    assert page.count("</script>") == 2  # the data and the code
    assert packed(page)["fields"][0]["names"] == [EVIL, "a"]


def test_nothing_of_this_machine_is_in_it(found: Comparison, tmp_path: Path) -> None:
    page = report_html(found)
    assert str(Path.home()) + "/" not in page
    assert str(Path(lowfold.__file__).parent) not in page
    assert str(tmp_path.parent) not in page
    if len(getpass.getuser()) > 5:
        assert getpass.getuser() not in page


def test_coordinates_colours_and_trust_arrive(found: Comparison) -> None:
    data = packed(report_html(found))
    assert (data["n"], data["rows"]) == (150, None)
    for picture in data["pictures"]:
        row = found[picture["name"]]
        for axis, column in zip(picture["axes"], row.embedding.T):
            assert steps(axis) == pytest.approx(column, abs=2e-5 * np.ptp(column))
        trust = np.frombuffer(base64.b64decode(picture["trust"]), dtype=np.uint8) / 254
        assert trust == pytest.approx(row.quality.trust, abs=0.002)
    names = [field["name"] for field in data["fields"]]
    assert names[:4] == ["class", "colour", "true coordinate 1", "true coordinate 2"]
    assert "trust of each point" in names
    assert steps(data["fields"][1]) == pytest.approx(found.color, abs=1e-3)


def test_methods_with_the_same_graph_share_it(found: Comparison) -> None:
    data = packed(report_html(found))
    graphs = {picture["name"]: picture["graph"] for picture in data["pictures"]}
    assert graphs["PCA"] is None
    assert graphs["Isomap"] == graphs["LaplacianEigenmaps"]
    assert len(data["graphs"]) == 1
    pairs = np.frombuffer(base64.b64decode(data["graphs"][0]["edges"]), dtype="<u2").reshape(-1, 2)
    assert np.array_equal(pairs, found["Isomap"].edges)


def test_many_points_are_thinned_and_the_page_says_so(found: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_report_data, "DRAWN", 40)
    monkeypatch.setattr(_report_data, "EDGES", 25)
    page = report_html(found)
    data = packed(page)
    assert "40 of the 150 points are drawn" in page
    assert "a part of the edges is drawn" in page
    rows = np.frombuffer(base64.b64decode(data["rows"]), dtype="<u4")
    assert len(np.unique(rows)) == 40
    assert steps(data["fields"][1]) == pytest.approx(found.color[rows], abs=1e-3)
    assert data["graphs"][0]["shown"] <= 25


@pytest.mark.parametrize("d", [1, 3, 5])
def test_other_dimensions(d: int) -> None:
    X = np.random.default_rng(0).normal(size=(60, 6))
    data = packed(report_html(lowfold.compare(X, ["pca"], n_components=d, isolate=False, diagnose=False)))
    assert len(data["pictures"][0]["axes"]) == (2 if d == 1 else 3)
    assert len(data["fields"]) == 1  # nothing is known of the points but how far each can be trusted


def test_a_comparison_in_which_everything_failed(found: Comparison) -> None:
    page = report_html(replace(found, rows=found.rows[-1:], diagnosis=None))
    parsed(page)
    assert packed(page)["pictures"] == []
    assert "0 of 1 methods finished" in page


def test_the_file_says_its_size_and_is_never_overwritten(found: Comparison, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_report(found, target, title="A & B")
    text = target.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in text
    size = re.search(r"its size is ([\d.]+) kB", text)
    assert size
    assert float(size[1]) == pytest.approx(target.stat().st_size / 1000, abs=0.2)
    with pytest.raises(FileProblem, match="exists"):
        write_report(found, target)
    write_report(found, target, overwrite=True)
    assert "<h1>A &amp; B</h1>" not in target.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_wrong_arguments_in_words(found: Comparison, tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"written as \.html"):
        write_report(found, tmp_path / "report.pdf")
    with pytest.raises(InvalidInput, match=r"what lowfold\.compare returns"):
        write_report("found", tmp_path / "report.html")  # type: ignore[arg-type]


def test_lines_differ_and_curves_stay_inside() -> None:
    assert len({stroke(i) for i in range(24)}) == 24
    drawn = curves([Line("a", [1, 10, 100], [0.5, 1.4, None])], title="t", x_name="x", y_name="y")
    path = re.search(r'd="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', drawn)
    assert path
    assert [float(v) for v in path.groups()] == pytest.approx([50.0, 136.0, 279.0, 12.0], abs=0.1)
    assert sparkline([1.0], 0, "x") == ""
    assert "circle" in sparkline([1.0, None, 3.0], 2, "x")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (float("nan"), "-"), (0.5, "0.500"), (12.345, "12.3"), (1e-9, "1.0e-09"), (0.0, "0.000")],
)
def test_numbers_as_readers_want_them(value: float | None, shown: str) -> None:
    assert figure(value) == shown


def test_what_is_pressed_is_24_pixels_high() -> None:
    """A rule that unsets everything unsets the height of all buttons too."""
    rules = (files("lowfold.viz") / "_report.css").read_text(encoding="utf-8").split("}")
    bare = [rule for rule in rules if "all: unset" in rule]
    assert len(bare) == 3
    assert all("min-height: 24px" in rule for rule in bare)
