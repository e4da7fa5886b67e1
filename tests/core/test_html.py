"""Results show themselves as tables in a notebook, with every text escaped."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

import lowfold
from lowfold import quality
from lowfold._core.html import html_table


def _cells(page: str) -> list[list[str]]:
    root = ET.fromstring(page.replace("<br>", "<br/>"))
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_texts_are_escaped():
    page = html_table(["a<b"], [["<script>x</script>\nnext"]], title='"t"', notes=["1 & 2", ""])
    assert "<script>" not in page
    assert _cells(page) == [["a<b"], ["<script>x</script>next"]]
    assert "<p>1 &amp; 2</p>" in page
    assert page.count("<p>") == 2


def test_plan_comparison_and_diagnosis_have_a_view_of_their_own():
    X = np.random.default_rng(0).random((80, 3))
    told = lowfold.plan(X, "isomap", n_neighbors=6)
    names = [row[0] for row in _cells(told._repr_html_())[1:]]
    assert names == [*(stage.name for stage in told.stages), "peak"]
    found = quality.diagnose(X, n_jobs=1)
    assert [row[:2] for row in _cells(found._repr_html_())[1:]] == [[one.name, one.verdict] for one in found]
    compared = lowfold.compare(X, ["pca"], name="a <b>", isolate=False, diagnose=False)
    header, row = _cells(compared._repr_html_())
    assert header[0] == "method"
    assert row[0] == "PCA"
    assert "a &lt;b&gt;" in compared._repr_html_()
    assert f"{compared['PCA']['trustworthiness']:.3f}" in row


def test_what_tune_chose_has_a_view_of_its_own():
    X = lowfold.datasets.swiss_roll(150, random_state=3).X
    tuned = lowfold.tune(X, "lle", n_components=2, n_neighbors=[6, 9])
    page = tuned._repr_html_()
    header, *rows = _cells(page)
    assert header[:3] == ["parameter", "candidate", "score"]
    rows = [row for row in rows if row[0] == "n_neighbors"]
    assert [row[1] for row in rows] == ["6", "9"]
    assert [row[1] for row in rows if "chosen" in row[3]] == [str(tuned.params["n_neighbors"])]
    assert "<b>LLE(" in page
