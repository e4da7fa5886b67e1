"""What people bring: files of MATLAB 7.3, large CSV files, decimal commas, gaps, bad bands."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import lowfold.datasets._read_arrow as arrow
import lowfold.datasets._read_table as texts
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.datasets._readers import read

h5py = pytest.importorskip("h5py")


def matlab73(path: Path, **variables: np.ndarray) -> Path:
    """As MATLAB writes: a first block of 512 bytes, axes in reverse order, the class as an attribute."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in variables.items():
            stored = file.create_dataset(name, data=array.T, compression="gzip")
            kind = {"f": "double", "u": "uint16", "c": "double"}[array.dtype.kind]
            stored.attrs["MATLAB_class"] = np.bytes_("char" if name == "words" else kind)
        sparse = file.create_group("S")
        sparse.attrs["MATLAB_class"], sparse.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(3)
        parts = {"ir": [0, 2, 1], "jc": [0, 2, 2, 3], "data": [5.0, 6.0, 7.0]}
        for part, values in parts.items():
            sparse[part] = np.array(values, dtype=np.float64 if part == "data" else np.uint64)
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def test_matlab_73(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 3)), rng.integers(0, 3, size=(7, 1)).astype(np.uint16)
    path = matlab73(tmp_path / "new.mat", X=X, y=y, words=np.ones((2, 2), np.uint16), Z=X.astype(complex))
    table = read(path)
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.labels["y"], y.ravel())
    assert read(path, variable="S").X.tolist() == [[5, 0, 0], [0, 0, 7], [6, 0, 0]]
    with pytest.raises(FileProblem, match="is a char, not a matrix"):
        read(path, variable="words")
    with pytest.raises(FileProblem, match="is a complex matrix"):
        read(path, variable="Z")


def test_matlab_73_that_points_elsewhere(tmp_path: Path) -> None:
    other = matlab73(tmp_path / "other.mat", X=np.ones((4, 2)))
    path = tmp_path / "link.mat"
    with h5py.File(path, "w") as file:
        file["X"] = h5py.ExternalLink(str(other), "/X")
        file.create_dataset("far", (4, 2), "f8", external=[(str(other), 0, 64)])
        damaged = file.create_group("S")
        damaged.attrs["MATLAB_class"], damaged.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(2)
        damaged["jc"], damaged["ir"], damaged["data"] = np.array([0, 0, 9]), np.array([5]), np.array([1.0])
    with pytest.raises(FileProblem, match="there is no array of numbers 'X'"):
        read(path, variable="X")
    with pytest.raises(FileProblem, match="in another file"):
        read(path, variable="far")
    with pytest.raises(FileProblem, match="'S' is damaged"):
        read(path, variable="S")
    path.write_bytes(other.read_bytes()[:700])
    with pytest.raises(FileProblem, match="not a readable MATLAB file"):
        read(path)


TEXTS = {
    "plain": "a,b\n1,2\n3,4.5\n",
    "quoted": '"a","b, c","w"\n"1","","say ""hi"", you"\n2,3,"two\nlines"\n',
    "missing": "a,b,w\n1,NA,NA\nnull,4,x\n,N/A,\n2,nan,y\n",
    "blank lines and CRLF": "a,b\r\n\r\n1,2\r\n3,4\r\n\r\n",
    "no header": "1,2\n3,4\n7,9\n",
    "blanks in front": "a,b\n 1, x\n3, y\n",
    "plus sign": "a,b\n+1,2\n3,inf\n",
    "a column decided late": "a,b\n,2\n,3\n1,4\n",
    "decimal commas": "a;b;w\n1,5;-2e1;rot, hell\n1.234,25;7;blau\n",
    "a word in a column of numbers": "a,b\n1,2\n3,x\n",
    "a short row": "a,b\n1,2\n3\n",
    "an open quote": 'a,b\n1,"x\n3,y\n',
    "text behind a quote": 'a,b\n1,"x"y\n3,z\n',
    "a quote inside": 'a,b\n1,x"y\n3,z"\n',
    "not UTF-8": "a,b\n1,\xe4\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_pyarrow_reads_what_the_csv_module_reads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.csv"
    path.write_bytes(TEXTS[name].encode("latin-1" if name == "not UTF-8" else "utf-8"))

    def outcome() -> object:
        try:
            t = read(path, missing="keep")
        except FileProblem as error:
            return str(error)
        return repr((t.X.tolist(), t.columns, {k: (v.dtype, v.tolist()) for k, v in t.labels.items()}, t.notices))

    expected = outcome()
    for module in (arrow, texts):
        monkeypatch.setattr(module, "WORTH", 0)
    assert outcome() == expected


def test_pyarrow_is_used_for_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    path, rng = tmp_path / "large.csv", np.random.default_rng(1)
    X = rng.normal(size=(9000, 8))
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["x"] * 8 + ["w"], *([*map(repr, row.tolist()), "a b"] for row in X)])
    monkeypatch.setattr(texts, "CHUNK", 10**9)  # would not be reached
    monkeypatch.setattr(texts, "FIRST", 5)
    table = read(path)
    assert np.array_equal(table.X, X)
    assert set(table.labels["w"].tolist()) == {"a b"}


