"""A conversation with a real server, through the real client: whatever goes wrong is one line, in time."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from repro_runner.assistant.client import OPENAI_URL, NoReply, Settings, read_settings, request_reply
from tests.loopback import Exchange
from tests.repro_runner.fixtures.chat_server import Reply, completion, failing, saying, serve_chat
from tests.tools import require_tool

pytestmark = pytest.mark.slow

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def settings(url: str, **more: float) -> Settings:
    given = {"seconds": 20.0, "retries": 1, **more}
    return Settings(url=url, model="tiny", api_key=KEY, **given)  # type: ignore[arg-type]


def failure_of(*replies: Reply, **more: float) -> str:
    with serve_chat(*replies) as server, pytest.raises(NoReply) as caught:
        request_reply("prompt", settings(server.url, **more))
    told = str(caught.value)
    assert "\n" not in told
    assert KEY not in told
    return told


def test_the_prompt_is_sent_as_it_is_and_nothing_else_is() -> None:
    prompt = 'a "prompt"\nwith ünicode, \\ and \t tabs\n'
    with serve_chat(saying("CAUSE: x")) as server:
        assert request_reply(prompt, settings(server.url)) == "CAUSE: x"
    (body,) = server.bodies
    assert json.loads(body) == {"model": "tiny", "messages": [{"role": "user", "content": prompt}]}
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    told = {name.lower(): value for name, value in server.headers[0].items()}
    assert {"x-stainless-os", "x-stainless-arch", "x-stainless-runtime"}.isdisjoint(told)


def trickle(exchange: Exchange) -> None:
    exchange.send_response(200)
    exchange.send_header("Content-Length", "1000000")
    exchange.end_headers()
    while not exchange.loopback.closing.wait(0.05):
        exchange.wfile.write(b" ")
        exchange.wfile.flush()


def endless(exchange: Exchange) -> None:
    exchange.send_response(200)
    exchange.send_header("Content-Type", "application/json")
    exchange.end_headers()
    while not exchange.loopback.closing.is_set():
        exchange.wfile.write(b" " * 65536)


def cut(exchange: Exchange) -> None:
    body = json.dumps(completion("CAUSE: x")).encode()
    exchange.send(200, body[:40], {"Content-Length": str(len(body))})


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (saying(""), "the model's answer is empty"),
        (saying(None), "the model's answer is empty"),
        (saying(None, refusal="I can't help\nwith that"), "the model refused: I can't help with that"),
        (saying("CAU", finish_reason="content_filter"), "the model refused: its filter stopped the answer"),
        (saying("CAUSE: half of", finish_reason="length"), "the model's answer was cut off at its limit of tokens"),
        (failing(200, b"<html>hello"), "answered with something that is no chat completion: <html>hello"),
        (failing(200, b""), "answered with something that is no chat completion: nothing at all"),
        (failing(200, b'{"choices": []}'), 'no chat completion: {"choices": []}'),
        (failing(200, b'{"choices": [{"message": "text"}]}'), "no chat completion"),
        (failing(200, b"[1, 2"), "no chat completion"),
        (
            failing(401, b'{"error": {"message": "bad key ' + KEY.encode() + b'"}}'),
            "says 401: bad key <masked-1>; is OPEN",
        ),
        (failing(404, b"404 page not found"), "says 404: 404 page not found; is the address whole"),
        (failing(400, b'{"error": {"message": "no such\\nmodel"}}'), "says 400: no such model"),
        (failing(422, b'{"detail": "model field"}'), "says 422: model field"),
        (failing(307, b"", Location="http://127.0.0.1:1/elsewhere"), "says 307: "),
        (endless, "answered with more than 1 MiB, which was not read"),
    ],
)
def test_an_answer_that_is_none_is_one_line(reply: Reply, told: str) -> None:
    assert told in failure_of(reply)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (failing(429, b'{"error": {"message": "slow down"}}', Retry_After="0"), "says 429: slow down, 2 times"),
        (failing(500, b"<h1>oops</h1>"), "says 500: <h1>oops</h1>, 2 times"),
        (failing(503), "says 503: nothing more, 2 times"),
        (cut, "broke off: "),
    ],
)
def test_what_may_go_better_is_tried_again_but_not_for_ever(reply: Reply, told: str) -> None:
    assert told in failure_of(reply)


@pytest.mark.parametrize("first", [failing(429, b"", Retry_After="0.1"), failing(502), cut])
def test_a_server_that_recovers_is_asked_again(first: Reply) -> None:
    with serve_chat(first, saying("CAUSE: now")) as server:
        assert request_reply("prompt", settings(server.url)) == "CAUSE: now"
    assert len(server.bodies) == 2


def test_a_pause_that_is_too_long_is_not_waited_for() -> None:
    started = time.monotonic()
    told = failure_of(failing(429, b"later", Retry_After="3600"))
    assert told.endswith("says 429: later; to wait 3600 s more would be too long")
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("reply", [Exchange.hang, trickle], ids=["silent", "a byte now and then"])
def test_a_server_that_never_ends_is_left_when_the_time_is_up(reply: Reply) -> None:
    told = failure_of(reply, seconds=1.0)
    assert told.endswith("gave no whole answer within 1 s")


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(NoReply, match=rf"^127\.0\.0\.1:{port} can't be reached: .*, 2 times$"):
            request_reply("prompt", settings(f"http://127.0.0.1:{port}/v1"))


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    pem = tmp_path / "server.pem"
    command = [require_tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-keyout", "-", "-out", "-"]
    pem.write_bytes(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    with serve_chat(saying("CAUSE: x"), certificate=pem) as server, pytest.raises(NoReply) as caught:
        request_reply("prompt", settings(server.url))
    assert re.search("certificate", str(caught.value), re.IGNORECASE)
    assert server.bodies == []


def test_settings_come_from_the_options_then_from_the_environment() -> None:
    environment = {"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_MODEL": "small", "OPENAI_API_KEY": KEY}
    found = read_settings(environment=environment)
    assert (found.url, found.model, found.api_key) == ("http://localhost:1/v1", "small", KEY)
    assert KEY not in repr(found)
    found = read_settings(url="https://box/v1", model="large", environment={})
    assert (found.url, found.model, found.api_key) == ("https://box/v1", "large", "")
    assert read_settings(model="m", environment={"OPENAI_API_KEY": KEY}).url == OPENAI_URL


@pytest.mark.parametrize(
    ("url", "model", "told"),
    [
        ("", "", ["--llm: which model?", "--llm: which server?"]),
        ("localhost:8000", "m", ["--llm-url: 'localhost:8000' is no http:// or https:// address"]),
        ("http://", "m", ["--llm-url: 'http://' is no"]),
        ("http://x:notaport/v1", "m", ["--llm-url: "]),
    ],
)
def test_what_is_missing_is_told_all_at_once(url: str, model: str, told: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_settings(url=url, model=model, environment={})
    lines = str(caught.value).splitlines()
    assert [line.startswith(start) for line, start in zip(lines, told, strict=True)] == [True] * len(told)
