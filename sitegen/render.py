"""Registry -> {path under docs/: text}. Pure: nothing here writes."""

from __future__ import annotations

from pathlib import Path

import jinja2

from registry.advice import advice_of
from registry.errors import InvalidInput, Problem
from registry.model import Registry
from registry.pages import page_file
from registry.snippets import programs_of
from registry.stylesheet import read_stylesheet
from sitegen.answers import render_answers
from sitegen.api_outputs import render_api_outputs
from sitegen.break_page import BreakPages
from sitegen.compact import compact, data_script
from sitegen.home import render_home
from sitegen.layout_data import render_layout_data
from sitegen.overview import render_overview
from sitegen.paste import render_paste
from sitegen.scripts import render_scripts
from sitegen.templating import template_environment


def render_site(registry: Registry, templates: Path) -> dict[str, str]:
    """Return {path under docs/: text} for every generated file; write nothing."""
    try:
        return _render_all(registry, templates)
    except jinja2.TemplateError as error:
        where = f"templates/{getattr(error, 'name', None) or '*.j2'}:{getattr(error, 'lineno', None) or 1}"
        reason = "not there" if isinstance(error, jinja2.TemplateNotFound) else error.message
        raise InvalidInput([Problem(where, f"{reason}; `git checkout templates` restores it")]) from error


def _render_all(registry: Registry, templates: Path) -> dict[str, str]:
    environment = template_environment(templates)
    programs = programs_of(registry)
    advice = advice_of(registry)
    pages = BreakPages(registry, programs, environment)
    texts = {}
    for gb in registry:
        texts[f"gb/{page_file(gb.gb_id)}"] = pages.render(gb)
    texts["_data/registry.json"] = render_layout_data(registry)
    texts |= render_home(registry, advice, environment)
    texts |= render_paste(registry)
    texts |= render_answers(registry, advice)
    texts |= render_overview(registry, programs, environment)
    texts |= render_api_outputs(registry, programs, environment)
    texts |= render_scripts(templates, environment)
    texts |= data_script("example", compact((templates / "example-log.txt").read_text("utf-8")))
    texts["assets/css/look.css"] = read_stylesheet()
    return texts
