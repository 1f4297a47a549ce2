"""The fake implementation of a custom operator asks for two unknown sizes, but
the tensor that it returns uses only one. The other symbol belongs to nothing."""

import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True


def positions(x: torch.Tensor) -> torch.Tensor:
    return x.nonzero()


wasteful = torch.library.custom_op("pending_symbol::wasteful", positions, mutates_args=())
exact = torch.library.custom_op("pending_symbol::exact", positions, mutates_args=())


@wasteful.register_fake
def two_symbols(x):
    torch.library.get_ctx().new_dynamic_size()  # nobody uses this one
    n = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(n, x.dim(), dtype=torch.int64)


@exact.register_fake
def one_symbol(x):
    n = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(n, x.dim(), dtype=torch.int64)


def message():
    torch.compile(lambda x: wasteful(x) + 1, backend="eager", fullgraph=True)(torch.arange(4))


def fixed():
    """Use this when the operator is yours: create each symbol once, and use it in the result."""
    return torch.compile(lambda x: exact(x) + 1, backend="eager", fullgraph=True)(torch.arange(4))


def eager():
    return positions(torch.arange(4)) + 1
