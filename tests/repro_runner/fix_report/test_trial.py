"""A changed program is tried against the original: in processes of their own, nothing of the user's touched."""

from __future__ import annotations

import importlib.machinery
import linecache
import re
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch

from repro_runner.explain.program import ProgramToRun
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.compiled_calls import record_compiled_calls
from repro_runner.fix_report.tasks import substituted
from repro_runner.fix_report.trial import (
    DIFFER,
    EQUAL,
    LINES_REMOVED,
    NOT_COMPARED,
    REORDERED,
    TrialRunner,
    compare_text,
)
from repro_runner.judge import RESULT
from repro_runner.judge.comparing import Terms, flats_differ
from repro_runner.judge.leaves import Closeness, Flat, Room
from repro_runner.judge.state import Walk
from repro_runner.process import Output
from repro_runner.values import describe_tolerances

pytestmark = pytest.mark.torch

SCRIPT = """\
import sys
from pathlib import Path

import torch
from parts import scaled


def step(x):
    y = torch.nn.functional.dropout(scaled(x), 0.5)
    print("between")
    return {"y": y, "sum": y.sum()}


if __name__ == "__main__":
    torch.manual_seed(0)
    scale = float((Path(__file__).parent / "scale.txt").read_text())
    compiled = torch.compile(step, backend="eager")
    for size in (4, 5):
        compiled(torch.randn(size) * scale)
    print(sys.argv[1:])
"""

