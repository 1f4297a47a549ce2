"""What somebody is told who has hit a break: from made-up evidence, and over the whole registry."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cache

import pytest

from registry.advice import Advice, Advisor, choose, telling_hints
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Environment, Evidence, Fits, Registry
from registry.repros import parse_repro
from registry.taxonomy import UNCATEGORISED
from tests.samples import CATEGORY, knowledge, revision

SOURCE = '''"""A lead."""
import torch

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.item()


def fixed(x):
    """When it is a tensor."""
    return x


def fixed_flag(x):
    """When it is a number."""
    return x.item()


def isolated(x):
    """When it must stay."""
    return x
'''
REPRO = parse_repro(SOURCE, "GB0001")
SUPPORTABLE = (
    "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch if you "
    "encounter this graph break often and it is causing performance issues."
)
FUNDAMENTAL = (
    "This graph break is fundamental - it is unlikely that Dynamo will ever be able to trace through your code. "
    "Consider finding a workaround."
)


def seen(torch: str, verdict: str, sha256: str = REPRO.sha256, **fixes: bool) -> Evidence:
    environment = Environment(torch=torch, python="3.11", device="cpu")
    return Evidence(environment=environment, repro_sha256=sha256, verdicts={"eager": verdict}, fixes=fixes)


def answer(torch: str, *evidence: Evidence, explanation: str = "e") -> Advice:
    known = knowledge(
        {"GB0001": [revision("a type", explanation=explanation)]},
        repros={"GB0001": REPRO},
        evidence={"GB0001": evidence},
    )
    found = Advisor(merge_registry(known)).advise("GB0001", torch=torch)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("torch", "told"),
    [
        ("2.13.0", "2.13.0"),
        ("2.13.0+cu128", "2.13.0"),
        ("2.14.0", "2.13.0"),  # the newest up to it
        ("2.15.0a0+git1234", "2.15.0"),
        ("2.9.0", "2.11.0"),  # none up to it: the oldest
        ("", "2.15.0"),  # a log that does not say: the newest
    ],
)
def test_a_fix_is_told_with_the_run_nearest_to_the_askers_release(torch: str, told: str) -> None:
    runs = [seen(release, "verified", fixed=True) for release in ("2.15.0", "2.11.0", "2.13.0")]
    assert [fix.verified_on for fix in answer(torch, *runs).fixes] == [told]


def test_a_fix_that_did_not_hold_where_it_ran_last_is_not_offered() -> None:
    runs = (
        seen("2.11.0", "verified", fixed=True, fixed_flag=True),
        seen("2.13.0", "verified", fixed=True, fixed_flag=False),
    )
    assert [fix.name for fix in answer("2.13.0", *runs).fixes] == ["fixed"]
    assert [fix.name for fix in answer("2.12.0", *runs).fixes] == ["fixed", "fixed_flag"]


def test_of_a_fix_that_only_another_release_accepts_both_releases_are_named() -> None:
    runs = (
        seen("2.11.0", "verified", fixed=True),
        seen("2.13.0", "reproduced", fixed=False),
    )
    refused = answer("2.13.0", *runs)
    assert (refused.fixes, refused.no_fix) == ((), "The fix of its page holds on torch 2.11.0, and not on 2.13.0.")
    assert answer("2.11.0", *runs).no_fix == ""


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param((), id="never run"),
        pytest.param((seen("2.13.0", "verified", sha256="0" * 64, fixed=True),), id="run when it was another text"),
        pytest.param((seen("2.13.0", "stopped", fixed=True),), id="nothing broke that it could mend"),
    ],
)
def test_a_fix_that_proves_nothing_is_not_offered(evidence: tuple[Evidence, ...]) -> None:
    assert answer("2.13.0", *evidence).fixes == ()


def test_a_fix_comes_as_code_with_its_setting_and_when_to_choose_it() -> None:
    found = answer("2.13.0", seen("2.13.0", "verified", fixed=True, fixed_flag=True))
    fixed, flag = found.fixes
    assert (fixed.kind, fixed.when, fixed.code) == ("rewrite", "When it is a tensor.", "def fixed(x):\n    return x")
    assert (flag.kind, flag.settings) == ("flag", "torch._dynamo.config.capture_scalar_outputs = True")
    assert found.broken == "def broken(x):\n    return x.item()"
    assert found.isolated == (("When it must stay.", "def isolated(x):\n    return x"),)
    assert (found.lead, found.category) == ("A lead.", CATEGORY)
    assert found.link.endswith("/gb/gb0001.html")


@pytest.mark.parametrize(
    ("torch", "told"), [("2.13.0", "2.14.0"), ("2.14.0", "2.15.0"), ("2.15.0", ""), ("", "2.11.0")]
)
def test_the_first_newer_release_that_traces_the_program_is_named(torch: str, told: str) -> None:
    runs = [seen(release, "stopped") for release in ("2.15.0", "2.11.0", "2.14.0")]
    assert answer(torch, *runs).stopped_in == told


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ({"2.11.0": "stopped", "2.14.0": "stopped", "2.15.0": "verified"}, ("", "2.15.0")),  # it breaks again
        ({"2.13.0": "verified", "2.14.0": "stopped", "2.15.0": "failed"}, ("", "")),
        ({"2.13.0": "stopped", "2.14.0": "verified", "2.15.0": "stopped"}, ("2.15.0", "")),
        ({"2.14.0": "reproduced", "2.15.0": "not applicable"}, ("", "")),
        ({}, ("", "")),
    ],
)
def test_whether_a_newer_torch_helps_is_what_the_newest_run_says(
    verdicts: dict[str, str], told: tuple[str, str]
) -> None:
    found = answer("2.10.0", *(seen(release, verdict) for release, verdict in verdicts.items()))
    assert (found.stopped_in, found.breaks_in) == told


def test_that_the_program_of_another_function_stopped_breaking_is_not_told() -> None:
    fits = Fits(names=(r"builtin `(\w+)`",), fixes={"fixed": ("print",)})
    stopped = answer("2.13.0", seen("2.13.0", "verified", fixed=True), seen("2.15.0", "stopped"))
    assert choose(stopped, fits, "builtin `print`").stopped_in == "2.15.0"
    assert choose(stopped, fits, "builtin `hash`").stopped_in == ""


def test_an_explanation_that_is_source_code_is_not_told() -> None:
    assert answer("2.13.0", explanation='"Because of " + str(value)').explanation == ""
    assert answer("2.13.0", explanation="Because of {value}.").explanation == "Because of {value}."


def test_an_id_that_nobody_knows_has_no_answer_and_no_category() -> None:
    answers = Advisor(merge_registry(knowledge({"GB0001": [revision("a")], "GB0002": [revision("b")]})))
    assert answers.advise("GB9999", torch="2.13.0") is None
    ids = ["GB0002", "GB0001", "GB9999", "GB0002"]
    assert answers.by_category(ids) == {UNCATEGORISED: ["GB0002", "GB9999", "GB0002"], CATEGORY: ["GB0001"]}


def test_hints_about_this_break_come_first_and_a_call_for_a_report_not_at_all() -> None:
    hints = [SUPPORTABLE, FUNDAMENTAL, "Use `torch.cond`.", " ", "Please open an issue.", "Move it."]
    assert telling_hints(hints) == ("Use `torch.cond`.", "Move it.", FUNDAMENTAL)


@cache
def real() -> Registry:
    return merge_registry(read_package())


@cache
def real_answers() -> dict[str, Advice]:
    answers = Advisor(real())
    found = {gb.gb_id: answers.advise(gb.gb_id, torch="2.13.0") for gb in real()}
    assert None not in found.values()
    return {gb_id: one for gb_id, one in found.items() if one is not None}


@pytest.mark.slow
def test_every_verified_id_has_a_fix_that_held() -> None:
    verified = [gb.gb_id for gb in real() if gb.status_in("2.13.0") == "verified"]
    assert len(verified) > 300
    assert [gb_id for gb_id in verified if not real_answers()[gb_id].fixes] == []


def test_every_answer_can_be_shown() -> None:
    for gb_id, found in real_answers().items():
        for code in (found.broken, *(fix.code for fix in found.fixes), *(code for _, code in found.isolated)):
            ast.parse(code)
        assert all(fix.when and fix.verified_on and fix.kind for fix in found.fixes), gb_id
        assert not (found.fixes and found.no_fix), gb_id


@pytest.mark.slow
def test_some_programs_of_the_registry_stopped_breaking_after_2_13() -> None:
    assert {found.stopped_in for found in real_answers().values()} == {"", "2.14.1", "2.15.0"}


@pytest.mark.slow
def test_an_answer_sends_to_a_newer_torch_only_where_its_newest_run_compiles() -> None:
    newest = real().releases[-1]
    advisor = Advisor(real())
    for gb in real():
        for torch in ("", "2.8.0", "2.13.0"):
            found = advisor.advise(gb.gb_id, torch=torch)
            assert found is not None
            if found.stopped_in:
                assert gb.verdict_in(newest) == "stopped", gb.gb_id
            assert not (found.stopped_in and found.breaks_in), gb.gb_id


def test_no_text_of_ours_sends_to_a_newer_torch_without_a_run() -> None:
    said = [one.text for fits in real().fits.values() for one in fits.counsels]
    said += [category.way_out for category in real().categories]
    promise = re.compile(r"(?i)newer (torch|release)|update torch|upgrade|traces more")
    assert [text for text in said if promise.search(text)] == []


def test_of_hints_that_many_breaks_share_none_passes_for_one_of_its_own() -> None:
    """A sentence that ten breaks have is torch's boilerplate, whatever release wrote it."""
    breaks_with: dict[str, set[str]] = {}
    for gb in real():
        for dated in gb.revisions:
            for hint in dated.revision.hints:
                breaks_with.setdefault(hint, set()).add(gb.gb_id)
    shared = {hint for hint, ids in breaks_with.items() if len(ids) >= 10}
    own = "A hint of its own."
    assert len(shared) >= 5
    assert [hint for hint in shared if telling_hints([hint, own])[0] != own] == []


