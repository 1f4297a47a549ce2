"""`graphbreak log`: what it prints and writes, its exit codes, and that it needs neither torch nor memory."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import zstandard

from repro_runner.cli import main
from tests.conftest import ROOT
from tests.repro_runner.fixtures import FIXTURES
from tests.repro_runner.fixtures.tt_xla_logs import Compiled, as_bytes, compiling

pytestmark = pytest.mark.slow

RECORDED = FIXTURES / "recorded_logs"
TRACES = FIXTURES / "recorded_traces"
SEVEN = RECORDED / "seven.dynamo.log.zst"
REPORT = """\
Graph break in user code at /home/ann/project/model.py:7
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Nothing new.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.invalid/gb/gb0170.html
"""
MOST_MIB = 160
"""Twice what it takes; a reader that kept what it reads would take some of the 400 MB that it is given."""


def run(*words: object) -> int:
    return main(["log", *map(str, words)])


def child(*words: object, prelude: str = "") -> list[str]:
    program = f"import sys\n{prelude}\nfrom repro_runner.cli import main\nsys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-c", program, "log", *map(str, words)]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "breaks.log"
    path.write_text(REPORT, "utf-8")
    return path


def test_everything_works_with_no_torch_installed(tmp_path: Path) -> None:
    tt_xla = tmp_path / "tt.log"
    tt_xla.write_bytes(as_bytes(compiling(Compiled())))
    words = (SEVEN, RECORDED, *sorted(TRACES.glob("*.*")), tt_xla, "--format", "json")
    answer = subprocess.run(
        child(*words, prelude="sys.modules['torch'] = None"), cwd=ROOT, capture_output=True, text=True, check=True
    )
    document = json.loads(answer.stdout)
    assert {file["format"] for file in document["files"]} == {
        "graph_breaks", "traceback", "torch trace", "tt-xla", "text",
    }  # fmt: skip
    assert document["format"] == "mixed"
    jsonschema.validate(document, json.loads((ROOT / "repro_runner/logs/log.schema.json").read_text("utf-8")))
    jsonschema.Draft202012Validator.check_schema(json.loads((ROOT / "repro_runner/logs/log.schema.json").read_text()))


def test_the_document_has_breaks_with_their_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SEVEN, "--format", "json", "--torch", "2.13.0") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"], document["format"]) == ("log", 3, "graph_breaks")
    assert (document["graphs"], document["reports"], document["unknown"]) == (18, 26, 0)
    assert [one["count"] for one in document["breaks"]] == sorted(one["count"] for one in document["breaks"])[::-1]
    loop = next(one for one in document["breaks"] if "GB7000" in one["gb_ids"])
    assert loop["gb_ids"] == ["GB0025", "GB7000"]
    assert loop["links"][1].endswith("/gb/gb7000.html")
    assert (loop["file"], loop["line"], loop["kind"]) == ("/home/ann/project/seven.py", 43, "frame skipped")
    branch = next(one for one in document["breaks"] if one["gb_ids"] == ["GB0170"])
    (answer,) = branch["answers"]
    assert answer["fixes"][0]["verified_on"] == "2.13.0"
    assert "torch.where" in answer["fixes"][0]["code"]


def test_the_terminal_shows_id_place_count_link_hint_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SEVEN) == 0
    shown = capsys.readouterr().out
    for words in (
        "GB0170 resumed  /home/ann/project/seven.py:21 in choose",
        "if x.sum() > 0:",
        "reported 4×, first at",
        "cause GB0025 → surfaced as GB7000",
        "Use `torch.cond` to express dynamic control flow.",
        "return torch.where(",
        "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html",
        "8 breaks, reported 26× · 18 graphs · graph_breaks, ",
    ):
        assert words in shown
    assert shown.index("GB0170") < shown.index("GB7000") < shown.index("GB0003")
    assert "\x1b" not in shown


def test_a_summary_groups_by_category(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SEVEN, "--summary") == 0
    shown = capsys.readouterr().out
    assert "2 of 8 breaks are about data-dependent control flow" in shown
    assert "return torch.where(" not in shown


def test_markdown_goes_to_a_file_and_a_log_can_not_write_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.log"
    path.write_text(REPORT.replace("Data-dependent branching\n", "<script>[x](y)`**new**`\n", 1).replace("/gb/", "/"))
    out = tmp_path / "breaks.md"
    assert run(path, "--format", "md", "--out", out) == 0
    text = out.read_text("utf-8")
    assert text.startswith("## Graph breaks of ")
    assert "<script>" not in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert capsys.readouterr().out == ""


def test_one_reading_gives_several_formats(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = report.parent
    assert run(report, "--format", "github", "--also", f"sarif={folder}/a", "--also", f"badge={folder}/b") == 0
    assert capsys.readouterr().out.startswith("::warning file=")
    (result,) = json.loads((folder / "a").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "GB0170"
    assert json.loads((folder / "b").read_text("utf-8"))["message"] == "1"


@pytest.mark.parametrize("word", ["sarif", "sarif=", "terminal=a", "docx=a"])
def test_another_format_needs_a_name_and_a_file(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("gone.log", "--also", word)
    assert ended.value.code == 2
    assert f"argument --also: '{word}': write FORMAT=FILE, with one of json, md, sarif" in capsys.readouterr().err


def test_what_a_log_holds_can_not_steer_the_terminal(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.write_text(REPORT.replace("model.py", "\x1b]0;title\x07model.py").replace("Nothing", "\x9b31m"), "utf-8")
    assert run(report) == 0
    shown = capsys.readouterr().out
    assert "GB0170" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}


@pytest.mark.prove
def test_names_that_are_no_text_and_terminals_that_know_few_characters_are_no_failure(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff\n.log")).write_text(REPORT, "utf-8")
    words = [sys.executable, "-m", "repro_runner", "log", str(tmp_path), "--torch", "2.13.0+cpu"]
    for more in (["--format", "json"], ["--format", "md"], ["--report", str(tmp_path / "out")]):
        answer = subprocess.run(
            [*words, *more], cwd=ROOT, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
        )
        assert (answer.returncode, b"GB0170" in answer.stdout) == (0, True), answer.stderr


def test_with_fail_on_break_a_break_is_exit_code_1(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(report, "--fail-on-break") == 1
    assert "exit code 1: 1 break" in capsys.readouterr().err


def test_an_unreadable_file_is_exit_code_2_and_the_rest_is_shown(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(report, report.with_name("gone.log"), "--fail-on-break") == 2
    shown = capsys.readouterr()
    assert "GB0170" in shown.out
    assert re.search(r"gone\.log: No such file or directory; it is left out", shown.err)


def test_where_nothing_can_be_read_it_does_not_say_that_there_are_no_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty" / "deep").mkdir(parents=True)
    assert run(tmp_path / "empty", "--report", tmp_path / "out") == 2
    assert run(tmp_path / "none.log") == 2
    nothing = capsys.readouterr()
    assert nothing.out == ""
    assert nothing.err.splitlines() == [
        f"{tmp_path / 'empty'}: no files are there; name a log, or a folder with logs",
        f"{tmp_path / 'none.log'}: No such file or directory; it is left out",
    ]
    assert not (tmp_path / "out").exists()
    assert run(sys.executable) == 2
    assert "nothing could be read" in capsys.readouterr().out


def test_a_log_that_can_not_tell_is_not_called_free_of_breaks_and_the_command_that_mends_it_can_be_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "tt.log"
    log.write_bytes(as_bytes(compiling(Compiled(), locations=False)))
    command = (
        "TTXLA_LOGGER_LEVEL=DEBUG TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG XLA_HLO_DEBUG=1 TORCH_LOGS=+dynamo "
        "python script.py > script.log 2>&1"
    )
    assert run(log) == 0
    shown = capsys.readouterr().out
    assert "no graph breaks" not in shown
    assert shown.count("not fit to tell ") == 3
    assert shown.splitlines().count(command) == 1
    assert run(log, "--format", "md") == 0
    assert capsys.readouterr().out.count(f"`{command}`") == 1


def test_files_beside_a_log_in_a_folder_are_not_called_unfit(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = report.with_name("stdout.log")
    other.write_text("step 1 loss 0.5\n")
    assert run(report.parent) == 0
    assert "where graphs break" not in capsys.readouterr().out
    assert run(report, other) == 0
    # A long path may be broken anywhere.
    assert f"{other}:notfittotellwheregraphsbreak" in "".join(capsys.readouterr().out.split())


def test_of_a_file_that_is_cut_the_rest_is_shown_and_the_cut_is_said(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = gzip.compress(REPORT.encode() + bytes(range(32, 127)) * 1000 + b"\n")
    report.write_bytes(packed[:-20])
    assert run(report) == 2
    shown = capsys.readouterr()
    assert "GB0170" in shown.out
    assert "the gzip data ends too early; what came before is counted" in shown.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--torch", "new"], "write a release as torch.__version__ has it"),
        (["--out", "no/such/folder/a.md"], "there is no such folder"),
        (["--out", "."], "is a folder"),
        (["--also", "sarif=no/such/folder/a.sarif"], "--also sarif no/such/folder/a.sarif: there is no such folder"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_is_read(
    words: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("gone.log", *words) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "gone.log" not in shown.err
    assert shown.out == ""


def test_what_is_handed_over_has_the_registrys_program_of_every_break(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(SEVEN, "--report", out, "--summary") == 0
    text = (out / "report.md").read_text("utf-8")
    assert "| reports of breaks | 26 |" in text
    assert text.index("GB0170") < text.index("GB0003")
    programs = {path.name[:6] for path in (out / "repros").iterdir()}
    assert programs == {"GB0003", "GB0007", "GB0025", "GB0059", "GB0124", "GB0170"}
    assert "report.md written" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert run(SEVEN, "--report", tmp_path / "mine") == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_on_a_terminal_a_bar_shows_how_far_it_is_and_leaves_the_output_alone(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    path.write_bytes(REPORT.encode() + b"step 1 loss 0.5\n" * 2_500_000)
    terminal, inner = pty.openpty()
    with subprocess.Popen(
        child(path, "--format", "json"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=inner,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(inner)
        out, _ = process.communicate()
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert process.returncode == 0
    assert re.search(r"[0-9.]+/40\.0 MB", shown)
    assert json.loads(out)["breaks"][0]["gb_ids"] == ["GB0170"]


def test_without_a_file_the_command_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 2
    assert "name a log, a folder of logs, or - for standard input" in capsys.readouterr().err


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--schema")
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["properties"]["kind"] == {"const": "log"}


def test_interrupted_it_shows_what_was_read_up_to_there() -> None:
    with subprocess.Popen(
        child("-", "--format", "json"), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        # A pipe holds little: when all of this is written, the child has read and searched the first block.
        process.stdin.write(REPORT.encode() + b"step 1 loss 0.5\n" * 1_000_000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    document = json.loads(out)
    assert document["interrupted"] is True
    assert [one["gb_ids"] for one in document["breaks"]] == [["GB0170"]]
    assert b"interrupted; what was read up to there is shown" in err


def write_hostile_logs(folder: Path) -> int:
    """Logs that are small on disk or go on without end; gives the bytes in them."""
    line = b"x" * 99 + b"\n"
    zeros = gzip.compress(bytes(16 * 2**20))
    (folder / "zeros.log.gz").write_bytes(zeros * 128)  # 2 GiB of zeros in 2 MiB
    (folder / "zeros.log.zst").write_bytes(zstandard.ZstdCompressor().compress(bytes(2**30)))
    text = gzip.compress(line * 160_000) * 8 + gzip.compress(REPORT.replace(":7", ":8").encode())
    (folder / "text.log.gz").write_bytes(text)
    with (folder / "line.log").open("wb") as one_line:
        for _ in range(100):
            one_line.write(b"word " * 200_000)
        one_line.write(REPORT.replace("\n", "\\n").encode() + b"more " * 200_000)
    return 8 * 16_000_000 + 101_000_000


def test_memory_does_not_grow_with_what_is_read(tmp_path: Path) -> None:
    """Bombs, a line of 100 MB, and 200 MB by standard input, in one process that must stay small."""
    at_least = write_hostile_logs(tmp_path)
    # Not getrusage: its maximum is inherited from the process that started this one.
    prelude = (
        "import atexit, pathlib, re\n"
        "status = pathlib.Path('/proc/self/status')\n"
        "atexit.register(lambda: print(re.search(r'VmHWM:\\s*([0-9]+) kB', status.read_text())[1], file=sys.stderr))"
    )
    with subprocess.Popen(
        child("-", tmp_path, "--format", "json", prelude=prelude),
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        noise = b"".join(b"%08d loss 0.123 lr 1e-4\n" % number for number in range(80_000))
        for _ in range(100):
            process.stdin.write(noise)
        process.stdin.write(REPORT.encode())
        out, err = process.communicate()
    assert process.returncode == 0, err
    document = json.loads(out)
    assert sum(file["bytes"] for file in document["files"]) > at_least + 100 * len(noise)
    assert {(one["line"], one["count"]) for one in document["breaks"]} == {(7, 1), (8, 1), (0, 1)}
    formats = {Path(file["name"]).name: file["format"] for file in document["files"]}
    assert formats["zeros.log.gz"] == formats["zeros.log.zst"] == "binary"
    assert int(err) / 1024 < MOST_MIB


def test_recompiles_are_one_section_with_their_guards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", str(FIXTURES / "recorded_logs" / "recompiles-2.13.0.log")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("not a graph break") == 1
    assert "reported 3×" in shown
    assert "recompiled 1×: n == 1" in " ".join(shown.split())
    assert "other (/home/user/project/rec.py:7) recompiled 1×: flag == True" in " ".join(shown.split())
