"""A model's answer is untrusted text: read strictly, applied exactly, and run only if it is plain torch code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.advice import Advisor
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.assistant.prompt import make_excerpt
from repro_runner.assistant.reply import Block, NotUnderstood, apply_blocks, parse_reply
from repro_runner.fix_report.judging import find_doubt, find_notes
from repro_runner.fix_report.patch_rules import find_dodges, find_refusals
from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, Trial

ANSWER = """\
CAUSE: The `if` asks for a value.
It can't be known.

<<<<<<< SEARCH
    if x.sum() > 0:
        return x + 1
    return x - 1
=======
    return torch.where(x.sum() > 0, x + 1, x - 1)
>>>>>>> REPLACE
"""

PROGRAM = """\
import os
import time

import torch


@torch.compile(backend="eager")
def choose(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


if __name__ == "__main__":
    choose(torch.ones(2))
    print(time.time(), os.getcwd(), open("x"))
"""


def test_a_cause_and_blocks_are_read() -> None:
    answer = parse_reply(ANSWER)
    assert answer.cause == "The `if` asks for a value.\nIt can't be known."
    assert "    return torch.where(x.sum() > 0, x + 1, x - 1)\n" in apply_blocks(PROGRAM, answer.blocks)


@pytest.mark.parametrize(
    "around",
    ["Sure!\n\n{}\nGood luck.", "```\n{}```\n", "**CAUSE:** {}"],
)
def test_what_models_write_around_it_is_no_hindrance(around: str) -> None:
    text = around.format(ANSWER.removeprefix("CAUSE: ") if "**" in around else ANSWER)
    answer = parse_reply(text.replace("\n", "\r\n"))
    assert answer.cause.startswith("The `if` asks")
    assert apply_blocks(PROGRAM, answer.blocks) == apply_blocks(PROGRAM, parse_reply(ANSWER).blocks)


def test_no_patch_is_an_answer() -> None:
    assert parse_reply("CAUSE: a library does it.\n\nNO PATCH").blocks == ()


@pytest.mark.parametrize(
    "text", ["", "I am a teapot", "CAUSE:", "CAUSE: so\n<<<<<<< SEARCH\nx\n=======\ny", "NO PATCH", '{"cause": "x"}']
)
def test_nonsense_is_not_understood(text: str) -> None:
    with pytest.raises(NotUnderstood, match="not in the form"):
        parse_reply(text)


def test_control_characters_of_terminals_are_dropped() -> None:
    assert parse_reply("CAUSE: a\x1b[31m b\u202e c\x07\nNO PATCH").cause == "a[31m b c"


@given(text=st.text(max_size=400))
def test_any_text_is_an_answer_or_not_understood(text: str) -> None:
    for whole in (text, f"CAUSE: {text}\nNO PATCH", ANSWER.replace("x + 1", text)):
        try:
            apply_blocks(PROGRAM, parse_reply(whole).blocks)
        except NotUnderstood as why:
            assert str(why)


@pytest.mark.parametrize(
    ("search", "replace", "told"),
    [
        ("    no such line\n", "x\n", "block 1 of the patch is not found in the code"),
        ("\n", "x\n", "block 1 of the patch has nothing to search for"),
        ("import os\n", "import os\n", "the patch changes nothing"),
        ('KEY = "<masked-1>"\n', "x\n", "block 1 of the patch touches a line that was masked"),
    ],
)
def test_a_block_that_does_not_fit_is_told(search: str, replace: str, told: str) -> None:
    with pytest.raises(NotUnderstood, match=told):
        apply_blocks(PROGRAM, (Block(search=search, replace=replace),))


def test_a_block_that_fits_twice_is_refused() -> None:
    with pytest.raises(NotUnderstood, match="fits in 2 places"):
        apply_blocks("a\nb\na\n", (Block(search="a\n", replace="c\n"),))


@pytest.mark.parametrize("indent", ["", "  ", "        "])
def test_a_block_with_another_indentation_is_moved(indent: str) -> None:
    block = Block(
        search=f"{indent}if x.sum() > 0:  \n{indent}    return x + 1\n",
        replace=f"{indent}if x.sum() > 1:\n{indent}    return x + 2\n",
    )
    changed = apply_blocks(PROGRAM, (block,))
    assert changed == PROGRAM.replace("> 0", "> 1").replace("x + 1", "x + 2")


def test_line_ends_and_deletions_are_kept() -> None:
    assert apply_blocks("a\r\nb\r\nc", (Block(search="b\n", replace=""),)) == "a\r\nc"


@pytest.mark.parametrize(
    "body",
    [
        "return torch.where(x.sum() > 0, x + 1, x - 1)",
        "return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))",
        "torch._check(x.shape[0] > 1)\n    return x.abs().max().clamp(min=0)",
        "with torch._dynamo.config.patch(capture_scalar_outputs=True):\n        return x + len(x)",
        "torch._dynamo.config.capture_scalar_outputs = True\n    return x",
        "from functools import partial\n    return partial(torch.add, 1)(x)",
        "import math\n    return x * math.pi",
        "now = time.time()\n    return x",
        "torch._higher_order_ops.print('{}', x)\n    return x",
        "x.grad = None\n    max = x.max()\n    return max if hasattr(x, 'sum') else x",
    ],
)
def test_plain_torch_code_may_be_run(body: str) -> None:
    changed = PROGRAM.replace("    if x.sum() > 0:\n        return x + 1\n    return x - 1\n", f"    {body}\n")
    changed = changed.replace("print(time.time(), ", "print(") if "time" in body else changed
    assert changed != PROGRAM
    assert find_refusals(PROGRAM, changed) == []
    assert find_dodges(PROGRAM, changed) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("import subprocess", "imports subprocess"),
        ("from os import system", "imports os.system"),
        ("from .parts import x", "imports .parts.x"),
        ("os.remove('x')", "uses os.remove('x')"),
        ("open('/etc/passwd').read()", "uses open('/etc/passwd')"),
        ("exec('1')", "uses exec('1')"),
        ("e = eval", "uses eval"),
        ("open = open; open('y')", "uses open"),
        ("__import__('os').system('x')", "uses __import__('os')"),
        ("getattr(torch, 'lo' + 'ad')('x')", "uses getattr("),
        ("torch.load('x')", "uses .load"),
        ("x.numpy().tofile('y')", "uses .tofile"),
        ("torch.os.system('x')", "uses .os"),
        ("torch.hub.help('x')", "uses .hub"),
        ("torch._C._jit_clear_class_registry()", "uses ._C, which is private"),
        ("x.__class__.__base__.__subclasses__()", "uses .__class__, which is private"),
        ("torch._inductor.config.cpp.cxx = ('sh',)", "uses ._inductor, which is private"),
        ("torch._dynamo.config.debug_dir_root = '/'", "sets torch._dynamo.config.debug_dir_root"),
        ("torch._dynamo.config.patch({'suppress' + '_errors': True})", "sets torch._dynamo.config.a flag by name"),
        ("from operator import attrgetter", "imports operator.attrgetter"),
        ("from torch.utils.cpp_extension import load", "imports torch.utils.cpp_extension.load"),
        ("unknown('x')", "uses unknown('x')"),
        ("torch.compile = lambda f, **_: f", "changes what torch.compile means"),
        ("torch.Tensor.item = lambda x: 0", "changes what torch.Tensor.item means"),
        ("t = torch; t.equal = t.ones", "changes what t.equal means"),
        ("c = torch._dynamo.config; c.recompile_limit = 0", "changes what c.recompile_limit means"),
        ("del torch.compile", "changes what torch.compile means"),
        ("for torch.randn in [torch.ones]: pass", "changes what torch.randn means"),
        ("torch = None", "changes what torch means"),
        ("import math as torch", "changes what torch means"),
        ("try: pass\n    except ValueError as torch: pass", "changes what torch means"),
        ("self = torch", "changes what self means"),
        ("global print; print = x.add", "changes what print means"),
        ("import torch._dynamo.config as c", "imports torch._dynamo.config"),
        ("from torch._dynamo import eval_frame", "imports torch._dynamo.eval_frame"),
        ("from torch import *", "imports torch.*"),
        ("torch._dynamo.eval_frame.skip_code(x)", "uses _dynamo.eval_frame, which is private"),
        ("torch.import_ir_module(None, 'x')", "uses .import_ir_module"),
        ("torch.library.Library('aten', 'IMPL')", "uses .Library"),
    ],
)
def test_what_goes_beyond_plain_torch_code_is_not_run(line: str, told: str) -> None:
    changed = PROGRAM.replace("    if x.sum() > 0:\n", f"    {line}\n    if x.sum() > 0:\n")
    assert [why for why in find_refusals(PROGRAM, changed) if told in why], find_refusals(PROGRAM, changed)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('@torch.compile(backend="eager")\n', "", "changes how torch.compile is called"),
        ('backend="eager"', 'backend="eager", disable=True', "turns compilation off (disable)"),
        ("@torch.compile", "@torch.compiler.disable\n@torch.compile", "turns compilation off (disable)"),
        ("def choose", "@torch._dynamo.disable\ndef choose", "turns compilation off (disable)"),
        (
            "    choose(",
            '    torch.compiler.set_stance("force_eager")\n    choose(',
            "turns compilation off (set_stance)",
        ),
        ("    choose(", "    torch._dynamo.config.suppress_errors = True\n    choose(", "suppresses errors"),
        ("    choose(", '    torch._dynamo.config.patch("suppress_errors", True)\n    choose(', "suppresses errors"),
        (
            "    if x.sum() > 0:",
            "    try:\n        x.relu()\n    except Exception:\n        pass\n    if x.sum() > 0:",
            "catches",
        ),
        (
            "    if x",
            "    import contextlib\n    with contextlib.suppress(ValueError):\n        x.relu()\n    if x",
            "catches",
        ),
        ("        return x + 1", f"        return torch.tensor({list(range(40))})", "writes many numbers"),
        ("def choose", "@torch.compiler.allow_in_graph\ndef choose", "hides code"),
        ("    choose(", "    torch.manual_seed(1)\n    choose(", "changes random numbers"),
        ("    if x", "    if torch.compiler.is_compiling():\n        return x\n    if x", "something else while"),
        ("    if x", "    x = torch.nn.ReLU().forward(x)\n    if x", "past its hooks"),
        (
            "    if x.sum() > 0:\n        return x + 1\n    return x - 1\n",
            "    return 1\n",
            "the parameter x of choose",
        ),
    ],
)
def test_a_patch_that_dodges_the_question_is_told(old: str, new: str, told: str) -> None:
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    assert told in "; ".join(find_dodges(PROGRAM, changed))


def test_a_built_in_name_of_the_whole_file_stays_what_it_is() -> None:
    assert find_refusals(PROGRAM, f"def print(*_): ...\n{PROGRAM}") == ["it changes what print means"]


def test_the_registrys_own_fixes_may_be_run() -> None:
    """Those for what people meet: a model is shown them, and will propose their like."""
    answers = Advisor(merge_registry(read_package()))
    for gb_id in ("GB0007", "GB0025", "GB0036", "GB0059", "GB0124", "GB0170", "GB0291"):
        answer = answers.advise(gb_id, torch="2.13.0")
        assert answer is not None
        before = f"import logging\nimport torch\n{answer.broken}"
        for fix in answer.fixes:
            if "ignore_logging_functions" in fix.settings:  # it leaves the log lines out, and its page says so
                continue
            assert find_refusals(before, f"import logging\nimport torch\n{fix.settings}\n{fix.code}") == [], gb_id


def test_private_attributes_of_the_users_own_are_no_refusal() -> None:
    before = "class A:\n    def f(self):\n        return self._kept\n"
    after = "class A:\n    def f(self):\n        self._other = self._kept\n        return self._other + self._kept\n"
    assert find_refusals(before, after) == []


GOOD = Trial(
    ran=True, breaks_before=2, breaks_after=1, outputs=EQUAL, printed=EQUAL, graphs_after=1, ops_before=9, ops_after=9
)


def changed_trial(**fields: object) -> Trial:
    from dataclasses import replace

    return replace(GOOD, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({}, ""),
        ({"ran": False, "error": "the changed program fails: ValueError"}, "the changed program fails: ValueError"),
        ({"outputs": DIFFER, "difference": "call 1"}, "results differ: call 1"),
        ({"outputs": NOT_COMPARED, "difference": "why"}, "results could not be compared: why"),
        ({"printed": DIFFER, "printed_difference": "line 1"}, "what the program prints differs: line 1"),
        ({"breaks_after": 2}, "it leaves as many breaks: 2"),
        ({"ops_after": 4}, "it takes work out of the compiled code: 4 ops ran in graphs, before 9"),
        ({"graphs_after": 0}, "it takes work out of the compiled code"),
        ({"printed": LINES_REMOVED, "printed_difference": "2 lines"}, "the program prints less: 2 lines"),
    ],
)
def test_only_fewer_breaks_and_equal_results_are_verified(fields: dict[str, object], doubt: str) -> None:
    found = find_doubt(changed_trial(**fields))
    assert found.startswith(doubt)
    assert bool(found) is bool(doubt)


def test_a_patch_that_may_print_less_says_that_it_does() -> None:
    trial = changed_trial(printed=LINES_REMOVED, printed_difference="1 lines instead of 3")
    assert find_doubt(trial, less_output=True) == ""
    assert find_notes([trial, trial]) == ("the program prints less: 1 lines instead of 3",)
    assert find_notes([GOOD]) == ()


def test_the_lines_around_a_break_are_its_function_and_a_short_class() -> None:
    excerpt = make_excerpt("p.py", 10, PROGRAM)
    assert excerpt.code.startswith('@torch.compile(backend="eager")\ndef choose(x):\n')
    assert excerpt.code.endswith("    return x - 1")
    assert excerpt.imports == "import os\nimport time\nimport torch"
    assert "getcwd" not in excerpt.code
    method = "class A:\n    size = 1\n\n    def f(self, x):\n        return x.item()\n\n\nother = 1\n"
    assert make_excerpt("p.py", 5, method).code == method.partition("\n\n\n")[0]
    long = "def f(x):\n" + "    x = x + 1\n" * 400
    assert 30 < len(make_excerpt("p.py", 200, long).code.splitlines()) < 100
    assert make_excerpt("p.py", 1, "x = 1\ny = 2\n").code == "x = 1\ny = 2"
