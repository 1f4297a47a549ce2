"""The input gets one more dimension in place, and loses it again at the end;
the methods are called through the class, `torch.Tensor`. Dynamo doesn't trace
operators that give an input itself another shape."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch.Tensor.unsqueeze_(x, 0)
    result = torch.nn.functional.avg_pool1d(x, 2)
    torch.Tensor.squeeze_(x, 0)
    return result


def fixed(x):
    """Use this when the input itself need not change its shape. Call the
    method without the underscore: a view costs nothing, and the input stays as
    it is."""
    return torch.nn.functional.avg_pool1d(torch.Tensor.unsqueeze(x, 0), 2)
