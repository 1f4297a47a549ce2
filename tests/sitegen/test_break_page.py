"""A break's page, from the committed registry: what a reader finds on it."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from registry.model import PROVEN, GraphBreak
from registry.snippets import programs_of
from sitegen.break_page import BreakPages
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show, own_message
from sitegen.facets import STATUSES
from sitegen.release_table import SIGNS
from sitegen.report_issue import LONGEST
from sitegen.templating import template_environment
from tests.committed import committed_breaks, committed_registry
from tests.conftest import ROOT
from tests.scheduling import sampled
from tests.sitegen.api_registry import small_registry

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("break pages")]  # each page is parsed once for all tests
PARTS = 12


@cache
def pages() -> BreakPages:
    return BreakPages(committed_registry(), programs_of(committed_registry()), template_environment(ROOT / "templates"))


@cache
def page(gb_id: str) -> BeautifulSoup:
    return BeautifulSoup(pages().render(committed_breaks()[gb_id]), "html.parser")


@pytest.fixture(params=sampled(PARTS))
def breaks(request: pytest.FixtureRequest) -> list[GraphBreak]:
    """A part of the registry: a page takes a while to be parsed."""
    return list(committed_registry())[request.param :: PARTS]


def one(soup: Tag, selector: str) -> Tag:
    (found,) = soup.select(selector)
    return found


def text(tag: Tag) -> str:
    return " ".join(tag.get_text().split())


def field(gb_id: str, anchor: str) -> list[tuple[str, str]]:
    """(heading, text) of what stands under an anchor, in order."""
    heading = one(page(gb_id), f"#{anchor}")
    found = heading.find_parent(class_="field")
    assert found is not None
    return [(text(part.h4), " ".join(text(part).split())) for part in found.select(".text") if part.h4]


def test_the_answer_stands_at_the_top() -> None:
    soup = page("GB0170")
    assert text(one(soup, "h1")) == "GB0170: Data-dependent branching"
    assert "branch" in text(one(soup, ".lead"))
    badges = [text(badge) for badge in soup.select(".badge")]
    assert badges[0] == "Verified fix"
    assert "emitted by torch 2.8.0 – 2.15.0" in badges
    assert [text(tab) for tab in soup.select(".tabs a")] == [text(title) for title in soup.select(".tab-title")]
    first = one(soup, "#gb0170-program")
    assert [text(card) for card in first.select(".pair .sample h2")] == ["Breaks", "Works"]
    assert "if x.mean() > 0:" in one(first, ".pair .breaks .here").get_text()
    assert "torch.where" in one(first, ".pair .works .changed").get_text()
    assert text(one(first, ".pair .works .when")).startswith("Use this when both branches are cheap")
    assert len(first.select(".more-fixes .sample")) == 1


def test_what_a_newer_torch_makes_of_a_program_stands_above_it() -> None:
    (gone,) = page("GB0094").select(".newer")
    assert text(gone) == (
        "Since torch 2.14.1, this program no longer breaks. If you use an older torch, an upgrade is the simplest fix. "
        "The last release in which we saw it give GB0094 is 2.13.0."
    )
    (other,) = page("GB4411").select(".newer")
    assert text(other).startswith("Since torch 2.14.1, this program gives GB9493 instead.")
    assert one(other, "a")["href"] == "gb9493.html"
    assert page("GB0170").select(".newer") == []


def test_the_program_for_the_newest_torch_comes_first() -> None:
    assert [text(tab) for tab in page("GB4411").select(".tabs a")] == ["A text from a dynamic size", "array.array"]


def test_long_set_up_is_open_in_the_program_and_folded_in_a_fix_unless_that_changes_it() -> None:
    breaks, works = page("GB0239").select(".pair .sample")
    assert "open" in breaks.select("details")[0].attrs
    assert "open" not in works.select("details")[0].attrs
    assert [text(summary) for summary in page("GB0239").select(".pair summary")] == ["Set-up", "Inputs and call"] * 2
    assert breaks.select("pre")[2].get_text().startswith("def broken")
    (changed,) = (card for card in page("GB0239").select(".more-fixes .sample"))
    assert [text(summary) for summary in changed.select("summary")] == ["Inputs and call"]
    assert {text(summary) for summary in page("GB0170").select(".sample summary")} == {"Inputs and call"}


def test_a_fix_that_fails_with_another_backend_than_eager_says_so() -> None:
    first, flag = (text(proof) for proof in page("GB0083").select(".works .proof"))
    assert "Does not work" not in first
    assert "Does not work in training with Inductor on 2.11.0 (CUDA), 2.13.0 and 2.15.0." in flag


def test_a_fix_that_a_release_refuses_is_not_simply_titled_works() -> None:
    (card,) = page("GB0301").select(".pair .sample")[1:]
    assert text(one(card, "h2")) == "Works, but not everywhere"
    assert "warns" in card["class"]  # the newest release is the one that refuses it
    assert text(one(card, ".proof")).endswith("Does not work on 2.15.0.")


def test_a_fix_whose_gradients_differed_in_older_releases_alone_says_so_below_and_not_in_its_title() -> None:
    assert text(one(page("GB0042"), ".more-fixes .sample h2")) == "Also works"
    assert text(one(page("GB0042"), ".more-fixes .warning")).startswith("Up to torch 2.13, backward() raises")
    assert text(one(page("GB0066"), ".more-fixes .sample h2")) == "Also works, but changes gradients"


def test_where_a_fix_does_not_hold_stands_below_it_and_below_no_other() -> None:
    small = small_registry()
    made = BreakPages(small, programs_of(small), template_environment(ROOT / "templates"))
    soup = BeautifulSoup(made.render(next(iter(small))), "html.parser")
    works, also, *_ = soup.select(".sample:is(.works, .warns)")
    assert [text(one) for one in works.select(".warning")] == [
        "Not for NaN: A NaN is dropped.",
        "Not for other sizes: It counts to 8.",
    ]
    assert also.select(".warning") == []


def test_a_page_says_once_that_torch_where_computes_both_sides_if_a_fix_selects_with_it() -> None:
    told = "torch.where computes both sides"
    assert page("GB0170").get_text().count(told) == 1  # four of its programs have such a fix
    assert told not in page("GB0025").get_text()


def test_a_wrong_result_has_its_script_what_it_prints_and_an_issue() -> None:
    found = one(page("GB0010"), ".findings details")
    assert "del w.grad" in one(found, ".script pre").get_text()
    assert "compiled: tensor([2.])" in [line for pre in found.select(".said") for line in pre.get_text().splitlines()]
    address = str(found.select("a")[-1]["href"])
    assert len(address) <= LONGEST
    issue = unquote(address)
    assert issue.startswith("https://github.com/pytorch/pytorch/issues/new?title=[dynamo] After `del w.grad`")
    assert "assert torch.equal(eager, compiled)" in issue
    assert "compiled: tensor([2.])" in issue


def test_where_the_registry_holds_source_code_the_captured_text_comes_first() -> None:
    (printed, registered) = field("GB0170", "explanation")
    assert printed[0] == "In the message"
    assert "The branch condition involves a tensor" in printed[1]
    assert registered[0] == "In the registry (source code, not the text)"
    hints = field("GB0170", "hints")
    assert [heading for heading, _ in hints] == ["In the message", "In the registry"]
    assert "torch.cond" in hints[0][1]
    assert "gives no hints" in hints[1][1]


def test_a_break_that_surfaces_as_another_shows_its_own_part_of_the_message() -> None:
    gb = committed_breaks()["GB7000"]
    shown = evidence_to_show(gb)
    assert shown is not None
    assert shown.message.startswith("Unsupported Tensor.item()")
    assert own_message(gb, shown.message).gb_type == "graph break in loop"
    assert field("GB7000", "graph-break-type")[0][1].endswith("graph break in loop")


def test_a_message_is_shown_from_the_newest_release_in_which_the_program_still_breaks() -> None:
    stopped = [
        gb
        for gb in committed_registry()
        if evidence_to_show(gb) and gb.best_evidence[-1].verdicts.get("eager") == "stopped"
    ]
    assert stopped
    note = text(page(stopped[0].gb_id).select(".wording .small")[0])
    assert "In other releases, the program does not give this break, or nobody ran it." in note


def test_every_page_answers_or_says_how_to_add_the_answer(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        soup = page(gb.gb_id)
        if gb.repro is None:
            assert text(one(soup, ".no-program"))
        else:
            assert soup.select(".pair .breaks pre")
            assert soup.select(".pair :is(.works, .warns) pre") or text(one(soup, ".pair .none p"))
        for heading in soup.select("h2:not(header h2), h3, h4"):
            section = heading.parent
            assert section is not None
            assert text(section) != text(heading), f"{gb.gb_id}: nothing under {text(heading)}"


def test_only_evidence_of_the_program_as_it_is_now_is_shown(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        holds = "One graph, same result as eager" in text(page(gb.gb_id))
        assert holds == any(any(seen.fixes.values()) for seen in gb.fresh_evidence), gb.gb_id


def test_the_badge_of_every_release_is_its_status_and_the_newest_is_shown(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        badges = [badge for badge in page(gb.gb_id).select(".badge") if set(badge["class"]) & set(STATUSES)]
        for torch in choices(committed_registry()):
            said = [badge for badge in badges if torch in str(badge.get("data-torch", torch)).split()]
            assert gb.status_in(torch) in said[0]["class"], (gb.gb_id, torch)
            assert ("hidden" in said[0].attrs) == (gb.status_in(torch) != gb.status)
            proofs = [text(badge) for badge in said[1:] if " in torch " in text(badge)]
            proof = gb.newest_proof
            shown = [f"{STATUSES[proof.verdict]} in torch {proof.environment.torch}"] if proof else []
            assert proofs == (shown if gb.status_in(torch) not in PROVEN else []), (gb.gb_id, torch)


def test_a_box_for_each_environment_says_what_the_evidence_says(breaks: list[GraphBreak]) -> None:
    places = [(one.torch, one.device) for one in committed_registry().environments]
    for gb in breaks:
        boxes = page(gb.gb_id).select(".strip a")
        assert [str(box["data-release"]) for box in boxes] == [torch for torch, _ in places]
        for box, (torch, device) in zip(boxes, places, strict=True):
            assert ("CUDA" in text(box)) == (device == "cuda")
            assert ("fixed" in box["class"]) == (gb.verdict_in(torch, device) == "verified"), (gb.gb_id, torch)
            assert ("breaks" in box["class"]) == (gb.verdict_in(torch, device) in PROVEN)
            assert ("works" in box["class"]) == (gb.verdict_in(torch, device) == "stopped")


def test_the_message_of_a_release_is_the_one_that_was_captured_there(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        sections = page(gb.gb_id).select(".wording")
        assert ["hidden" in section.attrs for section in sections] == [False, *[True] * (len(sections) - 1)]
        for torch in choices(committed_registry()):
            (shown,) = [one for one in sections if torch in str(one.get("data-torch", torch)).split()]
            captured = [
                run.message for one in gb.programs_for(torch)[:1] if (run := one.best_run(torch)) and run.shows_it
            ]
            said = [pre.get_text() for pre in shown.select("details .said")]
            note = text(shown.select(".small")[0])
            assert (said == captured and torch in note.split(", Python")[0]) if captured else torch not in note, (
                gb.gb_id
            )


def test_the_legend_is_that_of_the_page_about_the_site() -> None:
    rows = re.findall(r"^\| (\S.*?) \| (.+) \|$", (ROOT / "docs" / "about.md").read_text("utf-8"), re.MULTILINE)
    assert {sign: meaning for sign, meaning in rows if sign in SIGNS} == SIGNS
    legend = text(page("GB0170").select(".matrix > .small")[0])
    assert all(f"{sign} {meaning}" in legend for sign, meaning in SIGNS.items())
    statuses = re.findall(r"^\| ([A-Z][\w, ]+) \|", (ROOT / "docs" / "about.md").read_text("utf-8"), re.MULTILINE)
    assert [name for name in statuses if name not in ("Status", "Sign")][: len(STATUSES)] == list(STATUSES.values())


def test_the_table_of_releases_says_what_the_evidence_says(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        headings = [text(heading) for heading in page(gb.gb_id).select(".tape thead th")]
        rows = {
            text(row.th).split()[0]: dict(zip(headings, map(text, row.select("th, td")), strict=True))
            for row in page(gb.gb_id).select(".tape tbody tr")
            if row.th
        }
        for seen in gb.best_evidence:
            row = rows.get(seen.environment.torch)
            if row is None:  # a program may be run on a release that has no such id yet
                continue
            cell = row[seen.environment.device.upper()]
            verdict = seen.verdicts["eager"]
            assert ("✗ fix" in cell) == (verdict == "verified"), (gb.gb_id, seen.environment)
            assert ("✗" in cell) == (verdict in PROVEN)
            assert ("✓" in cell) == (verdict == "stopped")


def test_call_sites_link_to_the_line_at_each_releases_tag() -> None:
    links = [str(link["href"]) for link in page("GB0170").select(".tape a")]
    assert len(links) == 11
    assert links[0].startswith("https://github.com/pytorch/pytorch/blob/v2.15.0/torch/_dynamo/symbolic_convert.py#L")


def test_related_breaks_are_others_and_each_once(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        section = next(part for part in page(gb.gb_id).select(".fact") if part.h2 and text(part.h2) == "Related")
        links = [str(link["href"]) for link in section.select("a")]
        assert len(links) == len(set(links))
        assert f"{gb.gb_id.lower()}.html" not in links
    related = text(next(part for part in page("GB7000").select(".fact") if part.h2 and text(part.h2) == "Related"))
    assert (
        "GB0124 Unsupported Tensor.item() call with capture_scalar_outputs=False this program gives it, too" in related
    )


def test_a_long_name_in_a_title_may_break_between_its_parts_and_a_short_one_may_not() -> None:
    assert "torch.<wbr>fx.<wbr>experimental.<wbr>symbolic&#95;<wbr>shapes." in pages().render(
        committed_breaks()["GB0360"]
    )
    assert "Unspecialized<wbr>NNModule<wbr>Variable" in pages().render(committed_breaks()["GB0121"])
    assert not page("GB0109").select("h1 wbr")  # Tensor.tolist()


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


def test_an_issue_at_pytorch_is_filled_in_and_its_address_is_not_too_long(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        links = [str(link["href"]) for link in page(gb.gb_id).select("a") if text(link) == "Report it to PyTorch"]
        (link,) = links
        assert len(link) <= LONGEST
        query = parse_qs(urlsplit(link).query)
        assert query["title"][0].startswith(f"[dynamo] {gb.gb_id}: ")
        assert f"gb/{gb.gb_id.lower()}.html" in query["body"][0]
        if gb.repro:
            assert "def broken(" in query["body"][0]


def test_the_edit_of_an_older_wording_reads_both_ways(breaks: list[GraphBreak]) -> None:
    for gb in breaks:
        for change in page(gb.gb_id).select(".earlier dd"):
            assert not change.select("ins ins, del del")
    soup = page("GB0170")
    first = soup.select(".earlier details")[0]
    assert text(first.summary or first) == "torch 2.11.0"
    assert "trace_info" in "".join(tag.get_text() for tag in first.select("ins"))


@pytest.mark.parametrize("gb_id", ["GB0002", "GB0170", "GB0252", "GB7000"])
def test_a_page_is_one_column_of_html_and_one_of_facts(gb_id: str) -> None:
    soup = page(gb_id)
    assert str(soup).count("<!-- column -->") == 2
    assert len(re.findall(r"\{::nomarkdown\}|\{:/nomarkdown\}", str(soup))) == 2
