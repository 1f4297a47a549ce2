"""From the text of a message to its id: every wording of the committed registry, real messages, hostile text."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry.knowledge import read_package
from registry.matching import Match, Matcher
from registry.merge import merge_registry
from registry.messages import parse_message
from registry.model import Registry, Revision
from registry.templates import ANYTHING, DISTINCTIVE, Kind, Template, collapse, make_template, mark_placeholders
from registry.vocabulary import collect_vocabulary
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision, site

VALUES = ("x", "TensorVariable()", "<class 'int'>", "[1, {'a': 2}]", "", "f(a, b)", "multi\nline value", "日本 $1 \\d")
HEADER = "V1115 03:15:57.159000 5873 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks] "
ITEM = """\
Unsupported Tensor.item() call with capture_scalar_outputs=False
  Explanation: Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`.
  Hint: Second hint,
    on two lines.

  Developer debug context: call_method TensorVariable() item () {}
"""
LINK = "\n For more details about this graph break, please visit: https://example.invalid/site/gb/gb0124.html\n"


@cache
def committed() -> Registry:
    return merge_registry(read_package())


@cache
def matcher() -> Matcher:
    return Matcher.from_registry(committed())


def filled(text: str, choose: random.Random) -> str:
    """A registry text with a value for each placeholder, as torch would print it."""
    pieces = mark_placeholders(text).split(ANYTHING)
    return "".join(piece + choose.choice(VALUES) * (at < len(pieces) - 1) for at, piece in enumerate(pieces))


def message(wording: Revision, choose: random.Random, *, with_type: bool = True) -> str:
    """What torch prints for this wording, without a link; where upstream kept source, any text may stand."""
    lines = [filled(wording.gb_type, choose)] if with_type else []
    fields: list[tuple[Kind, str, str]] = [
        ("explanation", "Explanation", wording.explanation),
        ("context", "Developer debug context", wording.context),
    ]
    for kind, label, text in fields:
        said = filled(text, choose) if make_template(text, kind) else "qwertz"
        lines.append(f"  {label}: " + said.strip().replace("\n", "\n    "))
    return "\n".join(lines)


def all_wordings() -> list[tuple[str, Revision]]:
    return [(gb.gb_id, dated.revision) for gb in committed() for dated in gb.revisions]


def named(text: str) -> Match:
    match = matcher().match_message(text)
    assert match is not None
    return match


def test_every_wording_ever_is_matched_by_its_type_to_its_own_id() -> None:
    choose = random.Random(0)
    counts: Counter[tuple[str, bool]] = Counter()
    for gb_id, wording in all_wordings():
        if wording.gb_type == "_gb_type":  # source that upstream could not evaluate: GB0170 in 2.8
            continue
        match = named(message(wording, choose))
        assert gb_id in match.gb_ids, wording
        counts[match.how, len(match.gb_ids) == 1] += 1
    assert counts == {("type", True): 791, ("type", False): 7}


def test_every_wording_that_says_something_is_matched_without_its_type() -> None:
    choose = random.Random(0)
    counts: Counter[str] = Counter()
    for gb_id, wording in all_wordings():
        match = named(message(wording, choose, with_type=False))
        if match.gb_ids:
            assert gb_id in match.gb_ids, wording
        counts["none" if not match.gb_ids else "unique" if len(match.gb_ids) == 1 else "several"] += 1
        counts["first"] += match.gb_id == gb_id
    assert counts == {"unique": 698, "several": 75, "none": 26, "first": 739}


def test_every_link_names_its_id_in_either_case() -> None:
    for gb in committed():
        for name in (gb.gb_id.lower(), gb.gb_id):
            match = named(f"see https://x.invalid/gb/{name}.html")
            assert (match.gb_ids, match.how) == ((gb.gb_id,), "link")


@pytest.mark.parametrize("text", ["GB0124", "see gb0124", "gb0124.html", "/gb/gb12.html", "/gb/gb0124.htm"])
def test_only_the_link_form_is_a_link(text: str) -> None:
    assert named(text).gb_ids == ()
    assert list(matcher().find_messages([text])) == []


def test_a_link_wins_over_the_type_and_over_ids_that_the_registry_does_not_know() -> None:
    match = named(ITEM + LINK.replace("gb0124", "gb9998"))
    assert (match.gb_ids, match.how) == (("GB9998",), "link")
    assert match.message.gb_type.startswith("Unsupported Tensor.item()")


def test_a_message_of_torch_2_8_has_no_link_and_is_named_by_its_first_line() -> None:
    match = matcher().match_message(ITEM, torch="2.8.0")
    assert match is not None
    assert (match.gb_ids, match.how) == (("GB0124",), "type")
    assert match.message.context == "call_method TensorVariable() item () {}"
    assert match.message.hints[1] == "Second hint,\non two lines."
    assert match.message.text == ITEM


@pytest.mark.parametrize(
    "marker",
    ["Graph Break Reason: ", "Unsupported: ", "torch._dynamo.exc.Unsupported: ", "E   torch._dynamo.exc.Unsupported: ",
     "[rank3]: torch._dynamo.exc.Unsupported: ", "torch._dynamo.exc.InternalTorchDynamoError: Unsupported: ",
     "  Reason: ", HEADER + "Graph Break Reason: ", "2026-01-01T00:00:00.0000000Z Graph Break Reason: "],
)  # fmt: skip
def test_a_type_after_one_of_torchs_markers_is_found(marker: str) -> None:
    match = named(f"{marker}Data-dependent branching")
    assert (match.gb_ids, match.how, match.message.gb_type) == (("GB0170",), "type", "Data-dependent branching")


def test_an_old_title_is_found_as_well_as_the_new_one() -> None:
    old = {
        (gb.gb_id, dated.revision.gb_type)
        for gb in committed()
        for dated in gb.revisions
        if dated.revision.gb_type not in {gb.gb_type, "_gb_type"}
    }
    assert len(old) >= 10
    for gb_id, gb_type in old:
        assert gb_id in named(gb_type).gb_ids


def test_a_placeholder_in_a_type_stands_for_any_value() -> None:
    match = named("unsupported type.__dict__['__doc__'].__get__ call\n  Explanation: e\n\n  Developer debug context: c")
    assert (match.gb_ids, match.how) == (("GB9672",), "type")


def test_a_type_with_two_ids_lists_both_and_the_release_decides() -> None:
    ids = matcher().ids_of_type
    assert ids("Failed to make weakref to User Object") == ("GB0276", "GB0272")
    assert ids("bad device argument to torch.get_device_module") == ("GB0286", "GB0249")
    assert ids("bad device argument to torch.get_device_module", torch="2.9.1+cpu") == ("GB0249", "GB0286")
    assert ids("bad device argument to torch.get_device_module", torch="2.13.0")[0] == "GB0286"
    assert ids("bad device argument to torch.get_device_module", torch="9.9.9") == ("GB0286", "GB0249")


def test_live_ids_come_before_dead_ones_and_then_the_newest() -> None:
    both = [revision("t", explanation="The same explanation of all.")]
    registered = {"GB0001": both, "GB0002": both, "GB0003": both}
    releases = [
        release("2.8.0", {"GB0001": both, "GB0002": both}),
        release("2.9.0", registered, [site("t", "GB0001"), site("t", "GB0003")]),
    ]
    found = Matcher.from_registry(merge_registry(knowledge(registered, releases=releases)))
    assert found.ids_of_type("t") == ("GB0003", "GB0001", "GB0002")
    assert found.ids_of_wording("The same explanation of all.") == ("GB0003", "GB0001", "GB0002")


def test_a_context_narrows_down_an_explanation_that_several_ids_share() -> None:
    explanation = "Object does not allow us to make a weakref to it"
    assert set(matcher().ids_of_wording(explanation)) >= {"GB0272", "GB0276"}
    assert matcher().ids_of_wording(explanation, "user_objected: x") == ("GB0272",)
    assert matcher().ids_of_wording(explanation, "user_object: x") == ("GB0276", "GB0283")


def test_a_live_type_without_an_id_is_not_given_the_id_of_a_similar_wording() -> None:
    known = knowledge(
        {"GB0001": [revision("t", explanation="The very same explanation.")]},
        releases=[release("2.9.0", {}, [site("no id", None)])],
    )
    found = Matcher.from_registry(merge_registry(known))
    body = "\n  Explanation: The very same explanation.\n\n  Developer debug context: c"
    for gb_type, how, gb_ids in [("no id", "none", ()), ("reworded", "wording", ("GB0001",))]:
        match = found.match_message(gb_type + body)
        assert match is not None
        assert (match.how, match.gb_ids, match.message.gb_type) == (how, gb_ids, gb_type)


@pytest.mark.parametrize("text", ["Something new", "x: y", "a\nb\nc", "  Explanation: e", "Unsupported: nobody knows"])
def test_an_unknown_text_is_kept_whole(text: str) -> None:
    match = named(text)
    assert (match.gb_ids, match.how, match.message.text) == ((), "none", text)


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n"])
def test_a_blank_text_is_nothing(text: str) -> None:
    assert matcher().match_message(text) is None


def test_unknown_messages_in_a_log_are_kept_and_other_peoples_explanations_are_not() -> None:
    log = [
        "Explanation: we like this", "Unsupported: file format", "",
        "torch._dynamo.exc.Unsupported: a message of torch 2.6", "",
        "Brand new\n", "  Explanation: unheard of\n", "\n", "  Developer debug context: c\n",
    ]  # fmt: skip
    found = list(matcher().find_messages(log))
    assert [(one.gb_ids, one.message.gb_type, one.line) for one in found] == [
        ((), "a message of torch 2.6", 4),
        ((), "Brand new", 7),
    ]


# --- layout ---------------------------------------------------------------------------------------------------------


PREFIXES = {
    "none": "",
    "torch": HEADER,
    "torch, with a rank": "[rank1]:" + HEADER,
    "tab": "\t",
    "indent": "        ",
    "pytest": "E   ",
    "mail": "> ",
    "torchrun": "[rank1]: ",
    "torchrun, by local rank": "[default1]:",
    "mpirun": "[1,0]<stderr>:",
    "srun -l": "12: ",
    "Ray": "\x1b[36m(train pid=1234, ip=192.0.2.1)\x1b[0m ",
    "docker compose": "trainer-1  | ",
    "kubectl": "[pod/trainer-0/main] ",
    "Kubernetes": "2026-01-02T03:04:05.123456789Z stderr F ",
    "GitHub": "2026-01-02T03:04:05.1234567Z ",
    "gh": "test (3.11)\tRun tests\t2026-01-02T03:04:05.1234567Z ",
    "GitLab": "2026-01-02T03:04:05.123456Z 01O ",
    "Buildkite": "\x1b_bk;t=1700000000000\x07",
    "journalctl": "Nov 15 16:02:45 host python[1234]: ",
    "journalctl, ISO": "2026-11-15T16:02:45+0000 host python3[1234]: ",
    "clock": "[2026-01-02 03:04:05,123] ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("colour", ["", "\x1b[31m"])
def test_a_message_is_the_same_behind_any_prefix(prefix: str, ending: str, colour: str) -> None:
    plain = parse_message(ITEM + LINK)
    assert (plain.link, len(plain.hints), plain.hints[1]) == ("GB0124", 2, "Second hint,\non two lines.")
    lines = [f"{prefix}{colour}{line}{colour and chr(27) + '[0m'}" for line in (ITEM + LINK).split("\n")]
    for parsed in (
        parse_message(ending.join(lines)),
        *(one.message for one in matcher().find_messages(["noise", *(line + ending for line in lines)])),
    ):
        assert (parsed.gb_type, parsed.explanation, parsed.hints) == (plain.gb_type, plain.explanation, plain.hints)
        assert (parsed.context, parsed.link) == (plain.context, plain.link)


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_exceptions_behind_any_prefix_keep_their_own_places(prefix: str) -> None:
    raised = 'torch._dynamo.exc.Unsupported: {}\nfrom user code:\n   File "/a/b.py", line {}, in f\n    code\n\nSet\n'
    text = "".join(raised.format(f"{ITEM}{LINK}", line) for line in (7, 8)) + raised.format("'of torch 2.6'", 9)
    found = matcher().find_messages([prefix + line for line in text.split("\n")])
    assert [(one.gb_id, one.message.location) for one in found] == [
        ("GB0124", "/a/b.py:7"),
        ("GB0124", "/a/b.py:8"),
        (None, "/a/b.py:9"),
    ]


@pytest.mark.parametrize(
    "prefix", ["{}: ", "[rank{}]: ", "(train pid={}) ", "node-{} | ", "Nov 15 16:02:4{} host a[{}]: "]
)
def test_exceptions_of_processes_that_interleave_line_by_line_are_kept_apart(prefix: str) -> None:
    texts = [f"torch._dynamo.exc.Unsupported: {ITEM}".replace("item ()", f"item ({rank})") for rank in (0, 1)]
    pairs = zip(*(text.split("\n") for text in texts), strict=True)
    mixed = [prefix.format(rank, rank) + line for pair in pairs for rank, line in enumerate(pair)]
    found = [(one.gb_id, one.message.context) for one in matcher().find_messages(mixed)]
    assert found == [("GB0124", f"call_method TensorVariable() item ({rank}) {{}}") for rank in (0, 1)]


def test_a_reason_of_torch_2_6_is_kept_and_a_reason_of_anything_else_is_not() -> None:
    log = [
        "Reason: bad luck",
        "Graph break in user code at /a/b.py:7",
        "Reason: Unsupported: builtin: print",
        "Reason: x",
    ]
    (found,) = matcher().find_messages(HEADER + line for line in log)
    assert (found.gb_ids, found.message.gb_type, found.message.location) == (("GB0059",), "", "/a/b.py:7")


def test_a_message_that_lost_its_indentation_is_still_read() -> None:
    parsed = parse_message("\n".join(line.strip() for line in (ITEM + LINK).split("\n")))
    assert parsed.hints[1] == "Second hint,\non two lines."
    assert (parsed.context, parsed.link) == ("call_method TensorVariable() item () {}", "GB0124")


def test_interleaved_records_and_a_print_in_between_are_kept_apart() -> None:
    ours = [HEADER + line for line in ITEM.split("\n")]
    theirs = [(HEADER + line).replace(" 5873 ", " 5874 ") for line in ITEM.replace("item", "other").split("\n")]
    mixed = [line for pair in zip(ours, theirs, strict=True) for line in (*pair, "printed by the user")]
    found = list(matcher().find_messages(mixed))
    assert {one.message.context for one in found} == {
        "call_method TensorVariable() item () {}",
        "call_method TensorVariable() other () {}",
    }
    (interrupted,) = matcher().find_messages((ITEM + LINK).replace("\n\n", "\n\nprinted\n", 1).split("\n"))
    assert (interrupted.gb_id, interrupted.message.link) == ("GB0124", "GB0124")


def test_a_log_that_is_cut_off_anywhere_names_no_other_break() -> None:
    text = "Graph Break Reason: Encountered graph break when attempting to trace CALL: f(x, y):\n\n" + ITEM + LINK
    for end in range(text.index(".item()") - 30, len(text)):
        for one in matcher().find_messages(text[:end].split("\n")):
            assert set(one.gb_ids) <= {"GB0124"}
            assert end < text.index("capture_scalar") + 28 or one.gb_ids


@pytest.mark.parametrize("link", [LINK, "\n"])
def test_a_break_that_surfaces_as_another_keeps_its_cause(link: str) -> None:
    chained = "\n*** While handling this graph break, another graph break occurred: ***\n\n"
    surfaced = "graph break in loop\n  Explanation: Skipping the frame.\n\n  Developer debug context: frame\n"
    text = ITEM + link + chained + surfaced + '\nfrom user code:\n   File "/a/b.py", line 7, in f\n    code\n'
    for match in (named(text), *matcher().find_messages(text.split("\n"))):
        assert [one.gb_id for one in match.chain] == ["GB0124", "GB7000"]
        assert (match.how, match.message.location) == ("type", "/a/b.py:7")
        assert match.causes[0].message.hints == parse_message(ITEM).hints


def test_many_links_on_one_line_are_all_found() -> None:
    found = list(matcher().find_messages(["a /gb/gb0124.html b /gb/gb0170.html"]))
    assert [one.gb_ids for one in found] == [("GB0124",), ("GB0170",)]


# HTML's entities, such as `&nbsp;`, are read as what they stand for.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"], exclude_characters="&")
FIELD = st.text(CHARACTERS, max_size=60).map(str.strip)


@given(explanation=FIELD, hints=st.lists(FIELD, max_size=3), context=FIELD)
def test_what_torch_formats_is_parsed_back(explanation: str, hints: list[str], context: str) -> None:
    hint_lines = "\n".join(f"  Hint: {hint}" for hint in hints)
    text = (
        f"Data-dependent branching\n  Explanation: {explanation}\n{hint_lines}\n\n  Developer debug context: {context}"
    )
    parsed = parse_message(text)
    assert parsed.gb_type == "Data-dependent branching"
    assert (parsed.explanation, parsed.hints, parsed.context) == (explanation, tuple(hints), context)


# --- templates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("a {b} c", "a \0 c"),
        ("got {','.join(set(k.keys()) - {'x', '}'})}.", "got \0."),
        ("{a}{b}", "\0\0"),
        ("open { brace", "open { brace"),
        ("it's {x!r:>{width}} isn't", "it's \0 isn't"),
        ("{don't} close", "\0 close"),
    ],
)
def test_placeholders_may_hold_braces_quotes_and_calls(text: str, marked: str) -> None:
    assert mark_placeholders(text) == marked


@pytest.mark.parametrize("text", ["", " ", "{msg}", "msg", "_explanation", "str(cause.func)", "{a} {b}: {c}", "f'{x}'"])
def test_a_text_that_says_nothing_is_no_pattern(text: str) -> None:
    assert make_template(text, "explanation") is None
    assert make_template(text, "context") is None


def test_string_literals_left_as_source_are_joined() -> None:
    template = make_template('"Failed with {x}, "    + f"because {y}." + more', "explanation")
    assert template is not None
    assert template.matches(collapse("Failed with 1, because 2. And more"))
    assert not template.matches(collapse("Failed with 1, since 2."))


@given(
    # Few pieces, and not much noise: the naive expression tries every way to split a text.
    st.lists(st.sampled_from(["{x}", "abcd", "bcda", "a"]), min_size=1, max_size=9),
    st.lists(st.sampled_from("abcd"), max_size=9).map("".join),
)
@example(["{x}", "abcd", "{x}", "bcda", "{x}"], "")
def test_a_template_matches_what_its_naive_expression_matches(pieces: list[str], noise: str) -> None:
    template = make_template("".join(pieces), "explanation")
    naive = re.compile("".join(".*" if piece == "{x}" else piece for piece in pieces))
    for text in (noise, "".join(noise if piece == "{x}" else piece for piece in pieces), "abcdbcdaabcd", "bcdaabcd"):
        if template is not None and "{x}" in pieces:
            assert template.matches(text) == (naive.fullmatch(text) is not None)


def test_no_distinctive_wording_of_the_registry_matches_foreign_text() -> None:
    foreign = ["x", "a b c d e f g", "Traceback (most recent call last):", "The quick brown fox: jumps()", *HOSTILE]
    for wording in collect_vocabulary(committed()).wordings:
        if wording.kind == "type" or wording.template.weight >= DISTINCTIVE:
            for text in foreign:
                assert not wording.template.matches(collapse(text)), wording


def test_the_vocabulary_holds_every_id_and_its_wordings_name_no_other() -> None:
    known = collect_vocabulary(committed())
    assert sorted(known.gb_ids) == [gb.gb_id for gb in committed()]
    named = {gb_id for wording in known.wordings for gb_id in wording.gb_ids}
    assert named == set(known.gb_ids)
    lifecycles = {gb.gb_id: gb.lifecycle for gb in committed()}
    alive = [lifecycles[gb_id] == "live" for gb_id in known.gb_ids]
    assert alive == sorted(alive, reverse=True)


# --- hostile text ---------------------------------------------------------------------------------------------------

WORST = (
    "Dynamo ",
    "a" * 40,
    "` ",
    "{}{}",
    " for function ",
    ":1:1",
    "/gb/gb",
    "V1115 03:15:57.1 1 a",
    "> > ",
    "\x1b[",
    "Hint: ",
)


