"""Rows in blocks: the same rows whoever holds them, merged in an order that is fixed, and never gathered unasked."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from lowfold._core import rows as blocks
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold._core.open_rows import as_rows, open_rows
from lowfold._core.rows import first_pass, fold_tree


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 3 * 20)  # 20 rows of 3 columns


def stored(tmp_path: Path, kind: str, X: np.ndarray) -> Path:
    path = tmp_path / f"X.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "zarr":
        import zarr

        zarr.create_array(store=str(path), shape=X.shape, chunks=(7, 3), dtype=X.dtype)[:] = X
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["X"] = X
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=31)
    return path


KINDS = [
    "npy",
    pytest.param("zarr", marks=pytest.mark.extra("zarr")),
    pytest.param("h5", marks=pytest.mark.extra("h5py")),
    pytest.param("parquet", marks=pytest.mark.extra("pyarrow")),
]


def total(block: np.ndarray, start: int, factor: float) -> np.ndarray:
    return factor * block.sum(axis=0) + start


def both(A: np.ndarray, a: int, B: np.ndarray, b: int) -> tuple[list, list]:
    return [(a, b, len(A))], [(b, a, len(B))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_of_file_holds_the_same_rows(tmp_path: Path, kind: str, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(93, 3)).astype(dtype)
    rows = open_rows(stored(tmp_path, kind, X))
    assert rows.shape == X.shape
    assert rows.dtype == dtype
    assert len(rows.starts) > 4
    assert np.array_equal(np.concatenate([rows.block(i) for i in range(len(rows.starts) - 1)]), X)
    some = np.array([92, 0, 50, 0, 17])
    assert np.array_equal(rows.take(some), X[some])
    assert np.array_equal(pickle.loads(pickle.dumps(rows)).take(some), X[some])
    with pytest.raises(InvalidInput, match=r"rows must lie in 0\.\.92"):
        rows.take(np.array([93]))
    assert np.array_equal(np.asarray(rows.lazily(lambda block, start: block[:, :2] * 2, 2, dtype)), X[:, :2] * 2)


def test_a_fold_is_a_tree_that_the_number_of_blocks_decides() -> None:
    for n in range(1, 40):
        level = [str(i) for i in range(n)]
        while len(level) > 1:
            level = [f"({a}{b})" for a, b in zip(level[::2], level[1::2])] + level[len(level) // 2 * 2 :]
        assert fold_tree(iter(map(str, range(n))), lambda a, b: f"({a}{b})") == level[0]


def test_pairs_meet_once_and_both_hear_of_it_in_order(tmp_path: Path) -> None:
    X = np.zeros((45, 3))
    rows = open_rows(stored(tmp_path, "npy", X))
    found = list(rows.pairs(both, list.__add__))
    assert [[other for _, other, _ in row] for row in found] == [[0, 20, 40]] * 3
    assert [row[0][2] for row in found] == [20, 20, 5]


def test_the_first_pass_names_the_row_that_is_not_finite(tmp_path: Path) -> None:
    X = np.ones((50, 3))
    X[47, 1] = np.inf
    with pytest.raises(InvalidInput, match="row 47, column 1"):
        first_pass(open_rows(stored(tmp_path, "npy", X)))
    X[47, 1] = np.nan
    assert first_pass(open_rows(stored(tmp_path, "npy", X)), gaps=True).gaps


def test_what_is_in_memory_stays_an_array_and_a_large_map_does_not(tmp_path: Path) -> None:
    from lowfold import config_context

    np.save(tmp_path / "X.npy", np.ones((1000, 30)))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert as_rows(np.ones((3, 2))) is None
    assert as_rows(mapped) is None
    with config_context(memory=500_000):
        rows = as_rows(mapped)
        assert rows is not None
        assert np.array_equal(pickle.loads(pickle.dumps(rows)).take(np.arange(5)), mapped[:5])
        with pytest.raises(InvalidInput, match="no file that another process"):
            pickle.dumps(as_rows(mapped[10:]))


@pytest.mark.parametrize(("name", "words"), [("no.npy", "does not exist"), ("X.txt", "in blocks only as")])
def test_files_that_cannot_be_are_refused_in_words(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "X.txt").write_text("1 2")
    with pytest.raises(FileProblem, match=words):
        open_rows(tmp_path / name)


@pytest.mark.extra("dask")
def test_rows_of_dask_are_worked_on_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import dask.array as da

    from lowfold._core import _dask_rows

    X = np.random.default_rng(1).normal(size=(300, 3))
    arrived: list[int] = []
    computed = _dask_rows._computed

    def counted(tasks: list) -> list:
        found = computed(tasks)
        arrived.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(_dask_rows, "_computed", counted)
    path = stored(tmp_path, "npy", X)
    plain = open_rows(path)
    with dask.config.set(scheduler="threads"):
        for rows in (open_rows(path, dask=True), as_rows(da.from_array(X, chunks=(20, 2)))):
            arrived.clear()
            assert np.array_equal(rows.fold(total, np.add, 2.0), plain.fold(total, np.add, 2.0))
            assert sum(arrived) < 500 < X.nbytes
            assert list(rows.pairs(both, list.__add__)) == list(plain.pairs(both, list.__add__))
            assert np.array_equal(rows.take(np.array([299, 3])), X[[299, 3]])
            made = rows.lazily(lambda block, start: block + start, 3, np.float64)
            assert isinstance(made, da.Array)
            assert np.array_equal(made[25].compute(), X[25] + 20)
    with pytest.raises(InvalidInput, match="compute_chunk_sizes"):
        as_rows(da.from_array(X)[da.from_array(X)[:, 0] > 0])
