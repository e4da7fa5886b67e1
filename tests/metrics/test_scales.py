"""Columns of different size are seen, told and made alike."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput, ScaleWarning
from lowfold.datasets import read
from lowfold.metrics import _scales as scales
from lowfold.metrics._scales import uneven_columns


def birds(n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(44, 5, n), rng.normal(17, 2, n), rng.normal(4200, 800, n)])


NAMES = ["bill_mm", "depth_mm", "mass_g"]


def test_names_say_what_is_a_table() -> None:
    X = birds()
    assert "'mass_g' spreads" in uneven_columns(X, NAMES)
    assert "column 2 spreads" in uneven_columns(X)
    assert uneven_columns(X[:, :2], NAMES[:2]) is None
    assert "'x3' spreads" in uneven_columns(X, ["x1", "x2", "x3"])  # of a file without names
    assert uneven_columns(X - X.min(axis=0), ["pixel1", "pixel2", "pixel3"]) is None
    assert uneven_columns(np.random.default_rng(0).normal(size=(20, 100)) * np.linspace(0, 9, 100)) is None


def test_an_array_of_several_units_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scales, "_told", [])
    with pytest.warns(ScaleWarning, match="column 2 spreads .* times as much as column 1"):
        lowfold.PCA(2).fit(birds())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.Isomap(2).fit(birds())


def _scores(rng: np.random.Generator) -> np.ndarray:
    return lowfold.PCA(5).fit_transform(rng.normal(size=(80, 9)) * 3.0 ** -np.arange(9))


def _spectra(rng: np.random.Generator) -> np.ndarray:
    wave, height = np.linspace(-2, 2, 40), rng.uniform(0.5, 1, (60, 1))
    return 0.02 + height * np.exp(-(wave**2)) + 1e-3 * rng.normal(size=(60, 40))


KINDS = {
    "scores": _scores,
    "spectra": _spectra,
    "noise": lambda rng: np.hstack([rng.uniform(5, 20, (60, 3)), 1e-3 * rng.normal(size=(60, 4))]),
    "pixels": lambda rng: np.floor(rng.random((60, 16)) * np.geomspace(1.2, 256, 16)),
    "one-hot": lambda rng: np.eye(4)[rng.choice(4, 400, p=[0.94, 0.02, 0.02, 0.02])] * [1, 1, 30, 1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_one_kind_do_not_warn(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scales, "_told", [])
    X = KINDS[kind](np.random.default_rng(1))
    assert uneven_columns(X) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scales.tell_scales_of_fit(X)


@pytest.mark.extra("pandas")
def test_a_frame_of_uneven_columns_warns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(birds(), columns=NAMES)
    with pytest.warns(ScaleWarning, match="'mass_g' spreads .* times as much as column 'depth_mm'"):
        lowfold.PCA(2).fit(frame)
    with pytest.warns(ScaleWarning, match="standardise"):
        lowfold.ClassicalMDS(2).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ScaleWarning)
        lowfold.ICA(2).fit(frame)
        lowfold.ClassicalMDS(2, metric="mahalanobis").fit(frame)
        lowfold.PCA(2).fit((frame - frame.mean()) / frame.std())


def test_tune_and_diagnose_say_it_first() -> None:
    found = lowfold.quality.diagnose(birds())
    assert next(iter(found)).name == "same scale"
    assert found["same scale"].verdict == "no"
    assert "standardise" in found["same scale"].advice
    assert lowfold.quality.diagnose(birds()[:, :2])["same scale"].verdict == "yes"
    with pytest.warns(ScaleWarning):
        lowfold.tune(birds(), "pca", n_components=2)


@pytest.mark.parametrize("how", ["unit", "robust"])
def test_files_are_read_standardised(how: str, tmp_path) -> None:
    X = birds()
    file = tmp_path / "birds.csv"
    file.write_text(",".join(NAMES) + "\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    table = read(file, standardize=how)
    assert np.allclose(table.X * table.scaling[1] + table.scaling[0], X)
    if how == "unit":
        assert np.allclose(table.X.std(axis=0), 1)
        assert np.allclose(table.X.mean(axis=0), 0)
    else:
        assert np.allclose(np.median(table.X, axis=0), 0)
    assert read(file).scaling is None
    with pytest.raises(InvalidInput, match="standardize must be one of"):
        read(file, standardize="much")


def test_missing_values_are_dropped_or_filled(tmp_path) -> None:
    file = tmp_path / "gaps.csv"
    file.write_text("a,b,kind\n1,2,x\n,4,y\n3,NA,x\n5,6,y\n")
    dropped = read(file, missing="drop")
    assert dropped.X.tolist() == [[1, 2], [5, 6]]
    assert dropped.labels["kind"].tolist() == ["x", "y"]
    assert "2 of 4 rows left out" in dropped.notices[-1]
    filled = read(file, missing="mean")
    assert filled.X.tolist() == [[1, 2], [3, 4], [3, 4], [5, 6]]
    assert np.isnan(read(file, missing="keep").X).sum() == 2
    with pytest.raises(InvalidInput, match="missing='drop'"):
        read(file)
