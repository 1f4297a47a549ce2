"""Patches of calls that print or log (print, warnings.warn, a logger's methods): inside the graph, or after it.

Dynamo calls a function in `reorderable_logging_functions` after the graph, in the same order, with the values at that
time: tensors, constants and formatted strings. It drops keyword arguments. In torch 2.13 it also drops every call from
an inlined function. There a print becomes part of the graph, and other calls are left out, which the report notes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target, has_torch
from repro_runner.fix_report.patches.source import Edit, Source

_LATER = "is told when the graph ends, not in the middle of it; a tensor that is changed in place until then shows that"
_CALL_LATER, _LEAVE_OUT = "that it may call later", "to leave out"
_REORDERABLE, _IGNORED = "reorderable_logging_functions", "ignore_logging_functions"
_LOGGER_METHOD = re.compile(r"method: <Logger .*?>\.(\w+), args")
_LEVELS = {"debug", "info", "warning", "warn", "error", "critical", "exception", "log"}

Piece = tuple[str, str]
"""(a part of the format, the argument for it; empty for plain text)."""


def find_prints(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Make prints part of the graph if that is possible. For the others, yield a setting for the whole program."""
    inside: dict[Target, list[Edit]] = {}
    for target in targets:
        edits = [edit for call in _calls(source, target, "print") if (edit := _print_in_graph(source, call))]
        if edits and has_torch(source):
            inside[target] = edits
    others = [target for target in targets if "builtin print" in target.site.message and target not in inside]
    if inside:
        yield Patch(
            title="`print` becomes `torch._higher_order_ops.print`, a part of the graph",
            targets=tuple(inside),
            edits=tuple(edit for edits in inside.values() for edit in edits),
            otherwise=_print_later_patch(source, list(inside)),
        )
    if others:
        yield _print_later_patch(source, others)


def _print_later_patch(source: Source, targets: Sequence[Target]) -> Patch:
    calls = [call for target in targets for call in _calls(source, target, "print")]
    return Patch(
        title="`print` is told to torch as a function that it may call later",
        targets=tuple(targets),
        edits=tuple(edit for call in calls for edit in _shapes_to_text(source, call)),
        settings=("torch._dynamo.config.reorderable_logging_functions.add(print)",),
        changes=f"what is printed in compiled code {_LATER}",
        reorders=True,
    )


