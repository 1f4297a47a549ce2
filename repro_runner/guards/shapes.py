"""A guard on sizes, `2 <= L['x'].size()[0] <= 512`, in words: dimension 0 of x is between 2 and 512."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

_COMMENT = re.compile(r"\s{2,}# (?P<source>.*?)  # (?P<file>\S+):(?P<line>\d+) in ")
_DUCK = "duck sizing"
_SWAPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
_RELATIONS = {
    ast.Lt: "is less than",
    ast.LtE: "is at most",
    ast.Gt: "is greater than",
    ast.GtE: "is at least",
    ast.Eq: "is equal to",
    ast.NotEq: "is not",
}
Name = Callable[[str], str]
"""From an expression that reaches a size to the user's name for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeGuard:
    """One relation between sizes, as torch wrote it, and the source line that torch names for it."""

    expression: str
    file: str = ""
    """Its end only: torch shortens it."""
    line: int = 0
    assumed: bool = False
    """Torch assumed that two sizes are one because they were equal when it compiled; no code compares them."""

    @classmethod
    def of(cls, text: str) -> ShapeGuard:
        expression, _, comment = text.partition("  # ")
        place = _COMMENT.search(text)
        return cls(
            expression=expression.strip(),
            file=place["file"] if place else "",
            line=int(place["line"]) if place else 0,
            assumed=_DUCK in comment,
        )


def values_in(expression: str) -> list[str]:
    """The expressions of the values in a relation, such as `L['x'].size()[0]`: each once, in order."""
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        return []
    return list(dict.fromkeys(ast.unparse(node) for node in _atoms(tree.body)))


def is_lower_bound(expression: str) -> bool:
    """Whether it only says that a size is at least 2: torch compiles sizes 0 and 1 on their own."""
    return re.fullmatch(r"2 <= [^<]+|[^<]+ >= 2", expression) is not None and len(values_in(expression)) == 1


def fixed_number(expression: str) -> int | float | None:
    """The number that a value must equal, if the guard requires nothing else; else None."""
    tree = ast.parse(expression, mode="eval").body
    if not isinstance(tree, ast.Compare) or not isinstance(tree.ops[0], ast.Eq) or len(tree.ops) != 1:
        return None
    right = tree.comparators[0]
    number = right.value if isinstance(right, ast.Constant) and _is_atom(tree.left) else None
    return number if isinstance(number, (int, float)) else None


def shape_words(expression: str, name: Name) -> str:
    """The relation in words; where it is more than a comparison, its formula with the user's names."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        return expression
    if isinstance(tree, ast.BoolOp):
        joint = " and " if isinstance(tree.op, ast.And) else " or "
        return joint.join(shape_words(ast.unparse(part), name) for part in tree.values)
    if not isinstance(tree, ast.Compare):
        return _formula(tree, name)
    return _comparison(tree, name)


def _comparison(tree: ast.Compare, name: Name) -> str:
    parts = [tree.left, *tree.comparators]
    operators = [type(operator) for operator in tree.ops]
    if len(parts) == 3 and operators == [ast.LtE, ast.LtE] and _is_number(parts[0]):
        low, what, high = (_formula(part, name) for part in parts)
        return f"{what} is between {low} and {high}"
    sentences = [_relation(left, op, right, name) for left, op, right in zip(parts, operators, parts[1:], strict=False)]
    return " and ".join(sentences)


def _relation(left: ast.expr, operator: type[ast.cmpop], right: ast.expr, name: Name) -> str:
    if _is_number(left) and not _is_number(right) and operator in _SWAPPED:
        left, operator, right = right, _SWAPPED[operator], left
    if _is_remainder(left) and isinstance(right, ast.Constant) and right.value == 0 and operator in (ast.Eq, ast.NotEq):
        assert isinstance(left, ast.BinOp)
        verb = "is" if operator is ast.Eq else "is not"
        return f"{_formula(left.left, name)} {verb} divisible by {_formula(left.right, name)}"
    return f"{_formula(left, name)} {_RELATIONS.get(operator, 'relates to')} {_formula(right, name)}"


def _is_remainder(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and _is_number(node.operand))


def _formula(node: ast.expr, name: Name) -> str:
    if _is_atom(node):
        return name(ast.unparse(node))
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        return f"({_formula(node.left, name)} {_SIGNS[type(node.op)]} {_formula(node.right, name)})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-{_formula(node.operand, name)}"
    if isinstance(node, ast.Call):
        return f"{ast.unparse(node.func)}({', '.join(_formula(each, name) for each in node.args)})"
    return ast.unparse(node)


_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "×",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
}


def _is_atom(node: ast.expr) -> bool:
    """Whether it reaches a value in the frame: whatever starts at L or G."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in ("L", "G")


def _atoms(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.expr) and _is_atom(node):
        return [node]
    return [atom for child in ast.iter_child_nodes(node) for atom in _atoms(child)]
