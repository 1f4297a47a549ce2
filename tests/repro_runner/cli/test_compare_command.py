"""`graphbreak compare`: what became of every site from one saved run to another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.captured import dump_captured
from registry.model import CapturedProgram
from repro_runner.cli import main
from repro_runner.explain.comparison import Comparison, Saved, compare_runs
from repro_runner.explain.fingerprint import take_fingerprint
from repro_runner.explain.render.comparison import comparison_document, comparison_markdown, comparison_text
from repro_runner.explain.report import Report
from repro_runner.explain.site import Frequency, Program, Site
from tests.committed import committed_registry
from tests.repro_runner.fixtures.saved_runs import BRANCH, ITEM, LOOP, a_report, a_site, save

pytestmark = pytest.mark.slow


def captured(report: Report) -> CapturedProgram:
    return take_fingerprint(report, name="net", about="", registry=committed_registry()).program


def compare_sites(before: list[Site], after: list[Site]) -> Comparison:
    return compare_runs(a_report(*before), a_report(*after))


sites = st.builds(
    lambda named, fields: a_site(*named, **fields),
    st.sampled_from([(BRANCH,), (ITEM,), (ITEM, LOOP), (BRANCH, LOOP)]),
    st.fixed_dictionaries(
        {
            "file": st.sampled_from(["/a/net.py", "/b/net.py", "/a/more.py"]),
            "line": st.integers(1, 4),
            "function": st.sampled_from(["f", "g", "torch_dynamo_resume_in_f_at_2"]),
            "source": st.sampled_from(["", "if x:", "print(x)"]),
            "kind": st.sampled_from(["resumed", "fatal"]),
            "compiled": st.integers(1, 2),
            "ran": st.none() | st.integers(0, 2),
        }
    ),
)
runs: st.SearchStrategy[Saved] = st.lists(sites, max_size=6).flatmap(
    lambda found: st.sampled_from([a_report(*found), captured(a_report(*found))])
)


@given(runs)
def test_a_run_and_itself_have_no_difference(run: Saved) -> None:
    same = compare_runs(run, run)
    assert (same.differences, same.gone, same.new, same.altered) == ((), (), (), ())
    assert (same.gone_sites, same.new_sites) == (0, 0)
    assert all(figure.before == figure.after for figure in same.figures)


@given(runs, runs)
def test_the_other_way_round_everything_is_mirrored(before: Saved, after: Saved) -> None:
    there, back = compare_runs(before, after), compare_runs(after, before)
    assert (there.gone, there.new) == (back.new, back.gone)
    assert (there.gone_sites, there.new_sites) == (back.new_sites, back.gone_sites)
    swapped = [(pair.after, pair.before) for pair in back.pairs]
    assert sorted(map(repr, ((pair.before, pair.after) for pair in there.pairs))) == sorted(map(repr, swapped))
    assert [(one.name, one.before, one.after) for one in there.figures] == [
        (one.name, one.after, one.before) for one in back.figures
    ]


@given(st.lists(sites, max_size=6), st.lists(sites, max_size=6))
def test_no_site_is_lost_and_none_is_counted_twice(before: list[Site], after: list[Site]) -> None:
    found = compare_sites(before, after)
    assert len(found.gone) + len(found.pairs) == len(before)
    assert len(found.new) + len(found.pairs) == len(after)


@given(runs, runs)
def test_every_face_can_show_every_comparison(before: Saved, after: Saved) -> None:
    found = compare_runs(before, after)
    assert json.loads(json.dumps(comparison_document(found)))["new_sites"] == found.new_sites
    assert comparison_text(found)
    assert comparison_markdown(found)


FIRST = a_site(BRANCH)


@pytest.mark.parametrize(
    ("after", "what"),
    [
        (replace(FIRST, line=15), "moved"),
        (replace(FIRST, file="/elsewhere/net.py"), "moved"),
        (replace(FIRST, file="C:\\work\\net.py", line=13), "moved"),
        (replace(FIRST, source="if x.mean() > 0:"), ""),
        (replace(FIRST, function="torch_dynamo_resume_in_forward_at_11"), ""),
        (replace(FIRST, gb_ids=("GB0124",), gb_types=(ITEM[1],)), "changed"),
        (replace(FIRST, gb_ids=("GB0170", "GB7000"), gb_types=(BRANCH[1], LOOP[1])), "changed"),
        (replace(FIRST, kind="fatal"), "changed"),
        (replace(FIRST, compiled=7), "counts_differ"),
        (replace(FIRST, frequency=Frequency(ran=None), kind=""), ""),
    ],
    ids=["line", "folder", "Windows", "text", "resumed", "other id", "in a loop", "kind", "count", "not told"],
)
def test_a_site_is_the_same_though_one_thing_about_it_is_not(after: Site, what: str) -> None:
    (pair,) = compare_sites([FIRST], [after]).pairs
    assert [name for name in ("moved", "changed", "counts_differ") if getattr(pair, name)] == [what] * bool(what)


@pytest.mark.parametrize(
    "other",
    [
        replace(FIRST, function="backward"),
        replace(FIRST, file="/home/me/other.py"),
        replace(FIRST, source="print(x)", gb_ids=("GB0124",), gb_types=(ITEM[1],)),
    ],
    ids=["function", "file", "text and id"],
)
def test_a_site_elsewhere_is_another(other: Site) -> None:
    found = compare_sites([FIRST], [other])
    assert (len(found.gone), len(found.new), found.pairs) == (1, 1, ())


def test_of_two_equal_lines_the_one_that_stayed_is_not_gone() -> None:
    found = compare_sites([a_site(BRANCH, line=5), a_site(BRANCH, line=9)], [a_site(BRANCH, line=9)])
    assert [place.line for place in found.gone] == [5]
    assert found.altered == ()


def test_equal_lines_that_all_moved_go_with_each_other_in_order() -> None:
    found = compare_sites(
        [a_site(BRANCH, line=5), a_site(BRANCH, line=9)], [a_site(BRANCH, line=7), a_site(BRANCH, line=11)]
    )
    assert [(pair.before.line, pair.after.line) for pair in found.pairs] == [(5, 7), (9, 11)]


def run_compare(tmp_path: Path, before: Report, after: Report, *arguments: str) -> int:
    paths = [save(tmp_path / f"{name}.json", run) for name, run in (("a", before), ("b", after))]
    return main(["compare", *map(str, paths), *arguments])


BEFORE = a_report(a_site(BRANCH), a_site(ITEM, line=20, source="n = x.item()"), a_site(BRANCH, LOOP, line=40))
AFTER = a_report(
    a_site(BRANCH, line=14, ran=6), a_site(BRANCH, LOOP, line=40), a_site(ITEM, function="loss"), torch="2.14.0"
)


def test_a_person_reads_what_is_gone_new_and_altered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_compare(tmp_path, BEFORE, AFTER) == 0
    assert (
        capsys.readouterr().out
        == f"""\
