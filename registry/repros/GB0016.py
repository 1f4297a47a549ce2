"""`torch.nested.nested_tensor` builds the older, strided kind of nested tensor
unless told otherwise. Dynamo can't take that kind into a graph."""
import torch

ROWS = [torch.arange(2.0), torch.arange(3.0)]
STRIDED = torch.nested.nested_tensor(ROWS)
JAGGED = torch.nested.nested_tensor(ROWS, layout=torch.jagged)


def inputs():
    return (torch.randn(()),)


def broken(x):
    return torch.nested.to_padded_tensor(STRIDED * 2, 0.0) * x


def fixed(x):
    """Use this when you build the nested tensor yourself. Pass
    `layout=torch.jagged`: torch.compile supports that kind."""
    return torch.nested.to_padded_tensor(JAGGED * 2, 0.0) * x
