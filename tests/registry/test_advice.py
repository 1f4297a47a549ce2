"""What somebody is told who has hit a break: from made-up evidence, and over the whole registry."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from registry.advice import Advice, Advisor, telling_hints
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Environment, Evidence, Registry
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
    verified = [gb.gb_id for gb in real() if gb.status == "verified"]
    assert len(verified) > 300
    assert [gb_id for gb_id in verified if not real_answers()[gb_id].fixes] == []


def test_every_answer_can_be_shown() -> None:
    for gb_id, found in real_answers().items():
        for code in (found.broken, *(fix.code for fix in found.fixes), *(code for _, code in found.isolated)):
            ast.parse(code)
        assert all(fix.when and fix.verified_on and fix.kind for fix in found.fixes), gb_id
        assert not (found.fixes and found.no_fix), gb_id


def test_some_programs_of_the_registry_stopped_breaking_after_2_13() -> None:
    assert {found.stopped_in for found in real_answers().values()} == {"", "2.15.0"}


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
