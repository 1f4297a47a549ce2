"""Put a minified script together: the program, its inputs, and the check whether it still fails."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from registry.dependencies import Statements, first_line
from repro_runner.minifier.function_source import FunctionSource
from repro_runner.minifier.parts import report
from repro_runner.minifier.recipes import can_be_drawn, copy_of, drawn, loadable, moved, with_grad
from repro_runner.minifier.result import Failure
from repro_runner.output.units import counted

_PACKAGE = __name__.partition(".")[0]
EXIT_CODES = "Exit code 1: it still fails so; 0: it no longer does; 3: something else is wrong"


Part = ModuleType | Callable[..., Any]
"""A module of minifier/parts, whole; or one of its functions, with what that needs of the module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How a script checks itself: parts that go into it, code of its own, and a call that returns (exit code, text)."""

    parts: tuple[Part, ...]
    call: str
    title: str = "{}"
    """The first line of the header; `{}` stands for what the script prints about its failure."""
    code: tuple[str, ...] = ()
    before: tuple[Part, ...] = ()
    """Parts that the code needs above it."""
    modules: tuple[str, ...] = ()
    """What has to be importable besides torch."""
    imports: tuple[str, ...] = ()
    """Modules of torch that the call needs."""


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
    """Write a script. `keep` names the inputs whose values matter (None: all); the others are drawn from a seed."""
    named = dict(zip(function.parameters, tensors, strict=True))
    kept = set(named if keep is None else keep) | {name for name, each in named.items() if not can_be_drawn(each)}
    parts = (*check.before, *check.parts, report)
    imported = {*function.modules, *_registering(tensors)}
    modules = tuple(sorted({*check.modules, *_foreign(imported)}))
    blocks = [
        *map(_body, check.before),
        *check.code,
        *map(_body, (*check.parts, report)),
        f'def judge():\n    """(Exit code, what to say)."""\n    return {check.call}',
        'if __name__ == "__main__":\n    sys.exit(report(judge))',
    ]
    head = '"""' + "\n".join(_wrapped(header)) + '\n"""'
    imports = _imports(parts, (*imported, *check.imports), files=bool(kept))
    text = "\n\n\n".join([f"{head}\n\n{imports}", function.text, _inputs(named, kept), *blocks]) + "\n"
    saved = {name: loadable(copy_of(named[name]).detach()) for name in named if name in kept}
    return Script(text=text, saved=saved, modules=modules)


def _registering(tensors: Iterable[torch.Tensor]) -> set[str]:
    """What has to be imported so that torch knows the devices of these tensors: packages of others."""
    modules = {torch.get_device_module(kind).__name__ for kind in {each.device.type for each in tensors}}
    return {root for module in modules if (root := _root(module)) != "torch"}


def _inputs(named: Mapping[str, torch.Tensor], kept: set[str]) -> str:
    lines = ["def inputs():", "    torch.manual_seed(0)"]
    if kept:
        lines.append('    saved = torch.load(Path(__file__).with_suffix(".pt"), weights_only=True)')
    for name, tensor in named.items():
        made = f'saved["{name}"]{moved(tensor)}{with_grad(tensor)}' if name in kept else drawn(tensor)
        lines.append(f"    {name} = {made}")
    lines.append(f"    return ({', '.join(named)}{',' if len(named) == 1 else ''})")
    return "\n".join(lines)


def _imports(parts: Iterable[Part], modules: Iterable[str], *, files: bool) -> str:
    plain = {"sys", "torch", *modules}
    names: dict[str, set[str]] = {"pathlib": {"Path"}} if files else {}
    for part in parts:
        statements = _statements(part)[1]
        used = {node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)}
        for statement in statements:
            if isinstance(statement, ast.Import):
                plain |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and _root(str(statement.module)) not in (_PACKAGE, "__future__"):
                given = {alias.name for alias in statement.names}
                names.setdefault(str(statement.module), set()).update(given & used)
    lines = [(module, f"import {module}") for module in sorted(plain)]
    lines += [(module, f"from {module} import {', '.join(sorted(names[module]))}") for module in sorted(names)]
    own = [line for module, line in lines if _root(module) in sys.stdlib_module_names]
    others = [line for module, line in lines if _root(module) not in sys.stdlib_module_names]
    return "\n".join(["from __future__ import annotations", "", *own, "", *others])


def _root(module: str) -> str:
    return module.partition(".")[0]


@functools.cache
def _body(part: Part) -> str:
    """The definitions of a part."""
    source, statements = _statements(part)
    wanted = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom | ast.Expr)]
    text = "\n\n\n".join(statement_text(source, each) for each in wanted)
    return re.sub(r"  # noqa: \w+$|(?<=  # )noqa: \w+ - ", "", text, flags=re.MULTILINE)  # for our linter alone


@functools.cache
def _statements(part: Part) -> tuple[str, list[ast.stmt]]:
    """The text of a part's module, and the statements of it that belong to the part."""
    whole = isinstance(part, ModuleType)
    source = inspect.getsource(part if whole else sys.modules[part.__module__])
    tree = ast.parse(source)
    return source, tree.body if whole else Statements(tree, source).needed_by(part.__name__)


def statement_text(source: str, statement: ast.stmt) -> str:
    """As it is written, decorators and comments included."""
    return "\n".join(source.splitlines()[first_line(statement) - 1 : statement.end_lineno])


def _foreign(modules: Iterable[str]) -> Iterable[str]:
    return (each for each in modules if _root(each) not in {*sys.stdlib_module_names, "torch"})


def _wrapped(header: Sequence[str]) -> list[str]:
    safe = (line.replace("\\", "\\\\").replace('"""', "'''") for line in header)
    return [part for line in safe for part in (textwrap.wrap(line, 118, break_long_words=False) or [""])]


def header_lines(
    model: str, failure: Failure, check: Check, said: str, sizes: tuple[int, int], part: tuple[int, int]
) -> list[str]:
    """The docstring of a script. `said` is what the script prints about its failure; `sizes` are its operations and
    those of the graph it comes from; `part` is the number of that graph, and how many there are."""
    number, graphs = part
    of_several = f", graph {number} of {graphs}" if graphs > 1 else ""
    python = ".".join(map(str, sys.version_info[:2]))
    lines = [
        check.title.format(said),
        "",
        f"{sizes[0]} of {counted(sizes[1], 'operation')} of {model}{of_several}. "
        f"torch {torch.__version__}, Python {python}.",
    ]
    if failure.kind == "violation":
        lines.append(f"There it is: {failure.summary}")
    if check.modules:
        where = ", ".join(folders_of(check.modules))
        lines.append(f"Besides torch it needs {', '.join(check.modules)}, found in {where}: put that into PYTHONPATH.")
    return [*lines, f"{EXIT_CODES}."]


def folders_of(modules: Iterable[str]) -> list[str]:
    """Where the modules that a script needs are found, each folder once."""
    found: dict[str, None] = {}
    for root in dict.fromkeys(module.partition(".")[0] for module in modules):
        loaded = sys.modules.get(root)
        spec = getattr(loaded, "__spec__", None) or importlib.util.find_spec(root)
        if spec is not None and spec.origin not in (None, "built-in", "frozen"):
            origin = Path(str(spec.origin))
            found[str(origin.parents[1] if spec.submodule_search_locations else origin.parent)] = None
    return list(found)
