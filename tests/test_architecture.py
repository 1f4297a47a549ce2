"""The house: which room imports which, and what stands in one place only. Read from the sources."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
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
    *("exit_codes", "torch_seams", "process", "environment", "output", "values"),
    *("capture", "model_under_test", "constraints", "graphs", "runs"),
    *("backends", "aot_backend", "adapters", "runner"),
    *("explain", "logs", "diff", "guards", "minifier", "bench"),
    *("fix_report", "assistant", "report", "demo", "cli"),
)
"""The rooms of repro_runner from below: each imports only rooms that stand before it, and itself."""

GENERATED_SCRIPTS = "repro_runner/minifier/parts/"
"""Text that is written into scripts which have to run without this project: it spells everything itself."""

MOST_FILES = 240
LINES_BEFORE = 31_352
LONGEST_FUNCTION = 60


def modules(room: str) -> list[Path]:
    path = ROOT / room
    found = (
        [path] if path.is_file() else sorted(p for p in path.rglob("*.py") if "repros" not in p.relative_to(path).parts)
    )
    assert found
    return found


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def everywhere() -> list[Path]:
    return [path for room in MAY_IMPORT for path in modules(room)]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, inside functions and for type checkers too."""
    for node in ast.walk(parsed(path)):
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


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_the_rooms_it_may(room: str) -> None:
    wrong = [
        f"{name_of(path)}:{line}: imports {name}"
        for path in modules(room)
        for line, name in imported(path)
        if (top := name.partition(".")[0]) in ROOMS and top not in MAY_IMPORT[room]
    ]
    assert wrong == []


def test_inside_repro_runner_arrows_point_downwards() -> None:
    """A room imports only rooms that stand before it in LAYERS; a new room gets its place there."""
    wrong = []
    for path in modules("repro_runner"):
        room = path.relative_to(ROOT / "repro_runner").parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue  # the door: it gives out what the rooms have
        assert room in LAYERS, f"{name_of(path)}: put the room {room} into LAYERS"
        for line, name in imported(path):
            package, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if package == "repro_runner" and (other not in LAYERS or LAYERS.index(other) > LAYERS.index(room)):
                wrong.append(f"{name_of(path)}:{line}: {room} imports {name}")
    assert wrong == []


def test_no_module_imports_itself_by_a_detour() -> None:
    arrows = {
        dotted(path): {name for _, name in imported(path) if is_module(name) and name != dotted(path)}
        for path in everywhere()
    }
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
    assert circles == []


@pytest.mark.parametrize("room", ["registry", "sitegen", "generate_site.py"])
def test_torch_is_imported_only_in_repro_runner(room: str) -> None:
    assert [path for path in modules(room) for _, name in imported(path) if name.partition(".")[0] == "torch"] == []


@pytest.mark.parametrize(
    "command",
    [["generate_site.py", "--help"], ["-m", "repro_runner", "--help"], ["-m", "repro_runner", "show", "--help"]],
)
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
    assert "argparse" in loaded
    assert loaded.isdisjoint({"torch", "requests", "jinja2", "liquid", "markdown", "rich"})


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{name_of(path)}:{node.lineno}: {node.name} has {length} lines; split it"
        for path in everywhere()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    assert long == []


def test_the_house_grows_no_larger_than_it_was() -> None:
    files = modules("repro_runner")
    assert len(files) <= MOST_FILES
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) < LINES_BEFORE


# What stands in one place only. Each rule yields the lines that break it.


