"""What Jekyll reads in docs/: its settings, pages with front matter, layouts, includes, files to copy.

The plain text of each id's page is one of these: docs/_plugins/plain_text.rb makes it for Jekyll.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import yaml

from registry.errors import InvalidInput, Problem
from registry.ids import SITE

_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mkdown", ".mkdn", ".mkd"})
_ALWAYS_EXCLUDED = (
    "Gemfile",
    "Gemfile.lock",
    "gemfiles",
    "node_modules",
    "vendor/bundle",
    "vendor/cache",
    "vendor/ruby",
)
_HAS_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_FRONT_MATTER = re.compile(r"\A---\s*\n(?P<settings>.*?)^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may lack its C part: the same, slower


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file with front matter: a page, or a layout."""

    path: str  # under docs/, with forward slashes
    settings: Mapping[str, Any]
    body: str
    first_line: int  # of the body, in the file
    url: str  # `/gb/gb0042.html`; `/` for index.md

    @property
    def is_markdown(self) -> bool:
        return _is_markdown(self.path)

    @property
    def variables(self) -> Mapping[str, Any]:
        """What Liquid knows of it, as `page` in the page itself and in the list `site.pages`."""
        return {**self.settings, "name": self.name, "path": self.path, "url": self.url}

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def output(self) -> str:
        """The file under _site/ that holds the page."""
        path = self.url.lstrip("/")
        if not path or path.endswith("/"):
            return f"{path}index.html"
        return path if PurePosixPath(path).suffix else f"{path}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class JekyllSource:
    """Everything that a build of the site needs; nothing is read from disk after this."""

    site: Mapping[str, Any]
    pages: Sequence[Page]
    layouts: Mapping[str, Page]
    includes: Mapping[str, str]
    static_files: Mapping[str, bytes]


def read_source(docs: Path) -> JekyllSource:
    """Read docs/ as Jekyll would; raise InvalidInput that names every file it cannot use."""
    site = _read_config(docs)
    problems: list[Problem] = []
    files = {path: (docs / path).read_bytes() for path in _published_paths(docs, site)}
    with_front_matter = {path: content for path, content in files.items() if _HAS_FRONT_MATTER.match(content)}
    pages = _parse_pages(docs, with_front_matter, problems)
    texts = {f"api/v1/gb/{page.name}": page.body.lstrip("\n").encode() for page in pages if "gb" in page.settings}
    layouts = _parse_pages(docs, _read_folder(docs, "_layouts"), problems)
    source = JekyllSource(
        site={**site, "data": _read_data(docs), "pages": [page.variables for page in pages]},
        pages=pages,
        layouts={PurePosixPath(layout.path).stem: layout for layout in layouts},
        includes=_read_includes(docs, problems),
        static_files={**texts, **{path: files[path] for path in files if path not in with_front_matter}},
    )
    problems += _conflicts(docs, source)
    if problems:
        raise InvalidInput(problems)
    return source


@contextmanager
def collected(problems: list[Problem]) -> Iterator[None]:
    """Go on after invalid input and remember it, so that a person sees everything that is wrong at once."""
    try:
        yield
    except InvalidInput as error:
        problems += error.problems


def _read_config(docs: Path) -> Mapping[str, Any]:
    config = docs / "_config.yml"
    if not config.is_file():
        raise InvalidInput([Problem(str(config), "not found; it is what makes a folder the source of a site")])
    settings = _parse_settings(str(config), _decode(str(config), config.read_bytes()))
    if "GRAPHBREAK_SITE" not in os.environ:
        return settings
    scheme, host, path, *_ = urlsplit(SITE)
    return {**settings, "url": f"{scheme}://{host}", "baseurl": path}


