"""The two kinds of templates: what each does to the text that it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

from repro_runner.output import markdown
from repro_runner.output.templates import html_templates, text_templates
from tests.conftest import ROOT

HOSTILE = "<b>\x1b\u202e & {{ 7*7 }}"


def rendered(environment: jinja2.Environment, folder: Path, template: str, **values: object) -> str:
    (folder / "page").write_text(template, "utf-8")
    return environment.get_template("page").render(values)


def test_html_escapes_every_text_and_spells_out_what_is_forbidden(tmp_path: Path) -> None:
    shown = rendered(html_templates(tmp_path), tmp_path, "<p title='{{ x }}'>{{ x }}</p>", x=HOSTILE)
    text = "&lt;b&gt;\\x1b\\u202e &amp; {{ 7*7 }}"
    assert shown == f"<p title='{text}'>{text}</p>"


def test_html_has_filters_for_sizes_code_and_pieces(tmp_path: Path) -> None:
    pieces = "{% for is_code, text in 'a `b`' | pieces %}{{ is_code }}:{{ text }} {% endfor %}"
    template = "{{ 2048 | size }} {{ code | python }} " + pieces
    shown = rendered(html_templates(tmp_path), tmp_path, template, code="return '<'")
    assert shown.startswith('2.0 KiB <span class="k">return</span>')
    assert "&lt;" in shown
    assert shown.endswith("False:a  True:b ")


def test_text_is_left_alone_but_for_what_a_filter_does(tmp_path: Path) -> None:
    assert rendered(text_templates(tmp_path), tmp_path, "{{ x }}\n", x=HOSTILE) == f"{HOSTILE}\n"


@pytest.mark.parametrize("name", ["plain", "prose", "code", "cell", "fence", "one_line"])
def test_text_has_the_filters_of_markdown(tmp_path: Path, name: str) -> None:
    text = "a `b` | <c>\n@d"
    shown = rendered(text_templates(tmp_path), tmp_path, f"{{{{ x | {name} }}}}", x=text)
    assert shown == getattr(markdown, name)(text)


@pytest.mark.parametrize("templates", [html_templates, text_templates])
def test_a_name_that_is_not_there_is_an_error_not_nothing(tmp_path: Path, templates: object) -> None:
    assert callable(templates)
    with pytest.raises(jinja2.UndefinedError, match="'x' is undefined"):
        rendered(templates(tmp_path), tmp_path, "{{ x }}")


@pytest.mark.parametrize("templates", [html_templates, text_templates])
def test_lines_of_logic_leave_no_empty_lines(tmp_path: Path, templates: object) -> None:
    assert callable(templates)
    shown = rendered(templates(tmp_path), tmp_path, "a\n  {% if true %}\nb\n  {% endif %}\nc")
    assert shown == "a\nb\nc"


def test_nothing_here_imports_torch() -> None:
    """Logs are read, and reports are shown, where there is none."""
    names = sorted(path.stem for path in (ROOT / "repro_runner" / "output").glob("[!_]*.py"))
    assert {"templates", "terminal"} <= set(names)
    program = f"import sys; from repro_runner.output import {', '.join(names)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
