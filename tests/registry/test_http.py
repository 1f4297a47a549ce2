"""One GET against a real server that misbehaves in every way we know."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.errors import PullFailed
from registry.http import Fetched, Patience, fetch, shown_url
from tests.loopback import Answer, Exchange, serve
from tests.tools import require_tool

pytestmark = pytest.mark.slow

QUICK = Patience(reach=5.0, connect=2.0, read=2.0, total=20.0)
BODY = b'{"GB0001": []}'


def answer_with(status: int, body: bytes = b"", **headers: str) -> Answer:
    return lambda exchange: exchange.send(
        status, body, {name.replace("_", "-"): text for name, text in headers.items()}
    )


def failure_of(url: str, *, limit: int = 1_000_000, patience: Patience = QUICK) -> str:
    with pytest.raises(PullFailed) as failure:
        fetch(url, limit=limit, patience=patience)
    assert "\n" not in str(failure.value)
    return str(failure.value)


def test_an_answer_comes_with_its_body_and_validators() -> None:
    with serve(answer_with(200, BODY, ETag='W/"abc"', Last_Modified="Sat, 14 Nov 2026 10:00:00 GMT")) as server:
        fetched = fetch(f"{server.url}/r.json", patience=QUICK)
    assert fetched == Fetched(
        url=f"{server.url}/r.json", body=BODY, etag='W/"abc"', last_modified="Sat, 14 Nov 2026 10:00:00 GMT"
    )


def test_a_gzipped_answer_is_decoded() -> None:
    with serve(answer_with(200, gzip.compress(BODY), Content_Encoding="gzip")) as server:
        assert fetch(server.url, patience=QUICK).body == BODY


def test_a_304_means_that_ours_is_still_right() -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(304 if exchange.headers["If-None-Match"] == '"v1"' else 200, b"")

    with serve(answer) as server:
        fetched = fetch(server.url, etag='"v1"', last_modified="Sat, 14 Nov 2026 10:00:00 GMT", patience=QUICK)
    assert fetched.not_modified
    assert server.seen[0].headers["If-Modified-Since"] == "Sat, 14 Nov 2026 10:00:00 GMT"


def test_a_304_that_nobody_asked_for_is_a_failure() -> None:
    with serve(answer_with(304)) as server:
        assert failure_of(server.url) == f"{server.url}/: answered 304 Not Modified"
    assert "If-None-Match" not in server.seen[0].headers


@pytest.mark.parametrize(
    ("status", "words", "requests"),
    [
        (404, "answered 404 Not Found", 1),
        (401, "answered 401 Unauthorized", 1),
        (204, "answered 204 No Content", 1),
        (599, "answered 599 unknown status", 1),
        (500, "answered 500 Internal Server Error", 4),
        (429, "answered 429 Too Many Requests", 4),
    ],
)
def test_another_status_is_named_and_only_a_passing_one_is_retried(status: int, words: str, requests: int) -> None:
    with serve(answer_with(status, Retry_After="3600")) as server:
        assert failure_of(f"{server.url}/r.json") == f"{server.url}/r.json: {words}"
    assert len(server.seen) == requests


def break_off(exchange: Exchange) -> None:
    exchange.connection.shutdown(socket.SHUT_RDWR)
    exchange.close_connection = True


@pytest.mark.parametrize("trouble", [answer_with(500), answer_with(503), answer_with(429), break_off])
def test_trouble_that_passes_is_survived(trouble: Answer) -> None:
    turns = iter([trouble, trouble, answer_with(200, BODY)])
    with serve(lambda exchange: next(turns)(exchange)) as server:
        assert fetch(server.url, patience=QUICK).body == BODY
    assert len(server.seen) == 3


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_refused_connection_is_a_failure_within_5_seconds() -> None:
    started = time.monotonic()
    url = f"http://127.0.0.1:{closed_port()}/r.json"
    assert failure_of(url, patience=Patience()) == f"{url}: connection refused"
    assert time.monotonic() - started < 5


def test_a_server_that_never_answers_is_left_after_the_read_timeout() -> None:
    with serve(Exchange.hang) as server:
        assert failure_of(server.url, patience=Patience(reach=0.1, read=0.3)) == f"{server.url}: no answer in time"


@pytest.fixture
def full_port() -> Iterator[int]:
    """A port whose queue is full: packets to it are dropped, as by a firewall."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield int(listener.getsockname()[1])


