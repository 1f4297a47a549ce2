"""Which patches are kept: those after which the program, run, breaks less and still does the same."""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro_runner.explain.site import Site
from repro_runner.fix_report.patches import find_patches
from repro_runner.fix_report.patches.branches import PROBE, find_branches
from repro_runner.fix_report.patches.directives import find_disabled
from repro_runner.fix_report.patches.patch import Patch, Target
from repro_runner.fix_report.patches.source import Source, apply_edits
from repro_runner.fix_report.search import Search
from repro_runner.fix_report.trial import DIFFER, EQUAL, Trial, compare_text
from repro_runner.judge import RESULT
from repro_runner.judge.comparing import Terms, flats_differ
from repro_runner.judge.state import flat_of
from repro_runner.process import Output

pytestmark = pytest.mark.torch

START = "import torch\nimport torch._dynamo\n\n\n"
END = """


torch.manual_seed(0)
results = [torch.compile(f, backend="eager")(torch.randn(4)) for _ in range(2)]
"""


class InProcess:
    """Runs programs in this process: none of these can take it along."""

    def __init__(self, original: str) -> None:
        self.tried: list[str] = []
        self.before = self._run(original)

    def try_source(self, text: str) -> Trial:
        self.tried.append(text)
        report, results, said, recording = self.before
        report_after, results_after, said_after, recording_after = self._run(text)
        differ = flats_differ(RESULT, flat_of(results), flat_of(results_after), Terms())
        printed, told = compare_text(said, said_after)
        return Trial(
            ran=True,
            breaks_before=len(report.sites),
            breaks_after=len(report_after.sites),
            reports_before=report.reports,
            reports_after=report_after.reports,
            sites_before=report.sites,
            sites_after=report_after.sites,
            outputs=DIFFER if differ else EQUAL,
            difference=differ,
            printed=printed,
            printed_difference=told,
            graphs_after=recording_after.graphs,
            ops_before=recording.ops_run,
            ops_after=recording_after.ops_run,
        )

    def _run(self, text: str) -> tuple[Any, Any, Output, Any]:
        import torch

        from repro_runner.explain import explain
        from repro_runner.fix_report.compiled_calls import record_compiled_calls

        linecache.cache["program.py"] = (len(text), None, text.splitlines(keepends=True), "program.py")
        module = types.ModuleType("program")
        sys.modules["program"] = module
        said = io.StringIO()
        torch._dynamo.reset()
        with (
            contextlib.redirect_stdout(said),
            explain() as report,
            record_compiled_calls() as recording,
            torch._dynamo.config.patch(reorderable_logging_functions=set(), capture_scalar_outputs=False),
        ):
            exec(compile(text, "program.py", "exec"), vars(module))
        return report, module.results, Output(start=said.getvalue().encode()), recording


def searched(body: str, *gb_ids: str) -> tuple[Search, list[Target], InProcess]:
    """The search for the program with this body; the ids in the order of their lines."""
    text = START + body + END
    here = InProcess(text)
    source = Source(text)
    sites = sorted(here.before[0].sites, key=lambda site: int(site.line))
    assert tuple(site.gb_ids[0] for site in sites) == gb_ids
    flags = {"GB0124": ("torch._dynamo.config.capture_scalar_outputs = True",)}
    targets = [Target(site=site, line=site.line, settings=flags.get(site.gb_id, ())) for site in sites]
    search = Search(source=source, file=Path("program.py"), trials=here)
    search.add(one for one in find_patches(source, targets) if isinstance(one, Patch))
    return search, targets, here


def test_what_prints_something_else_is_dropped_and_the_rest_is_kept() -> None:
    body = """
def inner(x):
    print("inner", end="; ")
    return x * 2


def f(x):
    torch._dynamo.graph_break()
    return inner(x) + x.sum().item()
"""
    search, targets, here = searched(body.strip(), "GB0059", "GB0025", "GB0124")
    assert [patch.targets[0].site.gb_id for patch in search.kept] == ["GB0025", "GB0124"]
    assert search.best is not None
    assert (search.best.breaks_before, search.best.breaks_after) == (3, 1)
    assert search.remaining(targets) == targets[:1]
    assert "does not print the same" in search.reasons[targets[0]]
    assert search.edited.text in here.tried