# --- the fix that fits the message ----------------------------------------------------------------------------------

REASONS = {
    "tensor 'x' size mismatch at index 0. expected 3, actual 4": "dynamic=True",
    "tensor 'self._modules['layer']._parameters['weight']' size mismatch at index 0": "force_parameter_static_shapes",
    "___check_obj_id(self._modules['attn'].processor, 131625166357568)": "recompile_limit",
    "GLOBAL_STATE changed: grad_mode": "state of torch",
    "scale == 0.5": "as a tensor",
}
"""The last reason of a recompile limit -> what the advice has to name."""


def advised(gb_id: str, message: str) -> Advice:
    found = Advisor(real()).advise(gb_id, torch="2.13.0", message=message)
    assert found is not None
    return found


def test_hash_does_not_get_the_fix_for_print() -> None:
    message = "builtin operator `{}` with argument types ['GenerationConfig'] (has_kwargs False)"
    assert [fix.name for fix in advised("GB0059", message.format("print")).fixes] == ["fixed", "fixed_flag"]
    other = advised("GB0059", message.format("hash"))
    assert other.fixes == ()
    assert other.misfit or other.counsels


@pytest.mark.parametrize("kernel", ["sageattention._fused.PyCapsule.quant_per_warp_int8_cuda", "flash_attn_2_cuda.fwd"])
def test_a_kernel_of_another_package_is_told_to_become_an_operator(kernel: str) -> None:
    found = advised("GB0007", f"Dynamo does not know how to trace the builtin `{kernel}.` This function is either")
    assert found.fixes == ()
    assert "custom_op" in found.counsels[0].text


