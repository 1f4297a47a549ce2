"""Structured traces: recorded ones against two other readings of the same runs, and damaged ones."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, cast

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.matching import Matcher
from repro_runner.logs import traces
from repro_runner.logs.model import Input, LogPart
from repro_runner.logs.traces.compilations import CompilationDocument, ProcessDocument
from repro_runner.logs.traces.records import LONGEST_PAYLOAD, RecordReader
from tests.committed import committed_registry
from tests.repro_runner.fixtures import FIXTURES

RECORDED = FIXTURES / "recorded_traces"
PROJECT = "/home/user/project"
SEVEN = f"{PROJECT}/seven.py"


def recorded(name: str) -> bytes:
    return zstandard.ZstdDecompressor().decompress((RECORDED / f"{name}.log.zst").read_bytes(), max_output_size=2**26)


def read(matcher: Matcher, *blocks: bytes, log: str = "trace.log", rank: str = "") -> LogPart:
    reader = traces.open_reader(Input(log=log, matcher=matcher, rank=rank))
    for block in blocks:
        reader.feed(block)
    return reader.finish()


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.from_registry(committed_registry())


@pytest.fixture(scope="module")
def seven(matcher: Matcher) -> LogPart:
    return read(matcher, recorded("seven.trace_"))


def processes(part: LogPart) -> list[ProcessDocument]:
    return cast("list[ProcessDocument]", part.details["processes"])


def compilations(part: LogPart) -> list[CompilationDocument]:
    (process,) = processes(part)
    return process["compilations"]


def all_breaks(part: LogPart) -> list[tuple[str, tuple[str, ...], str, str, int]]:
    return [
        (compilation["compile_id"], tuple(found["gb_ids"]), found["kind"], found["file"], found["line"])
        for compilation in compilations(part)
        for found in compilation["breaks"]
    ]


def breaks_in_text_log(text: str) -> set[tuple[tuple[str, ...], str]]:
    """An independent reading: the place in a record's first line, and the links in it."""
    found: dict[str, list[str]] = {}
    place = ""
    for line in text.splitlines():
        if "[__graph_breaks]" not in line:
            continue
        if begins := re.search(r"Graph break .*in user code at (.*)$", line):
            place = f"{begins[1]} {line.partition(']')[0]}"
            found[place] = []
        found[place] += [link.upper() for link in re.findall(r"/gb/(gb\d+)\.html", line)]
    return {(tuple(dict.fromkeys(ids)), place.partition(" ")[0]) for place, ids in found.items()}


@pytest.mark.parametrize("name", ["seven", "fatal", "wav2vec2"])
def test_every_break_is_one_that_was_captured_while_the_program_ran(matcher: Matcher, name: str) -> None:
    captured = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    found = all_breaks(read(matcher, recorded(f"{name}.trace_")))
    assert {(compile_id, gb_id, file, line) for compile_id, gb_ids, _, file, line in found for gb_id in gb_ids} == {
        (one["compile_id"], one["gb_id"], one["file"], one["line"])
        for one in captured
        if one["compile_id"]  # a frame that Dynamo leaves alone at once, a generator, is in no trace
    }


@pytest.mark.parametrize(("name", "files"), [("seven", [""]), ("wav2vec2", [""]), ("ranks", ["rank_0_", "rank_1_"])])
def test_ids_and_places_are_those_of_the_text_log_of_the_same_run(
    matcher: Matcher, name: str, files: list[str]
) -> None:
    parts = [read(matcher, recorded(f"{name}.trace_{file}")) for file in files]
    found = {
        (tuple(found["gb_ids"]), f"{found['file']}:{found['line']}")
        for part in parts
        for process in processes(part)
        for compilation in process["compilations"]
        for found in compilation["breaks"]
    }
    assert found == breaks_in_text_log(recorded(f"{name}.text").decode())


def test_seven_sites_are_seven_with_the_ids_of_nested_breaks(seven: LogPart) -> None:
    assert {(site.gb_ids, site.line, site.function, site.kind) for site in seven.breaks} == {
        (("GB0059",), 16, "scale", "resumed"),
        (("GB0170",), 21, "choose", "resumed"),
        (("GB0124",), 27, "shift", "resumed"),
        (("GB0007",), 31, "stamp", "resumed"),
        (("GB0025",), 36, "explicit", "resumed"),
        (("GB0025", "GB7000"), 43, "repeated", "frame skipped"),
        (("GB0025", "GB0066"), 55, "guarded", "frame skipped"),
    }
    scale = next(site for site in seven.breaks if site.function == "scale")
    assert scale.source == 'print("scaling")'
    assert (scale.how, scale.gb_types) == ("link", ("Failed to trace builtin operator",))
    assert scale.compile_ids == ("0/0", "1/0", "0/1")
    assert scale.count == 3, "inlined in model, in scale itself, and in model for the second size"


