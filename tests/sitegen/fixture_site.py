"""A small docs/: the real theme around pages that are generated for hostile strings and for hand-written notes."""

from __future__ import annotations

import shutil
from pathlib import Path

from registry.merge import merge_registry
from registry.model import Note, Registry
from sitegen.render import render_site
from tests.samples import knowledge, release, revision

REPOSITORY = Path(__file__).parents[2]
FIXTURES = Path(__file__).parent / "fixtures"
NOTES = sorted((FIXTURES / "notes").glob("*.md"))
THEME = ("_config.yml", "_layouts", "_includes", "_plugins", "assets", "404.html", ".graph-break-site")

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


NOTE_PAGES = {note.stem: f"gb/gb{100 + number:04}.html" for number, note in enumerate(NOTES)}
"""Name of a note -> the page that has it."""


def fixture_registry() -> Registry:
    """An id for each hostile string, in all fields of two wordings, and one for each note."""
    older = {anchor.upper(): [revision(f"old {text}", text, text, (text, text))] for anchor, text in HOSTILE.items()}
    newest = {
        gb_id: [revision(text, text, text, (text, text)), *older[gb_id]]
        for gb_id, text in zip(older, HOSTILE.values(), strict=True)
    }
    notes = {f"GB{100 + number:04}": note.read_bytes().decode() for number, note in enumerate(NOTES)}
    newest |= {gb_id: [revision("A note")] for gb_id in notes}
    known = knowledge(newest, releases=[release("2.8.0", older), release("2.9.0", newest)])
    written = {gb_id: Note(text=f"\n{text}\n", written_for="A note") for gb_id, text in notes.items()}
    liquid = "\nNothing yet, {{ reader }} {% raw %}.\n"
    written |= {gb_id: Note(text=liquid, written_for=newest[gb_id][0].gb_type) for gb_id in older}
    return merge_registry(known, written)


def write_fixture_site(docs: Path) -> None:
    write_docs(fixture_registry(), docs)
    shutil.copy(FIXTURES / "liquid.html", docs)


def write_docs(registry: Registry, docs: Path) -> None:
    """What is written by hand in docs/, around pages that are rendered afresh."""
    generated = {"index.md", "dashboard.md", "categories", "categories.md", "releases.md", "gb", "_data"}

    def left_out(folder: str, names: list[str]) -> set[str]:
        mine = generated if Path(folder) == REPOSITORY / "docs" else set()
        return {name for name in names if name in mine or name.startswith("GB")}

    shutil.copytree(REPOSITORY / "docs", docs, ignore=left_out)
    for name, text in render_site(registry, REPOSITORY / "templates").items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_bytes(text.encode("utf-8"))


def write_theme(docs: Path) -> None:
    """Copy the hand-owned part of docs/ and none of the generated pages."""
    docs.mkdir()
    for name in THEME:
        source = REPOSITORY / "docs" / name
        if source.is_dir():
            shutil.copytree(source, docs / name)
        else:
            shutil.copy(source, docs)
