"""Find the lines in torch's source that emit a graph break. Reads source text with `ast`; imports nothing of torch."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

EMITTERS = frozenset(
    {"unimplemented", "unimplemented_v2", "unimplemented_with_warning", "unimplemented_v2_with_warning"}
)

FORMATTER = "format_graph_break_message"
"""Makes the message of a break whose exception the caller raises itself; the type comes first."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One call that emits a break, as written."""

    gb_type: str
    file: str
    line: int
    function: str
    hints: tuple[str, ...]
    """String literals in `hints=[...]`, adjacent ones joined as Python joins them."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call and the functions and classes around it, outermost first."""

    node: ast.Call
    around: tuple[ast.AST, ...]

    @property
    def callee(self) -> str:
        func = self.node.func
        return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""

    @property
    def function(self) -> str:
        return ".".join(getattr(scope, "name", "") for scope in self.around) or "<module>"

    def keyword(self, name: str) -> ast.expr | None:
        return next((keyword.value for keyword in self.node.keywords if keyword.arg == name), None)


def find_emissions(source: str, file: str) -> tuple[Emission, ...]:
    """Return every emitting call in one source file, in order of line."""
    if "gb_type" not in source:
        return ()
    tree = ast.parse(source, file)
    calls = tuple(_calls(tree, ()))
    emitters = EMITTERS | set(_aliases(tree))
    found = [one for call in calls if call.callee in emitters for one in _emissions(call, calls, file)]
    found += [one for call in calls if call.callee == FORMATTER for one in _formatted(call, file)]
    return tuple(sorted(found, key=lambda one: one.line))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedText:
    """A text given to a call, as written; an f-string's expressions stay as `{placeholders}`."""

    text: str
    callee: str
    function: str
    line: int


def find_texts(source: str, file: str, callees: Collection[str]) -> tuple[PrintedText, ...]:
    """Return the first text that each call of `callees` is given, in order of line; a call without one is left out."""
    found = []
    for call in _calls(ast.parse(source, file), ()):
        if call.callee in callees:
            given = (*call.node.args, *(keyword.value for keyword in call.node.keywords))
            text = next((_text(value) for value in given if _is_text(value)), "")
            if text.strip():
                found.append(PrintedText(text=text, callee=call.callee, function=call.function, line=call.node.lineno))
    return tuple(sorted(found, key=lambda one: one.line))


def _is_text(node: ast.expr) -> bool:
    """A literal, an f-string, or literals that are added, formatted or joined."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return _is_text(node.left)
    return isinstance(node, ast.JoinedStr)


def _calls(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[_Call]:
    if isinstance(node, Function | ast.ClassDef):
        around = (*around, node)
    if isinstance(node, ast.Call):
        yield _Call(node, around)
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, around)


def _aliases(tree: ast.AST) -> Iterator[str]:
    """`_unimplemented = unimplemented` hides a call from upstream's own extractor; not from us."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in EMITTERS:
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _emissions(call: _Call, calls: tuple[_Call, ...], file: str) -> Iterator[Emission]:
    gb_type = call.keyword("gb_type")
    if gb_type is None:
        return
    helper = call.around[-1] if call.around else None
    from_caller = _names(gb_type) & _parameters(helper)
    if not from_caller:
        yield _emission(call, _text(gb_type), call, file)
    elif isinstance(helper, Function):
        # The type is made from the helper's arguments: what is emitted stands where the helper is called.
        for use in calls:
            if use.callee == helper.name:
                values = _constants(use.node, helper)
                if from_caller <= values.keys():
                    yield _emission(use, _text(gb_type, values), call, file)


def _formatted(call: _Call, file: str) -> Iterator[Emission]:
    for gb_type in call.node.args[:1]:
        if _is_text(gb_type):
            yield _emission(call, _text(gb_type), call, file)


def _emission(place: _Call, gb_type: str, call: _Call, file: str) -> Emission:
    hints = tuple(_literals(call.keyword("hints")))
    return Emission(gb_type=gb_type, file=file, line=place.node.lineno, function=place.function, hints=hints)


def _names(node: ast.expr) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _parameters(helper: ast.AST | None) -> set[str]:
    if not isinstance(helper, Function):
        return set()
    given = helper.args
    return {argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def _constants(call: ast.Call, helper: Function) -> dict[str, str]:
    """The helper's parameters that this call gives as string constants."""
    positional = [argument.arg for argument in (*helper.args.posonlyargs, *helper.args.args)]
    given = dict(zip(positional, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return {
        name: value.value
        for name, value in given.items()
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _text(node: ast.expr, values: dict[str, str] | None = None) -> str:
    """The text upstream's extractor registers for an expression: a literal's value, else the code itself."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, values) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        code = ast.unparse(node.value)
        return values[code] if values and code in values else "{" + code + "}"
    return ast.unparse(node)


def _literals(hints: ast.expr | None) -> Iterator[str]:
    for node in ast.walk(hints) if hints is not None else ():
        if isinstance(node, ast.List):
            yield from (_text(item) for item in node.elts if isinstance(item, ast.Constant | ast.JoinedStr))
