"""A session as one file: a zip of plain arrays, models and one JSON text. Nothing in it is ever executed.

    session.json, X.npy, rows.npy, scaling.npy, aside0.npy, ..., col/<hash>,
    run/<number>/embedding.npy, run/<number>/model.lowfold

Names and sizes are checked before anything is read; a column whose content does not have the hash of its name is left
out of nothing: the file is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lowfold._core.config import get_config
from lowfold._core.file_words import parsing, refuse
from lowfold._core.memory import pretty_bytes
from lowfold.datasets._read_arrays import _npy
from lowfold.studio._stored import MORE, Stored, stored
from lowfold.studio._task_data import describe

FORMAT = 1
SUFFIX = ".studio"
MEMBER = re.compile(
    r"session\.json|(X|rows|scaling)\.npy|aside\d{1,4}\.npy|col/[0-9a-f]{32}|run/\d{1,4}/(embedding\.npy|model\.lowfold)"
)


def write_session(target: Path, folder: Path, runs: list[dict[str, Any]], look: dict[str, Any] | None) -> None:
    """Data, what they look like, runs and what was measured of them."""
    known = stored(folder)
    content: dict[str, Any] = {
        "format": FORMAT,
        "stored": {**asdict(known), "source": _without_path(known.source)},
        "runs": [],
        "look": look,
    }
    hashes: dict[str, Path] = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("X", *MORE):
            if (folder / f"{name}.npy").is_file():
                archive.write(folder / f"{name}.npy", f"{name}.npy")
        for number in range(len(known.aside)):
            archive.write(folder / f"aside{number}.npy", f"aside{number}.npy")
        for number, run in enumerate(runs):
            for name in ("embedding.npy", "model.lowfold"):
                if (Path(run["out"]) / name).is_file():
                    archive.write(Path(run["out"]) / name, f"run/{number}/{name}")
            for one in _columns_of(run):
                hashes[one["hash"]] = Path(run["columns"]) / one["hash"]
            content["runs"].append({key: value for key, value in run.items() if key not in ("out", "columns")})
        for name, file in hashes.items():
            archive.write(file, f"col/{name}")
        archive.writestr("session.json", json.dumps(content, allow_nan=False))


def _without_path(source: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key != "path"}


def _columns_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    edges = [run["edges"]] if run.get("edges") else []
    return [*run["picture"], *run["colours"].values(), *edges]


def open_session(path: Path, folder: Path, columns: Path, runs: Path) -> dict[str, Any]:
    """Unpack a session into the folders of this one; returns {"data": DataInfo, "runs": [...]}."""
    with parsing(path.name, "session of lowfold studio"), zipfile.ZipFile(path) as archive:
        _check(archive, path)
        content = json.loads(archive.read("session.json"))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            refuse(path.name, f"is not a session of format {FORMAT}")
        known = Stored(**content["stored"])
        X = _array(archive, "X.npy", path)
        aside = {name: _array(archive, f"aside{j}.npy", path) for j, name in enumerate(known.aside)}
        if X.ndim != 2 or len(X) != known.rows or any(len(values) != len(X) for values in aside.values()):
            refuse(path.name, "its arrays do not fit one another")
        known.write(folder, X, aside, _more(archive, X, path))
        for name in archive.namelist():
            if name.startswith("col/"):
                _column(archive, name, columns, path)
        opened = [_run(archive, number, run, len(X), columns, runs, path) for number, run in enumerate(content["runs"])]
        return {"data": describe(folder, columns, []), "runs": opened, "look": content.get("look")}


def _more(archive: zipfile.ZipFile, X: Any, path: Path) -> dict[str, Any]:
    """The arrays of `MORE` that the session has."""
    shapes = {"rows": (len(X),), "scaling": (2, X.shape[1])}
    found = {name: _array(archive, f"{name}.npy", path) for name in MORE if f"{name}.npy" in archive.namelist()}
    for name, values in found.items():
        if values.shape != shapes[name] or values.dtype.kind != ("i" if name == "rows" else "f"):
            refuse(path.name, f"its {name} do not fit its data")
    return found


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    total = 0
    for member in archive.infolist():
        if not MEMBER.fullmatch(member.filename):
            refuse(path.name, f"holds {member.filename[:60]!r}, which is no part of a session")
        total += member.file_size
    budget = get_config().memory
    if total > budget:
        refuse(path.name, f"unpacks to {pretty_bytes(total)}, more than the memory budget of {pretty_bytes(budget)}")


def _array(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    with archive.open(name) as stream:
        return np.array(_npy(stream, archive.getinfo(name).file_size, path.name, kinds="fiubU"))


def _column(archive: zipfile.ZipFile, name: str, columns: Path, path: Path) -> None:
    raw = archive.read(name)
    known = name.removeprefix("col/")
    if hashlib.blake2b(raw, digest_size=16).hexdigest() != known:
        refuse(path.name, f"the column {known} is damaged")
    (columns / known).write_bytes(raw)


def _run(
    archive: zipfile.ZipFile, number: int, run: dict[str, Any], n: int, columns: Path, runs: Path, path: Path
) -> dict[str, Any]:
    """One run with files of its own again."""
    target = runs / f"opened{number}"
    target.mkdir(parents=True)
    Y = _array(archive, f"run/{number}/embedding.npy", path)
    if Y.ndim != 2 or len(Y) != n:
        refuse(path.name, f"the embedding of run {number + 1} has shape {Y.shape}, the data have {n} rows")
    np.save(target / "embedding.npy", Y, allow_pickle=False)
    model = f"run/{number}/model.lowfold"
    if model in archive.namelist():
        with archive.open(model) as stream, (target / "model.lowfold").open("wb") as out:
            shutil.copyfileobj(stream, out)
    for one in _columns_of(run):
        if not (columns / one["hash"]).is_file() or not re.fullmatch("[0-9a-f]{32}", one["hash"]):
            refuse(path.name, f"a column of run {number + 1} is missing")
    return {**run, "out": str(target)}
