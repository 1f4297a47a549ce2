"""The house: which room imports which, and what stands in one place only. Read from the sources."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from repro_runner.torch_seams import SEAMS
from tests.conftest import ROOT

MAY_IMPORT = {
    "registry": {"registry"},
    "sitegen": {"registry", "sitegen"},
    "repro_runner": {"registry", "repro_runner"},
    "generate_site.py": {"registry", "sitegen"},
}
ROOMS = {"registry", "sitegen", "repro_runner", "generate_site", "tests", "benchmarks"}

LAYERS = (
    *("exit_codes", "torch_seams", "process", "environment", "output", "torch_environments", "marked_yaml", "values"),
    *("capture", "judge", "model_under_test", "constraints", "graphs", "runs"),
    *("runner", "minifier", "backends", "aot_backend", "adapters"),
    *("explain", "logs", "diff", "guards", "bench", "lessons"),
    *("fix_report", "assistant", "agents", "scoring", "report", "demo", "ui", "pytest_plugin", "cli"),
)
"""The rooms of repro_runner from below: each imports only rooms that stand before it, and itself."""

GENERATED_SCRIPTS = "repro_runner/minifier/parts/"
"""Text that is written into scripts which have to run without this project: it spells everything itself."""

PROGRAMS = frozenset({"repros", "message_programs", "finding_scripts"})
"""Folders with programs that are data."""
MOST_FILES = 325
MOST_LINES = 47_483
LONGEST_FUNCTION = 60


def modules(room: str) -> list[Path]:
    path = ROOT / room
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    found = [one for one in found if PROGRAMS.isdisjoint(one.relative_to(ROOT).parts)]
    assert found
    return found


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def everywhere() -> list[Path]:
    return [path for room in MAY_IMPORT for path in modules(room)]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, module) of every import, inside functions and for type checkers too."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide the arrow"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((node.lineno, each if is_module(each) else str(node.module)) for each in whole)


@cache
def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def rooms_it_may_not_import(path: Path, room: str) -> Iterator[tuple[int, str]]:
    for line, name in imported(path):
        if (top := name.partition(".")[0]) in ROOMS and top not in MAY_IMPORT[room]:
            yield line, name


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_the_rooms_it_may(room: str) -> None:
    wrong = [
        f"{name_of(path)}:{line}: imports {name}"
        for path in modules(room)
        for line, name in rooms_it_may_not_import(path, room)
    ]
    assert wrong == []


def arrows_upwards(path: Path, room: str) -> Iterator[tuple[int, str]]:
    """What a file of this room of repro_runner imports from rooms that stand after it."""
    for line, name in imported(path):
        package, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if package == "repro_runner" and (other not in LAYERS or LAYERS.index(other) > LAYERS.index(room)):
            yield line, name


def test_inside_repro_runner_arrows_point_downwards() -> None:
    """A room imports only rooms that stand before it in LAYERS; a new room gets its place there."""
    wrong = []
    for path in modules("repro_runner"):
        room = path.relative_to(ROOT / "repro_runner").parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue  # the door: it gives out what the rooms have
        assert room in LAYERS, f"{name_of(path)}: put the room {room} into LAYERS"
        wrong += [f"{name_of(path)}:{line}: {room} imports {name}" for line, name in arrows_upwards(path, room)]
    assert wrong == []


def circles_in(arrows: Mapping[str, set[str]]) -> list[str]:
    """The ways that lead from a module back to it: `a -> b -> a`."""
    done: set[str] = set()
    circles = []

    def follow(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            circles.append(" -> ".join((*way[way.index(name) :], name)))
        elif name not in done:
            for other in sorted(arrows.get(name, ())):
                follow(other, (*way, name))
            done.add(name)

    for name in sorted(arrows):
        follow(name, ())
    return circles


def test_no_module_imports_itself_by_a_detour() -> None:
    arrows = {
        dotted(path): {name for _, name in imported(path) if is_module(name) and name != dotted(path)}
        for path in everywhere()
    }
    assert circles_in(arrows) == []


def imports_torch(path: Path) -> Iterator[int]:
    return (line for line, name in imported(path) if name.partition(".")[0] == "torch")


@pytest.mark.parametrize("room", ["registry", "sitegen", "generate_site.py"])
def test_torch_is_imported_only_in_repro_runner(room: str) -> None:
    assert [f"{name_of(path)}:{line}" for path in modules(room) for line in imports_torch(path)] == []


HEAVY = {"torch", "requests", "jinja2", "liquid", "markdown", "rich", "streamlit", "altair"}


def packages_loaded_by(command: list[str]) -> set[str]:
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}


@pytest.mark.parametrize(
    "command",
    [
        ["generate_site.py", "--help"],
        ["-m", "repro_runner", "--help"],
        ["-m", "repro_runner", "show", "--help"],
        ["-m", "repro_runner", "ui", "--help"],
    ],
)
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    loaded = packages_loaded_by(command)
    assert "argparse" in loaded
    assert loaded.isdisjoint(HEAVY)


def long_functions(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                yield node.lineno, f"{node.name} has {length} lines"


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{name_of(path)}:{line}: {problem}; split it"
        for path in everywhere()
        for line, problem in long_functions(path)
    ]
    assert long == []


def number_of_lines(files: list[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


def test_the_house_grows_no_larger_than_it_was() -> None:
    files = modules("repro_runner")
    assert len(files) <= MOST_FILES
    assert number_of_lines(files) < MOST_LINES


# What stands in one place only. Each rule yields the lines that break it.


def imported_names(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, name in the file, what it stands for): `(3, "join", "os.path.join")`."""
    for node in nodes(path):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from ((node.lineno, alias.asname or alias.name, f"{module}{alias.name}") for alias in node.names)


