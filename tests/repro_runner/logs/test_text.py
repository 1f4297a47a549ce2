"""Breaks in text logs: recorded ones against other readings of the same runs, every wording, and logs that repeat."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.matching import Matcher
from registry.messages import DraftReader, find_drafts
from registry.model import Revision
from registry.templates import ANYTHING, Kind, make_template, mark_placeholders
from repro_runner.explain.render.formats import read_answers
from repro_runner.logs.analysis import analyse
from repro_runner.logs.document import analysis_document
from repro_runner.logs.model import Input, LogPart
from repro_runner.logs.sieve import Sieve
from repro_runner.logs.sources import find_sources
from repro_runner.logs.text import open_reader
from repro_runner.logs.view import view_analysis
from tests.committed import committed_registry
from tests.repro_runner.fixtures import FIXTURES

RECORDED = FIXTURES / "recorded_logs"
BESIDE_TRACES = FIXTURES / "recorded_traces"
SEVEN = "/home/ann/project/seven.py"
HEADER = "V1115 03:15:57.{number:06} 5873 torch/_dynamo/symbolic_convert.py:5124] [{number}/0] [__graph_breaks] "
LINK = "For more details about this graph break, please visit: https://example.invalid/site/gb/{}.html"
BRANCH = """\
Graph break in user code at /home/ann/project/model.py:{line}
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Nothing new.
  Hint: Use `torch.cond` to express dynamic control flow.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.invalid/site/gb/gb0170.html
