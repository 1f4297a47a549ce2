"""Run the program, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def results(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """What it returns, what it leaves of its arguments and, if something requires grad, their gradients."""
    torch.manual_seed(0)
    returned = [value for value in tree_leaves(function(*arguments)) if isinstance(value, torch.Tensor)]
    found = {f"output {index}": value for index, value in enumerate(returned)}
    found |= {f"argument {index} afterwards": value for index, value in enumerate(arguments)}
    outputs = [value for value in returned if value.requires_grad]
    leaves = [value for value in arguments if value.requires_grad]
    if outputs and leaves:
        torch.manual_seed(1)
        weights = [torch.randn(value.shape, dtype=torch.float64).to(value) for value in outputs]
        gradients = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
        found |= {f"gradient {index}": value for index, value in enumerate(gradients) if value is not None}
    return {name: value.detach() for name, value in found.items()}
