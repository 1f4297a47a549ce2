"""What torch prints that is no graph break: a page per message, and the list of them."""

from __future__ import annotations

from typing import Any

import jinja2

from registry.ids import is_gb_id
from registry.model import MessageProgram, OtherMessage, Registry
from sitegen.code import highlight
from sitegen.learn import lessons_about


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
        "paragraphs": [" ".join(part.split()) for part in message.meaning.split("\n\n") if part.strip()],
        "see": [_link(name, titles[name]) for name in message.see if name in titles],
        "program": program,
        "source": highlight(program.source.rstrip()) if program else "",
        "shown": shown[-1] if shown else None,
        "runs": program.runs if program else (),
    }


def _link(name: str, title: str) -> dict[str, str]:
    page = f"../gb/{name.lower()}.html" if is_gb_id(name) else f"{name}.html"
    return {"page": page, "text": f"{name}: {title}" if is_gb_id(name) else title}