PARTS = """\
def scaled(x):
    print("scaling")
    return x * 2
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "parts.py").write_text(PARTS)
    (folder / "scale.txt").write_text("3")
    (folder / "train.py").write_text(SCRIPT)
    return folder / "train.py"


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    """One import of torch for all."""
    with Children() as children:
        yield children


@pytest.fixture(scope="module")
def trials(program: Path, children: Children) -> TrialRunner:
    return TrialRunner(ProgramToRun(script=str(program), arguments=("a", "--b")), timeout=240, children=children)


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def without(text: str, line: str) -> str:
    assert line in text
    return "\n".join(each for each in text.splitlines() if each.strip() != line) + "\n"


@pytest.mark.prove
def test_a_fix_in_the_script_and_in_a_module_it_imports_is_seen_to_hold(trials: TrialRunner, program: Path) -> None:
    before = {path: path.read_bytes() for path in program.parent.glob("*.py")}
    parts = program.parent / "parts.py"
    trial = trials.try_changes(
        {str(program): without(SCRIPT, 'print("between")'), str(parts): without(PARTS, 'print("scaling")')}
    )
    assert (trial.ran, trial.error, trial.outputs, trial.difference) == (True, "", EQUAL, "")
    assert (trial.breaks_before, trial.breaks_after) == (2, 0)
    assert {Path(site.file).name for site in trial.sites_before} == {"train.py", "parts.py"}
    assert (trial.printed, trial.compiled_calls) == (LINES_REMOVED, 2)
    assert trial.holds
    assert trial.ops_after >= trial.ops_before > 0
    assert "assert_close's own tolerances" in trial.strictness
    assert {path: path.read_bytes() for path in program.parent.glob("*.py")} == before


@pytest.mark.prove
def test_a_program_that_is_a_module_is_tried_as_python_runs_it(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.parent)
    with TrialRunner(ProgramToRun(module="train", arguments=("a",)), timeout=240, seed=1) as trials:
        trial = trials.try_source(without(SCRIPT, 'print("between")'))
    assert (trial.ran, trial.error, trial.outputs) == (True, "", EQUAL)
    assert (trial.breaks_before, trial.breaks_after) == (2, 1)


def test_a_change_of_the_result_is_told_with_the_place(trials: TrialRunner) -> None:
    trial = trials.try_source(without(SCRIPT, 'print("between")').replace('"sum": y.sum()', '"sum": y.sum() + 1'))
    assert trial.ran
    assert (trial.outputs, trial.breaks_after) == (DIFFER, 1)
    assert trial.difference.startswith("call 1: result['sum']: ")
    assert not trial.holds
    (left,) = trial.sites_after
    assert (Path(left.file).name, left.source) == ("parts.py", 'print("scaling")')


def test_a_change_that_raises_is_told_with_what_it_raised(trials: TrialRunner) -> None:
    trial = trials.try_source(SCRIPT.replace("    torch.manual_seed(0)\n", '    raise KeyError("no such thing")\n'))
    assert (trial.ran, trial.outputs) == (False, NOT_COMPARED)
    assert trial.error == "the changed program fails: KeyError: 'no such thing'"
    assert trial.difference == trial.error
    assert not trial.holds


def test_a_program_that_differs_from_itself_is_not_compared(tmp_path: Path, children: Children) -> None:
    script = tmp_path / "unsteady.py"
    script.write_text(
        dedent("""\
        import os
        import torch

        x = torch.frombuffer(bytearray(os.urandom(8)), dtype=torch.uint8)
        torch.compile(lambda x: x + 1, backend="eager")(x)
        print(x)
        """)
    )
    with TrialRunner(ProgramToRun(script=str(script)), timeout=240, children=children) as trials:
        trial = trials.try_source(script.read_text())
    assert (trial.ran, trial.outputs, trial.printed) == (True, NOT_COMPARED, NOT_COMPARED)
    assert trial.difference.startswith("the program differs from itself from run to run: call 1")
    assert "differs from run to run" in trial.printed_difference


def test_what_differs_from_run_to_run_is_left_out_and_said(tmp_path: Path, children: Children) -> None:
    script = tmp_path / "timed.py"
    script.write_text(
        dedent("""\
        import time
        import torch

        @torch.compile(backend="eager")
        def timed(x):
            start = time.perf_counter()
            torch._dynamo.graph_break()
            x = x + 1
            return x, time.perf_counter() - start

        timed(torch.ones(2))
        """)
    )
    with TrialRunner(ProgramToRun(script=str(script)), timeout=240, children=children) as trials:
        trial = trials.try_source(without(script.read_text(), "torch._dynamo.graph_break()"))
        other = trials.try_source(script.read_text().replace("x + 1", "x + 2"))
    assert (trial.outputs, trial.difference, trial.breaks_before - trial.breaks_after) == (EQUAL, "", 1)
    assert trial.strictness.endswith("without what differs from run to run, as call 1: result[1] does")
    assert (other.outputs, other.difference.startswith("call 1: result[0]")) == (DIFFER, True)


def test_a_text_that_does_not_parse_is_not_run() -> None:
    with TrialRunner(ProgramToRun(script="folder/train.py")) as trials:
        trial = trials.try_source("def f(:\n")
    assert not trial.ran
    assert trial.error.startswith("the changed train.py does not parse: line 1: ")


@pytest.mark.parametrize(
    ("line", "timeout", "told"),
    [
        ("import time; time.sleep(600)", 3, "the changed program took longer than 3 s"),
        ("import os; os._exit(3)", 240, "the changed program ended with exit code 3 before it was done"),
        ("import os; os.kill(os.getpid(), 11)", 240, "the changed program was killed by SIGSEGV before it was done"),
        ("import sys; sys.exit(4)", 240, "the changed program ends with exit code 4, not 0"),
    ],
)
def test_a_program_that_does_not_get_to_its_end_is_told(
    trials: TrialRunner, line: str, timeout: float, told: str
) -> None:
    before, trials.timeout = trials.timeout, timeout
    trial = trials.try_source(SCRIPT.replace("    torch.manual_seed(0)\n", f"    {line}\n"))
    trials.timeout = before
    assert (trial.ran, trial.outputs) == (False, NOT_COMPARED)
    assert trial.error.startswith(told)


def test_other_seeds_are_other_inputs_for_both(trials: TrialRunner) -> None:
    trial = trials.try_source(without(SCRIPT, 'print("between")'), seed=1)
    assert (trial.ran, trial.outputs, trial.breaks_after) == (True, EQUAL, 1)
    unseeded = trials.try_source(SCRIPT.replace("torch.manual_seed(0)", "torch.manual_seed(1)"), seed=0)
    assert unseeded.outputs == DIFFER


def test_where_torch_can_not_be_imported_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with TrialRunner(ProgramToRun(script="x.py")) as trials:
        trial = trials.try_source("x = 1\n")
    assert trial.error == "the changed program could not be started: ImportError: no torch here"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "difference"),
    [
        ("a\nb\n", "a\nb\n", EQUAL, ""),
        ("a\nb\n", "b\na\n", REORDERED, "line 1: 'b' instead of 'a'"),
        ("a\nb\na\n", "a\nb\n", LINES_REMOVED, "2 lines instead of 3"),
        ("a\nb\n", "a\nc\n", DIFFER, "line 2: 'c' instead of 'b'"),
        ("a\n", "a\na\n", DIFFER, "2 lines instead of 1"),
        ("", "\n", DIFFER, "1 lines instead of 0"),
    ],
)
def test_what_was_printed_is_compared_by_lines(before: str, after: str, verdict: str, difference: str) -> None:
    assert compare_text(Output(start=before.encode()), Output(start=after.encode())) == (verdict, difference)


TOLD = """\
import sys
import torch