def _published_paths(docs: Path, site: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that end up in the site, by Jekyll's rules for names."""
    excluded = (*_ALWAYS_EXCLUDED, *(site.get("exclude") or ()))
    included = tuple(site.get("include") or ())
    for folder, folders, names in os.walk(docs):
        below = Path(folder).relative_to(docs).as_posix()
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if _is_published(prefix + name, excluded, included))
        yield from (prefix + name for name in sorted(names) if _is_published(prefix + name, excluded, included))


def _is_published(path: str, excluded: Iterable[str], included: Iterable[str]) -> bool:
    name = path.rpartition("/")[2]
    if path in included:
        return True
    if name.startswith((".", "_", "#")) or name.endswith("~"):
        return False
    return not any(fnmatch.fnmatchcase(path, pattern.strip("/")) for pattern in excluded)


def _read_folder(docs: Path, name: str) -> dict[str, bytes]:
    files = sorted(path for path in (docs / name).rglob("*") if path.is_file())
    return {path.relative_to(docs).as_posix(): path.read_bytes() for path in files}


def _read_data(docs: Path) -> dict[str, Any]:
    """Jekyll reads more kinds of files than these."""
    files = _read_folder(docs, "_data").items()
    return {PurePosixPath(path).stem: json.loads(content) for path, content in files if path.endswith(".json")}


def _parse_pages(docs: Path, files: Mapping[str, bytes], problems: list[Problem]) -> list[Page]:
    pages: list[Page] = []
    for path, content in files.items():
        with collected(problems):
            pages.append(_parse_page(docs, path, content))
    return pages


def _parse_page(docs: Path, path: str, content: bytes) -> Page:
    where = str(docs / path)
    text = _decode(where, content)
    front_matter = _FRONT_MATTER.match(text)
    settings = _parse_settings(where, front_matter["settings"], first_line=2) if front_matter else {}
    url = str(settings.get("permalink") or _url(path))
    if not url.startswith("/") or ".." in url.split("/"):
        raise InvalidInput([Problem(where, f"permalink {url!r} has to start with / and stay inside the site")])
    start = front_matter.end() if front_matter else 0
    return Page(path=path, settings=settings, body=text[start:], first_line=text.count("\n", 0, start) + 1, url=url)


def _read_includes(docs: Path, problems: list[Problem]) -> dict[str, str]:
    includes: dict[str, str] = {}
    for path, content in _read_folder(docs, "_includes").items():
        with collected(problems):
            includes[path.removeprefix("_includes/")] = _decode(str(docs / path), content)
    return includes


def _decode(where: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput([Problem(f"{where}:{line}", "not UTF-8; save the file in that encoding")]) from error


def _parse_settings(where: str, text: str, first_line: int = 1) -> Mapping[str, Any]:
    try:
        settings = yaml.load(text, Loader=_YAML_LOADER)
    except yaml.MarkedYAMLError as error:
        line = first_line + (error.problem_mark.line if error.problem_mark else 0)
        raise InvalidInput([Problem(f"{where}:{line}", f"not valid YAML: {error.problem}")]) from error
    if settings is not None and not isinstance(settings, dict):
        raise InvalidInput([Problem(f"{where}:{first_line}", "expected `name: value` lines")])
    return settings or {}


def _url(path: str) -> str:
    """Return where Jekyll publishes a page that has no permalink."""
    stem, _, suffix = path.rpartition(".")
    published = f"/{stem}.html" if _is_markdown(path) else f"/{stem}.{suffix}"
    return published.removesuffix("index.html") if published.endswith("/index.html") else published


def _is_markdown(path: str) -> bool:
    return PurePosixPath(path).suffix in _MARKDOWN_SUFFIXES


def _conflicts(docs: Path, source: JekyllSource) -> Iterator[Problem]:
    """Two files for one address: Jekyll would publish either."""
    taken = {path: path for path in source.static_files}
    for page in source.pages:
        if page.output in taken:
            yield Problem(
                str(docs / page.path), f"is published as {page.output}, and so is {docs / taken[page.output]}"
            )
        taken[page.output] = page.path
