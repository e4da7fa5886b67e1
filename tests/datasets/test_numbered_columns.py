"""Tables whose columns are called by numbers, end in a mark too many, or have ids that no float holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold._core.errors import FileProblem
from lowfold.datasets import read
from lowfold.datasets._file_table import Table

X = np.round(np.random.default_rng(9).normal(size=(30, 4)), 4)
WHOLE = np.random.default_rng(9).integers(0, 16, size=(30, 9)).astype(float)


def table(
    folder: Path, first: str, rows: np.ndarray, *, index: bool = False, end: str = "", name: str = "t.csv"
) -> Table:
    lines = [first, *((f"{i}," if index else "") + ",".join(f"{v:g}" for v in row) + end for i, row in enumerate(rows))]
    (folder / name).write_text("\n".join(filter(None, lines)) + "\n")
    return read(folder / name)


COUNTING = ["0,1,2,3", "1,2,3,4", "400,410,420,430", "400.5,410.5,420.5,430.5", "1990,1991,1992,1993"]


@pytest.mark.parametrize("first", COUNTING)
def test_numbers_that_count_are_names(first: str, tmp_path: Path) -> None:
    found = table(tmp_path, first, X)
    assert found.columns == first.split(",")
    assert np.array_equal(found.X, X)
    assert "is read as names" in found.notices[0]


def test_an_index_without_a_name_shows_a_header_of_numbers(tmp_path: Path) -> None:
    for rows in (X, WHOLE):
        found = table(tmp_path, "," + ",".join(map(str, range(rows.shape[1]))), rows, index=True)
        assert np.array_equal(found.X, rows)
        assert np.array_equal(found.ids, np.arange(30))


def test_a_long_count_over_whole_numbers_is_names(tmp_path: Path) -> None:
    assert np.array_equal(table(tmp_path, "0,1,2,3,4,5,6,7,8", WHOLE).X, WHOLE)


def test_rows_that_count_stay_rows(tmp_path: Path) -> None:
    steps = np.arange(30)[:, None] * 10.0 + np.arange(4)  # every row goes up by even steps
    assert len(table(tmp_path, "", steps).X) == 30
    falling = np.vstack([[3.0, 2.0, 1.0, 0.0], X])
    assert len(table(tmp_path, "", falling).X) == 31
    doubtful = table(tmp_path, "0,1", -np.abs(X[:, :2]))
    assert len(doubtful.X) == 31
    assert "header=True takes it as names" in doubtful.notices[0]


def test_a_mark_too_many_makes_no_column(tmp_path: Path) -> None:
    found = table(tmp_path, "a,b,c,d,", X, end=",")
    assert found.columns == list("abcd")
    assert "column 5 has neither a name nor values" in found.notices[0]
    (tmp_path / "e.csv").write_text("a,b,c\n1,,2\n2,,5\n")
    for missing in ("error", "drop", "mean"):
        with pytest.raises(FileProblem, match="column 'b' has no value at all"):
            read(tmp_path / "e.csv", missing=missing)


def test_ids_beyond_floats_keep_their_digits(tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_text("id,a,b\n9007199254740993,1,2\n9007199254740992,2,4\n9007199254740995,0,1\n")
    found = read(tmp_path / "i.csv")
    assert found.columns == ["a", "b"]
    assert found.labels["id"].tolist() == ["9007199254740993", "9007199254740992", "9007199254740995"]


def test_texts_without_a_known_ending(tmp_path: Path) -> None:
    for name in ("table", "t.dat", "t.asc"):
        assert np.array_equal(table(tmp_path, "a,b,c,d", X, name=name).X, X)
    (tmp_path / "t.hdr").write_text("ENVI\n")
    with pytest.raises(FileProblem, match=r"the header beside it, t\.hdr"):
        read(tmp_path / "t.dat")
