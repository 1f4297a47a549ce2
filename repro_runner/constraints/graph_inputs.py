"""What people call the inputs of a graph: `parameter layer1.weight`, `buffer bn.running_mean`, `input x`.

Only Dynamo knows that, and only while it compiles: it is noted on the nodes then. AOTAutograd describes each of its own
inputs by the position that it had in Dynamo's graph, or by the output that it is the gradient of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from torch.fx import GraphModule, Node

from repro_runner.capture.naming import CompiledFunction, closure_names, compiled_function, expression_of, name_value

_NAME = "the user's name"
_WORDS = {
    "parameter": "parameter",
    "buffer": "buffer",
    "attribute": "attribute",
    "global": "global",
    "closure": "outer variable",
}
"""Role of a value -> the word before its name; all others are inputs."""
_INDEX = re.compile(r"\[(\w+)\]")


def note_input_names(pre_aot: GraphModule, *lowered: GraphModule | None) -> None:
    """Note on every input of these graphs what the user calls it, unless that is noted already. `lowered` are what
    AOTAutograd made of the first."""
    function = compiled_function()
    inputs = pre_aot.graph.find_nodes(op="placeholder")
    for node in inputs:
        node.meta.setdefault(_NAME, _users_name(node, function))
    names = [node.meta[_NAME] for node in inputs]
    for graph in lowered:
        for node in graph.graph.find_nodes(op="placeholder") if graph is not None else ():
            if _NAME not in node.meta and (description := node.meta.get("desc")) is not None:
                node.meta[_NAME] = _described(description, names)


def input_name(node: Node) -> str:
    """What people call this input or constant of a graph; empty for any other node."""
    if node.op == "get_attr":
        return "constant"
    if node.op != "placeholder":
        return ""
    if (saved := node.meta.get("original_aten")) is not None:
        return f"saved result of {saved}"
    return str(node.meta.get(_NAME) or f"input {node.target}")


def _users_name(node: Node, function: CompiledFunction) -> str:
    source = getattr(node.meta.get("grapharg"), "source", None)
    if source is None:
        return f"input {node.target}"
    try:
        named = name_value(expression_of(source), function, closure_names([source]))
    except Exception:  # noqa: BLE001 - whatever Dynamo's source may look like: a program must not fail for a name
        return f"input {node.target}"
    text = named.text
    if named.role in ("parameter", "buffer") and text.startswith("self"):
        # As `named_parameters()` has it: `layers.0.weight`.
        text = _INDEX.sub(r".\1", text).removeprefix("self.")
    return f"{_WORDS.get(named.role, 'input')} {text}"


def _described(description: Any, names: Sequence[str]) -> str:
    """An input or an output of AOTAutograd's, in words. `names` are those of Dynamo's inputs."""
    # Not before there is a description: torch 2.8 has none.
    from repro_runner.torch_seams import aot_descriptors as known

    if isinstance(description, known.PlainAOTInput):
        return names[description.idx] if description.idx < len(names) else f"input {description.idx}"
    if isinstance(description, known.PlainAOTOutput):
        return f"output {description.idx}"
    if isinstance(description, known.TangentAOTInput):
        return f"gradient of {_described(description.output, names)}"
    if isinstance(description, known.InputMutationAOTOutput):
        return f"{_described(description.mutated_input, names)} after its change"
    if isinstance(description, known.ParamAOTInput | known.BufferAOTInput):
        return f"{'parameter' if isinstance(description, known.ParamAOTInput) else 'buffer'} {description.target}"
    if (view := getattr(description, "base_of", None)) is not None:
        return f"base of {_described(view, names)}"
    if (whole := getattr(description, "base", None)) is not None:
        return f"{getattr(description, 'attr', 'part')} of {_described(whole, names)}"
    return f"input {description.expr()}"
