"""A graph as a small Python function: torch's own calls, one per line, as people write them."""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import keyword
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from repro_runner.torch_seams import (
    HigherOrderOperator,
    OpOverload,
    enter_autocast,
    exit_autocast,
    get_data_attr,
    qualified_name,
    set_grad_enabled,
)

_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.matmul: "@", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
    operator.ne: "!=",
}  # fmt: skip
_PUBLIC_HOMES = (torch, torch.nn.functional, torch.fft, torch.linalg, torch.special)
_NOISE = re.compile(r"^l_(?:self_)?|(?:(?<=_)|^)(?:modules|parameters|buffers)_|_+$")
_TAKEN = frozenset({"torch", "operator", "f", "inputs", "saved", "Path", *dir(builtins)})


class Unrenderable(Exception):
    """This graph has something that can't be written down as plain Python; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSource:
    """`def f(x, weight): …`, the names of its parameters, and the modules it has to import besides torch."""

    text: str
    parameters: tuple[str, ...]
    modules: tuple[str, ...]


def render_function(graph: GraphModule) -> FunctionSource:
    """The graph as a function; Unrenderable if it can't be."""
    writer = _Writer(graph)
    lines = writer.function("f", graph)
    return FunctionSource(
        text="\n".join(lines),
        parameters=tuple(writer.names[node] for node in graph.graph.nodes if node.op == "placeholder"),
        modules=tuple(sorted(writer.modules)),
    )


def operations(graph: GraphModule) -> int:
    """How many ops a graph calls; `getitem` and switches of a mode do not count."""
    nodes = (node for part in graph.modules() if isinstance(part, GraphModule) for node in part.graph.nodes)
    return sum(
        node.op in ("call_function", "call_method", "call_module")
        and node.target not in (operator.getitem, getattr, *_MODE_SWITCHES)
        for node in nodes
    )


def switches_modes(graph: GraphModule) -> bool:
    """Whether it turns autocast or gradients on or off."""
    return any(node.target in _MODE_SWITCHES for node in graph.graph.nodes)


_MODE_SWITCHES = (set_grad_enabled, enter_autocast, exit_autocast)


