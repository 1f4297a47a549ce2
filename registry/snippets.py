"""A repro taken apart for its readers: the function that breaks, each fix, and what of the file they need.

The file is parsed, never imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from registry.dependencies import Statements, bound_names, is_plain_torch
from registry.model import Registry, Repro

_CONSTANTS = frozenset({"CONFIG", "COMPILE", "REQUIRES", "NO_FIX", "EAGER_RAISES", "REACH", "FLAGS", "COVERAGE"})


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


class _Cutter:
    """Cuts the source of a repro into cards."""

    def __init__(self, source: str) -> None:
        self.module = ast.parse(source)
        self.flags, self.config = _dictionary(self.module, "FLAGS"), _value(self.module, "CONFIG")
        self._lines = source.splitlines()
        self._needed = Statements(self.module)
        self.entries = {node.name: node for node in self.module.body if _is_entry(node)}
        self._hidden = _CONSTANTS | self.entries.keys()  # a runner calls and reads these

    def card(self, name: str) -> tuple[tuple[int, str], ...]:
        """(line of the repro, text) of a function with the statements that it needs, as a page shows them."""
        named = _identifiers(self.config, self.flags.get(name))  # a setting may name a function, such as a backend
        statements = self._needed.needed_by(name, *named, without=self._hidden - {name}, set_up=True)
        return tuple(_lines(statements, self.entries[name], self._lines))

    def runnable(self, name: str) -> str:
        """The card with `import torch`, the constants and `inputs`: each line where the file has it, and no other."""
        kept = dict(self.card(name))
        others = self._needed.needed_by(*_CONSTANTS, "inputs", without=self.entries.keys() - {"inputs"})
        for node in (*filter(is_plain_torch, self.module.body), *others):
            kept |= {at: self._lines[at - 1] for at in range(_first_line(node), (node.end_lineno or node.lineno) + 1)}
        return "\n".join(kept.get(at, "") for at in range(1, len(self._lines) + 1)) + "\n"


def runnable_parts(source: str) -> dict[str, str]:
    """For each function that a runner calls, the text that it runs: what the function's card shows, and the inputs.

    Raises SyntaxError.
    """
    cutter = _Cutter(source)
    return {name: cutter.runnable(name) for name in cutter.entries if name != "inputs"}


def take_apart(repro: Repro) -> Program:
    """Cut a repro into what its page shows."""
    cutter = _Cutter(repro.source)

    def snippet(name: str) -> Snippet:
        function = cutter.entries[name]
        return Snippet(
            name=name,
            lines=cutter.card(name),
            when=" ".join((ast.get_docstring(function) or "").split()) if name != "broken" else "",
            kind=repro.fixes.get(name, ""),
            settings="\n".join(_settings(cutter.flags.get(name))),
        )

    return Program(
        broken=snippet("broken"),
        fixes=tuple(snippet(name) for name in repro.fixes),
        isolated=tuple(snippet(name) for name in repro.isolated),
        config=tuple(_settings(cutter.config)),
        compile_options=", ".join(
            f"{key}={ast.unparse(value)}" for key, value in _dictionary(cutter.module, "COMPILE").items()
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
        first = _first_line(node)
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        if before is not None and (_is_definition(node) or _look(before) != _look(node)):
            yield 0, ""
        docstring = _docstring_lines(node) if node is function else range(0)
        yield from ((at, lines[at - 1]) for at in range(first, (node.end_lineno or first) + 1) if at not in docstring)
        before = node


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(found.lineno for found in decorators)])


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
