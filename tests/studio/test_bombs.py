"""Uploads that are small and claim, or unpack, to much: refused in words, by the route that the page takes."""

from __future__ import annotations

import asyncio
import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra studio")

from tests.studio.asgi import GOOD, call, studio

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.studio._commands import do
from lowfold.studio._task_data import read
from lowfold.studio._task_home import reopen
from lowfold.studio._wire import decode

BUDGET = 2_000_000
ZEROS = bytes(20 * BUDGET)


def header(shape: tuple[int, ...]) -> bytes:
    """The head of an .npy file that claims this shape."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue()


def archive(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    return out.getvalue()


def png(side: int) -> bytes:
    """A grey image whose pixels are all black: a few kilobytes that unpack to side * side."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pixels = zlib.compress(bytes((side + 1) * side), 9)
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def mat(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "an array that claims a terabyte": ("x.npy", lambda: header((10**6, 10**5))),
    "an array whose size overflows": ("x.npy", lambda: header((2**62, 2**62))),
    "an archive of zeros": ("x.npz", lambda: archive("X.npy", header((len(ZEROS) // 8, 1)) + ZEROS)),
    "a packed set of images": (
        "train-images-idx3-ubyte.gz",
        lambda: gzip.compress(struct.pack(">IIII", 0x803, len(ZEROS) // 100, 10, 10) + ZEROS),
    ),
    "a packed set that claims more than it has": (
        "train-images-idx3-ubyte.gz",
        lambda: gzip.compress(struct.pack(">IIII", 0x803, 2**31 - 1, 2**15, 2**15)),
    ),
    "a packed matrix": ("x.mat", lambda: mat(struct.pack("<II", 14, len(ZEROS)) + ZEROS)),
    "a session of zeros": ("x.studio", lambda: archive("X.npy", ZEROS)),
    "a folder of black images": ("many", lambda: png(1500)),
}


@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.extra("PIL")
def test_a_bomb_is_refused(tmp_path: Path, kind: str) -> None:
    name, make = BOMBS[kind]
    words = "memory budget|more than|damaged|bytes|claims"
    content, (session, app) = make(), studio(tmp_path, memory=BUDGET)
    assert len(content) <= BUDGET, "small on the way"
    batch = asyncio.run(do(session, decode('{"do": "batch", "id": 1}')))["batch"]
    names = [f"many/{number}.png" for number in range(4)] if name == "many" else [name]
    for one in names:
        assert call(app, f"/upload/{batch}", {**GOOD, "x-name": one}, method="POST", body=content)[0] == 200
    path, shown = session.uploads.content(batch)
    source = {"kind": "file", "name": shown, "path": str(path)}
    where = {"folder": str(tmp_path / "data" / "1"), "columns": str(tmp_path / "col")}
    opening = partial(read, lambda said: None, source, **where)
    if path.suffix == ".studio":
        opening = partial(reopen, lambda said: None, str(path), runs=str(tmp_path / "run"), **where)
    with lowfold.config_context(memory=BUDGET), pytest.raises((FileProblem, InvalidInput), match=words):
        opening()
    assert not (tmp_path / "data" / "1").exists()


def test_an_upload_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowfold.studio._uploads.MOST_FILES", 3)
    session, app = studio(tmp_path)
    batch = asyncio.run(do(session, decode('{"do": "batch", "id": 1}')))["batch"]
    sent = [call(app, f"/upload/{batch}", {**GOOD, "x-name": f"{k}.png"}, method="POST", body=b"x") for k in range(4)]
    assert [status for status, _, _ in sent] == [200, 200, 200, 413]
    assert b"at most 3 files" in sent[-1][2]
