"""The files for programs: they keep to their schemas, say what the registry says, and lead to files that are there."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from jsonschema import Draft202012Validator

from registry.model import VERIFIER, Evidence, GraphBreak, Registry
from registry.notes import body_of
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import HOSTILE
from tests.scheduling import sampled
from tests.sitegen.api_registry import SOURCE, api_files, hostile_id, small_registry

pytestmark = pytest.mark.slow

PARTS = 4
SCHEMAS = ROOT / "docs" / "api" / "v1" / "schema"
REGISTRIES: dict[str, Callable[[], Registry]] = {"small": small_registry, "committed": committed_registry}


@pytest.fixture(scope="module", params=REGISTRIES)
def registry(request: pytest.FixtureRequest) -> Registry:
    return REGISTRIES[request.param]()


@pytest.fixture(scope="module")
def files(registry: Registry) -> dict[str, str]:
    return api_files(registry)


@pytest.fixture(scope="module")
def small() -> dict[str, str]:
    return api_files(small_registry())


def schema(name: str, strict: bool = True) -> Draft202012Validator:
    content = json.loads((SCHEMAS / name).read_bytes())
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(_closed(content) if strict else content, format_checker=jsonschema.FormatChecker())


def _closed(content: Any) -> Any:
    """The same schema, in which no object may have a field that is not named: ours may not, other people's may."""
    if isinstance(content, list):
        return [_closed(one) for one in content]
    if not isinstance(content, dict):
        return content
    closed = {name: _closed(one) for name, one in content.items()}
    if content.get("type") == "object" and "properties" in content:
        closed["additionalProperties"] = False
    return closed


def details(files: dict[str, str]) -> dict[str, dict[str, Any]]:
    found = {re.fullmatch(r"api/v1/gb/([\w-]+)\.json", path): text for path, text in files.items()}
    return {match[1]: json.loads(text) for match, text in found.items() if match}


def detail(files: dict[str, str], gb_id: str) -> dict[str, Any]:
    return dict(json.loads(files[f"api/v1/gb/{gb_id}.json"]))


# Schemas


@pytest.mark.parametrize("part", sampled(PARTS))
def test_every_file_keeps_to_its_schema_and_has_no_field_that_the_schema_does_not_name(
    files: dict[str, str], part: int
) -> None:
    schema("registry.json").validate(json.loads(files["api/v1/registry.json"]))
    one = schema("graph-break.json")
    for content in list(details(files).values())[part::PARTS]:
        one.validate(content)


def test_the_published_schemas_allow_fields_that_come_later(small: dict[str, str]) -> None:
    content = detail(small, "GB0001") | {"new_in_2027": 1}
    schema("graph-break.json", strict=False).validate(content)
    with pytest.raises(jsonschema.ValidationError, match="new_in_2027"):
        schema("graph-break.json").validate(content)


@pytest.mark.parametrize("name", ["registry.json", "graph-break.json", "measurements.json", "fix-benchmark.json"])
def test_no_field_may_be_missing_and_every_field_is_explained(name: str) -> None:
    content = json.loads((SCHEMAS / name).read_bytes())
    assert content["$id"].endswith(f"/api/v1/schema/{name}")
    assert "no field is removed" in content["description"]

    def walk(one: Any) -> None:
        if isinstance(one, dict):
            if "properties" in one:
                assert one["required"] == list(one["properties"])
            for part in one.values():
                walk(part)
        elif isinstance(one, list):
            for part in one:
                walk(part)

    walk(content)


@pytest.mark.parametrize("field", ["id", "wordings", "printed_link"])
def test_a_file_that_lacks_a_field_fails(small: dict[str, str], field: str) -> None:
    content = detail(small, "GB0001")
    del content[field]
    with pytest.raises(jsonschema.ValidationError, match=field):
        schema("graph-break.json").validate(content)


def test_the_files_of_api_are_documents_with_no_front_matter(files: dict[str, str]) -> None:
    """Jekyll copies such files; one with front matter it would fill in, and Liquid in a wording with it."""
    api = [path for path in files if path.startswith(("api/", "assets/"))]
    assert api
    assert [path for path in api if files[path].startswith("---")] == []


