"""The lessons: a page per lesson with its text, its code, and what that printed; the first one lists the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jinja2

from registry.model import Lesson, LessonRun, Registry
from registry.pages import page_file
from sitegen.sentences import device_name

START = "start"
"""The lesson that newcomers read first. Its page is that of the whole section."""
_PICTURES = "assets/learn"


def render_learn(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    template = environment.get_template("lesson.md.j2")
    titles = _titles(registry)
    texts: dict[str, str] = {}
    others = [one for one in registry.lessons if one.name != START]
    everything = (*registry.lessons, *registry.notebooks)
    for place, lesson in enumerate(everything):
        texts |= _pictures(lesson)
        texts[lesson.page.replace(".html", ".md")] = template.render(
            lesson=lesson,
            parts=list(_parts(lesson)),
            places=[f"{_place(run)}, Python {run.environment.python}" for run in lesson.runs],
            explains=[titles[name] for name in lesson.explains if name in titles],
            lessons=others if lesson.name == START else (),
            notebooks=registry.notebooks if lesson.name == START else (),
            is_notebook=lesson in registry.notebooks,
            start=registry.lessons[0] if lesson.name != START else None,
            after=everything[place + 1] if place + 1 < len(everything) else None,
        )
    return texts


def lessons_about(registry: Registry, *names: str) -> list[Lesson]:
    """The lessons that explain one of these ids, categories or messages; the first one is for everybody."""
    about = [one for one in registry.lessons if not set(names).isdisjoint(one.explains) and one.name != START]
    return [*about, *(one for one in registry.lessons if one.name == START)]


def _titles(registry: Registry) -> dict[str, dict[str, str]]:
    """What a lesson may explain: name -> link and text."""
    kinds = {one.key: {"page": f"../categories/{one.key}.md", "text": one.title} for one in registry.categories}
    messages = {one.slug: {"page": f"../messages/{one.slug}.md", "text": one.title} for one in registry.other_messages}
    breaks = {
        gb.gb_id: {"page": f"../gb/{page_file(gb.gb_id)}", "text": f"{gb.gb_id}: {gb.gb_type}"} for gb in registry
    }
    return {**kinds, **messages, **breaks}


def _parts(lesson: Lesson) -> Iterator[dict[str, Any]]:
    """The cells for the page: text, or code with what it printed in each run."""
    number = 0
    for cell in lesson.cells:
        if cell.text:
            yield {"text": cell.text, "code": "", "outputs": []}
            continue
        outputs = [(run, run.outputs[number]) for run in lesson.runs]
        yield {
            "text": "",
            "code": cell.code,
            "outputs": [
                {
                    "place": _place(run),
                    "text": output.text,
                    "picture": "" if place else _picture_file(lesson, run, number),
                }
                for place, (run, output) in enumerate(outputs)
                if (output.text or output.picture) and (not place or output.text != outputs[0][1].text)
            ],
        }
        number += 1


def _place(run: LessonRun) -> str:
    return f"{device_name(run.environment.device)} ({run.device_name}), torch {run.environment.torch}"


def _pictures(lesson: Lesson) -> dict[str, str]:
    """The pictures of the first run; the others draw the same."""
    return {
        f"{_PICTURES}/{name}": output.picture
        for run in lesson.runs[:1]
        for number, output in enumerate(run.outputs)
        if (name := _picture_file(lesson, run, number))
    }


def _picture_file(lesson: Lesson, run: LessonRun, number: int) -> str:
    """The file of a cell's picture; empty if it has none."""
    if not run.outputs[number].picture:
        return ""
    return f"{lesson.name.replace('_', '-')}-{run.environment.device}-{number + 1}.svg"
