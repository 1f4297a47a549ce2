from __future__ import annotations

from collections.abc import Callable

import pytest

from registry.merge import merge_registry
from registry.model import Environment, Evidence, Finding, Note, Registry, Unreached
from registry.notes import digest, front_matter_value, split_page
from registry.repros import parse_repro
from sitegen.render import render_site
from tests.conftest import ROOT
from tests.samples import captured, knowledge, release, revision, site

ENVIRONMENT = Environment(torch="2.9.0", python="3.11", device="cpu")
SOURCE = '''"""A `lead`."""
import torch

REACH = "private"
EAGER_RAISES = "ValueError"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.item() < 1


def fixed(x):
    \"\"\"When {it} is a tensor.\"\"\"
    return x < 1


def fixed_flag(x):
    \"\"\"When it is a number.\"\"\"
    return x.item() < 1
'''
REPRO = parse_repro(SOURCE, "GB0001")
MESSAGE = """new `type`
  Explanation: e of <x>
  Hint: Set a to b.

  Developer debug context: c

 For more details about this graph break, please visit: https://example.invalid/gb/gb0001.html"""


def a_registry() -> Registry:
    old, new = revision("old type"), revision("new `type`", hints=("Set a ", "to b.", "Or not."))
    known = knowledge(
        {"GB0001": [new, old], "GB0002": [revision("bare", "", "", ())], "GB0003": [revision("retired")]},
        superseded={"GB0004": (revision("dropped"),)},
        releases=[
            release("2.8.0", {"GB0001": [old], "GB0003": [revision("retired")]}),
            release(
                "2.9.0",
                {"GB0001": [new, old], "GB0002": [revision("bare", "", "", ())], "GB0003": [revision("retired")]},
                [site("new `type`", "GB0001", 7, ["Set a to b."]), site("bare", "GB0002"), site("no id", None)],
            ),
        ],
        repros={"GB0001": REPRO},
        evidence={
            "GB0001": (
                Evidence(
                    environment=ENVIRONMENT,
                    repro_sha256=REPRO.sha256,
                    verdicts={"eager": "verified", "mock": "other id"},
                    message=MESSAGE,
                    fixes={"fixed": True, "fixed_flag": False},
                    ids=("GB0001", "GB0003"),
                    kind="resumed",
                    graphs=2,
                    line=14,
                ),
            )
        },
        unreached={"GB0002": Unreached(category="dead code", evidence="`f` returns *before* that.")},
        findings=[Finding(gb_id="GB0002", kind="other", finding="A `hint` is wrong.", evidence="It was run.")],
        captured=[captured("a-model", ENVIRONMENT, "new `type`", about="a <model>", sites=2, compiled=3)],
    )
    return merge_registry(known, {"GB0001": Note(text="my *note*\r\n", written_for="old type")})


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return render_site(a_registry(), ROOT / "templates")


@pytest.mark.parametrize(
    "name",
    [
        *("gb/GB0001.md", "gb/GB0002.md", "gb/GB0003.md", "gb/GB0004.md", "index.md", "dashboard.md"),
        *("releases.md", "assets/data/releases.js", "categories.md", "categories/control-flow.md"),
    ],
)
def test_pages_look_as_they_did(name: str, pages: dict[str, str], matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot(f"render/{name}", pages[name])


def test_the_same_registry_gives_the_same_bytes(pages: dict[str, str]) -> None:
    assert render_site(a_registry(), ROOT / "templates") == pages


def test_every_page_is_sealed_and_found_where_torch_links_to(pages: dict[str, str]) -> None:
    for number in range(1, 5):
        page = pages[f"gb/GB000{number}.md"]
        assert front_matter_value(page, "permalink") == f"/gb/gb000{number}.html"
        assert front_matter_value(page, "digest") == digest(page)
        for heading in ("Graph break type", "Context", "Explanation", "Hints"):
            assert page.count(f"\n### {heading}\n") == 1
        assert page.count("\n## Additional information\n") == 1


def test_the_note_is_kept_and_its_age_is_said(pages: dict[str, str]) -> None:
    page = pages["gb/GB0001.md"]
    assert split_page(page).note == "my *note*\r\n"
    assert front_matter_value(page, "note_for") == "old type"
    assert "This note was written when GB0001 had the title" in page
    assert "This note was written" not in pages["gb/GB0002.md"]


def test_a_page_says_how_far_its_program_goes(pages: dict[str, str]) -> None:
    program = pages["gb/GB0001.md"]
    assert "it raises `ValueError`. So we compare each fix with its own result without" in program
    assert "The program uses private parts of torch" in program  # no "unlikely": somebody has met it
    none = pages["gb/GB0002.md"]
    assert "We could not trigger this break (dead code). `f` returns \\*before\\* that.\n" in none
    assert "A `hint` is wrong." in none


def test_the_home_page_holds_the_plain_list(pages: dict[str, str]) -> None:
    assert '<li><a href="gb/gb0002.html">GB0002</a> — bare <span' in pages["index.md"]
