"""Mechanical fixes are edits of text: what they must change they change, and every other byte stays."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.site import Site
from repro_runner.fix_report.fixed_program import AppliedPatch, FixedProgram, Unfixed, render_fixed
from repro_runner.fix_report.patches.branches import find_branches
from repro_runner.fix_report.patches.directives import find_disabled, find_explicit_breaks, find_flags
from repro_runner.fix_report.patches.logging_calls import (
    find_library_log_calls,
    find_log_calls,
    find_prints,
    find_warnings,
)
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target, apply_patches
from repro_runner.fix_report.patches.source import Edit, Source, apply_edits, read_source

SCALARS = "torch._dynamo.config.capture_scalar_outputs = True"


def targets(*lines: int, message: str = "", callers: int = 0, settings: tuple[str, ...] = ()) -> list[Target]:
    stack = (UserFrame(file="/here/a.py", line=1, function="f", source=""),) * (callers + 1)
    return [
        Target(
            site=Site(gb_ids=("GB0170",), gb_types=("",), file="/here/a.py", line=line, message=message, stack=stack),
            line=line,
            settings=settings,
        )
        for line in lines
    ]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came, with their ends: all others are there byte for byte."""
    went, came = [], []
    for line in difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True)):
        if line.startswith("- "):
            went.append(line[2:])
        elif line.startswith("+ "):
            came.append(line[2:])
    return went, came


def branch(text: str, *lines: int) -> str:
    """The text with its branch rewritten, or why it is not."""
    source = Source(text)
    (found,) = find_branches(source, targets(*lines))
    return found.reason if isinstance(found, Refusal) else apply_patches(source, [found]).text