def test_the_trace_of_an_older_torch_tells_the_same(matcher: Matcher) -> None:
    part = read(matcher, recorded("torch_2_11.trace_"))
    assert part.torch.startswith("2.11.0")
    assert [(site.gb_ids, site.line, site.function, site.kind, site.count) for site in part.breaks] == [
        (("GB0059",), 7, "scale", "resumed", 3),
        (("GB0170",), 12, "choose", "resumed", 4),
        (("GB0124",), 18, "shift", "resumed", 4),
        (("GB0007",), 22, "stamp", "resumed", 4),
        (("GB0025",), 27, "explicit", "resumed", 4),
        (("GB0025", "GB7000"), 34, "repeated", "frame skipped", 3),
        (("GB0025", "GB0066"), 46, "guarded", "frame skipped", 3),
        (("GB0109",), 51, "whole", "fatal", 1),
    ]
    assert part.notes == ()


def test_compilations_graphs_ops_and_seconds_are_told(seven: LogPart) -> None:
    (process,) = processes(seven)
    assert seven.torch.startswith("2.13.0")
    assert seven.graphs == process["graphs"] == sum(compilation["graphs"] for compilation in compilations(seven))
    assert process["graphs"] == recorded("seven.trace_").count(b'{"dynamo_output_graph"')
    assert 0 < process["compile_seconds"] < 60
    resumed = next(one for one in compilations(seven) if one["compile_id"] == "2/0")
    assert (resumed["function"], resumed["file"], resumed["ops"]) == ("torch_dynamo_resume_in_scale_at_16", SEVEN, 1)


def test_recompiles_name_the_guard_that_failed(matcher: Matcher) -> None:
    part = read(matcher, recorded("fatal.trace_"))
    guards = {one["compile_id"]: one["guard"] for one in compilations(part) if one["guard"]}
    assert guards["2/1"].startswith("factor == 2  # return x * factor")
    assert guards["2/2"] == "tensor 'x' size mismatch at index 0. expected 4, actual 5"


def test_a_break_that_ends_the_program_is_fatal_and_has_its_stack(matcher: Matcher) -> None:
    part = read(matcher, recorded("fatal.trace_"))
    assert [(site.gb_ids, site.function, site.line, site.kind) for site in part.breaks] == [
        (("GB0109",), "whole", 10, "fatal"),
        (("GB0025",), "noisy", 15, "fatal"),
    ]


def test_a_break_in_a_higher_order_operator_is_fatal_though_errors_are_suppressed(matcher: Matcher) -> None:
    suppressed = recorded("fatal.trace_").replace(b'"config_suppress_errors": false', b'"config_suppress_errors": true')
    kinds = {site.function: site.kind for site in read(matcher, suppressed).breaks}
    assert kinds == {"whole": "frame skipped", "noisy": "fatal"}


def test_what_ranks_do_not_share_is_told(matcher: Matcher) -> None:
    parts = [read(matcher, recorded(f"ranks.trace_rank_{rank}_")) for rank in (0, 1)]
    assert [part.rank for part in parts] == ["0", "1"]
    differences = traces.find_rank_differences([document for part in parts for document in processes(part)])
    assert differences
    counts = {(one.what, one.name.partition(" at ")[0]): dict(one.counts) for one in differences.unequal}
    assert counts["break", "GB0059"] == {0: 0, 1: 2}
    assert counts["break", "GB0025"] == {0: 1, 1: 2}
    assert counts["graphs", "graphs"] == {0: 2, 1: 6}
    assert counts["recompile", "model"] == {0: 0, 1: 1}
    assert differences.parting is not None
    assert [step["compile_id"] for step in differences.parting.values()] == ["0/0", "0/0"]
    text = "\n".join(traces.describe_differences(differences))
    assert f"break GB0059 at {PROJECT}/ranks.py:13: 0 on rank 0, 2 on rank 1 (only on rank 1)" in text


def test_ranks_in_one_file_are_told_apart_and_compared(matcher: Matcher) -> None:
    part = read(matcher, *(recorded(f"ranks.trace_rank_{rank}_") for rank in (0, 1)))
    assert [process["rank"] for process in processes(part)] == [0, 1]
    shared = next(site for site in part.breaks if site.gb_ids == ("GB0025",))
    assert dict(shared.ranks) == {"0": 1, "1": 2}
    differences = traces.find_rank_differences(processes(part))
    assert differences
    assert next(traces.describe_differences(differences)).startswith(
        "the ranks part here: rank 0 at 0/0 compiles model"
    )


def test_ranks_that_did_the_same_are_called_the_same(matcher: Matcher) -> None:
    text = recorded("ranks.trace_rank_0_")
    documents = [
        *processes(read(matcher, text)),
        *processes(read(matcher, text.replace(b'"rank": 0', b'"rank": 1'))),
    ]
    differences = traces.find_rank_differences(documents)
    assert differences is not None
    assert not differences
    assert list(traces.describe_differences(differences)) == ["ranks 0, 1 compiled the same, break for break"]


def test_a_rank_in_the_name_of_the_file_counts_where_no_record_has_one(matcher: Matcher) -> None:
    assert read(matcher, recorded("fatal.trace_"), rank="3").rank == "3"


