"""Jinja, with the filters that every template uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jinja2

from registry.glossary import term_anchor
from sitegen import markdown
from sitegen.by_release import variants
from sitegen.code import escape_code
from sitegen.escape import breakable, prose, verbatim
from sitegen.links import page_link
from sitegen.sentences import device_name

_GAPS = re.compile(r"\n(?:[ \t]*\n)+")
_CODE = re.compile(r"(<code>.*?</code>)")


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
        "breakable": lambda text: breakable(text, prose),
        "explained": _explained,
        "quoted": _quoted,
        "tidy": _tidy,
        "code_text": escape_code,
        "device": device_name,
        "page_link": page_link,
    }
    environment.globals["variants"] = variants
    return environment


class FirstUses:
    """The glossary for one page: explains a term where the page first uses it. `root` leads to the root of the site."""

    def __init__(self, glossary: Mapping[str, str], root: str = "") -> None:
        self._root = root
        self._left = {verbatim(term).casefold(): (term, meaning) for term, meaning in glossary.items()}
        longest_first = sorted(self._left, key=len, reverse=True)
        # Not in a longer name: graph-break, guard_or_false, torch.fx.graph.
        terms = rf"(?<!&#45;)(?<!&#95;)(?<!\.)\b({'|'.join(map(re.escape, longest_first))})s?\b(?!&#(?:45|95);)"
        self._terms = re.compile(terms if glossary else r"(?!)", re.IGNORECASE)

    def explain(self, html: str) -> str:
        """Link the terms in escaped text that were not linked before; code stays as it is."""
        pieces = _CODE.split(html)
        return "".join(one if one.startswith("<code>") else self._terms.sub(self._link, one) for one in pieces)

    def _link(self, found: re.Match[str]) -> str:
        term, meaning = self._left.pop(found[1].casefold(), ("", ""))
        if not term:
            return found[0]
        title = verbatim(meaning.replace("`", ""))
        return f'<a class="term" href="{self._root}glossary.html#{term_anchor(term)}" title="{title}">{found[0]}</a>'


def _explained(text: str, uses: FirstUses) -> str:
    """Escape a sentence as `prose` does, and explain the terms that the page uses here first."""
    return uses.explain(prose(text))


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's strings are a subset."""
    return json.dumps(text, ensure_ascii=False)


def _tidy(html: str) -> str:
    """No blank lines: they are where branches of a template were not taken."""
    return _GAPS.sub("\n", html.strip()) + "\n"
