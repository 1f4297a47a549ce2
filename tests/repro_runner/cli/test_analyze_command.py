"""`graphbreak analyze`: text from what a run left, and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_runner.cli import main
from repro_runner.runs import RunFolder
from tests.repro_runner.fixtures.sample_run import HOSTILE, sample_documents, write_sample_run

TYPES = ["summary", "constraints", "graphs", "guards", "numerics", "bench", "minified"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["analyze", *arguments]) == 0
    return capsys.readouterr().out


def test_the_summary_is_what_is_shown_unless_something_else_is_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_sample_run(home)
    text = shown(capsys)
    assert text.startswith(
        f"{run.id}  model.py:make_model\n✗  Device limits     4 violations on 3 lines of the program: "
    )
    assert "\n!  Graph breaks      2 breaks: GB0170, GBL-12ab34\n" in text
    assert text == shown(capsys, "--type", "summary")


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (
            "constraints",
            """\
4 violations
shape-alignment (3)
  /home/me/project/model.py:12
    2x  aten.mm.default  float32[4, 3]  forward  dimension 1 is 3: not a multiple of 16
  /home/me/project/model.py:7
    1x  aten.t.default  float32[s77, 3]  backward  dimension 1 is 3: not a multiple of 16
unsupported-op (1)
  /home/me/project/model.py:15
    1x  aten.erf.default  float32[4, 3]  forward  the device has no aten.erf.default

device npu: 1 of 3 kinds of op refused
  aten.erf.default: 1 of 1
    unsupported-op: the device has no aten.erf.default
""",
        ),
        (
            "graphs",
            """\
graph            nodes  ops  inputs  outputs      peak  most frequent
    0  pre-AOT      14    7       4        2         -  aten.mm.default 3, aten.t.default 2, aten.add.Tensor 1
    0  forward      14    7       4        2  80.0 KiB  aten.mm.default 3, aten.t.default 2, aten.add.Tensor 1
""",
        ),
        (
            "guards",
            """\
2 calls, 2 graphs, 8 recompiles
recompiled 8x: Model.forward (/home/me/project/model.py:10)
  x had 4 rows, now it has 5
""",
        ),
        (
            "guards",
            """\
  torch gave up: recompile_limit (8)
  -> let dimension 0 of x vary (tried: it helps)
       torch._dynamo.mark_dynamic(x, 0)
  -> compile with dynamic=True
Model.forward [0/0]: 3 guards
  a float32 tensor of shape [4, 8] on cpu that does not require grad  /home/me/project/model.py:12
  2 about the state of torch
""",
        ),
        (
            "numerics",
            """\
faulty differs from eager in 2 of 17 values (faulty against eager, seed 0, 2 runs each, gradients compared)
In graph 1 of 1 (9 ops) the first op that differs is gelu
  takes float32[4, 3]
faulty itself varies from one run to the next: output.logits
value          like it  tensor         max abs  mean abs  max rel   RMSE      ULP  cosine  mismatched
output.note                                  –         –        –      –        –       –           –  DIFFERS
output.logits           float32[4, 3]     0.25     0.021      inf  0.072  8388608       1     8.333 %  DIFFERS
output[0]           14  float32[4, 3]        0         0        0      0        0       1         0 %  equal
output.note: 'a' instead of 'b'
""",
        ),
        ("bench", "inductor  21.5 s            –     800 µs   720 µs – 960 µs  640 µs"),
        ("bench", "aot failed: it hung\n"),
        (
            "minified",
            "2 of 36 operations are enough: aten.mm.default float32[4, 3]: dimension 1 is 3 (shape-alignment)\n",
        ),
        ("minified", '/minified/repro.py\n\n"""Two of 36 operations."""\nimport torch\n'),
    ],
)
def test_each_type_shows_its_documents(home: Path, asked: str, lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_sample_run(home)
    assert lines in shown(capsys, "--type", asked)


def test_one_operation_is_enough(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_sample_run(home)
    run.write_json("minified.json", {**run.read_json("minified.json"), "nodes": 1, "original_nodes": 1})
    assert "1 of 1 operation is enough: aten.mm.default" in shown(capsys, "--type", "minified")


def test_the_newest_run_is_shown_unless_one_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_sample_run(home)
    (home / first.id).rename(home / "20200101-000000-report-aaaaaa")
    second = write_sample_run(home)
    assert shown(capsys).startswith(second.id)
    assert shown(capsys, "2020").startswith("20200101-000000-report-aaaaaa")


def test_another_document_gives_another_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is made up: what is shown changes with the run."""
    run = RunFolder.create("guards", home=home)
    document = sample_documents()["guards.json"]
    run.write_json("guards.json", {**document, "graphs": document["graphs"][:1], "recompiles": [], "calls": ["once"]})
    assert "1 call, 1 graph, 0 recompiles\n" in shown(capsys, "--type", "guards")


