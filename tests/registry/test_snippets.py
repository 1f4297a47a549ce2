from __future__ import annotations

import builtins
import symtable
from pathlib import Path

import pytest

from registry.repros import parse_repro, read_repros
from registry.snippets import Program, Snippet, note_on_where, runnable_parts, take_apart
from registry.source_text import is_source_code
from tests.conftest import ROOT

REPROS = read_repros(ROOT / "registry" / "repros")


def program(source: str) -> Program:
    return take_apart(parse_repro(source, "GB0001"))


def snippets(found: Program) -> tuple[Snippet, ...]:
    return (found.broken, *found.fixes, *found.isolated)


def unknown_names(code: str) -> set[str]:
    """Names that a snippet uses, and neither it nor Python nor `import torch` gives."""
    table = symtable.symtable(code, "snippet", "exec")
    given = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()} | _globals(table)
    return used - given - set(dir(builtins)) - {"torch", "__class__"}


def _globals(table: symtable.SymbolTable) -> set[str]:
    found: set[str] = set()
    for inner in table.get_children():
        found |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()} | _globals(inner)
    return found


def test_every_snippet_of_the_corpus_stands_by_itself() -> None:
    wrong = {
        (gb_id, snippet.name): unknown
        for gb_id, repro in REPROS.items()
        for snippet in snippets(take_apart(repro))
        if (unknown := unknown_names(snippet.code) - unknown_names(repro.source))
        or f"def {snippet.name}(" not in snippet.code
    }
    assert wrong == {}


def test_what_is_run_is_what_the_card_shows_with_inputs_and_constants() -> None:
    for gb_id, repro in REPROS.items():
        parts, program = runnable_parts(repro.source), take_apart(repro)
        cards = {one.name: dict(one.lines) for one in (program.broken, *program.fixes, *program.isolated)}
        assert parts.keys() == cards.keys()
        source = dict(enumerate(repro.source.splitlines(), 1))
        for name, text in parts.items():
            compile(text, gb_id, "exec")
            run = {at: line for at, line in enumerate(text.splitlines(), 1) if line}
            assert run.items() <= source.items(), (gb_id, name)
            shown = {at: line for at, line in cards[name].items() if at and line}
            assert shown.items() <= run.items(), (gb_id, name)
            added = [line for at, line in run.items() if at not in shown]
            assert not any(line.startswith(("def broken", "def fixed", "def isolated")) for line in added)


def test_a_snippet_has_what_it_needs_and_nothing_else() -> None:
    found = program('''"""Lead."""
import math

import torch

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}
CONFIG = {"trace_numpy": False}
COMPILE = {"dynamic": True}
HALF = 0.5


def helper(x):
    return x * HALF


def unused(x):
    return x


def inputs():
    return (torch.randn(8),)


def broken(x):
    return helper(x).item()


def fixed(x):
    """Choose it
    when {this}."""
    # kept
    return x * math.pi


def fixed_flag(x):
    """Or."""
    return helper(x).item()


def isolated(x):
    """Else."""
    return x
''')
    assert found.broken.code == (
        "HALF = 0.5\n\ndef helper(x):\n    return x * HALF\n\ndef broken(x):\n    return helper(x).item()"
    )
    assert found.broken.lines[-1] == (25, "    return helper(x).item()")
    assert [fix.name for fix in found.fixes] == ["fixed", "fixed_flag"]
    assert found.fixes[0].code == "import math\n\ndef fixed(x):\n    # kept\n    return x * math.pi"
    assert found.fixes[0].when == "Choose it when {this}."
    assert found.fixes[1].settings == "torch._dynamo.config.capture_scalar_outputs = True"
    assert found.config == ("torch._dynamo.config.trace_numpy = False",)
    assert found.compile_options == "dynamic=True"
    (isolated,) = found.isolated
    assert isolated.name == "isolated"
    assert isolated.tail.endswith("print(torch.compile(isolated, dynamic=True)(*inputs()))")  # it still breaks
    assert found.fixes[0].tail.endswith("print(torch.compile(fixed, fullgraph=True, dynamic=True)(*inputs()))")