BRANCHES = {
    "two returns": (
        "    if x.sum() > 0:\n        return x + 1\n    return x - 1\n",
        "    return torch.where(x.sum() > 0, x + 1, x - 1)\n",
    ),
    "an else": (
        "    if x.sum() > 0:\n        return x + 1\n    else:\n        return x - 1\n",
        "    return torch.where(x.sum() > 0, x + 1, x - 1)\n",
    ),
    "comments stay": (
        "    if x.sum() > 0:  # up\n        # by one\n        return x + 1\n    return x - 1  # down\n",
        "    # up\n    # by one\n    return torch.where(x.sum() > 0, x + 1, x - 1)  # down\n",
    ),
    "an assignment without else": (
        "    if x.sum() > 0:\n        x = x * 2\n    return x\n",
        "    x = torch.where(x.sum() > 0, x * 2, x)\n    return x\n",
    ),
    "a chain, with tabs": (
        "\tif x.sum() > 1:\n\t\ty = x\n\telif x.sum() > 0:\n\t\ty = -x\n\telse: y = x * 2\n\treturn y\n",
        "\ty = torch.where(x.sum() > 1, x, torch.where(x.sum() > 0, -x, x * 2))\n\treturn y\n",
    ),
    "one in another": (
        "    if x.sum() > 0:\n        if x.mean() > 1:\n            return x + 2\n    return x * 2\n",
        "    return torch.where(x.sum() > 0, torch.where(x.mean() > 1, x + 2, x * 2), x * 2)\n",
    ),
    "not changes the arms' places": (
        "    if not x.any():\n        return x + 1\n    return x\n",
        "    return torch.where(x.any(), x, x + 1)\n",
    ),
    "a number decides by being zero": (
        "    if x.sum():\n        return x + 1\n    return x\n",
        "    return torch.where((x.sum()) != 0, x + 1, x)\n",
    ),
    "an expression between others": (
        "    y = 'é', (x if x.sum() > 0 else -x); z = 1\n    return y\n",
        "    y = 'é', (torch.where(x.sum() > 0, x, -x)); z = 1\n    return y\n",
    ),
    "over several lines": (
        "    if (x.sum()\n            > 0):\n        x = (x\n             + 1)\n    return x\n",
        "    x = torch.where(x.sum()\n            > 0, x\n             + 1, x)\n    return x\n",
    ),
    "after names that are not ASCII": (
        "    größe = x; x = größe if größe.sum() > 0 else x * 2\n    return x\n",
        "    größe = x; x = torch.where(größe.sum() > 0, größe, x * 2)\n    return x\n",
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_branch_on_a_tensor_becomes_where_and_nothing_else_changes(name: str, end: str) -> None:
    before, after = ("import torch\n\n\ndef f(x):  # f\n" + body for body in BRANCHES[name])
    before, after = before.replace("\n", end), after.replace("\n", end)
    lines = [number for number, line in enumerate(before.splitlines(), 1) if "if " in line]
    assert branch(before, *lines) == after
    ast.parse(after)


REFUSED = {
    "a side effect": (
        "    if x.sum() > 0:\n        seen.append(1)\n        x = x + 1\n    return x\n",
        "more than one",
    ),
    "an unknown call": ("    if x.sum() > 0:\n        x = normalise(x)\n    return x\n", "normalise() may do more"),
    "another module's function": (
        "    from . import parts\n    if x.sum() > 0:\n        x = parts.double(x)\n    return x\n",
        "parts.double",
    ),
    "a layer": ("    if x.sum() > 0:\n        x = self.drop(x)\n    return x\n", "may do more than compute"),
    "random numbers": ("    if x.sum() > 0:\n        x = torch.rand_like(x)\n    return x\n", "may do more"),
    "a write": ("    if x.sum() > 0:\n        x += 1\n    return x\n", "`x += 1`"),
    "an in-place method": ("    if x.sum() > 0:\n        x = x.add_(1)\n    return x\n", "may do more"),
    "an output argument": ("    if x.sum() > 0:\n        x = torch.add(x, 1, out=x)\n    return x\n", "may write"),
    "different names": ("    if x.sum() > 0:\n        y = x\n    else:\n        z = x\n    return x\n", "same thing"),
    "a number": ("    if x.sum() > 0:\n        return 1.0\n    return x\n", "no tensor"),
    "nothing": ("    if x.sum() > 0:\n        return x\n    print(x)\n    return -x\n", "only one of its arms"),
    "and": ("    if x.sum() > 0 and x.mean() > 0:\n        x = x + 1\n    return x\n", "condition"),
    "a chained comparison": ("    if 0 < x.sum() < 1:\n        x = x + 1\n    return x\n", "decides in Python"),
    "an assignment in it": ("    if (y := x.sum()) > 0:\n        x = x + y\n    return x\n", "condition"),
    "a later write": ("    y = x\n    if x.sum() > 0:\n        y = x + 1\n    y[0] = 1\n    return y\n", "in place"),
    "no value else": ("    if x.sum() > 0:\n        y = x + 1\n    return y\n", "y has no value before it"),
    "an exception": ("    if x.sum() > 0:\n        raise ValueError\n    return x\n", "raise ValueError"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_branch_that_does_more_than_compute_stays_and_the_reason_is_told(name: str) -> None:
    body, reason = REFUSED[name]
    text = f"import torch\ndef f(x):\n{body}"
    assert reason in branch(text, line_of(text, "if "))


def test_a_branch_stays_where_torch_has_another_name() -> None:
    assert "does not import torch" in branch("import torch as t\ndef f(x):\n    return x if x.sum() > 0 else -x\n", 3)


def test_a_division_under_a_branch_is_told_as_an_operation_without_a_gradient_everywhere() -> None:
    source = Source("import torch\ndef f(x, y):\n    if x.sum() > 0:\n        x = x / y.sum()\n    return x / 2\n")
    (patch,) = find_branches(source, targets(3))
    assert isinstance(patch, Patch)
    assert patch.branch is not None
    assert patch.branch.partial == "x / y.sum()"


OVERFLOWING = {
    "exp": ("x.max() < 80", "torch.exp(x)", "x", 1000.0),
    "exp in the other arm": ("x.max() > 80", "x", "x.exp()", 1000.0),
    "exp2": ("x.max() < 80", "x.exp2()", "x * 2", 1000.0),
    "expm1": ("x.max() < 80", "torch.expm1(x) + 1", "x", 1000.0),
    "sinh": ("x.max() < 80", "x.sinh()", "-x", 1000.0),
    "cosh": ("x.max() < 80", "torch.cosh(x).sqrt()", "x", 1000.0),
    "pow": ("x.max() < 80", "x.pow(3)", "x", 1e30),
    "an operator": ("x.max() < 80", "x ** 3", "x", 1e30),
    "products": ("x.max() < 80", "x * x * x", "x", 1e30),
    "matmul": ("x.max() < 80", "(x @ x) @ x", "x", 1e30),
    "square": ("x.max() < 80", "torch.square(x * 1e20)", "x", 1e30),
    "division": ("x.min() > 0", "1 / x", "x", 0.0),
    "reciprocal": ("x.min() > 0", "x.reciprocal()", "x", 0.0),
    "norm": ("x.norm() > 5", "x / x.norm()", "x", 0.0),
    "log": ("x.min() > 0", "x.log()", "x", 0.0),
    "sqrt": ("x.min() > 0", "x.sqrt() * x", "x", 0.0),
    "rsqrt": ("not x.min() <= 0", "torch.rsqrt(x)", "x", 0.0),
    "acosh": ("x.min() > 1", "x.acosh()", "x", 0.5),
    "std": ("x.std() > 0", "(x - x.mean()) / x.std()", "x", 3.0),
    "not finite": ("torch.isfinite(x).all()", "x.sigmoid()", "x", float("inf")),
    "a factor that is not finite": ("torch.isfinite(y).all()", "x * y", "x", float("inf")),
    "two names": ("x.max() < 80", "x.exp() * y", "x", 1000.0),
    "a branch in a branch": ("x.max() < 80", "(x.exp() if x.min() > 0 else x)", "-x", 1000.0),
}
PLAIN = ["x + 1", "x * y", "torch.relu(x) * 2", "x ** 2", "x @ y", "x.clamp(-1, 1)", "x.sigmoid() * y", "(x + y) * 0.5"]


def exec_gradients(text: str, number: float) -> list[torch.Tensor]:
    x, y = (torch.full((2, 2), number, requires_grad=True) for _ in range(2))
    names: dict[str, Any] = {}
    exec(text, names)
    found = torch.autograd.grad(names["f"](x, y).sum(), (x, y), allow_unused=True)
    return [torch.zeros(2, 2) if one is None else one for one in found]


@pytest.mark.torch
@pytest.mark.parametrize("name", OVERFLOWING)
def test_no_arm_that_overflows_spoils_the_gradient_of_the_arm_that_is_taken(name: str) -> None:
    condition, then, otherwise, number = OVERFLOWING[name]
    arms = f"    if {condition}:\n        z = {then}\n    else:\n        z = {otherwise}\n"
    text = f"import torch\ndef f(x, y):\n{arms}    return z\n"
    (patch,) = find_branches(Source(text), targets(3))
    declined = isinstance(patch, Refusal) or patch.branch is None or bool(patch.branch.partial)
    assert declined == (name in ("std", "a factor that is not finite", "two names", "a branch in a branch"))
    if not isinstance(patch, Refusal) and not declined:
        changed = apply_patches(Source(text), [patch]).text
        assert "torch.where" in changed
        for one in (number, 0.25, 7.0):
            for before, after in zip(exec_gradients(text, one), exec_gradients(changed, one), strict=True):
                torch.testing.assert_close(after, before)


@pytest.mark.parametrize("arm", PLAIN)
def test_an_arm_with_finite_gradients_needs_no_mask(arm: str) -> None:
    text = f"import torch\ndef f(x, y):\n    if x.sum() > 0:\n        x = {arm}\n    return x\n"
    assert branch(text, 3).count("torch.where") == 1


COUNTED = """\
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        {before}
        if x.norm() > 5:
            x = x / x.norm()
        {after}
        return x
"""


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        ("self.n += 1", "self.n += 1", ""),
        ("x += 1", "pass", ""),
        ("pass", "self.seen[0] = x.sum()", ""),
        ("pass", "x += 1", "x += 1"),
        ("pass", "y = x; y.mul_(2)", "y.mul_(2)"),
        ("self.n = x", "self.n += 1", "self.n += 1"),
        ("pass", "torch.add(x, 1, out=x)", "torch.add(x, 1, out=x)"),
        ("pass", "for y in (x,): y += 1", "y += 1"),
        ("pass", "z = x.view(-1); z[0] = 1", "z[0]"),
    ],
)
def test_only_a_write_into_the_values_of_a_branch_keeps_it(before: str, after: str, written: str) -> None:
    text = branch(COUNTED.format(before=before, after=after), 5)
    assert (f"`{written}` writes in place" in text) if written else ("torch.where(x.norm() > 5" in text)


EXPLICIT = {
    "a line": ("    x = x + 1\n    torch._dynamo.graph_break()\n    return x\n", "    x = x + 1\n    return x\n"),
    "its comment stays": (
        "    torch._dynamo.graph_break()  # here\n    return x\n",
        "    # here\n    return x\n",
    ),
    "a block of its own": (
        "    with c:\n        torch._dynamo.graph_break()\n    return x\n",
        "    with c:\n        pass\n    return x\n",
    ),
    "between semicolons": (
        "    y = 1; torch._dynamo.graph_break(); return x\n",
        "    y = 1; pass; return x\n",
    ),
    "in a loop's line": ("    for _ in 'é': torch._dynamo.graph_break()\n", "    for _ in 'é': pass\n"),
    "over lines": ("    torch._dynamo.graph_break(\n    )\n    return x\n", "    return x\n"),
    "at the end of the file": ("    torch._dynamo.graph_break()", "    pass"),
}


@pytest.mark.parametrize("name", EXPLICIT)
def test_a_call_of_graph_break_is_taken_out(name: str) -> None:
    before, after = (f"import torch\ndef f(x):\n{body}" for body in EXPLICIT[name])
    source = Source(before)
    patches = find_explicit_breaks(source, targets(line_of(before, "graph_break")))
    assert apply_patches(source, patches).text == after


PRINTS = {
    'print("scaling")': "torch._higher_order_ops.print('scaling')",
    'print("a", x, x.shape)': "torch._higher_order_ops.print('a {!s} {!s}', x, str(x.shape))",
    'print(x, sep=", ", flush=True, end="\\n")': "torch._higher_order_ops.print('{!s}', x)",
    'print(f"{x.sum():.3f} {{}} {x!r} {x.size()}")': (
        "torch._higher_order_ops.print('{:.3f} {{}} {!r} {}', x.sum(), x, str(x.size()))"
    ),
    "print()": "torch._higher_order_ops.print('{!s}', '')",
    'print("{")': "torch._higher_order_ops.print('{{')",
    'print("ä",\n          x,\n          x)': "torch._higher_order_ops.print('ä {!s} {!s}', x, x)",
}


@pytest.mark.parametrize("call", PRINTS)
def test_a_print_becomes_one_in_the_graph_with_the_same_text(call: str) -> None:
    text = f"import torch\ndef f(x):\n    {call}; return x  # end\n"
    source = Source(text)
    (patch,) = find_prints(source, targets(3))
    assert apply_patches(source, [patch]).text == text.replace(call, PRINTS[call])
    assert patch.otherwise is not None
    assert patch.otherwise.reorders


@pytest.mark.parametrize(
    "call",
    ['print(x, end="")', "print(x, file=log)", "print(*x)", 'print(f"{x:{width}}")', "print(x,  # a comment\n    x)"],
)
def test_a_print_that_the_graph_can_not_say_is_told_later(call: str) -> None:
    source = Source(f"import torch\ndef f(x):\n    {call}\n    return x\n")
    (patch,) = find_prints(source, targets(3, message="builtin print [...]"))
    went, came = changed_lines(source.text, apply_patches(source, [patch]).text)
    assert went == []
    assert came == ["torch._dynamo.config.reorderable_logging_functions.add(print)\n"]


def test_a_logger_is_called_later_from_the_outermost_function_and_left_out_of_inlined_ones() -> None:
    text = 'import logging\nimport torch\nlog = logging.getLogger()\ndef f(x):\n    log.info("%s", x.shape)\n'
    source = Source(text)
    (later,) = find_log_calls(source, targets(5))
    assert 'told_later_log_info("%s", str(x.shape))' in apply_patches(source, [later]).text
    (inlined,) = find_log_calls(source, targets(5, callers=1))
    assert later.otherwise is not None
    assert inlined.settings == later.otherwise.settings
    assert inlined.silences
    assert "no longer written" in inlined.changes
    went, came = changed_lines(text, apply_patches(source, [inlined]).text)
    assert (went, came) == ([], ["torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info)\n"])


def test_a_logger_of_a_library_is_left_out_by_its_method() -> None:
    message = "  Developer debug context: method: <Logger some.library (WARNING)>.debug, args: [], kwargs: {}"
    source = Source("import torch\nimport library\n")
    assert list(find_log_calls(source, targets(0, message=message))) == []
    (patch,) = find_library_log_calls(source, targets(0, message=message))
    _, came = changed_lines(source.text, apply_patches(source, [patch]).text)
    setting = "torch._dynamo.config.ignore_logging_functions.add(logging.Logger.debug)\n"
    assert came == ["import logging\n", setting]


def test_a_warning_is_no_log_call_and_its_module_is_imported_where_it_is_not() -> None:
    source = Source("import torch\ndef f(x):\n    import warnings\n    warnings.warn('old')\n    return x\n")
    found = targets(4, message="module: _warnings, qualname: warn")
    assert list(find_log_calls(source, found)) == []
    (patch,) = find_warnings(source, found)
    _, came = changed_lines(source.text, apply_patches(source, [patch]).text)
    setting = "torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)\n"
    assert came == ["import warnings\n", setting]


PLACES = {
    "after the imports": ("import torch\nimport os\n\nx = 1\n", 3),
    "after a statement on the import's line": ("import torch; x = (1,\n  2)\ny = 3\n", 3),
    "after what has to come first": (
        '#!/usr/bin/python\n"""D."""\nfrom __future__ import annotations\nx = 1\n',
        4,
    ),
    "in a file without an end of line": ("import torch", 2),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_setting_comes_where_torch_is_known_and_before_anything_is_compiled(name: str) -> None:
    text, line = PLACES[name]
    source = Source(text)
    after = apply_patches(source, find_flags(source, targets(1, settings=(SCALARS,)))).text
    lines = after.splitlines()
    assert lines[line - 1] == ("import torch" if "import torch" not in text else SCALARS)
    assert SCALARS in lines
    ast.parse(after)
    assert [one for one in lines if one not in (SCALARS, "import torch")] == [
        one for one in text.splitlines() if one != "import torch"
    ]


def test_a_function_with_several_breaks_that_compiled_code_calls_is_disabled_above_its_decorators() -> None:
    text = "import torch\nclass A:\n    @deco\n    def f(self, x):\n        x.tolist()\n        return x.tolist()\n"
    source = Source(text)
    (patch,) = find_disabled(source, targets(5, 6, callers=1))
    went, came = changed_lines(text, apply_patches(source, [patch]).text)
    assert (went, came) == ([], ["    @torch.compiler.disable\n"])
    assert list(find_disabled(source, targets(5, 6))) == []
    assert list(find_disabled(source, targets(5, callers=1))) == []


def test_edits_that_overlap_are_refused_and_lines_are_found_again() -> None:
    source = Source("a = 1\nb = 2\nc = 3\n")
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(source, [Edit(start=0, end=5, text="x"), Edit(start=4, end=6, text="y")])
    edited = apply_edits(source, [Edit(start=0, end=0, text="#\n#\n"), Edit(start=6, end=12, text="")])
    assert [edited.line(number) for number in (1, 2, 3)] == [3, 4, 4]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"), "iso-8859-1"),
        ("\ufeffx = 'é'\r\n".encode(), "utf-8-sig"),
        ("x = 'é\u2028'\ny = '\x0c'\n".encode(), "utf-8"),
    ],
)
def test_a_file_keeps_its_encoding_its_mark_and_its_line_ends(tmp_path: Path, content: bytes, encoding: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(content)
    source = read_source(path)
    assert source.encoding == encoding
    assert apply_patches(source, []).text.encode(source.encoding) == content


def test_the_comment_on_top_leaves_the_shell_and_the_encoding_their_lines() -> None:
    text = "#!/usr/bin/env python\r\n# coding: utf-8\r\n'''D'''\r\n"
    program = FixedProgram(
        name="a_fixed.py",
        text="",
        encoding="utf-8",
        breaks_before=3,
        breaks_after=1,
        outputs="equal",
        patches=(AppliedPatch(title="title", places=("ä.py:3",), changes="line\nbreak"),),
    )
    stays = [Unfixed(where="a.py:9", gb_id="GB0007", reason="why\r\nimport os")]
    fixed = render_fixed(Source(text), text, program, "a.py", stays)
    lines = fixed.split("\r\n")
    assert lines[:2] == ["#!/usr/bin/env python", "# coding: utf-8"]
    assert lines[-2:] == ["'''D'''", ""]
    assert all(line.startswith("# ") for line in lines[2:-2])
    assert "3 breaks before, 1 after" in fixed
    assert fixed.isascii()