sys.stderr.write("once\\n")
sys.stderr.write("W1115 16:02:00.000000 1 torch/_dynamo/x.py:1] a line of torch's own\\n")
sys.stderr.write("lib/torch/x.py:1: UserWarning: two lines\\nof torch\\n  warn()\\n")
sys.stderr.write("mine.py:1: UserWarning: of C++\\n (Triggered internally at x.cpp:1.)\\n  warn()\\n")
sys.stderr.write("mine.py:2: UserWarning: of mine\\n  warn()\\n")
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
"""


def test_what_is_written_to_standard_error_is_compared_without_torchs_own_lines(
    tmp_path: Path, children: Children
) -> None:
    script = tmp_path / "told.py"
    script.write_text(TOLD)
    lines = TOLD.splitlines(keepends=True)
    with TrialRunner(ProgramToRun(script=str(script)), timeout=240, children=children) as trials:
        assert trials.try_source("".join(lines[:3] + lines[4:])).printed == LINES_REMOVED
        assert trials.try_source("".join(lines[:4] + lines[7:])).printed == EQUAL
        assert trials.try_source("".join(lines[:7] + lines[8:])).printed == LINES_REMOVED
        assert (
            trials.try_source(
                TOLD.replace("py:2: UserWarning: of mine\\n  warn", "py:3: UserWarning: of mine\\n  w")
            ).printed
            == EQUAL
        )
        other = trials.try_source(TOLD.replace("once", "twice"))
        assert (other.printed, other.printed_difference) == (
            DIFFER,
            "standard error, line 1: 'twice' instead of 'once'",
        )


TIMED = """\
import sys, time, torch

