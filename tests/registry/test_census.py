"""Two censuses: every text that torch/_dynamo can print at WARNING or above, and every text of the errors that torch
raises for users of torch.compile and torch.export. They say what each of them belongs to.

Read from the source of the installed torch, without importing it. A new torch makes this fail: then the new texts are
looked at, one by one, and registry/warnings.json or registry/user_errors.json says of each what it is.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from registry.callsites import find_texts
from registry.ids import is_gb_id
from registry.matching import Matcher
from registry.snapshot import read_snapshot
from tests.committed import committed_registry
from tests.conftest import ROOT

WARNINGS = ROOT / "registry" / "warnings.json"
USER_ERRORS = ROOT / "registry" / "user_errors.json"
CENSUSES = pytest.mark.parametrize("path", [WARNINGS, USER_ERRORS], ids=lambda path: path.stem)

PRINTERS = frozenset({"warn", "warning", "warn_once", "warning_once", "error", "exception", "critical", "fatal"})
"""Of the module `warnings`, of any logger, and torch's own."""
CALLEES = PRINTERS | {"deprecated", "log_error"}
"""`log_error` is a parameter of `utils.same`; what it gets if nobody says otherwise is `log.error`."""
KINDS = frozenset({"breaks", "debug", "deprecation", "export", "internal", "repro"})
"""Besides them, `is` may be a GB id or the slug of a page. `export`: no user of torch.compile gets it."""
SLUG = r"[a-z0-9]+(-[a-z0-9]+)+|recompiles"

RAISERS = ("_dynamo", "_export", "_functorch", "_higher_order_ops", "export", "fx/experimental")
ERRORS = frozenset(
    {
        "CondOpArgsMismatchError",
        "ConstraintViolationError",
        "FailOnRecompileLimitHit",
        "GuardOnDataDependentSymNode",
        "InternalTorchDynamoError",
        "PackageError",
        "PendingUnbackedSymbolNotFound",
        "RecompileError",
        "ReservedWorkflowIdUserError",
        "ResumePrologueTracingError",
        "StepUnsupported",
        "TorchRuntimeError",
        "UncapturedHigherOrderOpError",
        "UnknownPropertiesDuringBackwardTrace",
        "UnsafeScriptObjectError",
        "UserError",
        "ValueRangeError",
    }
)
NO_TEXTS = {
    "BackendCompilerFailed": "its text is in the class: backend-compiler-failed",
    "InvalidBackend": "its text is in the class: missing-backend",
    "ResetRequired": "its text is in the class: changing-backends",
    "InfiniteGeneratorError": "raised without a text; what becomes of it is GB2549",
    "ObservedException": "an exception of the user's program, which becomes GB0088",
    "RestartAnalysis": "no error: Dynamo starts again",
    "ShortenTraceback": "only the base of others",
    "SkipFrame": "no error: Dynamo leaves the frame to Python",
    "Unsupported": "a graph break",
}
"""The other classes in torch/_dynamo/exc.py, and why the census has no text of theirs, nor of classes made of them."""
MESSAGE_AT = {"GuardOnDataDependentSymNode": 1, "UserError": 1}
"""Which argument is the message, if it is not the first."""

PLACEHOLDER = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
WRAPPED = frozenset({"ReservedWorkflowIdUserError", "UnsafeScriptObjectError"})
"""What Dynamo does not let through as it is."""
HIDDEN = frozenset({"GB4315"})
"""What an error becomes that stands in the middle of another one's text."""

Place = tuple[str, str, str]
"""File, function, text. A file of a warning is below torch/_dynamo, one of an error below torch."""


@cache
def torch_folder() -> Path:
    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def sources(below: str, folders: Iterable[str], callees: Iterable[str]) -> dict[str, str]:
    """The source files of the installed torch that have one of these names, by their path below the folder `below`."""
    root = torch_folder() / below
    paths = (path for folder in folders for path in (root / folder).rglob("*.py"))
    found = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths}
    return {name: source for name, source in found.items() if re.search(rf"\b({'|'.join(callees)})\b", source)}


@cache
def dynamo() -> dict[str, str]:
    """The source files of the installed torch/_dynamo that may print something, by name."""
    return sources("_dynamo", ["."], CALLEES)


@cache
def census(path: Path) -> list[dict[str, str]]:
    written: list[dict[str, str]] = json.loads(path.read_text("utf-8"))
    return written


def printed(source: str, file: str) -> Iterator[Place]:
    """What one file prints: texts that are written in the call, and those that a variable or a function gives it."""
    written = find_texts(source, file, CALLEES)
    yield from ((file, one.function, one.text) for one in written)
    lines = {one.line for one in written}
    for call, around in _calls(ast.parse(source, file), ()):
        if call.lineno not in lines and _callee(call) in CALLEES and not _is_own_method(call):
            yield file, _name_of(around), _given(call, call.args[0], around[-1] if around else None)


def raised(source: str, file: str) -> Iterator[tuple[str, Place]]:
    """The errors that one file makes: (class, its message and where). One without arguments has none."""
    for call, around in _calls(ast.parse(source, file), ()):
        callee = _callee(call)
        at = MESSAGE_AT.get(callee, 0)
        if callee in ERRORS and len(call.args) > at:
            yield callee, (file, _name_of(around), _given(call, call.args[at], around[-1] if around else None))


@cache
def errors() -> list[tuple[str, Place]]:
    """All errors that the installed torch makes."""
    return [one for file, source in sources("", RAISERS, ERRORS).items() for one in raised(source, file)]


def _name_of(around: tuple[ast.AST, ...]) -> str:
    return ".".join(getattr(scope, "name", "") for scope in around) or "<module>"


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


