"""Render what is sent to a model: the break, the user's code around it, and the registry's answers, all masked."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from registry.advice import Advice, Advisor
from repro_runner.assistant.masking import Masker
from repro_runner.explain.render.view import find_advice
from repro_runner.explain.site import Site
from repro_runner.output.templates import text_templates
from repro_runner.output.terminal import plain

_MOST_LINES = 120
_AROUND = 30
"""How many lines before and after the break are sent if it is outside of functions, or in a very long one."""
_NOT_THE_USERS = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The part of a user's file that is sent."""

    file: str
    line: int
    imports: str
    code: str
    whole: str
    """The whole file, to which a patch is applied. It is not sent."""


def read_excerpt(site: Site) -> Excerpt | None:
    """The excerpt of the user's file with the break or, for a break in a library, with its caller; None if none."""
    places = [(site.file, site.line), *((frame.file, frame.line) for frame in reversed(site.stack))]
    for file, line in places:
        path = Path(file)
        if _NOT_THE_USERS.intersection(path.parts) or path.suffix != ".py":
            continue
        try:
            whole = path.read_text("utf-8")
            return make_excerpt(str(path), line, whole)
        except (OSError, ValueError, SyntaxError):
            continue  # the file was deleted or changed since the program ran
    return None


def make_excerpt(file: str, line: int, whole: str) -> Excerpt:
    """The excerpt around a line of the text `whole`. Raises SyntaxError if the text does not parse."""
    tree = ast.parse(whole)
    lines = whole.splitlines()
    first, last = _function_around(tree, line) or (line - _AROUND, line + _AROUND)
    if last - first >= _MOST_LINES:
        first, last = max(first, line - _AROUND), min(last, line + _AROUND)
    imports = (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return Excerpt(
        file=file,
        line=line,
        imports="\n".join(ast.unparse(node) for node in imports),
        code="\n".join(lines[max(0, first - 1) : last]),
        whole=whole,
    )


def _function_around(tree: ast.Module, line: int) -> tuple[int, int] | None:
    """(first, last) line of the innermost function with this line, including decorators. A method comes with its
    class if that is short, because the class sets what the method reads."""
    found: tuple[int, int] | None = None
    for node in ast.walk(tree):  # outer before inner
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        last = node.end_lineno or node.lineno
        short_class = isinstance(found, tuple) and found[1] - found[0] < _MOST_LINES
        if first <= line <= last and not short_class:
            found = (first, last)
    return found


_FOLDER = re.compile(r"(File \")[^\"\n]*/(?=[^\"/\n]+\")")
"""A folder in a stack that torch quotes. Folders of the user's machine are not sent."""
_MOST_MESSAGE = 4000
"""How many characters of torch's message are sent. Some messages quote whole graphs."""


def render_prompt(site: Site, *, answers: Advisor, torch: str) -> str:
    """The whole text that is sent about this site. It reads the user's file."""
    return render_excerpt(site, read_excerpt(site), answers=answers, torch=torch)


def render_excerpt(site: Site, excerpt: Excerpt | None, *, answers: Advisor, torch: str) -> str:
    """The whole text that is sent about this site, with an excerpt that was read before."""
    template = text_templates(Path(__file__).with_name("templates")).get_template("prompt.txt.j2")
    text = template.render(
        torch=torch,
        site=site,
        file=Path(site.file).name,
        message=_FOLDER.sub(r"\1", site.message.strip())[:_MOST_MESSAGE],
        stack=[(Path(frame.file).name, frame.line, frame.function, frame.source) for frame in site.stack],
        excerpt=excerpt,
        excerpt_file=Path(excerpt.file).name if excerpt else "",
        answers=[_answer_fields(answer) for answer in find_advice(site, answers, torch=torch)],
    )
    return _without_control_characters(Masker().mask(text))


def _without_control_characters(text: str) -> str:
    """The text with control characters spelt out, so that a terminal can show exactly what is sent."""
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))


def _answer_fields(answer: Advice) -> dict[str, object]:
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