@pytest.mark.parametrize("reason", REASONS)
def test_the_last_reason_of_the_recompile_limit_decides(reason: str) -> None:
    said = f"torch._dynamo hit config.recompile_limit (8)\n   function: 'f' (a.py:1)\n   last reason: 0/7: {reason}\n"
    (counsel,) = advised("GB0039", said).counsels
    assert REASONS[reason] in counsel.text


def test_each_guard_gets_its_advice_and_what_is_said_to_all_is_left_out_then() -> None:
    guards = ["rank mismatch. expected 1", "tensor 'x' size mismatch at index 0", "tensor 'x' size mismatch at index 1"]
    found = Advisor(real()).advise("GB0039", torch="2.13.0", message="Limit type: recompile_limit", guards=guards)
    assert found is not None
    assert ["dynamic=True" in one.text for one in found.counsels] == [True, False]
    assert "number of dimensions" in found.counsels[1].text


def test_guards_of_which_nothing_is_known_get_no_advice_that_asks_for_them() -> None:
    assert Advisor(real()).on_recompiles(["something new"]) == ()


@pytest.mark.parametrize(
    ("gb_id", "said"),
    [
        ("GB0007", "qualname: DistributedDataParallel._inside_ddp_forward, skip reason: x"),
        ("GB0156", "Avoid calling `Logger.set_runtime_stats_and_log` in your code"),
    ],
)
def test_what_a_wrapper_of_torch_calls_itself_is_not_to_be_moved_but_the_module_inside_compiled(
    gb_id: str, said: str
) -> None:
    (counsel,) = advised(gb_id, said).counsels
    assert "DistributedDataParallel(torch.compile(model))" in counsel.text


@pytest.mark.parametrize(
    ("gb_id", "said"),
    [
        ("GB0090", "Operator `mylib.foo.default` has no fake kernel unsupported operator: mylib.foo.default"),
        ("GB4315", "got RuntimeError('There was no fake impl registered for <CustomOpDef(b::positive)>."),
    ],
)
def test_a_fake_kernel_whose_size_depends_on_data_is_not_told_to_be_like_its_input(gb_id: str, said: str) -> None:
    found = advised(gb_id, said)
    (counsel,) = found.counsels
    assert found.fixes  # with the shape of the input
    assert "only if the result has the shape of the input" in counsel.text
    assert "torch.library.get_ctx().new_dynamic_size()" in counsel.text


