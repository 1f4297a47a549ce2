"""Put a minified script together: the program, its inputs, and what tells whether it still fails."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import torch

from repro_runner.minifier.function_source import FunctionSource
from repro_runner.minifier.parts import verdict
from repro_runner.minifier.recipes import can_be_drawn, copy_of, drawn, with_grad

_PACKAGE = __name__.partition(".")[0]
EXIT_CODES = "Exit code 1: it still fails so; 0: it no longer does; 3: something else is wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How a script tells: the modules it is made of, code of its own, and the call that returns (exit code, text)."""

    parts: tuple[ModuleType, ...]
    call: str
    title: str = "{}"
    """What fails, around what the script itself says of it."""
    code: tuple[str, ...] = ()
    before: tuple[ModuleType, ...] = ()
    """Modules that the code needs above it."""
    modules: tuple[str, ...] = ()
    """What has to be importable besides torch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A program that fails, ready to be run: its text, and the tensors that go into a file beside it."""

    text: str
    saved: Mapping[str, torch.Tensor]
    modules: tuple[str, ...] = ()


def render_script(
    header: Sequence[str],
    function: FunctionSource,
    tensors: Sequence[torch.Tensor],
    check: Check,
    *,
    keep: Iterable[str] | None = (),
) -> Script:
    """`keep` names the inputs whose values matter, None stands for all; the others are drawn from a seed."""
    named = dict(zip(function.parameters, tensors, strict=True))
    kept = set(named if keep is None else keep) | {name for name, each in named.items() if not can_be_drawn(each)}
    parts = (*check.before, *check.parts, verdict)
    modules = tuple(sorted({*check.modules, *_foreign(function.modules)}))
    blocks = [
        *map(_body, check.before),
        *check.code,
        *map(_body, (*check.parts, verdict)),
        f'def judge():\n    """(Exit code, what to say)."""\n    return {check.call}',
        'if __name__ == "__main__":\n    sys.exit(report(judge))',
    ]
    head = '"""' + "\n".join(_wrapped(header)) + '\n"""'
    imports = _imports(parts, function.modules, files=bool(kept))
    text = "\n\n\n".join([f"{head}\n\n{imports}", function.text, _inputs(named, kept), *blocks]) + "\n"
    return Script(
        text=text, saved={name: copy_of(named[name]).detach() for name in named if name in kept}, modules=modules
    )


def _inputs(named: Mapping[str, torch.Tensor], kept: set[str]) -> str:
    lines = ["def inputs():", "    torch.manual_seed(0)"]
    if kept:
        lines.append('    saved = torch.load(Path(__file__).with_suffix(".pt"), weights_only=True)')
    for name, tensor in named.items():
        made = f'saved["{name}"]{with_grad(tensor)}' if name in kept else drawn(tensor)
        lines.append(f"    {name} = {made}")
    lines.append(f"    return ({', '.join(named)}{',' if len(named) == 1 else ''})")
    return "\n".join(lines)


def _imports(parts: Iterable[ModuleType], modules: Iterable[str], *, files: bool) -> str:
    plain = {"sys", "torch", *modules}
    names: dict[str, set[str]] = {"pathlib": {"Path"}} if files else {}
    for part in parts:
        for statement in ast.parse(inspect.getsource(part)).body:
            if isinstance(statement, ast.Import):
                plain |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and _root(str(statement.module)) not in (_PACKAGE, "__future__"):
                names.setdefault(str(statement.module), set()).update(alias.name for alias in statement.names)
    lines = [(module, f"import {module}") for module in sorted(plain)]
    lines += [(module, f"from {module} import {', '.join(sorted(names[module]))}") for module in sorted(names)]
    own = [line for module, line in lines if _root(module) in sys.stdlib_module_names]
    others = [line for module, line in lines if _root(module) not in sys.stdlib_module_names]
    return "\n".join(["from __future__ import annotations", "", *own, "", *others])


def _root(module: str) -> str:
    return module.partition(".")[0]


def _body(part: ModuleType) -> str:
    """A module's text from its first definition on."""
    source = inspect.getsource(part)
    first = next(each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef | ast.ClassDef))
    start = min([first.lineno, *(each.lineno for each in first.decorator_list)])
    text = "\n".join(source.splitlines()[start - 1 :]).rstrip()
    return re.sub(r"  # noqa: \w+$|(?<=  # )noqa: \w+ - ", "", text, flags=re.MULTILINE)  # nobody else's linter


def _foreign(modules: Iterable[str]) -> Iterable[str]:
    return (each for each in modules if _root(each) not in {*sys.stdlib_module_names, "torch"})


def _wrapped(header: Sequence[str]) -> list[str]:
    safe = (line.replace("\\", "\\\\").replace('"""', "'''") for line in header)
    return [part for line in safe for part in (textwrap.wrap(line, 118, break_long_words=False) or [""])]