def spelled(node: ast.expr) -> tuple[str, str]:
    """`torch.fx.Graph` as ("torch", ".fx.Graph"); what does not begin with a name, such as `f().x`, as ("", ".x")."""
    rest = ""
    while isinstance(node, ast.Attribute):
        rest = f".{node.attr}{rest}"
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), rest


def calls(path: Path) -> Iterator[tuple[int, str, ast.Call]]:
    """(line, the name that is called, the call). A name that is imported is given in full: `os.path.join`."""
    names = {name: whole for _, name, whole in imported_names(path)}
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            start, rest = spelled(node.func)
            yield node.lineno, f"{names.get(start, start)}{rest}", node


PROCESSES = re.compile(
    r"(?:subprocess|multiprocessing|torch\.multiprocessing|pty|asyncio\.subprocess"
    r"|concurrent\.futures\.(?:process|ProcessPoolExecutor)|asyncio\.create_subprocess_\w+"
    r"|os\.(?:fork|forkpty|system|popen|exec\w+|spawn\w+|posix_spawn\w*))(?:\.|$)"
)


def starts_a_process(path: Path) -> Iterator[int]:
    """It imports a module, a class or a function for that, or calls one by its full name."""
    yield from (line for line, _, name in imported_names(path) if PROCESSES.match(name))
    yield from (line for line, name, _ in calls(path) if PROCESSES.match(name))


def makes_a_jinja_environment(path: Path) -> Iterator[int]:
    """`jinja2.Template(text)` makes one, too."""
    for line, name, _ in calls(path):
        if name.startswith("jinja2.") and name.endswith(("Environment", ".Template")):
            yield line


