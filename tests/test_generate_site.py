"""The front door: its modes, what it prints, what it writes and what it leaves alone."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import generate_site
import sitegen.generation
import sitegen.render
import sitegen.stamp
from registry.model import Registry
from registry.snapshot import read_snapshot
from registry.sources import SOURCES, pull
from sitegen.stamp import Keep
from tests.checkout import (
    ROOT,
    Registered,
    files,
    generate_here,
    identities,
    in_block,
    make_bare_checkout,
    make_checkout,
    make_wordings,
    page_of,
    registry_json,
    reworded,
    run_generate,
    unchanged,
    upstream_sending,
    without,
    write_note,
)
from tests.loopback import Exchange, serve

WORDINGS = make_wordings()
SUMMARY = re.compile(
    r"(?P<ids>\d+) ids: (?P<new>\d+) new, (?P<reworded>\d+) reworded, (?P<retired>\d+) retired upstream since the "
    r"snapshot; (?P<notes>\d+) notes? kept; (?P<files>\d+) files? (would be )?written; \d+\.\d\d s"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def summary(stdout: str) -> dict[str, int]:
    found = SUMMARY.fullmatch(stdout.splitlines()[-1])
    assert found, stdout
    return {name: int(number) for name, number in found.groupdict().items() if number.isdigit()}


def upstream_file(tmp_path: Path, wordings: Registered) -> str:
    path = tmp_path / "registry.json"
    path.write_bytes(registry_json(wordings))
    return str(path)


def forbid_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    def render_site(*_: object) -> dict[str, str]:
        raise AssertionError("rendered, though nothing changed")

    monkeypatch.setattr(sitegen.generation, "render_site", render_site)


# Writing


def test_a_first_run_writes_every_page_and_ends_with_a_summary(tmp_path: Path) -> None:
    checkout = make_bare_checkout(tmp_path / "checkout", WORDINGS)
    before = files(checkout / "docs")
    done = run_generate(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")
    after = files(checkout / "docs")
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    counts = {"ids": 12, "new": 0, "reworded": 0, "retired": 0, "notes": 0, "files": len(changed)}
    assert summary(done.stdout) == counts
    assert changed >= {f"gb/{gb_id}.md" for gb_id in WORDINGS} | {"index.md", "dashboard.md", "feed.xml", "llms.txt"}
    assert {path for path in after if path.startswith("api/v1/gb/")} == {
        f"api/v1/gb/{gb_id}.json" for gb_id in WORDINGS
    }


@pytest.mark.slow
def test_the_checkout_is_found_from_a_folder_inside_it(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "docs" / "gb")
    assert generate_here(Path(), "--check").code == 2  # --root is taken at its word
    import generate_site

    assert generate_site.main(["--check"]) == 0


def test_a_folder_that_is_no_checkout_is_refused_in_one_line(tmp_path: Path) -> None:
    done = run_generate(tmp_path)
    assert done.code == 2
    assert done.stderr.splitlines() == [
        f"{tmp_path}: not a checkout of the graph break registry; cd to one, or name it with --root",
        "1 problem",
    ]


def test_a_run_with_nothing_to_do_writes_no_file_and_renders_nothing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with unchanged(checkout):
        done = run_generate(checkout, "--source", "snapshot")
        assert done.code == 0
        assert re.fullmatch(r"12 ids upstream; nothing changed, nothing rendered; \d+\.\d\d s\n", done.stdout)
        forbid_rendering(monkeypatch)
        assert generate_here(checkout, "--source", "snapshot").code == 0


def test_a_second_pull_of_the_same_upstream_renders_nothing(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with upstream_sending(registry_json(reworded(WORDINGS))) as server:
        assert generate_here(checkout, upstream=server.url).code == 0
        forbid_rendering(monkeypatch)
        with unchanged(checkout):
            done = generate_here(checkout, upstream=server.url)
    assert (done.code, done.stderr) == (0, "")
    assert "nothing changed, nothing rendered" in done.stdout
    assert "If-None-Match" in server.seen[-1].headers


def test_the_order_in_which_upstream_reworded_ids_does_not_matter_to_the_stamp(checkout: Path) -> None:
    first = reworded(WORDINGS, "GB0002")
    for wordings in (first, reworded(first, "GB0004")):
        with upstream_sending(registry_json(wordings)) as server:
            assert generate_here(checkout, upstream=server.url).code == 0
    assert "nothing rendered" in generate_here(checkout, "--source", "snapshot").stdout


def test_without_the_stamp_everything_is_rendered_and_still_nothing_written(checkout: Path) -> None:
    (checkout / ".cache" / "generate-site.json").unlink()
    before = identities(checkout / "docs"), identities(checkout / "registry")
    done = generate_here(checkout, "--source", "snapshot")
    assert summary(done.stdout)["files"] == 0
    assert (identities(checkout / "docs"), identities(checkout / "registry")) == before


def append(name: str, text: bytes) -> Callable[[Path], None]:
    def change(checkout: Path) -> None:
        with (checkout / name).open("ab") as file:
            file.write(text)

    return change


def add(name: str, text: bytes) -> Callable[[Path], None]:
    def change(checkout: Path) -> None:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(text)

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda checkout: (checkout / name).unlink()


def recategorise(checkout: Path) -> None:
    path = checkout / "registry" / "taxonomy.yml"
    path.write_bytes(path.read_bytes().replace(b"The first kind", b"The very first kind"))


CHANGES: dict[str, Callable[[Path], None]] = {
    "a template": append("templates/graph_break.md.j2", b"\nnew last line\n"),
    "the taxonomy": recategorise,
    "a release": remove("registry/releases/2.14.0.json"),
    "a page that is gone": remove("docs/gb/GB0003.md"),
    "the home page": append("docs/index.md", b"more\n"),
    "a file of the API": append("docs/api/v1/gb/GB0003.json", b" "),
    "a file of the API that is gone": remove("docs/api/v1/gb/GB0003.json"),
    "a file that nothing writes any more": append("docs/api/v1/gb/GB0003.py.txt", b"print()\n"),
    "a page of a kind that is gone": add("docs/categories/gone.md", b"---\n---\n"),
    "a note": lambda checkout: write_note(page_of(checkout, "GB0003"), b"note"),  # counted on the dashboard
}


@pytest.mark.parametrize("name", ["examples/01_start.py", "notebooks/demo.ipynb", "registry/aliases.yml"])
def test_whatever_a_page_is_made_from_is_in_the_stamp(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text("one")
    before = sitegen.stamp.inputs_digest(tmp_path, ())
    path.write_text("two")
    assert sitegen.stamp.inputs_digest(tmp_path, ()) != before


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_after_any_change_the_stamp_saves_no_work_and_hides_nothing(checkout: Path, what: str) -> None:
    CHANGES[what](checkout)
    done = generate_here(checkout, "--source", "snapshot")
    assert done.code == 0
    assert summary(done.stdout)["files"] > 0
    assert generate_here(checkout, "--check").code == 0
    assert "nothing rendered" in generate_here(checkout, "--source", "snapshot").stdout


@pytest.mark.slow
def test_a_new_version_of_the_code_renders_everything_again(checkout: Path, tmp_path: Path) -> None:
    """Also when it is not in the checkout, as after `pip install`."""
    installed = tmp_path / "installed"
    for package in ("registry", "sitegen"):
        shutil.copytree(ROOT / package, installed / package, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    shutil.copy(ROOT / "generate_site.py", installed)
    command = sys.executable, "-B", str(installed / "generate_site.py")
    assert run_generate(checkout, "--source", "snapshot", python=command).code == 0
    assert "nothing rendered" in run_generate(checkout, "--source", "snapshot", python=command).stdout
    sentences = installed / "sitegen" / "sentences.py"
    sentences.write_bytes(sentences.read_bytes().replace(b'f"emitted by torch', b'f"since torch'))
    done = run_generate(checkout, "--source", "snapshot", python=command)
    assert summary(done.stdout)["files"] == 11
    assert b"since torch 2.14.0" in page_of(checkout, "GB0003").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["docs/gb/GB0003.md", "registry/taxonomy.yml", "templates/index.md.j2"])
def test_what_changes_while_a_run_is_at_work_is_not_hidden_by_its_stamp(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    CHANGES["a template"](checkout)
    render = sitegen.render.render_site

    def render_slowly(registry: Registry, templates: Path, keep: Keep) -> dict[str, str]:
        texts = render(registry, templates, keep)
        texts["gb/GB0003.md"] = page_of(checkout, "GB0003").read_bytes().decode()  # a page with nothing to write
        append(name, b"\n# saved just now\n")(checkout)
        return texts

    with monkeypatch.context() as patched:
        patched.setattr(sitegen.generation, "render_site", render_slowly)
        generate_here(checkout, "--source", "snapshot")
    done = generate_here(checkout, "--source", "snapshot")
    assert "nothing rendered" not in done.stdout


# Folders in which everything is generated

REPRO = b'"""A lead."""\n\n\ndef broken(x):\n    return x\n\n\ndef fixed(x):\n    """Always."""\n    return x\n'


def test_when_a_program_goes_its_script_goes(checkout: Path) -> None:
    add("registry/repros/GB0003.py", REPRO)(checkout)
    assert generate_here(checkout, "--source", "snapshot").code == 0
    script = checkout / "docs" / "api" / "v1" / "gb" / "GB0003.py.txt"
    assert script.read_bytes().startswith(REPRO)
    remove("registry/repros/GB0003.py")(checkout)
    with unchanged(checkout):
        check, diff = generate_here(checkout, "--check"), generate_here(checkout, "--diff", "--source", "snapshot")
    assert "stale: docs/api/v1/gb/GB0003.py.txt\n" in check.stdout
    assert "--- docs/api/v1/gb/GB0003.py.txt\n+++ /dev/null\n" in diff.stdout
    assert "\n-def broken(x):\n" in diff.stdout
    assert generate_here(checkout, "--source", "snapshot").code == 0
    assert not script.exists()
    assert generate_here(checkout, "--check").code == 0
    assert "nothing rendered" in generate_here(checkout, "--source", "snapshot").stdout


def test_other_peoples_files_stay(checkout: Path) -> None:
    kept = [
        *("docs/api/v1/gb/.gitkeep", "docs/categories/.hidden/x.md", "docs/assets/data/.DS_Store"),
        *("docs/gb/notes.txt", "docs/api/v1/mine.json", "docs/assets/css/mine.css"),
    ]
    for name in kept:
        add(name, b"mine")(checkout)
    assert "nothing rendered" in generate_here(checkout, "--source", "snapshot").stdout
    add("docs/categories/stale.md", b"")(checkout)
    assert generate_here(checkout, "--source", "snapshot").code == 0
    assert not (checkout / "docs" / "categories" / "stale.md").exists()
    assert [name for name in kept if (checkout / name).read_bytes() != b"mine"] == []


def test_another_spelling_of_a_generated_file_becomes_the_right_one(checkout: Path) -> None:
    folder = checkout / "docs" / "api" / "v1" / "gb"
    right = (folder / "GB0003.json").read_bytes()
    (folder / "GB0003.json").rename(folder / "gb0003.json")
    (folder / "gb0004.json").write_bytes(b"beside the right one")
    assert "stale: docs/api/v1/gb/GB0003.json\n" in generate_here(checkout, "--check").stdout
    assert generate_here(checkout, "--source", "snapshot").code == 0
    names = {path.name for path in folder.iterdir()}
    assert {"GB0003.json", "GB0004.json"} <= names
    assert names.isdisjoint({"gb0003.json", "gb0004.json"})
    assert (folder / "GB0003.json").read_bytes() == right
    assert generate_here(checkout, "--check").code == 0


# --check


def test_a_clean_check_exits_0_and_says_so(checkout: Path) -> None:
    with unchanged(checkout):
        done = generate_here(checkout, "--check")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("docs/ is up to date with release:2.15.0; ")


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_a_stale_check_exits_1_writes_nothing_and_names_the_command_that_mends_it(checkout: Path, what: str) -> None:
    CHANGES[what](checkout)
    with unchanged(checkout):
        done = generate_here(checkout, "--check")
    assert done.code == 1
    *stale, last = done.stdout.splitlines()
    assert stale
    assert all(re.fullmatch(r"stale: docs/[\w./]+", line) for line in stale)
    command = re.fullmatch(rf"{len(stale)} files are stale; run `python generate_site.py (.*)` and commit .*", last)
    assert command, last
    assert generate_here(checkout, *shlex.split(command[1])).code == 0
    assert generate_here(checkout, "--check").code == 0


def test_a_check_asks_no_network(checkout: Path) -> None:
    with upstream_sending(registry_json(reworded(WORDINGS))) as server:
        assert generate_here(checkout, "--check", upstream=server.url).code == 0
        assert server.seen == []


def test_a_check_against_upstream_is_stale_when_upstream_moved_and_writes_nothing(checkout: Path) -> None:
    with upstream_sending(registry_json(reworded(WORDINGS, "GB0004"))) as server, unchanged(checkout):
        done = generate_here(checkout, "--check", "--source", "upstream", upstream=server.url)
    assert done.code == 1
    assert "stale: docs/gb/GB0004.md" in done.stdout
    assert "stale: registry/snapshot/graph_break_registry.json" in done.stdout
    assert "run `python generate_site.py` and commit" in done.stdout


def test_a_check_fails_on_a_malformed_page_too(checkout: Path) -> None:
    page = page_of(checkout, "GB0003")
    page.write_bytes(page.read_bytes().replace(b"INFORMATION END", b"INFORMATION FIN"))
    with unchanged(checkout):
        done = generate_here(checkout, "--check")
    assert done.code == 1
    assert "docs/gb/GB0003.md:" in done.stderr


# --diff


def test_a_diff_shows_the_hunk_and_writes_nothing(checkout: Path) -> None:
    with upstream_sending(registry_json(reworded(WORDINGS, "GB0004"))) as server, unchanged(checkout):
        done = generate_here(checkout, "--diff", upstream=server.url)
    assert (done.code, done.stderr) == (0, "")
    hunk = done.stdout[done.stdout.index("+++ docs/gb/GB0004.md") :]
    assert "-Dynamo does not know what to do with *4*.\n" in hunk
    assert "+Dynamo does not know what to do with *4*. reworded\n" in hunk
    assert "+++ docs/gb/GB0005.md" not in done.stdout
    assert summary(done.stdout)["reworded"] == 1
    assert " files would be written; " in done.stdout


def test_a_diff_with_nothing_to_show_is_the_summary_alone(checkout: Path) -> None:
    with unchanged(checkout):
        done = generate_here(checkout, "--diff", "--source", "snapshot")
    assert summary(done.stdout)["files"] == 0
    assert len(done.stdout.splitlines()) == 1


# --html, --overwrite


@pytest.mark.slow
def test_html_is_built_after_the_pages_are_written(tmp_path: Path) -> None:
    checkout = make_bare_checkout(tmp_path / "checkout", WORDINGS)
    done = run_generate(checkout, "--source", "snapshot", "--html", str(tmp_path / "_site"))
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"HTML: open {tmp_path / '_site' / 'index.html'}"
    assert b"Made-up break 7" in (tmp_path / "_site" / "gb" / "gb0007.html").read_bytes().replace(b"&#45;", b"-")
    assert b'href="gb/gb0012.html"' in (tmp_path / "_site" / "index.html").read_bytes()


def test_html_is_built_though_a_page_has_a_problem(checkout: Path, tmp_path: Path) -> None:
    append("docs/gb/GB0003.md", b"foreign\n")(checkout)
    done = generate_here(checkout, "--source", "snapshot", "--html", str(tmp_path / "_site"))
    assert done.code == 1
    assert (tmp_path / "_site" / "gb" / "gb0003.html").exists()


def test_html_into_a_folder_with_other_files_is_refused_and_leaves_them(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("mine")
    done = generate_here(checkout, "--source", "snapshot", "--html", str(tmp_path / "home"))
    assert done.code == 2
    assert files(tmp_path / "home") == {"thesis.txt": b"mine"}


@pytest.mark.slow
@pytest.mark.parametrize("gb_id", ["GB0003", "gb0003"])
def test_overwrite_drops_text_outside_the_note_and_keeps_the_note(checkout: Path, gb_id: str) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"my note\r\n")
    assert generate_here(checkout, "--source", "snapshot").code == 0
    clean = page.read_bytes()
    append("docs/gb/GB0003.md", b"foreign\n")(checkout)
    append("docs/gb/GB0004.md", b"foreign too\n")(checkout)
    assert generate_here(checkout, "--source", "snapshot").code == 1
    done = generate_here(checkout, "--source", "snapshot", "--overwrite", gb_id)
    assert done.code == 1, "GB0004 was not named"
    assert "docs/gb/GB0003.md" not in done.stderr
    assert page.read_bytes() == clean
    assert page_of(checkout, "GB0004").read_bytes().endswith(b"foreign too\n")


# Sources


def test_a_file_is_shown_but_does_not_touch_the_snapshot(checkout: Path, tmp_path: Path) -> None:
    source = upstream_file(tmp_path, reworded(WORDINGS, "GB0004"))
    before = identities(checkout / "registry")
    done = generate_here(checkout, "--source", source)
    assert (done.code, done.stderr) == (0, "")
    assert summary(done.stdout)["reworded"] == 1
    assert b"*4*. reworded" in page_of(checkout, "GB0004").read_bytes()
    assert identities(checkout / "registry") == before
    assert generate_here(checkout, "--check").code == 1, "docs/ no longer shows the snapshot"


def test_a_url_is_shown_but_does_not_touch_the_snapshot(checkout: Path) -> None:
    before = identities(checkout / "registry")
    with upstream_sending(registry_json(reworded(WORDINGS, "GB0004"))) as server:
        assert generate_here(checkout, "--source", server.url).code == 0
    assert b"*4*. reworded" in page_of(checkout, "GB0004").read_bytes()
    assert identities(checkout / "registry") == before


def test_upstream_updates_the_snapshot_and_keeps_the_wordings_that_went(checkout: Path) -> None:
    raw = registry_json(reworded(WORDINGS, "GB0004"))
    with upstream_sending(raw, **{"Last-Modified": "Mon, 02 Feb 2026 00:00:00 GMT"}) as server:
        done = generate_here(checkout, upstream=server.url)
    assert (done.code, done.stderr) == (0, "")
    snapshot = read_snapshot(checkout / "registry" / "snapshot")
    assert snapshot.raw == raw
    assert snapshot.origin.source == f"{server.url}/".rstrip("/")
    assert snapshot.origin.etag
    assert snapshot.origin.last_modified == "Mon, 02 Feb 2026 00:00:00 GMT"
    assert snapshot.superseded == {"GB0004": WORDINGS["GB0004"]}
    assert generate_here(checkout, "--check").code == 0


def test_a_wording_that_only_main_ever_had_stays_on_the_page(checkout: Path) -> None:
    for mark in ("second wording", "third wording"):
        with upstream_sending(registry_json(reworded(WORDINGS, "GB0004", mark=mark))) as server:
            assert generate_here(checkout, upstream=server.url).code == 0
    page = page_of(checkout, "GB0004").read_bytes()
    assert b"second wording" in page
    assert b"third wording" in page
    assert generate_here(checkout, "--check").code == 0


@pytest.mark.parametrize("gb_id", ["GB0004", "GB0012"])
def test_an_id_that_upstream_drops_keeps_its_page_and_note_and_is_marked(checkout: Path, gb_id: str) -> None:
    """GB0012 is in no release: only the snapshot knew it."""
    write_note(page_of(checkout, gb_id), b"what I know of it")
    before = files(checkout / "docs") | files(checkout / "registry")
    with upstream_sending(registry_json(without(WORDINGS, gb_id))) as server:
        done = generate_here(checkout, upstream=server.url)
    assert (done.code, done.stderr) == (0, "")
    after = files(checkout / "docs") | files(checkout / "registry")
    changed = [name for name in after if before.get(name) != after[name]]
    counts = {"ids": 12, "new": 0, "reworded": 0, "retired": 1, "notes": 1, "files": len(changed)}
    assert summary(done.stdout) == counts
    assert {f"gb/{gb_id}.md", f"api/v1/gb/{gb_id}.json"} <= {*changed}
    page = page_of(checkout, gb_id).read_bytes()
    assert b"Removed from the registry" in page
    assert in_block(b"what I know of it") in page
    assert f">{gb_id}</a>".encode() in (checkout / "docs" / "index.md").read_bytes()
    assert generate_here(checkout, "--check").code == 0


def test_an_id_that_came_and_went_between_two_releases_keeps_its_page_for_ever(checkout: Path) -> None:
    newcomer = replace(WORDINGS["GB0001"][0], gb_type="Here today, gone tomorrow")
    for wordings in ({**WORDINGS, "GB0099": (newcomer,)}, WORDINGS, reworded(WORDINGS)):
        with upstream_sending(registry_json(wordings)) as server:
            assert generate_here(checkout, upstream=server.url).code == 0
    page = page_of(checkout, "GB0099").read_bytes()
    assert b"Here today, gone tomorrow" in page
    assert b"Removed from the registry" in page
    assert generate_here(checkout, "--check").code == 0


def test_a_new_id_becomes_a_page_that_is_not_yet_categorised_with_a_warning(checkout: Path) -> None:
    newcomer = replace(WORDINGS["GB0001"][0], gb_type="Brand new")
    with upstream_sending(registry_json({**WORDINGS, "GB0099": (newcomer,)})) as server:
        done = generate_here(checkout, upstream=server.url)
    assert done.code == 0
    assert done.stderr.splitlines() == [
        "warning: registry/taxonomy.yml:1: GB0099 (Brand new) has no category; add it to one"
    ]
    assert summary(done.stdout)["new"] == 1
    assert b"GB0099: Brand new" in page_of(checkout, "GB0099").read_bytes()
    assert b"Not yet categorised" in (checkout / "docs" / "dashboard.md").read_bytes()
    assert generate_here(checkout, "--check").code == 0


def test_the_page_of_a_new_id_says_that_it_is_not_yet_categorised(checkout: Path) -> None:
    newcomer = replace(WORDINGS["GB0001"][0], gb_type="Brand new")
    with upstream_sending(registry_json({**WORDINGS, "GB0099": (newcomer,)})) as server:
        assert generate_here(checkout, upstream=server.url).code == 0
    assert b"\nkind: uncategorised\n" in page_of(checkout, "GB0099").read_bytes()


def test_a_shrink_is_taken_when_somebody_accepts_it(checkout: Path) -> None:
    with upstream_sending(registry_json(without(WORDINGS, "GB0001", "GB0002"))) as server:
        with unchanged(checkout):
            assert generate_here(checkout, upstream=server.url).code == 2
        done = generate_here(checkout, "--accept-shrink", upstream=server.url)
    assert done.code == 0
    assert summary(done.stdout)["retired"] == 2
    assert b"Removed from the registry" in page_of(checkout, "GB0001").read_bytes()
    assert generate_here(checkout, "--check").code == 0


def answer_404(exchange: Exchange) -> None:
    exchange.send(404)


def test_require_fresh_exits_3_before_anything_is_written(checkout: Path) -> None:
    page_of(checkout, "GB0003").unlink()
    with serve(answer_404) as server, unchanged(checkout):
        done = generate_here(checkout, "--require-fresh", upstream=server.url)
    assert (done.code, done.stdout) == (3, "")
    assert "answered 404 Not Found" in done.stderr


def test_without_upstream_docs_are_mended_from_the_snapshot(checkout: Path) -> None:
    page = page_of(checkout, "GB0003")
    before = page.read_bytes()
    page.unlink()
    with serve(answer_404) as server:
        done = generate_here(checkout, upstream=server.url)
    assert done.code == 0
    assert page.read_bytes() == before
    assert "WARNING: using the snapshot: release:2.15.0 of 2026-01-02" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("source", ["nowhere.json", "URL", "release:nonsense"])
def test_a_source_that_cannot_be_read_is_exit_3_and_one_line(checkout: Path, source: str) -> None:
    with serve(answer_404) as server, unchanged(checkout):
        done = generate_here(checkout, "--source", source.replace("URL", server.url))
    assert (done.code, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")


def test_an_unknown_key_upstream_is_a_warning(checkout: Path) -> None:
    document = json.loads(registry_json(WORDINGS))
    for revisions in document.values():
        revisions[0]["Severity"] = "high"
    with upstream_sending(json.dumps(document).encode()) as server:
        done = generate_here(checkout, upstream=server.url)
    assert done.code == 0
    assert 'unknown key "Severity" ignored (12 revisions' in done.stderr


def test_overwriting_the_page_of_an_id_that_nobody_knows_is_an_error_and_writes_nothing(checkout: Path) -> None:
    with unchanged(checkout):
        done = generate_here(checkout, "--source", "snapshot", "--overwrite", "GB9999", "--overwrite", "nonsense")
    assert done.code == 2
    assert done.stderr.splitlines() == [
        "--overwrite GB9999: no such graph break",
        "--overwrite NONSENSE: no such graph break",
        "2 problems",
    ]


def test_help_names_every_kind_of_source(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that `pull` tells apart by name stand in SOURCES, and all in SOURCES stand in --help."""
    names = re.findall(r'spec(?: == |\.startswith\()"(\w+:?)"', inspect.getsource(pull))
    kinds = SOURCES
    assert {"upstream", "release:"} <= set(names) and {"URL", "FILE"} <= set(kinds)
    assert [name for name in names if not any(kind.startswith(name) for kind in kinds)] == []
    with pytest.raises(SystemExit):
        generate_site.main(["--help"])
    source = capsys.readouterr().out.partition("\n  --source SOURCE")[2].partition("\n  --")[0]
    assert [kind for kind in kinds if kind.partition(":")[0] not in re.split(r"\W+", source)] == []