torch: 2.13.0 -> 2.14.0
1 site gone, 1 new, 1 altered, 1 as before.

gone
  /home/me/net.py:20 in forward, GB0124: {ITEM[1]}
      n = x.item()

new
  /home/me/net.py:12 in loss, GB0124: {ITEM[1]}
      if x.sum() > 0:

altered
  /home/me/net.py:14 in forward, GB0170: {BRANCH[1]}: was at line 12; ran 6, was 3

              before   after
sites              3       3
graphs             4       4
ops               20      20
frames             3       3
compilations       5       5
recompiles         0       0
compile time  1.25 s  1.25 s
"""
    )


def test_what_one_of_the_runs_does_not_tell_is_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_a_log = replace(BEFORE, environment={"torch": "2.14.0"}, program=Program())
    assert run_compare(tmp_path, BEFORE, of_a_log) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["torch: 2.13.0 -> 2.14.0", "Nothing changed: 3 sites."]


def test_nothing_changed_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_compare(tmp_path, BEFORE, BEFORE, "--fail-on-new") == 0
    assert capsys.readouterr().out.startswith("Nothing changed: 3 sites.\n")


@pytest.mark.parametrize(
    ("before", "after", "code"), [(BEFORE, AFTER, 1), (a_report(), AFTER, 1), (AFTER, a_report(), 0)]
)
def test_ci_can_hold_the_number_of_sites_from_growing(tmp_path: Path, before: Report, after: Report, code: int) -> None:
    assert run_compare(tmp_path, before, after, "--fail-on-new") == code
    assert run_compare(tmp_path, before, after) == 0


def test_a_program_reads_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_compare(tmp_path, BEFORE, AFTER, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == [{"what": "torch", "before": "2.13.0", "after": "2.14.0"}]
    assert [place["line"] for place in found["gone"]] == [20]
    assert [(place["function"], place["gb_ids"]) for place in found["new"]] == [("loss", ["GB0124"])]
    assert [(pair["before"]["ran"], pair["after"]["ran"], pair["moved"]) for pair in found["altered"]] == [(3, 6, True)]
    assert (found["gone_sites"], found["new_sites"], found["same"]) == (1, 1, 1)


def test_markdown_takes_nothing_of_a_program_for_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = a_site(BRANCH, source="x = `a` | *b* <script>", function="__init__")
    assert run_compare(tmp_path, a_report(), a_report(hostile), "--format", "md") == 0
    shown = capsys.readouterr().out
    assert f"- `/home/me/net.py:12 in __init__, GB0170: {BRANCH[1]}`  \n  ``x = `a` | *b* <script>``\n" in shown
    assert "| graphs | 4 | 4 |" in shown


def test_captured_programs_are_compared_by_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (
        captured(a_report(a_site(BRANCH), a_site(ITEM))),
        captured(a_report(a_site(BRANCH), a_site(BRANCH, line=9))),
    )
    for name, program in (("one", one), ("two", two)):
        (tmp_path / f"{name}.json").write_text(dump_captured(program), "utf-8")
    assert main(["compare", str(tmp_path / "one.json"), str(tmp_path / "two.json"), "--fail-on-new"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("program: one -> two\n1 site gone, 1 new, 1 altered, 0 as before; compared by type")
    assert f"  GB0170: {BRANCH[1]}: at 2 lines, was 1; compiled 2 times, was 1; ran 6, was 3\n" in shown


def test_a_run_and_its_own_capture_hit_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.json").write_text(dump_captured(captured(BEFORE)), "utf-8")
    assert main(["compare", str(save(tmp_path / "run.json", BEFORE)), str(tmp_path / "net.json")]) == 0
    assert "Nothing changed: 3 types of break." in capsys.readouterr().out


def test_both_files_are_judged_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.json").write_text('{"kind": "captured", "schema": 9}')
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "No such file or directory; `graphbreak explain --save FILE SCRIPT` writes one",
        "written by a newer version (schema 9; this one reads up to 1); update this one",
    ]


def test_no_control_character_of_a_program_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "\x1b[31m\r\u202e\ud800"
    sites = a_site((f"GB0170{hostile}", hostile), file=hostile, function=hostile, source=hostile, kind=hostile)
    for form in ("text", "md", "json"):
        assert run_compare(tmp_path, a_report(), a_report(sites, torch=hostile), "--format", form) == 0
        assert set(hostile) - set("[31m") & set(capsys.readouterr().out) == set()
