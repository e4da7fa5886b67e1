"""compare: what a row says, and that it is true."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold import quality
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.select import _adapters
from lowfold.select._compare_measure import BY_NAME
from lowfold.select._compare_models import USUAL, entrants, find_entrant
from lowfold.select._compare_types import Comparison


def compare(X: Any, methods: Any, **options: Any) -> Comparison:
    """In this process: what is measured is the same, and no interpreter is started."""
    return lowfold.compare(X, methods, **({"isolate": False, "diagnose": False} | options))


@pytest.fixture(scope="module")
def roll() -> Any:
    return lowfold.datasets.swiss_roll(500, random_state=3)


@pytest.fixture(scope="module")
def found(roll: Any) -> Comparison:
    methods = ["pca", "isomap", "LTSA", lowfold.Isomap(2, n_neighbors=60)]
    return compare(roll.X, methods, truth=roll.coordinates, color=roll.color, n_neighbors=7)


def test_rows_in_the_order_asked_for_with_names_of_their_own(found: Comparison) -> None:
    assert [row.name for row in found] == ["PCA", "Isomap", "LTSA", "Isomap (2)"]
    assert all(row.status == "done" and row.embedding.shape == (500, 2) for row in found)
    assert found["Isomap (2)"].params == {"n_components": 2, "n_neighbors": 60}
    assert found["Isomap"].neighbors == 7
    assert found["PCA"].edges is None


def test_embedding_and_graph_are_those_of_the_method(found: Comparison, roll: Any) -> None:
    model = lowfold.Isomap(2, n_neighbors=7).fit(roll.X)
    assert np.array_equal(found["Isomap"].embedding, model.embedding_)
    assert np.array_equal(found["Isomap"].edges, model.graph_.edges())
    assert found["Isomap"].residual == pytest.approx(model.residual_)
    assert found["Isomap"].own["reconstruction_error"] == pytest.approx(model.reconstruction_error_)


def test_measures_are_those_of_quality(found: Comparison, roll: Any) -> None:
    row = found["LTSA"]
    assert row["trustworthiness"] == pytest.approx(quality.trustworthiness(roll.X, row.embedding, 7).value)
    assert row["procrustes"] == pytest.approx(quality.procrustes(roll.coordinates, row.embedding).value)
    assert row["affine_r2"] == pytest.approx(quality.affine_r2(roll.coordinates, row.embedding).value)
    assert row["r_nx_area"] == pytest.approx(quality.neighborhood_preservation(roll.X, row.embedding).area)
    assert np.isnan(row["misclassification"])
    points = quality.trustworthiness(roll.X, row.embedding, 7).points
    assert row.quality.trust == pytest.approx(points)


def test_every_measure_of_the_summary_is_explained(found: Comparison) -> None:
    assert set(found["PCA"].quality.values) <= set(BY_NAME)
    for row in found:
        for name, value in row.quality.values.items():
            assert np.isfinite(value), (row.name, name)


def test_ranking_goes_by_the_sense_of_the_measure(found: Comparison) -> None:
    for name in found.measures:
        values = [row[name] for row in found.ranking(name)]
        assert values == sorted(values, reverse=BY_NAME[name].larger), name
    assert found.ranking("procrustes")[-1].name in ("PCA", "Isomap (2)")  # the roll stays rolled, or is cut short
    assert found.ranking()[0]["geodesic_area"] == max(row["geodesic_area"] for row in found)
    with pytest.raises(InvalidInput, match="measure must be one of"):
        found.ranking("beauty")


def test_the_table_in_words(found: Comparison) -> None:
    lines = str(found).splitlines()[: 1 + len(found)]
    assert lines[0].split()[:3] == ["method", "seconds", "MB"]
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[0] for line in lines[1:]] == [row.name.split()[0] for row in found.ranking()]


def test_what_methods_warn_of_stands_below_the_table(found: Comparison) -> None:
    rows = tuple(replace(row, warnings=("6 edges are shortcuts",) if row.name != "PCA" else ()) for row in found)
    below = str(replace(found, rows=rows)).splitlines()[1 + len(found) :]
    assert below == [f"{', '.join(row.name for row in rows if row.name != 'PCA')}: 6 edges are shortcuts"]


def test_json_holds_everything_and_is_never_overwritten(found: Comparison, tmp_path: Path) -> None:
    target = tmp_path / "numbers.json"
    found.write_json(target)
    content = json.loads(target.read_text())
    assert content["ranking"] == [row.name for row in found.ranking()]
    rows = {row["name"]: row for row in content["rows"]}
    assert np.allclose(rows["LTSA"]["embedding"], found["LTSA"].embedding, rtol=1e-5, atol=1e-9)
    assert rows["PCA"]["quality"]["trustworthiness"] == found["PCA"]["trustworthiness"]
    with pytest.raises(FileProblem, match="exists"):
        found.write_json(target)
    found.write_json(target, overwrite=True, points=False)
    assert "embedding" not in json.loads(target.read_text())["rows"][0]


def test_a_method_that_fails_is_a_row_with_the_reason(roll: Any) -> None:
    found = compare(roll.X, ["weighted-mds", "lle", "pca"], params={"lle": {"n_neighbors": 5000}})
    assert [row.status for row in found] == ["failed", "failed", "done"]
    assert "several matrices" in found["WeightedMDS"].reason
    assert "n_neighbors of LLE must be at most 499" in found["LLE"].reason
    assert "LLE: failed: n_neighbors" in str(found)
    assert [row.name for row in found.ranking()] == ["PCA"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_all_may_fail(roll: Any) -> None:
    found = compare(roll.X, ["weighted-mds"])
    assert found.ranking() == ()
    assert found.measures == ()
    assert "WeightedMDS: failed" in str(found)


def test_labels_reach_those_that_need_them_and_the_measures() -> None:
    rng = np.random.default_rng(1)
    classes = np.array(["b", "a"], dtype=object)[rng.integers(0, 2, 120)]
    X = rng.normal(size=(120, 4)) + 4.0 * (classes == "a")[:, None]
    found = compare(X, ["supervised-lle", "pca"], labels=classes)
    assert [row.status for row in found] == ["done", "done"]
    assert found["PCA"]["misclassification"] < 0.05
    assert found.facts["classes"] == 2


def test_points_without_a_place_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 3)), 1000 + rng.normal(size=(20, 3))])
    found = compare(X, [lowfold.LaplacianEigenmaps(2, n_neighbors=6, on_disconnected="largest")])
    (row,) = found
    assert "20 points have no place" in row.notes
    assert np.isfinite(row["trustworthiness"])
    assert np.isnan(row.quality.trust[80:]).all()
    assert row.to_dict()["embedding"][99] == [None, None]


def test_distances_instead_of_points(roll: Any) -> None:
    D = lowfold.metrics.pairwise(roll.X[:100])
    found = compare(D, ["classical-mds", "pca"], metric="precomputed")
    assert found["PCA"].status == "failed"
    assert "Euclidean distances only" in found["PCA"].reason
    points = compare(roll.X[:100], ["classical-mds"])
    assert found["ClassicalMDS"]["trustworthiness"] == pytest.approx(points["ClassicalMDS"]["trustworthiness"])


def test_few_points_measure_the_rest(roll: Any) -> None:
    found = compare(roll.X, ["pca"], quality_points=100)
    assert found.settings["measured_points"] == 100
    assert np.isfinite(found["PCA"].quality.trust).sum() == 100
    full = compare(roll.X, ["pca"])["PCA"]
    assert found["PCA"]["trustworthiness"] == pytest.approx(full["trustworthiness"], abs=0.03)


def test_a_missing_package_is_a_row_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch, roll: Any) -> None:
    from dataclasses import replace

    monkeypatch.setitem(_adapters.EXTERNAL, "UMAP", replace(_adapters.EXTERNAL["UMAP"], module="no_such_package"))
    (row,) = compare(roll.X, ["umap"])
    assert row.status == "failed"
    assert "pip install 'lowfold[compare]'" in row.reason


def test_parameters_are_chosen_and_the_row_says_why(roll: Any) -> None:
    (row,) = compare(roll.X[:200], ["ltsa"], tune=True)
    assert row.done
    assert row.tuned["method"] == "LTSA"
    assert row.tuned["reasons"]
    for name, value in row.tuned["params"].items():
        assert row.params.get(name, row.neighbors) == value


def test_the_data_are_diagnosed(roll: Any) -> None:
    found = compare(roll.X[:200], ["pca"], diagnose=True)
    assert found.diagnosis.to_dict()["findings"]
    assert found.to_dict()["diagnosis"]["findings"][0]["verdict"] in ("yes", "no", "cannot tell")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["isomp"]}, "did you mean Isomap"),
        ({"methods": []}, "at least one method"),
        ({"methods": [3]}, "names or models"),
        ({"methods": [lowfold.PCA]}, "names or models"),
        ({"params": {"isomap": {"n_neighbors": 3}}}, "not among the methods"),
        ({"params": {"pca": {"n_neighbors": 3}}}, "PCA has no parameter 'n_neighbors'"),
        ({"labels": [1, 2]}, "labels must have one value per point"),
        ({"color": ["a"] * 500}, "color must hold numbers"),
        ({"truth": np.zeros((3, 2))}, "truth must have 500 rows"),
        ({"budget": 0}, "budget of compare must be"),
        ({"memory": "much"}, "memory must be"),
    ],
)
def test_wrong_arguments_in_words(roll: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        compare(roll.X, **({"methods": ["pca"]} | options))


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.full((10, 2), np.nan)])
def test_data_that_cannot_be_compared(X: Any) -> None:
    with pytest.raises(InvalidInput):
        compare(X, ["pca"])


def test_names_in_any_spelling() -> None:
    spellings = ("laplacian-eigenmaps", "Laplacian Eigenmaps", "LAPLACIAN_EIGENMAPS")
    assert {find_entrant(name) for name in spellings} == {"LaplacianEigenmaps"}
    assert find_entrant("umap") == "UMAP"
    assert all(find_entrant(name) == name for name in USUAL)


def test_all_is_every_method_that_takes_points() -> None:
    named = [entrant.task.name for entrant in entrants("all", {}, {}, labelled=False, tune=None)]
    assert {"PCA", "MVU", "TSNE", "SupervisedLLE"} <= set(named)
    assert not {"WeightedMDS", "SpectralClustering", "UMAP"} & set(named)
