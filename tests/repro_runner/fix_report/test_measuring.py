"""How much of a program ran inside graphs, and what its breaks cost: real programs, run again in children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import jsonschema  # type: ignore[import-untyped]
import pytest
import torch

from repro_runner.explain import explain as watch
from repro_runner.explain.document import read_saved
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.render.formats import Wishes, read_and_render
from repro_runner.explain.render.view import Outcome
from repro_runner.explain.report import Report
from repro_runner.explain.running import run_program
from repro_runner.explain.site import Share
from repro_runner.fix_report import tasks
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.measuring import measure_share
from repro_runner.fix_report.share import NO_COUNT
from repro_runner.torch_seams import reset
from tests.conftest import ROOT

pytestmark = pytest.mark.torch

Measure = Callable[[str], tuple[Share, Report]]


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    with Children() as children:
        yield children


@pytest.fixture
def share(children: Children, tmp_path: Path) -> Measure:
    def of(text: str) -> tuple[Share, Report]:
        reset()
        script = tmp_path / "program.py"
        script.write_text(f"import torch\n{dedent(text)}", "utf-8")
        program = ProgramToRun(script=str(script))
        report = run_program(program)
        return measure_share(children, program, report), report

    return of


ONE_GRAPH = """
    x = torch.ones(4)

    @torch.compile(backend="aot_eager")
    def f(x):
        return (x.sin() + 1) * 2

    for _ in range(3):
        f(x)
"""
GIVEN_UP = """
    x = torch.ones(4)

    def inner(x):
        return x.sin().cos()

    @torch.compile(backend="eager")
    def f(x):
        for _ in range(2):
            torch._dynamo.graph_break()
            x = inner(x)
        return x + 1

    for _ in range(3):
        f(x)
"""
PLAIN = """
    x = torch.ones(4)

    @torch.compile(backend="eager")
    def f(x):
        for _ in range(2):
            torch._dynamo.graph_break()
            x = x + 1
        return x

    for _ in range(3):
        f(x)
"""
PAST_LIMIT = """
    torch._dynamo.config.recompile_limit = 2
    inputs = [torch.ones(size) for size in range(2, 7)]
    f = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
    for x in inputs:
        f(x)
"""
TRAINING = """
    w = torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    f = torch.compile(lambda: (w.sin() * w).sum(), backend="aot_eager")
    for _ in range(2):
        f().backward()
        optimizer.step()
"""
ENDS_WITH_A_BREAK = """
    x = torch.ones(4)

    @torch.compile(backend="eager")
    def f(x):
        y = x + 1
        print("between")
        return y

    f(x)
