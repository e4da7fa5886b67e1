"""Packed tables and Feather files."""

from __future__ import annotations

import gzip
import importlib

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import FileProblem
from lowfold.datasets._readers import read


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
@pytest.mark.parametrize("rows", [3, pytest.param(40_000, id="large")])
def test_packed_tables_are_read_as_plain_ones(tmp_path, module, rows):
    ending = {"gzip": ".gz", "bz2": ".bz2", "lzma": ".xz"}[module]
    text = "a\tkind\n" + "".join(f"{i}.5\tword{i % 7}\n" for i in range(rows))
    plain, packed = tmp_path / "t.tsv", tmp_path / f"t.tsv{ending}"
    plain.write_text(text)
    with importlib.import_module(module).open(packed, "wt") as file:
        file.write(text)
    first, second = read(plain), read(packed)
    np.testing.assert_array_equal(first.X, second.X)
    assert first.columns == second.columns == ["a"]
    assert first.labels["kind"].tolist() == second.labels["kind"].tolist()
    assert second.source == str(packed)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv.gz", b"a,b\n1,2\n", "not a readable .gz file"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), "holds no rows"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "not a readable .gz file"),
        ("t.csv.zst", b"1", "the ending '.zst' is not known"),
        ("t.npy.gz", b"1", "the ending '.gz' is not known"),
        ("t.xlsx", b"1", "save the sheet as CSV"),
    ],
    ids=["plain text", "nothing in it", "cut off", "zstd", "an array", "a sheet"],
)
def test_what_is_no_packed_table_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileProblem, match=words):
        read(tmp_path / name)


def test_a_packed_table_beyond_the_budget_is_not_unpacked(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 3_000_000))
    with lowfold.config_context(memory="8MB"), pytest.raises(FileProblem, match="more than the memory budget"):
        read(tmp_path / "t.csv.gz")


@pytest.mark.extra("pyarrow")
def test_feather(tmp_path):
    feather, pa = importlib.import_module("pyarrow.feather"), importlib.import_module("pyarrow")
    table = pa.table({"a": [1.0, None, 3.0], "b": [4, 5, 6], "kind": ["x", "y", "z"]})
    feather.write_feather(table, str(tmp_path / "t.feather"))
    t = read(tmp_path / "t.feather", missing="drop")
    np.testing.assert_array_equal(t.X, [[1.0, 4.0], [3.0, 6.0]])
    assert t.labels["kind"].tolist() == ["x", "z"]
    (tmp_path / "bad.feather").write_bytes(b"nothing of the kind")
    with pytest.raises(FileProblem, match="not a readable Feather file"):
        read(tmp_path / "bad.feather")