def find_warnings(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield one patch for all calls of warnings.warn."""
    warned = [target for target in targets if "module: _warnings" in target.site.message]
    if not warned:
        return
    later = not any(target.is_inlined for target in warned)
    yield Patch(
        title=f"`warnings.warn` is told to torch as a function {_CALL_LATER if later else _LEAVE_OUT}",
        targets=tuple(warned),
        settings=(f"torch._dynamo.config.{_REORDERABLE if later else _IGNORED}.add(warnings.warn)",),
        imports=() if _is_imported(source, "warnings") else ("warnings",),
        changes=f"a warning of compiled code {_LATER}; it names the function's first line as its place"
        if later
        else "warnings are no longer given by compiled code",
        reorders=later,
        silences=not later,
    )


def find_log_calls(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each logger and level in the program's own file: called later or, if not possible, never."""
    found: dict[str, list[tuple[Target, ast.Call]]] = {}
    for target in targets:
        for call in _log_calls(source, target):
            found.setdefault(ast.unparse(call.func), []).append((target, call))
    for method, called in found.items():
        later = _log_later_patch(source, method, called)
        yield later if later is not None else _never_log_patch(source, method, [target for target, _ in called])


def find_library_log_calls(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each logger method that other files call: the calls are left out."""
    elsewhere: dict[str, list[Target]] = {}
    for target in targets:
        if not target.line and (called := _LOGGER_METHOD.search(target.site.message)) and called[1] in _LEVELS:
            elsewhere.setdefault(f"logging.Logger.{called[1]}", []).append(target)
    for method, those in elsewhere.items():
        yield _never_log_patch(source, method, those)


def _log_later_patch(source: Source, method: str, called: list[tuple[Target, ast.Call]]) -> Patch | None:
    """Log through a new function, because torch can't call a bound method later; None if that is not possible."""
    owner = method.partition(".")[0]
    if any(call.keywords or target.is_inlined for target, call in called) or not _is_global(source, owner):
        return None  # torch drops keywords, and all calls in inlined functions
    if method.count(".") != 1 or not has_torch(source):
        return None
    name = f"told_later_{method.replace('.', '_')}"
    edits = [Edit(start=source.start(call.func), end=source.end(call.func), text=name) for _, call in called]
    edits += [edit for _, call in called for edit in _shapes_to_text(source, call)]
    function = (
        "",
        "",
        "@torch.compiler.disable",
        f"def {name}(*arguments):",
        f"    {method}(*arguments)",
        "",
        "",
        f"torch._dynamo.config.reorderable_logging_functions.add({name})",
    )
    return Patch(
        title=f"`{method}` is called through a function that torch may call later",
        targets=tuple(target for target, _ in called),
        edits=tuple(edits),
        settings=("\n".join(function),),
        changes=f"a message of `{method}` in compiled code {_LATER}; its record names that function as its place",
        reorders=True,
        otherwise=_never_log_patch(source, method, [target for target, _ in called]),
    )


def _never_log_patch(source: Source, method: str, targets: list[Target]) -> Patch:
    level = method.rpartition(".")[2]
    function = method if method.startswith("logging.") else f"logging.Logger.{level}"
    return Patch(
        title=f"`{function}` is told to torch as a function {_LEAVE_OUT}",
        targets=tuple(targets),
        settings=(f"torch._dynamo.config.{_IGNORED}.add({function})",),
        imports=() if _is_imported(source, "logging") else ("logging",),
        changes=f"messages of `{method}` are no longer written by compiled code",
        silences=True,
    )


def _calls(source: Source, target: Target, name: str) -> list[ast.Call]:
    """The statements at a break's line that call this function."""
    return [call for call in _statement_calls(source, target) if ast.unparse(call.func) == name]


def _log_calls(source: Source, target: Target) -> list[ast.Call]:
    """The statements at a break's line that log: `logging.info(…)`, `self.log.warning(…)`. They are found by name."""
    return [
        call
        for call in _statement_calls(source, target)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in _LEVELS
        and "log" in ast.unparse(call.func.value).lower()
    ]


def _statement_calls(source: Source, target: Target) -> Iterator[ast.Call]:
    for statement in source.statements_at(target.line) if target.line else ():
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield statement.value


def _shapes_to_text(source: Source, call: ast.Call) -> Iterator[Edit]:
    """Replace `x.shape` by `str(x.shape)`: torch can't keep a shape for later, and the text is what is logged."""
    for argument in call.args:
        if _is_constant(argument):
            yield Edit(start=source.start(argument), end=source.end(argument), text=f"str({source.text_of(argument)})")


def _is_imported(source: Source, module: str) -> bool:
    """Whether a module is imported at the top, before the lines that a patch inserts after the import of torch."""
    for statement in source.tree.body:
        if isinstance(statement, ast.Import) and any(
            alias.name == module and not alias.asname for alias in statement.names
        ):
            return True
        if not isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr):
            return False
    return False


def _is_global(source: Source, name: str) -> bool:
    """Whether the program defines this name at its top level, by an import or an assignment."""
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in statement.targets
        ):
            return True
        if isinstance(statement, ast.Import) and any((alias.asname or alias.name) == name for alias in statement.names):
            return True
    return False


class _Unfit(Exception):
    """The graph's print can't print what this call prints."""


def _print_in_graph(source: Source, call: ast.Call) -> Edit | None:
    """Replace `print("a", x)` by `torch._higher_order_ops.print("a {!s}", x)`; None if that would not print the same,
    or if a comment would be lost."""
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
    """The text between the arguments. Raises _Unfit for `file` and `end`, which the graph's print does not have."""
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
        text = source.text_of(argument)
        yield "{!s}", f"str({text})" if _is_constant(argument) else text


def _formatted(part: ast.expr) -> Piece:
    """A part of an f-string. It is unparsed, because before 3.12 Python does not know its place in the source."""
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
    return f"{{{conversion}{spec}}}", f"str({text})" if _is_constant(part.value) else text


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _is_constant(argument: ast.expr) -> bool:
    """Whether this is `x.shape`, `x.dtype` or similar, which torch can't pass on to the graph or to a later call."""
    return re.search(r"\.(shape|size\(\)|dtype|device)$", ast.unparse(argument)) is not None
