"""A real HTTP server on 127.0.0.1 that speaks the chat-completions protocol, as well or as badly as a test says."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback import Exchange, Loopback, Seen, _Server

Reply = Callable[[Exchange], None]


@dataclass
class ChatServer:
    """The server's address, and the bodies that arrived."""

    url: str
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [json.loads(body)["messages"][0]["content"] for body in self.bodies]


def completion(content: str | None, *, finish_reason: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "tiny"} | {
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]
    }


def saying(content: str | None, **more: Any) -> Reply:
    return lambda exchange: exchange.send(200, json.dumps(completion(content, **more)).encode(), _JSON)


def failing(status: int, body: bytes = b"", **headers: str) -> Reply:
    return lambda exchange: exchange.send(
        status, body, {name.replace("_", "-"): each for name, each in headers.items()}
    )


_JSON = {"Content-Type": "application/json"}


@contextmanager
def serve_chat(*replies: Reply, certificate: Path | None = None) -> Iterator[ChatServer]:
    """Give the replies in turn, the last one for ever, until the block ends."""
    left = list(replies)
    chat = ChatServer("")

    class Handler(Exchange):
        def do_POST(self) -> None:  # noqa: N802  the library's name
            chat.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            chat.paths.append(self.path)
            chat.headers.append(dict(self.headers.items()))
            self.loopback.seen.append(Seen(self.path, dict(self.headers.items())))
            (left.pop(0) if len(left) > 1 else left[0])(self)

    server = _Server(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    chat.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}/v1"
    Handler.loopback = loopback = Loopback(chat.url)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield chat
    finally:
        loopback.closing.set()
        server.shutdown()
        server.server_close()
