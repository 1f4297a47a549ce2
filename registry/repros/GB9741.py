"""A backend compiles under a mode that wraps copies of tensors in a subclass
which refuses to tell its address. Before it compiles, torch copies the random
generator's state, asks for its address, and takes the refusal as a sign of
functorch."""
import torch
from torch._dynamo.backends.debugging import aot_eager
from torch.overrides import TorchFunctionMode

CONFIG = {"debug_backend_override": ">=0:under_mode"}
REACH = "private"
FLAGS = {"fixed": {"debug_backend_override": ">=0:without_mode"}}


class Opaque(torch.Tensor):
    def data_ptr(self):
        raise RuntimeError("not accessible")


class Wrapping(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.as_subclass(Opaque) if func is torch.clone else result


@torch._dynamo.register_backend
def under_mode(graph, inputs):
    with Wrapping():
        return aot_eager(graph, inputs)


@torch._dynamo.register_backend
def without_mode(graph, inputs):
    return aot_eager(graph, inputs)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x.sin()


def fixed(x):
    """Use this when the backend is yours. Leave the mode before you call
    AOTAutograd."""
    return x.sin()
