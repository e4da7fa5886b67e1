"""Who may come in: one page, opened by the address with the token, from the address that the server listens on.

Every request and every WebSocket passes here before anything else looks at it. A page of somebody else's that sends
requests to this port has a foreign Origin, or a foreign Host where it has bent a name to 127.0.0.1, and no cookie.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
SAFE = frozenset({"GET", "HEAD"})
REFUSED = b"This is lowfold studio, and it answers only the page that it opened. Use the address that it printed.\n"


@dataclass(frozen=True)
class Keys:
    """What a visitor must have, and where it must come from.

    hosts   what the Host header may be, with the port
    token   of the address that opens the page
    pass_   of the cookie that takes its place
    """

    hosts: frozenset[str]
    cookie: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    pass_: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def set_cookie(self) -> str:
        """The header that gives the cookie."""
        return f"{self.cookie}={self.pass_}; Path=/; HttpOnly; SameSite=Strict"


class Guard:
    """ASGI middleware: lets in the right ones, answers all others 403, and adds the headers of every response."""

    def __init__(self, app: Any, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        if not self._from_here(scope, headers):
            await _refuse(scope, receive, send)
        elif self._has_cookie(headers):
            await self.app(scope, receive, _adding(send))
        elif scope["type"] == "http" and scope["method"] in SAFE and scope["path"] == "/" and self._has_token(scope):
            await _admit(send, self.keys.set_cookie)
        else:
            await _refuse(scope, receive, send)

    def _from_here(self, scope: Any, headers: dict[str, list[str]]) -> bool:
        """One Host, ours; and an Origin that is ours, which only safe requests may do without."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.keys.hosts or len(origins) > 1:
            return False
        if not origins:
            return scope["type"] == "http" and scope["method"] in SAFE
        return origins[0].lower() == f"http://{hosts[0].lower()}"

    def _has_cookie(self, headers: dict[str, list[str]]) -> bool:
        try:
            found = SimpleCookie("; ".join(headers.get("cookie", []))).get(self.keys.cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.keys.pass_.encode())

    def _has_token(self, scope: Any) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self.keys.token.encode())


def _headers(scope: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _adding(send: Any) -> Any:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "cache-control": "no-store"}
            message["headers"] = [
                *message["headers"],
                *((k.encode(), v.encode()) for k, v in more.items() if k.encode() not in there),
            ]
        await send(message)

    return sending


async def _admit(send: Any, cookie: str) -> None:
    """The cookie, and on to the address without the token."""
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
    headers += [(k.encode(), v.encode()) for k, v in HEADERS.items()]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()  # the request to connect, which must be taken before it can be refused
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(k.encode(), v.encode()) for k, v in HEADERS.items()]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": REFUSED})
