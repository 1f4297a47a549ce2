"""Registry -> {path under docs/: text}. Pure: nothing here writes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import jinja2

from registry.advice import advice_of
from registry.errors import InvalidInput, Problem
from registry.model import GraphBreak, Registry
from registry.pages import page_file
from registry.snippets import Programs, programs_of
from registry.stylesheet import read_stylesheet
from sitegen.answers import render_answers
from sitegen.api import render_break
from sitegen.api_outputs import render_api_outputs
from sitegen.break_page import BreakPages, Parts, render_page
from sitegen.compact import compact, data_script
from sitegen.home import render_home
from sitegen.layout_data import render_layout_data
from sitegen.overview import render_overview
from sitegen.paste import render_paste
from sitegen.scripts import render_scripts
from sitegen.stamp import Keep, Texts, digest_of, make_again
from sitegen.templating import template_environment


def render_site(registry: Registry, templates: Path, keep: Keep = make_again) -> dict[str, str]:
    """Return {path under docs/: text} for every generated file; write nothing."""
    try:
        return _render_all(registry, templates, keep)
    except jinja2.TemplateError as error:
        where = f"templates/{getattr(error, 'name', None) or '*.j2'}:{getattr(error, 'lineno', None) or 1}"
        reason = "not there" if isinstance(error, jinja2.TemplateNotFound) else error.message
        raise InvalidInput([Problem(where, f"{reason}; `git checkout templates` restores it")]) from error


def _render_all(registry: Registry, templates: Path, keep: Keep) -> dict[str, str]:
    environment = template_environment(templates)
    programs = programs_of(registry)
    everything = without_note_texts(registry)
    breaks = {gb.gb_id: digest_of(gb) for gb in everything}
    whole = digest_of((replace(everything, breaks=()), breaks))
    pages = BreakPages(registry, programs, environment)

    def about_one(gb: GraphBreak) -> Texts:
        parts = pages.parts(gb)
        made_of = (breaks[gb.gb_id], gb.note, parts)
        return keep(f"{gb.gb_id} by its parts", made_of, lambda: _about_one(gb, parts, programs, environment))

    texts: dict[str, str] = {}
    for gb in registry:
        texts |= keep(gb.gb_id, (whole, gb.note), partial(about_one, gb))
    texts |= keep("all", whole, lambda: _about_all(everything, programs, templates, environment))
    return texts


def _about_one(gb: GraphBreak, parts: Parts, programs: Programs, environment: jinja2.Environment) -> dict[str, str]:
    """All files about one id: of nothing else, for by these they are kept."""
    page = render_page(gb, parts, programs, environment)
    return {f"gb/{page_file(gb.gb_id)}": page, **render_break(gb, parts.releases, programs)}


def without_note_texts(registry: Registry) -> Registry:
    """What pages about many ids show: whether there is a note, and for which wording."""
    notes = {gb.gb_id: replace(gb.note, text="x") for gb in registry if gb.note}
    breaks = (replace(gb, note=notes[gb.gb_id]) if gb.gb_id in notes else gb for gb in registry)
    return replace(registry, breaks=tuple(breaks))


def _about_all(
    registry: Registry, programs: Programs, templates: Path, environment: jinja2.Environment
) -> dict[str, str]:
    advice = advice_of(registry)
    return {
        "_data/registry.json": render_layout_data(registry),
        **render_home(registry, advice, environment),
        **render_paste(registry),
        **render_answers(registry, advice),
        **render_overview(registry, programs, environment),
        **render_api_outputs(registry, environment),
        **render_scripts(templates, environment),
        **data_script("example", compact((templates / "example-log.txt").read_text("utf-8"))),
        "assets/css/look.css": read_stylesheet(),
    }