@pytest.mark.parametrize(
    ("text", "X"),
    [
        ("1,5;2,5\n3,25;4\n", [[1.5, 2.5], [3.25, 4]]),
        ("a;b\n1.234,5;2\n,5;-4,0\n", [[1234.5, 2], [0.5, -4]]),
        ("1,5 2,5\n3 4,5\n", [[1.5, 2.5], [3, 4.5]]),
        ("a\tb\n1,5\t2\n", [[1.5, 2]]),
        ("1,5,2\n3,4,5\n", [[1, 5, 2], [3, 4, 5]]),
    ],
)
def test_decimal_commas(text: str, X: list[list[float]], tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text)
    table = read(path)
    assert table.X.tolist() == X
    assert any("decimal commas" in words for words in table.notices) == (text[:5] != "1,5,2")


def test_decimal_marks_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;2\n" + "1,5;2\n" * 9 + "1.234;2\n")
    assert read(path, label="a").X.shape == (11, 1)
    with pytest.raises(FileProblem, match=r"row 11, column .a. holds .1\.234., not a number with a decimal comma"):
        read(path, decimal=",")
    with pytest.raises(InvalidInput, match="decimal must be"):
        read(path, decimal=",", delimiter=",")
    path.write_text("a;b\n3;2\n4;5\n")
    assert read(path, decimal=",").X.tolist() == [[3, 2], [4, 5]]


def test_gaps_of_any_kind_of_file(tmp_path: Path) -> None:
    X = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.0]])
    np.save(tmp_path / "x.npy", X)
    assert np.array_equal(read(tmp_path / "x.npy", missing="drop").X, X[[0, 2]])
    assert read(tmp_path / "x.npy", missing="mean").X[1, 0] == 3
    assert any("missing='drop'" in words for words in read(tmp_path / "x.npy").notices)
    with pytest.raises(FileProblem, match="1 values are missing"):
        read(tmp_path / "x.npy", missing="error")
    with pytest.raises(InvalidInput, match="missing must be"):
        read(tmp_path / "x.npy", missing="zero")


def test_bad_bands_are_left_out(tmp_path: Path) -> None:
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cube.tofile(tmp_path / "cube.dat")
    head = "ENVI\nsamples = 3\nlines = 2\nbands = 4\ndata type = 4\ninterleave = bip\nwavelength = {1,2,3,4}\n"
    (tmp_path / "cube.hdr").write_text(head + "bbl = {1, 0,\n 1, 0}\n")
    table = read(tmp_path / "cube.hdr")
    assert table.columns == ["1", "3"]
    assert np.array_equal(table.X, cube.reshape(-1, 4)[:, [0, 2]])
    assert "2 of 4 bands left out" in table.notices[0]
    assert read(tmp_path / "cube.hdr", bad_bands="keep").X.shape == (6, 4)
    (tmp_path / "cube.hdr").write_text(head + "bbl = {1, 0}\n")
    with pytest.raises(FileProblem, match="each of the 4 bands"):
        read(tmp_path / "cube.hdr")


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        ("mineral,400,412\nquartz,0.1,0.2\nmica,0.2,0.4\n", ["400", "412"], "read as names"),  # wavelengths
        ("id,400,412\n1,0.1,0.2\n7,500,0.4\n", ["400", "412"], "read as names"),  # a word over numbers
        ("quartz,0.1,0.2\nmica,0.05,0.3\nclay,0.2,0.1\n", ["x2", "x3"], "read as data"),
    ],
)
def test_a_first_line_of_words_and_numbers_is_told(tmp_path, text, columns, told) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    table = read(file, ids="id") if text.startswith("id") else read(file)
    assert table.columns == columns
    assert told in table.notices[0]


def test_gaps_of_distances_are_not_to_be_dropped(tmp_path) -> None:
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    D[0, 3] = D[3, 0] = np.nan
    np.save(tmp_path / "d.npy", D)
    assert "MetricMDS" in read(tmp_path / "d.npy").notices[0]
    file = tmp_path / "d.csv"
    file.write_text("\n".join(",".join("" if np.isnan(v) else str(v) for v in row) for row in D))
    assert not [told for told in read(file, missing="keep").notices if "first line" in told]
    with pytest.raises(ValueError, match=r"missing='keep'.*MetricMDS"):
        read(file)


def test_a_wide_table_is_no_array_for_every_column(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("lowfold.datasets._read_table.WIDE", 3)
    monkeypatch.setattr("lowfold.datasets._read_table.arrow_columns", lambda *args, **options: pytest.fail("asked"))
    monkeypatch.setattr("lowfold.datasets._read_table.WORTH", 1)
    file = tmp_path / "w.csv"
    file.write_text("a,b,c\n1,2,3\n4,5,6\n")
    assert read(file).X.shape == (2, 3)


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (["$8.19", '"-$1,002.50"', "$3"], "8.19"),
        (["8%", "", "17.5%"], "8"),
        (['"1,927"', "13", '"12,000"'], "1927"),
        (["1 234", "12 000", "7 100"], "1234"),
        (["5 kg", "6.5 kg", "12 kg"], "5"),
        (["5 kg", "6 lb", "12 kg"], None),
        (["A12", "A13", "A14"], None),
        (["2020-01-05", "2020-01-06", "2020-01-07"], None),
        (["5 kg", "heavy", "7 kg"], None),
    ],
)
def test_numbers_with_marks_are_kept_aside_with_the_way_out(
    tmp_path: Path, values: list[str], plain: str | None
) -> None:
    path = tmp_path / "marked.csv"
    path.write_text("x,y,marked\n" + "".join(f"{i}.5,{i * i}.25,{value}\n" for i, value in enumerate(values)))
    (told,) = read(path).notices
    assert "'marked' is not numeric and is kept aside" in told
    assert told.endswith(f"write them plainly, as {plain}, to use them as data") == (plain is not None)