def test_no_two_files_differ_only_in_case(files: dict[str, str]) -> None:
    assert len({path.casefold() for path in files}) == len(files)


def test_the_same_registry_gives_the_same_bytes(small: dict[str, str]) -> None:
    assert api_files(small_registry()) == small


# The list against the registry, read here in another way


def test_the_list_says_of_each_id_what_the_registry_knows(registry: Registry, files: dict[str, str]) -> None:
    listed = json.loads(files["api/v1/registry.json"])["graph_breaks"]
    assert [one["id"] for one in listed] == [gb.gb_id for gb in registry.breaks]
    for gb, one in zip(registry.breaks, listed, strict=True):
        assert one == {**expected_summary(gb, registry), **expected_links(gb, "../../", "gb/")}


def expected_summary(gb: GraphBreak, registry: Registry) -> dict[str, Any]:
    ran = {one.torch for one in registry.environments}
    releases = [torch for torch in reversed(registry.releases) if torch in {*ran, *registry.releases[-1:]}]
    live = [seen.torch for seen in gb.history.releases if seen.call_sites]
    registered = [seen.torch for seen in gb.history.releases if seen.registered]
    after = [seen.torch for seen in gb.history.releases]
    now = [seen for one in gb.programs for seen in one.evidence if seen.repro_sha256 == one.repro.sha256]
    retired_in = after[after.index(live[-1]) + 1] if live and live[-1] != after[-1] else None
    verified = [
        (one, name)
        for one in gb.programs
        for seen in one.evidence
        if seen in now and seen.verdicts.get("eager") == "verified"
        for name, holds in seen.fixes.items()
        if holds
    ]
    newest = gb.revisions[0].revision
    empty = {"context": newest.context, "explanation": newest.explanation, "hints": "".join(newest.hints)}
    return {
        "id": gb.gb_id,
        "title": newest.gb_type,
        "kind": gb.category,
        "status": gb.status_in(after[-1] if after else ""),
        "statuses": {torch: gb.status_in(torch) for torch in releases},
        "lifecycle": gb.lifecycle,
        "lead": gb.repro.lead if gb.repro else None,
        "first_release": registered[0] if registered else None,
        "last_live_release": live[-1] if live else None,
        "retired_in": retired_in,
        "devices": sorted({seen.environment.device for seen in now if shows_it(seen)}),
        "fix_kinds": sorted({one.repro.fixes[name] for one, name in verified}),
        "has_note": gb.note is not None and gb.note.text.strip() != "",
        "gaps": [field for field, text in empty.items() if not text.strip()],
    }


def shows_it(seen: Evidence) -> bool:
    return any(verdict in ("verified", "reproduced") for verdict in seen.verdicts.values())


def expected_links(gb: GraphBreak, root: str, folder: str) -> dict[str, str | None]:
    return {
        "page": f"{root}gb/{gb.gb_id.lower()}.html",
        "json": f"{folder}{gb.gb_id}.json",
        "text": f"{folder}{gb.gb_id}.md",
        "script": f"{folder}{gb.gb_id}.py.txt" if gb.repro else None,
    }


def test_the_list_counts_right_and_names_releases_kinds_and_environments(
    registry: Registry, files: dict[str, str]
) -> None:
    content = json.loads(files["api/v1/registry.json"])
    assert content["counts"]["ids"] == len(registry.breaks)
    assert content["counts"]["status"] == Counter(one["status"] for one in content["graph_breaks"])
    assert content["counts"]["lifecycle"] == Counter(one["lifecycle"] for one in content["graph_breaks"])
    assert [one["torch"] for one in content["releases"]] == list(registry.releases)
    for number, one in enumerate(content["releases"]):
        assert one["built"] == registry.built.get(one["torch"])
        assert one["live"] == sum(bool(gb.history.releases[number].call_sites) for gb in registry if not gb.local)
        assert one["registered"] == sum(gb.history.releases[number].registered for gb in registry if not gb.local)
    *kinds, unplaced = content["kinds"]
    assert [(one["key"], one["why"], one["way_out"]) for one in kinds] == [
        (category.key, category.why, category.way_out) for category in registry.categories
    ]
    assert unplaced["key"] == "uncategorised"
    assert {gb_id: one["key"] for one in content["kinds"] for gb_id in one["ids"]} == {
        gb.gb_id: gb.category for gb in registry
    }
    assert content["origin"]["sha256"] == registry.origin.sha256
    assert len(content["environments"]) == len(registry.environments)
    assert [one["title"] for one in content["without_id"]] == [site.gb_type for site in registry.unregistered]