class _Writer:
    """Writes one graph, and the graphs that its higher-order ops call as functions inside it."""

    def __init__(self, root: GraphModule) -> None:
        self._root = root
        self.names: dict[Node, str] = {}
        self.modules: set[str] = set()
        self._used = set(_TAKEN)

    def function(self, name: str, graph: GraphModule) -> list[str]:
        nodes = list(graph.graph.nodes)
        for node in nodes:
            self.names[node] = self._fresh_name(node)
        inner = [line for node in nodes if node.op == "get_attr" for line in self._inner_function(graph, node)]
        parameters = ", ".join(self.names[node] for node in nodes if node.op == "placeholder")
        body = [*inner, *_merge_return([*self._body(nodes, whole=graph is self._root)])]
        return [f"def {name}({parameters}):", *_indented(body)]

    def _fresh_name(self, node: Node) -> str:
        short = _NOISE.sub("", node.name).lstrip("_")
        short = short if short.isidentifier() and not keyword.iskeyword(short) else f"t{short}"
        name, number = short, 1
        while name in self._used:
            number += 1
            name = f"{short}_{number}"
        self._used.add(name)
        return name

    def _inner_function(self, graph: GraphModule, node: Node) -> list[str]:
        called = operator.attrgetter(str(node.target))(graph)
        if not isinstance(called, GraphModule):
            raise Unrenderable(f"the constant {node.target}")
        return self.function(self.names[node], called)

    def _body(self, nodes: list[Node], *, whole: bool) -> Iterator[str]:
        """The lines of a function. A graph switches modes on and off; lines under the same modes share a `with`."""
        open_block = ""
        modes: dict[Any, str] = {}
        for node in nodes:
            if node.op in ("placeholder", "get_attr"):
                continue
            if node.target in _MODE_SWITCHES:
                _update_modes(modes, node)
                continue
            block = ", ".join(modes.values()) if node.op != "output" else ""
            if block and block != open_block:
                yield f"with {block}:"
            open_block = block
            yield f"{'    ' if block else ''}{self._line(node, whole=whole)}"

    def _line(self, node: Node, *, whole: bool) -> str:
        if node.op != "output":
            call = self._call(node)
            return f"{self.names[node]} = {call}" if node.users and node.target is not operator.setitem else call
        (returned,) = node.args
        # A branch of `torch.cond` has to return what the graph says; what the whole returns is free.
        if whole and isinstance(returned, list | tuple) and len(returned) == 1:
            returned = returned[0]
        return f"return {self._value(returned)}"

    def _call(self, node: Node) -> str:
        values = [self._value(argument) for argument in node.args]
        values_by_name = [f"{name}={self._value(value)}" for name, value in node.kwargs.items()]
        if node.op == "call_method":
            receiver, *values = values
            return f"{receiver}.{node.target}({', '.join([*values, *values_by_name])})"
        if node.op != "call_function":
            raise Unrenderable(f"a {node.op} of {node.target}")
        if node.target is operator.getitem:
            return f"{values[0]}[{self._index(node.args[1])}]"
        # Dynamo does not trace the functions that it writes for these two into a graph.
        if node.target is operator.setitem:
            return f"{values[0]}[{self._index(node.args[1])}] = {values[2]}"
        if node.target is get_data_attr:
            return f"{values[0]}.data"
        if node.target is getattr and str(node.args[1]).isidentifier():
            return f"{values[0]}.{node.args[1]}"
        if node.target in _INFIX and len(values) == 2:
            left = f"({values[0]})" if values[0].startswith("-") else values[0]  # `-1 ** x` is -(1 ** x)
            return f"{left} {_INFIX[node.target]} {values[1]}"
        return f"{self._function_name(node.target)}({', '.join([*values, *values_by_name])})"

    def _function_name(self, function: Any) -> str:
        if isinstance(function, OpOverload):
            return f"torch.ops.{function}"
        if isinstance(function, HigherOrderOperator):
            return f"torch.ops.{function.namespace}.{function}"
        if (public := _public_names().get(function)) is not None:
            return public
        name = str(qualified_name(function)).removeprefix("_")  # `_operator.iadd`
        module, _, attribute = name.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), attribute, None)
            self.modules.add(module)
        except ImportError:  # `torch._C._nn` is not a module, and `import torch` has it
            found = operator.attrgetter(name.partition(".")[2])(torch) if name.startswith("torch.") else None
        if found is not function:
            raise Unrenderable(f"a call of {name}, which can't be imported by that name")
        return name

    def _value(self, value: Any) -> str:
        if isinstance(value, Node):
            return "None" if value.target is operator.setitem else self.names[value]
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if isinstance(value, slice):
            return f"slice({self._value(value.start)}, {self._value(value.stop)}, {self._value(value.step)})"
        if isinstance(value, torch.device):
            return f'torch.device("{value}")'
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return str(value)
        if value is Ellipsis:
            return "..."
        if isinstance(value, tuple):
            return f"({', '.join(map(self._value, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self._value, value))}]"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{self._value(key)}: {self._value(item)}' for key, item in value.items())}}}"
        if value is None or type(value) in (bool, int, float, complex, str):
            return repr(value)
        raise Unrenderable(f"a value of class {type(value).__name__}")

    def _index(self, index: Any) -> str:
        if isinstance(index, tuple) and index:
            return ", ".join(map(self._subscript, index)) + ("," if len(index) == 1 else "")
        return self._subscript(index)

    def _subscript(self, index: Any) -> str:
        if not isinstance(index, slice):
            return self._value(index)
        start, stop, step = (
            "" if each is None else self._value(each) for each in (index.start, index.stop, index.step)
        )
        return f"{start}:{stop}{f':{step}' if step else ''}"


@functools.cache
def _public_names() -> dict[Any, str]:
    """Function -> its public name: `torch.fft.fft` for `torch._C._fft.fft_fft`."""
    found: dict[Any, str] = {}
    for home in _PUBLIC_HOMES:
        for name, value in sorted(vars(home).items()):
            if inspect.isroutine(value) and not name.startswith("_"):
                found.setdefault(value, f"{home.__name__}.{name}")
    return found


def as_function(graph: GraphModule) -> Callable[..., Any]:
    """The graph as the function that a script would have."""
    source = render_function(graph)
    names: dict[str, Any] = {}
    exec("\n".join([*(f"import {module}" for module in ("torch", *source.modules)), source.text]), names)
    function: Callable[..., Any] = names["f"]
    return function


def _update_modes(modes: dict[Any, str], node: Node) -> None:
    """Update `modes` to the modes that are on after this node."""
    if node.target is set_grad_enabled:
        modes.pop("grad", None)
        if not node.args[0]:
            modes["grad"] = "torch.no_grad()"
    elif node.target is enter_autocast:
        device, dtype, enabled, cached = (*node.args, None, True, None)[:4]
        cache = "" if cached is None else f", cache_enabled={cached}"
        modes[node] = f'torch.autocast("{device}", dtype={dtype}, enabled={enabled}{cache})'
    else:
        modes.pop(node.args[0], None)  # the node that entered it


def _merge_return(lines: list[str]) -> list[str]:
    """Make one line of `y = torch.mm(a, b)` and `return y` at the end."""
    *others, before, last = ["", *lines]
    name, _, call = before.partition(" = ")
    return [*others[1:], f"return {call}"] if last == f"return {name}" else lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
