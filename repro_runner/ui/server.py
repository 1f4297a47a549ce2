"""The program that `graphbreak ui` starts: Streamlit's server, which answers its own pages only. Argument: the port.

A web page that you open can send requests to this machine too, under a name of its own that leads here. So each
request, of HTTP or of a websocket, has to name the exact address in Host and in Origin, and has the secret in its path.
The secret is no cookie: a browser sends those of 127.0.0.1 to every port.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.middleware import Middleware
from streamlit.starlette import App

from repro_runner.ui.serving import HERE, HOST, SECRET, server_settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

REFUSED = b"Not allowed. Open the address that graphbreak ui printed.\n"
_PLAIN = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(REFUSED)).encode())]
_HEADERS = [
    (b"content-security-policy", b"frame-ancestors 'self'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
]


class OwnPagesOnly:
    """Passes on what comes from the UI's own pages; refuses the rest with 403, before a session begins."""

    def __init__(self, app: Application, *, address: str, secret: str) -> None:
        self._app = app
        self._host = address.encode()
        self._origin = b"http://" + self._host
        self._home = f"/{secret}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif self._is_own(scope):
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": [*_PLAIN, *_HEADERS]})
            await send({"type": "http.response.body", "body": REFUSED})

    def _is_own(self, scope: Message) -> bool:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        path = scope["path"]
        return (
            hosts == [self._host]
            and origins in ([], [self._origin])
            and (path == self._home or path.startswith(f"{self._home}/"))
        )


def _with_headers(send: Send) -> Send:
    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *_HEADERS]
        await send(message)

    return send_more


def _main(port: int, secret: str) -> None:
    check = Middleware(OwnPagesOnly, address=f"{HOST}:{port}", secret=secret)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        App(HERE / "app.py", middleware=[check]).run(config=server_settings(port, secret))


if __name__ == "__main__":
    _main(int(sys.argv[1]), os.environ[SECRET])