def hardest() -> list[tuple[Template, str]]:
    """The templates with most placeholders, each with a long text that fits it again and again, but for its end."""
    templates = {wording.template for wording in collect_vocabulary(committed()).wordings}
    return [
        (one, one.literals[0] + "".join(text * 2000 for text in one.literals[1:]) + "x")
        for one in sorted(templates, key=lambda one: (-len(one.literals), one.literals))[:40]
    ]


@pytest.mark.slow
@pytest.mark.prove
def test_no_text_makes_a_template_or_the_matcher_slow() -> None:
    """A generous limit on a child: backtracking over 100,000 characters would take years, not minutes."""
    child = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.registry.test_matching import WORST, hardest, matcher
for template, almost in hardest():
    template.matches(almost)
for word in WORST:
    text = word * (200_000 // len(word))
    for start in ("", "Explanation: ", "Graph break in user code at ", "torch._dynamo.exc.Unsupported: "):
        shape = start + text
        assert matcher().match_message(shape) is not None
        list(matcher().find_messages([shape, "t", "  Explanation: " + shape, "  Developer debug context: " + shape]))
"""
    subprocess.run([sys.executable, "-c", child], check=True, timeout=200, cwd=ROOT)


def test_a_template_of_many_placeholders_takes_steps_in_proportion_to_the_text() -> None:
    template = make_template("start " + " ".join("{x} ab" for _ in range(30)) + " {y} end", "context")
    assert template is not None
    text = "start " + "ab " * 50_000 + "en"
    assert not template.matches(text)
    assert template.matches(text + "d")


@given(st.text(max_size=400) | st.lists(st.sampled_from([*ITEM.split("\n"), *HOSTILE, HEADER, "\x00"])).map("\n".join))
def test_any_text_gets_an_answer_that_keeps_it_whole(text: str) -> None:
    match = matcher().match_message(text)
    assert (match is None) == (not text.strip())
    if match is not None:
        assert match.message.text == text
        assert (match.how in ("none", "shared")) == (not match.gb_ids)
    for one in matcher().find_messages(text.split("\n")):
        assert one.line <= text.count("\n") + 1


# --- real messages --------------------------------------------------------------------------------------------------

PROGRAM = """
import sys, traceback
import torch

def item(x): return x + x.sum().item()
def branch(x):
    if x.sum() > 0: return x + 1
    return x - 1
def prints(x):
    print("hi"); return x + 1
def asks(x):
    x = x + 1
    torch._dynamo.graph_break(); return x + 1
def loop(x):
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x
def operator(x):
    def true(x):
        print("x"); return x
    return torch.cond(x.sum() > 0, true, lambda x: x, (x,))

for function in (item, branch, prints, asks, loop, operator):
    for fullgraph in (False, True):
        torch._dynamo.reset()
        try:
            torch.compile(function, backend="eager", fullgraph=fullgraph)(torch.randn(3))
        except Exception as error:
            print("EXCEPTION", ascii(str(error)), flush=True)
            if fullgraph: traceback.print_exc()
"""


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
def test_real_messages_are_named_alike_with_and_without_their_link(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    environment = os.environ | {"TORCH_LOGS": "graph_breaks", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    found = list(matcher().find_messages(done.stderr.split("\n")))
    chains = [tuple(one.gb_id for one in match.chain) for match in found]
    expected = {("GB0124",), ("GB0170",), ("GB0059",), ("GB0025",), ("GB0025", "GB7000")}
    assert set(chains) == expected
    (warning,) = (match for match in found if match.how != "link")
    assert (warning.how, warning.gb_id) == ("form", "GB0124")
    found = list(matcher().name_text(done.stderr))  # the warning is about a break that is reported, too
    assert {match.how for match in found} == {"link"}
    assert all(match.message.location.startswith(str(tmp_path)) for match in found)
    assert any(match.message.higher_order_operator == "torch.cond" for match in found)

    unlinked = [line for line in done.stderr.split("\n") if "/gb/" not in line]
    without = list(matcher().find_messages(unlinked))
    assert {match.how for match in without} == {"type", "form"}
    assert [tuple(one.gb_id for one in match.chain) for match in without] == chains
    for match in (one for one in without if one.how == "type"):
        assert match.gb_ids == matcher().ids_of_wording(match.message.explanation, match.message.context)

    raised = [json.loads('"' + line[11:-1].replace('"', '\\"').replace("\\'", "'") + '"')
              for line in done.stdout.split("\n") if line.startswith("EXCEPTION")]  # fmt: skip
    assert len(raised) >= 5
    for text in raised:
        match = named(text)
        assert match.how == "link"
        assert match.gb_id == f"GB{re.findall('/gb/gb([0-9]{4})', text)[-1]}"


@pytest.mark.torch
@pytest.mark.slow
def test_torchs_own_formatter_is_parsed_back_for_every_wording() -> None:
    from torch._dynamo import exc

    choose = random.Random(3)
    for gb_id, wording in all_wordings():
        if wording.gb_type == "_gb_type":
            continue
        parts = [filled(text, choose) for text in (wording.gb_type, wording.context, wording.explanation)]
        text = exc.format_graph_break_message(*parts, list(wording.hints))  # type: ignore[call-arg, arg-type]
        parsed = parse_message(text)
        assert collapse(parsed.gb_type) == collapse(parts[0])
        assert (parsed.context, parsed.explanation) == (parts[1].strip(), parts[2].strip()), gb_id
        assert parsed.hints == tuple(hint.strip() for hint in wording.hints)
        assert gb_id in named(text).gb_ids or parsed.link
