"""A session as a file: everything comes back; what is no session is refused in words."""

from __future__ import annotations

import asyncio
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import FileProblem
from lowfold.studio import _columns
from lowfold.studio._session_file import open_session, write_session
from lowfold.studio._stored import column
from lowfold.studio._task_data import read


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, np.ndarray[Any, Any]]:
    col, out = tmp_path / "col", tmp_path / "run"
    col.mkdir()
    out.mkdir()
    source = {"kind": "set", "name": "moons", "n": 90, "noise": 0.0, "seed": 0}
    monkeypatch.setattr("lowfold.studio._task_data.MOST_ROWS", 40)
    options = {"folder": str(tmp_path / "data"), "columns": str(col), "standardize": "unit"}
    read(lambda said: None, source, **options)
    Y = np.random.default_rng(0).normal(size=(40, 2))
    np.save(out / "embedding.npy", Y)
    lowfold.save(out / "model.lowfold", lowfold.PCA(2).fit(Y))
    run = {
        "method": "PCA", "params": {}, "facts": {}, "warnings": [], "measured": None, "stability": None, "stages": [],
        "invertible": True, "placed": [], "edges": None, "edges_total": 0, "colours": {}, "out": str(out),
        "columns": str(col), "picture": [asdict(one) for one in _columns.places(col, Y)],
    }  # fmt: skip
    write_session(tmp_path / "moons.studio", tmp_path / "data", [run], {"points": 40, "done": True})
    return tmp_path / "moons.studio", Y


def opened(path: Path, tmp_path: Path) -> dict[str, Any]:
    for name in ("data2", "col2", "runs2"):
        (tmp_path / name).mkdir(exist_ok=True)
    return open_session(path, tmp_path / "data2", tmp_path / "col2", tmp_path / "runs2")


def test_it_comes_back(saved: tuple[Path, Any], tmp_path: Path) -> None:
    path, Y = saved
    found = opened(path, tmp_path)
    assert (found["data"]["shown"], found["data"]["name"]) == (40, "moons")
    run = found["runs"][0]
    assert np.array_equal(np.load(Path(run["out"]) / "embedding.npy"), Y)
    assert lowfold.load(Path(run["out"]) / "model.lowfold").embedding_.shape == (40, 2)
    assert all((tmp_path / "col2" / one["hash"]).is_file() for one in run["picture"])
    assert found["look"] == {"points": 40, "done": True}
    rows, x1 = np.load(tmp_path / "data2" / "rows.npy"), column(tmp_path / "data2", "x1")
    assert np.allclose(
        lowfold.datasets.moons(90, random_state=0).X[rows, 0], x1, rtol=1e-14
    )  # in the units of the source
    classes = column(tmp_path / "data2", "class")
    assert classes is not None
    assert len(np.unique(classes)) == 2
    assert "path" not in json.loads(zipfile.ZipFile(path).read("session.json"))["stored"]["source"]


def test_the_columns_of_its_runs_are_kept_when_it_is_opened(saved: tuple[Path, Any], tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="needs the extra studio")
    from lowfold.studio._commands_data import reopen
    from lowfold.studio._session import Session

    (tmp_path / "studio").mkdir()
    session = Session(tmp_path / "studio", 10**9)

    async def job(name: str, task: dict[str, Any]) -> dict[str, Any]:
        return open_session(*(Path(task[part]) for part in ("path", "folder", "columns", "runs")))

    session.job = job  # type: ignore[method-assign, assignment]
    asyncio.run(reopen(session, saved[0]))
    (run,) = session.runs.values()
    assert run.picture
    assert all((session.folder / "col" / one.hash).is_file() for one in run.picture)


def rewritten(path: Path, change: Any) -> Path:
    """The archive with members changed: name -> bytes, None takes one out."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.update({"../evil.py": b"x"}), "no part of a session"),
        (lambda m: m.update({"run/0/evil.pickle": b"x"}), "no part of a session"),
        (lambda m: m.update({"X.npy": b"\x93NUMPY" + b"\0" * 5_000_000}), "memory budget"),
        (lambda m: m.update({"X.npy": m["X.npy"][:200]}), "bytes"),
        (lambda m: m.update({next(k for k in m if k.startswith("col/")): b"other"}), "damaged"),
        (lambda m: m.update({"session.json": b"{}"}), "format"),
        (lambda m: m.pop("run/0/embedding.npy"), "embedding"),
        (lambda m: m.pop("session.json"), "session"),
    ],
)
def test_what_is_no_session_is_refused(saved: tuple[Path, Any], tmp_path: Path, change: Any, words: str) -> None:
    path = rewritten(saved[0], change)
    with lowfold.config_context(memory="1MB"), pytest.raises(FileProblem, match=words):
        opened(path, tmp_path)
    assert not list(tmp_path.rglob("evil*"))
