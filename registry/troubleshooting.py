"""The topics of the troubleshooting page, in `registry/troubleshooting.yml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.model import OtherMessage, Topic
from registry.yamlfile import read_yaml


def read_topics(path: Path, messages: tuple[OtherMessage, ...]) -> tuple[Topic, ...]:
    """The topics in their order; all problems at once as InvalidInput."""
    if not path.exists():
        return ()
    entries = read_yaml(path)
    if not isinstance(entries, list):
        raise InvalidInput([Problem(f"{shown(path)}:1", "needs a list of topics")])
    known = {one.slug: one for one in messages}
    problems = [
        Problem(f"{shown(path)}:1", f"topic {number}: {why}")
        for number, entry in enumerate(entries, 1)
        for why in _check(entry, known)
    ]
    if problems:
        raise InvalidInput(problems)
    return tuple(
        Topic(
            key=one["key"],
            title=one["title"],
            text=one["text"].strip(),
            messages=tuple(known[name] for name in one["messages"]),
        )
        for one in entries
    )


def _check(entry: Any, known: Mapping[str, OtherMessage]) -> list[str]:
    if not isinstance(entry, Mapping):
        return ["needs a mapping"]
    texts = ("key", "title", "text")
    wrong = [f"needs a text `{name}`" for name in texts if not isinstance(entry.get(name), str) or not entry[name]]
    names = entry.get("messages")
    if not isinstance(names, list) or not names:
        return [*wrong, "needs a list `messages`"]
    return wrong + [f"there is no message {name!r}; name one of other_messages/" for name in names if name not in known]
