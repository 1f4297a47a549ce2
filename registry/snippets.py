"""A repro taken apart for its readers: the function that breaks, each fix, and what of the file they need.

The file is parsed, never imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from registry.dependencies import Statements, bound_names
from registry.model import Registry, Repro

_CONSTANTS = frozenset({"CONFIG", "COMPILE", "REQUIRES", "NO_FIX", "EAGER_RAISES", "REACH", "FLAGS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One function of a repro with the statements it needs, as a reader wants to copy it."""

    name: str
    lines: tuple[tuple[int, str], ...]
    """(line of the repro, text); blank lines between statements are line 0."""
    when: str = ""
    """The docstring of a fix: when to choose it."""
    kind: str = ""
    settings: str = ""
    """For a fix by a flag: the line that sets it."""

    @property
    def code(self) -> str:
        return "\n".join(text for _, text in self.lines)

    @property
    def set_up(self) -> int:
        """How many of the lines stand before the function."""
        return next(at for at, (_, text) in enumerate(self.lines) if text.startswith(f"def {self.name}("))


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All snippets of a repro, and how it has to be compiled to break."""

    broken: Snippet
    fixes: tuple[Snippet, ...]
    isolated: tuple[Snippet, ...]
    config: tuple[str, ...] = ()
    """Lines that set torch._dynamo.config."""
    compile_options: str = ""
    """`dynamic=True`: keywords that torch.compile is given."""


Programs = Mapping[str, Program]
"""gb_id -> its repro, taken apart."""


def programs_of(registry: Registry) -> Programs:
    """Take every repro of a registry apart."""
    return {gb.gb_id: take_apart(gb.repro) for gb in registry if gb.repro}


def take_apart(repro: Repro) -> Program:
    """Cut a repro into what its page shows."""
    module = ast.parse(repro.source)
    lines = repro.source.splitlines()
    flags, config = _dictionary(module, "FLAGS"), _value(module, "CONFIG")
    needed = Statements(module)
    hidden = _CONSTANTS | {node.name for node in module.body if _is_entry(node)}  # a runner calls and reads these

    def snippet(name: str) -> Snippet:
        named = _identifiers(config, flags.get(name))  # a setting may name a function, such as a backend
        statements = needed.needed_by(name, *named, without=hidden - {name}, set_up=True)
        function = next(node for node in statements if isinstance(node, ast.FunctionDef) and node.name == name)
        return Snippet(
            name=name,
            lines=tuple(_lines(statements, function, lines)),
            when=" ".join((ast.get_docstring(function) or "").split()) if name != "broken" else "",
            kind=repro.fixes.get(name, ""),
            settings="\n".join(_settings(flags.get(name))),
        )

    return Program(
        broken=snippet("broken"),
        fixes=tuple(snippet(name) for name in repro.fixes),
        isolated=tuple(snippet(name) for name in repro.isolated),
        config=tuple(_settings(config)),
        compile_options=", ".join(
            f"{key}={ast.unparse(value)}" for key, value in _dictionary(module, "COMPILE").items()
        ),
    )


def _is_entry(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and (
        node.name in ("inputs", "broken") or node.name.startswith(("fixed", "isolated"))
    )


def _lines(statements: list[ast.stmt], function: ast.FunctionDef, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The statements as written; what is between definitions is one blank line, and the docstring is left out."""
    before: ast.stmt | None = None
    for node in statements:
        first = min([node.lineno, *(found.lineno for found in getattr(node, "decorator_list", ()))])
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        if before is not None and (_is_definition(node) or _look(before) != _look(node)):
            yield 0, ""
        docstring = _docstring_lines(node) if node is function else range(0)
        yield from ((at, lines[at - 1]) for at in range(first, (node.end_lineno or first) + 1) if at not in docstring)
        before = node


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def _look(node: ast.stmt) -> tuple[bool, bool]:
    """What readers expect to stand together: imports, definitions, the rest."""
    return isinstance(node, ast.Import | ast.ImportFrom), _is_definition(node)


def _docstring_lines(function: ast.FunctionDef) -> range:
    if function.name == "broken" or ast.get_docstring(function) is None:
        return range(0)
    docstring = function.body[0]
    return range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)


def _value(module: ast.Module, constant: str) -> ast.expr | None:
    return next(
        (node.value for node in module.body if isinstance(node, ast.Assign) and constant in bound_names(node)), None
    )


def _dictionary(module: ast.Module, constant: str) -> dict[str, ast.expr]:
    value = _value(module, constant)
    if not isinstance(value, ast.Dict):
        return {}
    return {
        str(key.value): one for key, one in zip(value.keys, value.values, strict=True) if isinstance(key, ast.Constant)
    }


def _identifiers(*values: ast.expr | None) -> set[str]:
    texts = (one.value for value in values if value for one in ast.walk(value) if isinstance(one, ast.Constant))
    return {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}


def _settings(value: ast.expr | None) -> Iterator[str]:
    """`{"name": True}` as the lines that a user writes."""
    if isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield f"torch._dynamo.config.{key.value} = {ast.unparse(one)}"
