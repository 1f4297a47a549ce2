"""Read `registry/repros/GBNNNN.py`: what a page shows of a repro. The file is parsed, never imported."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from registry.datafile import read_data_file
from registry.dependencies import Statements
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.model import Repro


def read_repros(folder: Path) -> dict[str, Repro]:
    """Return gb_id -> Repro; every unreadable file at once as InvalidInput."""
    repros: dict[str, Repro] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.py")):
        try:
            repros[path.stem] = parse_repro(read_data_file(path), path.stem)
        except InvalidInput as error:
            problems += error.problems
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            problems.append(Problem(f"registry/repros/{path.name}:{line}", str(getattr(error, "msg", error))))
    if problems:
        raise InvalidInput(problems)
    return repros


_LONGEST = 24
"""Lines of `broken`: a page is read on a phone."""


def parse_repro(source: str, gb_id: str) -> Repro:
    """Parse one file; SyntaxError or ValueError says what is wrong."""
    if not is_gb_id(gb_id):
        raise ValueError("a repro is named after its id (GB0042.py); rename or delete this file")
    module = ast.parse(source)
    functions, lead = read_functions(module, "broken")
    if (lines := _length(functions["broken"])) > _LONGEST:
        raise ValueError(f"`broken` has {lines} lines; make it shorter than {_LONGEST + 1}")
    constants = _constants(module)
    statements = Statements(module)
    return Repro(
        gb_id=gb_id,
        lead=lead,
        source=source,
        sha256=hashlib.sha256(source.encode("utf-8")).hexdigest(),
        fixes={name: kind_of_fix(module, statements, name) for name in functions if name.startswith("fixed")},
        isolated=tuple(name for name in functions if name.startswith("isolated")),
        no_fix=constants.get("NO_FIX", ""),
        eager_raises=constants.get("EAGER_RAISES", ""),
        reach=constants.get("REACH", "public"),
    )


def read_functions(module: ast.Module, needed: str) -> tuple[dict[str, ast.FunctionDef], str]:
    """(The functions of a program, its docstring in one line); ValueError unless it and each fix have a docstring."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    lead = docstring_of(module)
    if not lead:
        raise ValueError("needs a docstring: one or two sentences, the lead of the page")
    if needed not in functions:
        raise ValueError(f"needs a function `{needed}`")
    for name, function in functions.items():
        if name.startswith("fixed") and not docstring_of(function):
            raise ValueError(f"`{name}` needs a docstring that says when to choose it")
    return functions, lead


def docstring_of(node: ast.Module | ast.FunctionDef) -> str:
    """In one line; empty if there is none."""
    return " ".join((ast.get_docstring(node) or "").split())


def _length(function: ast.FunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def kind_of_fix(module: ast.Module, statements: Statements, fix: str) -> str:
    """flag (FLAGS has a setting for it), custom op (it or what it uses is made an operator of its own), or rewrite."""
    if fix in _flags(module):
        return "flag"
    for statement in statements.needed_by(fix):
        if any(isinstance(node, ast.Attribute) and node.attr in _OPERATOR_MAKERS for node in ast.walk(statement)):
            return "custom op"
    return "rewrite"


_OPERATOR_MAKERS = frozenset({"library", "allow_in_graph", "nonstrict_trace"})


def _flags(module: ast.Module) -> dict[str, object]:
    """FLAGS, a literal: name of a fix -> the settings of torch._dynamo.config that it is."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "FLAGS" for t in node.targets):
            flags = ast.literal_eval(node.value)
            if not isinstance(flags, dict):
                raise ValueError("FLAGS is a dictionary: name of a fix -> settings of torch._dynamo.config")
            return flags
    return {}


def _constants(module: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}
    return found
