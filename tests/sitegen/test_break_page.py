"""A break's page, from the committed registry: its facts, and the text that a reader finds below them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from difflib import ndiff
from functools import cache
from typing import Any

import pytest
import yaml

from registry.model import PROVEN, GraphBreak
from registry.notes import body_of
from registry.snippets import programs_of
from sitegen.break_page import MARK, BreakPages, answer_first
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show, own_message
from sitegen.facets import STATUSES
from sitegen.render import render_site
from sitegen.templating import template_environment
from tests.committed import committed_breaks, committed_registry
from tests.conftest import ROOT
from tests.scheduling import sampled
from tests.sitegen.api_registry import small_registry

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("break pages")]  # what all pages look up is made once
PARTS = 12


@dataclass(frozen=True)
class Section:
    """What stands below a heading, up to the next one of its kind."""

    title: str
    text: str

    @property
    def code(self) -> str:
        return _fenced(self.text)[0]

    @property
    def last(self) -> str:
        """Its last paragraph: where it was run."""
        return self.text.rstrip().rpartition("\n\n")[2]


@dataclass(frozen=True)
class MarkdownPage:
    facts: dict[str, Any]
    body: str

    @property
    def head(self) -> str:
        return _cut(self.body, "##")[0].text

    @property
    def programs(self) -> dict[str, list[Section]]:
        """Title of a program -> its cards."""
        sections = _cut(self.body, "##")[1 : 1 + len(self.facts.get("programs", ()))]
        return {one.title: _cut(one.text, "###")[1:] for one in sections}

    @property
    def cards(self) -> list[Section]:
        return [card for cards in self.programs.values() for card in cards]

    def section(self, title: str) -> str:
        return next((one.text for one in _cut(self.body, "##") if one.title == title), "")


def _cut(text: str, level: str) -> list[Section]:
    """At the headings that are not in fenced code."""
    pieces, fence = [["", ""]], ""
    for line in text.splitlines(keepends=True):
        marks = re.match(r"`{3,}", line)
        if marks and not fence:
            fence = marks[0]
        elif fence and line.rstrip() == fence:
            fence = ""
        elif not fence and line.startswith(f"{level} "):
            pieces.append([line[len(level) + 1 :].strip(), ""])
            continue
        pieces[-1][1] += line
    return [Section(*piece) for piece in pieces]


def _fenced(text: str) -> list[str]:
    return [found[2] for found in re.finditer(r"^(`{3,})\w*\n(.*?)\n\1$", text, re.DOTALL | re.MULTILINE)]


@cache
def pages() -> BreakPages:
    return BreakPages(committed_registry(), programs_of(committed_registry()), template_environment(ROOT / "templates"))


def read(text: str) -> MarkdownPage:
    return MarkdownPage(yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n")), body_of(text))


@cache
def page(gb_id: str) -> MarkdownPage:
    return read(pages().render(committed_breaks()[gb_id]))


@pytest.fixture(params=sampled(PARTS))
def breaks(request: pytest.FixtureRequest) -> list[GraphBreak]:
    """A part of the registry."""
    return list(committed_registry())[request.param :: PARTS]


def test_the_answer_stands_at_the_top() -> None:
    one = page("GB0170")
    assert one.head.startswith("# GB0170: Data-dependent branching\n\nAn `if`, a `while` or another place")
    assert (
        "\n\n**Breaks in torch 2.8.0 to 2.15.0, also on CUDA. Upgrading doesn't help; a rewrite does.**\n" in one.head
    )
    assert one.facts["status"] == "verified"
    assert one.facts["emitted"] == "emitted by torch 2.8.0 – 2.15.0"
    assert list(one.programs)[:2] == ["if on a tensor", "any(...) over a tensor"]
    assert len(one.programs) == len(one.facts["programs"]) == 5
    breaks, works, also = one.programs["if on a tensor"]
    assert [card.title for card in (breaks, works, also)] == ["Breaks", "Works", "Also works"]
    assert "    if x.mean() > 0:  # breaks here\n" in breaks.code
    assert "torch.where" in works.code
    assert works.text.strip().startswith("Compute both, and select with `torch.where`. Use this when both branches")


def test_the_note_has_its_place_right_below_the_fixes(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        titles = [one.title for one in _cut(page(gb.gb_id).body, "##")[1:]]
        assert titles.index("Additional information") == len(gb.programs), gb.gb_id


def test_code_runs_when_it_is_pasted_and_the_mark_changes_nothing(breaks: list[GraphBreak]) -> None:
    programs = programs_of(committed_registry())
    for gb in breaks:
        shown = [card.code for card in page(gb.gb_id).cards if card.title != "No fix"]
        apart = [programs[one.repro.name] for one in gb.programs]
        scripts = {one.script.rstrip() for each in apart for one in (each.broken, *each.fixes, *each.isolated)}
        assert {code.replace(MARK, "") for code in shown} == scripts
        assert {ast.dump(ast.parse(code)) for code in shown} == {ast.dump(ast.parse(script)) for script in scripts}
    marked = sum(MARK in card.code for gb in breaks for card in page(gb.gb_id).cards[:1])
    assert marked > len(breaks) / 4


def test_a_page_is_markdown_of_a_size_that_a_person_reads(breaks: list[GraphBreak]) -> None:
    sizes = []
    for gb in breaks:
        text = pages().render(gb)
        outside = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        markers = re.findall(r"<!--.*?-->", outside)
        assert "{::" not in outside, gb.gb_id
        assert re.findall(r"(?<!\\)<(?!!--)[a-z/][^>\n]*>", re.sub(r"`[^`\n]*`", "", outside)) == [], gb.gb_id
        assert len(markers) == 2
        sizes.append(len(text.encode()))
    assert sorted(sizes)[len(sizes) // 2] <= 8_000
    assert max(sizes) <= 40_000


def test_what_to_do_comes_before_when_to_do_it() -> None:
    assert answer_first("Use this when you can. Do it.\nThen stop.") == "Do it. Then stop. Use this when you can."
    assert answer_first("Use this when nothing else works.") == "Use this when nothing else works."
    assert answer_first("Keep the check. Use this when it matters.") == "Keep the check. Use this when it matters."


def test_what_a_newer_torch_makes_of_a_program_stands_above_it() -> None:
    assert (
        "\n\nSince torch 2.14.1, this program no longer breaks. "
        "If you use an older torch, an upgrade is the simplest fix. "
        "The last release in which we saw it give GB0094 is 2.13.0.\n\n### Breaks"
    ) in page("GB0094").body
    assert "\nSince torch 2.14.1, this program gives [GB9493](GB9493.md) instead." in page("GB4411").body
    assert "Since torch" not in page("GB0170").body


def test_the_program_for_the_newest_torch_comes_first_and_others_where_they_are_the_first() -> None:
    assert list(page("GB4411").programs) == ["A text from a dynamic size", "array.array"]
    older = page("GB4411").facts["first"]
    assert set(older.values()) == set(page("GB4411").facts["programs"][1:])
    assert "2.15.0" not in older


def test_a_fix_that_fails_with_another_backend_than_eager_says_so() -> None:
    first, flag = (card.last for card in page("GB0083").cards if "orks" in card.title)
    assert "Does not work" not in first
    assert "Does not work in training with Inductor on 2.11.0 (CUDA), 2.13.0 and 2.15.0." in flag


def test_a_fix_that_a_release_refuses_is_not_simply_titled_works() -> None:
    (card,) = page("GB0301").cards[1:]
    assert card.title == "Works, but not everywhere"
    assert card.last.endswith("Does not work on 2.15.0.")


def test_a_fix_whose_gradients_differed_in_older_releases_alone_says_so_below_and_not_in_its_title() -> None:
    also = page("GB0042").cards[2]
    assert also.title == "Also works"
    assert "\n> Up to torch 2.13, `backward()` raises" in also.text
    assert page("GB0066").cards[2].title == "Also works, but changes gradients"


def test_where_a_fix_does_not_hold_stands_below_it_and_below_no_other() -> None:
    small = small_registry()
    made = BreakPages(small, programs_of(small), template_environment(ROOT / "templates"))
    _, works, also, *_ = read(made.render(next(iter(small)))).cards
    assert re.findall(r"^> .*", works.text, re.MULTILINE) == [
        "> Not for NaN: A `NaN` is dropped.",
        "> Not for other sizes: It counts to 8.",
    ]
    assert "> " not in also.text


def test_a_page_says_once_that_torch_where_computes_both_sides_if_a_fix_selects_with_it() -> None:
    told = "`torch.where` computes both sides"
    assert page("GB0170").body.count(told) == 1  # four of its programs have such a fix
    assert told not in page("GB0025").body


def test_what_a_fix_does_not_hold_for_is_not_said_to_be_tried() -> None:
    (card,) = [one for one in page("GB0170").programs["while on a tensor"] if one.title == "Works"]
    assert "> Not for large numbers: " in card.text
    assert "large numbers" not in card.last


def test_a_wrong_result_has_its_script_and_what_it_prints() -> None:
    found = page("GB0010").section("What torch gets wrong here")
    script, printed = _fenced(found)
    assert "del w.grad" in script
    assert "compiled: tensor([2.])" in printed.splitlines()


def test_source_code_in_the_registry_is_said_to_be_that_and_a_gap_to_be_one() -> None:
    found = page("GB0170").section("What torch prints")
    message, gb_type, context, explanation = _fenced(found)
    assert "The branch condition involves a tensor" in message
    assert (gb_type, context) == ("Data-dependent branching", "attempted to jump with {value}")
    assert "### Explanation\n\nThis is source code of torch, not the text that it prints.\n\n```text\n" in found
    assert explanation.startswith('"Detected data-dependent branching')
    assert "### Hints\n\nThe registry gives no hints." in found


def test_a_break_that_surfaces_as_another_shows_the_whole_message_and_its_own_type() -> None:
    gb = committed_breaks()["GB7000"]
    shown = evidence_to_show(gb)
    assert shown is not None
    assert shown.message.startswith("Unsupported Tensor.item()")
    assert own_message(gb, shown.message).gb_type == "graph break in loop"
    assert _fenced(page("GB7000").section("What torch prints"))[1] == "graph break in loop"


def test_every_page_answers_or_says_how_to_add_the_answer(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        one = page(gb.gb_id)
        if gb.repro is None:
            said = r"We (have not triggered|could not trigger)|There is no program for this break yet"
            assert re.search(said, one.head), gb.gb_id
        for title, cards in one.programs.items():
            assert cards[0].title == "Breaks"
            assert "orks" in cards[1].title or cards[1].title == "No fix", (gb.gb_id, title)
        for level in ("##", "###"):
            for section in _cut(one.body, level)[1:]:
                assert section.text.strip(), f"{gb.gb_id}: nothing under {section.title}"


def test_only_evidence_of_the_program_as_it_is_now_is_shown(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        holds = "One graph, same result as eager" in page(gb.gb_id).body
        runs = [seen for one in gb.programs for seen in one.fresh_evidence]
        equal = any(any(seen.fixes.values()) or "excused" in seen.gradients.values() for seen in runs)
        assert holds == equal, gb.gb_id


def test_the_facts_of_a_release_are_what_the_evidence_says(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        facts = page(gb.gb_id).facts
        releases = facts.get("releases", {})
        assert list(releases) == [seen.torch for seen in reversed(gb.history.since_known)]
        assert facts["status"] in STATUSES
        for torch, said in releases.items():
            assert said["status"] == gb.status_in(torch)
            for device in ("cpu", "cuda"):
                verdict = gb.verdict_in(torch, device)
                assert (device in said) == (verdict != "not run"), (gb.gb_id, torch)
                seen = said.get(device, "").split(";")[0]
                assert ("fix works" in seen) == (verdict == "verified"), (gb.gb_id, torch)
                assert seen.startswith("breaks") == (verdict in PROVEN)
                assert (seen == "compiles without a break") == (verdict == "stopped")
        proof = gb.newest_proof
        assert (facts.get("proof") or {}).get("torch") == (proof.environment.torch if proof else None)


def test_a_backend_with_which_a_fix_fails_did_not_do_the_same(breaks: list[GraphBreak]) -> None:
    names = {"inductor": "Inductor", "mock": "the mock accelerator"}
    for gb in breaks:
        for torch, said in page(gb.gb_id).facts.get("releases", {}).items():
            for device in ("cpu", "cuda"):
                if ran := gb.best_run(torch, device):
                    failing = {backend for where in ran.fails_with.values() for backend in where}
                    same = next((part for part in said[device].split("; ") if part.startswith("the same with")), "")
                    for backend, name in names.items():
                        agrees = ran.verdicts.get(backend) == ran.verdict and backend not in failing
                        assert (name in same) == agrees, (gb.gb_id, torch, backend)
    assert "; with Inductor, a fix fails in training" in page("GB0083").facts["releases"]["2.13.0"]["cpu"]


def test_what_other_backends_did_is_said_in_words_and_what_nobody_ran_is_not() -> None:
    said = page("GB0170").facts["releases"]
    assert said["2.13.0"]["cpu"] == "breaks, every fix works; the same with Inductor and the mock accelerator"
    assert said["2.12.1"]["cpu"] == "breaks, every fix works"
    assert "cpu" not in said["2.12.0"]
    assert "; with Inductor, it breaks, without a verified fix" in page("GB0319").facts["releases"]["2.13.0"]["cpu"]


def test_call_sites_name_the_line_of_each_release() -> None:
    sites = [said["at"] for said in page("GB0170").facts["releases"].values()]
    assert len(sites) == 11
    assert all(re.fullmatch(r"symbolic_convert\.py:\d+ in generic_jump\.\w+", site) for site in sites)


def test_related_breaks_are_others(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        assert gb.gb_id not in page(gb.gb_id).facts.get("related", {})
    assert page("GB7000").facts["related"]["GB0124"] == "this program gives it, too"


def related(gb_id: str) -> dict[str, str]:
    """Id -> why, as `Relations` has it: the page prints just that."""
    return {one.gb.gb_id: one.why for one in pages()._relations.of(committed_breaks()[gb_id])}


@pytest.mark.parametrize(
    ("gb_id", "twins"),
    [
        ("GB0007", ["GB0008"]),
        ("GB0098", ["GB0099"]),
        ("GB0031", ["GB0032"]),
        ("GB0240", ["GB0241", "GB0242", "GB0247"]),
        ("GB0100", ["GB0101"]),
    ],
)
def test_twins_are_related_both_ways(gb_id: str, twins: list[str]) -> None:
    assert set(twins) <= related(gb_id).keys()
    assert all(gb_id in related(twin) for twin in twins)


def test_what_many_programs_give_is_not_related_to_all_of_them() -> None:
    assert "GB0206" not in related("GB0007")  # setattr() on Tensor.requires_grad: its program happens to give both
    assert next(iter(related("GB0007").items())) == ("GB0008", "similar title")


def test_breaks_with_the_same_fix_are_related_and_say_which() -> None:
    assert {"GB0033", "GB0124"} <= related("GB0170").keys()
    assert related("GB0170")["GB6622"] == "same fix: torch.where"
    assert related("GB0033")["GB9352"] == "same fix: capture_scalar_outputs"


def test_a_contrived_program_is_related_to_what_people_meet() -> None:
    assert related("GB0194")["GB0150"] == related("GB0150")["GB0194"] == "same cause"


def test_live_breaks_come_before_retired_ones(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        gone = [committed_breaks()[other].lifecycle in ("retired", "dropped") for other in related(gb.gb_id)]
        assert gone == sorted(gone), gb.gb_id


def test_earlier_wordings_stand_with_their_releases() -> None:
    found = _cut(page("GB0170").section("Earlier wordings"), "###")[1:]
    assert [one.title for one in found][:2] == ["torch 2.11.0", "torch 2.9.0 to 2.10.0"]
    assert "Explanation: Detected data-dependent branching" in found[0].code
    assert len(found) == len(committed_breaks()["GB0170"].revisions) - 1


def test_the_words_of_about_are_those_of_the_site() -> None:
    statuses = re.findall(r"^\| ([A-Z][\w, ]+) \|", (ROOT / "docs" / "about.md").read_text("utf-8"), re.MULTILINE)
    assert [name for name in statuses if name != "Status"][: len(STATUSES)] == list(STATUSES.values())
    assert choices(committed_registry())[0] == "2.15.0"


def test_one_reworded_id_touches_its_own_files_and_the_lists_by_the_lines_that_changed() -> None:
    before, registry = render_site(committed_registry(), ROOT / "templates"), committed_registry()
    (newest, *older) = committed_breaks()["GB0033"].revisions
    wording = replace(newest.revision, explanation=f"{newest.revision.explanation} In other words.")
    reworded = replace(committed_breaks()["GB0033"], revisions=(replace(newest, revision=wording), *older))
    breaks = tuple(reworded if gb.gb_id == "GB0033" else gb for gb in registry.breaks)
    after = render_site(replace(registry, breaks=breaks), ROOT / "templates")
    changed = {
        name: sum(line[:2] in ("- ", "+ ") for line in ndiff(before[name].splitlines(), after[name].splitlines()))
        for name in after
        if before[name] != after[name]
    }
    own = {"gb/GB0033.md", "api/v1/gb/GB0033.json"}
    assert changed.keys() - own <= {f"assets/data/{name}.js" for name in ("breaks", "wordings", "answers", "search")}
    assert changed.keys() >= own
    assert changed["gb/GB0033.md"] == 4  # the text and the digest, each once out and once in
    assert max(changed.values()) <= 4
