"""Forms: what torch prints outside of its layout is named, however it was copied, and stands for what the data says."""

from __future__ import annotations

import html
import json
import random
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from registry.forms import read_old_wordings, read_other_messages
from registry.message_layout import FORM_SIGNS
from registry.model import Form
from tests.conftest import ROOT
from tests.registry.test_matching import committed, filled, matcher

RECORDED = ROOT / "tests" / "repro_runner" / "fixtures" / "recorded_logs"
HEADER = "W0811 21:16:49.580000 11928 torch/_dynamo/variables/tensor.py:776] [0/0] "


def wrapped(text: str) -> str:
    """As a terminal of 80 columns breaks it: within a word."""
    return "\n".join(text[at : at + 80] for at in range(0, len(text), 80))


COPIED: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "after a header": lambda text: HEADER + text,
    "after a cut header": lambda text: HEADER[30:] + text,
    "after a compile id": lambda text: f"[0/0] {text}",
    "quoted": lambda text: f"> {text}",
    "in pytest": lambda text: f"E   {text}",
    "in a comment": lambda text: f"# {text}",
    "after a clock": lambda text: f"2025-11-15T03:15:57.1234567Z {text}",
    "coloured": lambda text: f"\x1b[33m{text}\x1b[0m",
    "as a warning": lambda text: f"/home/user/torch/_dynamo/x.py:12: UserWarning: {text}",
    "as an error": lambda text: f"RuntimeError: {text}",
    "wrapped by a terminal": wrapped,
    "wrapped by a person": lambda text: textwrap.fill(text, 72),
    "in a page's source": html.escape,
    "without backticks": lambda text: text.replace("`", ""),
}


def forms() -> list[Form]:
    """Those that may stand anywhere."""
    return [form for form in committed().forms if not form.marked]


def stands_for(text: str) -> list[str]:
    """Ids and pages, in the order in which they are found."""
    found = matcher().name_text(text)
    return [name for one in found for name in ([one.form.slug] if one.form and one.form.slug else one.gb_ids)]


@pytest.mark.slow
@pytest.mark.parametrize("copied", COPIED)
def test_every_form_is_named_however_it_was_copied(copied: str) -> None:
    choose = random.Random(0)
    surfaces = {one.slug for one in committed().other_messages if one.surface}
    missed = []
    for form in forms():
        printed = filled(form.text, choose).replace("\n", " ")
        named = stands_for(COPIED[copied](printed) + ("\n(see torch._inductor)" if form.beside else ""))
        wanted = [form.slug] if form.slug else list(form.gb_ids)
        # "RuntimeError: backend='inductor' raised:" has words of two pages that wrap others; either will do.
        if named[: len(wanted)] != wanted and not (form.slug in surfaces and named and named[0] in surfaces):
            missed.append((form.text, named))
    assert missed == []


