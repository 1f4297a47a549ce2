"""A repro taken apart for its readers: the function that breaks, each fix, and what of the file they need.

The file is parsed, never imported.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from registry.dependencies import Statements, bound_names, first_line, is_plain_torch
from registry.model import Registry, Repro
from registry.parse_cache import ParseCache
from registry.program_text import CAPTIONS, REASONS, program_text
from registry.repros import by_fix, docstring_of

CONSTANTS = frozenset({"CONFIG", "COMPILE", "REQUIRES", "EAGER_RAISES", "FLAGS", *CAPTIONS, *REASONS})
"""What a repro says of itself: a runner or a reader needs them, and no function of it does."""
_RUN_WITH = frozenset({"CONFIG", "COMPILE", "REQUIRES"})


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
    head: str = ""
    """What a script needs before the code: `import torch`, and the settings of the program."""
    tail: str = ""
    """What it needs behind: the inputs and the call."""
    addition: str = ""
    """Of a fix: what it adds to `Program.unfixed`, with the function named `fixed`."""

    @property
    def code(self) -> str:
        return "\n".join(text for _, text in self.lines)

    @property
    def script(self) -> str:
        """The snippet as a script that runs as it is."""
        return "\n\n".join(part for part in (self.head, self.with_settings, self.tail) if part) + "\n"

    @property
    def with_settings(self) -> str:
        """The settings and the code."""
        return with_settings(self.settings, self.code)

    @property
    def set_up(self) -> int:
        """How many of the lines stand before the function."""
        return next(at for at, (_, text) in enumerate(self.lines) if text.startswith(f"def {self.name}("))


def with_settings(settings: str, code: str) -> str:
    """Both, in the order in which they run."""
    parts = (code, settings) if settings and stand_below(settings) else (settings, code)
    return "\n\n".join(filter(None, parts))


def stand_below(settings: str) -> bool:
    """Whether the settings name something of the code that they are for."""
    names = {node.id for node in ast.walk(ast.parse(settings)) if isinstance(node, ast.Name)}
    return bool(names - {"torch"} - set(dir(builtins)))


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
    unfixed: str = ""
    """The module without its fixes, docstrings and constants: `inputs` and `broken`, with what they need."""
    constants: str = ""
    """The statements that a runner needs beside it: CONFIG, COMPILE and REQUIRES."""
    code_lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """See ProgramText."""

    def line(self, name: str, number: int) -> int | None:
        """The line of the file, for a place of ProgramText."""
        lines = self.code_lines.get(name, ())
        return lines[number - 1] if 0 < number <= len(lines) else None


def note_on_where(programs: Iterable[Program]) -> str:
    """What a page says, once, if a fix selects with `torch.where` in place of a branch; else empty."""
    replaced = any(not _selects(one.broken) and any(map(_selects, one.fixes)) for one in programs)
    return _BOTH_SIDES if replaced else ""


_BOTH_SIDES = (
    "`torch.where` computes both sides, and selects. When gradients flow back, the side that is not selected gets "
    "zeros, and zero times infinity is NaN. So if that side has an infinite or NaN gradient, as `x.sqrt()` has at 0, "
    "the gradient of `x` is NaN, though the result is right. Where this can happen, mask first: give that side a "
    "harmless value, as in `torch.where(ok, torch.where(ok, x, 1).sqrt(), 0)`."
)


def _selects(snippet: Snippet) -> bool:
    """`torch.where(mask, x, y)` or `x.where(mask, y)`; with one argument, `torch.where` lists positions."""
    code = snippet.code
    calls = (node for node in ast.walk(ast.parse(code if "where" in code else "")) if isinstance(node, ast.Call))
    return any(getattr(call.func, "attr", "") == "where" and len(call.args) > 1 for call in calls)


Programs = Mapping[str, Program]
"""Name of a repro -> the same, taken apart."""


def programs_of(registry: Registry) -> Programs:
    """Take every repro of a registry apart."""
    before = ParseCache("snippets", dump=asdict, load=_from_json)
    repros = [one.repro for gb in registry for one in gb.programs]
    for one in repros:
        _APART[_parts_of(one)] = before.recall(_parts_of(one), partial(take_apart, one))
    before.save()
    return {one.name: take_apart(one) for one in repros}


_APART: dict[str, Program] = {}
"""What was taken apart before: its page shows it, and the advice for it."""


def _from_json(known: dict[str, Any]) -> Program:
    parts: dict[str, Any] = {
        "broken": _snippet(known["broken"]),
        "fixes": tuple(map(_snippet, known["fixes"])),
        "isolated": tuple(map(_snippet, known["isolated"])),
        "config": tuple(known["config"]),
        "code_lines": {name: tuple(lines) for name, lines in known["code_lines"].items()},
    }
    return Program(**{**known, **parts})


def _snippet(known: dict[str, Any]) -> Snippet:
    return Snippet(**{**known, "lines": tuple((at, text) for at, text in known["lines"])})


class _Cutter:
    """Cuts the source of a repro into cards."""

    def __init__(self, source: str, entries: Collection[str] = ()) -> None:
        self.module = ast.parse(source)
        self.flags, self.config = by_fix(self.module, "FLAGS"), _value(self.module, "CONFIG")
        self.compile = by_fix(self.module, "COMPILE")
        self._lines = source.splitlines()
        self._needed = Statements(self.module, source)
        functions = [node for node in self.module.body if isinstance(node, ast.FunctionDef)]
        self.entries = {one.name: one for one in functions if one.name in entries or (not entries and _is_entry(one))}
        self._hidden = CONSTANTS | self.entries.keys()  # a runner calls and reads these

    def card(self, name: str) -> tuple[tuple[int, str], ...]:
        """(line of the repro, text) of a function with the statements that it needs, as a page shows them."""
        named = _identifiers(self.config, self.flags.get(name))  # a setting may name a function, such as a backend
        statements = self._needed.needed_by(name, *named, without=self._hidden - {name}, set_up=True)
        return tuple(_lines(statements, self.entries[name], self._lines))

    def snippet(self, name: str, kind: str = "") -> Snippet:
        """A function as its page shows it, and as a script."""
        lines = self.card(name)
        return Snippet(
            name=name,
            lines=lines,
            when=docstring_of(self.entries[name]) if name != "broken" else "",
            kind=kind,
            settings="\n".join(_settings(self.flags.get(name))),
            head="\n".join(["import torch", *_settings(self.config)]),
            tail=self._tail(name, dict(lines)),
            addition=self._addition(name) if name.startswith("fixed") else "",
        )

    @property
    def unfixed(self) -> str:
        """`import torch`, `inputs` and `broken`, with all that they need of the file, in its order."""
        return "\n".join(["import torch", "", *self._text(self._unfixed, self.entries["broken"])])

    @property
    def constants(self) -> str:
        """CONFIG, COMPILE and REQUIRES, as they are written."""
        nodes = (node for node in self.module.body if isinstance(node, ast.Assign))
        return "\n".join(self._text([node for node in nodes if bound_names(node) & _RUN_WITH]))

    @cached_property
    def _unfixed(self) -> list[ast.stmt]:
        entries = self.entries.keys() & {"inputs", "broken"}
        named = (*_identifiers(self.config), *self._options)
        return self._needed.needed_by(*entries, *named, without=self._hidden - entries, set_up=True)

    def _addition(self, fix: str) -> str:
        statements = self._needed.needed_by(fix, without=self._hidden - {fix}, set_up=True)
        added = self._text([node for node in statements if node not in self._unfixed], self.entries[fix])
        return re.sub(rf"\b{fix}\b", "fixed", "\n".join(added))

    def part(self, name: str) -> str:
        """A function with what it needs and all imports of torch, closed up."""
        needed = self._needed.needed_by(name, without=self._hidden - {name}, set_up=True)
        kept = [node for node in self.module.body if node in needed or is_plain_torch(node)]
        return "\n".join(self._text(kept, self.entries[name])) + "\n"

    @cached_property
    def _options(self) -> list[str]:
        """Names of the file that COMPILE uses, such as a backend."""
        return [one.id for value in self.compile.values() for one in ast.walk(value) if isinstance(one, ast.Name)]

    def _text(self, statements: list[ast.stmt], function: ast.FunctionDef | None = None) -> list[str]:
        return [text for _, text in _lines(statements, function, self._lines)]

    def runnable(self, name: str) -> str:
        """The card with `import torch`, the constants and `inputs`: each line where the file has it, and no other."""
        kept = dict(self.card(name))
        others = self._needed.needed_by(*CONSTANTS, "inputs", without=self.entries.keys() - {"inputs"})
        for node in (*filter(is_plain_torch, self.module.body), *others):
            kept |= {at: self._lines[at - 1] for at in _line_numbers(node)}
        return "\n".join(kept.get(at, "") for at in range(1, len(self._lines) + 1)) + "\n"

    def _tail(self, name: str, shown: Mapping[int, str]) -> str:
        """The inputs, with what only they need, and the call of a function: what stands behind its card in a script."""
        others = self._needed.needed_by("inputs", *self._options, without=self._hidden - {"inputs"})
        inputs = _lines(
            [node for node in others if first_line(node) not in shown], self.entries.get("inputs"), self._lines
        )
        keywords = "".join(f", {key}={ast.unparse(value)}" for key, value in self.compile.items())
        return "\n".join([*(text for _, text in inputs), "", call_of(name, keywords)])


_CALL_OF_BROKEN = """\
torch._logging.set_logs(graph_breaks=True)  # print every break
for fullgraph in (False, True):  # some are told only as an error
    torch._dynamo.reset()
    try:
        torch.compile(broken, fullgraph=fullgraph{options})(*inputs())
    except Exception as error:
        print(error, error.__cause__ or "")"""
"""The error of the recompile limit has its id in the cause."""


def call_of(name: str, options: str) -> str:
    """The end of a script, which compiles a function and calls it. `options` are further ones, each behind a comma."""
    if name == "broken":
        return _CALL_OF_BROKEN.format(options=options)
    whole = ", fullgraph=True" if name.startswith("fixed") else ""  # what is isolated still breaks the graph
    return f"print(torch.compile({name}{whole}{options})(*inputs()))"


def runnable_parts(source: str) -> dict[str, str]:
    """For each function that a runner calls, the text that it runs: what the function's card shows, and the inputs.

    Raises SyntaxError or ValueError.
    """
    cutter = _Cutter(source)
    return {name: cutter.runnable(name) for name in cutter.entries if name != "inputs"}


def parts_of(source: str, names: Collection[str]) -> dict[str, str]:
    """For each of these functions, which are all that a runner calls, a module of it and what it needs."""
    cutter = _Cutter(source, names)
    return {name: cutter.part(name) for name in names}


def scripts(source: str) -> dict[str, str]:
    """For each of these functions, the script that "Copy" gives."""
    cutter = _Cutter(source)
    return {name: cutter.snippet(name).script for name in cutter.entries if name != "inputs"}


def take_apart(repro: Repro) -> Program:
    """Cut a repro into what its page shows."""
    known = _APART.get(_parts_of(repro))
    if known is None:
        known = _APART[_parts_of(repro)] = _cut(repro)
    return known


def _parts_of(repro: Repro) -> str:
    return f"{repro.fixes} {repro.isolated}\n{repro.source}"


def _cut(repro: Repro) -> Program:
    cutter = _Cutter(repro.source)
    return Program(
        broken=cutter.snippet("broken"),
        fixes=tuple(cutter.snippet(name, kind) for name, kind in repro.fixes.items()),
        isolated=tuple(cutter.snippet(name) for name in repro.isolated),
        config=tuple(_settings(cutter.config)),
        compile_options=", ".join(f"{key}={ast.unparse(value)}" for key, value in cutter.compile.items()),
        unfixed=cutter.unfixed,
        constants=cutter.constants,
        code_lines=program_text(repro.source).code_lines,
    )


def _is_entry(function: ast.FunctionDef) -> bool:
    return function.name in ("inputs", "broken") or function.name.startswith(("fixed", "isolated"))


def _lines(statements: list[ast.stmt], function: ast.FunctionDef | None, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The statements as written; what is between definitions is one blank line, and the docstring is left out."""
    before: ast.stmt | None = None
    for node in statements:
        first = first_line(node)
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        if before is not None and (_is_definition(node) or _look(before) != _look(node)):
            yield 0, ""
        docstring = _docstring_lines(node) if node is function else range(0)
        yield from ((at, lines[at - 1]) for at in range(first, (node.end_lineno or first) + 1) if at not in docstring)
        before = node


def _line_numbers(node: ast.stmt) -> range:
    return range(first_line(node), (node.end_lineno or node.lineno) + 1)


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


def _identifiers(*values: ast.expr | None) -> set[str]:
    texts = (one.value for value in values if value for one in ast.walk(value) if isinstance(one, ast.Constant))
    return {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}


def _settings(value: ast.expr | None) -> Iterator[str]:
    """`{"name": True}` as the lines that a user writes."""
    if isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield f"torch._dynamo.config.{key.value} = {ast.unparse(one)}"
