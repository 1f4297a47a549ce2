"""A new limit is one class: capability files, the mock backend and the minifier find it without a list of their own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from registry.errors import InvalidInput
from repro_runner.adapters import AcceleratorCapabilities, OpRule, read_capabilities
from repro_runner.backends import ConstraintViolations, MalformedSettings, mock_backend
from repro_runner.constraints import (
    Constraint,
    SupportedOpsConstraint,
    TensorConstraint,
    TracedTensor,
    UnsupportedOpsConstraint,
    base,
)
from repro_runner.constraints.base import ScriptText, Setting, constraints_with_settings
from repro_runner.constraints.environment import mock_variables
from repro_runner.minifier.violations import render_rule
from tests.conftest import ROOT
from tests.repro_runner.fixtures.known_limits import device_keys, rule_keys, rule_options

pytestmark = pytest.mark.torch


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Constraint]]:
    """A limit on the number of dimensions, known as long as the test runs. No limit of the project is named so."""
    monkeypatch.setattr(base, "_with_settings", list(base._with_settings))

    class RankConstraint(TensorConstraint):
        rule: ClassVar[str] = "quibble"
        setting: ClassVar[Setting | None] = Setting(
            key="quibble_depth",
            read=lambda file, node, key: file.number(node, key, at_least=0),
            in_rules=True,
            variable="MOCK_QUIBBLE_DEPTH",
        )

        def __init__(self, most: int, **narrowing: Any) -> None:
            super().__init__(**narrowing)
            self.most = most

        def complaint(self, tensor: TracedTensor) -> str | None:
            return f"more than {self.most} dimensions" if len(tensor.shape) > self.most else None

        def script_text(self, _op: str, /) -> ScriptText:
            lines = (f"if tensor.dim() > {self.most}:", '    yield "too many dimensions"')
            return ScriptText(summary=f"at most {self.most} dimensions", lines=lines)

    yield RankConstraint
    torch._dynamo.reset()


def test_a_capability_file_sets_it_for_the_device_and_for_some_ops(ranks: type[Constraint], tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text("quibble_depth: 4\nrules:\n  - ops: [mm]\n    arguments: [mat2]\n    quibble_depth: 1\n")
    device = read_capabilities(path)
    assert device == AcceleratorCapabilities(
        name="mine",
        limits={"quibble_depth": 4},
        rules=(OpRule(ops=("mm",), arguments=("mat2",), limits={"quibble_depth": 1}),),
    )
    assert [(type(each), vars(each)["most"]) for each in device.constraints()] == [(ranks, 4), (ranks, 1)]
    path.write_text("quibble_depth: many\nrules:\n  - ops: [mm]\n    quibble_dpeth: 1\n")
    with pytest.raises(InvalidInput) as refused:
        read_capabilities(path)
    assert str(refused.value).splitlines() == [
        f"{path}:1: quibble_depth: must be a whole number, at least 0, and is 'many'",
        f"{path}:3: a rule without a limit; give one or more of {', '.join(rule_keys())}",
        f"{path}:4: quibble_dpeth: no such key; did you mean quibble_depth?",
    ]
    assert rule_keys()[-1] == "quibble_depth"


@pytest.mark.usefixtures("ranks")
def test_the_environment_sets_it_for_the_mock_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    compiled = torch.compile(torch.sin, backend=mock_backend)
    monkeypatch.setenv("MOCK_QUIBBLE_DEPTH", "two")
    with pytest.raises(MalformedSettings, match="MOCK_QUIBBLE_DEPTH='two': must be a whole number, at least 0"):
        compiled(torch.ones(2, 2))
    monkeypatch.setenv("MOCK_QUIBBLE_DEPTH", "1")
    with pytest.raises(ConstraintViolations, match=r"more than 1 dimensions \(quibble, forward\)"):
        compiled(torch.ones(2, 2))


def test_a_minified_script_carries_it(ranks: type[Constraint]) -> None:
    (source,) = render_rule(ranks.from_setting(2, ops=["mm"], arguments=["mat2"]), "aten.mm.default")
    assert source.text.splitlines() == [
        "def complaints(node):",
        '    """quibble: at most 2 dimensions."""',
        "    for tensor in arguments_of(node, 'mat2'):",
        "        if tensor.dim() > 2:",
        '            yield "too many dimensions"',
    ]
    assert [part.__name__ for part in source.parts] == ["arguments_of"]


def test_every_limit_of_the_project_can_be_set_written_down_and_is_explained() -> None:
    example = (ROOT / "repro_runner" / "adapters" / "example_device.yml").read_text("utf-8")
    kinds = constraints_with_settings()
    assert {kind.__name__ for kind in kinds} == classes_that_declare_a_setting()
    for kind in kinds:
        assert kind.setting is not None and f"\n{kind.setting.key}:" in example, kind
        assert "script_text" in vars(kind), kind


def classes_that_declare_a_setting() -> set[str]:
    """By what stands in the folder of constraints, not by what registered itself."""
    return {
        node.name
        for path in (ROOT / "repro_runner" / "constraints").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(line.value, ast.Call)
        if "setting" in map(ast.unparse, line.targets if isinstance(line, ast.Assign) else [line.target])
    }


def test_no_two_limits_share_a_rule_a_key_or_a_variable() -> None:
    rules = [kind.rule for kind in constraints_with_settings() if kind is not UnsupportedOpsConstraint]
    assert UnsupportedOpsConstraint.rule == SupportedOpsConstraint.rule  # two ways to say which ops there are
    assert repeated(rules) == []
    assert repeated(["name", "rules", *device_keys()]) == []
    assert repeated(["ops", "arguments", *rule_options(), *rule_keys()]) == []
    assert repeated(["GRAPHBREAK_ARTIFACTS", *mock_variables()]) == []


def repeated(names: list[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def test_a_data_dependent_shape_is_written_down_without_this_project(tmp_path: Path) -> None:
    (tmp_path / "static.yml").write_text("dynamic_shapes: false\n")
    (constraint,) = read_capabilities(tmp_path / "static.yml").constraints()
    (source,) = render_rule(constraint, "aten.nonzero.default")
    assert source.modules == () and ast.parse(source.text)