"""
COSTS = """
    import time

    @torch.compiler.disable
    def pause(seconds):
        time.sleep(seconds)

    @torch.compile(backend="eager")
    def f(x):
        x = x + 1
        pause(0.001)
        x = x.sin()
        pause(0.01)
        x = x * 2
        torch._dynamo.graph_break()
        return x.cos()

    @torch.compile(backend="eager")
    def once(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x.cos()

    x = torch.ones(4)
    for _ in range(5):
        f(x)
    once(x)
"""
THREADS = """
    import threading

    x = torch.ones(4)
    f = torch.compile(lambda x: x.sin() + 1, backend="eager")
    f(x)

    class Worker(threading.Thread):
        def run(self):
            f(x)
            x.cos()

    for one in [Worker() for _ in range(3)]:
        one.start()
        one.join()
"""


def test_a_program_in_one_graph_is_all_inside(share: Measure) -> None:
    found, _ = share(ONE_GRAPH)
    assert (found.per_cent, found.ops_inside, found.ops_before) == (100.0, 9, 1)
    assert (found.calls_whole, found.calls_broken, found.calls_plain) == (3, 0, 0)


def test_what_a_given_up_function_calls_still_runs_in_graphs(share: Measure) -> None:
    found, _ = share(GIVEN_UP)
    assert (found.ops_inside, found.ops_between, found.ops_elsewhere) == (12, 3, 0)
    assert (found.calls_whole, found.calls_broken, found.calls_plain) == (0, 3, 0)
    assert found.per_cent == pytest.approx(80)


def test_a_given_up_function_with_all_its_ops_is_plain_python(share: Measure) -> None:
    found, report = share(PLAIN)
    assert (found.per_cent, found.ops_between, found.calls_plain) == (0.0, 6, 3)
    assert [(name.partition(" ")[0], number) for name, number in found.plain.items()] == [("f", 3)]
    assert "f is given up at " in " ".join(report.text().split())


def test_past_the_recompile_limit_calls_are_plain_python(share: Measure) -> None:
    found, report = share(PAST_LIMIT)
    assert (found.ops_inside, found.ops_between, found.ops_elsewhere) == (2, 3, 0)
    assert (found.calls_whole, found.calls_plain) == (2, 3)
    text = " ".join(report.text().split())
    assert "reached the recompile limit (GB0039), so other inputs run as plain Python" in text
    assert "it was compiled again because of tensor 'x' size mismatch at index 0. expected 2, actual 3" in text


def test_a_backward_graph_is_inside_and_an_eager_optimizer_is_not(share: Measure) -> None:
    found, _ = share(TRAINING)
    forward = backward = 3
    assert found.ops_inside >= 2 * (forward + backward)
    assert found.ops_between == 0
    assert found.ops_elsewhere >= 2, "the optimizer's own"
    assert 0 < (found.per_cent or 0) < 100


def test_a_call_whose_last_step_is_a_break_is_not_whole(share: Measure) -> None:
    found, _ = share(ENDS_WITH_A_BREAK)
    assert (found.per_cent, found.calls_whole, found.calls_broken) == (100.0, 0, 1)


def test_a_program_that_compiles_nothing_is_all_outside(share: Measure) -> None:
    found, _ = share("torch.ones(3) + 1")
    assert (found.per_cent, found.ops_elsewhere, found.ops_before) == (0.0, 2, 0)


def test_a_torch_that_skips_compiling_under_a_mode_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TorchDispatchMode", object)
    assert tasks.measure_program({"ops": True}, Path()) == {"why_unknown": NO_COUNT}


def test_threads_are_counted(share: Measure) -> None:
    found, _ = share(THREADS)
    assert (found.ops_inside, found.ops_elsewhere, found.calls_whole) == (8, 3, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("open(__file__ + '.once', 'x').close()", "ended with FileExistsError"),
        ("import os, sys; sys.exit(0 if os.getpid() == {pid} else 3)", "ended with exit code 3"),
        ("import os; input() if os.getpid() != {pid} else 0", "ended with EOFError"),
    ],
)
def test_a_program_that_runs_only_once_is_not_measured(
    share: Measure, text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _ = share(text.format(pid=os.getpid()))
    assert found.per_cent is None
    assert found.why_unknown.startswith(f"run again, {tmp_path / 'program.py'} {why}")


def explain(home: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (home / "program.py").write_text(f"import torch\n{dedent(text)}", "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "repro_runner", "explain", *options, "program.py"],
        cwd=home,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "GRAPHBREAK_ARTIFACTS": "0"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.prove
def test_too_little_inside_graphs_is_exit_code_1_and_the_last_line_says_so(tmp_path: Path) -> None:
    done = explain(tmp_path, GIVEN_UP, "--fail-under", "90", "--fail-on-break", "--share", "--format", "json")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("exit code 1: 1 break is not allowed: GB0025 at program.py:")
    assert last.endswith("; 80.0 % of op calls ran inside graphs; --fail-under asks for 90 %")
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((ROOT / "repro_runner/explain/explain.schema.json").read_bytes()))
    assert document["share"]["per_cent"] == pytest.approx(80)
    assert document["share"]["timed_calls"] == 2, "the first call compiled"
    assert 0 < document["share"]["time_share"] < 1


@pytest.mark.prove
def test_enough_inside_graphs_is_exit_code_0(tmp_path: Path) -> None:
    done = explain(tmp_path, GIVEN_UP, "--fail-under", "80")
    assert done.returncode == 0, done.stderr
    assert "80.0 % of op calls ran inside graphs: 12 of 15; 3 in compiled functions outside of graphs" in " ".join(
        done.stdout.split()
    )


@pytest.mark.prove
def test_breaks_are_ranked_by_what_they_cost_and_fixes_are_measured(tmp_path: Path) -> None:
    done = explain(tmp_path, COSTS, "--cost", "--format", "json", "--save", "run.json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((ROOT / "repro_runner/explain/explain.schema.json").read_bytes()))
    lines = (tmp_path / "program.py").read_text("utf-8").splitlines()
    sites = [(lines[site["line"] - 1].strip(), site["cost"]) for site in document["sites"]]
    costs = {site["line"]: site["cost"] for site in document["sites"]}
    slow, quick = (lines.index(f"    pause({seconds})") + 1 for seconds in (0.01, 0.001))
    taken_out, once = (number for number, line in enumerate(lines, 1) if "graph_break()" in line)
    assert sites[0][0] == "pause(0.01)"
    assert (costs[slow]["calls"], costs[quick]["calls"]) == (4, 4), "the first call compiled"
    assert costs[slow]["per_call"] >= 0.01
    assert 0.001 <= costs[quick]["per_call"] < costs[slow]["per_call"]
    fixes = {site["line"]: site["own_fix"] for site in document["sites"]}
    assert (fixes[slow]["title"], bool(fixes[slow]["why_none"])) == ("", True)
    assert fixes[taken_out]["title"] == "the call of `graph_break()` is taken out"
    assert (fixes[taken_out]["breaks_before"], fixes[taken_out]["breaks_after"]) == (4, 2)
    assert costs[once]["per_call"] is None
    assert costs[once]["why_unknown"].startswith("each call of a compiled function compiled something")
    assert (document["with_fixes"]["breaks_before"], document["with_fixes"]["breaks_after"]) == (4, 2)
    assert document["with_fixes"]["rounds"] == 3
    assert document["with_fixes"]["seconds_after"] >= 4 * 0.011
    assert document["with_fixes"]["faster"] > 0

    saved = read_saved(tmp_path / "run.json")
    assert isinstance(saved, Report)
    assert [site.cost and site.cost.per_call for site in saved] == [cost["per_call"] for _, cost in sites]
    for format in ("terminal", "md", "html"):
        text = " ".join(read_and_render(Outcome(report=saved), Wishes(format=format)).split())
        assert "per call between graphs" in text, format
        assert "no fix of your own code held" in text.lower(), format
        assert "run on your code with all fixes: 4 break sites before, 2 after, outputs equal" in text, format
        assert "with the verified fixes" in text, format


def test_a_graph_that_torch_runs_without_cuda_graphs_is_listed_with_its_reason() -> None:
    from torch._inductor.cudagraph_utils import log_cudagraph_skip_and_bump_counter  # what a GPU's graphs call

    def backend(graph: torch.fx.GraphModule, _inputs: object) -> object:
        log_cudagraph_skip_and_bump_counter("skipping cudagraphs due to cpu device (arg0_1)")
        return graph.forward

    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    mutated = 'skipping cudagraphs due to mutated inputs (1 instances). Found from : \n   File "a.py", line 20, in g\n'
    with watch() as report:
        torch.compile(f, backend=backend)(torch.ones(2))
        log_cudagraph_skip_and_bump_counter(mutated)  # when the graph runs
    text = " ".join(report.text().split())
    assert f"{Path(__file__).name}:" in text
    assert "ran without CUDA graphs: skipping cudagraphs due to cpu device (arg0_1)" in text
    assert "g (a.py:20) ran without CUDA graphs: skipping cudagraphs due to mutated inputs (1 instances)" in text


@pytest.mark.parametrize("number", ["-1", "101", "nan", "much"])
def test_a_number_that_is_no_per_cent_is_refused(number: str, tmp_path: Path) -> None:
    done = explain(tmp_path, "print('ran')", f"--fail-under={number}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fail-under" in done.stderr.splitlines()[-1]
