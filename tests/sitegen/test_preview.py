"""docs/ becomes HTML without Ruby, by Jekyll's rules."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from registry.errors import InvalidInput, WriteFailed
from sitegen.liquid_shim import link_from
from sitegen.preview import render_preview, write_preview
from sitegen.site_folder import MARKER, FolderChanges
from tests.sitegen.fixture_site import write_fixture_site


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """The smallest folder that is the source of a site."""
    folder = tmp_path / "docs"
    write(folder, "_config.yml", "title: A title\n")
    return folder


def write(docs: Path, path: str, text: str) -> None:
    (docs / path).parent.mkdir(parents=True, exist_ok=True)
    (docs / path).write_text(text, encoding="utf-8", newline="")


def render(docs: Path, path: str, text: str, output: str) -> str:
    write(docs, path, text)
    return render_preview(docs)[output].decode().strip()


def problems(docs: Path) -> list[str]:
    """The problems that stop a build, with `docs/` for the folder."""
    with pytest.raises(InvalidInput) as error:
        render_preview(docs)
    return [str(problem).replace(str(docs), "docs") for problem in error.value.problems]


@pytest.mark.parametrize(
    ("path", "permalink", "output"),
    [
        ("index.md", "", "index.html"),
        ("dashboard.md", "", "dashboard.html"),
        ("page.html", "", "page.html"),
        ("gb/GB0042.md", "", "gb/GB0042.html"),
        ("gb/index.md", "", "gb/index.html"),
        ("gb/GB0042.md", "permalink: /gb/gb0042.html", "gb/gb0042.html"),
        ("a.md", "permalink: /about/", "about/index.html"),
        ("a.md", "permalink: /about", "about.html"),
        ("feed.xml", "", "feed.xml"),
        ("a.b.md", "", "a.b.html"),
    ],
)
def test_a_page_is_published_where_jekyll_would(docs: Path, path: str, permalink: str, output: str) -> None:
    write(docs, path, f"---\n{permalink}\n---\ntext")
    assert list(render_preview(docs)) == [output]


def test_files_without_front_matter_are_copied(docs: Path) -> None:
    (docs / "image.bin").write_bytes(b"\x00\xff---")
    write(docs, "README.md", "# {{ not rendered }}")
    write(docs, "rule.txt", "---not front matter\n")
    assert render_preview(docs) == {
        "image.bin": b"\x00\xff---",
        "README.md": b"# {{ not rendered }}",
        "rule.txt": b"---not front matter\n",
    }


@pytest.mark.parametrize(
    "path", ["_drafts/x.md", ".git/config", ".hidden", "a/_b/c.html", "x.md~", "#x#", "Gemfile", "node_modules/a.js"]
)
def test_names_that_jekyll_leaves_out_are_left_out(docs: Path, path: str) -> None:
    write(docs, path, "text")
    assert render_preview(docs) == {}


def test_the_settings_exclude_and_include_files(docs: Path) -> None:
    write(docs, "_config.yml", "exclude: [notes/, '*.log']\ninclude: [.keep]\n")
    for path in ("notes/a.txt", "x.log", ".keep", "kept.txt"):
        write(docs, path, "text")
    assert sorted(render_preview(docs)) == [".keep", "kept.txt"]


def test_liquid_in_a_page_is_rendered(docs: Path) -> None:
    text = "---\nname: World\n---\nHello *{{ page.name }}* of {{ site.title }} at {{ page.url }}, {{ page.path }}"
    assert render(docs, "a.md", text, "a.html") == "<p>Hello <em>World</em> of A title at /a.html, a.md</p>"


def test_a_page_can_list_the_pages_of_the_site(docs: Path) -> None:
    write(docs, "b.html", "---\ntitle: B\n---\n")
    write(docs, "sub/c.md", "---\npermalink: /c.html\n---\n")
    write(docs, "d.txt", "no page")
    each = "{{ one.url }} {{ one.name }} {{ one.path }} {{ one.title }};"
    text = f"---\n---\n{{% assign pages = site.pages | sort: 'url' %}}{{% for one in pages %}}{each}{{% endfor %}}"
    assert render(docs, "a.txt", text, "a.txt") == "/a.txt a.txt a.txt ;/b.html b.html b.html B;/c.html c.md sub/c.md ;"


@pytest.mark.parametrize("liquid", ["{{ page.name }}", "{% raw %}", "{% nonsense", "{{ x | nonsense }}"])
def test_liquid_stays_text_where_the_page_says_so(docs: Path, liquid: str) -> None:
    text = f"---\nname: World\nrender_with_liquid: false\n---\nHello {liquid}"
    assert render(docs, "a.md", text, "a.html") == f"<p>Hello {liquid}</p>"


def test_html_pages_are_not_markdown(docs: Path) -> None:
    assert render(docs, "a.html", "---\n---\n*a* {{ 'b' | upcase }}", "a.html") == "*a* B"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_front_matter_ends_at_its_own_line(docs: Path, newline: str) -> None:
    text = newline.join(["---", "title: a --- b", "---", "text", "", "---", "", "more"])
    assert render(docs, "a.md", text, "a.html") == "<p>text</p>\n<hr>\n<p>more</p>"


def test_a_byte_order_mark_does_not_hide_front_matter(docs: Path) -> None:
    assert render(docs, "a.md", "\ufeff---\n---\ntext", "a.html") == "<p>text</p>"


def test_control_characters_do_not_reach_into_the_parser(docs: Path) -> None:
    text = "---\n---\n<p>once</p>\n\n\x02wzxhzdk:0\x03"
    assert render(docs, "a.md", text, "a.html").count("once") == 1


def test_layouts_nest(docs: Path) -> None:
    write(docs, "_layouts/outer.html", "<html>{{ content }}</html>")
    write(docs, "_layouts/inner.html", "---\nlayout: outer\n---\n<main>{{ content }}</main>")
    html = render(docs, "a.html", "---\nlayout: inner\n---\n{{ page.layout }}", "a.html")
    assert html == "<html><main>inner</main></html>"


def test_includes_take_parameters(docs: Path) -> None:
    write(docs, "_includes/parts/b.html", "{{ include.text }}/{{ include.other }}/{{ include.missing }}")
    front_matter = """---\nname: "<World> & 'more'"\n---\n"""
    body = """{% include parts/b.html text="a 'b'" other=page.name %}{{ include.text }}"""
    assert render(docs, "a.html", front_matter + body, "a.html") == "a 'b'/<World> & 'more'/"


@pytest.mark.parametrize(
    ("page", "target", "link"),
    [
        ("/index.html", "/assets/css/style.css", "assets/css/style.css"),
        ("/", "/", "index.html"),
        ("/gb/gb0042.html", "/assets/css/style.css", "../assets/css/style.css"),
        ("/gb/gb0042.html", "/", "../index.html"),
        ("/gb/gb0042.html", "gb/gb0043.html", "gb0043.html"),
        ("/gb/gb0042.html", "/dashboard.html?a=b#sources", "../dashboard.html?a=b#sources"),
        ("/a/", "/a/", "index.html"),
        ("/a/b/c.html", "/", "../../index.html"),
        ("/a.html", "https://pytorch.org/x", "https://pytorch.org/x"),
        ("/a.html", "//pytorch.org/x", "//pytorch.org/x"),
        ("/404.html", "/", "/"),
        ("/404.html", "/assets/css/style.css", "/assets/css/style.css"),
    ],
)
def test_links_are_relative_to_the_page(page: str, target: str, link: str) -> None:
    assert link_from(page, target) == link


def test_every_link_of_a_generated_page_leads_to_a_file(tmp_path: Path) -> None:
    """So that the pages can be opened straight from disk."""
    write_fixture_site(tmp_path / "docs")
    site = render_preview(tmp_path / "docs")
    followed = 0
    for path in site:
        if path.startswith("gb/"):
            for tag in BeautifulSoup(site[path], "html5lib")(["a", "link", "img"]):
                target = urlsplit(urljoin(f"file:///{path}", str(tag.get("href") or tag.get("src"))))
                if target.scheme == "file":
                    assert unquote(target.path).removeprefix("/") in site, f"{path} -> {target.path}"
                    followed += 1
    assert followed > 100


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("a.md", "---\nlayout: none such\n---\n", "docs/a.md: layout 'none such' is not in _layouts"),
        ("_layouts/loop.html", "---\nlayout: loop\n---\n", "docs/_layouts/loop.html: layout 'loop' is inside itself"),
        ("a.md", "---\na: 1\nb: [\n---\n", "docs/a.md:4: not valid YAML: "),
        ("a.md", "---\n- a\n---\n", "docs/a.md:2: expected `name: value` lines"),
        ("a.md", "---\n---\n\n{{ 'a' | nonsense }}", "docs/a.md:4: Liquid: unknown filter 'nonsense'"),
        ("a.md", "---\n---\n\n{% nonsense %}", "docs/a.md:4: Liquid: unexpected tag 'nonsense'"),
        ("a.md", "---\n---\n{% include none.html %}", "docs/a.md:3: Liquid: none.html is not in _includes"),
        ("_includes/b.html", "\n{% include none.html %}", "docs/_includes/b.html:2: Liquid: none.html is not in"),
        ("a.md", "---\n---\n{% include 'quoted.html' %}", "docs/a.md:3: Liquid: expected {% include file.html"),
        ("_includes/b.html", "\n\n{{ 'a' | nonsense }}", "docs/_includes/b.html:3: Liquid: unknown filter 'nonsense'"),
        ("_includes/b.html", "\n{% if %}", "docs/_includes/b.html:2: Liquid: "),
        ("a.md", "---\npermalink: /../a.html\n---\n", "docs/a.md: permalink '/../a.html' has to "),
        ("a.md", "---\npermalink: a.html\n---\n", "docs/a.md: permalink 'a.html' has to start with /"),
        ("a.md", "---\npermalink: /b.html\n---\n", "docs/b.md: is published as b.html, and so is docs/a.md"),
        ("_config.yml", "a: [\n", "docs/_config.yml:2: not valid YAML: "),
    ],
)
def test_a_mistake_is_named_by_file_and_line(docs: Path, path: str, text: str, problem: str) -> None:
    write(docs, "b.md", "---\nlayout: loop\n---\n{% include b.html %}")
    write(docs, "_layouts/loop.html", "{{ content }}")
    write(docs, "_includes/b.html", "text")
    write(docs, path, text)
    found = problems(docs)
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_all_mistakes_are_named_at_once(docs: Path) -> None:
    (docs / "a.md").write_bytes(b"---\n---\n\nlatin \xe9")
    write(docs, "b.md", "---\n: [\n---\n")
    (docs / "_includes").mkdir()
    (docs / "_includes" / "c.html").write_bytes(b"\xff")
    found = problems(docs)
    assert [problem.split(":")[0] for problem in found] == ["docs/a.md", "docs/b.md", "docs/_includes/c.html"]
    assert found[0] == "docs/a.md:4: not UTF-8; save the file in that encoding"


def test_mistakes_in_several_pages_are_named_at_once(docs: Path) -> None:
    for name in "ab":
        write(docs, f"{name}.md", "---\nlayout: gone\n---\n")
    assert len(problems(docs)) == 2


def test_a_folder_without_settings_is_no_site(tmp_path: Path) -> None:
    assert problems(tmp_path)[0].endswith("_config.yml: not found; it is what makes a folder the source of a site")


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    write_fixture_site(tmp_path / "docs")
    assert render_preview(tmp_path / "docs") == render_preview(tmp_path / "docs")


def test_only_what_changed_is_written(docs: Path, tmp_path: Path) -> None:
    site = tmp_path / "_site"
    for name in ("a.txt", "b.txt", "gone/c.txt"):
        write(docs, name, name)
    assert write_preview(docs, site) == FolderChanges(written=4, deleted=0)  # the marker too
    untouched = (site / "a.txt").stat().st_mtime_ns

    write(docs, "b.txt", "changed")
    (docs / "gone" / "c.txt").unlink()
    (site / "left-over").mkdir()
    (site / "left-over" / "d.txt").touch()
    assert write_preview(docs, site) == FolderChanges(written=1, deleted=2)
    assert sorted(path.name for path in site.rglob("*")) == [MARKER, "a.txt", "b.txt"]
    assert (site / "b.txt").read_text() == "changed"
    assert (site / "a.txt").stat().st_mtime_ns == untouched
    assert write_preview(docs, site) == FolderChanges(written=0, deleted=0)


def test_a_folder_and_a_file_may_change_places(docs: Path, tmp_path: Path) -> None:
    write(docs, "a/b", "1")
    write_preview(docs, tmp_path / "_site")
    (docs / "a" / "b").unlink()
    (docs / "a").rmdir()
    write(docs, "a", "2")
    write_preview(docs, tmp_path / "_site")
    assert (tmp_path / "_site" / "a").read_text() == "2"


def test_somebody_elses_folder_is_not_touched(docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(other, "precious.txt", "text")
    with pytest.raises(InvalidInput, match="not empty and not a built site"):
        write_preview(docs, other)
    assert [path.name for path in other.iterdir()] == ["precious.txt"]


def test_a_file_in_the_place_of_the_folder_is_not_touched(docs: Path, tmp_path: Path) -> None:
    write(tmp_path, "file", "text")
    with pytest.raises(InvalidInput, match="file"):
        write_preview(docs, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "text"


def test_an_empty_folder_is_used(docs: Path, tmp_path: Path) -> None:
    write(docs, "a.txt", "text")
    (tmp_path / "_site").mkdir()
    assert write_preview(docs, tmp_path / "_site").written == 2


def test_links_are_removed_and_what_they_point_to_is_kept(docs: Path, tmp_path: Path) -> None:
    write(docs, "a.txt", "text")
    write(tmp_path, "outside/a.txt", "text")
    site = tmp_path / "_site"
    write_preview(docs, site)
    (site / "folder").symlink_to(tmp_path / "outside")
    (site / "a.txt").unlink()
    (site / "a.txt").symlink_to(tmp_path / "outside" / "a.txt")
    write_preview(docs, site)
    assert sorted(path.name for path in site.iterdir()) == [MARKER, "a.txt"]
    assert not (site / "a.txt").is_symlink()
    assert (tmp_path / "outside" / "a.txt").read_text() == "text"


def test_a_disk_that_refuses_is_one_clear_line(docs: Path, tmp_path: Path) -> None:
    write(docs, "a.txt", "text")
    write(tmp_path, "file", "")
    with pytest.raises(WriteFailed, match="Not a directory"):
        write_preview(docs, tmp_path / "file" / "_site")
