"""A report as `graphbreak explain` makes one, written by hand: for tests of faces, which need no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from registry.answers import Answers
from registry.merge import merge_registry
from registry.model import Category, Environment, Evidence
from registry.repros import parse_repro
from repro_runner.assistant.suggestion import Suggestion
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.report import Frequency, Program, Recompile, Report, Site, Totals
from tests.samples import knowledge, revision

FOLDER = "/srv/project"
ENVIRONMENT = {"torch": "2.13.0", "python": "3.11", "device": "cpu", "platform": "Linux x86_64", "date": "2026-01-02"}
HOSTILE = (
    "</script></style></pre></code></title><script>document.title='owned'</script><img src=x onerror=alert(1)>"
    "[bold red]markup[/] :smile: @somebody #1 `tick` ``` ~~~ | ]( ![a](http://example.invalid/x.png)"
    " \x1b[31mred\x1b]8;;http://example.invalid\x07\x00\r\u202eback\ud800"
)


ITEM = '''"""`.item()` wants a number that is not there yet."""
import torch

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    peak = x.abs().max().item()
    return x / peak


def fixed(x):
    """The number goes back into `tensor` arithmetic."""
    peak = x.abs().max()
    return x / peak


def fixed_flag(x):
    """You need a Python number."""
    peak = x.abs().max().item()
    return x / peak


def fixed_in_vain(x):
    """It did not hold."""
    return x
'''
LOOP = '''"""Somebody put it here."""
import torch

NO_FIX = "It does what it says."


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._dynamo.graph_break()
    return x


def isolated(x):
    """It must stay: keep it out of the rest."""
    return torch.compiler.disable(broken)(x)
'''


@cache
def sample_answers() -> Answers:
    """Of a made-up registry, so that no change to the real one changes a snapshot."""
    item, loop = parse_repro(ITEM, "GB0124"), parse_repro(LOOP, "GB0025")
    on = {torch: Environment(torch=torch, python="3.11", device="cpu") for torch in ("2.11.0", "2.13.0", "2.15.0")}
    held = {"fixed": True, "fixed_flag": True, "fixed_in_vain": False}
    item_runs = (
        Evidence(environment=on["2.11.0"], repro_sha256=item.sha256, verdicts={"eager": "verified"}, fixes=held),
        Evidence(environment=on["2.13.0"], repro_sha256=item.sha256, verdicts={"eager": "verified"}, fixes=held),
        Evidence(environment=on["2.15.0"], repro_sha256=item.sha256, verdicts={"eager": "stopped"}),
    )
    loop_run = Evidence(environment=on["2.13.0"], repro_sha256=loop.sha256, verdicts={"eager": "reproduced"})
    known = knowledge(
        {
            "GB0025": [revision("Call to `torch._dynamo.graph_break()`")],
            "GB0124": [revision("Unsupported Tensor.item() call with capture_scalar_outputs=False")],
            "GB0170": [revision("Data-dependent branching", explanation='"raw " + code')],
            "GB7000": [revision("graph break in loop")],
        },
        categories=(
            Category(
                key="data",
                title="Data-dependent control flow",
                why="There are no `numbers` yet.",
                way_out="Keep it in the graph: `torch.where`.",
                ids=("GB0124", "GB0170"),
            ),
            Category(
                key="control", title="C code and controls", why="Somebody said so.", way_out="Don't.", ids=("GB0025",)
            ),
        ),
        repros={"GB0124": item, "GB0025": loop},
        evidence={"GB0124": item_runs, "GB0025": (loop_run,)},
    )
    return Answers(merge_registry(known))


SUGGESTIONS = tuple(
    Suggestion(
        file=f"{FOLDER}/model.py",
        line=14,
        gb_ids=("GB0170",),
        model="a-model",
        **{"cause": "", "patch": "", "reason": "", **fields},  # type: ignore[arg-type]
    )
    for fields in (
        {
            "verdict": "verified",
            "cause": "Because of `if`.",
            "patch": "--- a/model.py\n+++ b/model.py\n@@ -1 +1 @@\n-    if x:\n+    return x\n",
            "breaks_before": 5,
            "breaks_after": 4,
            "outputs": "equal",
            "notes": ("the program prints less",),
        },
        {"verdict": "not verified", "cause": "Because.", "patch": "+    return x\n", "reason": "results differ"},
        {"verdict": "no answer", "reason": "the server did not answer within 120 s"},
    )
)


def as_it_is(text: str) -> str:
    return text


def sample_report(text: Callable[[str], str] = as_it_is) -> Report:
    """Five sites of every kind; `text` changes each text that comes from somebody's program or from torch."""
    again = Recompile(
        function=text("shift"),
        file=text("/srv/project/model.py"),
        line=18,
        guard=text("tensor 'x' size mismatch at index 0. expected 4, actual 5"),
        compile_id="2/1",
        seconds=0.02,
    )
    elsewhere = replace(again, function=text("whole"), line=40, guard=text("x is not y"), compile_id="9/1")
    sites = (
        _loop(text),
        _item(text, again),
        _branch(text),
        replace(_item(text), file=text("/srv/project/vendor/lib.py"), line=3, frequency=Frequency(ran=7)),
        _unknown(text),
    )
    return Report(
        environment=ENVIRONMENT,
        program=Program(name=text("train.py"), arguments=(text("--steps"), "3"), exit_code=0),
        sites=sites,
        recompiles=(again, elsewhere),
        totals=Totals(graphs=12, ops=40, frames=9, compilations=18, compile_seconds=1.25),
    )