def test_the_file_of_an_id_says_everything_that_the_registry_knows(registry: Registry, files: dict[str, str]) -> None:
    found = details(files)
    assert found.keys() == {gb.gb_id for gb in registry}
    for gb in registry:
        one = found[gb.gb_id]
        assert one.items() >= {**expected_summary(gb, registry), **expected_links(gb, "../../../", "")}.items()
        assert one["registered"] == gb.registered
        assert [
            (wording["title"], wording["context"], wording["explanation"], "".join(wording["hints"]))
            for wording in one["wordings"]
        ] == [
            (dated.revision.gb_type, dated.revision.context, dated.revision.explanation, "".join(dated.revision.hints))
            for dated in gb.revisions
        ]
        assert [wording["releases"] for wording in one["wordings"]] == [list(dated.releases) for dated in gb.revisions]
        assert len(one["evidence"]) == len(gb.evidence)
        assert [finding["finding"] for finding in one["findings"]] == [finding.finding for finding in gb.findings]
        assert (one["note"] or {}).get("text") == (gb.note.text if gb.note and gb.note.text.strip() else None)
        assert (one["unreached"] or {}).get("evidence") == (gb.unreached.evidence if gb.unreached else None)
        assert (one["repro"] or {}).get("source") == (gb.repro.source if gb.repro else None)
        if gb.repro:
            assert {fix["name"]: fix["kind"] for fix in one["repro"]["fixes"]} == gb.repro.fixes
        for seen, release in zip(gb.history.releases, one["history"], strict=True):
            assert (release["torch"], release["registered"]) == (seen.torch, seen.registered)
            assert [(site["file"], site["line"]) for site in release["call_sites"]] == [
                (site.file, site.line) for site in seen.call_sites
            ]
            for site in release["call_sites"]:
                assert site["url"].endswith(f"/pytorch/blob/v{seen.torch}/{site['file']}#L{site['line']}")


def test_the_file_of_an_id_that_has_everything(small: dict[str, str]) -> None:
    one = detail(small, "GB0001")
    like_eager = {"changes_gradients": None, "other_effects": None}
    assert one["wordings"][0]["hints"] == ["Set a to b.", "Or not."]
    assert one["repro"]["fixes"] == [
        {
            "name": "fixed",
            "kind": "rewrite",
            "when": "Nobody needs the number.",
            **like_eager,
            "limits": {"nan": "A `NaN` is dropped.", "size": "It counts to 8."},
        },
        {"name": "fixed_flag", "kind": "flag", "when": "You need it.", **like_eager, "limits": {}},
    ]
    assert one["repro"]["isolated"] == [{"name": "isolated", "when": "You can't change it."}]
    assert one["message"] == {"text": "the message", "torch": "2.9.0", "device": "cpu"}
    assert [seen["current"] for seen in one["evidence"]] == [True, True, False]
    assert one["evidence"][0] == {
        "environment": {"torch": "2.9.0", "python": "3.11", "device": "cpu", "date": "2026-01-01"},
        "current": True,
        "verifier": VERIFIER,
        "verdicts": {"eager": "verified", "mock": "failed"},
        "message": "the message",
        "ids": ["GB0001"],
        "outcome": "resumed",
        "graphs": 2,
        "line": 8,
        "fixes": {"fixed": True, "fixed_flag": False},
        "gradients": {"fixed": "equal"},
        "fails_with": {"fixed": {"mock": "in training"}},
    }
    assert [release["changes"] for release in one["history"]] == [["new"], ["reworded"]]
    assert one["note"] == {"text": "my *note*\r\n", "written_for": "old type"}
    assert one["sightings"] == [
        {
            "name": "a-model",
            "about": None,
            "environment": one["evidence"][0]["environment"],
            "count": 3,
            "sites": 1,
            "ran": None,
        }
    ]
    assert one["printed_link"] == "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0001.html"


