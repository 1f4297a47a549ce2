"""Whom to ask, and how long to wait."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from registry.errors import InvalidInput, Problem

OPENAI_URL = "https://api.openai.com/v1"
DEAREST = 3
"""How many sites are asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A server that speaks the chat-completions protocol, and the limits of a conversation with it."""

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    """Empty for local servers, which need none."""
    sites: int = DEAREST
    """How many are asked about, the dearest first."""
    seconds: float = 120.0
    """For one answer, with all retries."""
    retries: int = 2
    """After a rate limit, a server's failure or a lost connection."""
    trial_seconds: float = 300.0
    """For one run of the program."""


def read_settings(*, url: str = "", model: str = "", environment: Mapping[str, str] | None = None) -> Settings:
    """From `--llm-url` and `--llm-model`, or OPENAI_BASE_URL and OPENAI_MODEL; the key from OPENAI_API_KEY alone.

    InvalidInput names all that is missing, before anything runs.
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
    except ValueError:  # of a port that is none
        return False
