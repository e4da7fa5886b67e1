"""Models of 0.1, pickled or saved, are read by this version: their modules and parts had other names."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import lowfold

ARCHIVE = Path(__file__).parent / "data" / "models_0_1.zip"

with zipfile.ZipFile(ARCHIVE) as _archive:
    EXPECTED = dict(np.load(io.BytesIO(_archive.read("expected.npz"))))
    FILES = sorted(name for name in _archive.namelist() if name.endswith((".pickle", ".lowfold")))


@pytest.mark.parametrize("name", FILES)
def test_a_model_of_0_1_is_read(name: str, tmp_path: Path) -> None:
    stem = name.partition(".")[0]
    with zipfile.ZipFile(ARCHIVE) as archive:
        content = archive.read(name)
    if name.endswith(".pickle"):
        if np.__version__.startswith("1."):
            pytest.skip("pickled with NumPy 2, whose modules NumPy 1 does not have")
        model = pickle.loads(content)
    else:
        (tmp_path / name).write_bytes(content)
        model = lowfold.load(tmp_path / name)
    new = np.abs(EXPECTED["new"]) if stem == "NMF" else EXPECTED["new"]
    if f"{stem}_Y" in EXPECTED:
        np.testing.assert_array_equal(model.embedding_, EXPECTED[f"{stem}_Y"])
    np.testing.assert_allclose(model.transform(new), EXPECTED[f"{stem}_T"], rtol=1e-7, atol=1e-9)
