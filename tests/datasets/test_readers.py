"""Tables as text, and writing them."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.datasets._readers import read, read_table, write_table


def table(tmp_path, content, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


def test_numbers_words_and_header(tmp_path):
    t = table(tmp_path, "a,b,kind\n1,2.5,x\n3,-4e2,y\n")
    np.testing.assert_array_equal(t.X, [[1, 2.5], [3, -400]])
    assert t.columns == ["a", "b"]
    assert t.labels["kind"].tolist() == ["x", "y"]
    assert t.ids is None
    assert "'kind' is not numeric" in t.notices[0]
    assert t.source.endswith("t.csv")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("1,2\n3,4\n", "t.csv"),
        ("1\t2\n3\t4", "t.tsv"),
        ("1\t2\n3\t4", "t.csv"),
        ("1;2\r\n3;4\r\n", "t.csv"),
        ("1 2\n 3    4 \n", "t.txt"),
        ("\ufeff1,2\n3,4\n", "t.csv"),
        ("\n1,2\n\n  \n3,4\n\n", "t.csv"),
        ('"1","2"\n"3","4"\n', "t.csv"),
        (" 1 , 2 \n 3 , 4 \n", "t.csv"),
    ],
)
def test_the_same_numbers_in_many_dresses(tmp_path, content, name):
    t = table(tmp_path, content, name)
    np.testing.assert_array_equal(t.X, [[1, 2], [3, 4]])
    assert t.columns == ["x1", "x2"]


def test_header_is_taken_when_no_field_is_a_number(tmp_path):
    assert table(tmp_path, "x,1990\n1,2\n", header=True).columns == ["x", "1990"]
    assert table(tmp_path, "1990,1991\n1,2\n").X.shape == (2, 2)
    assert table(tmp_path, "1990,1991\n1,2\n", header=True).columns == ["1990", "1991"]
    assert table(tmp_path, "a,a,\n1,2,3\n").columns == ["a", "a.2", "x3"]
    assert table(tmp_path, '"two\nlines",b\n1,2\n').columns == ["two\nlines", "b"]


def test_label_and_ids(tmp_path):
    text = "id,y,a,b\n7,1,0.5,1\n9,0,0.25,1\n12,1,0.125,1\n"
    t = table(tmp_path, text, label="y")
    assert t.columns == ["a", "b"]
    assert t.labels["y"].tolist() == [1, 0, 1]
    assert t.labels["y"].dtype == np.int64
    assert t.ids is not None
    assert t.ids.tolist() == [7, 9, 12]
    assert any("kept aside as ids" in notice for notice in t.notices)
    assert table(tmp_path, text, ids=False).columns == ["id", "y", "a", "b"]
    assert table(tmp_path, text, label=["y", "b"], ids="a").columns == ["id"]
    counted = table(tmp_path, "5,1\n6,1\n7,2\n")
    assert counted.ids is not None
    assert counted.columns == ["x2"]
    # distinct whole numbers alone are data: pixels, counts, years
    assert table(tmp_path, "5,1\n9,1\n7,2\n").ids is None
    assert table(tmp_path, "1\n2\n3\n").ids is None
    with pytest.raises(FileProblem, match=r"no column 'z'; the columns are id, y, a, b"):
        table(tmp_path, text, label="z")


def test_missing_values(tmp_path):
    text = "a,b\n1,2\n,4\nNA,nan\n"
    with pytest.raises(FileProblem, match="3 values are missing, the first in row 2, column 'a'"):
        table(tmp_path, text)
    t = table(tmp_path, text, missing="keep")
    np.testing.assert_array_equal(np.isnan(t.X), [[False, False], [True, False], [True, True]])
    with pytest.raises(FileProblem, match="row 1, column 'x2'"):
        table(tmp_path, "1,nan\n2,3\n")


def test_a_column_that_begins_with_gaps_is_decided_by_its_first_value(tmp_path):
    rows = "".join(",word\n" for _ in range(6000)) + "5,word\n"
    t = table(tmp_path, "a,b\n" + rows, missing="keep")
    assert t.X.shape == (6001, 1)
    assert t.X[-1, 0] == 5
    assert t.labels["b"].tolist() == ["word"] * 6001


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("", {}, "the file is empty"),
        ("\n \n", {}, "holds no rows"),
        ('"\n"', {}, "holds no rows"),
        ("a,b\n", {}, "a header but no rows"),
        ("a,b\n1,2\n3\n", {}, "row 2 has 1 fields, the first line has 2"),
        ("a,b\n1,2\n3,4,5\n", {}, "row 2 has 3 fields"),
        ("a,b\n1,2\n3,four\n", {}, "row 2, column 'b' holds 'four', not a number"),
        ("a,b\n1,2\n3,1_000\n", {}, "row 2, column 'b'"),
        ("a,b\n1,2\n3\n", {}, "mend or leave out that row: a word with ',' in it needs quotes"),
        ("name\nfoo\n", {}, "no numeric column"),
        ("a,b\nmm,g\n1,2\n3,4\n", {}, "'a' holds 'mm', ...; below the names stands a row of words, as of units"),
        (b"PK\x03\x04\x84\xff", {}, "is a sheet of Excel, or a zip archive, under another name; save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1", {}, "is a sheet of Excel under another name"),
        (b"\x1f\x8b\x08", {}, "is packed by gzip; unpack it, or let its name end in .csv.gz"),
        (b"PAR1\x15\x04", {}, "is a Parquet file; let its name end in .parquet"),
        ("a,b\n1,\xe9\n".encode("latin-1"), {}, "line 2 is not UTF-8"),
        ("a,b\n1,ä\n".encode("cp1252"), {}, "encoding='cp1252'"),
        (b"a,b\n1,\x81\n", {"encoding": "cp1252"}, "cp1252"),
        (b"a:b\n1:2\n", {}, "'a:b' holds '1:2', ...; delimiter="),
        (b"a,b\n1,2\n\x00\x01", {}, "binary"),
        ('a,b\n1,"2\n', {}, "line 2 cannot be split"),
        ("a,b\n1,2\n" + "z" * 200_000 + ",1\n", {}, "line 3 cannot be split .* field larger"),
    ],
)
def test_bad_tables_in_one_sentence(tmp_path, content, options, words):
    with pytest.raises(FileProblem, match=words) as caught:
        table(tmp_path, content, **options)
    assert "t.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_options_and_paths(tmp_path):
    for options, words in [
        ({"delimiter": ",,"}, "one character"),
        ({"header": "yes"}, "'auto', True or False"),
        ({"missing": "zero"}, "'error', 'keep'"),
        ({"ids": 3}, "ids must be"),
        ({"encoding": "windows"}, "one that Python knows"),
    ]:
        with pytest.raises(InvalidInput, match=words):
            table(tmp_path, "a,b\n1,2\n", **options)
    with pytest.raises(FileProblem, match="no such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(FileProblem, match="is a folder"):
        read_table(tmp_path)
    (tmp_path / "a.xyz").write_text("1 2")
    with pytest.raises(FileProblem, match=r"ending '\.xyz' is not known"):
        read(tmp_path / "a.xyz")
    with pytest.raises(FileProblem, match=r"packed as \.zip"):
        table(tmp_path, "1,2\n", name="a.csv.zip")
    with pytest.raises(FileProblem):
        read("bad\0name.csv")
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(InvalidInput, match=r"no option 'variable'.*takes label, delimiter"):
        read(tmp_path / "a.csv", variable="X")


def test_standard_input_and_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b,c\n1,2,x\n3,4,y\n")))
    t = read("-")
    np.testing.assert_array_equal(t.X, [[1, 2], [3, 4]])
    assert t.source == "standard input"
    write_table("-", t.X, t.columns, labels=t.labels)
    assert capsys.readouterr().out == "a,b,c\n1.0,2.0,x\n3.0,4.0,y\n"
    for content, words in [(b"", "is empty"), (b"a\n\xff\n", "line 2 is not UTF-8")]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(FileProblem, match=words):
            read("-")


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".parquet"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_written_reads_back_bit_by_bit(tmp_path, suffix, dtype, seed):
    rng = np.random.default_rng(seed)
    Y = (rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-30, 30, size=(20, 3))).astype(dtype)
    path = tmp_path / f"y{suffix}"
    labels = None if suffix == ".npy" else {"kind": np.array(["a", "b"] * 10)}
    write_table(path, Y, ["p", "q", "r"], labels=labels)
    t = read(path)
    assert (t.X.astype(dtype) == Y).all()
    if suffix == ".npy":
        assert t.X.dtype == dtype
        return
    assert t.columns == ["p", "q", "r"]
    assert t.labels["kind"].tolist() == ["a", "b"] * 10
    if suffix == ".parquet":
        assert t.X.dtype == dtype


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_an_existing_file_is_left_alone_unless_forced(tmp_path, suffix):
    path = tmp_path / f"y{suffix}"
    write_table(path, [[1.0]])
    before = path.read_bytes()
    with pytest.raises(FileProblem, match="exists"):
        write_table(path, [[2.0]])
    assert path.read_bytes() == before
    write_table(path, [[2.0]], overwrite=True)
    assert read(path).X[0, 0] == 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    from lowfold.datasets import _write_table

    def fail(stream, *rest):
        stream.write("half of ")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_write_table, "write_text", fail)
    with pytest.raises(FileProblem, match=r"y\.csv: cannot be written: No space left"):
        write_table(tmp_path / "y.csv", [[1.0]])
    assert list(tmp_path.iterdir()) == []


def test_bad_writes_in_words(tmp_path):
    for path, Y, options, error, words in [
        ("y.xls", [[1.0]], {}, FileProblem, "one of these endings"),
        ("no/such/y.csv", [[1.0]], {}, FileProblem, "cannot be written"),
        ("y.csv", [["a"]], {}, InvalidInput, "real numbers"),
        ("y.csv", [[1.0]], {"columns": ["a", "b"]}, InvalidInput, "1 columns"),
        ("y.csv", [[1.0, 2.0]], {"columns": ["a", "a"]}, InvalidInput, "differ"),
        ("y.csv", [[1.0]], {"labels": {"k": [1, 2]}}, InvalidInput, "1 values"),
        ("y.npy", [[1.0]], {"labels": {"k": [1]}}, InvalidInput, "cannot be written to .npy"),
    ]:
        with pytest.raises(error, match=words):
            write_table(tmp_path / path, Y, **options)
    assert list(tmp_path.iterdir()) == []
