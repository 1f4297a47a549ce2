"""Pulling: what each source gives, when the snapshot stands in, and what is refused."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import time
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from registry.errors import InvalidInput, PullFailed
from registry.http import Patience
from registry.model import Origin
from registry.snapshot import Snapshot, read_snapshot, sha256
from registry.sources import UPSTREAM_VARIABLE, Pulled, pull
from registry.upstream import REGISTRY_PATH
from tests.loopback import Answer, Exchange, serve

QUICK = Patience(reach=5.0, connect=2.0, read=2.0, total=20.0)
BOMB = gzip.compress(bytes(70_000_000), 1)
ENTRY = [{"Gb_type": "t", "Context": "", "Explanation": "", "Hints": []}]


def registry_bytes(ids: int, **more: object) -> bytes:
    return json.dumps({**{f"GB{number:04}": ENTRY for number in range(ids)}, **more}).encode()


def a_snapshot(source: str = "elsewhere", raw: bytes = registry_bytes(100), **origin: str) -> Snapshot:
    wordings = pull_bytes(raw).wordings
    found = Origin(source=source, retrieved="2026-01-01", sha256=sha256(raw))
    return Snapshot(raw=raw, wordings=wordings, origin=replace(found, **origin), superseded={})


def pull_bytes(raw: bytes) -> Pulled:
    with serve(lambda exchange: exchange.send(200, raw)) as server:
        return pull(server.url, read_snapshot(), patience=QUICK)


def today() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d")


def pull_upstream(answer: Answer, snapshot: Snapshot | None = None, *, accept_shrink: bool = False) -> Pulled:
    with serve(answer) as server:
        return pull(
            "upstream",
            snapshot or a_snapshot(),
            upstream_url=f"{server.url}/r.json",
            accept_shrink=accept_shrink,
            patience=QUICK,
        )


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_upstream_gives_its_own_bytes_and_a_new_origin() -> None:
    raw = registry_bytes(101)
    with serve(lambda exchange: exchange.send(200, raw, {"ETag": '"v2"'})) as server:
        url = f"{server.url}/r.json"
        pulled = pull("upstream", a_snapshot(), upstream_url=url, patience=QUICK)
    assert (pulled.raw, len(pulled.wordings), pulled.fresh, pulled.failure) == (raw, 101, True, "")
    assert pulled.origin == Origin(source=url, retrieved=today(), sha256=sha256(raw), etag='"v2"')


def test_the_environment_can_name_a_mirror_of_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda exchange: exchange.send(200, registry_bytes(100))) as server:
        monkeypatch.setenv(UPSTREAM_VARIABLE, f"{server.url}/mirror.json?token=secret")
        pulled = pull("upstream", a_snapshot(), patience=QUICK)
    assert server.seen[0].path == "/mirror.json?token=secret"
    assert pulled.origin.source == f"{server.url}/mirror.json"


def test_a_304_keeps_the_snapshot_and_its_origin() -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(304 if exchange.headers["If-None-Match"] == '"v1"' else 500)

    with serve(answer) as server:
        snapshot = a_snapshot(source=f"{server.url}/r.json", etag='"v1"')
        pulled = pull("upstream", snapshot, upstream_url=f"{server.url}/r.json", patience=QUICK)
    assert (pulled.fresh, pulled.raw, pulled.origin) == (True, snapshot.raw, snapshot.origin)


def test_an_etag_is_not_shown_to_a_server_that_did_not_give_it() -> None:
    with serve(lambda exchange: exchange.send(200, registry_bytes(100))) as server:
        pull("upstream", a_snapshot(source="pytorch main", etag='"v1"'), upstream_url=server.url, patience=QUICK)
    assert "If-None-Match" not in server.seen[0].headers


def test_the_same_bytes_sent_again_keep_their_date_but_take_the_new_etag() -> None:
    raw = registry_bytes(100)
    with serve(lambda exchange: exchange.send(200, raw, {"ETag": '"v2"'})) as server:
        snapshot = a_snapshot(source=f"{server.url}/r.json", raw=raw, etag='"v1"')
        pulled = pull("upstream", snapshot, upstream_url=f"{server.url}/r.json", patience=QUICK)
    assert pulled.fresh
    assert pulled.origin == replace(snapshot.origin, etag='"v2"')


def send_500_then_200() -> Answer:
    turns = iter([500, 200])
    return lambda exchange: exchange.send(next(turns), registry_bytes(100))


def test_a_500_and_then_a_200_is_fresh() -> None:
    assert pull_upstream(send_500_then_200()).fresh


UNREACHABLE: dict[str, tuple[Answer, str]] = {
    "404": (lambda exchange: exchange.send(404), "answered 404 Not Found"),
    "500": (lambda exchange: exchange.send(500), "answered 500 Internal Server Error"),
    "time-out": (Exchange.hang, "no answer in time"),
    "redirect loop": (lambda exchange: exchange.send(302, headers={"Location": "/r.json"}), "redirects in a loop"),
    "cut short": (
        lambda exchange: exchange.send(200, b'{"GB0001', {"Content-Length": "99"}),
        "the answer was cut short",
    ),
    "gzip bomb": (
        lambda exchange: exchange.send(200, BOMB, {"Content-Encoding": "gzip"}),
        "more than 67,108,864 bytes",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", UNREACHABLE)
def test_where_upstream_fails_the_snapshot_stands_in_and_says_why(fault: str) -> None:
    answer, says = UNREACHABLE[fault]
    snapshot = a_snapshot()
    pulled = pull_upstream(answer, snapshot)
    assert not pulled.fresh
    assert says in pulled.failure
    assert (pulled.raw, pulled.wordings, pulled.origin) == (snapshot.raw, snapshot.wordings, snapshot.origin)


@pytest.mark.slow
def test_without_a_network_the_snapshot_stands_in_within_5_seconds() -> None:
    started = time.monotonic()
    pulled = pull("upstream", a_snapshot(), upstream_url=f"http://127.0.0.1:{closed_port()}/r.json")
    assert time.monotonic() - started < 5
    assert not pulled.fresh
    assert pulled.failure.endswith("connection refused")


INVALID: dict[str, tuple[bytes, str]] = {
    "truncated JSON": (registry_bytes(100)[:-40], "it looks cut short"),
    "HTML": (b"<html><body>Sign in to the guest network</body></html>", "HTML, not JSON"),
    "{}": (b"{}", "an empty object"),
    "[]": (b"[]", "an array"),
    "90 % of ids gone": (registry_bytes(10), "90 of the 100 ids in the snapshot are gone"),
    "a renamed key": (registry_bytes(100).replace(b"Gb_type", b"gb_type"), '"Gb_type" is missing'),
    "lower case": (registry_bytes(100).replace(b"GB0", b"gb0"), "ids are in upper case: GB0000"),
    "bad UTF-8": (registry_bytes(100) + b"\xff", "not UTF-8"),
}


@pytest.mark.parametrize("fault", INVALID)
def test_an_answer_that_is_no_registry_is_refused_never_passed_over(fault: str) -> None:
    raw, says = INVALID[fault]
    with pytest.raises(InvalidInput) as refusal:
        pull_upstream(lambda exchange: exchange.send(200, raw))
    assert says in str(refusal.value.problems[0])
    assert "/r.json: " in str(refusal.value.problems[0])


def test_a_shrink_that_somebody_accepts_is_taken() -> None:
    pulled = pull_upstream(lambda exchange: exchange.send(200, registry_bytes(10)), accept_shrink=True)
    assert len(pulled.wordings) == 10


def test_the_shrink_check_is_for_upstream_alone() -> None:
    assert len(pull_bytes(registry_bytes(1)).wordings) == 1


def test_an_unknown_key_is_a_warning() -> None:
    raw = registry_bytes(100, GB5000=[{**ENTRY[0], "Severity": "low"}])
    (warning,) = pull_upstream(lambda exchange: exchange.send(200, raw)).warnings
    assert 'unknown key "Severity" ignored ($.GB5000[0])' in str(warning)


def test_the_snapshot_is_itself() -> None:
    snapshot = read_snapshot()
    pulled = pull("snapshot", snapshot)
    assert (pulled.fresh, pulled.raw, pulled.origin) == (True, snapshot.raw, snapshot.origin)


def test_a_url_has_nothing_to_fall_back_to() -> None:
    with serve(lambda exchange: exchange.send(404)) as server, pytest.raises(PullFailed, match="404"):
        pull(f"{server.url}/r.json", a_snapshot(), patience=QUICK)


def test_a_url_is_shown_without_its_credentials() -> None:
    with serve(lambda exchange: exchange.send(200, registry_bytes(1))) as server:
        url = server.url.replace("//", "//user:secret@") + "/r.json?token=secret"
        assert pull(url, a_snapshot(), patience=QUICK).origin.source == f"{server.url}/r.json"
    with serve(lambda exchange: exchange.send(200, b"{}")) as server, pytest.raises(InvalidInput) as refusal:
        pull(server.url.replace("//", "//user:secret@"), a_snapshot(), patience=QUICK)
    assert "secret" not in str(refusal.value)


def test_a_file_is_named_without_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "my registry.json"
    file.write_bytes(registry_bytes(3))
    pulled = pull(str(file), a_snapshot())
    assert (len(pulled.wordings), pulled.origin.source) == (3, "my registry.json")
    assert pulled.origin.retrieved == today()


@pytest.mark.parametrize("spec", ["upstrem", "no/such/file.json", "ftp://host/r.json", "Release:2.15.0", "bad\0name"])
def test_a_source_that_is_none_is_a_failure_in_one_line(spec: str) -> None:
    with pytest.raises(PullFailed) as failure:
        pull(spec, a_snapshot())
    if "\0" not in spec:
        assert str(failure.value).startswith(f"{spec}: no such file; a source is upstream | snapshot")


def test_a_folder_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(PullFailed, match="Is a directory"):
        pull(str(tmp_path), a_snapshot())


@pytest.mark.parametrize(
    ("version_file", "source"),
    [
        ("from typing import Optional\n__version__ = '2.99.0+cpu'\ndebug = False\n", "torch 2.99.0"),
        ("__version__ = compute()\n", "torch (unknown version)"),
        ("not python at all\n", "torch (unknown version)"),
        (None, "torch (unknown version)"),
    ],
)
def test_the_installed_torch_is_read_without_importing_it(
    version_file: str | None, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "torch"
    (package / "_dynamo").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('registry imported torch')\n")
    (tmp_path / REGISTRY_PATH).write_bytes(registry_bytes(7))
    if version_file is not None:
        (package / "version.py").write_text(version_file)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    pulled = pull("torch", a_snapshot())
    assert (len(pulled.wordings), pulled.origin.source) == (7, source)
    assert "torch" not in sys.modules


def test_an_old_torch_has_no_registry_and_says_so_without_a_local_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").touch()
    (tmp_path / "torch/version.py").write_text("__version__ = '2.7.1'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(PullFailed) as failure:
        pull("torch", a_snapshot())
    assert str(failure.value) == f"torch 2.7.1 has no {REGISTRY_PATH}; the first that has it is 2.8.0"


def test_no_torch_is_a_failure_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(PullFailed, match="torch is not installed"):
        pull("torch", a_snapshot())


@pytest.mark.torch
def test_the_real_torch_2_13_0_has_517_ids() -> None:
    pulled = pull("torch", read_snapshot())
    assert (len(pulled.wordings), pulled.origin.source) == (517, "torch 2.13.0")


@pytest.mark.index
def test_the_real_release_2_15_0_is_the_snapshot_that_shipped_first() -> None:
    pulled = pull("release:2.15.0", read_snapshot())
    assert (len(pulled.wordings), pulled.origin.source) == (592, "release:2.15.0")
    assert pulled.origin.sha256 == "5cabc76bdccd3ecee95eb56ffec1f7ea82241398575fe7d15393963f79f1c0fc"


def test_a_release_that_is_no_version_is_a_failure() -> None:
    with pytest.raises(PullFailed, match="'newest' is not a version of torch"):
        pull("release:newest", a_snapshot())
