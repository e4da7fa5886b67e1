"""Requests straight into the application: no port, no client package."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lowfold.studio._guard import Keys
from lowfold.studio._server import application
from lowfold.studio._session import Session

HOST = "127.0.0.1:8765"
KEYS = Keys(frozenset({HOST, "localhost:8765"}), "lowfold-studio-8765")
GOOD = {"host": HOST, "origin": f"http://{HOST}", "cookie": f"{KEYS.cookie}={KEYS.pass_}"}


def studio(folder: Path, memory: int = 10**9) -> tuple[Session, Any]:
    session = Session(folder, memory)
    return session, application(session, KEYS)


def call(
    app: Any, path: str, headers: dict[str, str], *, method: str = "GET", query: str = "", body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one request."""
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if not waiting:
            await asyncio.sleep(60)  # nobody hangs up before the answer is there
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(),
        "root_path": "", "scheme": "http", "query_string": query.encode(),
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
        "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    found = {k.decode().lower(): v.decode() for k, v in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


def knock(app: Any, headers: dict[str, str], query: str = "") -> bool:
    """Whether a WebSocket is let in."""
    sent: list[Any] = []
    waiting = [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}]

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket", "path": "/ws", "raw_path": b"/ws", "root_path": "", "scheme": "ws", "subprotocols": [],
        "query_string": query.encode(), "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return bool(sent[0]["type"] == "websocket.accept")