@pytest.mark.parametrize("asked", TYPES)
def test_the_documents_come_as_json_too(home: Path, asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_sample_run(home)
    found = json.loads(shown(capsys, "--json", "--type", asked))
    assert (found["kind"], found["schema"], found["type"], found["run"]) == ("analysis", 1, asked, run.id)
    documents = sample_documents()
    if asked == "summary":
        assert found["parts"][2] == {"part": "breaks", "state": "doubt", "line": "2 breaks: GB0170, GBL-12ab34"}
    elif asked == "graphs":
        assert found["graphs"] == [documents["graphs/0000/graph.json"]]
    elif asked != "constraints":
        assert found[asked] == documents[f"{asked}.json"]
    else:
        assert [found["violations"], found["op_support"]] == [
            documents["violations.json"],
            documents["op_support.json"],
        ]


MAKES = [
    ("constraints", "check MODEL.py:make_model"),
    ("graphs", "check MODEL.py:make_model"),
    ("guards", "guards MODEL.py:make_model"),
    ("numerics", "diff MODEL.py:make_model"),
    ("bench", "bench --all"),
    ("minified", "minify MODEL.py:make_model"),
]


@pytest.mark.parametrize(("asked", "command"), MAKES)
def test_a_run_without_that_document_is_told_which_command_makes_one(
    home: Path, asked: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = RunFolder.create("diff", home=home)
    made = f"`graphbreak {command}` makes a run that has"
    for named, where in (([], f"{home}: no run has {asked}"), ([bare.id], f"{bare.id}: this run has no {asked}")):
        assert main(["analyze", *named, "--type", asked]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", f"{where}; {made}\n")
    other = write_sample_run(home)
    assert main(["analyze", bare.id, "--type", asked]) == 2
    assert capsys.readouterr().err == f"{bare.id}: this run has no {asked}; {made}; the newest that has is {other.id}\n"


@pytest.mark.parametrize("asked", TYPES[1:])
def test_the_newest_run_that_has_it_is_shown(home: Path, asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_sample_run(home)
    newest = write_sample_run(home)
    RunFolder.create("diff", home=home)
    assert shown(capsys, "--type", asked).startswith(newest.id)


def test_without_any_run_one_line_says_what_makes_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze"]) == 2
    assert capsys.readouterr().err == f"{home}: no runs yet; `graphbreak check` makes one\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "guards.json: not JSON"),
        ('{"kind": "guards", "schema": 2}', "guards.json: written by a newer version"),
        ('{"kind": "guards", "schema": 1}', "its document is damaged (KeyError: 'advice'); run it again"),
    ],
)
def test_a_damaged_document_is_one_line(
    home: Path, content: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sample_run(home).write_text("guards.json", content)
    assert main(["analyze", "--type", "guards"]) == 2
    assert told in capsys.readouterr().err
    assert "Guards" in shown(capsys)


@pytest.mark.parametrize("asked", TYPES)
def test_what_a_run_holds_can_not_steer_the_terminal(
    home: Path, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sample_run(home, lambda text: HOSTILE + text)
    text = shown(capsys, "--type", asked)
    assert "\\x1b[31m \\x00 \\u202e" in text
    assert {each for each in text if not each.isprintable()} == {"\n"}
    assert shown(capsys, "--type", asked, "--json").isascii()
