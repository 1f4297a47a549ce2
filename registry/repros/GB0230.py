"""The compiled function turns on deterministic algorithms with
`warn_only=True`. Dynamo can record that call only without `warn_only`."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.9,<2.13"}


def scatter(x, index):
    return x.new_zeros(4).index_add(0, index, x)


def inputs():
    return torch.randn(8), torch.randint(4, (8,))


def broken(x, index):
    torch.use_deterministic_algorithms(True, warn_only=True)
    return x.new_zeros(4).index_add(0, index, x)


@skip
def fixed(x, index):
    """Use this when you need only warnings. Set the mode in the caller, and
    compile only what computes. `skip` stands for a caller that you don't
    compile."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    return scatter(x, index)
