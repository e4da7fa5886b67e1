"""Tables as other programs write them: remarks, encodings, marks; matrices of Matrix Market and MATLAB."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.datasets._readers import read


def table(tmp_path: Path, content: str | bytes, **options: object):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, **options)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("# made by a tool\n\nx,y\n1,2\n3,4\n", ["x", "y"]),
        ("# made by a tool\n# x,y\n1,2\n3,4\n", ["x", "y"]),
        ("% x,y\n1,2\n3,4\n", ["x", "y"]),
        ("#x\ty\n1\t2\n3\t4\n", ["x", "y"]),
        ("# 3 4 5\n1,2\n3,4\n", ["x1", "x2"]),
        ("\n1|2\n3|4\n", ["x1", "x2"]),
    ],
)
def test_remarks_above_the_rows(tmp_path: Path, content: str, columns: list[str]) -> None:
    found = table(tmp_path, content)
    assert found.columns == columns
    assert found.X.tolist() == [[1, 2], [3, 4]]


def test_remarks_above_rows_with_words(tmp_path: Path) -> None:
    found = table(tmp_path, '# made "by" a tool\n# name,x\nu,1\nv,2\n')
    assert (found.columns, found.labels["name"].tolist(), found.X.ravel().tolist()) == (["x"], ["u", "v"], [1, 2])


def test_a_row_that_begins_with_the_mark_is_data(tmp_path: Path) -> None:
    found = table(tmp_path, "#ff0000,1,2\n#00ff00,3,4\n")
    assert found.X.tolist() == [[1, 2], [3, 4]]
    assert table(tmp_path, "#ff0000,1,2\n00ff00,3,4\n").X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8-sig"])
def test_texts_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    text = "Länge;Sorte\n1,5;weiß\n2,5;grün\n"
    marked = encoding.startswith("utf")
    found = table(tmp_path, text.encode(encoding), **({} if marked else {"encoding": encoding}))
    assert found.columns == ["Länge"]
    assert found.X.ravel().tolist() == [1.5, 2.5]
    assert found.labels["Sorte"].tolist() == ["weiß", "grün"]


def test_marks_of_missing_values(tmp_path: Path) -> None:
    found = table(tmp_path, "a,b\n1,?\n.,2\n-,#N/A\n3,4\n", missing="keep")
    assert np.isnan(found.X).sum() == 4
    assert table(tmp_path, "a,b\n1,?\n.,2\n-,#N/A\n3,4\n", missing="drop").ids.tolist() == [4]


def test_many_columns_of_words_in_one_sentence(tmp_path: Path) -> None:
    header, row = ",".join(f"w{i}" for i in range(9)), ",".join(["$1"] * 9)
    notices = table(tmp_path, f"x,{header}\n1,{row}\n2,{row}\n").notices
    assert len(notices) == 1
    assert notices[0].startswith("9 columns are not numeric")
    assert "'w0' ('$1', ...)" in notices[0]


def test_matrix_market(tmp_path: Path) -> None:
    A = sp.random(20, 30, 0.2, random_state=5101, format="csr")
    scipy.io.mmwrite(tmp_path / "a.mtx", A)
    found = read(tmp_path / "a.mtx")
    assert sp.issparse(found.X)
    assert np.allclose(found.X.toarray(), A.toarray())
    assert np.allclose(read(tmp_path / "a.mtx", points="columns").X.toarray(), A.T.toarray())
    with gzip.open(tmp_path / "b.mtx.gz", "wb") as packed:
        packed.write((tmp_path / "a.mtx").read_bytes())
    assert np.allclose(read(tmp_path / "b.mtx.gz").X.toarray(), A.toarray())
    scipy.io.mmwrite(tmp_path / "d.mtx", np.arange(6.0).reshape(2, 3))
    assert read(tmp_path / "d.mtx").X.tolist() == [[0, 1, 2], [3, 4, 5]]
    scipy.io.mmwrite(tmp_path / "c.mtx", np.ones((2, 2)) * 1j)
    with pytest.raises(FileProblem, match="complex"):
        read(tmp_path / "c.mtx")
    with pytest.raises(InvalidInput, match="points must be"):
        read(tmp_path / "d.mtx", points="both")
    for text, words in [
        ("%%MatrixMarket matrix coordinate real general\n9 9 999999999999\n1 1 1\n", "promises 999999999999 entries"),
        ("%%MatrixMarket matrix coordinate real general\n0 9 0\n", "no points"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n7 7 1.0\n", "not a readable"),
        ("1 2\n3 4\n", "not a readable"),
    ]:
        (tmp_path / "e.mtx").write_text(text)
        with pytest.raises(FileProblem, match=words):
            read(tmp_path / "e.mtx")


def test_the_matrix_of_a_matlab_file(tmp_path: Path) -> None:
    X = np.arange(12.0).reshape(4, 3)
    scipy.io.savemat(tmp_path / "a.mat", {"fea": X, "gnd": np.array([[1], [2], [1], [2]])})
    found = read(tmp_path / "a.mat")
    assert found.X.tolist() == X.tolist()
    assert found.labels["gnd"].tolist() == [1, 2, 1, 2]
    scipy.io.savemat(tmp_path / "b.mat", {"s": {"n": 3}})
    with pytest.raises(FileProblem, match=r"there are s \(struct\)"):
        read(tmp_path / "b.mat")
    scipy.io.savemat(tmp_path / "c.mat", {"A": X, "B": X})
    with pytest.raises(FileProblem, match="several arrays: A, B"):
        read(tmp_path / "c.mat")


def test_ids_behind_the_coordinates_are_no_coordinates(tmp_path: Path) -> None:
    """As `embed` writes them of a table with gaps, from which the next command reads."""
    file = tmp_path / "flat.csv"
    file.write_text("a,b,id,no\n0.5,1,7,1\n1.5,2,9,1\n0.1,2,12,2\n0.2,3,13,2\n", encoding="utf-8")
    table = read(file)
    assert table.columns == ["a", "b", "no"]  # "no" comes twice: it numbers nothing
    assert table.ids is not None
    assert table.ids.tolist() == [7, 9, 12, 13]
    assert read(file, ids=False).X.shape == (4, 4)
