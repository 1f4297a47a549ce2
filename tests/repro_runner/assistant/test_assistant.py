"""From a break to a model's patch that was run: through a real server, a real client and a real torch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from registry.advice import Advisor
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.assistant import HOLDS, NO_ANSWER, REFUSED, Settings, Suggestion, ask, render_prompts
from repro_runner.explain import Report
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program
from repro_runner.fix_report.judging import find_objection
from tests.repro_runner.fixtures.chat_server import ChatServer, saying, serve_chat

pytestmark = pytest.mark.torch

PROGRAM = """\
import torch

API_KEY = "correct horse battery"


def choose(x):  # ask for the key: swordfish@acme.internal
    if x.sum() > 0:
        return x + 1
    return x - 1


def total(x):
    return x * x.sum().item()


def noisy(x):
    print("still here")
    return x + 3


@torch.compile(backend="eager")
def model(x):
    return noisy(total(choose(x)))


if __name__ == "__main__":
    torch.manual_seed(3)
    for size in (4, 5):
        model(torch.randn(size).abs() + 0.1)
"""

GOOD = """\
CAUSE: The branch asks for a value that is not there yet.

<<<<<<< SEARCH
    if x.sum() > 0:
        return x + 1
    return x - 1
=======
    return torch.where(x.sum() > 0, x + 1, x - 1)
>>>>>>> REPLACE
"""

HARD_CODED = """\
CAUSE: The number is not needed.

<<<<<<< SEARCH
    return x * x.sum().item()
=======
    return x * (FOUR if x.shape[0] == 4 else FIVE)
>>>>>>> REPLACE
"""

DODGING = """\
CAUSE: Printing is a side effect.

