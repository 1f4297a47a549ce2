"""A user's program runs as `python` would run it, and afterwards this process is as it was."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from registry.errors import InvalidInput
from repro_runner.explain import Report
from repro_runner.explain.counting import Tally, _counter_instructions, read_instructions, spliced, with_counter
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program
from repro_runner.explain.site import EXPORT_STOPPED, ONE_GRAPH
from tests.repro_runner.fixtures import FIXTURES

pytestmark = pytest.mark.torch

PROGRAMS = FIXTURES / "programs"
NO_REST = """
import asyncio, torch
async def waits(x):
    await asyncio.sleep(0)
asyncio.run(torch.compile(waits, backend="eager")(torch.ones(2)))
"""
"""Torch itself fails, and shows its own frames."""


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """No program leaves anything behind; what one imported is forgotten."""
    torch._dynamo.reset()
    before = list(sys.argv), list(sys.path), sys.modules["__main__"], list(sys.meta_path), torch._dynamo.optimize
    loaded = set(sys.modules)
    yield
    after = list(sys.argv), list(sys.path), sys.modules["__main__"], list(sys.meta_path), torch._dynamo.optimize
    assert after == before
    for name in set(sys.modules) - loaded:
        if getattr(sys.modules[name], "__file__", None) and str(PROGRAMS) in str(sys.modules[name].__file__):
            del sys.modules[name]
    torch._dynamo.reset()


def run(name: str, *arguments: str, compiled: tuple[str, ...] = (), allow_breaks: bool = False) -> Report:
    return run_program(
        ProgramToRun(script=str(PROGRAMS / name), arguments=arguments, compiled=compiled, allow_breaks=allow_breaks)
    )


def written(tmp_path: Path, source: str) -> str:
    script = tmp_path / "program.py"
    script.write_text(source)
    return str(script)


def functions(report: Report) -> list[str]:
    return sorted(site.function for site in report)


def test_what_a_library_compiles_is_seen() -> None:
    (site,) = run("uses_library.py")
    assert (Path(site.file).name, site.function, site.frequency.ran) == ("library.py", "normalised", 3)


def test_functions_methods_and_classes_are_compiled_on_request_and_put_back() -> None:
    wanted = ("library:smooth", "__main__:step", "library.py:Net.forward", "library:Net.scaled", "uses_library.py:Head")
    report = run("uses_library.py", compiled=wanted)
    assert functions(report) == ["forward", "forward", "normalised", "scaled", "smooth", "step"]
    assert {site.frequency.ran for site in report} == {3}
    step = next(site for site in report if site.function == "step")
    assert (PROGRAMS / "uses_library.py").read_text().splitlines()[step.line - 1].strip() == step.source
    library = sys.modules["library"]
    assert not hasattr(library.smooth, "_torchdynamo_orig_callable")
    assert isinstance(vars(library.Net)["scaled"], staticmethod)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("__main__:stp", "there is no `stp`; did you mean `step`?"),
        ("library:smoth", "there is no `smooth`"),
        ("library:Net.forwrd", "there is no `forwrd`; did you mean `forward`"),
        ("missing_library:f", "can't be imported: ModuleNotFoundError: No module named 'missing_library'"),
        ("step", "name a function as `package.module:function`"),
        ("/elsewhere/model.py:f", "the program can't import this file"),
        ("collections:OrderedDict", "a class with no `forward` and no `__call__`; name a method of it"),
        ("library:__doc__", "can't be compiled: it is str, not a function"),
    ],
)
def test_what_can_not_be_compiled_is_refused_with_what_to_do(wanted: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        run("uses_library.py", compiled=(wanted,))
    assert str(refused.value).startswith(f"{wanted}: ")
    assert said.replace("`smooth`", "`smoth`; did you mean `smooth`?") in str(refused.value)


def test_threads_that_outlive_the_main_one_are_waited_for_and_counted() -> None:
    (site,) = run("threads.py")
    assert site.frequency.ran == 150


@pytest.mark.timeout(60)
def test_threads_of_a_pool_that_is_never_shut_down_are_not_waited_for(tmp_path: Path) -> None:
    source = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\n"
        "assert pool.submit(abs, -1).result() == 1\n"
    )
    assert run_program(ProgramToRun(script=written(tmp_path, source))).program.exit_code == 0


def test_a_crash_gives_the_report_up_to_there_and_the_program_s_own_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = run("crash.py")
    assert (report.program.exit_code, report.program.error) == (1, "ZeroDivisionError: division by zero")
    assert functions(report) == ["work"]
    told = capsys.readouterr().err
    assert told.startswith(f'Traceback (most recent call last):\n  File "{PROGRAMS / "crash.py"}", line ')
    assert told.endswith("ZeroDivisionError: division by zero\n")
    assert told.count("File ") == 2


@pytest.mark.parametrize(
    ("source", "exit_code", "error", "printed"),
    [
        ("import sys; sys.exit()", 0, "", ""),
        ("import sys; sys.exit(7)", 7, "", ""),
        ("import sys; sys.exit('no such thing')", 1, "", "no such thing\n"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt", ""),
        ("def f(:", 1, "SyntaxError: ", "SyntaxError: "),
        (NO_REST, 1, "AssertionError: ", "convert_frame.py"),
    ],
)
def test_a_program_ends_as_it_would_by_itself(
    source: str, exit_code: int, error: str, printed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run_program(ProgramToRun(script=written(tmp_path, source), arguments=("--help", "x")))
    assert report.program.exit_code == exit_code
    assert report.program.error.startswith(error)
    assert bool(report.program.error) == bool(error)
    assert printed in (told := capsys.readouterr().err)
    assert "repro_runner" not in told
    assert report.program.arguments == ("--help", "x")


def test_a_script_sees_itself_as_python_would_show_it_also_after_it_went_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "import os, sys; os.chdir('/')\n"
        "print([__name__, __file__, __spec__, sys.argv, sys.path[0], sys.modules['__main__'].__file__])\n"
        "print(sorted(globals()), __builtins__, type(__loader__), __loader__.get_data(__file__))\n"
        "print((lambda: 0).__code__.co_filename)"
    )
    (tmp_path / "real").mkdir()
    (tmp_path / "link.py").symlink_to(written(tmp_path / "real", source))
    monkeypatch.chdir(tmp_path)
    run_program(ProgramToRun(script="link.py", arguments=("a", "-b")))
    asked = subprocess.run([sys.executable, "link.py", "a", "-b"], capture_output=True, text=True, cwd=tmp_path)
    assert capsys.readouterr().out == asked.stdout


def test_a_module_runs_as_python_dash_m_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(PROGRAMS)
    program = ProgramToRun(module="as_module", arguments=("a",), compiled=("as_module:plain",))
    report = run_program(program)
    assert capsys.readouterr().out == "A package that is run. __main__ as_module ['a']\n"
    assert (report.program.name, report.program.exit_code) == ("as_module", 3)
    assert functions(report) == ["plain", "work"]


@pytest.mark.parametrize(
    "program", [ProgramToRun(script="nowhere.py"), ProgramToRun(module="nowhere"), ProgramToRun(module="json.nowhere")]
)
def test_a_program_that_is_not_there_is_refused(program: ProgramToRun) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        run_program(program)


EXPORTS = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1
torch.export.export(Net(), (torch.ones(3),), strict={strict})
"""