def test_a_network_that_swallows_packets_is_left_within_5_seconds(full_port: int) -> None:
    started = time.monotonic()
    assert "no connection" in failure_of(f"http://127.0.0.1:{full_port}/", patience=Patience())
    assert time.monotonic() - started < 5


def test_a_name_server_that_hangs_is_left_within_5_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def hang(*_args: object, **_kwargs: object) -> list[object]:
        never.wait(20)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    started = time.monotonic()
    message = failure_of("http://upstream.invalid/r.json", patience=Patience())
    assert time.monotonic() - started < 5
    never.set()
    assert message == "http://upstream.invalid/r.json: no connection within 4 s"


def test_a_slow_server_that_is_connected_gets_its_time() -> None:
    def answer(exchange: Exchange) -> None:
        time.sleep(0.4)
        exchange.send(200, BODY)

    with serve(answer) as server:
        assert fetch(server.url, patience=Patience(reach=0.1, read=2, total=5)).body == BODY


def test_an_answer_that_trickles_is_left_after_the_total() -> None:
    def trickle(exchange: Exchange) -> None:
        exchange.send_response(200)
        exchange.send_header("Content-Length", "1000")
        exchange.end_headers()
        while not exchange.loopback.closing.wait(0.05):
            exchange.wfile.write(b" ")

    with serve(trickle) as server:
        patience = Patience(reach=0.3, read=0.5, total=0.8)
        assert failure_of(server.url, patience=patience) == f"{server.url}: not finished after 0.8 s"


def test_a_name_that_does_not_exist_is_a_failure() -> None:
    assert failure_of("http://no-such-host.invalid/").startswith("http://no-such-host.invalid/: ")


def test_a_redirect_is_followed_and_the_last_address_kept() -> None:
    def answer(exchange: Exchange) -> None:
        if exchange.path == "/old":
            exchange.send(302, headers={"Location": "/new"})
        else:
            exchange.send(200, BODY)

    with serve(answer) as server:
        assert fetch(f"{server.url}/old", patience=QUICK).url == f"{server.url}/new"


def test_a_redirect_loop_is_left() -> None:
    with serve(answer_with(302, Location="/again")) as server:
        assert failure_of(f"{server.url}/r.json") == f"{server.url}/r.json: redirects in a loop"
    assert len(server.seen) < 10


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://[broken"])
def test_a_redirect_to_something_else_is_refused(location: str) -> None:
    with serve(answer_with(302, Location=location)) as server:
        assert failure_of(server.url) == f"{server.url}: not a usable address"


def test_a_body_shorter_than_announced_is_noticed() -> None:
    with serve(answer_with(200, BODY, Content_Length="500")) as server:
        assert failure_of(server.url) == f"{server.url}: the answer was cut short"


def test_a_gzip_that_is_none_is_noticed() -> None:
    with serve(answer_with(200, b"no gzip at all", Content_Encoding="gzip")) as server:
        assert failure_of(server.url) == f"{server.url}: the answer's compression is broken"


def test_an_answer_over_the_limit_is_given_up() -> None:
    with serve(answer_with(200, b" " * 1_000_001)) as server:
        assert failure_of(server.url) == f"{server.url}/: more than 1,000,000 bytes, given up"


def test_an_answer_of_exactly_the_limit_is_taken() -> None:
    with serve(answer_with(200, b" " * 1000)) as server:
        assert len(fetch(server.url, limit=1000, patience=QUICK).body) == 1000


