"""One GET that ends: bounded in time and in memory, and every way it can go wrong is one sentence.

Two clocks run. Until a connection stands, `Patience.reach` counts, so that a machine without network falls back to
the snapshot within 5 s; requests' own connect timeout is no help there, for it does not cover a name server that
never answers. Once connected, a slow server gets `read` seconds per answer and `total` for everything.

requests takes longer to import than `--help` may take to run, so it is imported inside functions.
"""

from __future__ import annotations

import ssl
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from registry.errors import PullFailed

if TYPE_CHECKING:
    import requests
    import urllib3

MAX_BYTES = 64 * 1024 * 1024
"""Of a decoded answer. The registry of torch 2.15 has 0.3 MB."""

_CHUNK = 64 * 1024
_RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many seconds to wait: for any connection, for each connection, between bytes, and in all."""

    reach: float = 4.0
    connect: float = 3.0
    read: float = 15.0
    total: float = 60.0


PATIENCE = Patience()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """An answer: a body, or the word that the one we have is still right."""

    url: str
    """After redirects, and with the credentials that were in the address: shown_url() before anybody sees it."""
    body: bytes = b""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False


def fetch(
    url: str, *, etag: str = "", last_modified: str = "", limit: int = MAX_BYTES, patience: Patience = PATIENCE
) -> Fetched:
    """GET the url, only if it changed where an etag or a date is given; raise PullFailed for whatever goes wrong."""
    transfer = _Transfer(url, _conditions(etag, last_modified), limit, patience)
    transfer.start()
    transfer.join(patience.reach)
    if transfer.is_alive() and not transfer.connected.is_set():
        transfer.abandoned.set()
        raise PullFailed(f"{shown_url(url)}: no connection within {patience.reach:g} s")
    transfer.join(max(0.0, patience.total - patience.reach))
    if transfer.is_alive():
        transfer.abandoned.set()
        raise PullFailed(f"{shown_url(url)}: not finished after {patience.total:g} s")
    if isinstance(transfer.outcome, Fetched):
        return transfer.outcome
    raise transfer.outcome


def shown_url(url: str) -> str:
    """The address as it may be printed: no user, no password, no query, where tokens hide."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the given address"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if host else "the given address"


def new_session(on_connect: Callable[[], None] = lambda: None) -> requests.Session:
    """A session that retries what is worth retrying; TLS is verified, as requests does unless told otherwise."""
    import requests
    from urllib3.util.retry import Retry

    retry = Retry(
        total=3,
        connect=2,
        read=2,
        other=0,  # a bad certificate stays bad
        status_forcelist=_RETRIED,
        backoff_factor=0.3,
        backoff_jitter=0.3,
        raise_on_status=False,  # so that the last answer's status can be named
        respect_retry_after_header=False,  # it may ask for an hour; nobody waits that long
    )
    session = requests.Session()
    session.max_redirects = 5
    session.headers.update({"User-Agent": "graph-break-registry", "Accept-Encoding": "gzip"})
    adapter = _adapter(retry, on_connect)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def explain_failure(error: BaseException) -> str:
    """What went wrong, in words. The errors' own text names whole addresses, tokens included, and is not shown."""
    import http.client

    from requests import exceptions as outer
    from urllib3 import exceptions as inner

    cause = _innermost(error)
    if isinstance(cause, outer.HTTPError) and cause.response is not None:
        return _explain_status(cause.response.status_code)
    if isinstance(cause.__cause__, ConnectionRefusedError):
        return "connection refused"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its TLS certificate cannot be verified ({cause.verify_message})"
    causes: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
        ((outer.TooManyRedirects,), "redirects in a loop"),
        ((outer.InvalidHeader,), "the stored ETag or date cannot be sent"),
        ((ValueError,), "not a usable address"),
        ((ssl.SSLError, inner.SSLError), "no secure connection (TLS) could be made"),
        ((inner.NameResolutionError,), "its host name cannot be resolved"),
        ((inner.NewConnectionError,), "no connection could be made"),
        ((inner.ConnectTimeoutError,), "no connection in time"),
        ((inner.ReadTimeoutError, TimeoutError), "no answer in time"),
        ((inner.IncompleteRead, http.client.IncompleteRead), "the answer was cut short"),
        ((inner.DecodeError, zlib.error), "the answer's compression is broken"),
        ((ConnectionError, http.client.RemoteDisconnected), "the server broke off the connection"),
    )
    for kinds, sentence in causes:
        if isinstance(cause, kinds):
            return sentence
    return f"the connection failed ({type(cause).__name__})"


