"""A report on a terminal, in a few lines, and what each of its sentences says."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from registry.advice import Fix
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.allowed import Entry, judge_sites
from repro_runner.explain.render import sentences
from repro_runner.explain.render.brief import brief_text
from repro_runner.explain.render.formats import read_answers
from repro_runner.explain.render.source_lines import compare_with_fix, read_excerpts
from repro_runner.explain.render.terminal import Screen, render_terminal, screen_of
from repro_runner.explain.render.view import Outcome, ReportView, find_advice, view_outcome, view_report
from repro_runner.explain.report import Report
from repro_runner.explain.site import OwnFix, Program, Site, Suggestion, Totals
from tests.conftest import ROOT
from tests.repro_runner.fixtures.written_report import (
    FOLDER,
    HOSTILE,
    SUGGESTIONS,
    failed_report,
    sample_answers,
    sample_report,
)

NOTHING_COMPILED = Report(program=Program(name="train.py", exit_code=0))
WHOLE = Report(program=Program(name="train.py"), totals=Totals(graphs=2, ops=9, frames=2, compilations=2))


def view(report: Report) -> ReportView:
    return view_report(report, sample_answers(), folder=Path(FOLDER))


def shown(report: Report, width: int = 80) -> str:
    return render_terminal(view(report), Screen(width=width))


def shown_with(found: Outcome, *, fullgraph_off: bool = False) -> str:
    everything = view_outcome(found, sample_answers(), folder=Path(FOLDER), fullgraph_off=fullgraph_off)
    return render_terminal(everything, Screen())


def test_a_terminal_shows_every_site_with_what_to_do(matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot("explain/terminal.txt", shown(sample_report()))


def test_a_summary_goes_by_category(matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot("explain/summary.txt", render_terminal(view(sample_report()), Screen(), summary=True))


def test_a_summary_names_the_place_however_long_the_line_is() -> None:
    report = sample_report()
    long = Report(sites=tuple(replace(site, source=f"{site.source}  {'# why ' * 30}") for site in report.sites))
    text = render_terminal(view(long), Screen(), summary=True)
    for site in view(long).sites:
        assert f"{site.gb_id}  {site.where} " in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("text", [str, lambda text: HOSTILE + text], ids=["ordinary", "hostile"])
def test_no_line_is_wider_than_the_terminal_or_too_wide_to_read(width: int, text: Callable[[str], str]) -> None:
    lines = shown(sample_report(text), width).splitlines()
    assert max(map(len, lines)) <= min(width, 110)
    assert sum(line.endswith("/gb/gb0124.html") for line in lines) == 2  # an address is never cut


def test_colours_change_nothing_but_colours() -> None:
    coloured = render_terminal(view(sample_report()), Screen(colours="truecolor"))
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == shown(sample_report()).splitlines()


@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_hostile_text_does_nothing_on_a_terminal(colours: str | None) -> None:
    text = render_terminal(view(sample_report(lambda text: HOSTILE + text)), Screen(colours=colours))
    rest = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert all(each.isprintable() for line in rest.split("\n") for each in line)
    assert "[bold red]markup[/] :smile:" in rest
    assert r"\x1b[31mred" in rest


def test_a_stream_that_is_no_terminal_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "132")
    assert screen_of(io.StringIO()) == Screen(width=132)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_color", "colours"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_its_owner_wants_none(
    no_color: str, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    assert (screen_of(Terminal()).colours is not None) == colours


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        pytest.param(WHOLE, "no graph breaks: 2 graphs from 2 frames, nothing in between", id="no breaks"),
        pytest.param(NOTHING_COMPILED, "torch.compile was never reached", id="nothing compiled"),
        pytest.param(NOTHING_COMPILED, "`--compile MODULE:FUNC`", id="what to do then"),
        pytest.param(Report(), "call a function under torch.compile inside the block", id="nothing, in Python"),
        pytest.param(failed_report(), "train.py ended with Unsupported: Data-dependent branching; the", id="it raised"),
        pytest.param(Report(program=Program(name="a.py", exit_code=3)), "a.py ended with exit code 3;", id="it left"),
        pytest.param(Report(program=Program(name="a.py", exit_code=130)), "a.py was interrupted;", id="interrupted"),
        pytest.param(failed_report(), "--no-fullgraph", id="breaks may be hidden"),
    ],
)
def test_what_a_report_without_a_good_end_or_without_breaks_says(report: Report, sentence: str) -> None:
    assert sentence in " ".join(shown(report).split())


def test_who_turned_fullgraph_off_is_not_told_to() -> None:
    assert "--no-fullgraph" not in shown_with(Outcome(report=failed_report()), fullgraph_off=True)


def test_the_lines_around_a_break_are_those_of_the_file_as_long_as_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.py").write_text("x = 1\n" * 9, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "other"))  # a file of the same name is not taken for it
    site = replace(sample_report().sites[2], file="model.py", line=4)
    report = Report(sites=(site,))
    file = tmp_path / "model.py"
    file.write_text("import torch\n\n\ndef choose(x):\n    if x.sum() > 0:\n\treturn x\n", "utf-8")
    moved = Report(sites=(replace(site, line=5),))
    (lines,) = read_excerpts(moved, tmp_path).values()
    assert [(line.number, line.text, line.breaks) for line in lines] == [
        (4, "def choose(x):", False),
        (5, "    if x.sum() > 0:", True),
        (6, "    return x", False),
    ]
    for folder in (tmp_path, tmp_path / "gone"):
        (lines,) = read_excerpts(report, folder).values()
        assert [line.text for line in lines] == ["if x.sum() > 0:"]


@pytest.mark.parametrize(
    ("source", "columns", "under"),
    [
        pytest.param("    y = x + z.item()", [(12, 20)], "        ^^^^^^^^", id="one expression"),
        pytest.param("\ty = x.item() + z.item()", [(5, 13), (16, 24)], "    ^^^^^^^^   ^^^^^^^^", id="two, and a tab"),
        pytest.param("    y = 'é', '語', z.item()", [(21, 29)], "               ^^^^^^^^", id="wide characters"),
        pytest.param("    y = x.item() + f(x,", [(19, 12)], "               ^^^^", id="ends in the next line"),
        pytest.param("    y = x.item() + f(x,", [(19, 22)], "               ^^^^", id="ends there, further on"),
        pytest.param("    y = g(x.item())", [], "^^^^^^^^^^^^^^^", id="unknown"),
        pytest.param(f"    y = '{80 * 'a'}', z.item()", [(92, 100)], f"{'^':>75}", id="not on the screen"),
    ],
)
def test_the_mark_is_under_the_expressions_that_break(
    source: str, columns: list[tuple[int, int]], under: str, tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(f"{source}\n", "utf-8")
    site = replace(sample_report().sites[2], file="model.py", line=1, source=source.strip(), columns=tuple(columns))
    report = Report(sites=(site,))
    excerpts = read_excerpts(report, tmp_path)
    everything = view_outcome(Outcome(report=report), sample_answers(), folder=tmp_path, excerpts=excerpts)
    lines = render_terminal(everything, Screen(width=80)).splitlines()
    assert next(line for line in lines if line.startswith("   | ")) == f"   | {under}"


def test_a_break_that_is_not_allowed_is_marked_and_counted() -> None:
    report = sample_report()
    judgement = judge_sites(report, [Entry(origin="a:1", text="GB0124", gb_id="GB0124")], folder=Path(FOLDER))
    text = shown_with(Outcome(report=report, judgement=judgement))
    assert "GB0170 resumed  model.py:14 in choose  NEW\n" in text
    assert "GB0124 resumed  model.py:20 in shift\n" in text
    assert text.endswith("2 recompiles ·\n3 not allowed\n")


@pytest.mark.parametrize("suggestion", SUGGESTIONS, ids=lambda one: one.verdict)
def test_a_models_suggestion_comes_with_its_verdict(suggestion: Suggestion) -> None:
    text = " ".join(shown_with(Outcome(report=sample_report(), suggestions=(suggestion,))).split())
    assert f"model {sentences.suggested(suggestion)}" in text
    assert ("+ return x" in text) == bool(suggestion.patch)


def test_the_same_fix_is_told_once() -> None:
    text = shown(sample_report())
    assert text.count("+     peak = x.abs().max()") == 1
    assert "see     model.py:20, above: the page's fix is shown there\n" in text


WHOLE_DIFF = """\
--- a/train.py
+++ b/train.py
@@ -3,2 +3,2 @@
-    y = first({long})
+    y = second({long})
     return y
