"""What the server serves: known files, columns by hash, rows, uploads under harmless names; nothing by path."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra studio")

from tests.studio.asgi import GOOD, call, studio

from lowfold._core.errors import InvalidInput
from lowfold.studio import _columns
from lowfold.studio._commands import do
from lowfold.studio._wire import decode


@pytest.mark.parametrize(
    "path",
    ["/static/../_server.py", "/static/..%2f_server.py", "/static/_server.py", "/col/../data", "/file/x", "/item/1/0"],
)
def test_nothing_is_served_by_path(tmp_path: Path, path: str) -> None:
    _, app = studio(tmp_path)
    assert call(app, path, GOOD)[0] == 404


def test_a_column_is_served_by_its_hash_once_it_is_known(tmp_path: Path) -> None:
    session, app = studio(tmp_path)
    column = _columns.numbers(tmp_path / "col", np.array([0.0, 1.0, np.nan, 4.0]))
    assert call(app, f"/col/{column.hash}", GOOD)[0] == 404
    session.columns.add(column.hash)
    status, headers, body = call(app, f"/col/{column.hash}", GOOD)
    assert status == 200
    assert "immutable" in headers["cache-control"]
    assert np.frombuffer(body, "<u2").tolist() == [0, 16384, 65535, 65534]
    assert (column.low, column.high) == (0.0, 4.0)


def test_a_file_is_taken_home_once(tmp_path: Path) -> None:
    session, app = studio(tmp_path)
    file = tmp_path / "out" / "1.csv"
    file.write_bytes(b"x\n1\n")
    session.files["key"] = (file, "roll.csv")
    status, headers, body = call(app, "/file/key", GOOD)
    assert (status, body) == (200, b"x\n1\n")
    assert "roll.csv" in headers["content-disposition"]
    assert not file.exists()
    assert call(app, "/file/key", GOOD)[0] == 404


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("roll.csv", "roll.csv"),
        ("../../etc/passwd", "_/_/etc/passwd"),
        ("..", "_"),
        ("a/b/c.png", "a/b/c.png"),
        ("1/2/3/4/5/6/7.png", "2/3/4/5/6/7.png"),
        ("x\x00y;$(z).csv", "x_y__(z).csv"),
        ("", "_"),
    ],
)
def test_an_upload_stays_in_its_folder(tmp_path: Path, name: str, kept: str) -> None:
    session, _ = studio(tmp_path)
    batch = asyncio.run(do(session, decode('{"do": "batch", "id": 1}')))["batch"]
    target = session.uploads.target(batch, name)
    assert target == tmp_path / "up" / batch / kept
    assert target.resolve().is_relative_to((tmp_path / "up" / batch).resolve())


@pytest.mark.parametrize("name", ["", ".", "..", "none"])
def test_an_upload_is_forgotten_alone(tmp_path: Path, name: str) -> None:
    session, _ = studio(tmp_path)
    kept, gone = session.uploads.begin(), session.uploads.begin()
    session.uploads.forget(name)
    session.uploads.forget(gone)
    assert [folder.name for folder in (tmp_path / "up").iterdir()] == [kept]


def test_an_upload_is_written_and_has_a_budget(tmp_path: Path) -> None:
    session, app = studio(tmp_path, memory=100)
    batch = asyncio.run(do(session, decode('{"do": "batch", "id": 1}')))["batch"]
    headers = {**GOOD, "x-name": "roll.csv"}
    assert call(app, f"/upload/{batch}", headers, method="POST", body=b"x,y\n1,2\n")[0] == 200
    assert (tmp_path / "up" / batch / "roll.csv").read_bytes() == b"x,y\n1,2\n"
    status, _, words = call(app, f"/upload/{batch}", headers, method="POST", body=b"0" * 100)
    assert status == 413
    assert b"memory budget" in words
    assert call(app, "/upload/other", headers, method="POST", body=b"0")[0] == 413


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "a field 'do'"),
        ("{", "one JSON object"),
        ('{"do": "open", "id": 1}', "has the fields id, name, n, noise, seed"),
        ('{"do": "take", "id": 1, "batch": "../x"}', "no such upload"),
        ('{"do": "open", "id": 1, "name": "../roll.csv", "n": 9, "noise": 0, "seed": 0}', "no built-in set"),
        ('{"do": "open", "id": 1, "name": "circle", "n": 1e9, "noise": 0, "seed": 0}', "n of the command"),
        ('{"do": "near", "id": 1, "row": 0, "k": true}', "k of the command"),
        ('{"do": "near", "id": 1, "row": 0, "k": 5}', "no data yet"),
        ('{"do": "start", "id": 1, "method": "Isomap", "params": {}}', "no data yet"),
        ('{"do": "recipe", "id": 1, "run": "7"}', "not here any more"),
        ('{"do": "export", "id": 1, "what": "exe", "run": "1", "rows": []}', "what of the command"),
    ],
)
def test_a_command_that_cannot_be_done_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    session, _ = studio(tmp_path)

    async def attempt() -> None:
        await do(session, decode(text))

    with pytest.raises(InvalidInput, match=words.replace("'", ".")):
        asyncio.run(attempt())
