"""Backends that are wrong on purpose, each in one way, others that are right, and six models to try them on.

A backend notes the lines of the ops that it spoils in the model's own graphs. So whatever `diff` says can be held
against the truth: named right, not known, or wrong.
"""

from __future__ import annotations

import ctypes
import operator
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx import GraphModule, Interpreter, Node

from repro_runner.constraints.nodes import op_name, source_line
from repro_runner.diff import ComparisonConfig, DiffReport, KernelDiffHarness
from repro_runner.graphs.by_name import Backend
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.process import Limits
from repro_runner.process.isolated import SEARCHING, ChildFailed, Isolation
from repro_runner.torch_seams import aot_autograd, make_boxed_func, pytree

Model = tuple[nn.Module, Any]


# The models


class CachedBlock(nn.Module):
    """A transformer block that decodes one token, and writes its key and value into a cache."""

    def __init__(self, width: int = 16, length: int = 6) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.keys = nn.Buffer(torch.randn(1, length, width))
        self.values = nn.Buffer(torch.randn(1, length, width))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        y = self.norm(x)
        q = self.query(y)
        k = self.key(y)
        v = self.value(y)
        self.keys.index_copy_(1, position, k)
        self.values.index_copy_(1, position, v)
        scores = torch.matmul(q, self.keys.transpose(1, 2))
        scores = scores / 4.0
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(weights, self.values)
        x = x + self.out(mixed)
        z = torch.nn.functional.gelu(self.up(x))
        z = self.down(z)
        return x.add(z)


class ConvNet(nn.Module):
    """In training: statistics are updated, and gradients flow."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 8, 3, stride=2)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        x = self.norm(x)
        x = torch.relu(x)
        x = self.second(x)
        x = torch.relu(x)
        x = x.mean(dim=(2, 3))
        for layer in self.layers:
            x = torch.tanh(layer(x))
        x = self.head(x)
        return torch.log_softmax(x, dim=-1)


class Branching(nn.Module):
    """Two graphs, complex numbers, several outputs of several dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.randn(5, 2))
        self.scale = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        spectrum = torch.fft.rfft(x, dim=-1)
        filtered = spectrum * torch.view_as_complex(self.filter)
        y = torch.fft.irfft(filtered, n=8, dim=-1)
        torch._dynamo.graph_break()
        y = self.scale(y) if x.shape[0] > 2 else y + 1
        y = torch.sigmoid(y)
        best, place = torch.max(y, dim=1)
        best = best * 2
        return y + x, best, place


class Scratch(nn.Module):
    """In training: copies, writes in place, dropout, a sum whose terms cancel, and a view after a break."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.last = nn.Linear(8, 8)
        self.table = nn.Buffer(torch.randn(8))
        large = torch.randn(20_000) * 1000
        self.large = nn.Buffer(torch.cat([large, -large.flip(0), torch.rand(100)]))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.first(x)
        kept = y.clone()
        y.mul_(2)
        before = torch.sin(self.table)
        self.table.add_(y.detach().mean(dim=0))
        after = torch.sin(self.table)
        total = torch.sum(self.large * 1.25) + before
        y = torch.nn.functional.dropout(y, 0.5, True)
        z = torch.nn.functional.dropout(kept, 0.5, True)
        y = torch.matmul(y + z, self.last.weight)
        torch._dynamo.graph_break()
        flat = y.view(-1)
        kept = torch.nn.functional.dropout(kept, 0.25, True)
        return flat * 3, (kept + after).t(), total


def scratch() -> Model:
    return Scratch().train(), (torch.randn(4, 8),)


def cached_block() -> Model:
    return CachedBlock().eval(), (torch.randn(1, 1, 16), torch.tensor([2]))


def conv_net() -> Model:
    return ConvNet().train(), (torch.randn(4, 3, 8, 8, requires_grad=True),)


def branching() -> Model:
    return Branching(), (torch.randn(4, 8, requires_grad=True),)


def gpt2() -> Model:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=32, n_positions=16, use_cache=False)
    return GPT2LMHeadModel(config).eval(), {"input_ids": torch.arange(6).reshape(1, 6)}


def bert() -> Model:
    from transformers import BertConfig, BertModel

    config = BertConfig(num_hidden_layers=2, hidden_size=16, num_attention_heads=2, intermediate_size=32, vocab_size=32)
    return BertModel(config, add_pooling_layer=False).eval(), {"input_ids": torch.arange(6).reshape(1, 6)}


MODELS: dict[str, Callable[[], Model]] = {
    "cached block": cached_block,
    "conv net, training": conv_net,
    "branching, complex": branching,
    "GPT-2": gpt2,
    "BERT": bert,
    "scratch, training": scratch,
}
LONGER: dict[str, Callable[[], Any]] = {
    "cached block": lambda: (torch.randn(1, 2, 16), torch.tensor([2, 3])),
    "conv net, training": lambda: (torch.randn(5, 3, 8, 8),),
    "branching, complex": lambda: (torch.randn(5, 8),),
    "GPT-2": lambda: {"input_ids": torch.arange(8).reshape(1, 8)},
    "BERT": lambda: {"input_ids": torch.arange(7).reshape(1, 7)},
    "scratch, training": lambda: (torch.randn(6, 8),),
}
"""Inputs of other sizes, for a second call."""


# The faults


@dataclass
class Truth:
    """What a backend spoils in the graphs of the model itself."""

    lines: set[str] = field(default_factory=set)
    sums: set[str] = field(default_factory=set)
    """Lines of uses whose gradient is added wrongly to those of other uses."""
    recording: bool = True

    def note(self, node: Node) -> None:
        if self.recording:
            self.lines.add(source_line(node))
        if adds_gradients(node):
            self.note_sum(node)

    def note_sum(self, node: Node) -> None:
        if self.recording:
            self.sums.add(source_line(node))


Make = Callable[[Truth], Backend]
Select = Callable[[list[Node]], list[Node]]
"""From the ops of a graph to those that are spoiled."""
Change = Callable[[Tensor], Tensor]

_COPIES = (
    *("Tensor.detach", "Tensor.clone", "Tensor.to"),
    *("aten.detach.default", "aten.clone.default", "aten.alias.default", "aten._to_copy.default"),
)
_MULTIPLYING = ("linear", "matmul", "conv", "mm", "scaled_dot_product")
_ACTIVATIONS = ("relu", "gelu", "tanh", "sigmoid", "softmax")


def ops_of(graph: GraphModule) -> list[Node]:
    """What computes: neither picks an item, nor is one of the copies through which a graph is watched."""
    calls = (node for node in graph.graph.nodes if node.op.startswith("call") and node.target is not operator.getitem)
    return [node for node in calls if op_name(node) not in _COPIES]


def adds_gradients(node: Node) -> bool:
    """Whether it adds the gradient of a use to those of other uses of a value. Its line is that of the use."""
    return bool(node.meta.get("is_gradient_acc"))


def called(*names: str, which: slice = slice(None)) -> Select:
    """Ops whose name has one of these in it."""
    return lambda ops: [node for node in ops if any(name in op_name(node) for name in names)][which]


def spoil(value: Tensor) -> Tensor:
    """Each element by another amount: softmax and norms don't see what is added to all."""
    if value.dtype == torch.bool:
        return ~value
    step = torch.linspace(1, 2, max(value.numel(), 2), device=value.device)[: value.numel()].reshape(value.shape)
    return value + step.to(value.dtype)


