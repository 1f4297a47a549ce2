"""The census: every text that torch/_dynamo can print at WARNING or above, and what each of them belongs to.

Read from the source of the installed torch, without importing it. A new torch makes this fail: then the new texts are
looked at, one by one, and registry/warnings.json says of each what it is.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from registry.callsites import find_texts
from registry.ids import is_gb_id
from registry.snapshot import read_snapshot
from tests.conftest import ROOT

CENSUS = ROOT / "registry" / "warnings.json"
REMEDY = "edit registry/warnings.json"

PRINTERS = frozenset({"warn", "warning", "warn_once", "warning_once", "error", "exception", "critical", "fatal"})
"""Of the module `warnings`, of any logger, and torch's own."""
CALLEES = PRINTERS | {"deprecated", "log_error"}
"""`log_error` is a parameter of `utils.same`; what it gets if nobody says otherwise is `log.error`."""
KINDS = frozenset({"breaks", "debug", "deprecation", "internal", "repro"})
"""Besides them, `is` may be a GB id or the slug of a page."""
SLUG = r"[a-z0-9]+(-[a-z0-9]+)+|recompiles"

Place = tuple[str, str, str]
"""File below torch/_dynamo, function, text."""


@cache
def dynamo() -> dict[str, str]:
    """The source files of the installed torch/_dynamo that may print something, by name."""
    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "_dynamo"
    sources = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}
    return {name: source for name, source in sources.items() if re.search(rf"\b({'|'.join(CALLEES)})\b", source)}


@cache
def census() -> list[dict[str, str]]:
    written: list[dict[str, str]] = json.loads(CENSUS.read_text("utf-8"))
    return written


def printed(source: str, file: str) -> Iterator[Place]:
    """What one file prints: texts that are written in the call, and those that a variable or a function gives it."""
    written = find_texts(source, file, CALLEES)
    yield from ((file, one.function, one.text) for one in written)
    lines = {one.line for one in written}
    for call, around in _calls(ast.parse(source, file), ()):
        if call.lineno not in lines and _callee(call) in CALLEES and not _is_own_method(call):
            function = ".".join(getattr(scope, "name", "") for scope in around) or "<module>"
            yield file, function, _given(call, around[-1] if around else None)


def _calls(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        around = (*around, node)
    if isinstance(node, ast.Call):
        yield node, around
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, around)


def _callee(call: ast.Call) -> str:
    func = call.func
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _is_own_method(call: ast.Call) -> bool:
    """`self.exception(tx)` handles a call of `sys.exception`; it prints nothing."""
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self"


def _given(call: ast.Call, scope: ast.AST | None) -> str:
    """The text of a call that has none of its own: inside of `dedent(...)`, or assigned to the variable just before.

    Where there is no text at all, the code that makes it, {in braces} like an f-string's expressions.
    """
    value = call.args[0]
    while isinstance(value, ast.BinOp):
        value = value.left
    if isinstance(value, ast.Name) and scope is not None:
        assigned = [
            node.value
            for node in sorted(_assignments(scope), key=lambda node: node.lineno)
            if node.lineno < call.lineno and ast.unparse(node.targets[0]) == value.id
        ]
        value = assigned[-1] if assigned else value
    for node in ast.walk(value):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            # As a call of its own, so that it is written down in the same way as the others.
            found = find_texts(f"warn({ast.unparse(node)})", "", {"warn"})
            return textwrap.dedent(found[0].text) if found else ""
    return "{" + ast.unparse(value) + "}"


def _assignments(scope: ast.AST) -> Iterator[ast.Assign]:
    return (node for node in ast.walk(scope) if isinstance(node, ast.Assign))


def place(entry: dict[str, str]) -> Place:
    return entry["file"], entry["function"], entry["text"]


@pytest.mark.torch
def test_every_text_that_dynamo_prints_is_in_the_census_and_the_census_has_no_other() -> None:
    prints = Counter(one for file, source in dynamo().items() for one in printed(source, file))
    said = Counter(place(entry) for entry in census())
    missing = [f"not there yet: {one}" for one in sorted((prints - said).elements())]
    gone = [f"torch has no such text: {one}" for one in sorted((said - prints).elements())]
    assert not missing + gone, "\n".join([f"{REMEDY}:", *missing, *gone])


@pytest.mark.torch
def test_nothing_is_printed_past_the_census() -> None:
    """No level as a value, and no printer handed on: the census would not see such calls. One is known: `log_error`."""
    past = re.compile(rf"logging\.(?:WARN|ERROR|CRITICAL|FATAL)|log\w*\.(?:{'|'.join(PRINTERS)})\b(?!\()")
    found = [f"{file}: {hit}" for file, source in dynamo().items() for hit in past.findall(source)]
    assert found == ["utils.py: log.error"], "teach `printed` to see these"


def test_every_entry_says_what_it_is_and_when_it_is_printed() -> None:
    ids = read_snapshot(ROOT / "registry" / "snapshot").wordings.keys()
    problems = []
    for entry in census():
        if list(entry) != ["file", "function", "text", "is", "why"] or not entry["why"].endswith("."):
            problems.append(f"needs file, function, text, is, and a sentence `why`: {entry}")
        elif is_gb_id(entry["is"]):
            problems += [] if entry["is"] in ids else [f"{entry['is']} is no id of the registry: {place(entry)}"]
        elif entry["is"] not in KINDS and not re.fullmatch(SLUG, entry["is"]):
            problems.append(f"{entry['is']!r} is no GB id, no slug and none of {sorted(KINDS)}: {place(entry)}")
    assert not problems, "\n".join([f"{REMEDY}:", *problems])


def test_the_census_is_sorted_and_has_one_entry_per_line() -> None:
    in_order = sorted(census(), key=lambda entry: (entry["file"], entry["text"], entry["function"]))
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in in_order)
    assert CENSUS.read_text("utf-8") == f"[\n{lines}\n]\n", REMEDY


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("log.warning('hit %s', limit)", "hit %s"),
        ("warnings.warn(f'no {name} ' 'here')", "no {name} here"),
        ("msg = 'old'; use(msg)\n    msg = f'at {line}'\n    warn_once(msg)\n    msg = 'new'", "at {line}"),
        ("msg = 'why'\n    warn_once(msg + '\\n' + more)", "why"),
        ("log.warning(textwrap.dedent('''\\\n        a\n          %s\n        '''), x)", "a\n  %s\n"),
        ("perf_hint_log.warning(('in a tuple',), x)", "in a tuple"),
        ("log.exception('')", ""),
        ("msg = make(1)\n    log.error(msg)", "{make(1)}"),
        ("warn(*args, **kwargs)", "{*args}"),
    ],
)
def test_a_text_is_found_wherever_it_stands(code: str, text: str) -> None:
    source = f"class A:\n  def f(self):\n    {code}\n"
    assert list(printed(source, "x.py")) == [("x.py", "A.f", text)]


def test_a_method_that_has_the_name_of_a_printer_prints_nothing() -> None:
    assert list(printed("def f(self):\n    self.exception(tx)\n    log.info('x')\n", "x.py")) == []