def test_a_form_that_is_cut_is_named_or_not_but_never_as_another() -> None:
    choose = random.Random(0)
    counts: Counter[str] = Counter()
    for form in forms():
        printed = filled(form.text, choose).replace("\n", " ")
        named = stands_for(printed[: len(printed) * 3 // 4] + ("\n(see torch._inductor)" if form.beside else ""))
        wanted = [form.slug] if form.slug else list(form.gb_ids)
        is_right = set(named[: len(wanted)]) == set(wanted)
        counts["none" if not named else "right" if is_right else f"{form.text} as {named}"] += 1
    assert counts == {"right": 310, "none": 171}


@pytest.mark.parametrize(
    ("before", "page"),
    [
        ("W0306 14:40:15.990000 17 torch/_inductor/select_algorithm.py:1517] [2/0] ", "autotune-choice-failed"),
        ("[rank0]:W0306 14:40:15.990000 17 torch/_inductor/select_algorithm.py:1517] [2/0] ", "autotune-choice-failed"),
        ("triton.runtime.errors.OutOfResources: ", "triton-crash"),
        ("", "triton-crash"),
    ],
)
def test_the_header_tells_a_candidate_that_is_left_out_from_an_error(before: str, page: str) -> None:
    text = "out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes may help."
    assert stands_for(before + text) == [page]


def test_a_text_that_two_breaks_have_gives_both() -> None:
    raised = "torch._subclasses.fake_tensor.DataDependentOutputException: aten._local_scalar_dense.default"
    assert stands_for(raised) == ["GB0033", "GB0219"]
    while_compiled = "While executing %item : [num_users=1] = call_method[target=item](args = (%x,), kwargs = {})"
    assert stands_for(f"{raised}\n\n{while_compiled}") == ["GB0219", "GB0033"]
    called = "torch._dynamo.exc.Unsupported: call_method UserDefinedObjectVariable"
    assert stands_for(f"{called}(fwd) __call__ [TensorVariable()] {{}}") == ["GB0007", "GB0156"]
    assert stands_for(f"{called}(_lru_cache_wrapper) __call__ [ConstantVariable(int: 3)] {{}}") == ["lru-cache"]


def test_every_form_of_a_long_log_has_a_sign() -> None:
    """What a user sees with no flag set is found in a log of any length, too."""
    told = [form.text for form in forms() if form.gb_ids and "config." in form.text]
    assert told
    assert [text for text in told if not any(sign in text for sign in (*FORM_SIGNS, "_dynamo"))] == []


@pytest.mark.slow
def test_every_old_wording_is_named_after_its_marker() -> None:
    choose = random.Random(0)
    counts: Counter[str] = Counter()
    for form in committed().forms:
        if not form.marked:
            continue
        if not (form.gb_ids or form.slug or form.gone):
            counts["not mapped"] += 1
            continue
        printed = filled(form.text, choose).replace("\n", " ") if form.text[:1] not in "'\"" else form.text
        found = matcher().name_text(f"torch._dynamo.exc.Unsupported: {printed}")
        named = [one for one in found if one.named]
        told = {name for one in named for name in (*one.gb_ids, *([one.form.slug, one.form.gone] if one.form else []))}
        is_told = bool(told & {*form.gb_ids, form.slug, form.gone} - {""})
        counts["named" if is_told else "as another" if named else "says too little"] += 1
    assert counts == {"named": 824, "says too little": 12, "not mapped": 25}


def test_what_torch_2_0_to_2_7_printed_is_mapped_for_the_most_part() -> None:
    rows = [
        json.loads(line.rstrip(",")) for line in (ROOT / "registry/old_wordings.json").read_text().splitlines()[1:-1]
    ]
    mapped = [row for row in rows if not row.get("unmapped")]
    assert len(mapped) >= 250
    assert len(mapped) > 0.9 * len(rows)
    known = {gb.gb_id for gb in committed()}
    assert {gb_id for row in rows for gb_id in row.get("ids", ())} <= known
    assert {row["message"] for row in rows if "message" in row} <= {one.slug for one in committed().other_messages}


@pytest.mark.parametrize("release", ["2.8.0", "2.13.0", "2.15.0"])
def test_what_a_release_prints_with_no_flag_is_named(release: str) -> None:
    text = (RECORDED / f"plain-{release}.log").read_text("utf-8")
    found = matcher().name_text(text)
    assert {one.gb_id for one in found} == {"GB0039", "GB0124", "GB0007"}
    limits = [one for one in matcher().find_messages(text.split("\n")) if one.form and one.message.function == "scaled"]
    assert {one.message.location for one in limits} == {"/home/user/project/plain_warnings.py:25"}
    assert all("last reason: " in one.message.text for one in limits)


@pytest.mark.parametrize("release", ["2.8.0", "2.13.0", "2.15.0"])
def test_with_the_log_of_breaks_each_break_has_its_line(release: str) -> None:
    text = (RECORDED / f"graph_breaks-{release}.log").read_text("utf-8")
    sources = {one.chain[0].gb_id: one.message.source for one in matcher().name_text(text) if one.message.source}
    assert sources == {
        "GB0124": "return x + x.sum().item()",
        "GB0007": "return x + bisect.bisect_left([1, 2, 3], 2)",
        "GB0170": "if x.sum() > 0:",
        "GB0059": 'print("in a loop")',
        "GB0025": "torch._dynamo.graph_break()",
    }


SKIP = """\
Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.
torch.compile will skip tracing the frame forward (/home/user/model.py line 12) and fall back to eager.
The graph break occurred in the following user code:
  File "/home/user/model.py", line 14, in forward
    return bool(x.any())
"""
CAUSE = """\
Traceback (most recent call last):
  File "torch/_dynamo/convert_frame.py", line 1, in _compile
torch._dynamo.exc.Unsupported: Data-dependent branching
"""


def test_a_skip_is_explained_and_gives_way_to_its_cause() -> None:
    assert stands_for(SKIP) == ["frame-skipped"]
    assert stands_for(SKIP + CAUSE) == ["GB0170"]


def test_an_exception_that_wraps_another_shows_its_cause() -> None:
    wrapping = "torch._dynamo.exc.BackendCompilerFailed: backend='{}' raised:\n"
    assert stands_for(wrapping.format("tvm")) == ["backend-compiler-failed"]
    wrapping = wrapping.format("inductor")
    assert stands_for(wrapping) == ["inductor-crash"]
    assert stands_for(f"{wrapping}RuntimeError: Compiler: cl is not found.") == ["no-cpp-compiler"]
    assert stands_for(f"{wrapping}LoweringException: AssertionError: ") == ["inductor-crash"]
    operator = (
        "torch._dynamo.exc.UncapturedHigherOrderOpError: Cond doesn't work unless it is captured completely with "
    )
    assert stands_for(f"{operator}torch.compile. Got graph break/error:\n\n  Data-dependent branching\n") == ["GB0170"]


@pytest.mark.parametrize("link", ["https://example.invalid/gb/.html", "https://example.invalid/gb/gb.html"])
def test_a_link_without_its_id_ends_a_message_all_the_same(link: str) -> None:
    text = f"Data-dependent branching\n  Explanation: e\n\n  Developer debug context: c\n\n visit: {link}\nnext line\n"
    (found,) = matcher().name_text(text)
    assert (found.gb_ids, found.message.link, found.message.context) == (("GB0170",), "", "c")


def test_all_problems_of_the_data_are_told_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "registry" / "other_messages"
    folder.mkdir(parents=True)
    good = "title: t\nshort: s\nreleases: r\nmeaning: m\ndo: [d]\n"
    files = {
        "one.yml": "{title: t, forms: [short], see: [nobody, two]}",
        "two.yml": "3",
        "three.yml": f"{good}extra: 1\n",
        "cut-off.yml": f"{good}see: [\n",
        "Big_Name.yml": good,
        "other.yaml": good,
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_other_messages(folder)
    told = [
        str(problem).removeprefix("registry/other_messages/").partition(";")[0] for problem in caught.value.problems
    ]
    assert told == [
        "Big_Name.yml:1: the name is no slug",
        "cut-off.yml:7: not YAML: did not find expected node content",
        *(f"one.yml:1: needs a text `{name}`" for name in ("short", "releases", "meaning")),
        "one.yml:1: needs at least one text under `do`",
        "one.yml:1: the form 'short' says too little to be recognised",
        "one.yml:1: there is no message 'nobody'",
        "other.yaml:1: the name is no slug",
        "three.yml:1: has no use for `extra`",
        "two.yml:1: needs a mapping",
    ]
    old = tmp_path / "old_wordings.json"
    old.write_text('[\n{"text": "t", "first": "2.0", "last": "2.1"}\n]\n', "utf-8")
    with pytest.raises(InvalidInput, match=r"old_wordings.json:2: not an old wording: needs one of ids"):
        list(read_old_wordings(old))


def test_a_warning_is_not_the_cause_of_an_error_after_it() -> None:
    warning = "UserWarning: Torchinductor does not support code generation for complex operators."
    error = "torch._inductor.exc.InductorError: AttributeError: 'complex' object has no attribute 'get_name'"
    assert stands_for(f"{warning}\n  warnings.warn(\n{error}\n") == ["complex-operators", "inductor-crash"]
    cut = TRACEBACK.format(path="/venv/site-packages/torch/_inductor/scheduler.py")
    assert stands_for(f"{warning}\n  warnings.warn(\n{cut}\n") == ["complex-operators", "inductor-crash"]


def test_a_break_does_not_hide_an_error_of_another_part_below_it() -> None:
    report = f"torch._dynamo.exc.Unsupported: Data-dependent branching\n{'and so on' * 9}\n"
    assert stands_for(f"{report}RuntimeError: PassManager::run failed\n") == ["GB0170", "triton-crash"]


def test_what_other_programs_print_counts_only_beside_words_of_the_compiler() -> None:
    header = "fatal error: Python.h: No such file or directory\n"
    assert stands_for(header) == []
    assert stands_for(f'  File "/venv/torch/_inductor/graph.py", line 2002, in codegen\n{header}') == [
        "cpp-compile-error"
    ]


TRACEBACK = """\
  File "/home/user/train.py", line 3, in <module>
    step(x)
  File "{path}", line 12, in run
    return inner()
"""


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/venv/site-packages/torch/_inductor/scheduler.py", ["inductor-crash"]),
        ("/venv/site-packages/torch/_inductor/compile_worker/subproc_pool.py", ["subprocess-pool"]),
        (r"C:\venv\Lib\site-packages\triton\compiler\compiler.py", ["triton-crash"]),
        ("/venv/site-packages/torch/_functorch/aot_autograd.py", ["aot-autograd-error"]),
        ("/venv/site-packages/torch/_dynamo/eval_frame.py", []),
        ("/venv/site-packages/numpy/linalg.py", []),
    ],
)
def test_a_traceback_without_its_last_line_names_the_part_in_which_it_ends(path: str, named: list[str]) -> None:
    text = TRACEBACK.format(path=path)
    assert stands_for(text) == named
    assert stands_for(text + '  File "/home/user/hook.py", line 1, in hook\n    raise ValueError\n') == []


def test_an_old_reason_is_named_within_a_sentence_if_it_says_much() -> None:
    assert stands_for("[Bug] torch.export: Unsupported: call_function args: UserDefinedObjectVariable(Batch)") == [
        "GB0055"
    ]
    assert stands_for("Dynamo: call_method UserDefinedObjectVariable(Batch) keys [] {}") == ["GB0156"]
    assert stands_for("@contextlib.contextmanager") == []


def test_a_title_in_quotes_is_named_within_a_sentence() -> None:
    assert stands_for('[MoE] error per layer with compile: "HOP: Unsafe side effect"') == ["GB0067"]
