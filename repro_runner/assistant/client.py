"""One question to a server that speaks the chat-completions protocol. It never takes longer than it may, and whatever
goes wrong is one line."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from repro_runner.assistant.masking import Masker
from repro_runner.assistant.settings import Settings

if TYPE_CHECKING:
    import openai

_MOST_BYTES = 1 << 20
"""Of an answer."""
_FIRST_PAUSE = 0.5
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


class NoAnswer(Exception):
    """There is none, in one line that says why; the offline answer stands."""


class _TryAgain(Exception):
    """It may go better the next time, after this many seconds if the server said so."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


def request_answer(prompt: str, settings: Settings) -> str:
    """What the model says to the prompt; NoAnswer if that is nothing, or comes too late."""
    deadline = time.monotonic() + settings.seconds
    arrived: queue.SimpleQueue[str | NoAnswer] = queue.SimpleQueue()

    def talk() -> None:
        try:
            arrived.put(_with_retries(lambda: _request(prompt, settings, deadline), settings, deadline))
        except NoAnswer as why:
            arrived.put(why)
        except ImportError as error:
            arrived.put(NoAnswer(f"the openai client can't be imported: {_one_line(error)}"))

    # A server that sends a byte now and then keeps a client busy for ever: nobody waits for that thread.
    threading.Thread(target=talk, daemon=True).start()
    try:
        answer = arrived.get(timeout=max(0.0, deadline - time.monotonic()) + 0.5)
    except queue.Empty:
        raise NoAnswer(f"{_server(settings)} gave no whole answer within {settings.seconds:g} s") from None
    if isinstance(answer, NoAnswer):
        raise answer
    return answer


def _with_retries(request: Callable[[], str], settings: Settings, deadline: float) -> str:
    for attempt in range(settings.retries + 1):
        try:
            return request()
        except _TryAgain as again:
            pause = _FIRST_PAUSE * 2**attempt if again.after is None else again.after
            if attempt == settings.retries:
                raise NoAnswer(f"{again}, {attempt + 1} times") from again
            if time.monotonic() + pause >= deadline:
                raise NoAnswer(f"{again}; to wait {pause:g} s more would be too long") from again
            time.sleep(pause)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _request(prompt: str, settings: Settings, deadline: float) -> str:
    import openai

    server = _server(settings)
    try:
        with _client(settings, max(0.1, deadline - time.monotonic())) as client:
            return _content(_received(client, prompt, settings), server)
    except openai.APITimeoutError as error:
        raise NoAnswer(f"{server} gave no whole answer within {settings.seconds:g} s") from error
    except openai.APIStatusError as error:
        raise _refused(error, server) from error
    except openai.APIConnectionError as error:
        raise _TryAgain(f"{server} can't be reached: {_one_line(error.__cause__ or error)}") from error
    except openai.OpenAIError as error:
        raise NoAnswer(f"{server}: {_one_line(error)}") from error
    except (_TryAgain, NoAnswer):
        raise
    except Exception as error:  # the client lets any error of its HTTP library through while a body is read
        raise _TryAgain(f"{server} broke off: {_one_line(error)}") from error


def _client(settings: Settings, seconds: float) -> openai.OpenAI:
    import openai

    return openai.OpenAI(
        base_url=settings.url,
        api_key=settings.api_key or "none",  # the client insists on one, local servers don't
        timeout=seconds,
        max_retries=0,  # ours know the deadline
        http_client=openai.DefaultHttpxClient(
            follow_redirects=False,  # the user named this server, and no other
            event_hooks={"request": [_without_telemetry]},
        ),
    )


def _without_telemetry(request: Any) -> None:
    """The client adds this machine's system, processor and Python: nobody was told that these are sent."""
    for name in ("os", "arch", "runtime", "runtime-version"):
        request.headers.pop(f"x-stainless-{name}", None)


def _received(client: openai.OpenAI, prompt: str, settings: Settings) -> bytes:
    """The body of the answer; it is read piece by piece, so that an endless one ends."""
    body = bytearray()
    with client.chat.completions.with_streaming_response.create(
        model=settings.model, messages=[{"role": "user", "content": prompt}]
    ) as response:
        for piece in response.iter_bytes(1 << 14):
            body += piece
            if len(body) > _MOST_BYTES:
                raise NoAnswer(
                    f"{_server(settings)} answered with more than {_MOST_BYTES >> 20} MiB, which was not read"
                )
    return bytes(body)


def _content(body: bytes, server: str) -> str:
    """The text in a chat completion; NoAnswer for whatever else arrived."""
    try:
        choice: Any = json.loads(body)["choices"][0]
        message = choice["message"]
        text, refusal, ended = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        start = _one_line(body[:200].decode("utf-8", "replace") or "nothing at all")
        raise NoAnswer(f"{server} answered with something that is no chat completion: {start}") from error
    if refusal or ended == "content_filter":
        raise NoAnswer(f"the model refused: {_one_line(refusal or 'its filter stopped the answer')}")
    if not isinstance(text, str) or not text.strip():
        raise NoAnswer("the model's answer is empty")
    if ended == "length":
        raise NoAnswer("the model's answer was cut off at its limit of tokens")
    return text


def _refused(error: openai.APIStatusError, server: str) -> Exception:
    code = error.status_code
    told = f"{server} says {code}: {_said(error)}"
    if code in (401, 403):
        return NoAnswer(f"{told}; is OPENAI_API_KEY right for it?")
    if code == 404:
        return NoAnswer(f"{told}; is the address whole (…/v1), and is there such a model?")
    if code in _RETRIED:
        return _TryAgain(told, _retry_after(error.response.headers.get("retry-after")))
    return NoAnswer(told)


def _said(error: openai.APIStatusError) -> str:
    """The message in an error of this protocol; of any other body its start."""
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else None
    return _one_line(message or error.response.content[:200].decode("utf-8", "replace") or "nothing more")


def _retry_after(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:
        return None  # a date: our own pauses will do
    return seconds if 0 <= seconds < float("inf") else None


def _server(settings: Settings) -> str:
    return urlsplit(settings.url).netloc.rpartition("@")[2]


def _one_line(error: object) -> str:
    """Without line ends, control characters and keys: servers quote the key that they refuse."""
    words = "".join(each if each.isprintable() else " " for each in str(error)).split()
    return Masker().mask(" ".join(words)[:200]) or type(error).__name__
