"""`data_ptr()` is the tensor's address, known only when the graph runs. While
tracing there is a placeholder for it, which `float` can't convert."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB5976"


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.detach()
    shared = float(x.data_ptr()) == float(y.data_ptr())
    return y.sin() if shared else y.cos()


def fixed(x):
    """Use this when it is certain that both share memory, as after `detach`.
    Compare the integers, which is also exact. Dynamo can't answer in other
    cases."""
    y = x.detach()
    shared = x.data_ptr() == y.data_ptr()
    return y.sin() if shared else y.cos()
