"""Show a site on this machine while somebody works on it: served from memory, built again when a file changes."""

from __future__ import annotations

import mimetypes
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from registry.errors import InvalidInput, Problem, RegistryError

Build = Callable[[], Mapping[str, bytes]]
FileTimes = dict[Path, tuple[int, int]]  # when it was changed, and its size

POLL_SECONDS = 0.5

# The machine's own table may say something else, or nothing.
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}


def serve(build: Build, watch: Sequence[Path], port: int, host: str = "127.0.0.1") -> None:
    """Build, serve until Ctrl-C, and build again whenever something in `watch` changes; port 0 takes any free one."""
    before = _file_times(watch)
    live = _LiveSite(build)
    try:
        server = _SiteServer((host, port), live)
    except OSError as error:
        raise InvalidInput([Problem(f"{host}:{port}", f"cannot serve there: {error.strerror}")]) from error
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(live, watch, before, stop))
    with server:
        try:  # from here on Ctrl-C may come at any moment, and has to end the watcher too
            watcher.start()
            print(f"Serving http://{host}:{server.server_port}/ until Ctrl-C", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nStopped.", flush=True)
        finally:
            stop.set()
            if watcher.is_alive():
                watcher.join()


class _LiveSite:
    """The last good build."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self.files = build()

    def rebuild(self) -> None:
        """Build anew; a build that fails says so and leaves the last good one in place, whatever the mistake was."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            future = pool.submit(self._build)
        error = future.exception()
        if error is None:
            self.files = future.result()
            print("Built again.", flush=True)
            return
        lines = [f"{error}\n"] if isinstance(error, RegistryError) else traceback.format_exception(error)
        print(f"{''.join(lines)}Not built: still serving the last good build.", file=sys.stderr, flush=True)


def _watch(live: _LiveSite, watch: Sequence[Path], before: FileTimes, stop: threading.Event) -> None:
    """The times are taken before a build, so that an edit made while it runs causes another."""
    while not stop.wait(POLL_SECONDS):
        now = _file_times(watch)
        if now != before:
            before = now
            live.rebuild()


def _file_times(watch: Sequence[Path]) -> FileTimes:
    times = {}
    for file in chain.from_iterable(_files_of(path) for path in watch):
        with suppress(FileNotFoundError):  # deleted since it was listed
            status = file.stat()
            times[file] = (status.st_mtime_ns, status.st_size)
    return times


def _files_of(path: Path) -> Iterator[Path]:
    """Yield `path` if it is a file, else the files below it; names with a dot in front belong to caches and editors."""
    if path.is_file():
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        yield from (Path(folder, name) for name in names if not name.startswith("."))


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True  # a browser that keeps its connection open does not hold up Ctrl-C

    def __init__(self, address: tuple[str, int], live: _LiveSite) -> None:
        self.live = live
        super().__init__(address, _SiteHandler)
        # Another name that leads here belongs to a web page that wants to read what is not published yet.
        self.own_hosts = [[f"{name}:{self.server_port}"] for name in (address[0], "localhost")]

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that broke off, from either side, is nobody's mistake."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _SiteHandler(BaseHTTPRequestHandler):
    """Answers from the build in memory alone, so that no request reaches the disk."""

    server: _SiteServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if self.headers.get_all("Host") not in self.server.own_hosts:
            self._send(
                HTTPStatus.FORBIDDEN, b"Not allowed. Open the address that was printed.\n", _CONTENT_TYPES[".txt"]
            )
            return
        files = self.server.live.files
        path = unquote(urlsplit(self.path).path).removeprefix("/")
        if not path or path.endswith("/"):
            path += "index.html"
        if path in files:
            self._send(HTTPStatus.OK, files[path], _content_type(path))
        elif f"{path}/index.html" in files:
            self._redirect(f"{urlsplit(self.path).path}/")
        else:
            self._send(HTTPStatus.NOT_FOUND, files.get("404.html", b"Page not found\n"), _content_type("404.html"))

    def _redirect(self, location: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: HTTPStatus, content: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Keep the terminal for what went wrong."""


def _content_type(path: str) -> str:
    known = _CONTENT_TYPES.get(PurePosixPath(path).suffix.lower())
    return known or mimetypes.guess_type(path)[0] or "application/octet-stream"
