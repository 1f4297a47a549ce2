"""`graphbreak add`: types and counts of a saved run go into the registry, and nothing that is its owner's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.captured import captured_document, dump_captured, read_captured
from registry.ids import local_id
from registry.model import CapturedProgram
from repro_runner.capture.breaks import UserFrame
from repro_runner.cli import main
from repro_runner.explain.fingerprint import take_fingerprint
from repro_runner.explain.site import Program, Site
from repro_runner.output.terminal import plain
from tests.committed import committed_registry
from tests.repro_runner.fixtures.saved_runs import BRANCH, ITEM, LOOP, a_report, a_site, save

pytestmark = pytest.mark.slow


def add(*arguments: str | Path) -> int:
    return main(["add", *map(str, arguments)])


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    folder = tmp_path / "captured"
    folder.mkdir()
    return folder


def test_sites_are_counted_by_type_what_they_surfaced_as_too(
    tmp_path: Path, captured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = a_report(
        a_site(BRANCH, compiled=2, ran=10),
        a_site(BRANCH, line=20, kind="frame skipped", ran=4),
        a_site(ITEM, LOOP, line=30, ran=None),
        recompiles=2,
    )
    run = save(tmp_path / "run.json", report)
    assert add(run, "--name", "net", "--about", "a net of mine", "--into", captured) == 0
    (program,) = read_captured(captured)
    assert {
        one.gb_id: (one.wording.gb_type, one.sites, one.compiled, one.ran, dict(one.kinds)) for one in program.breaks
    } == {
        "GB0124": (ITEM[1], 1, 1, None, {"resumed": 1}),
        "GB0170": (BRANCH[1], 2, 3, 14, {"frame skipped": 1, "resumed": 1}),
        "GB7000": (LOOP[1], 1, 1, None, {"resumed": 1}),
    }
    assert program.totals == {"graphs": 4, "ops": 20, "frames": 3, "compilations": 5, "recompiles": 2}
    assert (program.about, program.environment.torch, program.environment.date) == (
        "a net of mine",
        "2.13.0",
        "2026-01-05",
    )
    told = capsys.readouterr().out
    assert told == f"{captured / 'net.json'}: 3 types of break at 3 lines, torch 2.13.0\n"


def fingerprint(*sites: Site) -> CapturedProgram:
    return take_fingerprint(a_report(*sites), name="net", about="", registry=committed_registry()).program


def test_the_wording_is_the_registrys_with_its_placeholders_not_what_was_filled_in() -> None:
    site = a_site(ITEM, context="value 42 of secret", explanation="secret explanation", hints=("secret hint",))
    program = fingerprint(site)
    gb = next(gb for gb in committed_registry() if gb.gb_id == "GB0124")
    assert program.breaks[0].wording in [dated.revision for dated in gb.revisions if "2.13.0" in dated.releases]


def test_the_same_run_gives_the_same_bytes_whatever_the_order_of_its_sites() -> None:
    sites = [a_site(BRANCH), a_site(ITEM, line=20), a_site(BRANCH, LOOP, line=30)]
    assert dump_captured(fingerprint(*sites)) == dump_captured(fingerprint(*sites[::-1]))


PRIVATE = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=8, max_size=12).map("zq9{}".format)


@given(st.lists(PRIVATE, min_size=16, max_size=16, unique=True), st.booleans())
def test_no_path_source_function_or_value_is_kept(private: list[str], quoted: bool) -> None:
    name, argument, error, file, function, source, context, explanation, hint, message, outer, *more = private
    gb_type = f"A type that quotes {more[0]}" if quoted else "A type that nobody knows"
    site = a_site(
        BRANCH,
        (local_id(gb_type), gb_type),
        file=f"/home/{file}/{more[1]}.py",
        function=more[0],
        source=f"{source} = '{more[2]}'",
        context=context,
        explanation=explanation,
        hints=(hint,),
        message=message,
    )
    site = replace(site, stack=(UserFrame(file=outer, line=1, function=function, source=more[3]), *site.stack))
    report = a_report(site, platform=more[4])
    report.program = Program(name=name, arguments=(argument,), exit_code=1, error=error)
    taken = take_fingerprint(report, name="net", about="", registry=committed_registry())
    text = dump_captured(taken.program)
    assert [one for one in private if one in text] == []
    assert taken.left_out == ((gb_type,) if quoted else ())
    assert ("A type that nobody knows" in text) is not quoted


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a document, with the keys that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from strings(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from strings(one, path)


def test_all_texts_of_the_file_are_the_registrys_or_the_environments() -> None:
    written = captured_document(fingerprint(a_site(ITEM, LOOP, context="mine")))
    wordings = {
        text
        for gb in committed_registry()
        for dated in gb.revisions
        for text in (gb.gb_id, dated.revision.gb_type, dated.revision.context, dated.revision.explanation)
    } | {hint for gb in committed_registry() for dated in gb.revisions for hint in dated.revision.hints}
    others = {path: text for path, text in strings(written) if text not in wordings}
    assert others == {
        ".kind": "captured",
        ".environment.torch": "2.13.0",
        ".environment.python": "3.11",
        ".environment.device": "cpu",
        ".environment.date": "2026-01-05",
    }


def test_a_type_without_an_id_is_kept_under_a_local_one() -> None:
    gb_type = "Something that only a torch of tomorrow says"
    (one,) = fingerprint(a_site((local_id(gb_type), gb_type))).breaks
    assert (one.gb_id, one.wording.gb_type, one.wording.explanation) == (local_id(gb_type), gb_type, "")


@pytest.mark.parametrize(
    "gb_type",
    [
        "Can't trace load_weights",
        "'skip function secret in file /home/me/other.py'",
        "inline C:\\me\\secret",
        "call_method UserDefinedObjectVariable(Secret) [] {}",
        "builtin: print [<class 'secret.Net'>] False",
    ],
)
def test_a_type_that_quotes_the_program_is_left_out_and_said(
    tmp_path: Path, captured: Path, capsys: pytest.CaptureFixture[str], gb_type: str
) -> None:
    run = save(tmp_path / "run.json", a_report(a_site((local_id(gb_type), gb_type), function="load_weights")))
    assert add(run, "--name", "net", "--into", captured) == 1
    assert plain(gb_type) in capsys.readouterr().err
    assert read_captured(captured)[0].breaks == ()


def test_a_type_with_a_value_filled_in_is_kept_as_the_registry_has_it() -> None:
    gb = next(gb for gb in committed_registry() if "{" in gb.gb_type and gb.registered)
    filled = gb.gb_type.replace("{", "").replace("}", "")
    sites = [a_site((gb.gb_id, filled)), a_site((gb.gb_id, filled.upper()), line=20)]
    (one,) = fingerprint(*sites).breaks
    assert (one.wording.gb_type, one.sites) == (gb.gb_type, 2)


def test_a_program_is_replaced_only_by_force(
    tmp_path: Path, captured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = save(tmp_path / "first.json", a_report(a_site(BRANCH)))
    second = save(tmp_path / "second.json", a_report())
    assert add(first, "--name", "net", "--into", captured) == 0
    before = (captured / "net.json").read_bytes()
    assert add(second, "--name", "net", "--into", captured) == 2
    assert "is there already; choose another --name, or replace it with --force" in capsys.readouterr().err
    assert (captured / "net.json").read_bytes() == before
    assert add(second, "--name", "net", "--into", captured, "--force") == 0
    assert read_captured(captured)[0].breaks == ()


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(tmp_path / "no.json", "--name", "My Net", "--about", "two\nlines", "--into", tmp_path) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["--name My Net", "--about", str(tmp_path / "no.json")]
    assert list(tmp_path.iterdir()) == []


REMEDY = "`graphbreak explain --save FILE SCRIPT` writes one"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", f"not a document of kind 'explain' or 'captured' or 'log'; {REMEDY}"),
        ('{"kind": "evidence", "schema": 1}', "not a document of kind"),
        (
            '{"kind": "explain", "schema": 99}',
            "written by a newer version (schema 99; this one reads up to 6); update this one",
        ),
        ('{"kind": "explain", "schema": 1}', "a damaged file"),
        ('{"kind": "explain", "schema": 1, "sites": 3}', "a damaged file"),
        ("\x80", "not JSON"),
    ],
)
def test_what_is_no_saved_run_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, reason: str
) -> None:
    (tmp_path / "run.json").write_text(content, "latin-1")
    assert add(tmp_path / "run.json", "--name", "net", "--into", tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{tmp_path / 'run.json'}: {reason}")


def test_a_captured_program_is_not_captured_again(captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (captured / "net.json").write_text(dump_captured(fingerprint(a_site(BRANCH))), "utf-8")
    assert add(captured / "net.json", "--name", "other", "--into", captured) == 2
    assert "is captured already; copy it into registry/captured" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = save(tmp_path / "run.json", a_report())
    assert add(run, "--name", "net", "--into", tmp_path / "nowhere") == 2
    assert "no such folder; make it, or name another file" in capsys.readouterr().err


LOG = """\
V1115 10:00:00.000000 1 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks] Graph break in user code at /home/me/secret.py:9
V1115 10:00:00.000000 1 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks] Graph Break Reason: Data-dependent branching
V1115 10:00:00.000000 1 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks]   Explanation: Detected data-dependent branching
V1115 10:00:00.000000 1 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks]   Developer debug context: attempted to jump with secret
V1115 10:00:00.000000 1 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks]
"""  # noqa: E501


@pytest.mark.prove
def test_the_breaks_of_a_log_are_added_too(tmp_path: Path, captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "breaks.log").write_text(LOG, "utf-8")
    for options, run in ((["--torch", "2.13.0"], "named.json"), ([], "unnamed.json")):
        assert main(["log", "--format", "json", *options, str(tmp_path / "breaks.log")]) == 0
        (tmp_path / run).write_text(capsys.readouterr().out, "utf-8")
    assert add(tmp_path / "named.json", "--name", "net", "--into", captured) == 0
    (program,) = read_captured(captured)
    assert [(one.gb_id, one.sites, one.compiled, one.ran) for one in program.breaks] == [("GB0170", 1, 1, None)]
    assert "secret" not in (captured / "net.json").read_text("utf-8")
    assert add(tmp_path / "unnamed.json", "--name", "other", "--into", captured) == 2
    assert "does not say its torch; `graphbreak log --torch 2.13.0` does" in capsys.readouterr().err