def failed_report() -> Report:
    """Of a program that was compiled with fullgraph=True and did not survive it."""
    report = sample_report()
    report.sites = (replace(_branch(as_it_is), kind="fatal", ops_after=None, frequency=Frequency(ran=1)),)
    report.recompiles = ()
    error = "Unsupported: Data-dependent branching\n  Explanation: …"
    report.program = replace(report.program, exit_code=1, error=error)
    return report


def _loop(text: Callable[[str], str]) -> Site:
    return Site(
        file=text("/srv/project/model.py"),
        line=38,
        function=text("repeated"),
        source=text("        torch._dynamo.graph_break()"),
        gb_ids=("GB0025", "GB7000"),
        gb_types=("Call to `torch._dynamo.graph_break()`", "graph break in loop"),
        kind="frame skipped",
        message=text("Call to `torch._dynamo.graph_break()`\n  Explanation: User-inserted graph break."),
        context=text("Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`"),
        explanation=text("User-inserted graph break. Message: None"),
        hints=(text("Remove the `torch._dynamo.graph_break()` call."),),
        stack=(_frame(text, "train.py", 9, "step"), _frame(text, "model.py", 38, "repeated")),
        compiled=2,
        frequency=Frequency(ran=None, why_unknown=text("a break in a loop leaves no function to count")),
        lost_seconds=0.5,
        compile_ids=("5/0", "5/1"),
    )


def _item(text: Callable[[str], str], *recompiles: Recompile) -> Site:
    return Site(
        file=text("/srv/project/model.py"),
        line=20,
        function=text("shift"),
        source=text("    return x + x.sum().item()"),
        gb_ids=("GB0124",),
        gb_types=(text("Unsupported Tensor.item() call with capture_scalar_outputs=False"),),
        kind="resumed",
        message=text("Unsupported Tensor.item() call with capture_scalar_outputs=False"),
        context=text("call_method TensorVariable() item () {}"),
        explanation=text("Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False."),
        hints=(text("Set `torch._dynamo.config.capture_scalar_outputs = True`."),),
        stack=(_frame(text, "model.py", 20, "shift"),),
        compiled=2,
        frequency=Frequency(ran=480),
        ops_before=12,
        ops_after=1,
        recompiles=(*recompiles, *recompiles),
        lost_seconds=0.125,
        compile_ids=("2/0", "2/1"),
    )


def _branch(text: Callable[[str], str]) -> Site:
    return Site(
        file=text("/srv/project/model.py"),
        line=14,
        function=text("choose"),
        source=text("    if x.sum() > 0:"),
        gb_ids=("GB0170",),
        gb_types=(text("Data-dependent branching"),),
        kind="resumed",
        message=text("Data-dependent branching"),
        context=text("attempted to jump with TensorVariable()"),
        explanation=text("Detected data-dependent branching.\nDynamo does not support tracing dynamic control flow."),
        hints=(text("This graph break is fundamental - it is unlikely that Dynamo will ever trace it."),),
        stack=(_frame(text, "model.py", 14, "choose"),),
        compiled=1,
        frequency=Frequency(ran=5),
        ops_before=1,
        ops_after=5,
        compile_ids=("1/0",),
    )


def _unknown(text: Callable[[str], str]) -> Site:
    """A break that upstream has no id for: nothing is known of it."""
    return Site(
        file=text("/usr/lib/python3/site-packages/other/deep.py"),
        line=1200,
        function=text("forward"),
        source=text("y = strange(x)"),
        gb_ids=("GBL-12AB34",),
        gb_types=(text("a type with no id"),),
        kind="fatal",
        message=text("a type with no id"),
        context="",
        explanation="",
        hints=("Please report an issue to PyTorch.",),
        stack=(_frame(text, "other/deep.py", 1200, "forward"),),
        compiled=1,
        frequency=Frequency(ran=1),
        compile_ids=("7/0",),
    )


def _frame(text: Callable[[str], str], file: str, line: int, function: str) -> UserFrame:
    return UserFrame(file=text(f"{FOLDER}/{file}"), line=line, function=text(function), source=text("pass"))
