"""A small docs/ with the real theme: one page per hostile string, one per hand-written note, index, dashboard."""

from __future__ import annotations

import json
import shutil
import string
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FIXTURES = Path(__file__).parent / "fixtures"
NOTES = sorted((FIXTURES / "notes").glob("*.md"))
MENU = ("paste", "categories", "releases", "about", "api", "cost")
"""Pages that menu and footer link to, besides those with a fixture of their own."""
THEME = ("_config.yml", "_layouts", "_includes", "assets", "404.html", ".graph-break-site")

HOSTILE = {
    "gb0000": "__init__ and *args, **kwargs, _x_",
    "gb0001": "{{ x }} {% raw %} {% endraw",
    "gb0002": "<script>alert(1)</script> </p></details></ul> <!-- <b>",
    "gb0003": "a|b `c` ``d`` ```e",
    "gb0004": "'single' \"double\" -- --- ... << >> (c)",
    "gb0005": "  leads,  doubles,   trails  ",
    "gb0006": "\ttab\there",
    "gb0007": "lines\n\n\n  - and\n# more\n1. lines",
    "gb0008": "é 日本語 🙂 nbsp\u00a0 zero\u200bwidth",
    "gb0009": "~~x~~ $$y$$ [^1] [l](u) ![i](u) {: .c} {#id} &amp; &#65; \\ \\* https://x.y ^ @",
    "gb0010": "ADDITIONAL INFORMATION END -->",
    "gb0011": "%",
    "gb0012": "torch._dynamo.variables.higher_order_ops.TorchHigherOrderOperatorVariable" * 3,
}


def write_fixture_site(docs: Path) -> None:
    write_theme(docs)
    (docs / "gb").mkdir()
    for anchor, text in HOSTILE.items():
        _write_page(docs, anchor, text, note="Nothing yet, {{ reader }} {% raw %}.")
    for note in NOTES:
        _write_page(docs, f"note-{note.stem}", "A note", note=note.read_bytes().decode())
    items = "\n".join(
        f'<li><a href="gb/{anchor}.html">{anchor.upper()}</a> — {_escape(text)}</li>'
        for anchor, text in HOSTILE.items()
    )
    (docs / "index.md").write_text(_template("index.md").substitute(items=items), encoding="utf-8")
    shutil.copy(FIXTURES / "dashboard.md", docs)
    shutil.copy(FIXTURES / "liquid.html", docs)
    for name in MENU:
        (docs / f"{name}.md").write_text(_template("menu.md").substitute(name=name), encoding="utf-8")


def write_theme(docs: Path) -> None:
    """Copy the hand-owned part of docs/ and none of the generated pages."""
    docs.mkdir()
    for name in THEME:
        source = REPOSITORY / "docs" / name
        if source.is_dir():
            shutil.copytree(source, docs / name)
        else:
            shutil.copy(source, docs)


def _write_page(docs: Path, anchor: str, text: str, note: str) -> None:
    quoted = json.dumps(text, ensure_ascii=False)
    page = _template("generated.md").substitute(
        anchor=anchor, title=quoted, description=quoted, text=_escape(text), note=note
    )
    (docs / "gb" / f"{anchor.upper()}.md").write_bytes(page.encode())


def _template(name: str) -> string.Template:
    return string.Template((FIXTURES / name).read_text(encoding="utf-8"))


def _escape(text: str) -> str:
    """Write what Markdown, HTML or Liquid could take for markup as numeric character references."""
    return "".join(f"&#{ord(char)};" if char in string.punctuation + "\n\t" else char for char in text)
