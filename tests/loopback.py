"""A real HTTP server on 127.0.0.1, for one test, that answers as the test says."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Seen:
    """A request that arrived."""

    path: str
    headers: Mapping[str, str]


@dataclass
class Loopback:
    """The server's address, what it was asked, and how many bytes of bodies it sent."""

    url: str
    seen: list[Seen] = field(default_factory=list)
    sent: int = 0
    closing: threading.Event = field(default_factory=threading.Event)


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    loopback: Loopback

    def send(self, status: int = 200, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Answer; a Content-Length among `headers` replaces the true one, and the connection then ends."""
        headers = {"Content-Length": str(len(body)), **(headers or {})}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.loopback.sent += len(body)
        self.close_connection = headers["Content-Length"] != str(len(body))

    def send_range_of(self, content: bytes) -> None:
        """Answer with the part of `content` that the request asks for, as package indexes do."""
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not asked:
            self.send(200, content)
            return
        first, last = asked.groups()
        start = int(first) if first else max(0, len(content) - int(last))
        end = int(last) + 1 if first and last else len(content)
        part = content[start:end]
        self.send(206, part, {"Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(content)}"})

    def hang(self) -> None:
        """Accept, and never answer."""
        self.loopback.closing.wait()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Tests have nothing to say on stderr."""


Answer = Callable[[Exchange], None]


@contextmanager
def serve(answer: Answer, *, certificate: Path | None = None) -> Iterator[Loopback]:
    """Serve until the block ends; over TLS where a certificate (with its key) is given."""
    scheme = "https" if certificate else "http"

    class Handler(Exchange):
        def do_GET(self) -> None:
            self.loopback.seen.append(Seen(self.path, dict(self.headers.items())))
            answer(self)

    server = _Server(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    Handler.loopback = loopback = Loopback(f"{scheme}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        loopback.closing.set()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gives up is what several tests are about."""