began = time.perf_counter()
time.sleep(0.3)
print(f"{time.perf_counter() - began:.1f} s for one", file=sys.stderr)
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
"""
"""It takes the same number of seconds in each run, most often: it was measured all the same."""


def test_numbers_that_are_measured_are_left_out_of_what_is_printed(tmp_path: Path, children: Children) -> None:
    script = tmp_path / "timed.py"
    script.write_text(TIMED)
    with TrialRunner(ProgramToRun(script=str(script)), timeout=240, children=children) as trials:
        slower = trials.try_source(TIMED.replace("0.3", "0.6"))
        assert (slower.printed, slower.printed_difference) == (
            NOT_COMPARED,
            "standard error, the text differs from run to run",
        )
        assert trials.try_source(TIMED.replace("for one", "for two")).printed == DIFFER
        assert trials.try_source(TIMED.replace("for one", "for one\\nmore")).printed == DIFFER


def test_what_comes_after_the_kept_part_of_an_output_counts_too() -> None:
    assert compare_text(Output(start=b"a\n", rest_sha256="1"), Output(start=b"a\n", rest_sha256="2"))[0] == DIFFER


def test_changed_text_is_imported_run_and_quoted_under_the_files_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "substituted_sample"
    package.mkdir()
    for name in ("__init__", "__main__", "part"):
        (package / f"{name}.py").write_text("value = 'as it was'\n")
    monkeypatch.syspath_prepend(tmp_path)
    part = package / "part.py"
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)
    bytecode = {path: path.read_bytes() for path in package.rglob("*.pyc")}
    get_code = importlib.machinery.SourceFileLoader.get_code
    with substituted({str(part): "value = 'changed'\n"}):
        from substituted_sample import part as changed  # type: ignore[import-not-found]

        assert (changed.value, changed.__file__) == ("changed", str(part))
        assert linecache.getline(str(part), 1) == "value = 'changed'\n"
        assert part.read_bytes() == b"value = 'changed'\n"
    assert part.read_bytes() == b"value = 'as it was'\n"
    assert {path: path.read_bytes() for path in package.rglob("*.pyc")} == bytecode
    assert importlib.machinery.SourceFileLoader.get_code is get_code
    sys.modules.pop("substituted_sample"), sys.modules.pop("substituted_sample.part")


Pair = namedtuple("Pair", ["left", "right"])


class Record:
    def __init__(self, value: int) -> None:
        self.value = value


class Doubling(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_outermost_compiled_calls_are_recorded_once_and_in_order() -> None:
    with record_compiled_calls() as recording:
        inner = torch.compile(lambda x: x + 1, backend="eager")

        @torch.compile(backend="eager")
        def outer(x: torch.Tensor) -> Pair:
            torch._dynamo.graph_break()
            return Pair(inner(x), x.tolist())

        outer(torch.ones(2))
        torch.compile(Doubling(), backend="eager")(torch.ones(2))
        doubling = Doubling()
        doubling.compile(backend="eager")
        doubling(torch.ones(2))
        failing = torch.compile(lambda x: [][x.shape[0]], backend="eager")
        with pytest.raises(Exception):  # noqa: B017  what Dynamo makes of an IndexError differs between releases
            failing(torch.ones(2))
        torch.compiler.disable(lambda x: x)(torch.ones(2))  # type: ignore[no-untyped-call]
    first, second, third = (
        {path: leaf for path, leaf in call.seen[RESULT].items() if path.startswith("result")}
        for call in recording.calls[:3]
    )
    assert list(first) == ["result", "result[0]", "result[1]", "result[1][0]", "result[1][1]"]
    assert (first["result"], first["result[1][1]"]) == (("is", "Pair of 2 left right"), 1.0)
    assert torch.equal(second["result"]["parts"][0], third["result"]["parts"][0])
    assert recording.calls[3].error[0]
    assert recording.backends == {"eager"}
    assert (recording.ops_run, recording.graphs) == (3, 2)
    with record_compiled_calls() as later:
        pass
    inner(torch.ones(3))
    assert later.call_count == 0


def test_what_a_call_writes_into_is_kept_with_what_it_returns() -> None:
    norm = torch.nn.BatchNorm1d(2)
    optimizer = torch.optim.SGD(norm.parameters(), lr=0.1)
    total = torch.zeros(())
    lazy = torch.nn.LazyBatchNorm1d()

    def step(x: torch.Tensor, seen: list[torch.Tensor]) -> None:
        seen[0].add_(1)
        seen[2].mul_(1)
        loss = norm(x).square().sum()
        loss.backward()
        optimizer.step()
        total.add_(loss.detach())
        lazy(x)

    with record_compiled_calls() as recording:
        torch.compile(step, backend="eager")(
            torch.randn(4000, 2), [torch.zeros(1), torch.zeros(5000), torch.full((2,), torch.nan)]
        )
    (call,) = recording.calls
    written = {path.removesuffix(" after the call") for path in call.seen[RESULT] if path != "result"}
    assert written >= {"argument 2[0]", "norm.weight", "norm.weight.grad", "norm.running_mean", "total"}
    assert "argument 1" not in written
    assert "argument 2[1]" not in written
    assert "argument 2[2]" not in written, "it was written, and holds what it held"


HOLDING = """\
import torch

