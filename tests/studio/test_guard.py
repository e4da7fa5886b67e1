"""Who is let in: of 48 combinations only the right ones."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra studio")

from tests.studio.asgi import GOOD, HOST, KEYS, call, knock, studio

FOREIGN = {"host": "attacker.example:8765", "origin": "http://attacker.example"}


@pytest.mark.extra("starlette", "uvicorn")
@pytest.mark.parametrize(
    ("token", "cookie", "host", "origin", "kind"),
    list(product([True, False], [True, False], [True, False], [True, False], ["GET", "POST", "WebSocket"])),
)
def test_only_the_right_one_is_let_in(
    tmp_path: Path, token: bool, cookie: bool, host: bool, origin: bool, kind: str
) -> None:
    _, app = studio(tmp_path)
    headers = {
        "host": HOST if host else FOREIGN["host"],
        "origin": GOOD["origin"] if origin else FOREIGN["origin"],
        **({"cookie": GOOD["cookie"]} if cookie else {}),
    }
    query = f"token={KEYS.token}" if token else ""
    here = host and origin
    if kind == "WebSocket":
        assert knock(app, headers, query) == (here and cookie)
        return
    status, found, body = call(app, "/", headers, method=kind, query=query)
    if here and cookie:
        assert status == (200 if kind == "GET" else 405)
    elif here and token and kind == "GET":
        assert status == 303
        assert found["location"] == "/"
        assert "HttpOnly" in found["set-cookie"]
        assert "SameSite=Strict" in found["set-cookie"]
    else:
        assert status == 403
        assert b"<script" not in body
        assert "set-cookie" not in found


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": GOOD["cookie"]},  # no Host
        {"host": "127.0.0.1", "cookie": GOOD["cookie"]},  # another port
        {"host": HOST, "origin": "null", "cookie": GOOD["cookie"]},  # a sandboxed frame
        {"host": HOST, "origin": f"https://{HOST}", "cookie": GOOD["cookie"]},
        {"host": HOST, "origin": "http://localhost:8765", "cookie": GOOD["cookie"]},  # allowed, but not this Host
        {"host": HOST, "cookie": f"{KEYS.cookie}=wrong"},
        {"host": HOST, "cookie": "other=1; broken"},
    ],
)
def test_what_is_nearly_right_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    _, app = studio(tmp_path)
    assert call(app, "/", headers)[0] == 403
    assert not knock(app, headers)


def test_without_an_origin_only_safe_requests_pass(tmp_path: Path) -> None:
    _, app = studio(tmp_path)
    plain = {"host": HOST, "cookie": GOOD["cookie"]}
    assert call(app, "/", plain)[0] == 200
    assert call(app, "/upload/x", plain, method="POST")[0] == 403
    assert not knock(app, plain)


def test_a_token_opens_the_first_page_and_nothing_else(tmp_path: Path) -> None:
    _, app = studio(tmp_path)
    query = f"token={KEYS.token}"
    assert call(app, "/static/main.js", {"host": HOST}, query=query)[0] == 403
    assert call(app, "/", {"host": HOST}, query=f"{query}&{query}")[0] == 403
    assert call(app, "/", {"host": HOST}, query="token=guess")[0] == 403


def test_every_answer_carries_the_policy(tmp_path: Path) -> None:
    _, app = studio(tmp_path)
    for path, headers in (("/", GOOD), ("/static/main.js", GOOD), ("/nothing", GOOD), ("/", {"host": "x"})):
        _, found, _ = call(app, path, headers)
        assert found["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
