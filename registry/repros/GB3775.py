"""`data_ptr()` is the tensor's address, known only when the graph runs. While
tracing there is a placeholder for it, which `int` can't convert."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB5976"


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.detach()
    shared = int(x.data_ptr()) == int(y.data_ptr())
    return y.sin() if shared else y.cos()


def fixed(x):
    """`data_ptr()` is an integer already: compare without `int`. Dynamo can
    answer only if the two surely share memory, as after `detach`."""
    y = x.detach()
    shared = x.data_ptr() == y.data_ptr()
    return y.sin() if shared else y.cos()
