"""What is sent to a model: the break, the user's lines around it, and what the registry knows, all masked."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Answer, Answers
from repro_runner.assistant.masking import Masker
from repro_runner.assistant.source_excerpt import Excerpt, read_excerpt
from repro_runner.explain.site import Site
from repro_runner.output.terminal import plain

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER = re.compile(r"(File \")[^\"\n]*/(?=[^\"/\n]+\")")
"""Where torch quotes a stack: whose folders those are is nobody's business."""
_MOST_MESSAGE = 4000
"""Characters of torch's message: some quote whole graphs."""


def render_prompt(site: Site, *, answers: Answers, torch: str) -> str:
    """The whole text that is sent about this site, and nothing else is. Reads the user's file."""
    return render_excerpt(site, read_excerpt(site), answers=answers, torch=torch)


def render_excerpt(site: Site, excerpt: Excerpt | None, *, answers: Answers, torch: str) -> str:
    """The same, of lines that were read already."""
    known = [answer for gb_id in site.gb_ids if (answer := answers.answer(gb_id, torch=torch)) is not None]
    text = _template().render(
        torch=torch,
        site=site,
        file=Path(site.file).name,
        message=_FOLDER.sub(r"\1", site.message.strip())[:_MOST_MESSAGE],
        stack=[(Path(frame.file).name, frame.line, frame.function, frame.source) for frame in site.stack],
        excerpt=excerpt,
        excerpt_file=Path(excerpt.file).name if excerpt else "",
        answers=[_answer(answer) for answer in known],
    )
    return _inert(Masker().mask(text))


def _inert(text: str) -> str:
    """Without control characters: what is sent can be shown on a terminal to the letter."""
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))


def _answer(answer: Answer) -> dict[str, object]:
    return {
        "gb_id": answer.gb_id,
        "gb_type": answer.gb_type,
        "lead": answer.lead,
        "explanation": answer.explanation.strip(),
        "hints": [hint.strip() for hint in answer.hints if hint.strip()],
        "category": answer.category,
        "broken": answer.broken.strip(),
        "fixes": answer.fixes,
        "no_fix": answer.no_fix,
    }


@functools.cache
def _template() -> Template:
    import jinja2

    folder = Path(__file__).parent / "templates"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=False,  # plain text for a model; what it answers is not trusted either way
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("prompt.txt.j2")
