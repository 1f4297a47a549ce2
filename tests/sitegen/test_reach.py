"""What is unlikely is said of one release; whether to upgrade is what the runs say. Made-up runs, and all of them."""

from __future__ import annotations

import re

import pytest

from registry.merge import merge_registry
from registry.model import Environment, Evidence, GraphBreak, Repro
from registry.repros import parse_repro
from sitegen.reach import reach_badge, reach_sentence
from sitegen.release_facts import upgrade_sentence
from tests.committed import committed_registry
from tests.samples import knowledge, revision

SOURCE = '''"""A lead."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.item()


def fixed(x):
    """Use this when it is a tensor."""
    return x
'''
PRIVATE = parse_repro(SOURCE, "GB0001")
USUAL = parse_repro(SOURCE.replace('REACH = "private"', 'TITLE = "Usual"'), "GB0001_usual")
UNLIKELY = "you are unlikely to see this: the program uses private parts of torch."


def ran(repro: Repro, verdicts: dict[str, str], device: str = "cpu") -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            environment=Environment(torch=torch, python="3.11", device=device),
            repro_sha256=repro.sha256,
            verdicts={"eager": verdict},
            fixes={"fixed": verdict == "verified"},
        )
        for torch, verdict in verdicts.items()
    )


def made(*runs: Evidence, examples: dict[str, Repro] | None = None, usual: tuple[Evidence, ...] = ()) -> GraphBreak:
    known = knowledge(
        {"GB0001": [revision("a type")]},
        repros={"GB0001": PRIVATE, **(examples or {})},
        evidence={"GB0001": runs, "GB0001_usual": usual},
    )
    (gb,) = merge_registry(known)
    return gb


def told(gb: GraphBreak) -> str:
    return upgrade_sentence(gb, sorted({seen.environment for seen in gb.best_evidence}, key=lambda one: one.order))


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (
            {"2.8.0": "verified", "2.9.1": "verified", "2.10.0": "verified"},
            "Breaks in torch 2.8.0 to 2.10.0. Upgrading doesn't help; a rewrite does.",
        ),
        ({"2.9.1": "stopped", "2.10.0": "reproduced"}, "Breaks in torch 2.10.0. Upgrading doesn't help."),
        (
            {"2.8.0": "verified", "2.9.1": "stopped", "2.10.0": "verified"},
            "Breaks in torch 2.8.0 and 2.10.0. Upgrading doesn't help; a rewrite does.",
        ),
        (
            {"2.8.0": "verified", "2.9.1": "stopped", "2.10.0": "stopped"},
            "Breaks in torch 2.8.0. Upgrading can help: since torch 2.9.1, our program compiles without a break.",
        ),
        (
            {"2.8.0": "verified", "2.9.1": "other id"},
            "Breaks in torch 2.8.0. In torch 2.9.1, our program breaks with another id: upgrading alone doesn't help.",
        ),
        (
            {"2.8.0": "verified", "2.9.1": "failed"},
            "Breaks in torch 2.8.0. We can't say whether upgrading helps: our program fails in torch 2.9.1.",
        ),
    ],
)
def test_whether_to_upgrade_is_what_the_newest_run_says(verdicts: dict[str, str], said: str) -> None:
    assert told(made(*ran(PRIVATE, verdicts))) == said


def test_the_way_out_is_the_simplest_that_a_fix_of_any_program_takes() -> None:
    flag = parse_repro(SOURCE + '\n\nFLAGS = {"fixed": {"capture_scalar_outputs": True}}\n', "GB0001")
    others = {"GB0001": flag, "GB0001_usual": USUAL}
    for verdict, way in (("verified", "a rewrite"), ("other id", "a setting")):
        gb = made(*ran(flag, {"2.9.1": "verified"}), examples=others, usual=ran(USUAL, {"2.9.1": verdict}))
        assert told(gb) == f"Breaks in torch 2.9.1. Upgrading doesn't help; {way} does."


def test_a_break_that_was_seen_on_a_gpu_alone_is_not_said_of_the_cpu() -> None:
    both = made(*ran(PRIVATE, {"2.9.1": "verified"}), *ran(PRIVATE, {"2.9.1": "verified"}, "cuda"))
    alone = made(*ran(PRIVATE, {"2.9.1": "not applicable"}), *ran(PRIVATE, {"2.9.1": "verified"}, "cuda"))
    assert told(both).startswith("Breaks in torch 2.9.1, also on CUDA. ")
    assert told(alone).startswith("Breaks in torch 2.9.1 on CUDA. ")


def test_no_page_says_that_a_newer_torch_helps_where_the_newest_breaks() -> None:
    registry = committed_registry()
    newest = registry.environments[-1].torch
    for gb in registry:
        said = upgrade_sentence(gb, registry.environments)
        verdict = gb.verdict_in(newest)
        assert ("can help" in said) == (verdict == "stopped" and "Breaks in" in said), gb.gb_id
        assert ("Upgrading doesn't help" in said) == (verdict in ("verified", "reproduced")), gb.gb_id


def test_unlikely_is_said_of_the_newest_release_that_breaks_and_of_no_older_one() -> None:
    runs = ran(PRIVATE, {"2.8.0": "verified", "2.9.1": "verified", "2.10.0": "verified"})
    alone = made(*runs)
    assert reach_sentence(alone, alone.programs[0]) == f"In torch 2.10.0, {UNLIKELY}"
    for last, said in (
        ("2.9.1", f"In torch 2.10.0, {UNLIKELY} Up to torch 2.9.1, ordinary code causes it, too."),
        ("2.10.0", "The program uses private parts of torch."),
    ):
        gb = made(*runs, examples={"GB0001_usual": USUAL}, usual=ran(USUAL, {last: "verified"}))
        (private,) = [one for one in gb.programs if one.repro is PRIVATE]
        assert reach_sentence(gb, private) == said
        assert reach_badge(gb, "2.8.0") == "private parts of torch"


def test_nothing_is_unlikely_without_a_release() -> None:
    for gb in committed_registry():
        for one in gb.programs:
            said = reach_sentence(gb, one)
            assert "unlikely" not in said or re.match(r"In torch \d+\.\d+\.\d+, you are unlikely", said), gb.gb_id