def test_a_local_id_has_its_files_and_no_link_that_torch_prints(small: dict[str, str]) -> None:
    [local] = [one for gb_id, one in details(small).items() if gb_id.startswith("GBL-")]
    assert (local["title"], local["lifecycle"], local["printed_link"]) == ("nobody knows this", "local", None)
    assert "as torch prints it" not in small[f"gb/{local['id']}.md"]


def test_every_link_in_a_file_leads_to_a_file(registry: Registry, files: dict[str, str]) -> None:
    published = {*files, *(f"gb/{gb.gb_id.lower()}.html" for gb in registry)}
    published |= {f"api/v1/gb/{gb.gb_id}.md" for gb in registry}  # the builds make them: test_feeds.py
    published |= {f"api/v1/schema/{path.name}" for path in SCHEMAS.iterdir()}
    content = json.loads(files["api/v1/registry.json"])
    links = [("api/v1", content["$schema"])]
    for one in content["graph_breaks"]:
        links += [("api/v1", one[name]) for name in ("page", "json", "text", "script")]
    for one in details(files).values():
        links += [("api/v1/gb", one[name]) for name in ("$schema", "page", "json", "text", "script")]
        links += [("api/v1/gb", example["script"]) for example in one["examples"]]
    followed = {posixpath.normpath(posixpath.join(folder, link)) for folder, link in links if link}
    assert followed <= published
    assert {path for path in files if path.startswith("api/v1/gb/")} <= followed


# Markdown and scripts


def test_a_page_is_plain_text(small: dict[str, str]) -> None:
    body = body_of(small["gb/GB0001.md"])
    for part in (
        "# GB0001: new type\n\nA `lead`.\n",
        "```python\nimport torch\n\ndef broken(x):\n    return x.item()",
        "### Works\n\nNobody needs the number.\n\n```python\n",
        "```\n\n> Not for NaN: A `NaN` is dropped.\n>\n> Not for other sizes: It counts to 8.\n\n",
        "### If you can't change the code\n\nYou can't change it.\n\n```python\n",
        "torch 2.9.0, Python 3.11, CPU.\n\n```text\nthe message\n```\n",
        '> This note was written when GB0001 had the title "old type".',
        "my *note*",
    ):
        assert part in body, part


def test_a_page_says_why_there_is_no_program(small: dict[str, str]) -> None:
    assert "We could not trigger this break (dead code). `f` returns before that." in small["gb/GB0002.md"]
    assert "There is no program for this break yet." in small["gb/GB0003.md"]
    assert "torch 2.9.0 no longer emits it." in small["gb/GB0003.md"]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_comes_through_unchanged(small: dict[str, str], number: int) -> None:
    gb_id, text = hostile_id(number), HOSTILE[number]
    [wording] = detail(small, gb_id)["wordings"]
    assert wording == {"title": text, "context": text, "explanation": text, "hints": [text], "releases": ["2.9.0"]}
    body = small[f"gb/{gb_id}.md"]
    fenced = re.findall(r"^(`{3,})text\n(.*?)\n\1$", body, re.DOTALL | re.MULTILINE)
    assert [shown for _, shown in fenced] == [text] * 4


def test_there_is_a_script_exactly_where_there_is_a_program(registry: Registry, files: dict[str, str]) -> None:
    scripts = {path for path in files if path.endswith(".py.txt")}
    assert scripts == {f"api/v1/gb/{one.repro.name}.py.txt" for gb in registry for one in gb.programs}
    for path in scripts:
        compile(files[path], path, "exec")


def test_a_script_is_the_program_with_an_end_that_runs_it(small: dict[str, str]) -> None:
    script = small["api/v1/gb/GB0001.py.txt"]
    assert script.startswith(SOURCE)
    assert 'if __name__ == "__main__":' in script


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("gb_id", ["GB0003"])  # one that only the error of fullgraph=True names
@pytest.mark.prove
def test_a_published_script_runs_and_names_its_break(gb_id: str, tmp_path: Path) -> None:
    script = tmp_path / f"{gb_id}.py"
    script.write_bytes((ROOT / "docs" / "api" / "v1" / "gb" / f"{gb_id}.py.txt").read_bytes())
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert f"/gb/{gb_id.lower()}.html" in done.stdout + done.stderr
