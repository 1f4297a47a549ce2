"""`graphbreak score`: every verdict, bad files, the tasks, and the baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InvalidInput
from repro_runner.cli import main
from repro_runner.scoring.answers import read_answers
from repro_runner.scoring.rules import judge_text
from repro_runner.scoring.scores import Scores
from repro_runner.scoring.verdicts import VERDICTS, Judgement, judge_record
from tests.committed import committed_benchmark
from tests.repro_runner.fixtures.fix_answers import same_again, without_output, write_answers

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TORCH = "2.13.0"
ANSWERS = {
    "GB0170_any": ("dodges", "@torch.compiler.disable\ndef fixed(*given):\n    return broken(*given)"),
    "GB0170_or": ("does not compile whole", ""),
    "GB0124_log": ("other result", "def fixed(x, target):\n    return (x - target).square().mean() * 2"),
    "GB0116_argument": ("refused", "import os\n\n\ndef fixed(x):\n    os.remove('x')\n    return x"),
    "GB0279": ("drops output", "def fixed(x):\n    return x.sin()"),
    "GB0296": ("solved", "def fixed(x):\n    print(str(x.shape), x.detach().mean())\n    return x.sin()"),
    "GB0370": ("does not parse", "```python\ndef fixed(x): return x"),
    "GB0001": ("no answer", ""),
}
HOSTILE = "\x1b[31mred"


def lines(path: Path, *contents: Any) -> Path:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in contents), "utf-8")
    return path


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run with an answer of each verdict, in a folder that is not this repository."""
    folder = tmp_path_factory.mktemp("elsewhere")
    tasks = {task.name: task for task in committed_benchmark().tasks}
    codes = {
        name: code or same_again(tasks[name]) for name, (verdict, code) in ANSWERS.items() if verdict != "no answer"
    }
    answers = [{"id": name, "code": code, "model": HOSTILE} for name, code in codes.items()]
    lines(folder / "answers.jsonl", *answers)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        options = ["--only", ",".join(ANSWERS), "--fail-under", "13"]
        assert main(["score", "answers.jsonl", *options, "--format", "json", "--out", "scores.json"]) == 1
    found: dict[str, Any] = json.loads((folder / "scores.json").read_bytes())
    return found


def test_every_answer_has_its_verdict(scored: dict[str, Any]) -> None:
    found = {one["id"]: (one["verdict"], one["cause"]) for one in scored["answers"]}
    assert {name: verdict for name, (verdict, _) in found.items()} == {
        name: verdict for name, (verdict, _) in ANSWERS.items()
    }, found


def test_a_task_without_an_answer_counts_as_not_solved(scored: dict[str, Any]) -> None:
    assert (scored["tasks"], scored["solved"], scored["rate"]) == (len(ANSWERS), 1, 12.5)
    assert scored["verdicts"]["no answer"] == 1
    assert sum(kind["tasks"] for kind in scored["kinds"].values()) == len(ANSWERS)


def test_the_table_has_every_verdict_and_shows_names_inert() -> None:
    tasks = committed_benchmark().on(TORCH)[: len(VERDICTS)]
    judgements = {
        task.name: Judgement(verdict=verdict, cause=HOSTILE) for task, verdict in zip(tasks, VERDICTS, strict=True)
    }
    place = {"torch": TORCH, "python": "3.11"}
    scores = Scores(environment=place, backend="eager", models=(HOSTILE,), tasks=tasks, judgements=judgements)
    text = scores.text()
    assert f"solved: 1 of {len(VERDICTS)} tasks, 9.1 %" in text
    assert [verdict for verdict in VERDICTS if f"\n{verdict} " not in text] == []
    assert "\x1b" not in text
    assert r"answers by \x1b[31mred" in text


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        ({"verdict": "failed", "cause": "took longer than 8 s"}, "timed out"),
        ({"verdict": "failed", "cause": "was killed by SIGSEGV"}, "does not run"),
        ({"verdict": "not applicable", "cause": "needs the module numpy"}, "not checked here"),
        ({"verdict": "stopped", "fixes": {"fixed": {"holds": True}}}, "not checked here"),
    ],
)
def test_an_answer_that_gave_no_result_says_why(record: dict[str, Any], verdict: str) -> None:
    assert judge_record(record).verdict == verdict


