"""`lowfold compare`: a report, a table, numbers, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lowfold

pytestmark = pytest.mark.timeout(90)  # every method starts an interpreter


@pytest.fixture
def roll(tmp_path: Path) -> Path:
    """A Swiss roll with its colour, a class and the true coordinates."""
    made = lowfold.datasets.swiss_roll(120, random_state=0)
    head = "a,b,c,turn,side,u,v"
    rows = [
        ",".join([*map(str, x), str(t), "in" if t < 9 else "out", *map(str, u)])
        for x, t, u in zip(made.X.tolist(), made.color.tolist(), made.coordinates.tolist())
    ]
    (tmp_path / "roll.csv").write_text("\n".join([head, *rows]) + "\n")
    return tmp_path / "roll.csv"


def test_report_table_and_numbers(run: Any, roll: Path, tmp_path: Path) -> None:
    out, numbers = tmp_path / "report.html", tmp_path / "numbers.json"
    columns = ("--color", "turn", "--truth", "u", "--truth", "v")
    code, said, told = run(
        "compare", roll, "--methods", "PCA,isomap", *columns, "--set", "isomap.n-neighbors=9", "--no-diagnose",
        "-o", out, "--json", numbers,
    )  # fmt: skip
    assert code == 0, told
    assert said.splitlines()[0].split()[:2] == ["method", "seconds"]
    assert {line.split()[0] for line in said.splitlines()[1:]} == {"PCA", "Isomap"}
    assert "lowfold: Isomap: " in told
    assert "MB" in told
    content = json.loads(numbers.read_text())
    assert content["rows"][1]["neighbors"] == 9
    assert {"misclassification", "procrustes"} <= set(content["rows"][0]["quality"])
    page = out.read_text()
    assert "embeddings of roll.csv" in page
    assert str(tmp_path) not in page
    again = "lowfold compare roll.csv --methods pca,isomap --n-components 2 --truth u --truth v --color turn"
    assert again in page
    assert "--set isomap.n_neighbors=9" in page
    assert '"name":"side","kind":"class"' in page
    # an existing file is left alone, and that is said before any work
    code, said, told = run("compare", roll, "--methods", "pca", "-o", out)
    assert (code, said) == (1, "")
    assert "exists" in told


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--methods", "isomp"], 2, "did you mean Isomap"),
        (["--methods", ","], 2, "--methods takes names"),
        (["--methods", "pca", "-o", "report.pdf"], 2, "ends in .html"),
        (["--methods", "pca", "--set", "n_neighbors=3"], 2, "METHOD.NAME=VALUE"),
        (["--methods", "pca", "--set", "pca.colour=3"], 2, "PCA has no parameter 'colour'"),
        (["--methods", "pca", "--set", "isomap.n_neighbors=3"], 1, "not among the methods"),
        (["--methods", "pca", "--truth", "side"], 1, "--truth needs a numeric column"),
        (["--methods", "pca", "--label", "none"], 1, "there is no column 'none'"),
        (["--methods", "pca", "--n-components", "0"], 1, "n_components of compare must be"),
    ],
)
def test_errors_in_one_line(run: Any, roll: Path, args: list[str], code: int, words: str) -> None:
    got, said, told = run("compare", roll, *args)
    assert (got, said) == (code, "")
    assert words in told.splitlines()[-1]


def test_help_names_the_options(run: Any) -> None:
    code, said, _ = run("compare", "--help")
    assert code == 0
    for flag in ("--methods", "--out", "--json", "--budget", "--tune", "--truth", "--label"):
        assert flag in said
