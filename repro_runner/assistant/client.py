"""Settings for a language model, and one request to a server with the chat-completions protocol.

A request never takes longer than its time limit. Every error becomes one line of text.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from registry.errors import InvalidInput, Problem
from repro_runner.assistant.masking import Masker

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
COSTLIEST = 3
"""The default number of sites to ask about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A server with the chat-completions protocol, and the limits for requests to it."""

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    """Empty for local servers, which need no key."""
    sites: int = COSTLIEST
    """How many sites to ask about, the most frequent first."""
    seconds: float = 120.0
    """The time limit for one answer, including all retries."""
    retries: int = 2
    """How often to try again after a rate limit, an error of the server or a lost connection."""
    trial_seconds: float = 300.0
    """How long one run of the program may take."""


def read_settings(*, url: str = "", model: str = "", environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from `--llm-url` and `--llm-model`, or OPENAI_BASE_URL and OPENAI_MODEL. The key is OPENAI_API_KEY.

    Raises InvalidInput with everything that is missing.
    """
    environment = os.environ if environment is None else environment
    url = url or environment.get("OPENAI_BASE_URL", "")
    model = model or environment.get("OPENAI_MODEL", "")
    key = environment.get("OPENAI_API_KEY", "")
    problems = []
    if importlib.util.find_spec("openai") is None:
        problems.append(Problem("--llm", "needs the openai client; `pip install graph-break-registry[llm]`"))
    if not model:
        problems.append(Problem("--llm", "which model? name it with --llm-model, or in OPENAI_MODEL"))
    if not url and not key:
        problems.append(
            Problem(
                "--llm", "which server? name it with --llm-url, or in OPENAI_BASE_URL; OpenAI's needs OPENAI_API_KEY"
            )
        )
    if url and not _is_http(url):
        problems.append(
            Problem("--llm-url", f"{url!r} is no http:// or https:// address, as in http://localhost:8000/v1")
        )
    if problems:
        raise InvalidInput(problems)
    return Settings(url=url or OPENAI_URL, model=model, api_key=key)


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number
        return False


_MOST_BYTES = 1 << 20
"""The longest answer that is read."""
_FIRST_PAUSE = 0.5
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


class NoReply(Exception):
    """The model gave no answer. The text says why in one line. The registry's answer stays."""


class _TryAgain(Exception):
    """A retry may succeed, after `after` seconds if the server gave a time."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


def request_reply(prompt: str, settings: Settings) -> str:
    """The model's answer to the prompt. Raises NoReply if there is none, or if it comes too late."""
    deadline = time.monotonic() + settings.seconds
    arrived: queue.SimpleQueue[str | NoReply] = queue.SimpleQueue()

    def talk() -> None:
        try:
            arrived.put(_with_retries(lambda: _request(prompt, settings, deadline), settings, deadline))
        except NoReply as why:
            arrived.put(why)
        except ImportError as error:
            arrived.put(NoReply(f"the openai client can't be imported: {_one_line(error)}"))

    # A server that sends a byte now and then can block a client for ever, so this thread is not joined.
    threading.Thread(target=talk, daemon=True).start()
    try:
        answer = arrived.get(timeout=max(0.0, deadline - time.monotonic()) + 0.5)
    except queue.Empty:
        raise NoReply(f"{_server(settings)} gave no whole answer within {settings.seconds:g} s") from None
    if isinstance(answer, NoReply):
        raise answer
    return answer