def replaces_a_file(path: Path) -> Iterator[int]:
    """`path.replace(other)`: a text's `replace` takes two arguments, a dataclass's takes keywords."""
    for line, name, call in calls(path):
        of_a_path = name.endswith((".replace", ".rename")) and len(call.args) == 1 and not call.keywords
        by_name = name in ("os.replace", "os.rename", "os.renames", "shutil.move")
        if by_name or (of_a_path and name != "dataclasses.replace"):
            yield line


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in the code, documentation left out."""
    documentation = {
        id(node.value) for node in nodes(path) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes(path):
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(value, str):
                yield node.lineno, value


def spells_the_resume_function(path: Path) -> Iterator[int]:
    return (line for line, text in texts(path) if "torch_dynamo_resume_in" in text)


def spells_how_ids_look(path: Path) -> Iterator[int]:
    """A pattern, such as `GB[0-9]{4}`, or an id that is put together: `f"GB{number}"`, `"GB" + digits`."""
    for line, text in texts(path):
        if "GBL-" in text or re.search(r"\bGB[)?]*(?:\\d|[\[({%])", text, re.IGNORECASE):
            yield line
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            parts = pairwise(node.values)
        elif isinstance(node, ast.BinOp):
            parts = pairwise([node.left, node.right])
        else:
            continue
        for first, second in parts:
            begins = isinstance(first, ast.Constant) and re.search(r"\bGB$", str(first.value), re.IGNORECASE)
            if begins and not isinstance(second, ast.Constant):
                yield first.lineno


def spells_the_head_of_a_document(path: Path) -> Iterator[int]:
    for node in nodes(path):
        if isinstance(node, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            if {"kind", "schema"} <= keys:
                yield node.lineno


def names_an_exit_code_by_its_number(path: Path) -> Iterator[int]:
    """In a function of the command line that returns a number."""
    for function in nodes(path):
        if isinstance(function, ast.FunctionDef) and function.returns and spelled(function.returns) == ("int", ""):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    ends = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
                    yield from (end.lineno for end in ends if isinstance(end, ast.Constant))


def private_names_of_torch(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of what is reached in torch through a name with an underscore before it."""
    known: dict[str, str] = {}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "torch":
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch":
                    known[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                    yield node.lineno, alias.name
    for node in nodes(path):
        if isinstance(node, ast.Attribute):
            start, rest = spelled(node)
            if start in known:
                yield node.lineno, f"{known[start]}{rest}"


def spells_a_private_name_of_torch(path: Path) -> Iterator[int]:
    for line, name in private_names_of_torch(path):
        if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")):
            yield line


Rule = Callable[[Path], Iterator[int]]
RULES: list[tuple[Rule, str, tuple[str, ...]]] = [
    (starts_a_process, "repro_runner", ("repro_runner/process/", GENERATED_SCRIPTS)),
    (makes_a_jinja_environment, "", ("repro_runner/output/templates.py", "sitegen/templating.py")),
    (replaces_a_file, "", ("registry/datafile.py", "sitegen/write.py")),
    (spells_the_resume_function, "", ("repro_runner/capture/breaks.py",)),
    (spells_how_ids_look, "", ("registry/ids.py",)),
    (spells_the_head_of_a_document, "", ("registry/documents.py",)),
    (names_an_exit_code_by_its_number, "repro_runner/cli", ()),
    (spells_a_private_name_of_torch, "repro_runner", (GENERATED_SCRIPTS,)),
]
"""(rule, the room it is for, where what it looks for may stand)."""


@cache
def found(rule: Rule, room: str) -> dict[str, list[int]]:
    """By file, the lines that break a rule, wherever they may stand."""
    return {name_of(path): list(rule(path)) for path in (modules(room) if room else everywhere())}


@pytest.mark.parametrize(("rule", "room", "places"), RULES, ids=lambda value: getattr(value, "__name__", None))
def test_it_stands_in_one_place(rule: Rule, room: str, places: tuple[str, ...]) -> None:
    wrong = [
        f"{name}:{line}"
        for name, lines in found(rule, room).items()
        if not name.startswith(places or ("-",))
        for line in lines
    ]
    assert wrong == []


@pytest.mark.parametrize(("rule", "room", "places"), RULES, ids=lambda value: getattr(value, "__name__", None))
def test_a_place_that_is_not_needed_any_more_is_taken_off_the_list(
    rule: Rule, room: str, places: tuple[str, ...]
) -> None:
    stand = [name for name, lines in found(rule, room).items() if lines]
    assert [place for place in places if not any(name.startswith(place) for name in stand)] == []


def used_of_private_modules(path: Path) -> Iterator[tuple[str, str]]:
    """(seam, member): what a file takes from the private modules of torch that it imports from torch_seams."""
    seams = {
        alias.asname or alias.name: alias.name
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == "repro_runner.torch_seams"
        for alias in node.names
        if alias.name in SEAMS
    }
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in seams:
            yield seams[node.value.id], node.attr
        elif isinstance(node, ast.Call) and spelled(node.func) == ("wrap", "") and len(node.args) > 2:
            owner, member = node.args[1:3]
            if isinstance(owner, ast.Name) and owner.id in seams and isinstance(member, ast.Constant):
                yield seams[owner.id], str(member.value)


def test_what_is_used_of_a_private_module_of_torch_is_listed_with_it() -> None:
    """So that `graphbreak doctor` looks for it: `convert_frame.ConvertFrame` is a name of torch, too."""
    used: dict[str, set[str]] = {}
    for path in modules("repro_runner"):
        for seam, member in used_of_private_modules(path):
            used.setdefault(seam, set()).add(member)
    listed = {name: {member.rstrip("?") for member in seam.members.split()} for name, seam in SEAMS.items()}
    assert {name: missing for name, members in used.items() if (missing := members - listed[name])} == {}


# No rule may be dead: each finds what breaks it, and leaves alone what looks like it.

BREAKS_IT: dict[Rule, tuple[str, ...]] = {
    starts_a_process: (
        "import subprocess",
        "import multiprocessing as mp",
        "from multiprocessing.pool import Pool",
        "import concurrent.futures.process",
        "from concurrent.futures import ProcessPoolExecutor",
        "from concurrent.futures import ProcessPoolExecutor as Pool",
        "from torch import multiprocessing",
        "import torch.multiprocessing",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor(2)",
        "import concurrent.futures as pools\npools.ProcessPoolExecutor(2)",
        "import asyncio\nasyncio.create_subprocess_exec('ls')",
        "import os\nos.fork()",
        "from os import fork",
        "import os\nos.execv('ls', [])",
        "import os\nos.posix_spawn('ls', [], {})",
        "import os\nos.system('ls')",
    ),
    makes_a_jinja_environment: (
        "import jinja2\njinja2.Environment(loader=None)",
        "import jinja2 as j\nj.Environment()",
        "from jinja2 import Environment\nEnvironment(autoescape=True)",
        "from jinja2 import Environment as Templates\nTemplates()",
        "from jinja2.sandbox import SandboxedEnvironment\nSandboxedEnvironment()",
        "import jinja2\njinja2.Template('text')",
    ),
    replaces_a_file: (
        "path.replace(other)",
        "Path('a').replace('b')",
        "path.rename(other)",
        "import os\nos.replace(a, b)",
        "from os import replace\nreplace(a, b)",
        "import os\nos.rename(a, b)",
        "import shutil\nshutil.move(a, b)",
    ),
    spells_the_resume_function: (
        "x = 'torch_dynamo_resume_in_f_at_3'",
        "x = rf'torch_dynamo_resume_in_{name}'",
        "x = b'__torch_dynamo_resume_in_'",
    ),
    spells_how_ids_look: (
        r"x = r'GB[0-9]{4}'",
        r"x = r'(GB\d+)'",
        r"x = r'(?:GB)?(\d+)'",
        r"x = r'(?:gb)(\d{4})'",
        r"x = r'GB[\dL-]'",
        r"x = r'GB(\d+)'",
        "x = 'GBL-000000'",
        "x = f'GB{number:04}'",
        "x = f'page of GB{number:04}'",
        "x = 'GB' + digits",
        "x = 'GB%s' % digits",
    ),
    spells_the_head_of_a_document: (
        "x = {'kind': 'run', 'schema': 1}",
        "x = {**rest, 'schema': 1, 'kind': kind}",
    ),
    names_an_exit_code_by_its_number: (
        "def main() -> int:\n    return 2",
        "def main() -> int:\n    return 1 if failed else DONE",
    ),
    spells_a_private_name_of_torch: (
        "import torch\ntorch._dynamo.reset()",
        "import torch._dynamo",
        "import torch._dynamo as dynamo",
        "from torch import _dynamo",
        "from torch._dynamo import reset",
        "from torch.utils import _pytree",
        "import torch as t\nt.fx._symbolic_trace.x",
        "from torch import fx\nfx._lazy.x",
    ),
}
"""Each rule, and texts that break it in their last line."""

LEAVES_IT_ALONE: dict[Rule, tuple[str, ...]] = {
    starts_a_process: (
        "from concurrent.futures import ThreadPoolExecutor",
        "import os\nos.path.join('a')",
        "from repro_runner.process import run_command",
        "x = 'subprocess'",
    ),
    makes_a_jinja_environment: (
        "from registry.model import Environment\nEnvironment(torch='2.9.0')",
        "import jinja2\ndef f(environment: jinja2.Environment): ...",
    ),
    replaces_a_file: (
        "'text'.replace('a', 'b')",
        "import dataclasses\ndataclasses.replace(x)",
        "from dataclasses import replace\nreplace(x, a=1)",
    ),
    spells_the_resume_function: ('"""torch_dynamo_resume_in_ is what torch calls them."""', "x = 'resume'"),
    spells_how_ids_look: (
        "x = 'ids look like GB0042'",
        "x = f'{size} GB'",
        "x = f'{size} GB' + other",
        '"""An id is GB[0-9]{4}."""',
        "from registry.ids import GB_ID\nx = rf'({GB_ID})'",
    ),
    spells_the_head_of_a_document: ("x = {'kind': 'fix'}", "x = {'schema': 1}", "x = document['schema']"),
    names_an_exit_code_by_its_number: (
        "def main() -> int:\n    return DONE",
        "def width() -> float:\n    return 2",
        "def main() -> int:\n    return REFUSED if wrong else run()",
    ),
    spells_a_private_name_of_torch: (
        "import torch\ntorch.compile(f)",
        "import torch\ntorch.__version__",
        "from repro_runner.torch_seams import reset\nreset()",
        "x._dynamo",
    ),
}


def written(folder: Path, text: str) -> Path:
    path = folder / f"sample_{len(list(folder.iterdir()))}.py"
    path.write_text(text, "utf-8")
    return path


def samples(known: Mapping[Rule, tuple[str, ...]]) -> list[tuple[Rule, str]]:
    return [(rule, text) for rule, texts in known.items() for text in texts]


def test_every_rule_is_tried() -> None:
    assert BREAKS_IT.keys() == LEAVES_IT_ALONE.keys() == {rule for rule, _, _ in RULES}


@pytest.mark.parametrize(("rule", "text"), samples(BREAKS_IT), ids=lambda value: getattr(value, "__name__", None))
def test_what_breaks_a_rule_is_found(rule: Rule, text: str, tmp_path: Path) -> None:
    assert text.count("\n") + 1 in set(rule(written(tmp_path, text)))


@pytest.mark.parametrize(("rule", "text"), samples(LEAVES_IT_ALONE), ids=lambda value: getattr(value, "__name__", None))
def test_what_only_looks_like_it_is_left_alone(rule: Rule, text: str, tmp_path: Path) -> None:
    assert list(rule(written(tmp_path, text))) == []


@pytest.mark.parametrize(
    ("room", "text", "found"),
    [
        ("registry", "import sitegen", "sitegen"),
        ("registry", "from repro_runner import exit_codes", "repro_runner.exit_codes"),
        ("sitegen", "def f():\n    from repro_runner.cli import main", "repro_runner.cli"),
        ("repro_runner", "if TYPE_CHECKING:\n    from sitegen.render import x", "sitegen.render"),
        ("generate_site.py", "import tests.samples", "tests.samples"),
        ("sitegen", "import registry.ids, json", ""),
    ],
)
def test_an_import_of_a_room_that_is_not_allowed_is_found(room: str, text: str, found: str, tmp_path: Path) -> None:
    assert [name for _, name in rooms_it_may_not_import(written(tmp_path, text), room)] == [found] * bool(found)


@pytest.mark.parametrize(
    ("room", "text", "found"),
    [
        ("output", "import repro_runner.capture", "repro_runner.capture"),
        ("explain", "def f():\n    from repro_runner import cli", "repro_runner.cli"),
        ("capture", "from repro_runner.no_such_room import x", "repro_runner.no_such_room"),
        ("cli", "from repro_runner.explain.site import Site", ""),
        ("explain", "from repro_runner.explain import site", ""),
    ],
)
def test_an_arrow_upwards_is_found(room: str, text: str, found: str, tmp_path: Path) -> None:
    assert [name for _, name in arrows_upwards(written(tmp_path, text), room)] == [found] * bool(found)


def test_a_circle_is_found() -> None:
    assert circles_in({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "c"}}) == ["b -> c -> b"]
    assert circles_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("text", ["import torch", "def f():\n    from torch.fx import Node", "import torch.fx as fx"])
