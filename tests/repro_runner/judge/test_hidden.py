"""What torch does not see into is found in the graph, whatever it is called."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from repro_runner.judge.hidden import calls_of, made_up

pytestmark = [pytest.mark.torch, pytest.mark.slow]
_numbers = itertools.count()


def hidden_in(function: Callable[[torch.Tensor], Any]) -> list[str]:
    """What is made up in all graphs of a compiled function."""
    targets: list[Any] = []

    def backend(graph: torch.fx.GraphModule, _inputs: object) -> Callable[..., Any]:
        targets.extend(calls_of(graph))
        return graph.forward

    torch.compiler.reset()
    torch.compile(function, backend=backend)(torch.ones(3))
    return made_up(targets)


@pytest.fixture
def operator() -> Iterator[Any]:
    name = f"judged{next(_numbers)}"

    @torch.library.custom_op(f"{name}::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @double.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    yield double
    torch._C._dispatch_find_dangling_impls()


def test_plain_operations_are_not_hidden() -> None:
    assert hidden_in(lambda x: torch.where(x > 0, x.softmax(0), -x) + torch.nn.functional.gelu(x) * 2) == []
    layer = torch.nn.Linear(3, 3)
    assert hidden_in(lambda x: layer(x).max(dim=0).values) == []
    assert hidden_in(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))) == []


def test_a_triton_kernel_is_compiled_and_not_hidden() -> None:
    assert made_up([torch.ops.higher_order.triton_kernel_wrapper_mutation]) == []


def test_a_custom_operator_is_found(operator: Any) -> None:
    assert hidden_in(lambda x: operator(x) + 1) == ["double.default"] or "double" in str(hidden_in(operator))


def test_it_is_found_inside_of_a_branch_too(operator: Any) -> None:
    found = hidden_in(lambda x: torch.cond(x.sum() > 0, lambda y: operator(y), lambda y: y + 1, (x,)))
    assert any("double" in name for name in found)


def test_a_function_that_is_allowed_in_the_graph_is_found_whatever_its_name_says() -> None:
    def softmax(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    torch.compiler.allow_in_graph(softmax)  # type: ignore[no-untyped-call]
    assert hidden_in(lambda x: softmax(x) + 1) == ["softmax"]


def test_a_function_of_a_text_is_found() -> None:
    """Its code has no file: `<string>`."""
    scope: dict[str, Any] = {}
    exec("def twice(x):\n    return x * 2", scope)
    assert made_up([scope["twice"]]) == ["twice"]
    scope["twice"].__module__ = "torch"
    assert made_up([scope["twice"]]) == ["twice"]


def test_a_function_whose_code_says_that_it_is_torchs_is_found() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.__code__ = twice.__code__.replace(co_filename=torch.__file__)
    assert made_up([twice]) == ["twice"]


def test_functions_of_torch_and_of_python_are_not_made_up() -> None:
    assert (
        made_up([torch.add, torch.nn.functional.relu, torch.einsum, copy.copy, None, len, torch.ops.aten.add.Tensor])
        == []
    )