def _with_retries(request: Callable[[], str], settings: Settings, deadline: float) -> str:
    for attempt in range(settings.retries + 1):
        try:
            return request()
        except _TryAgain as again:
            pause = _FIRST_PAUSE * 2**attempt if again.after is None else again.after
            if attempt == settings.retries:
                raise NoReply(f"{again}, {attempt + 1} times") from again
            if time.monotonic() + pause >= deadline:
                raise NoReply(f"{again}; to wait {pause:g} s more would be too long") from again
            time.sleep(pause)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _request(prompt: str, settings: Settings, deadline: float) -> str:
    import openai

    server = _server(settings)
    try:
        with _client(settings, max(0.1, deadline - time.monotonic())) as client:
            return _read_completion(_read_body(client, prompt, settings), server)
    except openai.APITimeoutError as error:
        raise NoReply(f"{server} gave no whole answer within {settings.seconds:g} s") from error
    except openai.APIStatusError as error:
        raise _status_error(error, server) from error
    except openai.APIConnectionError as error:
        raise _TryAgain(f"{server} can't be reached: {_one_line(error.__cause__ or error)}") from error
    except openai.OpenAIError as error:
        raise NoReply(f"{server}: {_one_line(error)}") from error
    except (_TryAgain, NoReply):
        raise
    except Exception as error:  # while a body is read, the client does not catch errors of its HTTP library
        raise _TryAgain(f"{server} broke off: {_one_line(error)}") from error


def _client(settings: Settings, seconds: float) -> openai.OpenAI:
    import openai

    return openai.OpenAI(
        base_url=settings.url,
        api_key=settings.api_key or "none",  # the client requires a key, local servers don't
        timeout=seconds,
        max_retries=0,  # _with_retries keeps to the deadline
        http_client=openai.DefaultHttpxClient(
            follow_redirects=False,  # nothing is sent to a server that the user did not name
            event_hooks={"request": [_without_telemetry]},
        ),
    )


def _without_telemetry(request: Any) -> None:
    """Remove headers with this machine's system, processor and Python, which users do not expect to be sent."""
    for name in ("os", "arch", "runtime", "runtime-version"):
        request.headers.pop(f"x-stainless-{name}", None)


def _read_body(client: openai.OpenAI, prompt: str, settings: Settings) -> bytes:
    """The body of the answer. It is read in pieces, so that an endless answer can be stopped. Raises NoReply."""
    body = bytearray()
    with client.chat.completions.with_streaming_response.create(
        model=settings.model, messages=[{"role": "user", "content": prompt}]
    ) as response:
        for piece in response.iter_bytes(1 << 14):
            body += piece
            if len(body) > _MOST_BYTES:
                raise NoReply(
                    f"{_server(settings)} answered with more than {_MOST_BYTES >> 20} MiB, which was not read"
                )
    return bytes(body)


def _read_completion(body: bytes, server: str) -> str:
    """The text of a chat completion. Raises NoReply for any other body."""
    try:
        choice: Any = json.loads(body)["choices"][0]
        message = choice["message"]
        text, refusal, ended = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        start = _one_line(body[:200].decode("utf-8", "replace") or "nothing at all")
        raise NoReply(f"{server} answered with something that is no chat completion: {start}") from error
    if refusal or ended == "content_filter":
        raise NoReply(f"the model refused: {_one_line(refusal or 'its filter stopped the answer')}")
    if not isinstance(text, str) or not text.strip():
        raise NoReply("the model's answer is empty")
    if ended == "length":
        raise NoReply("the model's answer was cut off at its limit of tokens")
    return text


def _status_error(error: openai.APIStatusError, server: str) -> Exception:
    code = error.status_code
    message = f"{server} says {code}: {_error_text(error)}"
    if code in (401, 403):
        return NoReply(f"{message}; is OPENAI_API_KEY right for it?")
    if code == 404:
        return NoReply(f"{message}; is the address whole (…/v1), and is there such a model?")
    if code in _RETRIED:
        return _TryAgain(message, _retry_after(error.response.headers.get("retry-after")))
    return NoReply(message)


def _error_text(error: openai.APIStatusError) -> str:
    """The message in an error of this protocol, or the start of any other body."""
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else None
    return _one_line(message or error.response.content[:200].decode("utf-8", "replace") or "nothing more")


def _retry_after(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:
        return None  # it is a date: use our own pauses
    return seconds if 0 <= seconds < float("inf") else None


def _server(settings: Settings) -> str:
    return urlsplit(settings.url).netloc.rpartition("@")[2]


def _one_line(error: object) -> str:
    """The text of an error as one line without control characters, with keys masked: servers may quote the key."""
    words = "".join(each if each.isprintable() else " " for each in str(error)).split()
    return Masker().mask(" ".join(words)[:200]) or type(error).__name__
