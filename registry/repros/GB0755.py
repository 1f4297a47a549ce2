"""The address of a tensor is known only when the program runs. Dynamo uses a
placeholder for it that can't be negated. `-address % 16` is a usual way to ask
how far it is to the next multiple of 16."""
import torch
from torch._dynamo.decorators import skip


def padded(x, gap):
    return torch.nn.functional.pad(x, (gap, 0)).sin()


def inputs():
    return (torch.randn(8)[int(torch.randint(1, 4, ())) :],)


def broken(x):
    gap = -x.data_ptr() % 16 // x.element_size()
    return torch.nn.functional.pad(x, (gap, 0)).sin()


@skip
def fixed(x):
    """Use this when the caller can read the address. Compute there, and pass
    the result. `skip` stands for a caller that you don't compile."""
    gap = -x.data_ptr() % 16 // x.element_size()
    return padded(x, gap)
