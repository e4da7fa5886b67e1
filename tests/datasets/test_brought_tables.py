"""Tables as people have them: an index beside the data, marks of their own for missing values, lists in a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.cli._app import app
from lowfold.datasets import read

rng = np.random.default_rng(9000)
X = rng.normal(size=(40, 3))


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


def test_a_nameless_index_is_no_measurement(tmp_path: Path) -> None:
    order = rng.permutation(40)
    numbered = [[place, *X[place]] for place in order]
    table = read(lines(tmp_path / "shuffled.csv", [["", "a", "b", "c"], *numbered]))
    assert table.columns == ["a", "b", "c"]
    assert table.ids is not None
    assert np.array_equal(table.ids, order)
    twice = [[place % 20, *row, "uv"[place % 2]] for place, row in enumerate(X)]
    table = read(lines(tmp_path / "joined.csv", [["", "a", "b", "c", "kind"], *twice]))
    assert table.columns == ["a", "b", "c"]
    assert list(table.labels) == ["kind", "x1"]  # the first names classes
    assert np.array_equal(table.labels["x1"], np.arange(40) % 20)
    assert "no name" in table.notices[0]
    kept = read(tmp_path / "shuffled.csv", ids=False)
    assert kept.columns == ["x1", "a", "b", "c"]
    measured = [[value, *row] for value, row in zip(rng.normal(size=40), X)]
    assert read(lines(tmp_path / "measured.csv", [["", "a", "b", "c"], *measured])).X.shape == (40, 4)


@pytest.mark.parametrize(
    ("na", "mark"), [(-999, "-999"), ("-999.0", "-999"), ("n.a.", "N.A."), (["lost", -1e30], "lost"), (-1e30, "-1e+30")]
)
@pytest.mark.parametrize("many", [False, True], ids=["small", "large"])  # a large file is read by pyarrow
def test_marks_of_missing_values(tmp_path: Path, na: Any, mark: str, many: bool) -> None:
    rows = [[repr(float(value)) for value in row] for row in np.tile(X, (800 if many else 1, 1))]
    rows[1][2] = rows[30][0] = mark
    path = lines(tmp_path / "t.csv", [["a", "b", "c"], *rows])
    with pytest.raises(FileProblem, match=r"2 values are missing, the first in row 2, column 'c'"):
        read(path, na=na)
    kept = read(path, na=na, missing="keep").X
    assert np.array_equal(np.argwhere(np.isnan(kept)), [[1, 2], [30, 0]])
    assert len(read(path, na=na, missing="drop").X) == len(rows) - 2


def test_marks_in_arrays_and_what_is_no_mark(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.where(X > 1.5, -9999, X).astype(np.float32))
    assert np.isnan(read(tmp_path / "x.npy", na=-9999, missing="keep").X).sum() == (X > 1.5).sum()
    with pytest.raises(InvalidInput, match="na must be a word or a number"):
        read(lines(tmp_path / "t.csv", X.tolist()), na=True)
    with pytest.raises(FileProblem, match="say na='lost'"):
        read(lines(tmp_path / "t.csv", [*X.tolist(), [1, "lost", 2]]))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (np.where(X[:, 0] > 1, -999, X[:, 0]), "na=-999"),
        (np.where(np.arange(40) == 7, 9999, 10 * X[:, 0]), "9999 stands 1 times"),
        (np.where(X[:, 0] > 1, -999, 500 * X[:, 0]), ""),  # within reach of the others
        (np.arange(960, 1000), ""),
        (np.where(X[:, 0] > 1, -999, 3), ""),  # two values alone: a class, or a switch
    ],
)
def test_numbers_that_look_like_marks_are_told(tmp_path: Path, column: Any, told: str) -> None:
    table = read(lines(tmp_path / "t.csv", [["a", "b", "c"], *np.column_stack([X[:, 1:], column]).tolist()]))
    assert told in " ".join(table.notices) if told else not table.notices


def embed(path: Path, out: Path, *words: str) -> str:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["embed", str(path), "-m", "pca", "-o", str(out), "--overwrite", *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.extra("pandas", "pyarrow")
def test_an_index_and_categories_of_pandas_in_parquet(tmp_path: Path) -> None:
    import pandas as pd

    path, out = tmp_path / "t.parquet", tmp_path / "y.csv"
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    plain = lowfold.PCA(2).fit(X)
    frame.sample(frac=1, random_state=1).to_parquet(path)
    assert read(path).ids is not None
    assert lowfold.PCA(2).fit(path).components_.shape == plain.components_.shape
    runs = pd.MultiIndex.from_product([range(4), range(10)], names=["run", "step"])
    frame.set_index(runs).assign(kind=pd.Categorical([1, 2] * 20)).to_parquet(path)
    table = read(path)
    assert table.columns == ["a", "b", "c"]
    assert set(table.labels) == {"run", "step", "kind"}
    assert lowfold.PCA(2).fit(path).components_.shape == plain.components_.shape
    embed(path, out)
    whole = read(out, label=["run", "step", "kind"]).X
    assert "kept aside: kind, run, step" in embed(path, out, "--workers", "1")
    assert np.allclose(whole, read(out, label=["run", "step", "kind"]).X)
    pd.concat([frame, frame]).to_parquet(path)
    assert read(path).columns == ["a", "b", "c"]


@pytest.mark.extra("pyarrow")
def test_lists_of_numbers_in_a_column(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    flat = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
    for lists in (pa.array(list(X), type=pa.list_(pa.float32())), flat):
        pq.write_table(pa.table({"v": lists, "word": [f"w{i}" for i in range(40)]}), path)
        table = read(path)
        assert table.columns == ["v.1", "v.2", "v.3"]
        assert np.allclose(table.X, X, atol=1e-6)
    embed(path, tmp_path / "y.csv")
    pq.write_table(pa.table({"v": [[1.0, 2.0], [3.0]]}), path)
    with pytest.raises(FileProblem, match=r"lists of 2 numbers, but of 1 in row 2"):
        read(path)
    pq.write_table(pa.table({"v": [[1.0, 2.0], None]}), path)
    with pytest.raises(FileProblem, match=r"row 2, column 'v' holds no list"):
        read(path)


@pytest.mark.parametrize(
    ("above", "count"),
    [("Results 2021", 1), ("Results of the cellar,,\n,,", 2), ("Export from LabSoft 3.1\nDate: 2021-01-01\n", 3)],
)
def test_titles_above_a_table_are_told_and_skipped(tmp_path: Path, above: str, count: int) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    path.write_text(f"{above}\na,b,c\n{rows}\n")
    with pytest.raises(FileProblem, match=f"like a title above the table: skip={count} leaves that out"):
        read(path)
    table = read(path, skip=count)
    assert table.columns == ["a", "b", "c"]
    assert np.array_equal(table.X, X)
    path.write_text(f"{above}\n{rows}\n")
    assert np.array_equal(read(path, skip=count).X, X)
    path.write_text(f"{above}\n# by hand\n#a,b,c\n{rows}\n")
    assert read(path, skip=count).columns == ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="skip must be a number of lines"):
        read(path, skip=-1)


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_the_line_for_excel_names_the_mark(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "t.csv"
    rows = "\r\n".join(mark.join(map(repr, row)) for row in X.tolist())
    for head in ("", f"a{mark}b{mark}c\r\n"):
        path.write_bytes(f"sep={mark}\r\n{head}{rows}\r\n".encode())
        assert np.array_equal(read(path).X, X)


@pytest.mark.parametrize("name", ["PatientID", "patient id", "Sample No.", "#", "probe_nr", "rowId"])
def test_names_of_ids(tmp_path: Path, name: str) -> None:
    numbers = rng.permutation(40) + 1000
    table = read(lines(tmp_path / "t.csv", [["a", name, "c"], *([x, i, z] for (x, _, z), i in zip(X, numbers))]))
    assert table.ids is not None
    assert np.array_equal(table.ids, numbers)


@pytest.mark.parametrize("name", ["grid", "Humid", "casino", "liquid", "number", "MONO"])
def test_names_of_no_ids(tmp_path: Path, name: str) -> None:
    numbers = rng.permutation(40) + 1000
    table = read(lines(tmp_path / "t.csv", [["a", name, "c"], *([x, i, z] for (x, _, z), i in zip(X, numbers))]))
    assert table.columns == ["a", name, "c"]


@pytest.mark.extra("pandas", "pyarrow")
def test_a_table_written_as_a_folder(tmp_path: Path) -> None:
    import pandas as pd

    folder = tmp_path / "t.parquet"
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(year=[2020, 2021] * 20)
    frame.to_parquet(folder, partition_cols=["year"])
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    table = read(folder)
    assert np.array_equal(table.X, np.vstack([X[::2], X[1::2]]))
    assert table.labels["year"].tolist() == ["2020"] * 20 + ["2021"] * 20
    embed(folder, tmp_path / "y.csv")
    one = next((folder / "year=2021").glob("*.parquet"))
    assert read(one).labels == {}
    texts = tmp_path / "texts"
    (texts / "cache").mkdir(parents=True)
    (texts / "cache" / "t.parquet").write_bytes(one.read_bytes())
    (texts / "a.txt").write_text("apple pear")
    (texts / "b.txt").write_text("pear plum")
    assert read(texts).labels["document"].tolist() == ["a.txt", "b.txt"]
    with pytest.raises(FileProblem, match="is a folder; for blocks write one file"):
        lowfold.PCA(2).fit(folder)


@pytest.mark.parametrize("mark", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("names", [[str(i + 1) for i in range(40)], [f"plot {i}" for i in range(40)]])
def test_names_of_rows_as_r_writes_them(tmp_path: Path, mark: str, names: list[str]) -> None:
    path = tmp_path / "t.txt"
    rows = [mark.join([f'"{name}"', *map(repr, row)]) for name, row in zip(names, X.tolist())]
    path.write_text("\n".join([mark.join(['"a"', '"b"', '"c"']), *rows]) + "\n")
    table = read(path)
    assert table.columns == ["a", "b", "c"]
    assert np.array_equal(table.X, X)
    kept = table.labels["x1"] if table.ids is None else table.ids
    assert [str(name) for name in kept] == names
    assert "names of rows" in " ".join(table.notices)


def test_one_field_too_many_is_told_where_it_may_be_a_comma(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i % 7},5,{i}\n" for i in range(20)))  # 0,5 and 1,5 are one number each
    with pytest.raises(FileProblem, match="row 1 has 3 fields, the first line has 2"):
        read(path)
    path.write_text("a,b\n" + "".join(f"{x!r},{y!r},\n" for x, y, _ in X.tolist()))  # a mark at the end of rows alone
    table = read(path)
    assert table.columns == ["a", "b"]
    assert np.array_equal(table.X, X[:, :2])
