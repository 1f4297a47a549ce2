"""The site's scripts: the ES modules in templates/scripts, joined into one plain script per page.

A browser that opens a page from disk runs plain scripts only: no modules, no `fetch`, no worker from a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2

from registry.errors import InvalidInput, Problem

PAGES = ("site", "home", "paste", "releases", "not-found")
"""Each becomes assets/js/NAME.js, which a page names in its front matter; `site` is on every page."""
READER = "log-reader"
"""Loaded when there is a log to read, as a function: a page makes a worker of its text."""

_IMPORT = re.compile(r'^import \{([^}]+)\} from "\./([\w-]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*|\bimport\.meta\b.*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    needs: tuple[str, ...]
    exports: tuple[str, ...]
    text: str


def render_scripts(templates: Path, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}; InvalidInput for a module that can't be joined."""
    modules = {path.stem: _read_module(path) for path in sorted((templates / "scripts").glob("*.js"))}
    template = environment.get_template("scripts/bundle.js.j2")
    return {
        f"assets/js/{entry}.js": template.render(
            entry=entry, modules=_in_order(entry, modules), is_function=entry == READER
        )
        for entry in (*PAGES, READER)
        if entry in modules
    }


def _read_module(path: Path) -> _Module:
    source = path.read_text("utf-8")
    imports = list(_IMPORT.finditer(source))
    text = _IMPORT.sub(r'const {\1} = modules["\2"];', source)
    exports = tuple(found[1] for found in _EXPORT.finditer(text))
    text = _EXPORT.sub("", text)
    if left := _LEFT_OVER.search(text):
        where = f"templates/scripts/{path.name}:{text.count(chr(10), 0, left.start()) + 1}"
        expected = 'write `import { name } from "./file.js";` and `export` before a function, class or const'
        raise InvalidInput([Problem(where, f"`{left[0]}` can't be joined; {expected}")])
    return _Module(path.stem, tuple(found[2] for found in imports), exports, text.strip())


def _in_order(entry: str, modules: Mapping[str, _Module]) -> list[_Module]:
    """A module and all that it needs, each after what it needs itself."""
    ordered: dict[str, _Module] = {}

    def visit(name: str, chain: tuple[str, ...]) -> Iterator[_Module]:
        if name in ordered:
            return
        if name not in modules or name in chain:
            reason = "needs itself" if name in chain else "is not there"
            raise InvalidInput([Problem(f"templates/scripts/{chain[-1]}.js:1", f"./{name}.js {reason}")])
        for needed in modules[name].needs:
            yield from visit(needed, (*chain, name))
        ordered[name] = modules[name]
        yield modules[name]

    return list(visit(entry, ()))
