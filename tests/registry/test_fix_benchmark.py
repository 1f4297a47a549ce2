"""The fix benchmark: a prompt gives nothing away, and each program is a task or is left out for a reason."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest

from registry.fix_benchmark import LEFT_OUT, Task, benchmark_text, make_benchmark, prompt_text
from tests.committed import committed_benchmark, committed_registry
from tests.conftest import ROOT
from tests.sitegen.test_api_outputs import schema

pytestmark = pytest.mark.slow


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in benchmark_text(committed_benchmark()).splitlines()]


def by_name() -> dict[str, Task]:
    return {task.name: task for task in committed_benchmark().tasks}


def body_of(code: str) -> str:
    """What a function does, however it is called and laid out."""
    return "\n".join(ast.unparse(node) for node in ast.parse(code).body)


def test_every_program_is_a_task_or_is_left_out_for_one_reason() -> None:
    programs = sorted(one.repro.name for gb in committed_registry() for one in gb.programs)
    left_out = [name for names in committed_benchmark().left_out.values() for name in names]
    assert sorted([*by_name(), *left_out]) == programs
    assert committed_benchmark().left_out.keys() == LEFT_OUT.keys()
    assert [reason for reason, names in committed_benchmark().left_out.items() if not names] == []


def test_a_prompt_has_no_fix_no_name_of_one_and_no_word_about_one() -> None:
    for task in committed_benchmark().tasks:
        shown = json.dumps(task.prompt | {"task": "", "message": ""})
        assert re.search(r"\b(fixed|isolated)(_\w+)?\b", shown) is None, task.name
        assert "FLAGS" not in shown, task.name
        for fix in task.fixes:
            assert fix.when not in shown, task.name
            if fix.kind != "flag":
                assert body_of(fix.code).replace("fixed", "broken") not in body_of(task.program.unfixed), task.name


def test_the_program_of_a_prompt_is_the_one_whose_fixes_were_run() -> None:
    for task in committed_benchmark().tasks:
        module = ast.parse(task.program.unfixed)
        names = [node.name for node in module.body if isinstance(node, ast.FunctionDef)]
        assert {"inputs", "broken"} <= {*names}, task.name
        assert ast.get_docstring(module) is None, task.name
        compile(task.source, task.name, "exec")


def test_every_task_has_an_answer_on_each_of_its_releases() -> None:
    for task in committed_benchmark().tasks:
        assert task.releases, task.name
        for torch in task.releases:
            fix = task.reference(torch)
            assert fix.kind == "rewrite"
            assert "def fixed(" in fix.code


def test_what_an_answer_that_does_nothing_would_pass_is_left_out() -> None:
    left_out = committed_benchmark().left_out
    assert "GB0170_raise" in left_out["coverage"]
    assert "GB0020" in left_out["bytecode"]
    assert "GB0200" in left_out["setting"]
    assert "GB0291" in left_out["operator"]
    assert "GB0007_time" in left_out["caller"]
    assert "GB0006" in left_out["shown"]
    sources = {one.repro.name: one.repro.source for gb in committed_registry() for one in gb.programs}
    assert [name for name in by_name() if re.search("^COVERAGE|^EAGER_RAISES", sources[name], re.MULTILINE)] == []


def test_settings_are_part_of_the_prompt_and_of_what_is_run() -> None:
    task = by_name()["GB0296"]
    assert task.prompt["settings"] == ["torch._dynamo.config.reorderable_logging_functions = {print}"]
    assert task.source.endswith('CONFIG = {"reorderable_logging_functions": {print}}\n')


def test_every_line_keeps_to_the_schema_and_has_no_other_field() -> None:
    validator = schema("fix-benchmark.json")
    assert [line["id"] for line in lines() if not validator.is_valid(line)] == []
    assert not validator.is_valid(lines()[0] | {"new": 1})
    assert schema("fix-benchmark.json", strict=False).is_valid(lines()[0] | {"new": 1})


def test_the_same_registry_gives_the_same_bytes_and_they_are_committed() -> None:
    text = benchmark_text(committed_benchmark())
    assert text == benchmark_text(make_benchmark(committed_registry()))
    assert text == (ROOT / "docs/api/v1/fix-benchmark.jsonl").read_text("utf-8")
    assert [line["id"] for line in lines()] == sorted(by_name())


def test_the_tasks_for_a_model_are_id_and_prompt_and_nothing_else() -> None:
    told = [json.loads(line) for line in prompt_text(committed_benchmark().tasks).splitlines()]
    assert told == [{"id": line["id"], "prompt": line["prompt"]} for line in lines()]
