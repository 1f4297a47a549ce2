"""The code asks a tensor of a user's class whether it shares its memory until
somebody writes to it ("copy on write"). The class decides where its data are,
so torch has no answer."""
import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only

REACH = "private"
EAGER_RAISES = "RuntimeError"
REQUIRES = {"release": ">=2.14"}


class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, data, name):
        return torch.Tensor._make_wrapper_subclass(
            cls, data.shape, dtype=data.dtype, device=data.device
        )

    def __init__(self, data, name):
        self.data_, self.name_ = data, name

    def __tensor_flatten__(self):
        return ["data_"], self.name_

    @staticmethod
    def __tensor_unflatten__(inner, name, size, stride):
        return Named(inner["data_"], name)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        data = tree_map_only(cls, lambda t: t.data_, (args, kwargs or {}))
        out = func(*data[0], **data[1])
        out = tree_map_only(torch.Tensor, lambda t: cls(t, "result"), out)
        return return_and_correct_aliasing(func, args, kwargs or {}, out)


WEIGHT = Named(torch.ones(8), "weight")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), torch._C._is_cow_tensor(WEIGHT)


def fixed(x):
    """Use this when your class keeps its data in an inner tensor. Ask about
    that one."""
    return x.sin(), torch._C._is_cow_tensor(WEIGHT.data_)
