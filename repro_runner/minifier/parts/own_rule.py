"""What a rule of the user's own is written against, without the project it was written for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.fx import Node

from repro_runner.minifier.parts.tracing import named, tensors_of


@dataclass(frozen=True)
class TracedTensor:
    dtype: torch.dtype
    layout: torch.layout
    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def traced_tensors(node: Node) -> Iterator[TracedTensor]:
    for tensor in tensors_of(node):
        strides = tensor.stride() if tensor.layout == torch.strided else ()
        yield TracedTensor(tensor.dtype, tensor.layout, tuple(tensor.shape), tuple(tensor.shape), strides)


def op_name(node: Node) -> str:
    return f"higher_order.{node.target}" if isinstance(node.target, torch._ops.HigherOrderOperator) else named(node)


class Constraint:
    def violation(self, node: Node, message: str, tensor: TracedTensor | None = None) -> str:  # noqa: ARG002
        return message


class GraphConstraint(Constraint):
    pass


class TensorConstraint(Constraint):
    def complaint(self, tensor: TracedTensor) -> str | None:
        raise NotImplementedError

    def check(self, node: Node) -> Iterator[str]:
        for tensor in traced_tensors(node):
            if message := self.complaint(tensor):
                yield f"{tensor}: {message}"