listed = []
totals = {"steps": 0}


class Noting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = []

    def forward(self, x):
        torch._dynamo.graph_break()
        self.notes.append(x.sum().item())
        return x + 1


def main():
    model = Noting()
    compiled = torch.compile(model, backend="eager")
    for _ in range(2):
        compiled(torch.ones(3))
    totals["steps"] += 2
    listed.append(1)


main()
"""


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("        torch._dynamo.graph_break()\n", "", ""),
        ("append(x.sum().item())", "append(x.sum())", "self.notes[0]: a tensor float32 [] instead of 3.0"),
        ("append(x.sum().item())", "append(x.mean().item())", "self.notes[0]: 1.0 instead of 3.0"),
        ("        self.notes.append(x.sum().item())\n", "", "self is not changed, as it is in eager (self.notes)"),
        ("    listed.append(1)\n", "    listed.append(2)\n", "listed[0]: 2 instead of 1"),
        ('    totals["steps"] += 2\n', "", "totals is not changed, as it is in eager (totals['steps'])"),
        ("listed = []\n", "listed = []\nmore = [1]\n", ""),
    ],
)
def test_what_a_program_holds_in_the_end_is_compared(
    tmp_path: Path, children: Children, before: str, after: str, difference: str
) -> None:
    script = tmp_path / "holding.py"
    script.write_text(HOLDING)
    assert HOLDING.count(before) == 1
    with TrialRunner(ProgramToRun(script=str(script)), timeout=240, children=children) as trials:
        trial = trials.try_source(HOLDING.replace(before, after))
    assert (trial.ran, trial.outputs) == (True, DIFFER if difference else EQUAL)
    assert trial.difference == (f"at the end of the program, {difference}" if difference else "")


def flat(value: Any, room: Room | None = None) -> Flat:
    walk = Walk(frozenset(), room or Room())
    walk.add(value, "result")
    return walk.flat


def first_difference(expected: Flat, actual: Flat, *, exact: bool = True) -> str:
    return flats_differ(RESULT, expected, actual, Terms(closeness=Closeness(fused=not exact)))


@pytest.mark.parametrize(
    ("one", "two", "difference"),
    [
        (torch.ones(2), torch.ones(2), ""),
        (torch.ones(2), torch.ones(3), "result: shape (3,) instead of (2,)"),
        (torch.ones(2), torch.ones(2).double(), "result: dtype torch.float64 instead of torch.float32"),
        (torch.ones(2, 2), torch.ones(2, 2).t(), "result: stride (1, 2) instead of (2, 1)"),
        ([1, "a"], [1, "b"], "result[1]: 'b' instead of 'a'"),
        ([1], (1,), "result: tuple of 1 instead of list of 1"),
        ({1, 2}, {1, 3}, "result{1}: 3 instead of 2"),
        (Record(1), Record(2), "result.value: 2 instead of 1"),
        (torch.ones(1), torch.ones(1, requires_grad=True), "result: requires_grad True instead of False"),
        ({"a": 1}, {"b": 1}, "result['a']: nothing instead of 1"),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), ""),
        (2**24, 2**24 + 1, "result: 16777217 instead of 16777216"),
        (None, torch.ones(1), "result: a tensor float32 [1] instead of None"),
        (object(), object(), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,  # an address is another in each worker
)
def test_values_are_compared_strictly(one: Any, two: Any, difference: str) -> None:
    assert first_difference(flat(one), flat(two)) == difference


@pytest.mark.parametrize(("factor", "exact", "equal"), [(1e-5, True, False), (1e-5, False, True), (1e-3, False, False)])
def test_generated_kernels_may_round_a_little_otherwise(factor: float, exact: bool, equal: bool) -> None:
    one = torch.full((3,), 100.0)
    assert (first_difference(flat(one), flat(one * (1 + factor)), exact=exact) == "") is equal


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_the_tolerance_that_is_printed_is_the_one_in_force(dtype: torch.dtype) -> None:
    described = describe_tolerances(fused=True)
    printed = re.search(rf"\b{str(dtype).removeprefix('torch.')} (\S+) and ([^\s,]+)", described)
    assert printed is not None
    allowed = sum(map(float, printed.groups()))  # of 1.0: relative and absolute
    one = torch.ones(1, dtype=torch.float64)
    within, beyond = ((one + by * allowed).to(dtype) for by in (0.7, 1.5))
    assert first_difference(flat(one.to(dtype)), flat(within), exact=False) == ""
    assert first_difference(flat(one.to(dtype)), flat(beyond), exact=False) != ""


def test_a_large_tensor_is_compared_by_a_sample_and_by_its_shape() -> None:
    large = torch.zeros(5 << 20)
    room = Room()
    sampled = flat(large, room)
    assert room.sampled == 1
    assert sampled["result"]["parts"][0].numel() < 10_000
    assert first_difference(sampled, flat(large)) == ""
    assert first_difference(sampled, flat(large + 1)) != ""
    assert first_difference(sampled, flat(torch.zeros(6 << 20))).startswith("result: shape")
    full = Room(left=10)
    flat([torch.ones(4), torch.ones(2)], full)
    assert full.sampled == 1


FOOLED = """\
import functools
import multiprocessing

