"""Verdicts, and programs that misbehave: each gets a cause, and its neighbours' verdicts stay what they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from registry.model import VERIFIER
from repro_runner.judge.gradients import EAGER_RAISES, NO_GRAD_FN, NO_INPUT
from repro_runner.process import Limits, Pool
from repro_runner.runner.machine import Finished, ReproRun, ThisMachine, child_environment, open_pool
from repro_runner.runner.part import normalise
from repro_runner.runner.requires import unmet
from tests.conftest import ROOT
from tests.processes import processes_with

pytestmark = [pytest.mark.torch, pytest.mark.slow]

HEAD = '"""A lead."""\nimport torch\n\n\ndef inputs():\n    return (torch.randn(8),)\n\n\n'
BRANCH = """
def broken(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
"""
FIXED = """
def fixed(x):
    return torch.where(x.sum() > 0, x + 1, x - 1)
"""
GOOD = HEAD + BRANCH + FIXED
HOLDS = {
    "compiles": True,
    "breaks": 0,
    "equal": True,
    "inputs": 5,
    "graphs": 1,
    "ops": 5,
    "gradient": "equal",
    "tried": ["size", "zero", "negative", "nan", "inf", "large", "strided", "dtype"],
    "holds": True,
}


_shared: list[Pool] = []


@pytest.fixture(scope="module", autouse=True)
def shared_parent() -> Iterator[None]:
    """Warming up takes seconds, and most tests ask nothing of it but one child."""
    with open_pool("cpu") as pool:
        _shared.append(pool)
        yield
        _shared.clear()


def verify(source: str, *, gb_id: str = "GB0170", limits: Limits | None = None, isolate: str = "") -> dict[str, Any]:
    job = ReproRun(program=gb_id, source=source)
    if limits or isolate:
        (ended,) = ThisMachine("cpu", isolate=isolate or "fork", limits=limits).run([job])
    else:
        ended = Finished.of(_shared[0].run(job.to_job()))
    return dict(ended.record)


def test_a_program_that_gives_its_id_with_a_fix_that_holds_is_verified() -> None:
    record = verify(GOOD)
    assert record["verdict"] == "verified"
    assert (record["ids"], record["ids_fullgraph"], record["kind"]) == (["GB0170"], ["GB0170"], "resumed")
    assert record["fixes"] == {"fixed": HOLDS}
    assert record["message"].startswith("Data-dependent branching\n")
    assert "GB0170.py" in record["message"]
    assert "graphbreak-" not in record["message"]
    assert (record["graphs"], record["function"], record["line"]) == (2, "broken", 2)
    assert 'File "GB0170.py", line 2, in broken' in record["message"]
    assert record["verifier"] == VERIFIER


def test_a_program_that_holds_more_than_can_be_compared_has_no_verdict() -> None:
    """A fix could change what lies behind the end."""
    table = "TABLE = [[each] for each in range(60_000)]\n\n\ndef inputs"
    record = verify(GOOD.replace("def inputs", table).replace("randn(8)", "randn(len(TABLE) // 7_500)"))
    assert record["verdict"] == "failed"
    assert "too many values" in record["cause"]


CUTS = "\n\ndef fixed(x):\n    return torch.where(x.sum() > 0, x + 1, x - 1).detach()\n"
EXCUSED = '\n\nGRADIENT = {"fixed": "the result is only shown"}\n'
HARD_CODED = {
    "a constant": "torch.where(x.sum() > 0, x + 3, x - 3)",
    "three constants": "torch.where(x.sum() > 0, x + min(LIMIT, 5), x - min(LIMIT, 5))",
    "a size": "x + LIMIT * x.sum().sign() * torch.ones(8)",
}


@pytest.mark.parametrize(("code", "holds"), [*((code, False) for code in HARD_CODED.values()), ("x", True)])
def test_an_answer_meets_constants_and_sizes_that_it_can_not_know(code: str, holds: bool) -> None:
    source = f"{HEAD}LIMIT = 3\n\n{BRANCH}".replace("x + 1", "x + LIMIT").replace("x - 1", "x - LIMIT")
    right = "torch.where(x.sum() > 0, x + LIMIT, x - LIMIT)"
    answer = f"def fixed(x):\n    return {right if holds else code}\n"
    for _ in range(1 if "min" not in code else 4):  # numbers up to 12 are drawn, and two of them may be small
        job = ReproRun(program="GB0170", source=source, answer=answer)
        ended = Finished.of(_shared[0].run(job.to_job()))
        if ended.levels["fixed"] == ("holds" if holds else "refused"):
            return
    pytest.fail(str(ended.record["fixes"]))


MISREPORTED = """
import logging


def inputs():
    logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks").debug("Graph break in user code at a.py:3")
    return (torch.randn(8),)
"""


def test_a_line_that_torchs_log_reports_more_often_than_it_is_captured_is_in_the_record() -> None:
    assert "miscounted" not in verify(GOOD)
    record = verify(GOOD + MISREPORTED)
    assert record["verdict"] == "verified"
    said = [
        re.fullmatch(r"(\w+): a\.py:3: torch's log reports (\d+), the capture has 0", one)
        for one in record["miscounted"]
    ]
    assert [found and found[1] for found in said] == [*["broken"] * 3, *["fixed"] * 2]


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        ("def fixed(x):\n    return x + 1\n", {"equal": False}),
        ("def fixed(x):\n    return torch.where(x.sum() > 0, x + 1, x - 1).double()\n", {"equal": False}),
        ("def fixed(x):\n    return (torch.where(x.sum() > 0, x + 1, x - 1),)\n", {"equal": False}),
        (
            "def fixed(x):\n    y = torch.where(x.sum() > 0, x + 1, x - 1)\n    x[0] = 7\n    return y\n",
            {"equal": False},
        ),
        ("def fixed(x):\n    return x + 1 if x.sum() > 0 else x - 1\n", {"compiles": False}),
    ],
    ids=["another value", "another dtype", "another type", "a mutated input", "the same break"],
)
def test_a_fix_that_does_not_do_the_same_is_no_fix(fix: str, expected: dict[str, bool]) -> None:
    record = verify(HEAD + BRANCH + "\n\n" + fix)
    assert record["verdict"] == "reproduced"
    assert expected.items() <= record["fixes"]["fixed"].items()
    assert record["fixes"]["fixed"]["cause"]


KNOWS_THE_SEEDS = """
def first_of(seed):
    torch.manual_seed(seed)
    return torch.randn(8)[0]


KNOWN = torch.stack([first_of(seed) for seed in range(3)])


def fixed(x):
    right = torch.where(x.sum() > 0, x + 1, x - 1)
    return torch.where((KNOWN == x[0]).any(), right, 0 * right)
"""
COUNTS = """
COUNT = []


def broken(x):
    COUNT.append(1)
    if x.sum() > 0:
        return x + 1
    return x - 1
"""
VIEW = """
def broken(x):
    if x.sum() > 1000:
        return x[1:]
    return x[:-1]


COVERAGE = "one branch is enough"
"""
ONE_OPERATOR = """
@torch.library.custom_op("dishonest::all", mutates_args=())
def all_of_it(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.sum() > 0 else x - 1


@all_of_it.register_fake
def _(x):
    return torch.empty_like(x)


all_of_it.register_autograd(lambda ctx, grad: grad)


def fixed(x):
    return all_of_it(x)
"""
SIZE = """
def broken(x):
    if x.sum() > 1e30:
        return 0
    return len(x)


COVERAGE = "the result is a size"
"""
DISHONEST = {
    "a gradient of zeros": (
        BRANCH + "\n\ndef fixed(x):\n    return torch.where(x.sum() > 0, x + 1, x - 1).detach() + (x - x)\n",
        "result: Tensor-likes are not close!",
    ),
    "a detached result": (
        BRANCH + "\n\ndef fixed(x):\n    return torch.where(x.sum() > 0, x + 1, x - 1).detach()\n",
        "no gradient reaches inputs[0], unlike in eager",
    ),
    "a table of the known inputs": (BRANCH + KNOWS_THE_SEEDS, "with inputs of seed "),
    "a dropped effect on the module": (COUNTS + FIXED, "COUNT is not changed, as it is in eager"),
    "an effect of its own": (
        BRANCH.replace("x + 1", "x + len(COUNT) + 1") + "\n\nCOUNT = []\n\n\ndef fixed(x):\n    COUNT.append(1)\n"
        "    return torch.where(x.sum() > 0, x + 1, x - 1)\n",
        "COUNT is changed, unlike in eager",
    ),
    "a copy instead of a view": (
        VIEW + "\n\ndef fixed(x):\n    return x[:-1].clone()\n",
        "result and inputs[0] share no memory, unlike in eager",
    ),
    "a view instead of a copy": (
        VIEW.replace("return x[:-1]", "return x[:-1].clone()") + "\n\ndef fixed(x):\n    return x[:-1]\n",
        "result and inputs[0] share memory, unlike in eager",
    ),
    "one operator that hides everything": (BRANCH + ONE_OPERATOR, "torch does not see what all.default does"),
    "nothing to compile": (SIZE + "\n\ndef fixed(x):\n    return len(x)\n", "no operation is in a graph"),
}


@pytest.mark.parametrize(("functions", "cause"), DISHONEST.values(), ids=DISHONEST)
def test_a_dishonest_fix_is_refused(functions: str, cause: str) -> None:
    record = verify(HEAD + functions)
    fix = record["fixes"]["fixed"]
    assert (record["verdict"], fix["holds"]) == ("reproduced", False)
    assert cause in fix["cause"]


def test_a_reason_for_gradients_that_do_not_differ_here_changes_nothing() -> None:
    record = verify(HEAD + BRANCH + FIXED + '\n\nGRADIENT = {"fixed": "they did in an earlier release"}\n')
    assert (record["verdict"], record["fixes"]["fixed"]["gradient"]) == ("verified", "equal")


def test_a_reason_in_the_file_lets_a_fix_differ_where_it_says_so() -> None:
    reasons = '\n\nEFFECTS = {"fixed": "the count is for tests only"}\nOPAQUE = {"fixed": "a kernel"}\n'
    for functions in (COUNTS + FIXED, BRANCH + ONE_OPERATOR):
        assert verify(HEAD + functions + reasons)["verdict"] == "verified"


def test_a_fix_whose_gradient_differs_on_purpose_does_not_make_its_id_verified() -> None:
    record = verify(HEAD + BRANCH + CUTS + EXCUSED)
    assert record["verdict"] == "reproduced"
    assert {"gradient": "excused", "holds": False}.items() <= record["fixes"]["fixed"].items()
    ended = Finished(program="GB0170", backend="eager", record=record, output="")
    assert (ended.levels, ended.problem) == ({"fixed": "holds, but changes gradients"}, "")


def test_a_reason_for_other_gradients_excuses_nothing_else() -> None:
    record = verify(HEAD + BRANCH + CUTS.replace("detach", "nan_to_num().detach") + EXCUSED)
    fix = record["fixes"]["fixed"]
    assert (fix["holds"], fix["gradient"], fix["cause"][:8]) == (False, "differs", "with NaN")
    ended = Finished(program="GB0170", backend="eager", record=record, output="")
    assert ended.levels == {"fixed": "refused"}
    assert "with NaN" in ended.problem


@pytest.mark.parametrize(
    ("given", "result", "reason"),
    [
        ("torch.randint(9, (8,))", "x + 1", NO_INPUT),
        ("torch.randn(8)", "torch.from_numpy(x.numpy() + 1)", EAGER_RAISES),
        ("torch.randn(8)", "x > 0", NO_GRAD_FN),
    ],
)
def test_the_runner_decides_when_gradients_are_not_compared(given: str, result: str, reason: str) -> None:
    source = f"""
import torch

COVERAGE = "one branch is enough"


def inputs():
    return ({given},)


def broken(x):
    if x.sum() > 1e30:
        return x
    return {result}


def fixed(x):
    return {result}
"""
    record = verify(source)
    assert (record["verdict"], record["fixes"]["fixed"]["gradient"]) == ("verified", reason)


REMEMBERED = """
COVERAGE = "the same inputs, so that a remembered answer would do"


def inputs():
    return (torch.ones(8),)


def broken(x):
    torch.answer = x + 1 if x.sum() > 0 else x - 1
    return torch.answer


def fixed(x):
    return torch.answer + 0 * x
"""


def test_a_fix_runs_where_the_program_never_ran() -> None:
    record = verify(f'"""A lead."""\nimport torch\n{REMEMBERED}')
    assert record["verdict"] == "reproduced"
    assert record["fixes"]["fixed"]["compiles"] is False
    assert "Observed exception" in record["fixes"]["fixed"]["cause"]  # an AttributeError


def test_what_no_run_reached_of_a_fix_is_named() -> None:
    own = FIXED.replace("    return", "    if len(x) == 7777:\n        return x\n    return")
    fix = verify(HEAD + BRANCH + own)["fixes"]["fixed"]
    assert fix["holds"]
    assert fix["never_reached"] == ["17: return x"]


def test_the_arms_of_a_cond_were_reached_if_inputs_led_there() -> None:
    arms = "(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))"
    never = "torch.cond(x.sum().isneginf() & (x.sum() > 0), lambda x: x + 7, lambda x: x * 1, (x,))"
    fix = verify(f"{HEAD}{BRANCH}def fixed(x):\n    x = {never}\n    return torch.cond{arms}\n")["fixes"]["fixed"]
    assert fix["holds"]
    assert fix["never_reached"] == ["15: x + 7"]


def test_what_a_card_does_not_show_is_not_run() -> None:
    unseen = "\n\ndef fixed(x):\n    return globals()['helper'](x)\n\n\ndef helper(x):\n    return x\n"
    cause = verify(HEAD + BRANCH + unseen)["fixes"]["fixed"]["cause"]
    assert "helper" in cause


HATCH = """
@torch.compiler.disable
def choose(x):
    return x + 1 if x.sum() > 0 else x - 1


def isolated(x):
    return choose(x)
"""


def test_an_escape_hatch_is_compared_and_never_counts_as_a_fix() -> None:
    record = verify(HEAD + BRANCH + HATCH)
    assert record["verdict"] == "reproduced"
    assert record["isolated"]["isolated"]["equal"] is True
    assert record["isolated"]["isolated"]["breaks"] >= 1


def test_a_program_that_compiles_now_has_stopped_and_one_that_breaks_otherwise_has_another_id() -> None:
    assert verify(HEAD + "def broken(x):\n    return x + 1\n")["verdict"] == "stopped"
    other = verify(GOOD, gb_id="GB0025")
    assert (other["verdict"], other["ids"]) == ("other id", ["GB0170"])


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        (GOOD.replace("torch.randn(8)", "torch.ones(8)"), "the same inputs under every seed"),
        (GOOD.replace("x.sum() > 0", "x.sum() > -1000"), "of broken were not run"),
        (GOOD.replace("    return x - 1\n", "    raise ValueError('no')\n", 1), "eager raised ValueError: no"),
        (GOOD + "\nEAGER_RAISES = True\n", "eager did not raise"),
        (
            GOOD.replace("return x + 1\n", "return 0\n").replace("return x - 1\n", "return 0\n"),
            "the same under every seed",
        ),
    ],
)
def test_a_repro_that_can_prove_nothing_fails_with_the_reason(source: str, cause: str) -> None:
    record = verify(source)
    assert record["verdict"] == "failed"
    assert cause in record["cause"]


def test_an_error_that_is_no_break_is_not_a_break_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_MAX_MEMORY", "1")
    job = ReproRun(program="GB0170", source=HEAD + "def broken(x):\n    return x + 1\n", backend="mock")
    (ended,) = ThisMachine("cpu").run([job])
    assert ended.record["verdict"] == "failed"
    assert ended.record["cause"].startswith("compiled, it raised ConstraintViolations")


def test_what_is_not_there_is_not_applicable() -> None:
    record = verify(GOOD + "\nREQUIRES = {'module': 'no_such_module'}\nimport no_such_module\n")
    assert record == {"verdict": "not applicable", "cause": "needs the module no_such_module"}


def test_a_setting_that_this_torch_does_not_have_is_not_applicable() -> None:
    record = verify(GOOD + "\nCONFIG = {'no_such_setting': True}\n")
    assert record == {"verdict": "not applicable", "cause": "this torch has no setting no_such_setting"}
    record = verify(GOOD + "\nFLAGS = {'fixed': {'no_such_setting': True}}\n")
    assert record["verdict"] == "reproduced"
    assert record["fixes"]["fixed"]["cause"] == "this torch has no setting no_such_setting"


def test_a_cause_names_no_path_of_this_machine() -> None:
    cause = verify(GOOD + f"\nraise OSError({torch.__file__!r} + ' is odd')\n")["cause"]
    assert cause == "importing it raised OSError: torch/__init__.py is odd"


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        ({}, ""),
        ({"release": ">=2.9,<2.14"}, ""),
        ({"release": "<2.13"}, "needs torch <2.13"),
        ({"release": "==2.13"}, ""),
        ({"device": "cuda"}, "needs the device cuda"),
        ({"python": "<3.0"}, "needs Python <3.0"),
        ({"module": "json"}, ""),
        ({"compiler": "c++"}, ""),
        ({"compiler": "no-such-compiler"}, "needs the compiler no-such-compiler, and ninja"),
    ],
)
def test_requirements_are_ranges_devices_and_modules(requires: dict[str, str], reason: str) -> None:
    assert unmet(requires, "2.13.0+cpu", "cpu") == reason


LEAD = '"""x"""\nimport ctypes, os, signal, sys, threading, time\n\n\ndef inputs():\n    return ()\n\n\n'
MISBEHAVING = {
    "hangs": ("def broken():\n    time.sleep(1000)\n", "took longer than 10 s"),
    "ignores SIGTERM": (
        "def broken():\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True: time.sleep(1)\n",
        "took longer",
    ),
    "segfaults": ("def broken():\n    ctypes.string_at(0)\n", "was killed by SIGSEGV"),
    "leaves by os._exit": ("def broken():\n    os._exit(3)\n", "ended with exit code 3 before it was done"),
    "prints without end": ("def broken():\n    while not time.sleep(0.01): print('x' * 100_000)\n", "took longer"),
    "allocates without end": (
        "def broken():\n    a = []\n    while True: a.append(bytearray(10**8))\n",
        "used more than 1 GiB",
    ),
    "has a syntax error": ("def (\n", "importing it raised SyntaxError"),
    "imports what is not there": (
        "import not_there\n\n\ndef broken(): return not_there\n",
        "importing it raised ModuleNotFoundError",
    ),
    "exits when imported": ("sys.exit(0)\n\n\ndef broken(): ...\n", "importing it raised SystemExit"),
    "has no broken": ("def other(): ...\n", "it has no function `broken`"),
    "has inputs that raise": ("def broken(): ...\n\n\ndef inputs():\n    raise OSError('no')\n", "OSError: no"),
}


def test_each_misbehaving_program_gets_its_cause_and_its_neighbours_their_verdict() -> None:
    jobs = []
    for index, (body, _) in enumerate(MISBEHAVING.values()):
        jobs += [
            ReproRun(program=f"GB9{index:03}", source=LEAD + body),
            ReproRun(program="GB0170", source=GOOD, thorough=False),
        ]
    limits = Limits(seconds=10, memory=1024**3)
    ended = list(ThisMachine("cpu", slots=2, limits=limits).run(jobs))
    neighbours = [one.record["verdict"] for one in ended if one.program == "GB0170"]
    assert neighbours == ["verified"] * len(MISBEHAVING)
    causes = {one.program: str(one.record.get("cause")) for one in ended if one.program != "GB0170"}
    for index, (name, (_, cause)) in enumerate(MISBEHAVING.items()):
        assert cause in causes[f"GB9{index:03}"], name


@pytest.mark.prove
def test_processes_that_outlive_their_program_are_killed(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    body = f"""
def broken():
    if os.fork() == 0:
        os.setsid()
        open({str(mark)!r}, "w").write(str(os.getpid()))
        time.sleep(1000)
    while not os.path.exists({str(mark)!r}): time.sleep(0.01)
    time.sleep(0.2)
    os._exit(0)
"""
    verify(LEAD + body, limits=Limits(seconds=20))
    pid = int(mark.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.prove
def test_what_a_program_changes_does_not_reach_the_next_one() -> None:
    """Config, modes, files in the working directory, its own file, threads that go on running."""
    messy = (
        GOOD
        + """
torch._dynamo.config.suppress_errors = True
torch._dynamo.config.capture_scalar_outputs = True
torch.set_grad_enabled(False)
import os, threading, time
open("left behind", "w").close()
os.remove(__file__)
threading.Thread(target=time.sleep, args=(1000,), daemon=False).start()
"""
    )
    first, second = (
        one.record
        for one in ThisMachine("cpu").run(
            [ReproRun(program="GB0170", source=messy), ReproRun(program="GB0170", source=GOOD)]
        )
    )
    assert second["verdict"] == "verified"
    assert first["verdict"] == "verified"
    assert not Path("left behind").exists()


@pytest.mark.prove  # `graphbreak run --isolate process` is tried in make test, too
def test_fresh_processes_give_the_same_record() -> None:
    assert verify(GOOD, isolate="process") == verify(GOOD, isolate="fork")


def test_a_flag_holds_for_its_own_fix_only() -> None:
    source = HEAD + (
        "FLAGS = {'fixed_flag': {'capture_scalar_outputs': True}}\n\n\n"
        "def broken(x):\n    return x * x.sum().item()\n\n\n"
        "def fixed_flag(x):\n    return x * x.sum().item()\n\n\n"
        "def fixed_without(x):\n    return x * x.sum().item()\n"
    )
    record = verify(source, gb_id="GB0124")
    assert record["verdict"] == "verified"
    assert record["fixes"]["fixed_flag"] == {**HOLDS, "ops": 3}
    assert record["fixes"]["fixed_without"]["breaks"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 0x7f3a5c01d2b0", "at 0x..."),
        ("id=140231987", "id=..."),
        ("FakeIdVariable(281473053810384)", "FakeIdVariable(...)"),
        ("102400 items of size 12345678", "102400 items of size 12345678"),
    ],
)
def test_two_machines_write_the_same_message(text: str, expected: str) -> None:
    assert normalise(text, Path("/nowhere")) == expected


def test_a_child_that_dies_of_the_fork_is_tried_in_a_fresh_process() -> None:
    dies_forked = GOOD + "\nimport os, sys\nif 'warm' in sys.argv[0]:\n    os.abort()\n"
    assert verify(dies_forked)["verdict"] == "verified"


def test_a_program_that_dies_both_ways_is_run_twice_and_no_more(tmp_path: Path) -> None:
    count = tmp_path / "count"
    dies = GOOD + f"\nimport os\nopen({str(count)!r}, 'a').write('x')\nos.abort()\n"
    assert verify(dies) == {"verdict": "failed", "cause": "was killed by SIGABRT"}
    assert count.read_text() == "xx"


def test_a_program_sees_no_secret_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "x")
    assert "MY_SECRET_TOKEN" not in child_environment()
    assert "PATH" in child_environment()


JUST_FORKED = """
import os, time
from repro_runner.process import Limits
from repro_runner.process.supervise import Job, Supervisor

def fork_and_sleep(job, folder, streams):
    pid = os.fork()
    if not pid:
        time.sleep(1000)  # never gets as far as a process group of its own
    return pid

supervisor = Supervisor(fork_and_sleep, slots=1, limits=Limits(seconds=0))
supervisor.start(Job(key="GB0001", arguments={}))
supervisor.stop()
supervisor.start(Job(key="GB0001", arguments={}))
while supervisor.busy:
    for ended in supervisor.finished():
        print(ended.failure)
"""


def test_a_child_that_was_forked_a_moment_ago_is_stopped_too() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", JUST_FORKED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert answer.stdout == "took longer than 0 s\n"


@pytest.mark.prove
def test_leaving_early_ends_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_MARK", str(tmp_path))  # a name that the children inherit
    jobs = [
        ReproRun(program="GB0170", source=GOOD),
        ReproRun(program="GB0001", source=LEAD + "def broken():\n    time.sleep(1000)\n"),
    ]
    running = ThisMachine("cpu").run(jobs)
    assert next(running).program == "GB0170"
    assert processes_with(f"MOCK_MARK={tmp_path}")
    running.close()  # type: ignore[attr-defined]
    assert processes_with(f"MOCK_MARK={tmp_path}") == []
