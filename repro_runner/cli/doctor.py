"""`graphbreak doctor`: does the torch that is installed have every private name that this project uses?"""

from __future__ import annotations

import ast
import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from registry.documents import head
from repro_runner.cli import verb_parser
from repro_runner.environment import no_torch
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import table
from repro_runner.output.units import counted
from repro_runner.torch_seams import SEAMS, Seam, resolve

_PACKAGE = "repro_runner"
_SEAMS = f"{_PACKAGE}.torch_seams"
_EXIT_CODES = """\
exit codes:
  0    every name is there, or is one that this project can do without
  1    a name is missing: the verbs behind it may not work with this torch
  2    torch is not installed
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One private name of torch."""

    name: str
    """`torch._dynamo.reset`."""
    purpose: str
    state: str
    """`present`, `missing`, or `not needed` for a missing name that nothing depends on."""
    verbs: tuple[str, ...]


def main(argv: Sequence[str]) -> int:
    """Look up every name and print the result."""
    parser = verb_parser(
        "doctor", "Check that the installed torch has every private name that this project uses.", _EXIT_CODES
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    arguments = parser.parse_args(argv)
    if importlib.util.find_spec("torch") is None:
        raise no_torch()
    findings = list(examine())
    missing = [each for each in findings if each.state == "missing"]
    release = version("torch")
    if arguments.json:
        document = {**head("doctor"), "torch": release, "missing": len(missing), "names": list(map(asdict, findings))}
        print(json.dumps(document))
    else:
        rows = [(each.state, each.name, each.purpose, ", ".join(each.verbs)) for each in findings]
        print("\n".join(table([("", "private name", "for", "verbs that need it"), *rows])))
        outcome = f"{counted(len(missing), 'name')} missing" if missing else "all there"
        print(f"torch {release}: {counted(len(findings), 'private name')}, {outcome}")
    return NOT_AS_IT_SHOULD_BE if missing else DONE


def examine() -> Iterator[Finding]:
    """Look up every name of torch_seams in the installed torch."""
    users = find_verbs()
    for name, seam in SEAMS.items():
        yield _finding(seam.path, seam, seam.optional, users[name])
        for member in seam.members.split():
            yield _finding(f"{seam.path}.{member.rstrip('?')}", seam, member.endswith("?"), users[name])


def _finding(path: str, seam: Seam, optional: bool, verbs: tuple[str, ...]) -> Finding:
    try:
        resolve(path)
        state = "present"
    except AttributeError:
        state = "not needed" if optional else "missing"
    return Finding(name=path, purpose=seam.purpose, state=state, verbs=verbs)


def find_verbs() -> dict[str, tuple[str, ...]]:
    """For each seam, the verbs that use it, directly or through imports. This is read from the source files."""
    modules = dict(_modules())
    reached = {verb: _reachable(f"{_PACKAGE}.cli.{verb}", modules) for verb in _verbs(modules)}
    used = {name: _seams_in(tree) for name, tree in modules.items()}
    return {
        seam: tuple(verb for verb, names in reached.items() if any(seam in used[name] for name in names))
        for seam in SEAMS
    }


def _modules() -> Iterator[tuple[str, ast.Module]]:
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        parts = (_PACKAGE, *path.relative_to(root).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, ast.parse(path.read_text("utf-8"))


def _verbs(modules: dict[str, ast.Module]) -> list[str]:
    from repro_runner.cli import VERBS

    return [verb for verb in VERBS if f"{_PACKAGE}.cli.{verb}" in modules]


def _reachable(start: str, modules: dict[str, ast.Module]) -> set[str]:
    """The module and everything that it imports, directly and indirectly."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _imports(modules[name], modules)
    return reached


def _imports(tree: ast.Module, modules: dict[str, ast.Module]) -> Iterator[str]:
    """Yield the modules that a module imports, also inside functions, and those of tasks: `package.module:function`."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value.partition(":")[0]]
        yield from (name for name in names if name in modules and name != _PACKAGE)


def _seams_in(tree: ast.Module) -> set[str]:
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == _SEAMS
        for alias in node.names
    }