def test_a_name_that_a_function_makes_for_itself_is_not_the_modules() -> None:
    found = program('''"""Lead."""
import torch


def scaled(y):
    return y * 2


def broken(x):
    def scaled(y):
        return y

    return scaled(x)
''')
    assert found.broken.code.startswith("def broken")


def test_what_makes_an_operator_comes_with_it() -> None:
    found = program('''"""Lead."""
import torch

library = torch.library.Library("mine", "DEF")
library.define("plain(Tensor x) -> Tensor")


@torch.library.custom_op("other::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def broken(x):
    return torch.ops.mine.plain(x)


def fixed(x):
    """When."""
    return double(x)
''')
    assert "library.define" in found.broken.code
    assert "double" not in found.broken.code
    assert "register_fake" in found.fixes[0].code
    assert "library.define" not in found.fixes[0].code


def test_what_a_file_does_besides_comes_to_those_whom_it_concerns() -> None:
    found = program('''"""Lead."""
import os
import sys

import torch

CONFIG = {"debug_backend_override": ">=0:named_by_a_setting"}
PLACE = "somewhere"

os.environ["FOR_ALL"] = PLACE
torch.classes.load_library(PLACE)
open(PLACE).close()


def named_by_a_setting(graph, inputs):
    return graph


def register():
    sys.modules["for_all"] = os


register()
weight = torch.ones(4)
other = torch.ones(4)
weight.mark = 1
for number in range(4):
    other[number] = 2


def broken(x):
    return x * weight


changed = broken.__code__.replace(co_name="other")
broken.__code__ = changed


def fixed(x):
    """When."""
    return x * other
''')
    for_all = (
        'os.environ["FOR_ALL"] = PLACE',
        "torch.classes.load_library(PLACE)",
        "open(PLACE).close()",
        "register()",
        "named_by_a_setting",
    )
    own = ("weight.mark = 1", "broken.__code__ = changed")
    code, fix = found.broken.code, found.fixes[0].code
    assert [part for part in (*for_all, *own) if part not in code] == []
    assert [part for part in for_all if part not in fix] == []
    assert "other[number] = 2" in fix
    assert "other[number]" not in code
    assert [part for part in (*own, "changed", "weight") if part in fix] == []


@pytest.mark.parametrize(
    ("text", "is_source"),
    [
        ("msg", True),
        ("str(value)", True),
        ("cause.func", True),
        ('"a {b} " + c', True),
        ('f"a" "b"', True),
        ("msg +   + err", True),
        ("next({self})", False),
        ("{name}", False),
        ("tensor.is_inference() is not supported", False),
        ("A sentence.", False),
        ('"quoted" words', False),
        ("", False),
    ],
)
def test_python_source_is_told_from_text(text: str, is_source: bool) -> None:
    assert is_source_code(text) is is_source


def test_the_corpus_is_there() -> None:
    assert len(REPROS) == len(list(Path(ROOT / "registry" / "repros").glob("GB*.py"))) > 400


@pytest.mark.parametrize(
    ("broken", "fix", "told"),
    [
        ("x if x.mean() > 0 else -x", "torch.where(x.mean() > 0, x, -x)", True),
        ("x if x.mean() > 0 else -x", "x.where(x.mean() > 0, -x)", True),
        ("x[torch.where(x > 0)]", "torch.where(x > 0, x, 0)", True),
        ("x[x > 0]", "x[torch.where(x > 0)]", False),  # it lists positions
        ("torch.where(x > 0, x, 0).item()", "torch.where(x > 0, x, 0)", False),  # nothing is new
        ("x if x.mean() > 0 else -x", "torch.cond(x.mean() > 0, torch.sin, torch.cos, (x,))", False),
    ],
)
def test_that_both_sides_are_computed_is_said_of_a_fix_that_selects_in_place_of_a_branch(
    broken: str, fix: str, told: bool
) -> None:
    found = program(
        f'"""A lead."""\ndef broken(x):\n    return {broken}\ndef fixed(x):\n    """Now."""\n    return {fix}\n'
    )
    assert bool(note_on_where([found])) is told
