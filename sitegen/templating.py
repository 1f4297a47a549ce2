"""Jinja, with the filters that every template uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jinja2

from registry.glossary import term_anchor
from registry.pages import page_file
from sitegen import markdown
from sitegen.by_release import variants
from sitegen.escape import prose, verbatim
from sitegen.links import page_link
from sitegen.sentences import device_name

_CODE = re.compile(r"(`[^`]+`)")


def template_environment(templates: Path) -> jinja2.Environment:
    """Templates in a folder; what they forget to escape is not escaped, what they misspell is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=False,  # Markdown, HTML and Liquid at once: `verbatim` is the escape, on every value
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "md": markdown.prose,
        "plain": markdown.plain,
        "fence": markdown.fence,
        "verbatim": verbatim,
        "prose": prose,
        "explained": _explained,
        "quoted": _quoted,
        "device": device_name,
        "page_link": page_link,
        "page_file": lambda gb: f"gb/{page_file(gb.gb_id)}",
        "file": _file,
    }
    environment.globals["variants"] = variants
    return environment


class FirstUses:
    """The glossary for one page: explains a term where the page first uses it. `root` leads to the root of the site."""

    def __init__(self, glossary: Mapping[str, str], root: str = "") -> None:
        self._root = root
        self._left = {term.casefold(): (term, meaning) for term, meaning in glossary.items()}
        longest_first = sorted(map(re.escape, self._left), key=len, reverse=True)
        # Not in a longer name: graph-break, guard_or_false, torch.fx.graph.
        terms = rf"(?<![-_.\w])({'|'.join(longest_first)})s?(?![-_\w]|\\_)"
        self._terms = re.compile(terms if glossary else r"(?!)", re.IGNORECASE)

    def explain(self, text: str) -> str:
        """Link the terms in Markdown that were not linked before; code stays as it is."""
        pieces = _CODE.split(text)
        return "".join(one if one.startswith("`") else self._terms.sub(self._link, one) for one in pieces)

    def _link(self, found: re.Match[str]) -> str:
        term, meaning = self._left.pop(found[1].casefold(), ("", ""))
        if not term:
            return found[0]
        title = meaning.replace("`", "").replace('"', "'")
        return f'[{found[0]}]({self._root}glossary.md#{term_anchor(term)} "{title}")'


def _explained(text: str, uses: FirstUses) -> str:
    """A paragraph of our own, as `md` gives it, with the terms explained that the page uses here first."""
    return uses.explain(markdown.prose(text))


def _file(address: str) -> str:
    """A page's file, from its address: where GitHub finds it."""
    return address.replace(".html", ".md")


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's strings are a subset."""
    return json.dumps(text, ensure_ascii=False)
