"""The topics of the troubleshooting page name messages that there are. A wrong file is refused with all problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.datafile import DATA
from registry.errors import InvalidInput
from registry.forms import read_other_messages
from registry.troubleshooting import read_topics


def test_every_topic_has_messages_with_pages() -> None:
    topics = read_topics(DATA / "troubleshooting.yml", read_other_messages(DATA / "other_messages"))
    assert [topic.key for topic in topics][:2] == ["installation", "compiler"]
    assert all(topic.messages for topic in topics)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("a: b", ["needs a list of topics"]),
        (
            "- x\n- {key: a, title: '', text: t}",
            ["topic 1: needs a mapping", "topic 2: needs a text `title`", "topic 2: needs a list `messages`"],
        ),
        ("- {key: a, title: b, text: t, messages: [gone]}", ["there is no message 'gone'"]),
    ],
)
def test_all_that_is_wrong_is_told_at_once(tmp_path: Path, text: str, reasons: list[str]) -> None:
    path = tmp_path / "troubleshooting.yml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as refused:
        read_topics(path, ())
    said = str(refused.value)
    assert all(reason in said for reason in reasons), said
    assert len(refused.value.problems) == len(reasons)