class Spoiled(Interpreter):
    """Runs a graph, and changes the values of some ops; notes those that it really changed."""

    def __init__(self, graph: GraphModule, select: Select, change: Change, truth: Truth) -> None:
        super().__init__(graph)
        self._chosen, self._change, self._truth = set(select(ops_of(graph))), change, truth

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        return self._changed(n, value) if n in self._chosen else value

    def _changed(self, node: Node, value: Any) -> Any:
        if isinstance(value, tuple | list) and value:
            return type(value)([self._changed(node, value[0]), *value[1:]])
        if not isinstance(value, Tensor):
            return value
        changed = self._change(value)
        if changed.dtype != value.dtype or not torch.equal(changed, value):
            self._truth.note(node)
        if op_name(node).endswith("_"):  # in place: whoever has this memory sees it
            with torch.no_grad():
                return value.copy_(changed)
        return changed


def interpreting(select: Select, change: Change = spoil) -> Make:
    """A backend that runs Dynamo's graph op by op."""

    def make(truth: Truth) -> Backend:
        def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
            return lambda *arguments: Spoiled(graph, select, change, truth).run(*arguments)

        return backend

    return make


def nothing(_ops: list[Node]) -> list[Node]:
    return []


def lowering(forward: Select = nothing, backward: Select = nothing, change: Change = spoil) -> Make:
    """A backend on top of AOTAutograd, with a compiler for the forward and one for the backward."""

    def make(truth: Truth) -> Backend:
        def compiler(select: Select) -> Callable[..., Any]:
            def compile_(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
                run = lambda *arguments: Spoiled(graph, select, change, truth).run(*arguments)  # noqa: E731
                return make_boxed_func(run)  # type: ignore[no-any-return]

            return compile_

        backend: Backend = aot_autograd(fw_compiler=compiler(forward), bw_compiler=compiler(backward))
        return backend

    return make


def adding(add: Callable[[Tensor, Tensor], Tensor], select: Callable[[Node], bool] = adds_gradients) -> Make:
    """A backend on top of AOTAutograd that adds the gradient of a use to those of others in its own way."""

    def make(truth: Truth) -> Backend:
        class Adding(Interpreter):
            def run_node(self, n: Node) -> Any:
                if not (adds_gradients(n) and select(n)):
                    return super().run_node(n)
                truth.note_sum(n)
                one, other = self.fetch_args_kwargs_from_env(n)[0]
                return add(one, other)

        return backward_by(lambda graph, arguments: Adding(graph).run(*arguments))

    return make


def backward_by(run: Callable[[GraphModule, Sequence[Any]], Any]) -> Backend:
    """A backend on top of AOTAutograd with a right forward, whose backward graphs `run` runs."""

    def forward(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(graph.forward)  # type: ignore[no-any-return]

    def backward(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(lambda *arguments: run(graph, arguments))  # type: ignore[no-any-return]

    backend: Backend = aot_autograd(fw_compiler=forward, bw_compiler=backward)
    return backend


def returning(change: Callable[[list[Any]], Any]) -> Make:
    """A backend that computes gradients rightly, and then returns others."""
    return lambda _truth: backward_by(lambda graph, arguments: change(list(graph(*arguments))))


def feeds_the_output(node: Node) -> bool:
    return any(user.op == "output" for user in node.users)


def detaches_last_uses(truth: Truth) -> Backend:
    """Of several uses of a value the last has no gradient."""

    class Detaching(Interpreter):
        def run_node(self, n: Node) -> Any:
            for each in n.all_input_nodes if n.op != "output" else []:
                value, users = self.env[each], list(each.users)
                if isinstance(value, Tensor) and value.requires_grad and users.index(n) == len(users) - 1 > 0:
                    truth.note_sum(n)
                    self.env[each] = value.detach()
            return super().run_node(n)

    return lambda graph, _inputs, **_: lambda *arguments: Detaching(graph).run(*arguments)


class DoublesTheFirst(torch.autograd.Function):
    """An addition whose first operand has twice its gradient."""

    @staticmethod
    def forward(_ctx: Any, one: Tensor, other: Tensor) -> Tensor:
        return one + other

    @staticmethod
    def backward(_ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        return grads[0] * 2, grads[0]


def doubles_gradients_of_additions(truth: Truth) -> Backend:
    class Doubling(Interpreter):
        def run_node(self, n: Node) -> Any:
            args = self.fetch_args_kwargs_from_env(n)[0] if n.op.startswith("call") else ()
            if "add" not in op_name(n) or len(args) != 2 or not _have_one_shape(*args):
                return super().run_node(n)
            truth.note(n)
            return DoublesTheFirst.apply(*args)  # type: ignore[no-untyped-call]

    return lambda graph, _inputs, **_: lambda *arguments: Doubling(graph).run(*arguments)


def _have_one_shape(one: Any, other: Any) -> bool:
    return isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape


def around(change: Callable[[list[Any], list[Any]], Any]) -> Make:
    """A backend that computes rightly, and then returns `change(outputs, inputs)`."""

    def make(_truth: Truth) -> Backend:
        def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
            return lambda *arguments: change(list(graph(*arguments)), list(arguments))

        return backend

    return make


def only_if(condition: Callable[[GraphModule], bool], make_one: Make) -> Make:
    """Wrong only in some graphs."""

    def make(truth: Truth) -> Backend:
        wrong = make_one(truth)

        def backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> Callable[..., Any]:
            return wrong(graph, inputs, **keywords) if condition(graph) else graph.forward

        return backend

    return make


def in_layer(number: int) -> Select:
    """Ops of one layer of several."""

    def select(ops: list[Node]) -> list[Node]:
        stacks = ((node, str(node.meta.get("nn_module_stack", ""))) for node in ops)
        return [
            node for node, stack in stacks if f".{number}" in stack or f"[{number}]" in stack or f"_{number}" in stack
        ]

    return select


def more_if_watched(ops: list[Node]) -> list[Node]:
    """The last product; and the first, too, in graphs that return copies of values."""
    chosen = called(*_MULTIPLYING)(ops)
    has_copies = any("clone" in op_name(node) for node in ops[0].graph.nodes) if ops else False
    return [*chosen[:1], *chosen[-1:]] if has_copies else chosen[-1:]


def without_bias(truth: Truth) -> Backend:
    """The last linear layer forgets its bias."""

    class Forgetful(Interpreter):
        def run_node(self, n: Node) -> Any:
            if n in called("linear", "addmm", which=slice(-1, None))(ops_of(self.module)):  # type: ignore[arg-type]
                truth.note(n)
                (x, weight, *_), _ = self.fetch_args_kwargs_from_env(n)
                return torch.nn.functional.linear(x, weight)
            return super().run_node(n)

    return lambda graph, _inputs, **_: lambda *arguments: Forgetful(graph).run(*arguments)


def loses_writes(truth: Truth) -> Backend:
    """What an op writes into a buffer gets lost."""

    class Lossy(Interpreter):
        def run_node(self, n: Node) -> Any:
            if not any(name in op_name(n) for name in ("index_copy_", "batch_norm")):
                return super().run_node(n)
            before = {each: self.env[each].clone() for each in n.all_input_nodes if isinstance(self.env[each], Tensor)}
            value = super().run_node(n)
            for each, tensor in before.items():
                if not torch.equal(self.env[each], tensor):
                    truth.note(n)
                    with torch.no_grad():
                        self.env[each].copy_(tensor)
            return value

    return lambda graph, _inputs, **_: lambda *arguments: Lossy(graph).run(*arguments)


def rounded(value: Tensor) -> Tensor:
    return value.to(torch.bfloat16).to(value.dtype) if value.dtype == torch.float32 else value


def first_float(values: list[Any]) -> int:
    return next(at for at, each in enumerate(values) if isinstance(each, Tensor) and each.is_floating_point())


def replaced(values: list[Any], at: int, value: Any) -> list[Any]:
    return [*values[:at], value, *values[at + 1 :]]


def writes_to_an_input(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    with torch.no_grad():
        inputs[first_float(inputs)].add_(1)
    return outputs


_calls = {"number": 0}


def every_third_call(outputs: list[Any], _inputs: list[Any]) -> list[Any]:
    _calls["number"] += 1
    return [spoil(outputs[0]), *outputs[1:]] if _calls["number"] % 3 == 0 else outputs


def noisy(value: Tensor) -> Tensor:
    return value + torch.rand(value.shape, generator=_NOISE).to(value.dtype) if value.is_floating_point() else value


_NOISE = torch.Generator()
_NOISE.seed()


def step(run_node: Callable[..., Any]) -> Make:
    """A backend that runs Dynamo's graph op by op: `run_node(node, values, run, truth)` gives the value of each op."""

    def make(truth: Truth) -> Backend:
        class Stepping(Interpreter):
            def run_node(self, n: Node) -> Any:
                if not n.op.startswith("call"):
                    return super().run_node(n)
                return run_node(n, self.env, lambda: Interpreter.run_node(self, n), truth)

        return lambda graph, _inputs, **_: lambda *arguments: Stepping(graph, False).run(*arguments)

    return make


def leaves_out(*names: str) -> Make:
    """Ops with these names return what they are given, which is no copy then."""
    return step(lambda node, values, run, _truth: values[node.args[0]] if op_name(node) in names else run())


def merging(truth: Truth, mergeable: Callable[[Node], bool] = lambda _node: True) -> Backend:
    """Equal expressions are computed once, whatever is written to between them."""

    class Merging(Interpreter):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            self._known: dict[str, tuple[Any, Any]] = {}
            return super().run(*args, **kwargs)

        def run_node(self, n: Node) -> Any:
            if not n.op.startswith("call") or op_name(n).endswith("_") or not mergeable(n):
                return super().run_node(n)
            given = self.fetch_args_kwargs_from_env(n)
            key = repr((n.op, n.target, pytree.tree_map(lambda each: _identity(each), given)))
            if key in self._known:
                truth.note(n)
                return self._known[key][0]
            self._known[key] = value, given = super().run_node(n), given
            return value

    return lambda graph, _inputs, **_: lambda *arguments: Merging(graph, False).run(*arguments)


def _identity(value: Any) -> Any:
    return id(value) if isinstance(value, Tensor) else value


def writes_late(truth: Truth) -> Backend:
    """What is written in place is written when the graph ends."""

    class Late(Interpreter):
        def run_node(self, n: Node) -> Any:
            name = op_name(n)
            if n.op == "output":
                for tensor, value in self._late:
                    tensor.copy_(value)
                return super().run_node(n)
            if not n.op.startswith("call") or not name.endswith("_") or "index_copy" in name:
                return super().run_node(n)
            (tensor, *others), kwargs = self.fetch_args_kwargs_from_env(n)
            truth.note(n)
            value = tensor.clone()
            getattr(value, name.rpartition(".")[2])(*others, **kwargs)
            self._late.append((tensor, value))
            return tensor

        def run(self, *args: Any, **kwargs: Any) -> Any:
            self._late: list[tuple[Tensor, Tensor]] = []
            return super().run(*args, **kwargs)

    return lambda graph, _inputs, **_: lambda *arguments: Late(graph, False).run(*arguments)


def draws_first(select: Select, draw: Callable[[], Any]) -> Make:
    """Before these ops something is drawn that eager does not draw."""

    def make(_truth: Truth) -> Backend:
        def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
            chosen = set(select(ops_of(graph)))

            class Drawing(Interpreter):
                def run_node(self, n: Node) -> Any:
                    if n in chosen:
                        draw()
                    return super().run_node(n)

            return lambda *arguments: Drawing(graph, False).run(*arguments)

        return backend

    return make


def draws_backwards(_truth: Truth) -> Backend:
    """Of several random ops, those that come later in the graph draw first."""

    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        class Planned(Interpreter):
            def run_node(self, n: Node) -> Any:
                if n not in self._states:
                    return super().run_node(n)
                now = torch.get_rng_state()
                torch.set_rng_state(self._states[n])
                value = super().run_node(n)
                torch.set_rng_state(now)
                return value

            def run(self, *args: Any, **kwargs: Any) -> Any:
                drawing = called("dropout")(ops_of(graph))
                self._states: dict[Node, Tensor] = {}
                for node in reversed(drawing):
                    self._states[node] = torch.get_rng_state()
                    torch.nn.functional.dropout(torch.ones(4, 8), 0.5, True)
                return super().run(*args, **kwargs)

        return lambda *arguments: Planned(graph, False).run(*arguments)

    return backend


def in_static_memory(which: slice) -> Make:
    """Some outputs are returned in memory that the next call uses, too."""

    def make(_truth: Truth) -> Backend:
        def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
            memory: dict[tuple[Any, ...], Tensor] = {}

            def kept(place: int, value: Any) -> Any:
                if not isinstance(value, Tensor):
                    return value
                own = memory.setdefault((place, value.shape), torch.empty_like(value.detach()))
                with torch.no_grad():
                    own.copy_(value)
                return own.detach() if not value.requires_grad else _StaticCopy.apply(value, own)  # type: ignore[no-untyped-call]

            def call(*arguments: Any) -> Any:
                returned = list(graph(*arguments))
                chosen = range(len(returned))[which]
                return [kept(at, each) if at in chosen else each for at, each in enumerate(returned)]

            return call

        return backend

    return make


class _StaticCopy(torch.autograd.Function):
    """The identity; its result lies in memory that is given."""

    @staticmethod
    def forward(_ctx: Any, _value: Tensor, memory: Tensor) -> Tensor:
        return memory.detach()

    @staticmethod
    def backward(_ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


def column_by_column(value: Any) -> Any:
    """The same numbers in memory in another order."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        return value
    return value.transpose(-1, -2).contiguous().transpose(-1, -2)


def is_dynamic(graph: GraphModule) -> bool:
    """Whether it takes a size as an input."""
    values = (node.meta.get("example_value") for node in graph.graph.find_nodes(op="placeholder"))
    return any(isinstance(value, torch.SymInt) for value in values)


def from_the_second_call(truth: Truth) -> Backend:
    """What it compiled is right when it is called first."""

    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        calls = 0

        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            select = nothing if calls == 1 else called(*_MULTIPLYING, which=_LAST)
            return Spoiled(graph, select, spoil, truth).run(*arguments)

        return call

    return backend


def only_the_first_rows(truth: Truth) -> Backend:
    """A kernel made for as many rows as came first: of more it computes only these."""
    rows: list[int] = []

    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        chosen = called(*_MULTIPLYING, which=_LAST)(ops_of(graph))

        class Fixed(Interpreter):
            def run_node(self, n: Node) -> Any:
                value = super().run_node(n)
                if n not in chosen:
                    return value
                if truth.recording:
                    rows.append(value.numel())
                if value.numel() <= rows[0]:
                    return value
                truth.note(n)
                keep = torch.arange(value.numel(), device=value.device).reshape(value.shape) < rows[0]
                return torch.where(keep, value, torch.zeros_like(value))

        return lambda *arguments: Fixed(graph, False).run(*arguments)

    return backend


def in_place(truth: Truth) -> Backend:
    """Products with a number are computed in the memory of what is multiplied."""

    class InPlace(Interpreter):
        def run_node(self, n: Node) -> Any:
            if "mul" not in op_name(n) or "matmul" in op_name(n) or not n.op.startswith("call"):
                return super().run_node(n)
            (one, other, *_), _kwargs = self.fetch_args_kwargs_from_env(n)
            if not isinstance(one, Tensor) or isinstance(other, Tensor) or (one.is_leaf and one.requires_grad):
                return super().run_node(n)
            truth.note(n)
            return one.mul_(other)

    return lambda graph, _inputs, **_: lambda *arguments: InPlace(graph, False).run(*arguments)


def in_half(truth: Truth) -> Backend:
    """Sums and means are added up in half precision."""

    class Half(Interpreter):
        def run_node(self, n: Node) -> Any:
            value = super().run_node(n)
            if not any(name in op_name(n) for name in ("sum", "mean")) or not isinstance(value, Tensor):
                return value
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            wide = pytree.tree_map(lambda each: each.bfloat16() if isinstance(each, Tensor) else each, (args, kwargs))
            truth.note(n)
            return getattr(self, n.op)(n.target, *wide).to(value.dtype)

    return lambda graph, _inputs, **_: lambda *arguments: Half(graph, False).run(*arguments)


@dataclass(frozen=True)
class Fault:
    """A wrong backend, and what `diff` may say of it besides the line that is spoiled."""

    name: str
    make: Make
    kinds: tuple[str, ...] = ()
    """Kinds of FirstDifference that are right without an op."""
    failure: str = ""
    """What the report says if the backend does not get that far."""
    equal: bool = False
    """Whether the numbers may be equal: then to say so is right."""
    gradients: bool = False
    reason: str = ""
    """What the report says of a value, if that is all that can be said."""
    longer: bool = False
    """Whether a second call with other sizes shows it."""
    dynamic: bool | None = None
    model: str = ""
    """The model that `make test` tries it on, if not all show it: some have no value with several uses."""


def large(graph: GraphModule) -> bool:
    return len(ops_of(graph)) > 6


def one_output(graph: GraphModule) -> bool:
    return len(graph.graph.output_node().args[0]) == 1  # type: ignore[arg-type]


_LAST, _FIRST = slice(-1, None), slice(1)
BRANCHES, SCRATCH = "branching, complex", "scratch, training"
_CLONES = ("Tensor.clone", "torch.clone")

FAULTS = [
    Fault("the first op", interpreting(lambda ops: ops[:1])),
    Fault("an op in the middle", interpreting(lambda ops: ops[len(ops) // 2 :][:1])),
    Fault("the last op", interpreting(lambda ops: ops[-1:])),
    Fault("the first product", interpreting(called(*_MULTIPLYING, which=_FIRST))),
    Fault("the last product", interpreting(called(*_MULTIPLYING, which=_LAST))),
    Fault("every product", interpreting(called(*_MULTIPLYING))),
    Fault("every addition", interpreting(called("add"))),
    Fault("an activation", interpreting(called(*_ACTIVATIONS, which=_LAST))),
    Fault("a normalisation", interpreting(called("_norm", "mean", which=_FIRST))),
    Fault("a view", interpreting(called("view", "transpose", "reshape", which=_FIRST), lambda value: value.flip(-1))),
    Fault("one layer of several", interpreting(in_layer(1))),
    Fault("the last bias is dropped", without_bias),
    Fault("writes to buffers are lost", loses_writes),
    Fault("writes to buffers are wrong", interpreting(called("index_copy_"))),
    Fault(
        "only large values",
        interpreting(called(*_MULTIPLYING, which=_LAST), lambda v: torch.where(v.abs() > 0.3, v * 2, v)),
    ),
    Fault(
        "only the first row",
        interpreting(called(*_MULTIPLYING, which=_LAST), lambda v: torch.cat([spoil(v[:1]), v[1:]])),
    ),
    Fault("only complex numbers", interpreting(lambda ops: ops, lambda v: v * 2 if v.is_complex() else v)),
    Fault(
        "only integers",
        interpreting(lambda ops: ops, lambda v: v + 1 if v.dtype == torch.int64 and v.dim() == 1 else v),
    ),
    Fault(
        "only one shape",
        interpreting(lambda ops: ops, lambda v: v * 2 if v.dim() == 2 and v.shape[-1] in (5, 8) else v),
    ),
    Fault("only matrices with few rows", interpreting(called("linear"), lambda v: spoil(v) if v.shape[0] <= 4 else v)),
    Fault(
        "NaN in one place",
        interpreting(
            called(*_ACTIVATIONS, which=_LAST),
            lambda v: v.flatten().index_fill(0, torch.tensor([0]), float("nan")).reshape(v.shape),
        ),
    ),
    Fault(
        "infinity in one place",
        interpreting(
            called(*_MULTIPLYING, which=_LAST),
            lambda v: v.flatten().index_fill(0, torch.tensor([0]), float("inf")).reshape(v.shape),
        ),
    ),
    Fault("products in bfloat16", interpreting(called(*_MULTIPLYING), rounded), kinds=("adds up",), equal=True),
    Fault(
        "a millionth more in every op",
        interpreting(lambda ops: ops, lambda v: v * 1.000002 if v.is_floating_point() else v),
        kinds=("adds up", "outside"),
        equal=True,
    ),
    Fault(
        "a result in another dtype",
        interpreting(called(*_MULTIPLYING, which=_LAST), lambda v: v.double() if v.dtype == torch.float32 else v),
    ),
    Fault("a product of aten", lowering(called("mm", "convolution", which=_FIRST))),
    Fault("the last op of aten", lowering(lambda ops: ops[-1:])),
    Fault("only large graphs", only_if(large, interpreting(called(*_MULTIPLYING, which=_LAST)))),
    Fault("only graphs with one output", only_if(one_output, interpreting(called(*_MULTIPLYING, which=_LAST)))),
    Fault(
        "only while gradients are on",
        interpreting(called(*_MULTIPLYING, which=_LAST), lambda v: spoil(v) if torch.is_grad_enabled() else v),
    ),
    Fault(
        "spoils what it returns",
        around(lambda outputs, _: [spoil(each) if isinstance(each, Tensor) else each for each in outputs]),
        kinds=("copies",),
    ),
    Fault("spoils its first output", around(lambda outputs, _: [spoil(outputs[0]), *outputs[1:]]), kinds=("outputs",)),
    Fault("returns outputs in reverse", around(lambda outputs, _: outputs[::-1]), kinds=("copies",), equal=True),
    Fault("drops an output", around(lambda outputs, _: outputs[:-1]), failure="returns"),
    Fault("adds an output", around(lambda outputs, _: [*outputs, outputs[0]]), failure="returns"),
    Fault("returns a tensor, and no list", around(lambda outputs, _: outputs[0]), failure="returns"),
    Fault(
        "returns a number for a tensor",
        around(lambda outputs, _: [1.0, *outputs[1:]]),
        failure="returns",
    ),
    Fault("returns another shape", around(lambda outputs, _: [outputs[0][None], *outputs[1:]]), kinds=("outputs",)),
    Fault("writes to an input", around(writes_to_an_input), kinds=("writes",)),
    Fault(
        "returns the memory of an input",
        around(lambda outputs, inputs: replaced(outputs, first_float(outputs), inputs[first_float(inputs)])),
        kinds=("outputs",),
    ),
    Fault("noise", interpreting(called(*_MULTIPLYING, which=_LAST), noisy), kinds=("varies",)),
    Fault("wrong in every third call", around(every_third_call), kinds=("varies",), equal=True),
    Fault(
        "the first product of a backward",
        lowering(backward=called("mm", "convolution_backward", which=_FIRST)),
        gradients=True,
    ),
    Fault(
        "the last product of a backward",
        lowering(backward=called("mm", "convolution_backward", which=_LAST)),
        gradients=True,
    ),
    Fault(
        "an activation's backward", lowering(backward=called("backward", "tanh", "where", which=_FIRST)), gradients=True
    ),
    Fault("every sum of a backward", lowering(backward=called("aten.sum")), gradients=True),
    Fault("the last op of a backward", lowering(backward=lambda ops: ops[-1:]), gradients=True),
    Fault("more ops while they are watched", interpreting(more_if_watched), model="cached block"),
    Fault(
        "a backward of every addition",
        doubles_gradients_of_additions,
        kinds=("copies",),
        gradients=True,
        model=BRANCHES,
    ),
    Fault("sums of gradients", adding(lambda one, other: spoil(one + other)), gradients=True, model=BRANCHES),
    Fault("sums without one gradient", adding(lambda one, _other: one), gradients=True, model=BRANCHES),
    Fault("sums with one gradient twice", adding(lambda one, other: one + 2 * other), gradients=True, model=BRANCHES),
    Fault("sums for inputs", adding(lambda _one, other: other, feeds_the_output), gradients=True, model=BRANCHES),
    Fault("the last use has no gradient", detaches_last_uses, gradients=True, model=BRANCHES),
    Fault(
        "spoils the gradients that it returns",
        returning(lambda grads: [spoil(each) if isinstance(each, Tensor) else each for each in grads]),
        kinds=("copies",),
        gradients=True,
        model=BRANCHES,
    ),
    Fault(
        "returns another gradient for an input",
        returning(lambda grads: replaced(grads, first_float(grads), spoil(grads[first_float(grads)]))),
        kinds=("sum",),
        gradients=True,
        model=BRANCHES,
    ),
    Fault("leaves copies out", leaves_out(*_CLONES), kinds=("elides",), model=SCRATCH),
    Fault("leaves all copies out", leaves_out(*_COPIES), kinds=("elides",), model=SCRATCH),
    Fault("leaves copies out of large graphs", only_if(large, leaves_out(*_CLONES)), kinds=("elides",), model=SCRATCH),
    Fault("merges across writes", merging, kinds=("merges",), model=SCRATCH),
    Fault(
        "merges one kind of op across writes",
        lambda truth: merging(truth, lambda node: op_name(node) == "torch.sin"),
        model=SCRATCH,
    ),
    Fault("writes when the graph ends", writes_late, kinds=("merges",), model=SCRATCH),
    Fault(
        "draws before the first op",
        draws_first(lambda ops: ops[:1], lambda: torch.rand(3)),
        kinds=("generator", "draws"),
        model=SCRATCH,
    ),
    Fault(
        "draws before the last op",
        draws_first(lambda ops: ops[-1:], lambda: torch.rand(3)),
        kinds=("generator", "draws"),
        model=SCRATCH,
    ),
    Fault(
        "seeds the generator",
        draws_first(lambda ops: ops[:1], lambda: torch.manual_seed(99)),
        kinds=("generator", "draws"),
        model=SCRATCH,
    ),
    Fault("draws in another order", draws_backwards, kinds=("generator",), model=SCRATCH),
    Fault(
        "draws before every op",
        draws_first(lambda ops: ops, lambda: torch.rand(3)),
        kinds=("generator", "draws"),
        model=SCRATCH,
    ),
    Fault("returns static memory", in_static_memory(slice(None)), reason="uses the memory of what it returned again"),
    Fault(
        "returns one output in static memory",
        in_static_memory(_LAST),
        reason="uses the memory of what it returned again",
        model=SCRATCH,
    ),
    Fault(
        "returns other strides",
        around(lambda outputs, _: list(map(column_by_column, outputs))),
        reason=" instead of (",
        failure="with strides",
    ),
    Fault(
        "returns one output with other strides",
        around(lambda outputs, _: [*outputs[:-1], column_by_column(outputs[-1])]),
        reason=" instead of (",
        failure="with strides",
        model=BRANCHES,
    ),
    Fault(
        "the last product, of a second size",
        only_if(is_dynamic, interpreting(called(*_MULTIPLYING, which=_LAST))),
        longer=True,
    ),
    Fault("an activation, of a second size", only_if(is_dynamic, interpreting(called(*_ACTIVATIONS))), longer=True),
    Fault("only as many rows as came first", only_the_first_rows, longer=True),
    Fault(
        "the last product, with dynamic shapes",
        only_if(is_dynamic, interpreting(called(*_MULTIPLYING, which=_LAST))),
        dynamic=True,
    ),
    Fault("every addition, with dynamic shapes", only_if(is_dynamic, interpreting(called("add"))), dynamic=True),
    Fault("wrong from the second call on", from_the_second_call, kinds=("varies",)),
    Fault("products in place", in_place, kinds=("writes",), model=SCRATCH),
    Fault("sums in half precision", in_half, equal=True, model=SCRATCH),
]


# Backends that are right


def in_float64(*names: str) -> Make:
    """More exact than eager: ops with one of these in their names are computed in float64, or all ops."""

    def run_node(node: Node, values: dict[Node, Any], run: Callable[[], Any], _truth: Truth) -> Any:
        if "dropout" in op_name(node) or op_name(node).endswith("_") or node.op != "call_function":
            return run()
        given = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
        value = run()
        if (
            not isinstance(value, Tensor)
            or value.dtype != torch.float32
            or not any(name in op_name(node) for name in names)
        ):
            return value
        wide = pytree.tree_map(lambda each: each.double() if _is_single(each) else each, given)
        try:
            return node.target(*wide[0], **wide[1]).to(value.dtype)  # type: ignore[operator]
        except RuntimeError:
            return value

    return step(run_node)


def _is_single(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.float32


def in_parts(node: Node, values: dict[Node, Any], run: Callable[[], Any], _truth: Truth) -> Any:
    """Sums of everything are added up in another order."""
    if op_name(node) not in ("torch.sum", "Tensor.sum") or len(node.args) != 1 or node.kwargs:
        return run()
    return torch.stack([part.sum() for part in values[node.args[0]].reshape(-1).chunk(7)]).sum()  # type: ignore[index]


def restores_the_generator() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.rand(3)


_OWN = torch.Generator()


def with_memory_of_its_own(outputs: list[Any], _inputs: list[Any]) -> list[Any]:
    """What is computed in static memory is copied before it is returned."""
    static = [each.detach().clone() if isinstance(each, Tensor) else None for each in outputs]
    for each in static:
        if each is not None and each.is_floating_point():
            each.zero_()
    return outputs


def other_strides_of_one(value: Any) -> Any:
    """A dimension of one element may have any stride."""
    if not isinstance(value, Tensor) or value.dim() < 2 or value.shape[0] != 1 or value.requires_grad:
        return value
    return value.as_strided(value.shape, (7 * value.numel(), *value.stride()[1:]))


RIGHT: dict[str, Make | str] = {
    "as it is": lambda _truth: lambda graph, _inputs: graph.forward,
    "lowered": "aot_eager",
    "sums and means in float64": in_float64("sum", "mean"),
    "products in float64": in_float64(*_MULTIPLYING),
    "every function in float64": in_float64(""),
    "sums in parts": step(in_parts),
    "draws from a generator of its own": draws_first(lambda ops: ops, lambda: torch.rand(3, generator=_OWN)),
    "restores the generator": draws_first(lambda ops: ops, restores_the_generator),
    "memory of its own": around(with_memory_of_its_own),
    "other strides where there is one element": around(lambda outputs, _: list(map(other_strides_of_one, outputs))),
    "merges where nothing is written": lambda truth: merging(truth, lambda node: "linear" in op_name(node)),
}
"""None of these may be accused of anything."""


# The verdict


def harness_of(
    model: str, backend: Backend | str, device: str, *, longer: bool = False, **settings: Any
) -> KernelDiffHarness:
    torch.manual_seed(0)
    module, inputs = MODELS[model]()
    moved = [
        pytree.tree_map(lambda value: value.to(device) if isinstance(value, Tensor) else value, each)
        for each in (inputs, LONGER[model]())
    ]
    config = ComparisonConfig(repeats=2, **settings)
    return KernelDiffHarness(
        module.to(device),
        moved[0],
        test_backend=backend,
        comparison_config=config,
        model_name=model,
        calls=moved if longer else (),
    )


# What ends the process


def crashes(*_: Any) -> None:
    ctypes.string_at(0)


def is_killed(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(*_: Any) -> None:
    time.sleep(600)


def leaves(*_: Any) -> None:
    sys.exit(3)


def leaks(*_: Any) -> list[Any]:
    return [torch.ones(10_000_000) for _ in iter(int, 1)]


ENDINGS: dict[str, tuple[Callable[..., Any], str]] = {
    "crashes": (crashes, "was killed by SIGSEGV"),
    "is killed": (is_killed, "was killed by SIGKILL"),
    "hangs": (hangs, "took longer than 20 s"),
    "calls sys.exit": (leaves, "called sys.exit(3)"),
    "leaks": (leaks, "used more than 4 GiB of memory"),
}
"""Backend -> how the process that runs a model with it ends."""


def end(arguments: dict[str, str]) -> None:
    """The task of a child: run a model with a backend that ends the process."""
    backend, _ = ENDINGS[arguments["ending"]]
    harness_of(arguments["model"], backend, arguments["device"]).compare()


def try_ending(ending: str, model: str, children: Isolation, device: str = "cpu") -> str:
    """`right` if what is told is how the backend ended its process, and where; else `wrong`."""
    backend, how = ENDINGS[ending]
    given = {"ending": ending, "model": model, "device": device}
    try:
        children.run(f"{__name__}:end", given, Limits(seconds=20, memory=4 * 1024**3))
    except ChildFailed as failed:
        code = backend.__code__
        here = {f"{code.co_filename}:{line}" for _, _, line in code.co_lines()}
        here |= {""} if ending == "is killed" else set()
        told = failed.how == how and failed.doing.words == f"running the model with {backend.__name__}"
        return "right" if told and failed.where in here else "wrong"
    return "wrong"


def try_right(name: str, model: str, device: str = "cpu", **settings: Any) -> DiffReport:
    """What is said of a backend that is right."""
    made = RIGHT[name]
    return harness_of(model, made if isinstance(made, str) else made(Truth()), device, **settings).compare()


def try_fault(fault: Fault, model: str, device: str = "cpu") -> tuple[str, DiffReport]:
    """`right`, `not known` or `wrong`, and the report."""
    truth = Truth()
    settings: dict[str, Any] = {"gradients": fault.gradients, "dynamic": fault.dynamic}
    harness = harness_of(model, fault.make(truth), device, longer=fault.longer, **settings)
    first = harness.compare(find_first_op=False)
    truth.recording = False
    report = first if first.failure else harness.compare()
    if report.passed:
        return ("right" if fault.equal or _is_equal(harness.subject, fault) else "wrong"), report
    return verdict(fault, truth, report), report


def judge(arguments: dict[str, str]) -> tuple[str, str]:
    """The task of a child: `try_fault`, and the report as text."""
    (fault,) = (each for each in FAULTS if each.name == arguments["fault"])
    said, report = try_fault(fault, arguments["model"], arguments["device"])
    return said, report.summary()


def try_apart(fault: Fault, model: str, children: Isolation, device: str) -> tuple[str, str]:
    """As `try_fault`, in a child: a wrong index ends all that a process has on a GPU. `graphbreak diff` then compares
    once more, without a search."""
    given = {"fault": fault.name, "model": model, "device": device}
    try:
        said, text = children.run(f"{__name__}:judge", given, Limits(seconds=300, memory=sys.maxsize))
    except ChildFailed as failed:
        return "not known" if failed.doing.words == SEARCHING else "wrong", str(failed)
    return said, text


def verdict(fault: Fault, truth: Truth, report: DiffReport) -> str:
    """What is said of a difference, held against the truth. That the backend raised is true if it did."""
    found = report.first_difference
    if report.failure:
        return "right" if fault.failure in report.failure else "wrong"
    if fault.reason and any(fault.reason in leaf.reason for leaf in report.failed_leaves if leaf.part != "output"):
        return "right"
    if found is None or found.kind == "unknown":
        return "not known"
    if found.op is None:
        lines = {use.source for use in found.uses}
        return "right" if found.kind in fault.kinds or lines & truth.sums else "wrong"
    return "right" if found.op.source in truth.lines else "wrong"


def _is_equal(subject: ModelUnderTest, fault: Fault) -> bool:
    """Whether the fault changes nothing in this model: its layer norm has no bias, it has no complex numbers."""
    results = []
    for backend in ("eager", fault.make(Truth())):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model: Any = subject.fresh_model()
        args, kwargs = subject.fresh_inputs()
        compiled: Any = torch.compile(model, backend=backend, dynamic=fault.dynamic)
        output = [call.make(compiled) for call in subject.calls] or compiled(*args, **kwargs)
        tensors = [each for each in pytree.tree_leaves(output) if isinstance(each, Tensor)]
        if fault.gradients:
            torch.autograd.backward([each.sum() for each in tensors if each.requires_grad])
        gradients = [each.grad for each in model.parameters()]
        results.append([each.detach() for each in tensors] + [*args, *model.state_dict().values(), *gradients])
    try:
        torch.testing.assert_close(*results, equal_nan=True)
    except AssertionError:
        return False
    return True
