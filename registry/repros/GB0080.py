"""To tell whether two tensors are the same, Dynamo compares the stand-ins that
it keeps for them while it traces. For an object of a tensor subclass that
holds no tensor, made inside the graph, it has none."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0026"


class Zeros(torch.Tensor):
    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape)

    def __tensor_flatten__(self):
        return [], None

    @classmethod
    def __tensor_unflatten__(cls, inner, meta, outer_size, outer_stride):
        return cls(outer_size)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        return cls(args[0].shape)


class Backed(Zeros):
    def __init__(self, shape):
        self.values_ = torch.zeros(shape)

    def __tensor_flatten__(self):
        return ["values_"], None


@torch.compiler.allow_in_graph
def zeros(x):
    return Zeros(x.shape)


@torch.compiler.allow_in_graph
def backed(x):
    return Backed(x.shape)


def inputs():
    return (torch.randn(4),)


def broken(x):
    z = zeros(x)
    return x * 2 if z is not x else x


def fixed(x):
    """Use this when the subclass is yours. Let it hold a tensor, and name that
    tensor in `__tensor_flatten__`."""
    z = backed(x)
    return x * 2 if z is not x else x
