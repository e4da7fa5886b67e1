"""`lowfold diagnose` and `lowfold tune` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lowfold import datasets
from lowfold.datasets import write_table


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    X = datasets.circle(160, random_state=0).X
    write_table(tmp_path / "circle.csv", X, ["x", "y"], labels={"half": (X[:, 0] > 0).astype(int)})
    return tmp_path / "circle.csv"


def test_diagnose_prints_a_page(run: Any, circle: Path) -> None:
    code, out, _ = run("diagnose", circle, "--label", "half")
    assert code == 0
    assert out.startswith("160 points; 10 neighbours; dimension 1 (estimated)")
    assert "closed: yes" in out
    assert "in short" in out


def test_diagnose_prints_json(run: Any, circle: Path) -> None:
    code, out, _ = run("diagnose", circle, "--label", "half", "-k", 8, "-d", 1, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["n_neighbors"], found["n_components"], found["n_components_given"]) == (8, 1, True)
    assert {one["name"]: one["verdict"] for one in found["findings"]}["with holes"] == "yes"


def test_tune_prints_the_choice_and_a_command_that_runs(run: Any, circle: Path) -> None:
    code, out, _ = run("tune", circle, "-m", "isomap", "--label", "half", "--n-neighbors", "8,12", "--subsamples", 1)
    assert code == 0
    assert out.startswith("Isomap(n_components=1, n_neighbors=")
    assert "<- chosen" in out
    command = out.strip().splitlines()[-1].split()
    assert command[:2] == ["lowfold", "embed"]
    assert run(*command[1:], "--label", "half", "-q")[0] == 0


def test_tune_with_labels_and_json(run: Any, circle: Path) -> None:
    words = ("--label", "half", "--n-components", 2, "--n-neighbors", 8, "--set", "supervision=0.2", "--json")
    code, out, _ = run("tune", circle, "-m", "supervised-lle", *words)
    assert code == 0
    assert json.loads(out)["params"] == {"n_components": 2, "n_neighbors": 8}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("tune", "-m", "isomap", "--n-neighbors", "a,b"), "--n-neighbors takes numbers with commas between them"),
        (("tune", "-m", "pca", "--n-neighbors", "5"), "PCA has no parameter 'n_neighbors'"),
        (("tune", "-m", "isomop"), "there is no method 'isomop'"),
        (("diagnose", "-k", "0"), "n_neighbors of diagnose must be an int of at least 1"),
        (("diagnose", "-k", "500"), "n_neighbors must be at most 159"),
    ],
)
def test_errors_are_one_line(run: Any, circle: Path, words: tuple[str, ...], told: str) -> None:
    code, out, err = run(words[0], circle, *words[1:])
    assert code != 0
    assert told in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def test_a_missing_file_in_words(run: Any, tmp_path: Path) -> None:
    code, _, err = run("diagnose", tmp_path / "none.csv")
    assert code != 0
    assert "there is no such file" in err
