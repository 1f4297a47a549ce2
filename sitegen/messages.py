"""What torch prints that is no graph break: a page per message, and the list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jinja2

from registry.ids import is_gb_id
from registry.model import MessageProgram, MessageRun, OtherMessage, Registry
from registry.pages import page_file
from sitegen.break_page import answer_first
from sitegen.learn import lessons_about
from sitegen.sentences import comma_list, device_name


def render_messages(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    titles = {one.slug: one.title for one in registry.other_messages} | {gb.gb_id: gb.gb_type for gb in registry}
    template = environment.get_template("message.md.j2")
    index = environment.get_template("messages.md.j2")
    return {
        "messages.md": index.render(messages=registry.other_messages),
        "troubleshooting.md": environment.get_template("troubleshooting.md.j2").render(topics=registry.topics),
        **{
            f"messages/{one.slug}.md": template.render(
                _context(one, registry.message_programs.get(one.slug), titles),
                lessons=lessons_about(registry, one.slug),
            )
            for one in registry.other_messages
        },
    }


def _context(message: OtherMessage, program: MessageProgram | None, titles: dict[str, str]) -> dict[str, Any]:
    shown = [run for run in program.runs if run.printed] if program else []
    return {
        "message": message,
        "paragraphs": [part for part in message.meaning.split("\n\n") if part.strip()],
        "see": [_link(name, titles[name]) for name in message.see if name in titles],
        "program": program,
        "cards": _cards(program) if program else [],
        "shown": shown[-1] if shown else None,
    }


def _cards(program: MessageProgram) -> list[dict[str, str]]:
    """What gives the message, and each way to do the same work without it: modules that were run, and their call."""
    broken = {"title": "Prints the message", "when": "", "code": f"{program.parts['message']}\nmessage()"}
    fixes = [
        {
            "title": "Also works" if number else "Works",
            "when": answer_first(when),
            "code": f"{program.parts[fix]}\nprint({fix}())",
            "proof": _proof(program.runs, fix),
        }
        for number, (fix, when) in enumerate(program.fixes.items())
    ]
    ran = comma_list(f"{run.environment.torch} ({device_name(run.environment.device)})" for run in program.runs)
    return [{**broken, "proof": f"Run on torch {ran}." if ran else "We have not run it yet."}, *fixes]


def _proof(runs: Sequence[MessageRun], fix: str) -> str:
    places: dict[bool, list[str]] = {True: [], False: []}
    for run in runs:
        places[run.fixes[fix]].append(f"{run.environment.torch} ({device_name(run.environment.device)})")
    held, failed = comma_list(places[True]), comma_list(places[False])
    works = f"No such message, and the same result as eager: run on torch {held}." if held else ""
    return f"{works}{f' Does not work on {failed}.' if failed else ''}".strip() or "We have not run it yet."


def _link(name: str, title: str) -> dict[str, str]:
    if is_gb_id(name):
        return {"page": f"../gb/{page_file(name)}", "text": f"{name}: {title}"}
    return {"page": f"{name}.md", "text": title}