def test_a_flag_that_only_moves_a_break_is_dropped() -> None:
    body = """
def f(x):
    number = x.sum().item()
    if number > 100:
        x = x.tolist()
    return x
"""
    search, targets, _ = searched(body.strip(), "GB0124")
    assert search.kept == []
    assert search.reasons[targets[0]].count("the break moves to line 8 of program.py (GB0170); if")
    assert search.remaining(targets) == targets


def test_a_function_full_of_breaks_is_left_to_python_and_its_one_break_is_told() -> None:
    body = """
def rows(x):
    a = len(x.tolist())
    b = len((x + 1).tolist())
    return x + a + b


def f(x):
    for _ in range(10):
        x = x.sin()
    return rows(x * 2) + 1
"""
    search, targets, _ = searched(body.strip(), "GB0109", "GB0109")
    search.add(find_disabled(search.source, search.remaining(targets)))
    assert search.best is not None
    assert (search.best.breaks_before, search.best.breaks_after) == (2, 1)
    assert search.remaining(targets) == []
    (new,) = search.new_sites(targets)
    assert (new.gb_ids[0], new.source) == ("GB0098", "return rows(x * 2) + 1")


def test_a_function_that_does_the_work_is_not_left_to_python() -> None:
    body = """
def block(x):
    a = len(x.tolist())
    b = len((x + 1).tolist())
    for _ in range(10):
        x = x.sin()
    return x + a + b


def f(x):
    return block(x * 2) + 1
"""
    search, targets, _ = searched(body.strip(), "GB0109", "GB0109")
    search.add(find_disabled(search.source, search.remaining(targets)))
    assert search.kept == []
    assert "it takes work out of the compiled code: 4 ops ran in graphs, before 30" in search.reasons[targets[0]]


def grown(make: Callable[[Any], Any]) -> Any:
    import torch

    return make(torch.tensor([1.0, 0.0, 3.0], requires_grad=True))


BRANCHES = {
    "both arms alike": ("if x.sum() > 0: return x * 2\n    return x - 1", ""),
    "another dtype": ("if x.sum() > 0: return x.detach()\n    return x.detach().long()", "differ in dtype"),
    "another shape": ("if x.sum() > 0: return x\n    return x.sum()", "differ in shape"),
    "other strides": ("y = x.detach().expand(3, 3)\n    return y * 2 if x.sum() > 0 else y.t()", "differ in strides"),
    "a wider condition": ("return x if x.sum()[None, None] > 0 else -x", "more dimensions"),
    "an arm without gradient": ("if x.sum() > 0: return x\n    return x.detach()", "differ in requires_grad"),
    "a guarded division": ("y = x * 1\n    return x if x.min() == 0 else x / y", "gradient that is not finite"),
    "a guarded division with a mask": ("return x if x.min() == 0 else x / x", ""),
    "a guarded root with a mask": ("return x * 2 if x.min() == 0 else x.sqrt()", ""),
    "an arm that raises": ("if x.sum() > 0: return x\n    return x[7] + x", "raises IndexError"),
    "a bool": ("if x.shape[0] > 2: return x\n    return -x", "its condition is a bool"),
    "no tensor": ("if x.sum() > 0: return x\n    return x.shape", "gives a Size, not a tensor"),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_both_arms_of_a_branch_are_looked_at_before_it_is_rewritten(name: str) -> None:
    from repro_runner.fix_report.tasks import BranchSeen, probe_branch

    body, problem = BRANCHES[name]
    text = f"import torch\ndef f(x):\n    {body}\n"
    source = Source(text)
    line = 3 + body.partition("if")[0].count("\n")
    (patch,) = find_branches(source, [Target(site=Site(gb_ids=("GB0170",), gb_types=("",)), line=line)])
    assert isinstance(patch, Patch)
    assert patch.branch is not None
    seen = BranchSeen()
    names: dict[str, Any] = {PROBE: lambda _, *parts: probe_branch(seen, *parts)}
    exec(apply_edits(source, [patch.branch.probe(1)]).text, names)
    original: dict[str, Any] = {}
    exec(text, original)
    assert str(grown(names["f"])) == str(grown(original["f"]))
    assert seen.calls == 1
    assert problem in seen.problem
    assert bool(problem) == bool(seen.problem)