def test_an_answer_that_holds_for_what_ran_says_what_did_not() -> None:
    task = committed_benchmark().tasks[0]
    record = {"verdict": "verified", "fixes": {"fixed": {"holds": True, "never_reached": ["4: raise ValueError"]}}}
    place = {"torch": TORCH, "python": "3.11"}
    judgements = {task.name: judge_record(record)}
    scores = Scores(environment=place, backend="eager", models=(), tasks=(task,), judgements=judgements)
    assert scores.text().splitlines()[-2:] == [
        "solved in part:",
        f"  {task.name}  solved: holds for what ran; never reached: 4: raise ValueError",
    ]


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    code = "def fixed(x): return x"
    answers = lines(
        tmp_path / "bad.jsonl",
        "{",
        {"id": "GB170", "code": code},
        {"id": "GB0170", "code": code},
        {"id": "GB0170", "code": code},
        {"id": "GB0124", "code": "def fix(x): return x"},
        {"id": "GB0006", "code": code},
        {"id": "GB0001"},
        [],
    )
    with pytest.raises(InvalidInput) as refused:
        read_answers(answers, committed_benchmark())
    told = {problem.where: problem.message for problem in refused.value.problems}
    expected = {1: "not JSON", 2: "did you mean GB0170", 4: "in line 3 already", 5: "named `fixed`", 6: "is not a task"}
    expected |= {7: "`code` is missing", 8: "not an object"}
    assert list(told) == [f"{answers}:{number}" for number in expected]
    for number, part in expected.items():
        assert part in told[f"{answers}:{number}"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "needs one of: ANSWERS.jsonl, --tasks, --reference"),
        (["--tasks", "--reference"], "needs one of"),
        (["--tasks", "--only", "GB170"], "--only GB170: no task of torch 2.13.0; did you mean GB0170"),
        (["--tasks", "--fail-under", "101"], "from 0 to 100"),
    ],
)
def test_bad_arguments_are_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *words]) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert len(printed.err.splitlines()) == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    ("content", "told"), [(None, "No such file"), ("\n", "has no answers"), (b"\xff", "not UTF-8")]
)
def test_a_file_without_answers_is_refused(content: str | bytes | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InvalidInput, match=f"answers.jsonl:1: {told}"):
        read_answers(path, committed_benchmark())


def test_the_tasks_are_those_of_the_installed_torch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--tasks"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["id"] for one in told] == [task.name for task in committed_benchmark().on(TORCH)]
    assert {key for one in told for key in one} == {"id", "prompt"}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("@torch._dynamo.decorators.skip\ndef fixed(x):\n    return x", "turns compilation off (skip)"),
        ("torch._dynamo.config.capture_scalar_outputs = True\ndef fixed(x):\n    return x", "changes a setting"),
        ("from torch._dynamo import config as c\nc.suppress = 1\ndef fixed(x):\n    return x", "changes a setting"),
        ("def fixed(x):\n    return x if torch.compiler.is_compiling() else broken(x)", "while it is compiled"),
        ("from torch.library import custom_op\n@custom_op('a::b', mutates_args=())\ndef fixed(x):\n    pass", "hides"),
        ("def inputs():\n    return (torch.ones(8),)\ndef fixed(x):\n    return x", "it replaces inputs"),
        ("EFFECTS = {'fixed': 'none'}\ndef fixed(x):\n    return x", "it replaces EFFECTS"),
        ("EAGER_RAISES = 'ValueError'\ndef fixed(x):\n    return x", "it replaces EAGER_RAISES"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_not_run(code: str, why: str) -> None:
    task = next(task for task in committed_benchmark().tasks if task.name == "GB0170")
    judged = judge_text(task, code, trust=True)
    assert judged is not None
    assert judged.verdict == "dodges"
    assert why in judged.cause


def test_an_import_that_the_program_has_may_be_repeated() -> None:
    task = next(task for task in committed_benchmark().tasks if task.name == "GB6053")
    code = f"import logging\nimport torch\n{task.reference(TORCH).code}"
    assert judge_text(task, code, trust=False) is None


@pytest.mark.prove
def test_an_answer_that_hangs_is_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "def fixed(x):\n    while True:\n        pass"
    answers = lines(tmp_path / "answers.jsonl", {"id": "GB0279", "code": f"{code}\n\n\nfixed(1)"})
    assert main(["score", str(answers), "--only", "GB0279", "--timeout", "5"]) == 0
    assert "GB0279  timed out: took longer than 5 s" in capsys.readouterr().out


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_the_fixes_of_the_registry_solve_every_task(tmp_path: Path) -> None:
    assert main(["score", "--reference", "--out", str(tmp_path / "reference.jsonl")]) == 0
    options = ["--format", "json", "--out", str(tmp_path / "scores.json"), "--fail-under", "100"]
    code = main(["score", str(tmp_path / "reference.jsonl"), *options])
    scores = json.loads((tmp_path / "scores.json").read_bytes())
    assert [one for one in scores["answers"] if one["verdict"] != "solved"] == []
    assert code == 0


@pytest.mark.prove
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("answer", [same_again, without_output])
def test_the_program_itself_and_the_program_without_its_output_solve_nothing(answer: Any, tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", committed_benchmark().on(TORCH), answer)
    assert main(["score", str(answers), "--format", "json", "--out", str(tmp_path / "scores.json")]) == 0
    scores = json.loads((tmp_path / "scores.json").read_bytes())
    assert sum(scores["verdicts"].values()) - scores["verdicts"]["no answer"] > 0
    assert [one["id"] for one in scores["answers"] if one["verdict"] == "solved"] == []
