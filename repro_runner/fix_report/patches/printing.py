"""A call of print as one of torch._higher_order_ops.print: part of the graph, at its place, with the same text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repro_runner.fix_report.patches.source import Edit, Source

Piece = tuple[str, str]
"""(what stands in the format, the argument that it takes; none for plain text)."""


class _Unfit(Exception):
    """This call says something that the graph's print can't."""


def print_in_graph(source: Source, call: ast.Call) -> Edit | None:
    """`print("a", x)` -> `torch._higher_order_ops.print("a {!s}", x)`; None if that would not print the same, or if a
    comment would be lost."""
    if source.comments(source.start(call), source.end(call)):
        return None
    try:
        separator = _separator(call)
        pieces = [list(_pieces(source, argument)) for argument in call.args] or [[("{!s}", "''")]]
    except _Unfit:
        return None
    text = separator.join("".join(part for part, _ in argument) for argument in pieces)
    given = [argument for each in pieces for _, argument in each if argument]
    if not text:  # torch has no print of an empty format
        text, given = "{!s}", ["''"]
    arguments = ", ".join([repr(text), *given])
    return Edit(start=source.start(call), end=source.end(call), text=f"torch._higher_order_ops.print({arguments})")


def _separator(call: ast.Call) -> str:
    """What stands between the arguments; the graph's print ends every line with a line end, on standard output."""
    separator = " "
    for keyword in call.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "sep" and isinstance(value, str):
            separator = value
        elif keyword.arg != "flush" and (keyword.arg, value) != ("end", "\n"):
            raise _Unfit
    return _escaped(separator)


def _pieces(source: Source, argument: ast.expr) -> Iterator[Piece]:
    if isinstance(argument, ast.Starred):
        raise _Unfit
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield _escaped(argument.value), ""
    elif isinstance(argument, ast.JoinedStr):
        for part in argument.values:
            yield _formatted(part)
    else:
        text = source.of(argument)
        yield "{!s}", f"str({text})" if is_constant(argument) else text


def _formatted(part: ast.expr) -> Piece:
    """A part of an f-string. Python before 3.12 does not know where it stands: it is written anew."""
    if isinstance(part, ast.Constant):
        return _escaped(str(part.value)), ""
    if not isinstance(part, ast.FormattedValue):
        raise _Unfit
    conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
    spec = ""
    if isinstance(part.format_spec, ast.JoinedStr):
        if not all(isinstance(each, ast.Constant) for each in part.format_spec.values):
            raise _Unfit
        spec = ":" + "".join(str(each.value) for each in part.format_spec.values if isinstance(each, ast.Constant))
    text = ast.unparse(part.value)
    return f"{{{conversion}{spec}}}", f"str({text})" if is_constant(part.value) else text


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def is_constant(argument: ast.expr) -> bool:
    """`x.shape`, `x.dtype`, which neither the graph nor a later call can take: their text can be told as well."""
    return re.search(r"\.(shape|size\(\)|dtype|device)$", ast.unparse(argument)) is not None
