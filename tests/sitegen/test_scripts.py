"""The site's scripts: modules joined into plain scripts, which run from disk too."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from sitegen.jekyll_source import read_source
from sitegen.scripts import PAGES, READER, render_scripts
from sitegen.templating import template_environment
from tests.conftest import ROOT
from tests.tools import run_node

TEMPLATES = ROOT / "templates"


def joined(folder: Path, **modules: str) -> dict[str, str]:
    scripts = folder / "scripts"
    scripts.mkdir()
    shutil.copy(TEMPLATES / "scripts" / "bundle.js.j2", scripts)
    for name, text in modules.items():
        (scripts / f"{name}.js").write_text(text, "utf-8")
    return render_scripts(folder, template_environment(folder))


def test_a_page_gets_its_module_and_all_that_it_needs_once(tmp_path: Path) -> None:
    made = joined(
        tmp_path,
        site='import { one } from "./one.js";\nimport { two } from "./two.js";\nconsole.log(one, two());\n',
        one="export const one = 1;\nconst own = 3;\n",
        two='import { one } from "./one.js";\nconst own = 2;\nexport function two() {\n  return one + own;\n}\n',
        other="not joined into anything;\n",
    )
    assert list(made) == ["assets/js/site.js"]
    assert made["assets/js/site.js"].count("const own = 3;") == 1
    assert run_node(made["assets/js/site.js"]) == "1 3\n"


def test_the_reader_of_logs_is_a_function_whose_text_runs_elsewhere(tmp_path: Path) -> None:
    [reader] = joined(tmp_path, **{READER: "export async function* read() {\n  yield 42;\n}\n"}).values()
    script = f'globalThis.self = globalThis;\n{reader}const text = `(${{self.graphBreaks["js/{READER}"]}})`;\n'
    script += "for await (const one of eval(text)().read()) console.log(one);"
    assert run_node(script) == "42\n"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('const a = 1;\nimport two from "./two.js";\n', 2, '`import two from "./two.js";` can\'t be joined'),
        ("export { a };\n", 1, "`export { a };` can't be joined"),
        ('\n\nawait import("./two.js");\n', 3, "can't be joined"),
        ('import { a } from "./absent.js";\n', 1, "./absent.js is not there"),
        ('import { a } from "./site.js";\n', 1, "./site.js needs itself"),
    ],
)
def test_a_module_that_cannot_be_joined_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(reason)) as caught:
        joined(tmp_path, site=text)
    [problem] = caught.value.problems
    assert problem.where == f"templates/scripts/site.js:{line}"


def test_every_script_that_a_page_names_is_there_and_needs_no_server() -> None:
    pages = read_source(ROOT / "docs").pages
    named = {script for page in pages for script in page.settings.get("scripts", ())}
    assert named | {"site"} == set(PAGES)
    for path, text in render_scripts(TEMPLATES, template_environment(TEMPLATES)).items():
        assert (ROOT / "docs" / path).read_text("utf-8") == text
        assert not re.search(r"\bfetch\(|^import\b|^export\b|XMLHttpRequest|type: \"module\"", text, re.MULTILINE), path