@pytest.mark.parametrize(("strict", "gb_type"), [(True, "Data-dependent branching"), (False, "GuardOnDataDependent")])
def test_what_stops_an_export_is_listed_with_its_line(tmp_path: Path, strict: bool, gb_type: str) -> None:
    report = run_program(ProgramToRun(script=written(tmp_path, EXPORTS.format(strict=strict))))
    (site,) = report
    assert site.gb_type.startswith(gb_type)
    assert (site.line, site.function, site.kind) == (5, "forward", "fatal")
    assert site.frequency.why_unknown == EXPORT_STOPPED
    text = " ".join(report.text().split())
    assert "the export stops here with an error" in text
    assert "nothing was compiled" not in text


def test_an_error_of_the_program_in_an_export_and_an_export_that_works_are_no_breaks(tmp_path: Path) -> None:
    wrong = EXPORTS.replace("if x.sum() > 0:", "if x.shape[0] == 3: raise ValueError('mine')")
    assert len(run_program(ProgramToRun(script=written(tmp_path, wrong.format(strict=False))))) == 0
    fine = EXPORTS.replace("x.sum() > 0", "x.shape[0] > 0")
    assert len(run_program(ProgramToRun(script=written(tmp_path, fine.format(strict=True))))) == 0


def test_what_asks_for_one_graph_fails_at_its_first_break_and_lists_all_when_breaks_are_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    strict = run("strict.py")
    assert "failed 5" in capsys.readouterr().out
    assert strict.program.error.startswith("Unsupported: ")
    assert {(site.kind, site.frequency.why_unknown) for site in strict} == {("fatal", ONE_GRAPH)}
    assert functions(strict) == ["fifth", "first", "forward", "fourth", "second"]
    torch._dynamo.reset()
    allowed = run("strict.py", allow_breaks=True)
    assert "failed 0" in capsys.readouterr().out
    assert (allowed.program.exit_code, allowed.program.error) == (0, "")
    assert {site.kind for site in allowed} == {"resumed"}
    assert functions(allowed) == ["fifth", "first", "first", "forward", "fourth", "second"]


# Splicing


def long_function() -> types.FunctionType:
    """With more names than fit an instruction, and a line that goes on in the next."""
    lines = [f"    x = x + v{number}" for number in range(140)]
    names: dict[str, object] = {f"v{number}": number for number in range(140)}
    exec("\n".join(["def f(a):", "    x = a", *lines, "    return (x,", "        a)"]), names)
    found = names["f"]
    assert isinstance(found, types.FunctionType)
    return found


def test_a_counter_anywhere_in_code_counts_and_changes_neither_results_nor_lines() -> None:
    function = long_function()
    before = [one for one in function.__code__.co_lines() if one[2] is not None]
    lines = [line for start, end, line in before for _ in range(start, end, 2)]
    for one in read_instructions(function.__code__):
        if one.opname == "RESUME":
            continue
        tally = Tally()
        code = spliced(function.__code__, one.offset, _counter_instructions(tally), tally.turn)
        assert code is not None
        assert types.FunctionType(code, function.__globals__)(3) == function(3)
        assert tally.read() == 1
        after = [line for start, end, line in code.co_lines() if line is not None for _ in range(start, end, 2)]
        assert after == lines


def test_code_with_handlers_is_counted_the_long_way() -> None:
    def handled(x: int) -> float:
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0.0

    tally = Tally()
    code = with_counter(handled.__code__, tally)
    assert code is not None
    again = types.FunctionType(code, globals())
    assert [again(2), again(0)] == [0.5, 0.0]
    assert tally.read() == 2
