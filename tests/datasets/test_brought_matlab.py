"""MATLAB files as people keep them: data in structs, classes as words, points in columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from lowfold._core.errors import FileProblem, LowfoldError
from lowfold.datasets import read

rng = np.random.default_rng(9004)
X = rng.normal(size=(30, 4))
y = rng.integers(0, 3, 30)
KINDS = np.array([f"kind {i}" for i in y])


@pytest.mark.parametrize("packed", [False, True])
def test_data_in_a_struct(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "s.mat"
    inner = {"Z": X[:, :2], "names": np.array(["a", "b"], dtype=object)}
    data = {"X": X, "y": y, "kind": KINDS.astype(object), "more": inner, "note": "by hand"}
    savemat(path, {"data": data, "when": "today"}, do_compression=packed)
    table = read(path, variable="data.X")
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.labels["y"], y)
    assert np.array_equal(table.labels["kind"], KINDS)
    assert np.array_equal(read(path, variable="data.more.Z").X, X[:, :2])
    with pytest.raises(FileProblem, match=r"data.X, data.y, data.more.Z; say which with variable=NAME"):
        read(path)
    with pytest.raises(FileProblem, match=r"no array of numbers 'X'; there are data.X"):
        read(path, variable="X")
    savemat(path, {"data": {"X": X, "y": y}}, do_compression=packed)
    assert np.array_equal(read(path).labels["y"], y)
    savemat(path, {"runs": np.array([(X, 1)] * 3, dtype=[("v", "O"), ("i", "O")])}, do_compression=packed)
    with pytest.raises(FileProblem, match=r"runs \(struct\)"):
        read(path)


@pytest.mark.parametrize("words", [KINDS, KINDS.astype(object)], ids=["letters", "cell"])
def test_classes_as_words(tmp_path: Path, words: np.ndarray) -> None:
    savemat(tmp_path / "x.mat", {"X": X, "kind": words, "mixed": np.array([X, "word"], dtype=object)})
    table = read(tmp_path / "x.mat")
    assert set(table.labels) == {"kind"}
    assert np.array_equal(table.labels["kind"], KINDS)


def test_damaged_structs_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "s.mat"
    savemat(path, {"data": {"X": X, "kind": KINDS.astype(object)}})
    whole = path.read_bytes()
    places = np.random.default_rng(9).integers(128, 1200, size=(400, 2))
    for place, value in places.tolist():
        path.write_bytes(whole[:place] + bytes([value % 256]) + whole[place + 1 :])
        try:
            read(path, variable="data.X")
        except LowfoldError as error:
            assert str(path) in str(error)  # noqa: PT017 - most changes do no harm


def test_points_in_columns_are_told(tmp_path: Path) -> None:
    savemat(tmp_path / "x.mat", {"X": X.T, "y": y})
    assert "points='columns'" in " ".join(read(tmp_path / "x.mat").notices)
    table = read(tmp_path / "x.mat", points="columns")
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.labels["y"], y)
    pictures = rng.normal(size=(5, 6, 30))
    np.savez(tmp_path / "x.npz", X=pictures, y=y)
    table = read(tmp_path / "x.npz", points="columns")
    assert table.point_shape == (5, 6)
    assert np.array_equal(table.X[7].reshape(5, 6), pictures[..., 7])
    assert read(tmp_path / "x.npz", points="columns").notices == [
        "an array of shape (30, 5, 6) was read as 30 points of 30 values"
    ]


@pytest.mark.extra("h5py")
def test_structs_and_words_of_matlab_73(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "s.mat"
    with h5py.File(path, "w") as file:

        def put(place: str, values: np.ndarray, kind: str) -> object:
            stored = file.create_dataset(place, data=values.T)
            stored.attrs["MATLAB_class"] = np.bytes_(kind)
            return stored.ref

        def letters(word: str) -> np.ndarray:
            return np.array([[ord(letter) for letter in word]], dtype=np.uint16)

        file.create_group("data").attrs["MATLAB_class"] = np.bytes_("struct")
        put("data/X", X, "double")
        put("data/y", y[:, None].astype(float), "double")
        put("data/letters", np.vstack([letters(word) for word in KINDS]), "char")
        refs = [put(f"#refs#/{i}", letters(word), "char") for i, word in enumerate(KINDS)]
        cell = file.create_dataset("data/cell", (1, 30), dtype=h5py.ref_dtype)
        cell[0] = refs
        cell.attrs["MATLAB_class"] = np.bytes_("cell")
    table = read(path)
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.labels["letters"], KINDS)
    assert np.array_equal(table.labels["cell"], KINDS)
    assert np.array_equal(read(path, variable="data.X").labels["y"], y)