import torch
from helper import noisy

torch._dynamo.config.capture_scalar_outputs = True
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(6))


def work(x):
    for _ in range(4):
        x = (x * weight).sin().cos()
    return x


@torch.compile(backend="eager")
def step(x):
    x = work(x)
    print("a break")
    return work(x)


for _ in range(3):
    step(torch.ones(6)).sum().backward()
"""
CACHED = """\
step = functools.cache(lambda _: torch.compile(work, backend="eager")(work(torch.ones(6))))
"""
IN_A_CHILD = """\
    return work(x)


child = multiprocessing.get_context("fork").Process(target=torch.compile(noisy, backend="eager"), args=(torch.ones(6),))
child.start()
child.join()
"""
TRICKS = {
    "a break that moves into a child": (
        ('    print("a break")\n    return work(x)\n', IN_A_CHILD),
        "the break moves to line 2 of helper.py",
    ),
    "a break that moves into another file": (
        ('    print("a break")\n', "    noisy(x)\n"),
        "the break moves to line 2 of helper.py",
    ),
    "a break that becomes an error of the user": (
        ('    print("a break")\n', "    x = x + len([1] * x.shape[0] * (x.sum() > 9).long().item())\n"),
        "the break moves to line 21 of train.py (UserError: Could not extract specialized integer from",
    ),
    "work behind a cache": (
        ("for _ in range(3):\n    step(torch.ones(6))", f"{CACHED}for _ in range(3):\n    step(None).clone()"),
        "",
    ),
    "a function that is past the limit": (
        ("torch.manual_seed(0)\n", "torch.manual_seed(0)\ntorch._dynamo.config.recompile_limit = 0\n"),
        "the break moves to line",
    ),
    "gradients that are lost": (
        ('    print("a break")\n    return work(x)\n', "    return work(x.detach().requires_grad_())\n"),
        "",
    ),
}


@pytest.mark.prove
@pytest.mark.slow
def test_what_only_looks_like_a_fix_is_none(tmp_path: Path, children: Children, subtests: pytest.Subtests) -> None:
    (tmp_path / "helper.py").write_text("def noisy(x):\n    print(x.shape)\n")
    (tmp_path / "train.py").write_text(FOOLED)
    program = ProgramToRun(script=str(tmp_path / "train.py"))
    with TrialRunner(program, timeout=240, children=children) as trials:  # it runs the program as it is once
        real = trials.try_source(FOOLED.replace('    print("a break")\n', ""))
        assert real.holds
        assert (real.reports_before, real.reports_after) == (1, 0)
        for trick, ((before, after), why) in TRICKS.items():
            with subtests.test(trick):
                assert FOOLED.count(before) == 1
                trial = trials.try_source(FOOLED.replace(before, after))
                assert not trial.holds
                assert why in trial.why_no_fix(trial.breaks_before, trial.ops_before)