def calls(path: Path) -> Iterator[tuple[int, str, ast.Call]]:
    """(line, the name that is called, as it is written, the call)."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, ast.unparse(node.func), node


def starts_a_process(path: Path) -> Iterator[int]:
    for line, name in imported(path):
        if name.partition(".")[0] in ("subprocess", "multiprocessing", "pty", "concurrent.futures.process"):
            yield line
    for line, name, _ in calls(path):
        if name in ("os.fork", "os.forkpty", "os.system", "os.popen") or name.startswith(("os.exec", "os.spawn")):
            yield line


def makes_a_jinja_environment(path: Path) -> Iterator[int]:
    return (line for line, name, _ in calls(path) if name in ("jinja2.Environment", "Environment(loader"))


def replaces_a_file(path: Path) -> Iterator[int]:
    """`path.replace(other)`: a text's `replace` takes two arguments, a dataclass's takes keywords."""
    for line, name, call in calls(path):
        of_a_path = name.endswith(".replace") and len(call.args) == 1 and not call.keywords
        if (of_a_path and name != "dataclasses.replace") or name in ("os.rename", "shutil.move"):
            yield line


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in the code, documentation left out."""
    documentation = {
        id(node.value)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(value, str):
                yield node.lineno, value


def spells_the_resume_function(path: Path) -> Iterator[int]:
    return (line for line, text in texts(path) if "torch_dynamo_resume_in" in text)


def spells_how_ids_look(path: Path) -> Iterator[int]:
    return (line for line, text in texts(path) if "GBL-" in text or re.search(r"GB\)?(\\d|\[0-9)", text))


def spells_the_head_of_a_document(path: Path) -> Iterator[int]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            if {"kind", "schema"} <= keys:
                yield node.lineno


def names_an_exit_code_by_its_number(path: Path) -> Iterator[int]:
    """In a function of the command line that returns a number."""
    for function in ast.walk(parsed(path)):
        if isinstance(function, ast.FunctionDef) and ast.unparse(function.returns or ast.Constant(0)) == "int":
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    ends = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
                    yield from (end.lineno for end in ends if isinstance(end, ast.Constant))


def private_names_of_torch(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of what is reached in torch through a name with an underscore before it."""
    known: dict[str, str] = {}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "torch":
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch":
                    known[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                    yield node.lineno, alias.name
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute):
            whole = ast.unparse(node)
            start, _, rest = whole.partition(".")
            if start in known and re.fullmatch(r"[\w.]+", rest):
                yield node.lineno, f"{known[start]}.{rest}"


def spells_a_private_name_of_torch(path: Path) -> Iterator[int]:
    for line, name in private_names_of_torch(path):
        if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")):
            yield line


@pytest.mark.parametrize(
    ("rule", "room", "places"),
    [
        (starts_a_process, "repro_runner", ("repro_runner/process/", GENERATED_SCRIPTS)),
        (makes_a_jinja_environment, "", ("repro_runner/output/templates.py", "sitegen/templating.py")),
        (replaces_a_file, "", ("registry/datafile.py", "sitegen/write.py")),
        (spells_the_resume_function, "", ("repro_runner/capture/breaks.py",)),
        (spells_how_ids_look, "", ("registry/ids.py",)),
        (spells_the_head_of_a_document, "", ("registry/documents.py",)),
        (names_an_exit_code_by_its_number, "repro_runner/cli", ()),
        (spells_a_private_name_of_torch, "repro_runner", ("repro_runner/torch_seams.py", GENERATED_SCRIPTS)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_it_stands_in_one_place(rule: object, room: str, places: tuple[str, ...]) -> None:
    assert callable(rule)
    wrong = [
        f"{name_of(path)}:{line}"
        for path in (modules(room) if room else everywhere())
        if not name_of(path).startswith(places or ("-",))
        for line in rule(path)
    ]
    assert wrong == []


def test_what_is_used_of_a_private_module_of_torch_is_listed_with_it() -> None:
    """So that `graphbreak doctor` looks for it: `convert_frame.ConvertFrame` is a name of torch, too."""
    used: dict[str, set[str]] = {}
    for path in modules("repro_runner"):
        seams = {
            alias.asname or alias.name: alias.name
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ImportFrom) and node.module == "repro_runner.torch_seams"
            for alias in node.names
            if alias.name in SEAMS
        }
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in seams:
                used.setdefault(seams[node.value.id], set()).add(node.attr)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "wrap" and len(node.args) > 2:
                owner, member = node.args[1:3]
                if isinstance(owner, ast.Name) and owner.id in seams and isinstance(member, ast.Constant):
                    used.setdefault(seams[owner.id], set()).add(str(member.value))
    listed = {name: {member.rstrip("?") for member in seam.members.split()} for name, seam in SEAMS.items()}
    assert {name: missing for name, members in used.items() if (missing := members - listed[name])} == {}