--- a/net.py
+++ b/net.py
@@ -20 +20,2 @@
--- a/b
+++ c
+    pass
"""


def test_a_fix_of_the_user_s_own_code_is_shown_whole_and_its_headers_are_no_changes() -> None:
    sites = sample_report().sites
    fix = OwnFix(title="it becomes another", diff=WHOLE_DIFF.format(long=", ".join(f"name_{n}" for n in range(30))))
    report = Report(sites=(replace(sites[0], own_fix=fix), *sites[1:]))
    text = shown(report)
    assert "- -- a" not in text.replace("- -- a/b", "")
    (own,) = (one for one in view(report).sites[0].fixes if one.is_own)
    marked = [f"{change.mark}{change.text}" for change in own.changes]
    assert [len(marked), marked[0], marked[4:]] == [
        8,
        " train.py, line 3:",
        [" net.py, line 20:", "--- a/b", "+++ c", "+    pass"],
    ]
    assert all(f"name_{number}" in text for number in range(30))
    brief = brief_text(replace(view(report).sites[0], fixes=(replace(own, changes=own.changes * 9),)))
    assert brief.count("+     pass") == 9


def test_a_site_without_a_fix_of_its_own_is_not_sent_to_one_as_if_it_had_one() -> None:
    first = sample_report().sites[0]
    held = OwnFix(title="it becomes another", diff=WHOLE_DIFF, breaks_before=2, breaks_after=1, outputs="equal")
    tried = OwnFix(why_none="the break only moves")
    told = {}
    for name, own in (("held", held), ("tried", tried)):
        sites = (replace(first, own_fix=own), *(replace(first, line=n, own_fix=tried) for n in (90, 91)))
        told[name] = [one.fixes_at for one in view(Report(sites=sites)).sites]
        assert shown(Report(sites=sites)).count("no fix of your own code held: the break only moves") >= 2
    assert told == {"held": [0, 0, 2], "tried": [0, 1, 1]}


def test_a_fix_shows_what_goes_and_what_comes() -> None:
    broken = "import math\n\n\ndef broken(x):\n    a = 1\n    b = 2\n    c = 3\n    return x.item()"
    code = broken.replace("broken", "fixed").replace("x.item()", "x")
    fix = Fix(name="fixed", when="", kind="rewrite", code=code, verified_on="2.13.0")
    changes = [f"{change.mark}{change.text}" for change in compare_with_fix(broken, fix)]
    assert changes == ["     b = 2", "     c = 3", "-    return x.item()", "+    return x"]


def test_a_flag_s_fix_is_the_line_that_sets_it() -> None:
    fix = Fix(name="fixed", when="", kind="flag", code="def fixed(f):\n    f()", verified_on="2.13.0", settings="a = 1")
    marked = [f"{change.mark}{change.text}" for change in compare_with_fix("def broken(f):\n    f()", fix)]
    assert marked == ["+a = 1", " def function(f):", "     f()"]


def test_nobody_is_told_to_move_a_call_of_a_library() -> None:
    library = "/v/lib/python3.11/site-packages/lib/net.py"
    message = "qualname: helper, skip reason: x\nDynamo does not know how to trace the builtin `lib._C.helper.` This"
    site = Site(gb_ids=("GB0007",), gb_types=("t",), file=library, line=7, message=message)
    (own,) = find_advice(replace(site, file="/home/me/train.py"), read_answers(), torch="2.13.0")
    assert "Wrap it" in own.counsels[0].text or "before the compiled function" in own.counsels[0].text
    called = replace(site, stack=(UserFrame(file="/home/me/train.py", line=3, function="f", source=""),))
    for one, told in ((site, "compile smaller parts that don't reach it."), (called, "`/home/me/train.py:3`.")):
        (answer,) = find_advice(one, read_answers(), torch="2.13.0")
        assert answer.counsels[-1].text.endswith(told)
        assert not any("the compiled function" in counsel.text for counsel in answer.counsels)


def test_of_advice_for_a_call_of_a_library_what_moves_nothing_is_kept() -> None:
    message = (
        "Unsupported Tensor.item() call with capture_scalar_outputs=False\ndata dependent operator: aten.item.default"
    )
    library = "/v/lib/python3.11/site-packages/lib/net.py"
    site = Site(gb_ids=("GB0033",), gb_types=("t",), file=library, line=7, message=message)
    (answer,) = find_advice(site, read_answers(), torch="2.13.0")
    first, last = (counsel.text for counsel in answer.counsels)
    assert first.startswith("Try `torch._dynamo.config.capture_scalar_outputs = True`")
    assert first.endswith("or drawn with `torch.rand`.")  # what goes on with "Or make it outside" is left out
    assert last.startswith("This line is in a library.")


def test_python_shows_a_report_in_a_few_lines(matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot("explain/repr.txt", repr(sample_report()))
    assert repr(NOTHING_COMPILED).startswith("0 break sites · 0 graphs")
    hostile = repr(sample_report(lambda text: HOSTILE + text))
    assert all(each.isprintable() for line in hostile.split("\n") for each in line)


def test_python_shows_a_report_where_nothing_but_python_is_installed() -> None:
    """On a machine with torch alone, `with explain() as report:` and `report` have to work."""
    source = "import sys; sys.modules.update(dict.fromkeys(['yaml', 'rich', 'jinja2', 'pygments']))\n"
    source += "from repro_runner.explain import Report; print(Report())"
    shown = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("0 break sites")