"""


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.from_registry(committed_registry())


def recorded(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompress(content, max_output_size=2**26)
    return content


def read(matcher: Matcher, text: bytes | str, *, torch: str | None = None, block: int = 1 << 30) -> LogPart:
    """The part, fed in blocks of whole lines of about this size."""
    reader = open_reader(Input(log="a.log", matcher=matcher, torch=torch))
    for one in blocks_of(text.encode() if isinstance(text, str) else text, block):
        reader.feed(one)
    return reader.finish()


def blocks_of(text: bytes, size: int) -> list[bytes]:
    blocks, at = [], 0
    while at < len(text):
        end = text.find(b"\n", at + size) + 1 or len(text)
        blocks.append(text[at:end])
        at = end
    return blocks


def record(number: int, message: str) -> str:
    return "".join(f"{HEADER.format(number=number)}{line}\n" for line in message.splitlines())


def sites(part: LogPart) -> dict[tuple[str, ...], tuple[object, ...]]:
    return {(one.where.rpartition("/")[2], *one.gb_ids): (one.kind, one.count, one.function) for one in part.breaks}


def test_a_dynamo_log_gives_each_break_once_with_its_chain_its_kind_and_its_graphs(matcher: Matcher) -> None:
    part = read(matcher, recorded(RECORDED / "seven.dynamo.log.zst"))
    assert (part.format, part.graphs, part.unfit) == ("graph_breaks", 18, ())
    assert sites(part) == {
        ("seven.py:16", "GB0059"): ("resumed", 3, "scale"),
        ("seven.py:21", "GB0170"): ("resumed", 4, "choose"),
        ("seven.py:27", "GB0124"): ("resumed", 4, "shift"),
        ("seven.py:31", "GB0007"): ("resumed", 4, "stamp"),
        ("seven.py:36", "GB0025"): ("resumed", 4, "explicit"),
        ("seven.py:43", "GB0025", "GB7000"): ("frame skipped", 3, "repeated"),
        ("seven.py:55", "GB0025", "GB0066"): ("frame skipped", 3, "guarded"),
        # only the +dynamo log tells of this one: a frame that Dynamo left to Python without a word in graph_breaks
        ("seven.py:47", "GB0003"): ("frame skipped", 1, "quietly"),
    }
    assert {one.source for one in part.breaks} >= {'print("scaling")', "if x.sum() > 0:", "torch._dynamo.graph_break()"}


def test_every_report_that_a_plain_search_finds_in_a_dynamo_log_is_counted(matcher: Matcher) -> None:
    text = recorded(RECORDED / "seven.dynamo.log.zst").decode()
    found = Counter(re.findall(r"\[__graph_breaks\] Graph break .*in user code at (\S+)", text))
    part = read(matcher, text)
    assert {one.where: one.count for one in part.breaks if one.gb_ids != ("GB0003",)} == found


@pytest.mark.parametrize("name", ["seven", "wav2vec2"])
def test_what_was_captured_in_the_program_is_what_its_log_tells(matcher: Matcher, name: str) -> None:
    captured = json.loads((BESIDE_TRACES / f"{name}.json").read_text("utf-8"))
    part = read(matcher, recorded(BESIDE_TRACES / f"{name}.text.log.zst"))
    places = {(one["gb_id"], one["file"], one["line"]) for one in captured if one["gb_id"] != "GB0003"}  # never logged
    assert places
    assert {(gb_id, one.file, one.line) for one in part.breaks for gb_id in one.gb_ids} == places
    assert all(one.function and one.source for one in part.breaks)


def test_an_exception_printed_again_by_the_one_it_caused_is_counted_once(matcher: Matcher) -> None:
    text = recorded(RECORDED / "chained.log")
    assert text.count(b"_dynamo.exc.Unsupported: Data-dependent branching") == 4
    part = read(matcher, text)
    assert part.format == "traceback"
    assert part.graphs is None
    assert sites(part) == {
        ("chained.py:12", "GB0170"): ("fatal", 3, "step"),
        ("cond.py:196", "GB0302"): ("fatal", 1, "cond"),
    }


def test_what_pytest_prints_of_a_failure_is_one_fatal_break_at_the_users_line(matcher: Matcher) -> None:
    part = read(matcher, recorded(RECORDED / "pytest.log"))
    assert part.messages == ()  # pytest lists source of torch that has texts of other errors
    assert part.format == "traceback"
    assert sites(part) == {("checked.py:10", "GB0170"): ("fatal", 1, "step")}


def test_the_line_that_pytest_ends_a_failure_with_is_no_break_of_its_own(matcher: Matcher) -> None:
    failed = recorded(RECORDED / "pytest.log") + b"/a b/eval_frame.py:1177: torch._dynamo.exc.Unsupported: Data-dep\n"
    assert sites(read(matcher, failed)) == {("checked.py:10", "GB0170"): ("fatal", 1, "step")}


def test_pytests_summary_alone_is_a_break_too(matcher: Matcher) -> None:
    part = read(matcher, "FAILED a.py::test_a - torch._dynamo.exc.Unsupported: Data-dep...\n")
    assert [(one.gb_ids, one.kind, one.gb_types) for one in part.breaks] == [((), "fatal", ("Data-dep...",))]


def test_the_log_of_a_library_model_names_the_librarys_lines(matcher: Matcher) -> None:
    part = read(matcher, recorded(RECORDED / "longer.graph_breaks.log"))
    assert sites(part) == {
        ("modeling_led.py:1347", "GB0291"): ("resumed", 3, "_pad_to_window_size"),
        ("modeling_led.py:1465", "GB0124"): ("resumed", 1, "forward"),
    }
    (unfit,) = part.unfit
    assert "TORCH_LOGS=+dynamo" in unfit.command


def test_a_place_is_named_without_colours_and_by_whichever_stack_shows_its_line(matcher: Matcher) -> None:
    frame = '  File \x1b[35m"/home/ann/project/model.py"\x1b[0m, line \x1b[35m3\x1b[0m, in \x1b[35mstep\x1b[0m'
    stack = f"User code traceback:\n{frame}\n"
    torn, whole = (
        record(1, BRANCH.format(line=3) + stack),
        record(2, BRANCH.format(line=3) + stack + "    \x1b[31mgo()\x1b[0m"),
    )
    (one,) = read(matcher, torn + whole).breaks
    assert (one.function, one.source, one.count) == ("step", "go()", 2)


def test_ranks_in_one_log_are_told_apart(matcher: Matcher) -> None:
    part = read(matcher, recorded(BESIDE_TRACES / "ranks.text.log.zst"))
    assert {rank for one in part.breaks for rank in one.ranks} == {"0", "1"}
    assert all(sum(one.ranks.values()) == one.count for one in part.breaks)
    assert any(set(one.ranks) == {"1"} for one in part.breaks)


def test_ranks_of_plain_tracebacks_are_told_apart(matcher: Matcher) -> None:
    text = recorded(RECORDED / "chained.log").decode().split("\n\n\n")[0]
    lines = [f"[rank{rank}]: {line}" for rank in (0, 1) for line in text.splitlines()]
    (one,) = read(matcher, "\n".join(lines)).breaks
    assert (one.gb_ids, one.ranks, one.kind) == (("GB0170",), {"0": 1, "1": 1}, "fatal")


@pytest.mark.parametrize("size", [1, 5_000, 100_000, 1 << 30])
@pytest.mark.parametrize(
    "path",
    sorted([*RECORDED.glob("*.log*"), *BESIDE_TRACES.glob("*.text.log.zst")]),
    ids=lambda path: path.name,
)
def test_passing_over_lines_changes_nothing_of_what_is_found(path: Path, size: int) -> None:
    """However the log is cut into blocks, the messages are those of a reader that sees every line."""
    text = recorded(path)
    assert sifted(text, size) == all_lines(text)


def all_lines(text: bytes) -> list[tuple[object, ...]]:
    return [found(draft) for draft in find_drafts(text.decode("utf-8", "replace").split("\n"))]


def sifted(text: bytes, size: int) -> list[tuple[object, ...]]:
    sieve, reader = Sieve(), DraftReader()
    drafts = [
        draft
        for block in blocks_of(text, size)
        for number, header, text in sieve.sift(block, reader.awaits)
        for draft in reader.read_run(header, text, number)
    ]
    return [found(draft) for draft in (*drafts, *reader.finish())]


def found(draft: object) -> tuple[object, ...]:
    return tuple(getattr(draft, name) for name in ("line", "message", "certain", "record", "opening"))


LINES = [
    *BRANCH.format(line=3).splitlines(),
    *(f"{HEADER.format(number=7)}{line}" for line in BRANCH.format(line=4).splitlines()),
    "torch._dynamo.exc.Unsupported: Data-dependent branching",
    "from user code:",
    '   File "/home/ann/project/model.py", line 5, in forward',
    "    if x.sum() > 0:",
    "Data-dependent branching",
    "  Developer debug context: attempted to jump with TensorVariable()",
    "*** While handling this graph break, another graph break occurred: ***",
    "The above exception was the direct cause of the following exception:",
    "step 12 loss 0.123",
    "  deeper",
    "",
    "   ",
    "\x1b[31mUnsupported: x\x1b[0m",
    "10%\r20%\rGraph Break Reason: Data-dependent branching",
    "> Graph Break Reason: Data-dependent branching",
    "caf\xe9 \udcff",
]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=40), st.integers(1, 2000))
@example([LINES[11], LINES[3], LINES[10], LINES[0]], 58)  # a line of nobody's between two of one record
def test_passing_over_lines_changes_nothing_of_any_mixture(lines: list[str], size: int) -> None:
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    assert sifted(text, size) == all_lines(text)


def filled(text: str, choose: random.Random) -> str:
    """A registry text with a value for each placeholder, as torch would print it."""
    pieces = mark_placeholders(text).split(ANYTHING)
    values = ("x", "TensorVariable()", "[1, {'a': 2}]", "日本 $1 \\d")
    return "".join(piece + choose.choice(values) * (at < len(pieces) - 1) for at, piece in enumerate(pieces))


def printed(wording: Revision, choose: random.Random) -> str:
    lines = [f"Graph Break Reason: {filled(wording.gb_type, choose).strip()}"]
    fields: list[tuple[Kind, str, str]] = [
        ("explanation", "Explanation", wording.explanation),
        ("context", "Developer debug context", wording.context),
    ]
    for kind, label, text in fields:
        said = filled(text, choose) if make_template(text, kind) else "qwertz"
        lines.append(f"  {label}: " + said.strip().replace("\n", "\n    "))
    return "\n".join(lines)


def test_every_wording_of_every_release_is_named_in_a_log(matcher: Matcher) -> None:
    choose = random.Random(0)
    wordings = [
        (gb.gb_id, dated.revision)
        for gb in committed_registry()
        for dated in gb.revisions
        if dated.revision.gb_type != "_gb_type"  # source that upstream could not evaluate
    ]
    log = "".join(
        record(number, f"Graph break in user code at /home/ann/w.py:{number}\n{printed(wording, choose)}")
        for number, (_, wording) in enumerate(wordings, 1)
    )
    part = read(matcher, log)
    named = {one.line: {*one.gb_ids, *one.candidates} for one in part.breaks}
    assert len(wordings) > 700
    assert [(number, gb_id) for number, (gb_id, _) in enumerate(wordings, 1) if gb_id not in named[number]] == []
    assert any(one.candidates for one in part.breaks)


def test_the_release_that_wrote_the_log_decides_between_two_ids_of_a_type(matcher: Matcher) -> None:
    printed_by: dict[str, dict[str, str]] = {}
    for gb in committed_registry():
        for seen in gb.history.releases:
            for site in seen.call_sites:
                printed_by.setdefault(site.gb_type.strip(), {})[seen.torch] = gb.gb_id
    several = {gb_type: ids for gb_type, ids in printed_by.items() if len(matcher.ids_of_type(gb_type)) > 1}
    assert several
    for gb_type, ids in several.items():
        text = record(1, f"Graph Break Reason: {gb_type}\n  Explanation: q")
        for torch, gb_id in ids.items():
            (told,) = read(matcher, text, torch=torch).breaks
            part = read(matcher, f"Collecting torch=={torch}\n{text}")
            assert part.torch == torch
            assert told.gb_ids == part.breaks[0].gb_ids == (gb_id,)
            assert told.candidates


def test_an_unknown_break_is_kept_whole_and_counted(matcher: Matcher) -> None:
    text = "Graph Break Reason: Something nobody knows\n  Explanation: All of it.\n\n  Developer debug context: d\n"
    part = read(matcher, record(1, text) + record(2, text) + record(3, text.replace("Something", "Another thing")))
    assert [(one.gb_ids, one.gb_types, one.count, one.how) for one in part.breaks] == [
        ((), ("Something nobody knows",), 2, "none"),
        ((), ("Another thing nobody knows",), 1, "none"),
    ]
    assert "All of it." in part.breaks[0].message
    assert "Developer debug context: d" in part.breaks[0].message


def test_an_exception_of_dynamos_that_is_no_break_is_an_error_of_the_log(matcher: Matcher) -> None:
    error = "torch._dynamo.exc.UserError: Dynamic slicing is not for you"
    part = read(matcher, f"{error}\n\nTraceback (most recent call last):\n{error}\n\n{error} at all\n")
    assert part.errors == (f"{error} (2×)", f"{error} at all")
    assert part.breaks == ()
    many = read(matcher, "".join(f"{error} {number}\n" for number in range(150)))
    assert (len(many.errors), many.notes) == (100, ("50 more errors are not listed",))


@pytest.mark.parametrize(
    "quoted",
    [
        lambda log: "".join(f"> {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"    {line}\n" for line in log.splitlines()),
        lambda log: json.dumps({"output": log}) + "\n",
        lambda log: log.replace("\n", "\r\n"),
        lambda log: "".join(f"\x1b[32m{line}\x1b[0m\n" for line in log.splitlines()),
    ],
    ids=["mail", "indented", "JSON", "CRLF", "coloured"],
)
def test_a_log_that_quotes_itself_counts_nothing_twice(matcher: Matcher, quoted: object) -> None:
    assert callable(quoted)
    log = record(1, BRANCH.format(line=3)) + record(2, BRANCH.format(line=4))
    alone, both, only = (read(matcher, text) for text in (log, log + quoted(log), quoted(log)))
    assert (
        sites(both)
        == sites(alone)
        == {
            ("model.py:3", "GB0170"): ("resumed", 1, ""),
            ("model.py:4", "GB0170"): ("resumed", 1, ""),
        }
    )
    assert {gb_id for one in only.breaks for gb_id in one.gb_ids} == {"GB0170"}
    assert sum(one.count for one in only.breaks) == 2


def test_a_link_alone_is_a_break_unless_the_log_tells_of_it_otherwise(matcher: Matcher) -> None:
    (one,) = read(matcher, LINK.format("gb0124") + "\n").breaks
    assert (one.gb_ids, one.how, one.kind, one.count) == (("GB0124",), "link", "", 1)
    both = read(matcher, LINK.format("gb0170") + "\n" + record(1, BRANCH.format(line=3)))
    assert sites(both) == {("model.py:3", "GB0170"): ("resumed", 1, "")}


def test_records_of_two_processes_that_interleave_line_by_line_stay_apart(matcher: Matcher) -> None:
    first, second = (record(number, BRANCH.format(line=number)).splitlines() for number in (1, 2))
    mixed = "\n".join(line for pair in zip(first, second, strict=True) for line in pair)
    assert {(one.line, one.compile_ids, one.count) for one in read(matcher, mixed).breaks} == {
        (1, ("1/0",), 1),
        (2, ("2/0",), 1),
    }


def test_a_log_cut_within_a_message_still_gives_it(matcher: Matcher) -> None:
    whole = record(1, BRANCH.format(line=3))
    for end in range(whole.index("Data-dependent branching") + 24, len(whole), 7):
        (one,) = read(matcher, whole[:end]).breaks
        assert (one.gb_ids, one.where) == (("GB0170",), "/home/ann/project/model.py:3"), whole[:end][-80:]


def test_a_text_without_a_word_of_torchs_says_how_to_make_a_log(matcher: Matcher) -> None:
    part = read(matcher, "step 1 loss 0.5\n" * 10)
    assert (part.format, part.breaks) == ("text", ())
    assert [one.command for one in part.unfit] == ["TORCH_LOGS=graph_breaks python your_script.py 2> breaks.log"]


def test_recompiles_are_told_by_function_and_guard_and_are_no_breaks(matcher: Matcher) -> None:
    part = read(matcher, recorded(RECORDED / "recompiles-2.13.0.log"))
    assert part.breaks == ()
    assert [(one.function, one.where, one.guard, one.count) for one in part.messages] == [
        ("scaled", "/home/user/project/rec.py:2", "n == 0", 1),
        ("scaled", "/home/user/project/rec.py:2", "n == 1", 1),
        ("other", "/home/user/project/rec.py:7", "flag == True", 1),
    ]


def test_the_ways_out_of_recompiles_are_those_that_fit_the_guards(matcher: Matcher) -> None:
    analysis = analyse(find_sources([str(RECORDED / "recompiles-2.13.0.log")]), matcher)
    (shown,) = view_analysis(analysis, read_answers(), folder=Path("/")).messages
    number, option = shown.ways_out
    assert "keep it in a tensor" in number
    assert "an option that is on or off" in option
    told = analysis_document(analysis, read_answers())["messages"]
    assert [one["ways_out"] for one in told] == [[number], [number], [option]]


def test_an_error_of_the_user_is_a_report_with_its_real_reason(matcher: Matcher) -> None:
    part = read(matcher, recorded(RECORDED / "user_errors-2.13.0.log"))
    assert part.messages == ()
    assert [(one.line, one.kind, one.how) for one in part.breaks] == [(6, "resumed", "form"), (19, "resumed", "form")]
    for one in part.breaks:
        assert "Could not extract specialized integer from data-dependent expression" in one.message


ITEM = "item-2.13.0.log"


@pytest.mark.parametrize(
    "written",
    [
        lambda log: log,
        lambda log: "".join(f"trainer-1  | {line}\n" for line in log.splitlines()),
        lambda log: log.replace("\n", "\r\n"),
        lambda log: "".join(f"[rank0]: {line}\n" for line in log.splitlines()),
        lambda log: log.replace("x = clip_outliers(x)", "x = clip_outliers(x & 1)"),
        lambda log: record(1, BRANCH.format(line=3)) + log,
    ],
    ids=["plain", "docker", "CRLF", "rank", "ampersand", "after a report"],
)
@pytest.mark.parametrize("depth", [1, 40])
@pytest.mark.parametrize("size", [1, 1 << 30])
def test_the_warning_of_item_names_the_last_frame_of_its_stack(
    matcher: Matcher, written: object, depth: int, size: int
) -> None:
    assert callable(written)
    lines = recorded(RECORDED / ITEM).decode().splitlines(keepends=True)
    deep = "".join([*lines[:7], *lines[7:10] * depth, *lines[10:]])
    item = next(one for one in read(matcher, written(deep), block=size).breaks if one.gb_ids == ("GB0124",))
    assert (item.where, item.function) == ("/home/me/project/seriestools/__init__.py:8", "clip_outliers")
    assert (item.source, item.count, item.kind) == ("if spread.item() > 100:", 1, "")


@pytest.mark.parametrize("release", ["2.8.0", "2.13.0", "2.15.0"])
def test_the_warning_of_item_names_a_place_in_every_release_and_counts_nothing_that_is_reported(
    matcher: Matcher, release: str
) -> None:
    warned, reported = (
        read(matcher, recorded(RECORDED / f"{kind}-{release}.log")) for kind in ("plain", "graph_breaks")
    )
    place = ("plain_warnings.py:49", "GB0124")
    assert sites(warned)[place] == ("", 1, "item")
    assert sites(reported)[place] == ("resumed", 1, "item")
    assert sum("GB0124" in one.gb_ids for one in reported.breaks) == 1


def test_a_graph_counts_when_its_backend_is_done_with_it(matcher: Matcher) -> None:
    """torch's counter of graphs says 2: the backend gave up the second graph, and got it again."""
    text = recorded(RECORDED / "restarted.dynamo.log")
    assert (text.count(b"calling compiler function"), read(matcher, text).graphs) == (3, 2)
    assert read(matcher, text, block=1).graphs == 2
    cut = read(matcher, text[: text.index(b"\n") + 1])  # the log ends within the first compilation
    assert (cut.graphs, cut.unfit) == (0, ())
