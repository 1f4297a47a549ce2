"""Pages of messages that are no graph break: what gives one, and ways without it, as they were run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registry.message_programs import read_message_programs
from registry.model import Environment, MessageRun, OtherMessage
from sitegen.messages import render_messages
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.sitegen.overview_pages import html_of

PAGES = template_environment(ROOT / "templates")


def cards(page: str) -> dict[str, tuple[str, str]]:
    """Title of a card -> its code, and what is said below it."""
    found = {}
    for heading in html_of(page).select("h3"):
        code, said = heading.find_next("pre"), heading.find_next("pre")
        assert code is not None and said is not None
        below = said.find_next("p")
        found[heading.get_text()] = (code.get_text(), below.get_text() if below else "")
    return found


def test_a_card_shows_what_is_run_and_calls_it() -> None:
    page = render_messages(committed_registry(), PAGES)["messages/recompiles.md"]
    program = read_message_programs(ROOT / "registry" / "message_programs")["recompiles"]
    shown = cards(page)
    assert shown["Prints the message"][0].strip() == f"{program.parts['message']}\nmessage()"
    assert shown["Works"][0].strip() == f"{program.parts['fixed_dynamic']}\nprint(fixed_dynamic())"
    assert "fixed" not in program.parts["message"]  # nothing that the reader does not need
    assert "def message" not in program.parts["fixed_dynamic"]
    assert "Run it with TORCH_LOGS=recompiles." in html_of(page).get_text()


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (True, "No such message, and the same result as eager: run on torch 2.13.0 (CPU)."),
        (False, "Does not work on 2.13.0 (CPU)."),
        (None, "We have not run it yet."),
    ],
)
def test_a_card_says_what_came_of_its_run(held: bool | None, said: str) -> None:
    registry = committed_registry()
    program = registry.message_programs["lru-cache"]
    place = Environment(torch="2.13.0", python="3.11", device="cpu")
    fixes = dict.fromkeys(program.fixes, bool(held))
    runs = () if held is None else (MessageRun(environment=place, sha256="", printed="It.", fixes=fixes),)
    changed = replace(registry, message_programs={"lru-cache": replace(program, runs=runs)})
    shown = cards(render_messages(changed, PAGES)["messages/lru-cache.md"])
    assert [below for title, (_, below) in shown.items() if "orks" in title] == [said] * len(fixes)
    assert ("What it printed" in shown) == (held is not None)


@pytest.mark.parametrize("text", ["*a* {{ b }} <i> `c", "```\nfence\n```", "a | b", "  two  spaces"])
def test_what_torch_prints_is_shown_as_it_is(text: str) -> None:
    one: OtherMessage = replace(committed_registry().other_messages[0], forms=(text,), title="A `title`")
    page = render_messages(replace(committed_registry(), other_messages=(one,)), PAGES)[f"messages/{one.slug}.md"]
    code = html_of(page).select_one("#what-torch-prints ~ div pre")
    assert code is not None and code.get_text().rstrip("\n") == text