PEAK_OF_FETCH = """
import resource, sys
from registry.errors import PullFailed
from registry.http import fetch, new_session
new_session().close()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    fetch(sys.argv[1], limit=4 * 1024 * 1024)
except PullFailed as failure:
    print(failure)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_gzip_bomb_is_given_up_before_it_fills_the_memory() -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(1024 * 1024)) for _ in range(400)) + packer.flush()
    with serve(answer_with(200, bomb, Content_Encoding="gzip")) as server:
        command = [sys.executable, "-c", PEAK_OF_FETCH, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    message, peak_kib = done.stdout.splitlines()
    assert message == f"{server.url}/: more than 4,194,304 bytes, given up"
    assert int(peak_kib) < 32 * 1024, "400 MiB of zeros must not be unpacked"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Self-signed, for 127.0.0.1, with its key."""
    pem = tmp_path_factory.mktemp("tls") / "self-signed.pem"
    command = [require_tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    done = subprocess.run([*command, "-keyout", "-", "-out", "-"], capture_output=True, check=True, timeout=60)
    pem.write_bytes(done.stdout)
    return pem


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    with serve(answer_with(200, BODY), certificate=certificate) as server:
        assert failure_of(server.url).startswith(f"{server.url}: its TLS certificate cannot be verified (self")
    assert not server.seen


def test_a_certificate_that_the_machine_trusts_is_taken(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with serve(answer_with(200, BODY), certificate=certificate) as server:
        assert fetch(server.url, patience=QUICK).body == BODY


def test_a_redirect_from_https_to_http_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with (
        serve(answer_with(200, BODY)) as plain,
        serve(answer_with(302, Location=plain.url), certificate=certificate) as secure,
    ):
        assert "redirects from https to http" in failure_of(secure.url)


def test_a_server_that_speaks_no_tls_is_a_failure() -> None:
    with serve(answer_with(200, BODY)) as server:
        assert "no secure connection (TLS)" in failure_of(server.url.replace("http:", "https:"))


@pytest.mark.parametrize("bad", ["http://", "http://[::1", "http://127.0.0.1:notaport/", "nonsense", "http://a b/"])
def test_an_address_that_is_none_is_a_failure(bad: str) -> None:
    assert failure_of(bad).endswith("not a usable address")


def test_a_validator_that_cannot_be_sent_is_a_failure_not_a_second_header() -> None:
    with serve(answer_with(200, BODY)) as server, pytest.raises(PullFailed, match="cannot be sent"):
        fetch(server.url, etag='"x"\r\nEvil: yes', patience=QUICK)
    assert not server.seen


def test_a_validator_that_could_not_go_back_is_not_kept() -> None:
    with serve(answer_with(200, BODY, ETag='"caf\xe9"')) as server:
        assert fetch(server.url, patience=QUICK).etag == ""


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:secret@host.example:8443/a/b?token=secret#secret", "https://host.example:8443/a/b"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("http://user:secret@[broken/", "the given address"),
        ("http://user:secret@host:port/", "the given address"),
    ],
)
def test_a_shown_address_has_no_credentials(url: str, shown: str) -> None:
    assert shown_url(url) == shown


SECRETIVE = [answer_with(404), answer_with(500), answer_with(302, Location="/again?token=secret"), break_off]


@pytest.mark.parametrize("answer", [*SECRETIVE, answer_with(200, BODY, Content_Length="500"), Exchange.hang])
def test_credentials_are_used_but_never_in_a_message(answer: Answer) -> None:
    with serve(answer) as server:
        message = failure_of(server.url.replace("//", "//user:secret@") + "/r.json?token=secret")
    assert "secret" not in message
    assert server.seen[0].headers["Authorization"].startswith("Basic ")


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
def test_credentials_are_not_in_the_message_of_a_failed_connection_either(host: str) -> None:
    assert "secret" not in failure_of(f"http://user:secret@{host}/?token=secret")


def test_importing_this_module_does_not_import_requests() -> None:
    code = "import sys, registry.sources; sys.exit('requests' in sys.modules or 'urllib3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