@pytest.mark.parametrize("name", ["seven.trace_", "ranks.trace_rank_1_"])
def test_a_trace_is_recognised(name: str) -> None:
    assert traces.recognise(recorded(name)[:4096])


@pytest.mark.parametrize("text", ["seven.text", "ranks.text"])
def test_a_text_log_is_no_trace(text: str) -> None:
    assert not traces.recognise(recorded(text))


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 290_000), max_size=12))
def test_blocks_may_end_anywhere(matcher: Matcher, cuts: list[int]) -> None:
    text = recorded("fatal.trace_")
    ends = [0, *sorted(cuts), len(text)]
    assert read(matcher, *(text[a:b] for a, b in pairwise(ends))) == read(matcher, text)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_break_whose_record_is_whole_is_lost_when_a_trace_is_cut(matcher: Matcher, data: st.DataObject) -> None:
    text = recorded("ranks.trace_rank_1_")
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    whole = [
        record
        for record in re.finditer(rb'(?m)^V[^\n]*"dynamo_graph_break_reason"[^\n]*\n(?:\t[^\n]*\n)+', text)
        if record.start() >= start and record.end() <= end
    ]
    part = read(matcher, text[start:end])
    assert sum(site.count for site in part.breaks) >= len(whole)
    assert all(site.gb_ids for site in part.breaks if len(whole) == site.count)


@settings(max_examples=40, deadline=None)
@given(noise=st.binary(max_size=300), at=st.integers(0, 290_000))
def test_bytes_that_got_into_a_trace_never_stop_the_reader(matcher: Matcher, noise: bytes, at: int) -> None:
    text = recorded("fatal.trace_")
    part = read(matcher, text[:at] + noise + text[at:])
    assert {site.gb_ids for site in part.breaks} <= {("GB0109",), ("GB0025",), ()}
    assert len(part.breaks) >= 1


def test_lines_of_something_else_between_the_lines_of_a_break_do_not_hide_it(matcher: Matcher) -> None:
    text = recorded("seven.trace_")
    noisy = text.replace(b"\n\tGraph Break Reason", b"\nstep 12 loss 0.5\n\tGraph Break Reason")
    part = read(matcher, noisy)
    assert [(site.gb_ids, site.where, site.count) for site in part.breaks] == [
        (site.gb_ids, site.where, site.count) for site in read(matcher, text).breaks
    ]
    assert any("lines that are no trace's" in note for note in part.notes)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace(b'_metrics": {', b'_metrics": {{'), "JSON that can't be read"),
        (lambda text: text.replace(b"\n\t  Explanation", b"\n\t  Something"), "payloads that were altered"),
        (lambda text: re.sub(rb"\n\t[^\n]*", b"", text), "payloads that are missing"),
        (lambda text: text[:-100], "last line cut"),
    ],
)  # fmt: skip
def test_damage_is_counted_and_said(matcher: Matcher, damage: Any, said: str) -> None:
    text = recorded("seven.trace_")
    text = text[: text.rindex(b'{"compilation_metrics"') + 5000]
    part = read(matcher, damage(text))
    assert any(said in note for note in part.notes), part.notes


def test_a_trace_with_other_line_ends_is_read_the_same(matcher: Matcher, seven: LogPart) -> None:
    part = read(matcher, recorded("seven.trace_").replace(b"\n", b"\r\n"))
    assert [(site.gb_ids, site.where, site.count) for site in part.breaks] == [
        (site.gb_ids, site.where, site.count) for site in seven.breaks
    ]
    assert part.notes == ()


def test_a_break_nobody_knows_is_kept_whole(matcher: Matcher) -> None:
    header = "V1115 10:00:00.000000 7 torch/_dynamo/symbolic_convert.py:1] "
    metadata = {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 0}
    part = read(matcher, f"{header}{json.dumps(metadata)}\n\tGraph break: something of tomorrow\n\tand more\n".encode())
    (site,) = part.breaks
    assert (site.gb_ids, site.how) == ((), "none")
    assert site.message == "Graph break: something of tomorrow\nand more"


@pytest.mark.slow
def test_giant_lines_and_payloads_are_passed_over_in_little_memory() -> None:
    reader = RecordReader()
    header = b'V1115 10:00:00.000000 7 torch/a.py:1] {"artifact": {"name": "%s"}, "frame_id": 0}\n\t'
    records = []
    for name in (b"dynamo_graph_break_reason", b"something_else"):
        records += list(reader.feed(header % name))
        for _ in range(40):
            records += list(reader.feed(b"x" * 1_000_000))
        records += list(reader.feed(b"\n"))
    records += list(reader.finish())
    assert [len(record.payload) for record in records] == [LONGEST_PAYLOAD - 1]


def test_what_a_compilation_raised_is_told_even_if_its_end_is_missing(matcher: Matcher) -> None:
    text = recorded("fatal.trace_")
    part = read(matcher, text[: text.index(b'{"compilation_metrics"')].rpartition(b"\n")[0] + b"\n")
    assert [(site.gb_ids, site.kind, site.line) for site in part.breaks] == [(("GB0109",), "fatal", 10)]
