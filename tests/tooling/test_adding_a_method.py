"""A new method touches four places, those that CONTRIBUTING.md names: shown with a toy in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FILE = '''"""First columns, Nobody (2020)."""

from __future__ import annotations

import numpy as np

from lowfold._core.limits import Flag
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_method import AffineMap, LinearMethod, project


class FirstColumns(LinearMethod):
    """Keep the first columns, centred.

    Examples
    --------
    >>> import lowfold
    >>> lowfold.FirstColumns(1).fit_transform([[0.0, 1.0], [2.0, 5.0]]).ravel().tolist()
    [-1.0, 1.0]
    """

    backwards: bool = param(False, Flag(), "The last columns instead.")

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        W = np.eye(X.shape[1])[:, ::-1 if self.backwards else 1][:, : self.n_components]
        there = AffineMap(X.mean(axis=0, dtype=np.float64), W, W.T)
        return Fit(project(X, there.mean, W, run), None, None, there, there)

    def _operator(self) -> DenseOperator:
        W = self._extend.W
        return DenseOperator(W @ W.T, psd=True)
'''
ROW = """
    Entry(
        "FirstColumns",
        "first_columns",
        "linear",
        "the first columns",
        ("points",),
        "none",
        "Nobody 2020",
    ),
)


BY_NAME"""
CASE = """
    "FirstColumns": Case(
        other_values={"n_components": 1, "backwards": True, "normalization": "unit"}, restores=1.0
    ),
}"""
STUB = "from lowfold.methods.first_columns import FirstColumns as FirstColumns\n"


def test_a_toy_in_four_places(tmp_path: Path) -> None:
    for part in ("src", "tests/methods", "conftest.py", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, tmp_path / part)
    places = [
        _written(tmp_path / "src/lowfold/methods/first_columns.py", FILE),
        _changed(tmp_path / "src/lowfold/methods/_table.py", r"\n\)\n+BY_NAME", ROW),
        _changed(tmp_path / "src/lowfold/__init__.pyi", r"\Z", STUB),
        _changed(tmp_path / "tests/methods/contract_table.py", r"\n\}\Z|\n\}(?=\n)(?![\s\S]*\n\}\n)", CASE),
    ]
    named = re.search(r"## Adding a method\n(.*?)\n## ", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert named
    listed = re.findall(r"^\d\. .*?`([^`]+)`", named[1], re.MULTILINE)
    told = [str(place.relative_to(tmp_path)).replace("first_columns", "<name>") for place in places]
    assert listed == told, "CONTRIBUTING.md names other places than these four"

    settings = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    chosen = "(FirstColumns or registry or stub or file_has_a_row or modules_are_named) and not readme"
    files = ["tests/methods/test_contract.py", "tests/methods/test_registry.py"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-k", chosen, *files],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) > 25  # type: ignore[index]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _changed(path: Path, pattern: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    changed = re.sub(pattern, lambda _: new, text, count=1)
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    return path
