"""Read `registry/repros/GBNNNN.py`: what a page shows of a repro. The file is parsed, never imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file
from registry.dependencies import Statements, bound_names
from registry.errors import InvalidInput, Problem
from registry.ids import id_of_program, is_gb_id
from registry.model import LIMIT_KINDS, Repro
from registry.parse_cache import ParseCache
from registry.program_text import program_text


def read_repros(folder: Path) -> dict[str, Repro]:
    """Return name of the program -> Repro; every unreadable file at once as InvalidInput."""
    repros: dict[str, Repro] = {}
    problems: list[Problem] = []
    parsed_before = ParseCache("programs", dump=_as_json, load=_from_json)
    for path in sorted(folder.glob("*.py")):
        try:
            source = read_data_file(path)
            parse = partial(parse_repro, source, path.stem)
            repros[path.stem] = parsed_before.recall(f"{path.stem}\n{source}", parse)
        except InvalidInput as error:
            problems += error.problems
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            problems.append(Problem(f"registry/repros/{path.name}:{line}", str(getattr(error, "msg", error))))
    parsed_before.save()
    if problems:
        raise InvalidInput(problems)
    return repros


def _as_json(repro: Repro) -> dict[str, Any]:
    return {field.name: getattr(repro, field.name) for field in fields(Repro)}


def _from_json(known: dict[str, Any]) -> Repro:
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
    return Repro(**read)


_LONGEST = 24
"""Lines of `broken`: a page is read on a phone."""


_NAME = re.compile(r"[^_]+(_[a-z0-9]+)*")


def parse_repro(source: str, name: str) -> Repro:
    """Parse one file; SyntaxError or ValueError says what is wrong."""
    gb_id = id_of_program(name)
    if not is_gb_id(gb_id) or not _NAME.fullmatch(name):
        raise ValueError("a repro is named after its id (GB0042.py, GB0042_time.py); rename or delete this file")
    module = ast.parse(source)
    functions, lead = read_functions(module, "broken")
    if (lines := _length(functions["broken"])) > _LONGEST:
        raise ValueError(f"`broken` has {lines} lines; make it shorter than {_LONGEST + 1}")
    constants = _constants(module)
    statements = Statements(module, source)
    reach = constants.get("REACH", "public")
    if reach not in REACHES:
        raise ValueError(f"REACH is {reach!r}; one of: {', '.join(REACHES)}")
    if reach == "public" and (private := _private_module(statements.needed_by("broken"))):
        raise ValueError(f"it names {private}, so it is not public; say so in REACH")
    neighbour = constants.get("NEIGHBOUR", "")
    if (reach == "contrived") != bool(neighbour):
        raise ValueError("a contrived program, and no other, names the id that people meet instead in NEIGHBOUR")
    if name != gb_id and not constants.get("TITLE"):
        raise ValueError("one of several programs for an id needs a TITLE")
    return Repro(
        name=name,
        gb_id=gb_id,
        title=constants.get("TITLE", ""),
        order=_order(module),
        lead=lead,
        source=source,
        sha256=program_text(source).sha256,
        fixes={name: kind_of_fix(module, statements, name) for name in functions if name.startswith("fixed")},
        isolated=tuple(name for name in functions if name.startswith("isolated")),
        no_fix=constants.get("NO_FIX", ""),
        eager_raises=constants.get("EAGER_RAISES", ""),
        reach=reach,
        neighbour=neighbour,
        gradient=_texts(module, "GRADIENT", functions),
        effects=_texts(module, "EFFECTS", functions),
        opaque=_texts(module, "OPAQUE", functions),
        limits=_limits(module, functions),
        calls=tuple(dict.fromkeys(_names(module.body, of_fixes=False))),
        uses=tuple(dict.fromkeys(_names(module.body, of_fixes=True))),
        captions=tuple(docstring_of(node) for name, node in functions.items() if name.startswith("fixed")),
    )


REACHES = ("public", "config", "private", "bytecode", "contrived")
_DOCUMENTED = ("config", "mark_dynamic", "mark_static", "reset", "graph_break", "nonstrict_trace", "dont_skip_tracing")
"""Names of torch._dynamo that torch's documentation tells users to write; torch._inductor.config is another."""
_STAND_INS = ("torch._dynamo.decorators.skip",)
"""`@skip` makes `broken` what is not compiled in a user's program: the loop around a compiled function."""