def _explain_status(status: int) -> str:
    """The words for a status come from us: what a server writes there may be anything."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "unknown status"
    return f"answered {status} {phrase}"


class _Transfer(threading.Thread):
    """The GET in a thread of its own: a system call for a name cannot be interrupted, only left behind."""

    def __init__(self, url: str, headers: Mapping[str, str], limit: int, patience: Patience) -> None:
        super().__init__(daemon=True, name="fetch")
        self.connected = threading.Event()
        self.abandoned = threading.Event()
        self.outcome: Fetched | PullFailed = PullFailed(f"{shown_url(url)}: the transfer died; see the traceback above")
        self._session = new_session(self.connected.set)
        self._url, self._headers, self._limit, self._patience = url, headers, limit, patience

    def run(self) -> None:
        import requests
        import urllib3

        try:
            with self._session:
                self.outcome = self._get()
        except PullFailed as failure:
            self.outcome = failure
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            self.outcome = PullFailed(f"{shown_url(self._url)}: {explain_failure(error)}")

    def _get(self) -> Fetched:
        timeout = (self._patience.connect, self._patience.read)
        with self._session.get(self._url, headers=self._headers, timeout=timeout, stream=True) as response:
            _refuse_downgrade(response)
            if response.status_code == HTTPStatus.NOT_MODIFIED and self._headers:
                return Fetched(url=response.url, not_modified=True)
            if response.status_code != HTTPStatus.OK:
                raise PullFailed(f"{shown_url(response.url)}: {_explain_status(response.status_code)}")
            return Fetched(
                url=response.url,
                body=self._read(response),
                etag=_sendable(response.headers.get("ETag", "")),
                last_modified=_sendable(response.headers.get("Last-Modified", "")),
            )

    def _read(self, response: requests.Response) -> bytes:
        """Count bytes after decompression: a few kilobytes of gzip can hold gigabytes."""
        body = bytearray()
        for chunk in response.iter_content(_CHUNK):
            body += chunk
            if len(body) > self._limit:
                raise PullFailed(f"{shown_url(response.url)}: more than {self._limit:,} bytes, given up")
            if self.abandoned.is_set():
                raise PullFailed(f"{shown_url(response.url)}: given up")
        return bytes(body)


def _conditions(etag: str, last_modified: str) -> dict[str, str]:
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in conditions.items() if value}


def _sendable(value: str) -> str:
    """A validator goes back to the server in a header; one that would not fit there is worth nothing."""
    return value if value.isascii() and value.isprintable() else ""


def _refuse_downgrade(response: requests.Response) -> None:
    hops = [hop.url for hop in (*response.history, response)]
    if hops[0].startswith("https:") and not all(hop.startswith("https:") for hop in hops):
        raise PullFailed(f"{shown_url(hops[0])}: redirects from https to http, where anybody can change the answer")


def _innermost(error: BaseException) -> BaseException:
    """requests wraps urllib3, which wraps the socket's error: the innermost one says what happened."""
    candidates = (getattr(error, "reason", None), *error.args)
    wrapped = next((item for item in candidates if isinstance(item, BaseException)), None)
    return error if wrapped is None else _innermost(wrapped)


def _adapter(retry: urllib3.Retry, on_connect: Callable[[], None]) -> requests.adapters.HTTPAdapter:
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            _announce_connections(self.poolmanager, on_connect)

        def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
            manager = super().proxy_manager_for(proxy, **kwargs)
            if proxy.lower().startswith("socks"):
                on_connect()  # it has connection classes of its own, which must stay; urllib3's timeouts remain
            else:
                _announce_connections(manager, on_connect)
            return manager

    return Adapter(max_retries=retry)


def _announce_connections(manager: urllib3.PoolManager, on_connect: Callable[[], None]) -> None:
    """Neither requests nor urllib3 tells when a connection stands; their connection classes can be replaced."""
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            on_connect()

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            on_connect()

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
