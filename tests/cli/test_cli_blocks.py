"""Files that are read in blocks from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lowfold
from lowfold._core import rows as blocks
from lowfold.cli._app import app


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 4 * 100)


def called(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.extra("zarr")
def test_a_zarr_array_is_embedded_and_saved(tmp_path: Path) -> None:
    import zarr

    X = np.random.default_rng(0).normal(size=(350, 4))
    zarr.create_array(store=str(tmp_path / "X.zarr"), shape=X.shape, chunks=(30, 4), dtype=X.dtype)[:] = X
    told = called("embed", tmp_path / "X.zarr", "-m", "pca", "-o", tmp_path / "Y.npy", "--save", tmp_path / "m.lowfold")
    assert "350 points in 4 columns, in blocks -> 2" in told
    assert np.allclose(np.load(tmp_path / "Y.npy"), lowfold.PCA(2).fit_transform(X))
    called("transform", tmp_path / "m.lowfold", tmp_path / "X.zarr", "-o", tmp_path / "Z.csv")
    assert np.allclose(np.loadtxt(tmp_path / "Z.csv", delimiter=",", skiprows=1), np.load(tmp_path / "Y.npy"))


@pytest.mark.extra("pyarrow")
def test_a_large_table_is_placed_block_by_block_with_its_labels(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.random.default_rng(1).normal(size=(5000, 4))
    lowfold.save(tmp_path / "m.lowfold", lowfold.PCA(2).fit(X))
    table = {
        **{f"c{j}": X[:, j] for j in range(4)},
        "class": np.arange(5000) % 3,
        "name": [f"n{i}" for i in range(5000)],
    }
    pq.write_table(pa.table(table), tmp_path / "X.parquet", row_group_size=70)
    options = ("--label", "class", "--memory", "200kB")
    called("transform", tmp_path / "m.lowfold", tmp_path / "X.parquet", "-o", tmp_path / "Y.parquet", *options)
    placed = pq.read_table(tmp_path / "Y.parquet")
    assert placed.column_names == ["pca0", "pca1", "class", "name"]
    assert placed["name"].to_pylist()[4999] == "n4999"
    assert np.allclose(np.column_stack([placed["pca0"], placed["pca1"]]), lowfold.PCA(2).fit_transform(X))
    assert pq.ParquetFile(tmp_path / "Y.parquet").num_row_groups > 10


@pytest.mark.extra("pyarrow")
def test_columns_of_a_large_table_are_found_by_name(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.random.default_rng(2).normal(size=(2000, 4)) * [1, 2, 3, 4]
    columns = {f"c{j}": X[:, j] for j in range(4)}
    pq.write_table(pa.table(columns), tmp_path / "fit.parquet", row_group_size=70)
    pq.write_table(pa.table({"other": X[:, 0], **dict(reversed(columns.items()))}), tmp_path / "new.parquet")
    model, whole, placed = tmp_path / "m.lowfold", tmp_path / "whole.npy", tmp_path / "placed.npy"
    called("embed", tmp_path / "fit.parquet", "-m", "pca", "-o", whole, "--save", model, "--memory", "80kB")
    called("transform", model, tmp_path / "new.parquet", "-o", placed)
    assert np.allclose(np.load(placed), np.load(whole))
    pq.write_table(pa.table({"c0": X[:, 0], "c1": X[:, 1]}), tmp_path / "few.parquet")
    result = CliRunner().invoke(app, [str(word) for word in ("transform", model, tmp_path / "few.parquet")])
    assert "'c2', 'c3' are not in this file" in str(result.exception) + result.output


def test_workers_need_a_file_of_rows(tmp_path: Path) -> None:
    (tmp_path / "X.csv").write_text("a,b\n1,2\n3,4\n")
    result = CliRunner().invoke(app, ["embed", str(tmp_path / "X.csv"), "-m", "pca", "--workers", "2"])
    assert result.exit_code != 0
    assert "--workers" in result.output


@pytest.mark.extra("distributed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_is_used_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    X = np.random.default_rng(0).normal(size=(350, 4))
    np.save(tmp_path / "X.npy", X)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lowfold._core._dask_rows.PATIENCE", 1)
    with distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address=":0") as there:
        called("embed", "X.npy", "-m", "pca", "-o", "Y.npy", "--cluster", there.scheduler_address)
    assert np.allclose(np.load("Y.npy"), lowfold.PCA(2).fit_transform(X))
    result = CliRunner().invoke(app, ["embed", "X.npy", "-m", "pca", "--cluster", "tcp:/127.0.0.1"])
    assert result.exit_code != 0
    assert "no cluster answers" in result.output