def _given(call: ast.Call, value: ast.expr, scope: ast.AST | None) -> str:
    """The text of an argument: written there, inside of `dedent(...)`, or assigned to the variable just before.

    Where there is no text at all, the code that makes it, {in braces} like an f-string's expressions.
    """
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
@pytest.mark.prove
def test_every_text_that_dynamo_prints_is_in_the_census_and_the_census_has_no_other() -> None:
    assert_complete(WARNINGS, (one for file, source in dynamo().items() for one in printed(source, file)))


@pytest.mark.torch
def test_every_text_of_an_error_is_in_the_census_and_the_census_has_no_other() -> None:
    assert_complete(USER_ERRORS, (one for _, one in errors()))


@pytest.mark.torch
def test_every_error_is_named_as_the_census_says() -> None:
    """Its class and its text, as Python prints them. What only passes on another error's text has no name here."""
    said = {place(entry): entry["is"] for entry in census(USER_ERRORS)}
    matcher = Matcher.from_registry(committed_registry())
    problems = []
    for error, (file, function, text) in errors():
        wanted = said.get((file, function, text), "")
        shown = f"InternalTorchDynamoError: {error}" if error in WRAPPED else error
        printed = f"torch._dynamo.exc.{shown}: {PLACEHOLDER.sub('x', text)}"
        named = {name for one in matcher.name_text(printed) for name in (one.gb_id, one.form and one.form.slug)}
        if wanted not in KINDS and PLACEHOLDER.sub("", text) and wanted not in named | HIDDEN:
            problems.append(f"{printed!r} is named {named - {None}}, not {wanted}")
    assert not problems, "\n".join(["edit registry/other_messages/ or registry/user_errors.json:", *problems])


def assert_complete(path: Path, found: Iterable[Place]) -> None:
    has, said = Counter(found), Counter(place(entry) for entry in census(path))
    missing = [f"not there yet: {one}" for one in sorted((has - said).elements())]
    gone = [f"torch has no such text: {one}" for one in sorted((said - has).elements())]
    assert not missing + gone, "\n".join([f"edit registry/{path.name}:", *missing, *gone])


@pytest.mark.torch
def test_every_class_of_dynamos_errors_is_in_the_census_or_has_a_reason() -> None:
    tree = ast.parse((torch_folder() / "_dynamo" / "exc.py").read_text("utf-8"))
    dynamos, without = {"TorchDynamoException"}, set(NO_TEXTS)
    for node in tree.body:  # a class stands behind those that it is made of
        bases = {ast.unparse(base) for base in node.bases} if isinstance(node, ast.ClassDef) else set()
        if isinstance(node, ast.ClassDef) and bases & dynamos:
            dynamos.add(node.name)
            without |= {node.name} if bases & without else set()
    others = dynamos - ERRORS - without - {"TorchDynamoException"}
    assert others == set(), "add these to ERRORS, or to NO_TEXTS with a reason"


@pytest.mark.torch
def test_nothing_is_printed_past_the_census() -> None:
    """No level as a value, and no printer handed on: the census would not see such calls. One is known: `log_error`."""
    past = re.compile(rf"logging\.(?:WARN|ERROR|CRITICAL|FATAL)|log\w*\.(?:{'|'.join(PRINTERS)})\b(?!\()")
    found = [f"{file}: {hit}" for file, source in dynamo().items() for hit in past.findall(source)]
    assert found == ["utils.py: log.error"], "teach `printed` to see these"


@CENSUSES
def test_every_entry_says_what_it_is_and_when_it_is_printed(path: Path) -> None:
    ids = read_snapshot(ROOT / "registry" / "snapshot").wordings.keys()
    problems = []
    for entry in census(path):
        if list(entry) != ["file", "function", "text", "is", "why"] or not entry["why"].endswith("."):
            problems.append(f"needs file, function, text, is, and a sentence `why`: {entry}")
        elif is_gb_id(entry["is"]):
            problems += [] if entry["is"] in ids else [f"{entry['is']} is no id of the registry: {place(entry)}"]
        elif entry["is"] not in KINDS and not re.fullmatch(SLUG, entry["is"]):
            problems.append(f"{entry['is']!r} is no GB id, no slug and none of {sorted(KINDS)}: {place(entry)}")
    assert not problems, "\n".join([f"edit registry/{path.name}:", *problems])


@CENSUSES
def test_the_census_is_sorted_and_has_one_entry_per_line(path: Path) -> None:
    in_order = sorted(census(path), key=lambda entry: (entry["file"], entry["text"], entry["function"]))
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in in_order)
    assert path.read_text("utf-8") == f"[\n{lines}\n]\n", f"edit registry/{path.name}"


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


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        ("raise UserError(UserErrorType.X, f'no {name} ' 'here', case_name='y')", "UserError", "no {name} here"),
        ("raise exc.UserError(UserErrorType.X, str(e), case_name='y') from e", "UserError", "{str(e)}"),
        ("msg = f'at {line}' + more\n    error = PackageError(msg)", "PackageError", "at {line}"),
        ("return GuardOnDataDependentSymNode(expr, 'why')", "GuardOnDataDependentSymNode", "why"),
    ],
)
def test_an_error_is_found_with_its_message(code: str, error: str, text: str) -> None:
    source = f"class A:\n  def f(self):\n    {code}\n    raise Unsupported('break')\n"
    assert list(raised(source, "x.py")) == [(error, ("x.py", "A.f", text))]


def test_a_method_that_has_the_name_of_a_printer_prints_nothing() -> None:
    assert list(printed("def f(self):\n    self.exception(tx)\n    log.info('x')\n", "x.py")) == []
