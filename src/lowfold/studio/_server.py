"""The server: the page, its columns, uploads, files to take home, and one WebSocket. It computes nothing itself."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from lowfold._core.errors import LowfoldError
from lowfold.studio._commands import do
from lowfold.studio._commands_data import open_file
from lowfold.studio._guard import Guard, Keys
from lowfold.studio._protocol import Answer, Refused
from lowfold.studio._session import Session
from lowfold.studio._stored import in_units, matrix
from lowfold.studio._wire import LONGEST, decode, encode, plain

KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
HASH = re.compile("[0-9a-f]{32}")
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}


def static_files() -> dict[str, bytes]:
    """Every file of the page by name, the renderer of `viz` among them; nothing else is served from disk by name."""
    found = {part.name: part.read_bytes() for part in (files("lowfold.studio") / "static").iterdir() if part.is_file()}
    return {**found, "scatter.js": (files("lowfold") / "viz" / "scatter.js").read_bytes()}


def application(session: Session, keys: Keys) -> Any:
    """The ASGI application, guarded."""
    pages = static_files()

    async def page(request: Request) -> Response:
        return Response(pages["index.html"], media_type="text/html; charset=utf-8")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in pages:
            return PlainTextResponse("there is no such file\n", 404)
        return Response(pages[name], media_type=KINDS.get(Path(name).suffix, "text/plain") + "; charset=utf-8")

    async def column(request: Request) -> Response:
        name = request.path_params["hash"]
        file = session.folder / "col" / name
        if not HASH.fullmatch(name) or name not in session.columns or not file.is_file():
            return PlainTextResponse("there is no such column\n", 404)
        return FileResponse(file, media_type="application/octet-stream", headers=FOREVER)

    async def item(request: Request) -> Response:
        """One row of the data as float32."""
        row, data = int(request.path_params["row"]), session.data
        if data is None or data.id != request.path_params["data"] or not 0 <= row < data.shown:
            return PlainTextResponse("there is no such row\n", 404)
        folder = session.folder / "data" / data.id
        values = np.asarray(in_units(folder, matrix(folder)[row]), dtype="<f4")
        return Response(values.tobytes(), media_type="application/octet-stream", headers=FOREVER)

    async def taken(request: Request) -> Response:
        """A file to take home, once."""
        found = session.files.pop(request.path_params["key"], None)
        if found is None or not found[0].is_file():
            return PlainTextResponse("this file is not here any more\n", 404)
        gone = BackgroundTask(found[0].unlink, missing_ok=True)
        return FileResponse(found[0], filename=found[1], media_type="application/octet-stream", background=gone)

    async def upload(request: Request) -> Response:
        try:
            await _receive(session, request)
        except LowfoldError as error:
            return PlainTextResponse(str(error), 413)
        return PlainTextResponse("")

    routes = [
        Route("/", page),
        Route("/static/{name}", static),
        Route("/col/{hash}", column),
        Route("/item/{data}/{row:int}", item),
        Route("/file/{key}", taken),
        Route("/upload/{batch}", upload, methods=["POST"]),
        WebSocketRoute("/ws", lambda socket: _converse(session, socket)),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        session.soon(session.warm())
        yield
        await session.close()

    return Guard(Starlette(routes=routes, lifespan=lifespan), keys)


async def _receive(session: Session, request: Request) -> None:
    """One file of an upload, written as it comes; its name is only ever used to name the copy."""
    batch = request.path_params["batch"]
    target = session.uploads.target(batch, unquote(request.headers.get("x-name", "file")))
    with target.open("wb") as out:
        async for chunk in request.stream():
            session.uploads.count(batch, len(chunk))
            await asyncio.to_thread(out.write, chunk)


async def _converse(session: Session, page: WebSocket) -> None:
    """Events to the page, commands from it; each command on its own, so that none waits for another."""
    await page.accept()
    queue: asyncio.Queue[str] = asyncio.Queue()
    queue.put_nowait(encode(session.hello()))
    if session.trouble:  # the file named at the start, which nobody was there to be told of
        queue.put_nowait(encode(Refused(0, session.trouble)))
    session.listeners.add(queue)
    sending = asyncio.create_task(_send(page, queue))
    try:
        while True:
            session.soon(_answer(session, queue, await page.receive_text()))
    except (WebSocketDisconnect, KeyError):  # KeyError: a message of bytes, which nobody of ours sends
        pass
    finally:
        session.listeners.discard(queue)
        sending.cancel()


async def _send(page: WebSocket, queue: asyncio.Queue[str]) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await page.send_text(await queue.get())


async def _answer(session: Session, queue: asyncio.Queue[str], text: str) -> None:
    number = 0
    try:
        command = decode(text)
        number = command.id
        queue.put_nowait(encode(Answer(number, plain(await do(session, command)))))
    except LowfoldError as error:
        queue.put_nowait(encode(Refused(number, str(error))))
    except Exception as error:  # noqa: BLE001 - one command that fails must not end the conversation
        words = f"this is a defect of lowfold: {type(error).__name__}: {error}"
        queue.put_nowait(encode(Refused(number, words)))


def serve(file: str | None, *, host: str, port: int, memory: int, browser: bool) -> None:
    """Listen until interrupted; everything that was written goes when it ends."""
    _leave_in_order()
    with tempfile.TemporaryDirectory(prefix="lowfold-studio-") as name, _listening(host, port) as listener:
        number = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        allowed = {f"127.0.0.1:{number}", f"localhost:{number}", f"{shown.lower()}:{number}"}
        keys = Keys(frozenset(allowed), f"lowfold-studio-{number}")
        address = f"http://{shown}:{number}/?token={keys.token}"
        session = Session(Path(name), memory)
        settings = uvicorn.Config(
            application(session, keys), log_level="warning", ws="websockets-sansio", ws_max_size=LONGEST,
            ws_per_message_deflate=False, server_header=False, access_log=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        sys.stderr.write(f"lowfold studio: {address}\nCtrl-C ends it\n")
        sys.stderr.flush()
        asyncio.run(_run(uvicorn.Server(settings), listener, session, file, address if browser else None))


def _leave_in_order() -> None:
    """Let SIGTERM and SIGHUP unwind as Ctrl-C does: uvicorn raises them again when it is done, before we are."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(0)

    for name in ("SIGTERM", "SIGHUP"):
        with contextlib.suppress(AttributeError, ValueError):  # no such signal here; not the main thread
            signal.signal(getattr(signal, name), leave)


async def _run(server: Any, listener: socket.socket, session: Session, file: str | None, address: str | None) -> None:
    if file is not None:
        session.soon(_first(session, Path(file)))
    if address is not None:
        asyncio.get_running_loop().call_later(0.3, webbrowser.open, address)
    await server.serve(sockets=[listener])


async def _first(session: Session, path: Path) -> None:
    try:
        await open_file(session, path, path.name)
    except LowfoldError as error:
        session.trouble = str(error)
        session.tell(Refused(0, str(error)))


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named; else each waits 40 ms
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)  # so that the address works from the moment it is printed
    except OSError as error:
        found.close()
        raise LowfoldError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from error
    return found
