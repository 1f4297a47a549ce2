"""Where the files for programs are. Each has one spelling: some disks ignore case."""

from __future__ import annotations

from registry.ids import PRINTED
from registry.model import GraphBreak, Repro
from sitegen.links import page_link, page_permalink

API = "api/v1"

BASE = "{{ site.url }}{{ site.baseurl }}"
"""The address of the site in a file that Jekyll fills in: only the build knows it."""


def json_file(gb: GraphBreak) -> str:
    """Everything about one id."""
    return f"{API}/gb/{gb.gb_id}.json"


def text_file(gb: GraphBreak) -> str:
    """The body of the page: the builds write it, it is not in docs/."""
    return f"{API}/gb/{gb.gb_id}.md"


def script_file(repro: Repro) -> str:
    """A program that runs by itself; `.txt`, so that every browser shows it."""
    return f"{API}/gb/{repro.name}.py.txt"


def printed_link(gb: GraphBreak) -> str | None:
    """The address that torch prints; none for what has an id only here."""
    return None if gb.local else PRINTED + page_permalink(gb)


def links_from(folder: str, gb: GraphBreak) -> dict[str, str | None]:
    """The files of one id, as seen from a file in `folder`: they hold wherever the site lies, on a disk too."""
    files: dict[str, str | None] = {"page": page_link(gb), "json": json_file(gb), "text": text_file(gb)}
    files["script"] = script_file(gb.repro) if gb.repro else None
    return {name: _from(folder, path) if path else None for name, path in files.items()}


def _from(folder: str, path: str) -> str:
    if path.startswith(f"{folder}/"):
        return path.removeprefix(f"{folder}/")
    return "../" * (folder.count("/") + 1) + path