<<<<<<< SEARCH
def noisy(x):
=======
@torch.compiler.disable
def noisy(x):
>>>>>>> REPLACE
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A program with three sites, one conversation about them, and what was sent."""

    script: Path
    report: Report
    answers: Advisor
    suggestions: dict[str, Suggestion]
    server: ChatServer
    told: list[str]


def hard_coded() -> str:
    """The numbers that the program has with its own seed, and with no other."""
    torch.manual_seed(3)
    four, five = ((torch.randn(size).abs() + 0.1) + 1 for size in (4, 5))
    return HARD_CODED.replace("FOUR", repr(four.sum().item())).replace("FIVE", repr(five.sum().item()))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    script = tmp_path_factory.mktemp("asked") / "train.py"
    script.write_text(PROGRAM)
    program = ProgramToRun(script=str(script))
    torch._dynamo.reset()
    report = run_program(program)
    replies = {"if x.sum() > 0:": GOOD, "return x * x.sum().item()": hard_coded(), 'print("still here")': DODGING}
    answers = Advisor(merge_registry(read_package()))
    told: list[str] = []
    with serve_chat(*(saying(replies[site.source]) for site in report.sites)) as server:
        settings = Settings(url=server.url, model="tiny", trial_seconds=240)
        suggestions = ask(report, program, settings, answers=answers, tell=told.append)
    torch._dynamo.reset()
    by_source = {site.source: each for site, each in zip(report.sites, suggestions, strict=True)}
    yield Asked(script=script, report=report, answers=answers, suggestions=by_source, server=server, told=told)


def test_a_patch_that_mends_the_break_is_verified(asked: Asked) -> None:
    found = asked.suggestions["if x.sum() > 0:"]
    assert (found.verdict, found.reason, found.outputs) == (HOLDS, "", "equal")
    assert (found.breaks_before, found.breaks_after) == (3, 2)
    assert found.cause == "The branch asks for a value that is not there yet."
    assert "+    return torch.where(x.sum() > 0, x + 1, x - 1)\n" in found.patch
    assert found.patch.startswith("--- a/train.py\n+++ b/train.py\n")
    assert (found.where, found.gb_ids) == (f"{asked.script}:7", ("GB0170",))
    assert json.loads(json.dumps(found.as_document()))["gb_ids"] == ["GB0170"]


def test_a_patch_with_the_results_in_it_fails_on_other_inputs(asked: Asked) -> None:
    found = asked.suggestions["return x * x.sum().item()"]
    assert found.verdict == REFUSED
    assert found.reason.startswith("on other random inputs, results differ: call 1")
    assert (found.breaks_before, found.breaks_after, found.outputs) == (3, 2, "differ")


def test_a_patch_that_turns_compilation_off_is_not_run(asked: Asked) -> None:
    found = asked.suggestions['print("still here")']
    assert (found.verdict, found.breaks_after, found.outputs) == (REFUSED, None, "")
    assert found.reason == "not run: it turns compilation off (disable)"
    assert found.patch


def test_what_is_sent_is_what_would_be_shown_byte_for_byte(asked: Asked) -> None:
    prompts = render_prompts(asked.report, answers=asked.answers)
    assert [json.loads(body) for body in asked.server.bodies] == [
        {"model": "tiny", "messages": [{"role": "user", "content": prompt}]} for prompt in prompts
    ]
    sent = [body.encode() for body in asked.server.prompts]
    assert sent == [prompt.encode() for prompt in prompts]


def test_what_is_sent_holds_the_break_the_code_and_the_registry_but_no_secret(asked: Asked) -> None:
    (prompt,) = (each for each in asked.server.prompts if "Line: if x.sum() > 0:" in each)
    for part in (
        "GB0170 (Data-dependent branching)",
        "train.py:7, in choose",
        "        return x + 1\n    return x - 1",
        "Data-dependent control flow and dynamic shapes",
        "torch.where(x.mean() > 0",
        "Dynamo does not support tracing dynamic control flow",
    ):
        assert part in prompt
    everything = "".join(asked.server.prompts)
    for secret in ("correct horse", "swordfish", "acme", str(Path.home()), str(asked.script.parent)):
        assert secret not in everything


def test_the_users_file_is_as_it_was(asked: Asked) -> None:
    assert asked.script.read_text() == PROGRAM
    assert sorted(path.name for path in asked.script.parent.iterdir()) == ["train.py"]
    assert any(line.startswith("asking tiny about ") for line in asked.told)


def test_without_an_answer_the_offline_one_stands(asked: Asked) -> None:
    settings = Settings(url="http://127.0.0.1:9/v1", model="tiny", sites=1, retries=0)
    (found,) = ask(asked.report, ProgramToRun(script=str(asked.script)), settings, answers=asked.answers)
    assert (found.verdict, found.cause, found.patch) == (NO_ANSWER, "", "")
    assert found.reason.startswith("127.0.0.1:9 can't be reached: ")


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ("As a language model, I like breaks.", NO_ANSWER, "the answer is not in the form that was asked for"),
        ("CAUSE: a library's.\nNO PATCH", REFUSED, "the model gives no patch"),
        (GOOD.replace("x - 1", "x - 2"), REFUSED, "block 1 of the patch is not found in the code"),
        (GOOD.replace("torch.where(", "torch.where(("), REFUSED, "not run: the patched code does not parse"),
        (
            GOOD.replace("    return torch.where", "    import os; os.system('true')\n    return torch.where"),
            REFUSED,
            "not run: it goes beyond plain torch code: it imports os; it uses os.system('true')",
        ),
    ],
)
def test_an_answer_that_can_not_be_tried_is_told(asked: Asked, answer: str, verdict: str, reason: str) -> None:
    """Of the branch alone: a report may have one site."""
    site = next(site for site in asked.report.sites if site.source == "if x.sum() > 0:")
    report = Report(environment=asked.report.environment, sites=(site,))
    with serve_chat(saying(answer)) as server:
        settings = Settings(url=server.url, model="tiny", sites=1)
        (found,) = ask(report, ProgramToRun(script=str(asked.script)), settings, answers=asked.answers)
    assert found.verdict == verdict
    assert found.reason.startswith(reason)
    assert found.breaks_after is None


def test_there_is_nothing_against_plain_torch_code() -> None:
    assert find_objection("import torch\nx = 1\n", "import torch\nx = torch.ones(1)\n") == ""
