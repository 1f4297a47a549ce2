"""A model under two backends: everything it returns, writes and differentiates is compared, and nothing is changed."""

from __future__ import annotations

import inspect
import json
import math
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Interpreter, Node

from registry.errors import InvalidInput
from repro_runner.diff import ComparisonConfig, DiffReport, FirstDifference, KernelDiffHarness, diff_model
from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.difference import Op
from repro_runner.diff.graph_runs import GraphInputs, run_graph
from repro_runner.diff.report import WITHOUT_AN_OP, describe_first_difference
from repro_runner.graphs.by_name import Backend
from repro_runner.model_under_test import ModelFailed, ModelUnderTest
from repro_runner.output.places import shown_place
from repro_runner.runs import RunFolder

pytestmark = pytest.mark.torch

Pair = namedtuple("Pair", "left right")
COMPILING = torch.compiler.is_compiling


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def faithful(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    """Dynamo's graphs, run as they are."""
    return graph.forward


def off_by_one_percent(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    return lambda *arguments: [value * 1.01 for value in graph(*arguments)]


def compare(model: Callable[..., Any], inputs: Any, backend: Any = faithful, **config: Any) -> DiffReport:
    harness = KernelDiffHarness(model, inputs, test_backend=backend, comparison_config=ComparisonConfig(**config))
    return harness.compare(find_first_op=False)


def wrong_sin(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    for node in graph.graph.find_nodes(op="call_method", target="sin"):
        node.target = "tan"
    graph.recompile()
    return graph.forward


@dataclass
class Answer:
    logits: torch.Tensor
    hidden: list[torch.Tensor]
    note: str = "as is"


class Holder:
    def __init__(self, keys: torch.Tensor) -> None:
        self.keys = keys
        self.itself = self


def nested(x: torch.Tensor) -> dict[str, Any]:
    both = {"answer": Answer(x + 1, [x * 2, x * 3]), "pair": Pair(x.sum(), (x > 0, 7)), "none": None}
    return OrderedDict(both, holder=Holder(x - 1), mean=x.mean().item())


@pytest.mark.parametrize("backend", [faithful, "eager"], ids=["compiled", "eager"])
def test_every_leaf_of_a_nested_output_is_compared_under_its_name(backend: Any) -> None:
    report = compare(nested, torch.rand(3), backend)
    assert report.passed, report.summary()
    assert [leaf.name for leaf in report.leaves] == [
        "output['answer'].logits",
        "output['answer'].hidden[0]",
        "output['answer'].hidden[1]",
        "output['pair'].left",
        "output['pair'].right[0]",
        "output['pair'].right[1]",
        "output['holder'].keys",
        "output['mean']",
    ]


def test_a_tensor_that_differs_is_named_and_the_others_are_not() -> None:
    def model(x: torch.Tensor) -> Answer:
        return Answer(x + 1, [x * 2 + 0.5 * COMPILING(), x * 3])

    report = compare(model, torch.rand(3))
    assert not report.passed
    assert [leaf.name for leaf in report.failed_leaves] == ["output.hidden[0]"]
    assert "DIFFERS" in report.summary() and "differs from eager in 1 of 3 values" in report.verdict()


@pytest.mark.parametrize(
    ("eager", "compiled", "name", "reason"),
    [
        (lambda x: (x, x), lambda x: [x, x], "output", "list of [0], [1] instead of tuple of [0], [1]"),
        (lambda x: {"a": x}, lambda x: {"b": x}, "output", "dict of ['b'] instead of dict of ['a']"),
        (lambda x: [x, [x]], lambda x: [x, x], "output[1]", "a tensor of shape (3,) instead of list of [0]"),
        (lambda x: (x, "yes"), lambda x: (x, "no"), "output[1]", "'no' instead of 'yes'"),
        (lambda x: (x, 1), lambda x: (x, 1.0), "output[1]", "1.0 instead of 1"),
        (lambda x: (x, None), lambda x: (x, x), "output[1]", "a tensor of shape (3,) instead of None"),
        (lambda x: x.sum(), lambda x: x, "output", "shape (3,) instead of ()"),
    ],
)
def test_unlike_structures_are_told(
    eager: Callable[..., Any], compiled: Callable[..., Any], name: str, reason: str
) -> None:
    def model(x: torch.Tensor) -> Any:
        return compiled(x) if COMPILING() else eager(x)

    report = compare(model, torch.rand(3))
    assert [(leaf.name, leaf.reason) for leaf in report.failed_leaves] == [(name, reason)]


@pytest.mark.prove
def test_the_outputs_of_hugging_face_are_walked_through_their_caches_too() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    tiny = GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=16, n_positions=8)
    model: torch.nn.Module = GPT2LMHeadModel(tiny).eval()
    report = compare(model, {"input_ids": torch.arange(4).reshape(1, 4)}, "aot_eager", repeats=1)
    assert report.passed, report.summary()
    names = [leaf.name for leaf in report.leaves]
    assert names[0] == "output.logits"
    assert any("past_key_values" in name and name.endswith(".keys") for name in names)


# What a call writes to.


class Counting(torch.nn.Module):
    seen: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("untouched", torch.full((3,), torch.nan))
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        self.seen += 1
        out.copy_(x * self.weight.detach())
        return x * self.weight


def test_what_the_model_writes_to_is_compared_and_what_it_leaves_alone_is_not_listed() -> None:
    model, out = Counting(), torch.zeros(3)
    report = compare(model, ((torch.ones(3),), {"out": out}))
    assert report.passed
    assert [(leaf.name, leaf.part) for leaf in report.leaves] == [
        ("output", "output"),
        ("kwargs['out']", "input"),
        ("model.seen", "state"),
    ]
    assert "model.seen (written)" in report.summary()
    assert model.seen.eq(0).all() and out.eq(0).all()


def test_a_wrong_write_is_a_difference() -> None:
    def model(x: torch.Tensor) -> None:
        x += 2 if COMPILING() else 1

    report = compare(model, torch.zeros(3))
    assert [(leaf.name, leaf.part, leaf.passed) for leaf in report.leaves] == [("args[0]", "input", False)]


def test_a_backend_may_use_the_memory_of_an_output_again() -> None:
    """As CUDA graphs do: a second call must not change what was kept of the first."""

    def reusing(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        memory = torch.empty(3)
        return lambda *arguments: [memory.copy_(value) for value in graph(*arguments)]

    calls = iter(range(100))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def counted(x: torch.Tensor) -> torch.Tensor:
        return x + next(calls)

    report = compare(lambda x: counted(x) * 2, torch.zeros(3), reusing, repeats=2)
    assert (report.reference_varies, report.test_varies) == ({"output": 2.0}, {"output": 2.0})


# Gradients.


def test_gradients_of_parameters_and_inputs_are_compared_on_request() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    model[0].bias.requires_grad_(False)
    x = torch.rand(4, 3, requires_grad=True)
    assert [leaf.part for leaf in compare(model, x, "aot_eager").leaves] == ["output"]
    report = compare(model, x, "aot_eager", gradients=True)
    assert report.passed
    assert [leaf.name for leaf in report.leaves] == ["output", "model.0.weight.grad", "args[0].grad"]
    assert all(leaf.comparison and leaf.comparison.elements for leaf in report.leaves)
    assert x.grad is None and model[0].weight.grad is None


def test_a_wrong_gradient_behind_a_right_output_is_a_difference() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x * 2 + (x - x.detach()) if COMPILING() else x * 2

    x = torch.rand(3, requires_grad=True)
    assert compare(model, x).passed
    report = compare(model, x, gradients=True)
    assert [leaf.name for leaf in report.failed_leaves] == ["args[0].grad"]


def test_a_gradient_that_is_missing_is_a_difference() -> None:
    def model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + (y.detach() if COMPILING() else y)

    report = compare(model, (torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)), gradients=True)
    assert [(leaf.name, leaf.reason) for leaf in report.failed_leaves] == [
        ("args[1].grad", "None instead of a tensor of shape (3,)")
    ]


def test_an_output_that_has_lost_its_graph_has_no_gradients() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x.detach() * 1 if COMPILING() else x * 1

    report = compare(model, torch.rand(3, requires_grad=True), gradients=True)
    assert [leaf.reason for leaf in report.failed_leaves] == ["None instead of a tensor of shape (3,)"]


def detaching(*outputs: int) -> Backend:
    """A backend that returns these outputs without their gradients."""

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *given: [each.detach() if at in outputs else each for at, each in enumerate(graph(*given))]

    return backend


def test_an_output_without_a_gradient_leaves_those_of_the_others_as_they_are() -> None:
    inputs = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    config = ComparisonConfig(gradients=True)
    harness = KernelDiffHarness(lambda x, y: (x.sin(), y.cos()), inputs, comparison_config=config)
    report = diff_model(harness.subject, config, test_backend=detaching(0))
    assert [leaf.name for leaf in report.failed_leaves] == ["args[0].grad"]
    report = diff_model(harness.subject, config, test_backend=detaching(0, 1))
    assert [leaf.name for leaf in report.failed_leaves] == ["args[0].grad", "args[1].grad"]
    assert "  Output 0 requires no grad as it is returned" in report.summary()


def test_sparse_gradients_are_compared() -> None:
    embedding = torch.nn.Embedding(6, 4, sparse=True)
    config = ComparisonConfig(gradients=True)
    harness = KernelDiffHarness(embedding, torch.tensor([[0, 1]]), test_backend="aot_eager", comparison_config=config)
    assert harness.compare().passed


def test_a_tensor_on_another_device_is_told_as_that() -> None:
    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *given: [each.to("meta") for each in graph(*given)]

    report = KernelDiffHarness(lambda x: x + 1, torch.rand(3), test_backend=backend).compare()
    assert [leaf.reason for leaf in report.failed_leaves] == ["device meta instead of cpu"]


def test_complex_outputs_have_gradients() -> None:
    report = compare(torch.fft.fft, torch.rand(4, requires_grad=True), gradients=True)
    assert report.passed and len(report.leaves) == 2


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("layout", "wrong"),
    [(torch.strided, []), (torch.jagged, ["output", "args[0]"])],  # Dynamo compiles no strided ones
)
def test_nested_tensors_are_compared_with_what_is_written_to_them_and_their_gradients(
    layout: torch.layout, wrong: list[str]
) -> None:
    def inputs(requires_grad: bool) -> torch.Tensor:
        parts = [torch.rand(2, 3), torch.rand(4, 3)]
        return torch.nested.nested_tensor(parts, layout=layout, requires_grad=requires_grad)

    def model(x: torch.Tensor, more: int) -> torch.Tensor:
        x.add_(1 + more * COMPILING())
        return x.sin()

    report = compare(lambda x: x.sin(), inputs(True), gradients=True)
    assert [(leaf.name, leaf.passed) for leaf in report.leaves] == [("output", True), ("args[0].grad", True)]
    report = compare(model, (inputs(False), 0))
    assert [(leaf.name, leaf.passed) for leaf in report.leaves] == [("output", True), ("args[0]", True)]
    assert [leaf.name for leaf in compare(model, (inputs(False), 1)).failed_leaves] == wrong
    report = compare(lambda x: None if COMPILING() else x.sin(), inputs(False))
    assert [leaf.reason for leaf in report.failed_leaves] == ["None instead of a nested tensor"]


def test_gradients_of_what_requires_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no output requires grad"):
        compare(lambda x: x + 1, torch.rand(3), gradients=True)


# Seeds, repeats, modes.


def test_both_sides_draw_the_same_random_numbers() -> None:
    report = compare(torch.nn.Dropout(0.5), torch.ones(1000), "aot_eager")
    assert report.passed and not report.reference_varies


def test_inductor_draws_eagers_random_numbers_unless_told_not_to() -> None:
    model, x = torch.nn.Dropout(0.5), torch.ones(1000)
    assert compare(model, x, "inductor", repeats=1).passed
    assert not compare(model, x, "inductor", repeats=1, fallback_random=False).passed


def test_a_reference_that_varies_by_itself_is_reported() -> None:
    calls = iter(range(100))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def restless(x: torch.Tensor) -> torch.Tensor:
        return x + 0.25 * next(calls)

    report = compare(lambda x: restless(x), torch.zeros(3), repeats=3)
    assert report.reference_varies == {"output": 0.5}
    assert report.test_varies == {"output": 0.5}
    assert "eager itself varies from one run to the next, by up to 0.5: output" in report.summary()


class Cache:
    def __init__(self) -> None:
        self.keys = torch.zeros(3)


def caching(x: torch.Tensor, cache: Cache) -> torch.Tensor:
    cache.keys = cache.keys + x
    return cache.keys.sin()


@pytest.mark.parametrize("repeats", [1, 2])
def test_what_a_call_leaves_to_the_next_is_told_and_blamed_on_no_backend(repeats: int) -> None:
    config = ComparisonConfig(repeats=repeats)
    inputs = (torch.ones(3), Cache())
    report = KernelDiffHarness(caching, inputs, test_backend=faithful, comparison_config=config).compare()
    assert not report.passed and report.first_difference is None
    assert list(report.reference_varies) == ["output", "args[1].keys"]
    told = report.summary().partition(report.verdict())[2].splitlines()
    assert told[1].startswith("eager itself varies from one run to the next, by up to ")
    assert told[2] == "  A call may change what is not copied: global state, or tensors inside an object"
    report = KernelDiffHarness(caching, inputs, test_backend=wrong_sin, comparison_config=config).compare()
    assert report.first_difference is not None and report.first_difference.op is not None
    assert report.first_difference.op.name == "Tensor.sin"


def test_a_reference_that_fails_after_the_test_loses_no_comparison() -> None:
    calls: list[int] = []

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def twice(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        if len(calls) > 2:
            raise RuntimeError("full")
        return x * len(calls)

    report = compare(lambda x: twice(x), torch.ones(3), repeats=1)
    assert [leaf.name for leaf in report.failed_leaves] == ["output"]
    assert report.reference_varies == {"output": math.inf}


def test_where_all_is_equal_the_reference_runs_once_for_each_repeat() -> None:
    calls: list[int] = []

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x + 1

    assert compare(lambda x: counted(x), torch.ones(3), repeats=1).passed
    assert len(calls) == 1 + 1 + 2  # the test runs twice more, to see what another call does to the first one's results


def test_a_repeat_that_differs_is_enough() -> None:
    calls = iter(range(100))

    def sometimes(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: [value + (next(calls) == 1) for value in graph(*arguments)]

    report = compare(lambda x: x * 2, torch.ones(3), sometimes, repeats=3)
    assert not report.passed
    assert report.leaves[0].comparison is not None and report.leaves[0].comparison.max_absolute_error == 1.0
    assert report.test_varies == {"output": 1.0}


def test_repeats_compile_once() -> None:
    compiled: list[GraphModule] = []

    def counting(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        compiled.append(graph)
        return faithful(graph, inputs)

    assert compare(torch.nn.Linear(3, 3), torch.rand(2, 3), counting, repeats=4).graphs == 1
    assert len(compiled) == 1


def test_a_graph_that_a_repeat_compiles_again_counts_once() -> None:
    class Identified(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = Holder(torch.ones(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin() + id(self.part) * 0  # each copy of the model has another id

    compiled: list[GraphModule] = []

    def counting(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        compiled.append(graph)
        return faithful(graph, inputs)

    assert compare(Identified(), torch.rand(3), counting, repeats=3).graphs == 1
    assert len(compiled) == 3 + 1  # the last one for the calls after the repeats


@pytest.mark.parametrize("training", [True, False])
def test_a_model_stays_in_its_own_mode(training: bool) -> None:
    report = compare(torch.nn.BatchNorm1d(3).train(training), torch.rand(8, 3))
    assert report.passed
    assert len(report.leaves) == (4 if training else 1)


# Backends, and models that can't be compared.


def test_the_reference_can_be_a_backend_too() -> None:
    harness = KernelDiffHarness(
        torch.nn.Linear(3, 3),
        torch.rand(2, 3),
        model_name="tiny",
        reference_backend=off_by_one_percent,
        test_backend="eager",
    )
    report = harness.compare(find_first_op=False)
    assert (report.model, report.reference, report.test) == ("tiny", "off_by_one_percent", "eager")
    assert not report.passed


def test_eager_means_that_nothing_is_compiled_not_even_what_the_model_compiles_itself() -> None:
    inner = torch.compile(lambda x: x + 1, backend=off_by_one_percent)
    for model in (inner, lambda x: inner(x) * 2, torch.compile(torch.nn.ReLU(), backend=off_by_one_percent)):
        report = compare(model, torch.ones(3), off_by_one_percent)
        assert [leaf.name for leaf in report.failed_leaves] == ["output"]


def test_a_backend_is_found_by_module_and_name() -> None:
    backend = f"{__name__}:off_by_one_percent"
    assert not compare(lambda x: x + 1, torch.ones(3), backend).passed


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("inductr", "did you mean inductor"),
        ("xyzzy", "there are aot_eager"),
        ("no_such_module:backend", "can't be imported: ModuleNotFoundError"),
        (f"{__name__}:no_such_backend", "no backend `no_such_backend` in it"),
    ],
)
def test_a_backend_that_is_not_there_is_refused_with_what_is(name: str, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        compare(lambda x: x + 1, torch.ones(3), name)
    assert str(refused.value).startswith(f"{name}: ") and told in str(refused.value)


def failing(_graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    try:
        return dict[str, Callable[..., Any]]()["aten.foo"]
    except KeyError as missing:
        raise NotImplementedError("no kernel for aten.foo\nand much more") from missing


def failing_when_called(_graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    return lambda *_arguments: [torch.mm(torch.ones(2), torch.ones(2))]


def failing_in_the_standard_library(_graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    return json.loads("{")  # type: ignore[no-any-return]


def failing_in_its_graph(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    return lambda *_arguments: graph("no tensor")


@pytest.mark.parametrize(
    ("backend", "line"),
    [
        (failing, "raise NotImplementedError"),
        (failing_when_called, "torch.mm"),
        (failing_in_the_standard_library, "json.loads"),
        (failing_in_its_graph, "no tensor"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_the_error_of_a_backend_is_told_with_its_line(backend: Callable[..., Any], line: str, tmp_path: Path) -> None:
    report = compare(lambda x: torch.sin(x), torch.ones(3), backend, repeats=1)
    lines, start = inspect.getsourcelines(backend)
    number = start + next(at for at, text in enumerate(lines) if line in text)
    assert report.failure.endswith(f"({shown_place(__file__, number)})") and "\n" not in report.failure
    run = RunFolder.create("diff", home=tmp_path)
    report.write(run)
    text = (run.path / "traceback.txt").read_text("utf-8")
    assert f'File "{__file__}", line {number}' in text
    assert "traceback" not in run.read_json("numerics.json")


def test_where_torch_is_the_backend_no_line_of_the_model_is_blamed(tmp_path: Path) -> None:
    report = compare(lambda x: torch.relu(x), torch.ones(3), "relu_runtime_error_TESTING_ONLY", repeats=1)
    assert report.failure == "AssertionError: ReluRuntimeError"
    assert report.traceback.endswith(f"{report.failure}\n")
    passed = compare(lambda x: torch.sin(x), torch.ones(3), repeats=1)
    run = RunFolder.create("diff", home=tmp_path)
    passed.write(run)
    assert not run.has("traceback.txt")


def test_a_backend_that_fails_is_a_failed_comparison_with_its_own_words() -> None:
    report = compare(lambda x: x + 1, torch.ones(3), failing)
    assert not report.passed and report.failure.startswith("NotImplementedError: no kernel for aten.foo (")
    assert "KeyError: 'aten.foo'" in report.traceback and "and much more" in report.traceback
    assert "failing could not run it" in report.summary()
    with pytest.raises(
        InvalidInput, match="the reference backend failing can't run it: NotImplementedError: no kernel"
    ):
        KernelDiffHarness(lambda x: x + 1, torch.ones(3), reference_backend=failing).compare()


def test_a_backend_that_was_never_called_proves_nothing_and_that_is_said() -> None:
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def hidden(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    report = compare(lambda x: hidden(x), torch.ones(3))
    assert report.passed and report.graphs == 0
    assert "was never given a graph to compile" in report.verdict()


def raising(_x: torch.Tensor) -> torch.Tensor:
    raise ValueError("not today")


@pytest.mark.parametrize(
    ("model", "error", "told"),
    [
        (raising, ModelFailed, "ValueError: not today; it fails without torch.compile, too"),
        (lambda x: x.sum().item(), InvalidInput, "model: returns no tensor: nothing to compare"),
        (lambda _: None, InvalidInput, "returns no tensor"),
        (lambda x: (each for each in x), InvalidInput, "output: a generator, which computes only while it is consumed"),
        (lambda x, y: x + y, ModelFailed, "missing 1 required positional argument"),
    ],
    ids=["raises", "number", "nothing", "generator", "arguments"],
)
def test_a_model_that_can_not_be_compared_is_refused(
    model: Callable[..., Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as refused:
        compare(model, torch.ones(3))
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda outputs: outputs[:-1], "it returns 1 value for graph 1, which has 2 outputs"),
        (lambda outputs: [*outputs, outputs[0]], "it returns 3 values for graph 1, which has 2 outputs"),
        (lambda outputs: outputs[0], "it returns a Tensor for graph 1, and not a list of outputs"),
        (lambda outputs: [1.0, outputs[1]], "it returns a float as output 0 of graph 1, and not a tensor"),
    ],
)
def test_what_does_not_fit_the_graph_is_told_with_its_number(change: Callable[[Any], Any], told: str) -> None:
    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: change(list(graph(*arguments)))

    report = KernelDiffHarness(lambda x: (x + 1, x * 2), torch.rand(3), test_backend=backend).compare()
    assert (report.passed, report.failure) == (False, f"WrongOutputs: {told}")


def test_an_output_that_is_the_memory_of_an_input_is_told() -> None:
    def backend(_graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: [next(each for each in arguments if isinstance(each, torch.Tensor))]

    report = KernelDiffHarness(lambda x: x + 0, torch.rand(3), test_backend=backend).compare(find_first_op=False)
    assert [(leaf.name, leaf.reason) for leaf in report.failed_leaves] == [
        ("memory of output", "shares memory with args[0], and should not")
    ]
    assert KernelDiffHarness(lambda x: x.view(-1), torch.rand(3, 2), test_backend="aot_eager").compare().passed


def test_outputs_that_are_the_same_memory_are_told_and_no_op_is_searched() -> None:
    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *given: [graph(*given)[0].view(3)] * 2

    report = KernelDiffHarness(lambda x: (x * 2, x + x), torch.rand(3), test_backend=backend).compare()
    assert [(leaf.name, leaf.reason) for leaf in report.failed_leaves] == [
        ("memory of output[1]", "shares memory with output[0], and should not")
    ]
    assert report.first_difference is None
    twice = KernelDiffHarness(lambda x: [x.sin()] * 2, torch.rand(3), test_backend="inductor").compare()
    assert twice.passed


def test_nan_on_both_sides_is_not_called_equal() -> None:
    report = KernelDiffHarness(lambda x: x / 0, torch.zeros(3), test_backend="aot_eager").compare()
    assert report.verdict() == "nothing was compared: output: NaN throughout, under both backends"
    report = KernelDiffHarness(lambda x: (x / 0, x + 1), torch.zeros(3), test_backend="aot_eager").compare()
    assert report.verdict() == ("aot_eager equals eager in 1 value; but output[0]: NaN throughout, under both backends")


def test_a_backend_that_varies_is_told_as_that_and_no_op_is_blamed() -> None:
    noise = torch.Generator().manual_seed(1)

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: [value + torch.rand(3, generator=noise) for value in graph(*arguments)]

    report = KernelDiffHarness(lambda x: x.sin() + 1, torch.rand(3), test_backend=backend).compare()
    assert report.first_difference is not None
    assert (report.first_difference.kind, report.first_difference.op) == ("varies", None)
    assert "\nIts results vary from one call to the next: no op can be blamed for that" in report.summary()


def test_nan_on_both_sides_is_no_variation_and_no_fault_of_an_op_even_if_it_is_not_equal() -> None:
    config = ComparisonConfig(equal_nan=False)
    inputs = torch.tensor([-1.0, 2.0])
    report = KernelDiffHarness(lambda x: x.log() + 1, inputs, test_backend=faithful, comparison_config=config).compare()
    assert not report.passed and report.first_difference is None
    harness = KernelDiffHarness(lambda x: x.log().sin(), inputs, test_backend=wrong_sin, comparison_config=config)
    first = harness.compare().first_difference
    assert first is not None and first.op is not None and first.op.name == "Tensor.sin"


def compiling_once(error: BaseException) -> Backend:
    """A wrong backend that raises when it is given another graph."""
    compiled: list[GraphModule] = []

    def once(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if compiled:
            raise error
        compiled.append(graph)
        return off_by_one_percent(graph, inputs)

    return once


def test_a_search_that_fails_loses_no_comparison() -> None:
    backend = compiling_once(RuntimeError("already compiled"))
    report = KernelDiffHarness(lambda x: x.sin(), torch.rand(3), test_backend=backend).compare()
    assert [leaf.name for leaf in report.failed_leaves] == ["output"]
    assert report.first_difference is not None and report.first_difference.kind == "unknown"
    assert "\n  The search failed: RuntimeError: already compiled (" in report.summary()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_ends_the_search_and_the_comparison(error: type[BaseException]) -> None:
    with pytest.raises(error):
        KernelDiffHarness(lambda x: x.sin(), torch.rand(3), test_backend=compiling_once(error())).compare()


@pytest.mark.parametrize("graph", [None, 0])
@pytest.mark.parametrize("kind", ["op", "backward", *WITHOUT_AN_OP])
def test_every_line_about_the_first_difference_begins_as_a_sentence_does(kind: str, graph: int | None) -> None:
    has_op = kind not in WITHOUT_AN_OP
    op = Op(name="torch.relu", node="relu", source="", position=1, operands=()) if has_op else None
    leaf = LeafComparison(name="gradient of x", part="gradient", passed=False, reason="None instead of 1")
    found = FirstDifference(
        kind=kind, compiled=2, graph=graph, ops=3, op=op, others=1, difference=leaf, open=("the search failed",)
    )
    lines = describe_first_difference(found, graphs=1)
    assert len(lines) == 5 + has_op
    assert [line for line in lines if line.lstrip()[0].islower()] == []


def test_a_subject_is_compared_and_the_document_is_plain_json() -> None:
    subject = ModelUnderTest(name="mine.py:make", model=lambda x: (x / 0, x + 1), args=(torch.zeros(2),), seed=3)
    report = diff_model(subject, test_backend=off_by_one_percent)
    document = report.to_document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert (document["kind"], document["schema"], document["model"], document["seed"]) == (
        "numerics",
        1,
        "mine.py:make",
        3,
    )
    assert (document["passed"], document["reference"], document["test"]) == (False, "eager", "off_by_one_percent")
    assert [leaf["passed"] for leaf in document["leaves"]] == [True, False]
    first = document["first_difference"]
    assert first is not None and (first["kind"], first["op"]["name"]) == ("op", "operator.add")
    assert document["cause"][0].startswith(
        "In graph 1 of 1 (2 ops) the first op that is computed wrongly is operator.add"
    )


@pytest.mark.parametrize(
    ("eager", "compiled", "absolute", "relative"),
    [
        (lambda x: (x, x * 2), lambda x: (x + 0.5, x * 2 - 1.0), 1.0, 0.5),
        (lambda x: (x, x / 0), lambda x: (x, x / 0), 0.0, 0.0),
        (lambda x: (x, x), lambda x: (x + 1, x * torch.nan), math.inf, math.inf),
        (lambda x: (x * torch.nan, x), lambda x: (x * torch.nan, x + 1), 1.0, 1.0),
        (lambda x: x * torch.nan, lambda x: x * torch.nan, None, None),
        (lambda x: x, lambda x: [x], None, None),
    ],
    ids=["two tensors", "equal", "NaN on one side", "NaN on both sides beside numbers", "only NaN", "no tensors"],
)
def test_the_largest_errors_of_all_values_are_told(
    eager: Callable[..., Any], compiled: Callable[..., Any], absolute: float | None, relative: float | None
) -> None:
    def model(x: torch.Tensor) -> Any:
        return compiled(x) if COMPILING() else eager(x)

    report = compare(model, torch.ones(3), repeats=1)
    assert (report.max_absolute_error, report.max_relative_error) == (absolute, relative)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"inputs": 1}, "KernelDiffHarness: no argument `inputs`: write `example_inputs`"),
        (
            {"config": None, "testbackend": "eager"},
            "KernelDiffHarness: no argument `config`: write `comparison_config`; no argument `testbackend`",
        ),
        (
            {"test_backend": None, "comparison_config": {}, "seed": "1"},
            "KernelDiffHarness: test_backend=None: must be the name of a backend, or a function; "
            "comparison_config={}: must be a ComparisonConfig; seed='1': must be a whole number",
        ),
    ],
)
def test_a_wrong_argument_is_refused_with_the_right_one(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError) as refused:
        KernelDiffHarness(torch.nn.ReLU(), **arguments)
    assert str(refused.value) == told


def test_lists_are_always_flattened() -> None:
    assert ComparisonConfig(flatten_lists=True) == ComparisonConfig()
    with pytest.raises(TypeError, match="nested lists and tuples are always flattened; leave it out"):
        ComparisonConfig(flatten_lists=False)


def test_a_long_table_shows_what_differs_and_counts_the_rest() -> None:
    def model(x: torch.Tensor) -> list[torch.Tensor]:
        return [x + place + (place == 77 and COMPILING()) for place in range(100)]

    text = compare(model, torch.ones(1), repeats=1).summary()
    assert "output[77]" in text and "… and 70 more" in text
    assert len(text.splitlines()) < 40


def test_the_public_names_are_importable_from_the_root() -> None:
    import repro_runner

    assert repro_runner.KernelDiffHarness is KernelDiffHarness
    assert repro_runner.ComparisonConfig is ComparisonConfig
    assert repro_runner.compare_tensors(1.0, 1.0).passed


def wrong_for(is_wrong: Callable[[torch.Tensor], bool]) -> Backend:
    """Runs Dynamo's graphs; the first op is wrong for some operands."""

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        class Wrong(Interpreter):
            def run_node(self, n: Node) -> Any:
                value = super().run_node(n)
                if n.op != "call_method" or n.target not in ("sin", "angle"):
                    return value
                return value * 1.25 if is_wrong(self.env[n.args[0]]) else value  # type: ignore[index]

        return lambda *arguments: Wrong(graph, garbage_collect_values=False).run(*arguments)

    return backend


def without_aliases(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    """Does not see that inputs share memory."""

    def call(*arguments: torch.Tensor) -> Any:
        own = [each if each.is_leaf and each.requires_grad else each.clone() for each in arguments]
        before = [each._version for each in own]
        returned = graph(*own)
        for given, mine, version in zip(arguments, own, before, strict=True):
            if mine._version != version:
                given.copy_(mine)
        return returned

    return call


class SlicedWeight(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, 8)[:, ::2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight.sin()


def sin_after_a_break(x: torch.Tensor) -> torch.Tensor:
    y = (x * 2)[:, ::2]
    torch._dynamo.graph_break()
    return y.sin()


def angle_after_a_break(x: torch.Tensor) -> torch.Tensor:
    y = x.conj()
    torch._dynamo.graph_break()
    return y.angle()


STRIDED = wrong_for(lambda operand: not operand.is_contiguous())
CONJUGATED = wrong_for(torch.Tensor.is_conj)


@pytest.mark.parametrize(
    ("model", "given", "backend"),
    [
        (torch.Tensor.sin, torch.rand(3, 4)[:, ::2], STRIDED),
        (torch.Tensor.sin, torch.rand(1, 4).expand(3, 4), STRIDED),
        (SlicedWeight(), torch.rand(4), STRIDED),
        (sin_after_a_break, torch.rand(3, 4), STRIDED),
        (sin_after_a_break, torch.rand(3, 4, requires_grad=True), STRIDED),
        (torch.Tensor.angle, torch.randn(4, dtype=torch.complex64).conj(), CONJUGATED),
        (angle_after_a_break, torch.randn(4, dtype=torch.complex64), CONJUGATED),
        (angle_after_a_break, torch.randn(4, dtype=torch.complex64, requires_grad=True), CONJUGATED),
    ],
)
def test_an_op_that_is_wrong_only_for_strided_or_conjugated_operands_is_found(
    model: Callable[..., Any], given: torch.Tensor, backend: Backend
) -> None:
    found = KernelDiffHarness(model, given, test_backend=backend).compare().first_difference
    assert found is not None and found.op is not None
    assert found.op.name in ("Tensor.sin", "Tensor.angle")


def write_to_the_first(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return y * 2


def write_to_a_part(x: torch.Tensor) -> torch.Tensor:
    whole = x * 2
    first, second = whole[:3], whole[1:]
    torch._dynamo.graph_break()
    first.mul_(3)
    return second.sin()


def test_a_backend_that_misses_a_write_through_shared_memory_differs() -> None:
    whole = torch.rand(4)
    assert not compare(write_to_the_first, (whole, whole.view(2, 2)), without_aliases).passed


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_graph_whose_inputs_share_memory_is_run_with_inputs_that_do(requires_grad: bool) -> None:
    given = torch.rand(4, requires_grad=requires_grad)
    found = KernelDiffHarness(write_to_a_part, given, test_backend=without_aliases).compare().first_difference
    assert found is not None and (found.kind, found.graph) == ("unknown", 1)


def test_inputs_that_are_views_of_one_tensor_have_the_gradients_that_they_have_in_the_model() -> None:
    given = torch.rand(4, requires_grad=True)
    whole = given * 2

    def graph(first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor]:
        first.mul_(3)
        return (second.sin(),)

    run = run_graph(graph, GraphInputs([whole[:3], whole[1:]]), gradients=True, weighted=1)
    first, second = whole[:3], whole[1:]
    first.mul_(3)
    (expected,) = torch.autograd.grad(second.sin(), given, run.weights[0])
    got = [run.gradient_of(place) for place in range(2)]
    assert got[0] is not None and got[1] is not None
    torch.testing.assert_close(torch.cat([got[0], got[1][2:]]) * 2, expected)
    assert torch.equal(got[0][1:], got[1][:2])


def test_a_graph_is_run_with_parameters_where_it_was_called_with_parameters() -> None:
    inputs = GraphInputs([torch.nn.Parameter(torch.rand(3)), torch.rand(3)])
    for arguments in (inputs.fresh()[0], inputs.plain()):
        assert [isinstance(each, torch.nn.Parameter) for each in arguments] == [True, False]
    assert [each.requires_grad for each in (*inputs.fresh()[0], *inputs.plain())] == [True, False, False, False]
