"""Limits that the environment sets: read as capability files read them, with everything that is wrong at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from repro_runner.bench.document import describe_machine
from repro_runner.constraints import DtypeConstraint, LayoutConstraint, ShapeConstraint, UnsupportedOpsConstraint
from repro_runner.constraints.environment import Environment, mock_variables
from repro_runner.output.units import parse_size

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in mock_variables():
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("variables", "kind", "expected"),
    [
        ({"MOCK_DTYPES": "float32, torch.bfloat16"}, DtypeConstraint,
         {"allowed_dtypes": {torch.float32, torch.bfloat16}}),
        ({"MOCK_LAYOUT": "contiguous,channels_last"}, LayoutConstraint, {"allowed": {"contiguous", "channels_last"}}),
        ({"MOCK_DENY_OPS": "mm,aten::sort,cond"}, UnsupportedOpsConstraint,
         {"ops": {"aten.mm", "aten.sort", "higher_order.cond"}}),
        ({"MOCK_ALIGNMENT": "16"}, ShapeConstraint,
         {"alignment": 16, "dims": None, "spare_ones": True, "unit": "elements"}),
        ({"MOCK_ALIGNMENT": "16", "MOCK_ALIGNMENT_DIMS": "-1,0", "MOCK_ALIGNMENT_SPARE_ONES": "0"}, ShapeConstraint,
         {"dims": (-1, 0), "spare_ones": False}),
        ({"MOCK_ALIGNMENT": "64", "MOCK_ALIGNMENT_UNIT": "bytes"}, ShapeConstraint, {"dims": (-1,), "unit": "bytes"}),
    ],
)  # fmt: skip
def test_a_variable_sets_the_limit_that_it_names(
    variables: dict[str, str], kind: type, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, text in variables.items():
        monkeypatch.setenv(variable, text)
    environment = Environment()
    (found,) = [each for each in environment.constraints() if isinstance(each, kind)]
    assert {name: vars(found)[name] for name in expected} == expected
    assert environment.problems == []


def test_unset_and_empty_variables_set_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = [each.rule for each in Environment().constraints()]
    assert defaults == ["shape-alignment", "memory"]
    for variable in mock_variables():
        monkeypatch.setenv(variable, " ")
    assert [each.rule for each in Environment().constraints()] == defaults


def test_everything_that_is_wrong_is_said_at_once_with_what_may_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "MOCK_DTYPES": "flaot32,fp16",
        "MOCK_LAYOUT": "contigous",
        "MOCK_DENY_OPS": "relux,matmul",
        "MOCK_ALIGNMENT_DIMS": "last",
        "MOCK_ALIGNMENT_UNIT": "bits",
        "MOCK_ALIGNMENT_SPARE_ONES": "1",
        "MOCK_MAX_MEMORY": "lots",
    }
    for variable, text in wrong.items():
        monkeypatch.setenv(variable, text)
    environment = Environment()
    environment.constraints()
    assert sorted(environment.problems) == [
        "MOCK_ALIGNMENT_DIMS='last': belongs to MOCK_ALIGNMENT; set that, too",
        "MOCK_ALIGNMENT_DIMS='last': must be a whole number",
        "MOCK_ALIGNMENT_SPARE_ONES='1': belongs to MOCK_ALIGNMENT; set that, too",
        "MOCK_ALIGNMENT_UNIT='bits': must be elements or bytes",
        "MOCK_DENY_OPS='relux,matmul': aten.matmul: is made of other ops, and a backend sees only those; "
        "name them instead",
        "MOCK_DENY_OPS='relux,matmul': aten.relux: no such op; did you mean aten.relu or aten.rrelu or aten.relu_?",
        "MOCK_DTYPES='flaot32,fp16': flaot32: no such dtype; did you mean float32 or float?",
        "MOCK_DTYPES='flaot32,fp16': fp16: no such dtype; did you mean float16?",
        "MOCK_LAYOUT='contigous': contigous: no such layout; did you mean contiguous?",
        "MOCK_MAX_MEMORY='lots': must be a size in bytes, such as 4096 or 16 GiB",
    ]


def test_a_misspelt_variable_is_refused_and_one_of_others_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"MOCK_ALIGMENT": "4", "MOCK_STRCT": "0", "MOCK_ALIGNMENT_DIM": "-1", "MOCK_DTYPE": " "}
    others = {"MOCK_SERVER": "here", "MOCK_API_KEY": "x", "MOCK_DATE": "2024-01-01", "MOCK_LLM_RESPONSE": "yes"}
    for variable, text in {**wrong, **others}.items():
        monkeypatch.setenv(variable, text)
    assert sorted(Environment().problems) == [
        "MOCK_ALIGMENT='4': no such variable; did you mean MOCK_ALIGNMENT?",
        "MOCK_ALIGNMENT_DIM='-1': no such variable; did you mean MOCK_ALIGNMENT_DIMS?",
        "MOCK_STRCT='0': no such variable; did you mean MOCK_STRICT?",
    ]


def test_a_list_with_a_gap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_DTYPES", "float32,,bool")
    environment = Environment()
    environment.constraints()
    assert environment.problems == ["MOCK_DTYPES='float32,,bool': must be a list such as one,two"]


@pytest.mark.parametrize(
    ("text", "size"),
    [("4096", 4096), ("2GiB", 2**31), ("1.5 kb", 1500), ("1.5", None), ("-1", None), ("1_000", None), ("²", None)],
)
def test_a_size_is_written_as_in_a_capability_file(text: str, size: int | None) -> None:
    assert parse_size(text) == size


def test_a_benchmark_notes_the_limits_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "16")
    monkeypatch.setenv("MOCK_ALIGNMENT_DIMS", "-1")
    monkeypatch.setenv("MOCK_DTYPES", "float32")
    noted = describe_machine("cpu")["limits"]
    assert noted == {"alignment": "16", "alignment_dims": "-1", "dtypes": "float32", "max_memory": "17179869184"}
