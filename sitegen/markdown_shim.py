"""Markdown as Jekyll's kramdown reads it, near enough, by python-markdown.

tests/sitegen/fixtures/README.md lists what comes out the same. Beyond that list Jekyll is the truth.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.extensions.toc import render_inner_html, strip_tags
from markdown.inlinepatterns import SimpleTagInlineProcessor, SubstituteTagInlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import ETX, STX
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

_EXTENSIONS = ("tables", "md_in_html", "footnotes", "def_list", "sane_lists")
_ESCAPABLE = ("<", ":", "|", '"', "'", "$", "=", "~")  # by a backslash, beyond what python-markdown has
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
_STATEMENTS = re.compile(r"""(?<=\n\n)(?=(?:def|import|from|torch|print)\b)(?!(?:.|\n)*(?:'''|\"\"\"))""")
"""Where code is cut: cards have imports, inputs and calls in common. Not in a string of several lines."""


def markdown_converter() -> Callable[[str], str]:
    """Return a function from Markdown to HTML; it keeps one parser, so one thread uses it at a time."""
    parser = Markdown(extensions=[*_EXTENSIONS, _Kramdown()], output_format="html")

    def to_html(source: str) -> str:
        parser.reset()
        return parser.convert(_clean(source))

    return to_html


class _Kramdown(Extension):
    """Where kramdown's GFM reader differs from python-markdown."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (python-markdown's name)
        md.ESCAPED_CHARS.extend(_ESCAPABLE)
        md.preprocessors.register(_NoMarkdown(md), "no_markdown", 40)
        md.preprocessors.register(_FencedCode(md), "fenced_code", 35)
        md.preprocessors.register(_ExpandTabs(md), "normalize_whitespace", 30)
        md.parser.blockprocessors.register(_ListAfterParagraph(md.parser), "list_after_paragraph", 15)
        md.inlinePatterns.register(SimpleTagInlineProcessor(r"(~~)(?![\s~])(.*?[^\s~])~~", "del"), "del", 45)
        md.inlinePatterns.register(SubstituteTagInlineProcessor(r"\\\n", "br"), "backslash_break", 175)
        md.treeprocessors.register(_HeadingIds(md), "heading_ids", 5)


def _clean(source: str) -> str:
    """python-markdown marks its own placeholders with STX and ETX: none may come from outside."""
    return source.replace(STX, "").replace(ETX, "").replace("\r\n", "\n").replace("\r", "\n")


class _ExpandTabs(Preprocessor):
    """Stands in for python-markdown's own step, which would tear up the placeholders of fenced code."""

    def run(self, lines: list[str]) -> list[str]:
        return [line.expandtabs(self.md.tab_length) if line.strip() else "" for line in lines] + ["", ""]


class _FencedCode(Preprocessor):
    """Set fenced code aside before tabs are expanded and HTML is looked for; in a list item it may be indented."""

    FENCE = re.compile(
        r"^(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,})[ ]*(?P<language>[^\s`?]*)[ ]*\n"
        r"(?P<code>.*?)^[ ]*(?P=fence)[`~]*[ ]*$",
        re.MULTILINE | re.DOTALL,
    )

    def run(self, lines: list[str]) -> list[str]:
        return self.FENCE.sub(self._set_aside, "\n".join(lines)).split("\n")

    def _set_aside(self, block: re.Match[str]) -> str:
        indent = block["indent"]
        code = re.sub(f"^{indent}", "", block["code"], flags=re.MULTILINE) if indent else block["code"]
        language = block["language"]
        shown = "".join(_highlighted(part, language) for part in _STATEMENTS.split(code))
        shown = f'<div class="highlight"><pre><span></span><code>{shown}</code></pre></div>'
        shown = f'<div class="language-{html.escape(language or "plaintext")}">{shown}</div>'
        return f"\n{indent}{self.md.htmlStash.store(shown)}\n"


class _NoMarkdown(Preprocessor):
    """Set aside what kramdown is told to leave alone: generated HTML, which is most of a page."""

    BLOCK = re.compile(r"^\{::nomarkdown\}\n(?P<html>.*?)^\{:/nomarkdown\}$", re.MULTILINE | re.DOTALL)

    def run(self, lines: list[str]) -> list[str]:
        return self.BLOCK.sub(self._set_aside, "\n".join(lines)).split("\n")

    def _set_aside(self, block: re.Match[str]) -> str:
        return f"\n{self.md.htmlStash.store(block['html'].rstrip())}\n"


@lru_cache(4096)
def _highlighted(code: str, language: str) -> str:
    return highlight(code, _lexer(language), _FORMATTER)


@lru_cache
def _lexer(language: str) -> Lexer:
    """Lexers that neither trim nor complete the code: it is shown as its author wrote it."""
    try:
        return get_lexer_by_name(language or "text", stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)


class _ListAfterParagraph(BlockProcessor):
    """A list needs no blank line before it, as on GitHub."""

    LIST_START = re.compile(r"\n(?=[ ]{0,3}(?:[-+*]|\d+\.)[ ]+\S)")

    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002 (python-markdown's signature)
        return self.LIST_START.search(block) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        paragraph, the_list = self.LIST_START.split(blocks.pop(0), maxsplit=1)
        self.parser.parseBlocks(parent, [paragraph])
        blocks.insert(0, the_list)


class _HeadingIds(Treeprocessor):
    """Ids as kramdown makes them: `## Use {fn} & x!` twice is `use-fn--x` and `use-fn--x-1`."""

    def run(self, root: Element) -> None:
        seen: Counter[str] = Counter()
        for heading in root.iter():
            if re.fullmatch("h[1-6]", heading.tag) and "id" not in heading.attrib:
                slug = self._slug(heading)
                heading.set("id", f"{slug}-{seen[slug]}" if seen[slug] else slug)
                seen[slug] += 1

    def _slug(self, heading: Element) -> str:
        text = html.unescape(strip_tags(render_inner_html(heading, self.md)))
        return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
