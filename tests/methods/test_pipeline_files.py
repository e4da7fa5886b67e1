"""Pipelines of lowfold's and scikit-learn's steps as files of data."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA as ScikitPCA  # noqa: N811
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, PowerTransformer, RobustScaler, StandardScaler
from sklearn.svm import SVC

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5]
y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(), lowfold.PCA(2)),
        (SimpleImputer(), RobustScaler(), lowfold.Isomap(2), LogisticRegression()),
        (Normalizer(), ScikitPCA(3), "passthrough", lowfold.LPP(2), KNeighborsClassifier(algorithm="brute")),
        (lowfold.PCA(2), KNeighborsClassifier(3, algorithm="kd_tree", leaf_size=5)),
        (lowfold.PCA(2), KNeighborsClassifier(algorithm="ball_tree", metric="minkowski", p=3)),
        (PowerTransformer(), lowfold.PCA(2), KNeighborsClassifier()),
    ],
)
def test_pipelines_come_back(steps: tuple, tmp_path: Path) -> None:
    pipeline = make_pipeline(*steps).fit(X, y)
    lowfold.save(tmp_path / "p.lowfold", pipeline)
    back = lowfold.load(tmp_path / "p.lowfold")
    new = rng.normal(size=(9, 5))
    call = "predict" if hasattr(pipeline, "predict") else "transform"
    assert np.array_equal(getattr(back, call)(new), getattr(pipeline, call)(new))
    assert [name for name, _ in back.steps] == [name for name, _ in pipeline.steps]


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        (make_pipeline(FunctionTransformer(), lowfold.PCA(2)), "is a FunctionTransformer, which is not saved as data"),
        (make_pipeline(ColumnTransformer([("a", "passthrough", [0, 1])]), lowfold.PCA(1)), "is a ColumnTransformer"),
        (make_pipeline(StandardScaler(), SVC()), "is a SVC, which is not saved as data"),
    ],
)
def test_what_is_no_data_is_said(pipeline: object, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=words):
        lowfold.save(tmp_path / "p.lowfold", pipeline.fit(X, y))
    assert not (tmp_path / "p.lowfold").exists()


def test_steps_that_are_not_fitted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not fitted"):
        lowfold.save(tmp_path / "p.lowfold", make_pipeline(StandardScaler(), lowfold.PCA(2)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["steps"][0][1].update(sklearn="FunctionTransformer"), "holds a step 'FunctionTransformer'"),
        (lambda c: c["steps"][0][1]["fitted"].update(transform=3), "no fitted attribute of StandardScaler"),
        (lambda c: c["steps"][1][1]["method"].update({"class": "os.system"}), "the methods known here"),
        (lambda c: c.update(steps=[]), "it has no steps"),
        (lambda c: c.update(format=99), "newer format"),
    ],
)
def test_forged_pipelines(change: object, words: str, tmp_path: Path) -> None:
    lowfold.save(tmp_path / "p.lowfold", make_pipeline(StandardScaler(), lowfold.PCA(2)).fit(X))
    with zipfile.ZipFile(tmp_path / "p.lowfold") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["lowfold.json"])
    change(content)
    with zipfile.ZipFile(tmp_path / "f.lowfold", "w") as archive:
        for name, data in {**members, "lowfold.json": json.dumps(content)}.items():
            archive.writestr(name, data)
    with pytest.raises(FileProblem, match=words):
        lowfold.load(tmp_path / "f.lowfold")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda step: step.update(inner=3), "not a readable model"),
        (lambda step: step.update(inner={"_scaler": 3}), "not a readable model"),
        (lambda step: step.update(inner={"_scaler": {"sklearn": "SVC"}}), "holds a step 'SVC'"),
        (lambda step: step["fitted"].update(effective_metric_="nothing"), "of which no tree can be made"),
        (lambda step: step["fitted"].pop("_fit_X"), "of which no tree can be made"),
    ],
)
def test_forged_trees_and_steps_inside_steps(change: object, words: str, tmp_path: Path) -> None:
    pipeline = make_pipeline(lowfold.PCA(2), KNeighborsClassifier(algorithm="kd_tree")).fit(X, y)
    lowfold.save(tmp_path / "p.lowfold", pipeline)
    with zipfile.ZipFile(tmp_path / "p.lowfold") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["lowfold.json"])
    change(content["steps"][1][1])
    with zipfile.ZipFile(tmp_path / "f.lowfold", "w") as archive:
        for name, data in {**members, "lowfold.json": json.dumps(content)}.items():
            archive.writestr(name, data)
    with pytest.raises(FileProblem, match=words):
        lowfold.load(tmp_path / "f.lowfold")
