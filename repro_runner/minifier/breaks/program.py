"""A repro in the making: its definitions, `broken`, and an expression per argument. Kept as syntax trees."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from registry.dependencies import bound_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`tree` ends with the function `broken`; `inputs` has what each of its parameters is given."""

    tree: ast.Module
    inputs: dict[str, ast.expr]

    @property
    def broken(self) -> ast.FunctionDef:
        function = self.tree.body[-1]
        assert isinstance(function, ast.FunctionDef)
        return function

    def copy(self) -> Program:
        return copy.deepcopy(self)

    def code(self) -> str:
        """Everything but docstring and constants; inputs() is put before `broken`."""
        *others, broken = self.tree.body
        imports = sorted({"import torch", *(ast.unparse(each) for each in others if _is_import(each))}, key=_order)
        given = ", ".join(map(ast.unparse, self.inputs.values()))
        made = f"def inputs():\n    return ({given}{',' if len(self.inputs) == 1 else ''})"
        definitions = _blocks(each for each in others if not _is_import(each))
        return "\n\n\n".join(["\n".join(imports), *definitions, made, ast.unparse(broken)]) + "\n"


def parse_program(code: str) -> Program:
    """The program that has this code, which `Program.code` wrote."""
    tree = ast.parse(code)
    made = tree.body.pop(-2)
    (given,) = (node.value for node in ast.walk(made) if isinstance(node, ast.Return))
    assert isinstance(given, ast.Tuple)
    program = Program(tree=tree, inputs={})
    parameters = (each.arg for each in program.broken.args.args)
    program.inputs.update(zip(parameters, given.elts, strict=True))
    return program


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def _blocks(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Functions and classes apart, plain statements together."""
    together: list[str] = []
    for each in statements:
        if not isinstance(each, ast.FunctionDef | ast.ClassDef):
            together.append(ast.unparse(each))
            continue
        if together:
            yield "\n".join(together)
        together = []
        yield ast.unparse(each)
    if together:
        yield "\n".join(together)


def tidied(program: Program) -> Program:
    """The program without what nothing uses: parameters, definitions, imports, attributes that are only set."""
    program = program.copy()
    function = program.broken
    for name in program.inputs.keys() - names_in(*function.body):
        del program.inputs[name]
    function.args.args = [each for each in function.args.args if each.arg in program.inputs]
    while _drop_unused(program):
        pass
    return program


def _drop_unused(program: Program) -> bool:
    body = program.tree.body
    before = ast.dump(program.tree)
    read = set(_attributes_read(program.tree))
    for each in body:
        for method in each.body if isinstance(each, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                method.body = [line for line in method.body if _attribute_set(line) in (None, *read)]
    used = names_in(*program.inputs.values())
    body[:] = [
        each
        for each in body
        if each is body[-1]
        or not (bound := bound_names(each))  # it has an effect on the others
        or not bound.isdisjoint(used | names_in(*(one for one in body if one is not each)))
    ]
    return ast.dump(program.tree) != before


def _attributes_read(tree: ast.Module) -> Iterator[str]:
    """`self.calls += 1` reads, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            yield node.target.attr
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr


def _attribute_set(line: ast.stmt) -> str | None:
    """`scale` of `self.scale = 2.0`."""
    target = line.targets[0] if isinstance(line, ast.Assign) else None
    return target.attr if isinstance(target, ast.Attribute) else None


def names_made_in(function: ast.AST) -> set[str]:
    """The names that a function gives a meaning itself: parameters, variables, what it imports or defines."""
    made = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            made.add(node.id)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.ExceptHandler):
            made.add(node.name or "")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            made |= bound_names(node)
    return made


def names_in(*nodes: ast.AST) -> set[str]:
    """Every name that is written there, read or made."""
    return {node.id for each in nodes for node in ast.walk(each) if isinstance(node, ast.Name)}
