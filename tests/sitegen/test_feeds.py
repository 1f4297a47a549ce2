"""Files with whole addresses, as both builds publish them: the feed, the sitemap, llms.txt, opensearch, robots."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup

from registry.merge import merge_registry
from registry.model import Registry
from registry.notes import body_of
from sitegen.feeds import entries_of, render_feed
from sitegen.preview import render_preview
from sitegen.render import render_site
from sitegen.templating import template_environment
from tests.checkout import files, write_files
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision
from tests.sitegen.api_registry import hostile_id, small_registry
from tests.sitegen.fixture_site import write_theme
from tests.tools import build_with_jekyll, require_tool

FEEDS = ("feed.xml", "llms.txt", "opensearch.xml", "robots.txt", "sitemap.xml")
HAND_WRITTEN = ("api.md", "opensearch.xml", "robots.txt", "sitemap.xml")
ATOM = "{http://www.w3.org/2005/Atom}"
XHTML = "{http://www.w3.org/1999/xhtml}"
ORIGIN = "https://meta-pytorch.github.io"


def write_docs(docs: Path, registry: Registry, base: str = "") -> Path:
    """docs/ of a registry, the site's own base in its settings."""
    write_theme(docs)
    for name in HAND_WRITTEN:
        shutil.copy(ROOT / "docs" / name, docs)
    shutil.copytree(ROOT / "docs" / "api" / "v1" / "schema", docs / "api" / "v1" / "schema")
    write_files(docs, render_site(registry, ROOT / "templates"))
    config = docs / "_config.yml"
    config.write_text(re.sub(r"(?m)^baseurl:.*", f'baseurl: "{base}"', config.read_text("utf-8")), "utf-8")
    layout = docs / "_layouts" / "default.html"
    head, end, rest = layout.read_text("utf-8").partition("</head>")
    if "head_links.html" not in head:
        head += "{% include head_links.html %}"
    layout.write_text(head + end + rest, "utf-8")
    return docs


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The small registry, built without Ruby below /x."""
    return render_preview(write_docs(tmp_path_factory.mktemp("feeds") / "docs", small_registry(), "/x"))


@pytest.fixture(scope="module")
def feed(site: dict[str, bytes]) -> ElementTree.Element:
    return ElementTree.fromstring(site["feed.xml"])


def text_of(element: ElementTree.Element, name: str) -> str:
    found = element.findall(f"{ATOM}{name}")
    assert len(found) == 1, f"{len(found)} × {name}"
    return "".join(found[0].itertext())


# Both builds


@pytest.mark.jekyll
@pytest.mark.parametrize("base", ["", "/x"])
def test_both_builds_give_the_same_bytes(tmp_path: Path, base: str) -> None:
    docs = write_docs(tmp_path / "docs", small_registry(), base)
    build_with_jekyll(docs, tmp_path / "_site")
    with_ruby, without = files(tmp_path / "_site"), render_preview(docs)
    machine = [path for path in without if not path.endswith((".html", ".css", ".js", ".svg"))]
    assert {*FEEDS, "api/v1/registry.json", "api/v1/gb/GB0001.json", "api/v1/gb/GB1001.md"} <= {*machine}
    assert sorted(with_ruby) == sorted(without)
    assert [path for path in machine if with_ruby[path] != without[path]] == []
    page = (docs / "gb" / "GB1001.md").read_bytes().decode()
    assert without["api/v1/gb/GB1001.md"].decode() == body_of(page)


@pytest.mark.jekyll
def test_the_build_for_pages_takes_host_and_path_from_github(tmp_path: Path) -> None:
    """The step of the workflow itself, with Bundler out of the way."""
    write_docs(tmp_path / "docs", merge_registry(knowledge({"GB0001": [revision("t")]})))
    require_tool("jekyll")
    bundle = tmp_path / "bundle"
    bundle.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    bundle.chmod(0o755)
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_bytes())["jobs"]
    [step] = [step for step in jobs["build"]["steps"] if "jekyll build" in step.get("run", "")]
    assert step["env"]["ORIGIN"] == "${{ steps.pages.outputs.origin }}"
    assert step["env"]["BASE_PATH"] == "${{ steps.pages.outputs.base_path }}"
    told = {"ORIGIN": "https://example.invalid", "BASE_PATH": "/y", "RUNNER_TEMP": str(tmp_path), "LC_ALL": "C.UTF-8"}
    environment = {**os.environ, **told, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-e"], input=step["run"], text=True, cwd=tmp_path, env=environment, check=True)
    built = files(tmp_path / "_site")
    for name in FEEDS:
        assert b"https://example.invalid/y/" in built[name], name
        assert ORIGIN.encode() not in built[name], name


def test_every_address_in_them_begins_with_the_base_and_leads_to_a_file(site: dict[str, bytes]) -> None:
    for name in FEEDS:
        found = re.findall(rf"{ORIGIN}([^\s<>\"()]*)", site[name].decode())
        assert found
        for address in found:
            path = address.partition("&#63;")[0].partition("?")[0].rstrip(".,")
            assert path.startswith("/x/"), f"{name}: {address}"
            target = path.removeprefix("/x/") or "index.html"
            # llms.txt explains with the one id that everybody meets, which this registry lacks.
            assert target in site or "0170" in target, f"{name}: {address}"


def test_nothing_of_liquid_is_left(site: dict[str, bytes]) -> None:
    for name in set(FEEDS) - {"llms.txt"}:  # hostile titles there hold some
        assert b"{{" not in site[name]
        assert b"{%" not in site[name]


@pytest.mark.parametrize("page", ["index.html", "gb/gb0001.html", "api.html", "404.html"])
def test_the_head_of_a_page_names_the_feed_the_search_and_the_pages_own_address(
    site: dict[str, bytes], page: str
) -> None:
    links = {str(link["rel"][0]): link for link in BeautifulSoup(site[page], "html5lib")("link")}
    for rel, name in (("alternate", "feed.xml"), ("search", "opensearch.xml")):
        assert urljoin(f"https://site.invalid/{page}", str(links[rel]["href"])) == f"https://site.invalid/{name}"
    if page == "404.html":
        assert "canonical" not in links, "it is shown at any address"
    else:
        assert links["canonical"]["href"] == f"{ORIGIN}/x/{page.removesuffix('index.html')}"


# The feed


def test_the_feed_has_what_atom_requires(feed: ElementTree.Element) -> None:
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    for element in (feed, *entries):
        assert text_of(element, "id").startswith("tag:meta-pytorch.github.io,2025:compile-graph-break-site")
        assert text_of(element, "title")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", text_of(element, "updated"))
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {"self": f"{ORIGIN}/x/feed.xml", "alternate": f"{ORIGIN}/x/"}
    ids = [text_of(entry, "id") for entry in entries]
    assert len(set(ids)) == len(ids)
    days = [text_of(entry, "updated") for entry in entries]
    assert days == sorted(days, reverse=True)
    assert text_of(feed, "updated") == days[0]
    for entry in entries:
        content = entry.find(f"{ATOM}content")
        assert content is not None
        assert content.get("type") == "xhtml"
        assert [child.tag for child in content] == [f"{XHTML}div"]


def test_the_feed_tells_one_thing_per_release_and_kind_of_change(feed: ElementTree.Element) -> None:
    hostile = len(HOSTILE)
    assert [(text_of(entry, "title"), text_of(entry, "updated")[:10]) for entry in feed.findall(f"{ATOM}entry")] == [
        ("In PyTorch, but in no torch release yet: 1 graph break", "2026-01-02"),
        (f"New in torch 2.9.0: {1 + hostile} graph breaks", "2025-10-01"),
        ("Reworded in torch 2.9.0: 1 graph break", "2025-10-01"),
        ("No longer emitted by torch 2.9.0: 1 graph break", "2025-10-01"),
        ("New in torch 2.8.0: 2 graph breaks", "2025-08-01"),
    ]
    [retired] = [entry for entry in feed.findall(f"{ATOM}entry") if text_of(entry, "id").endswith("2.9.0/retired")]
    [item] = retired.iter(f"{XHTML}a")
    assert (item.text, item.get("href")) == ("GB0003", f"{ORIGIN}/x/gb/gb0003.html")
    link = retired.find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == f"{ORIGIN}/x/index.html?torch=2.9.0&retired=2.9.0"


def test_a_changed_meaning_is_news_of_its_own() -> None:
    first = release("2.8.0", {"GB0001": [revision("one")], "GB0002": [revision("two")]})
    swapped = release("2.9.0", {"GB0001": [revision("two")], "GB0002": [revision("one")]})
    registry = merge_registry(knowledge({"GB0001": [revision("two")]}, releases=[first, swapped]))
    titles = [entry.title for entry in entries_of(registry)]
    assert titles[0] == "New meaning since torch 2.9.0: 2 graph breaks"


def test_what_is_in_no_release_is_news_again_only_when_the_ids_change() -> None:
    def unreleased(*gb_ids: str, retrieved: str) -> str:
        registry = merge_registry(knowledge({gb_id: [revision(gb_id)] for gb_id in gb_ids}))
        [entry] = entries_of(replace(registry, origin=replace(registry.origin, retrieved=retrieved)))
        assert entry.day == retrieved
        return entry.id

    first = unreleased("GB0001", retrieved="2026-01-01")
    assert unreleased("GB0001", retrieved="2026-02-02") == first
    assert unreleased("GB0001", "GB0002", retrieved="2026-01-01") != first


def test_hostile_titles_come_through_the_feed_unchanged(feed: ElementTree.Element) -> None:
    shown = {item[0].text: item[0].tail for item in feed.iter(f"{XHTML}li")}
    for number, text in enumerate(HOSTILE):
        assert shown[hostile_id(number)] == f": {text}"


def test_a_character_that_xml_cannot_hold_does_not_spoil_the_feed() -> None:
    registry = merge_registry(knowledge({"GB0001": [revision("a\uffffb\x0cc")]}))
    text = render_feed(registry, template_environment(ROOT / "templates"))["feed.xml"].partition("---\n")[2]
    parsed = ElementTree.fromstring(text.partition("---\n")[2])
    [item] = parsed.iter(f"{XHTML}li")
    assert item[0].tail == ": a\ufffdb\ufffdc"


def test_the_feed_of_the_committed_registry_names_every_release_and_is_bounded() -> None:
    registry = committed_registry()
    entries = entries_of(registry)
    assert len(entries) <= 200
    new = [gb.gb_id for entry in entries if entry.id.endswith("/new") for gb in entry.breaks]
    assert sorted(new) == sorted(gb.gb_id for gb in registry if any(seen.registered for seen in gb.history.releases))


# The others


def test_the_sitemap_lists_exactly_the_pages(site: dict[str, bytes]) -> None:
    root = ElementTree.fromstring(site["sitemap.xml"])
    listed = [location.text or "" for location in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    pages = {path for path in site if path.endswith(".html")} - {"404.html"}
    assert sorted(listed) == sorted(f"{ORIGIN}/x/{path.removesuffix('index.html')}" for path in pages)
    assert len(pages) > len(HOSTILE)


def test_llms_txt_keeps_to_its_convention_and_names_every_id_once(site: dict[str, bytes]) -> None:
    text = site["llms.txt"].decode()
    title, blank, summary, *_ = text.split("\n")
    assert title == "# Graph Break Registry"
    assert blank == ""
    assert summary.startswith("> ")
    items = re.findall(r"^- \[(GBL?[\w-]+)\]\((.+?)\): (.*)$", text, re.MULTILINE)
    assert {gb_id: address for gb_id, address, _ in items} == {
        gb.gb_id: f"{ORIGIN}/x/api/v1/gb/{gb.gb_id}.md" for gb in small_registry()
    }
    assert len(items) == len(small_registry())
    titles = {gb_id: shown for gb_id, _, shown in items}
    for number, hostile in enumerate(HOSTILE):
        assert titles[hostile_id(number)] == " ".join(hostile.split())
    optional = text.partition("\n## Optional\n")[2]
    assert "[GB0003]" in optional
    assert "[GB0004]" in optional
    assert "[GB0001]" not in optional


def test_a_browser_can_add_the_site_as_a_search_engine(site: dict[str, bytes]) -> None:
    namespace = "{http://a9.com/-/spec/opensearch/1.1/}"
    root = ElementTree.fromstring(site["opensearch.xml"])
    name = root.findtext(f"{namespace}ShortName") or ""
    assert 0 < len(name) <= 16
    addresses = {one.get("type"): one.get("template") for one in root.iter(f"{namespace}Url")}
    assert addresses["text/html"] == f"{ORIGIN}/x/index.html?q={{searchTerms}}"


def test_robots_are_shown_the_sitemap(site: dict[str, bytes]) -> None:
    assert f"Sitemap: {ORIGIN}/x/sitemap.xml\n" in site["robots.txt"].decode()
