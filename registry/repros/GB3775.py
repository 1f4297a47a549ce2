"""`data_ptr()` is the tensor's address, known only when the graph runs. While
tracing there is a placeholder for it, which `int` can't convert."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB5976"


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    y = x.contiguous()
    shared = int(x.data_ptr()) == int(y.data_ptr())
    return y.clone() if shared else y


def fixed(x):
    """Use this when you know in which case the two tensors share memory. Ask
    for that case: `contiguous` copies unless the tensor is contiguous
    already."""
    y = x.contiguous()
    shared = x.is_contiguous()
    return y.clone() if shared else y