def test_an_import_of_torch_is_found(text: str, tmp_path: Path) -> None:
    assert list(imports_torch(written(tmp_path, text))) == [text.count("\n") + 1]
    assert list(imports_torch(written(tmp_path, text.replace("torch", "torches")))) == []


def test_a_heavy_package_is_found() -> None:
    assert packages_loaded_by(["-c", "import argparse, jinja2.environment"]) & HEAVY == {"jinja2"}


def test_a_long_function_is_found(tmp_path: Path) -> None:
    fits = "def fits():\n" + "    f()\n" * (LONGEST_FUNCTION - 1)
    long = "class C:\n    async def long(self):\n" + "        f()\n" * LONGEST_FUNCTION
    found = list(long_functions(written(tmp_path, fits + long)))
    assert found == [(LONGEST_FUNCTION + 2, f"long has {LONGEST_FUNCTION + 1} lines")]


def test_lines_are_counted(tmp_path: Path) -> None:
    assert number_of_lines([written(tmp_path, "a\n\nb\n")] * 2) == 6


def test_what_is_used_of_a_private_module_is_found(tmp_path: Path) -> None:
    seam = sorted(SEAMS)[0]
    text = f"from repro_runner.torch_seams import {seam} as s, wrap\ns.one()\nwrap(undo, s, 'two', f)\nx.three\n"
    assert set(used_of_private_modules(written(tmp_path, text))) == {(seam, "one"), (seam, "two")}


@pytest.mark.parametrize("template", sorted((ROOT / "templates").glob("*.j2")), ids=lambda path: path.name)
def test_a_template_has_no_logic_beyond_loops_and_ifs(template: Path) -> None:
    text = template.read_text("utf-8")
    parts = set(re.findall(r"\{%-? *([a-z]+)", text))
    assert parts <= {"for", "endfor", "if", "elif", "else", "endif", "macro", "endmacro", "from"}
    computed = re.findall(
        r"\{\{[^}]*(?:\| *(?:map|sum|sort|select|reject|groupby)\w*\b|[\w)] [-+*/%] [\w(])[^}]*\}\}", text
    )
    assert computed == []
