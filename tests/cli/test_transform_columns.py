"""`lowfold transform` finds the columns of the fit by name, wherever they stand and whatever stands beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold.cli import main
from lowfold.datasets._readers import read


@pytest.fixture
def fitted(tmp_path: Path) -> tuple[Path, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1, 2, 3]
    rows = "\n".join(f"{a!r},{b!r},{i % 3},{c!r},w{i % 2}" for i, (a, b, c) in enumerate(X.tolist()))
    (tmp_path / "fit.csv").write_text("a,b,class,c,word\n" + rows + "\n")
    model = str(tmp_path / "m.lowfold")
    assert main(["embed", str(tmp_path / "fit.csv"), "-m", "pca", "--label", "class", "--save", model, "--quiet"]) == 0
    return tmp_path, X


def placed(folder: Path, text: str, *more: str) -> tuple[int, Path]:
    (folder / "new.csv").write_text(text)
    out = folder / "out.csv"
    return main(["transform", str(folder / "m.lowfold"), str(folder / "new.csv"), "--out", str(out), *more]), out


@pytest.mark.parametrize(
    "text",
    ["a,b,class,c,word\n{},x\n", "c,a,b\n{2},{0},{1}\n", "n,c,class,a,b\n7,{2},,{0},{1}\n", "p,q,r\n{0},{1},{2}\n"],
)
def test_columns_are_found(fitted: tuple[Path, np.ndarray], text: str) -> None:
    folder, X = fitted
    values = [repr(v) for v in X[5].tolist()]
    code, out = placed(folder, text.replace("{}", f"{values[0]},{values[1]},9,{values[2]}").format(*values))
    assert code == 0
    table = read(out, label=[name for name in ("class", "n") if name in out.read_text().split("\n")[0].split(",")])
    from lowfold.methods.files import load

    assert np.allclose(table.X[0], load(folder / "m.lowfold").embedding_[5])


def test_what_does_not_fit_is_said(fitted: tuple[Path, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = fitted
    assert placed(folder, "a,c,d\n1,2,3\n")[0] == 1
    assert "of which 'b' is not in this file; it has a, c, d" in capsys.readouterr().err
    assert placed(folder, "a,b,c\n1,,3\n")[0] == 1
    assert "--read missing=drop" in capsys.readouterr().err
    assert placed(folder, "a,b,c\n1,2,3\n1,,3\n", "--read", "missing=drop")[0] == 0
    new, model = str(folder / "new.csv"), str(folder / "m.lowfold")
    assert main(["transform", model, new, "--out", str(folder / "out.xlsx")]) == 1
    assert "choose one of these endings" in capsys.readouterr().err
