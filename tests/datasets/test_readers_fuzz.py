"""Whatever the bytes: a Table, or FileProblem, never another exception, never a warning."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lowfold._core.errors import FileProblem
from lowfold.datasets._readers import Table, read

LETTERS = '0123456789.,;\t\n\r "-+eEnaNA_x\ufeff\0é'
CALM = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def attempt(content: bytes, name: str, **options: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        if name == "cube.hdr":
            (Path(folder) / "cube.dat").write_bytes(bytes(range(200)))
        try:
            table = read(path, **options)
        except FileProblem:
            return
        assert isinstance(table, Table)
        assert table.X.ndim == 2
        assert table.X.dtype in (np.float32, np.float64)
        assert len(table.columns) == table.X.shape[1]
        assert all(len(values) == len(table.X) for values in table.labels.values())


def seeds() -> dict[str, bytes]:
    X = np.arange(12.0).reshape(4, 3)
    npy, npz, mat = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(npy, X)
    np.savez_compressed(npz, X=X, y=np.arange(4))
    scipy.io.savemat(mat, {"X": X, "y": np.arange(4)})
    header = "ENVI\nsamples = 2\nlines = 5\nbands = 4\ndata type = 2\ninterleave = bil\nwavelength = {1,2,\n3,4}\n"
    return {
        "t.csv": b"id,a,b,kind\n1,2,3.5,x\n2,4,5e1,y\n3,6,-7,z\n",
        "t.tsv": b"1\t2\n3\t4\n",
        "x.npy": npy.getvalue(),
        "x.npz": npz.getvalue(),
        "x.mat": mat.getvalue(),
        "x.idx": bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6]),
        "cube.hdr": header.encode(),
    }


SEEDS = seeds()


@CALM
@given(content=st.binary(max_size=300), name=st.sampled_from(sorted(SEEDS)))
def test_any_bytes(content: bytes, name: str) -> None:
    attempt(content, name)


@CALM
@given(name=st.sampled_from(sorted(SEEDS)), data=st.data())
def test_good_files_damaged(name: str, data: st.DataObject) -> None:
    content = bytearray(SEEDS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    attempt(bytes(content[: data.draw(st.integers(0, len(content)))]), name)
    attempt(bytes(content), name)


@CALM
@given(
    rows=st.lists(st.lists(st.text(alphabet=LETTERS, max_size=6), max_size=4), max_size=6),
    missing=st.sampled_from(["error", "keep"]),
    header=st.sampled_from(["auto", True, False]),
)
def test_text_that_almost_is_a_table(rows: list[list[str]], missing: str, header: object) -> None:
    text = "\n".join(",".join(row) for row in rows)
    attempt(text.encode(), "t.csv", missing=missing, header=header)


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_the_seeds_themselves_are_tables(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(SEEDS[name])
    if name == "cube.hdr":
        (tmp_path / "cube.dat").write_bytes(bytes(range(200)))
    assert isinstance(read(tmp_path / name), Table)


@CALM
@given(values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_float_survives_csv(values: list[float]) -> None:
    from lowfold.datasets._readers import write_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v.csv"
        write_table(path, np.array(values)[:, None])
        np.testing.assert_array_equal(read(path).X.ravel(), values)