def _private_module(statements: Iterable[ast.stmt]) -> str:
    """A module of torch with an underscore that statements name; empty if there is none."""
    nodes = [inner for node in statements for inner in ast.walk(node)]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [f"{node.module}.{one.name}" for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names]
    named += [ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)]
    documented = ("torch._inductor.config", *_STAND_INS, *(f"torch._dynamo.{name}" for name in _DOCUMENTED))
    private = (one for one in named if re.match(r"torch\._[a-z_]+\.", one) and not one.startswith(documented))
    return next(private, "")


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


_OF_FIXES = ("fixed", "isolated", "CONFIG", "FLAGS")


def _names(statements: Iterable[ast.stmt], *, of_fixes: bool) -> Iterator[str]:
    """What programs use by name: in their fixes and settings, or in what breaks.

    Classes and constants of a program are left out: they have many names, and few of them tell what breaks.
    """
    for statement in statements:
        defined = getattr(statement, "name", "") or "".join(map(ast.unparse, getattr(statement, "targets", ())))
        if of_fixes:
            wanted = defined.startswith(_OF_FIXES)
        else:
            wanted = defined.islower() and not defined.startswith(("inputs", *_OF_FIXES))
        if wanted:
            yield from (name for node in ast.walk(statement) for name in _named_by(node))


def _named_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [name]
        case ast.Dict(keys=keys):
            return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return []


def _length(function: ast.FunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def kind_of_fix(module: ast.Module, statements: Statements, fix: str) -> str:
    """flag (FLAGS has a setting for it), custom op (it or what it uses is made an operator of its own), or rewrite."""
    if fix in by_fix(module, "FLAGS"):
        return "flag"
    for statement in statements.needed_by(fix):
        if makes_operators(statement):
            return "custom op"
    return "rewrite"


def makes_operators(tree: ast.AST) -> bool:
    """Whether code in it is made an operator of its own, or goes into the graph as it is."""
    return any(isinstance(node, ast.Attribute) and node.attr in _OPERATOR_MAKERS for node in ast.walk(tree))


_OPERATOR_MAKERS = frozenset({"library", "allow_in_graph", "nonstrict_trace"})


def _texts(module: ast.Module, constant: str, functions: Collection[str]) -> dict[str, str]:
    """A constant that says something of some fixes."""
    found = {}
    for fix, value in by_fix(module, constant).items():
        found[fix] = ast.literal_eval(value)
        if fix not in functions or not isinstance(found[fix], str) or not found[fix].strip():
            raise ValueError(f"{constant} needs a text for a fix of this file; see {fix!r}")
    return found


def _limits(module: ast.Module, functions: Collection[str]) -> dict[str, dict[str, str]]:
    """LIMITS: a fix -> kinds of inputs for which it does not do the same -> what happens; SyntaxError has the line."""
    found = {}
    for fix, value in by_fix(module, "LIMITS").items():
        said = _literal(value)
        if fix not in functions or not fix.startswith("fixed"):
            why = f"LIMITS speaks of {fix!r}, which is no fix of this file"
        elif not isinstance(said, dict) or not said:
            why = f"LIMITS needs a dictionary for {fix!r}: a kind of inputs -> what happens with them"
        elif unknown := [kind for kind in said if kind not in LIMIT_KINDS]:
            why = f"LIMITS of {fix!r} knows no kind of inputs {unknown[0]!r}; one of: {', '.join(LIMIT_KINDS)}"
        elif empty := [kind for kind, text in said.items() if not isinstance(text, str) or not text.strip()]:
            why = f"LIMITS of {fix!r} needs a sentence for {empty[0]!r}"
        else:
            found[fix] = said
            continue
        raise SyntaxError(why, ("", value.lineno, None, None))
    return found


def _order(module: ast.Module) -> tuple[str, ...]:
    """ORDER: programs of the id, the form that people meet most first."""
    said = (node.value for node in module.body if isinstance(node, ast.Assign) and bound_names(node) == {"ORDER"})
    return tuple(_literal(next(said, ast.Tuple([]))) or ())


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def by_fix(module: ast.Module, constant: str) -> dict[str, ast.expr]:
    """A dictionary of a repro: name of a fix, or another text -> what is said of it."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == constant for target in node.targets):
            if not isinstance(node.value, ast.Dict):
                raise ValueError(f"{constant} is a dictionary: name of a fix -> what is said of it")
            pairs = zip(node.value.keys, node.value.values, strict=True)
            return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
    return {}


def _constants(module: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}
    return found