def test_an_error_that_names_no_reason_leads_to_the_log_and_the_limit() -> None:
    told = advised("GB0039", "FailOnRecompileLimitHit: Hard failure due to fullgraph=True")
    (counsel,) = told.counsels
    assert not told.fixes  # those are for one cause of many
    assert "TORCH_LOGS=recompiles" in counsel.text
    assert "recompile_limit" in counsel.text


def test_an_operator_of_torch_itself_gets_no_fake_kernel() -> None:
    own = advised("GB0090", "Operator `mylib.foo.default` has no fake kernel unsupported operator: mylib.foo.default")
    torchs = advised("GB0090", "unsupported operator: aten.foo.default")
    assert "fixed" in {fix.name for fix in own.fixes} or any("register_fake" in one.text for one in own.counsels)
    assert torchs.fixes == ()


@pytest.mark.parametrize(
    ("gb_id", "said", "told"),
    [
        ("GB0007", "module: torch.random, qualname: manual_seed, skip reason: file", "draw the mask from the seed"),
        ("GB0008", "qualname: Optimizer.zero_grad, name: inner, filename: `torch/_compile.py`", "model.zero_grad()"),
        ("GB0124", "Unsupported Tensor.item() call with capture_scalar_outputs=False", "only decides an `if`"),
        ("GB0206", "setattr() on Tensor.requires_grad", "computes no gradient"),
        ("GB0208", "example_value type: int; target: <Wrapped method <original item>>", "sum(sizes)"),
        ("GB4347", "Dynamo does not support next() on dict_keyiterator.", "comprehension"),
    ],
)
def test_a_form_that_the_smallest_program_does_not_have_gets_advice_that_a_program_proves(
    gb_id: str, said: str, told: str
) -> None:
    found = advised(gb_id, said)
    (counsel,) = found.counsels
    assert told in counsel.text
    assert any(run.fixes and all(run.fixes.values()) for run in real().message_programs[counsel.program].runs)
    assert "fixed_trace" not in {fix.name for fix in found.fixes}


@pytest.mark.parametrize(
    ("said", "function"),
    [
        ("trace the builtin `torch.cuda.synchronize.`", "torch.cuda.synchronize"),
        ("trace the builtin `time.perf_counter.`", "time.perf_counter"),
    ],
)
def test_a_function_without_a_tested_fix_is_told_so_and_not_what_our_fix_is_for(said: str, function: str) -> None:
    found = advised("GB0007", said)
    assert (found.fixes, found.misfit) == ((), f"No tested fix for your `{function}`.")
    assert found.counsels


@pytest.mark.parametrize(
    ("gb_id", "said"),
    [
        ("GB0007", "trace the builtin `time.time.`"),  # another program of the id
        ("GB0007", "module: torch.cuda, qualname: synchronize, skip reason: x"),  # one that ran on a GPU
        ("GB0007", "module: torch.random, qualname: manual_seed, skip reason: file"),  # a program of a message
        ("GB0039", "last reason: 0/7: something new"),  # the page's fix is for a cause, not for a name
    ],
)
def test_what_another_program_has_a_tested_fix_for_is_not_said_to_have_none(gb_id: str, said: str) -> None:
    assert advised(gb_id, said).misfit == ""


def test_where_nothing_is_named_the_pages_fix_is_shown() -> None:
    fits = Fits(names=(r"builtin `(\w+)`",), fixes={"fixed": ("print",)})
    known = advised("GB0059", "")
    told = choose(replace(known, fixes=known.fixes[:1]), fits, "builtin `hash`")
    assert told.misfit == "No tested fix for your `hash`."
    assert choose(known, fits, "nothing is named").fixes == known.fixes


def test_every_entry_finds_the_name_in_what_its_program_printed() -> None:
    """And that name has a fix: otherwise the page's own program would be told that nothing fits."""
    checked = 0
    for gb in real():
        fits = real().fits.get(gb.gb_id)
        messages = [seen.message for seen in gb.fresh_evidence if seen.message and seen.environment.torch == "2.13.0"]
        if fits is None or not messages or gb.gb_id == "GB0039":
            continue
        told = advised(gb.gb_id, messages[0])
        assert told.fixes or not real_answers()[gb.gb_id].fixes, gb.gb_id
        checked += 1
    assert checked > 80
    assert set(real().fits) <= {gb.gb_id for gb in real()}
    programs = {one.program for fits in real().fits.values() for one in fits.counsels if one.program}
    assert programs <= set(real().message_programs)
