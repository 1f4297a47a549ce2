"""You call a kernel of your own, or of a library, that was bound with
pybind11. Dynamo sees a C++ function and knows nothing about it."""
import torch
from torch.utils.cpp_extension import load_inline

OPAQUE = {
    "fixed": "The kernel is C++ code of yours: no graph can show what it "
    "does.",
    "fixed_allow": "The kernel is C++ code of yours: no graph can show what it "
    "does.",
}

TITLE = "A C++ extension"
REQUIRES = {"compiler": "c++"}

kernels = load_inline(
    name="gb0007_kernels",
    cpp_sources="""
    torch::Tensor clip(torch::Tensor x) { return x.clamp(-1, 1); }
    torch::Tensor clip_backward(torch::Tensor grad, torch::Tensor x) {
      return grad * (x.abs() <= 1);
    }
    """,
    functions=["clip", "clip_backward"],
)


@torch.library.custom_op("gb0007::clip", mutates_args=())
def clip(x: torch.Tensor) -> torch.Tensor:
    return kernels.clip(x)


@clip.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("gb0007::clip_backward", mutates_args=())
def clip_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return kernels.clip_backward(grad, x)


@clip_backward.register_fake
def _(grad, x):
    return torch.empty_like(x)


def keep_input(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    return clip_backward(grad, *ctx.saved_tensors)


clip.register_autograd(backward, setup_context=keep_input)


clip_in_graph = torch.compiler.allow_in_graph(kernels.clip)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return kernels.clip(x.exp()).sum()


def fixed(x):
    """Use this when the kernel does more than call torch's own operators. Make
    it a custom operator: tell torch the shape of its result (`register_fake`)
    and its gradient (`register_autograd`). The kernel itself stays as it
    is."""
    return clip(x.exp()).sum()


def fixed_allow(x):
    """Use this when the kernel only calls torch's own operators. Allow it in
    the graph with `allow_in_graph`. Shapes and gradient follow from those
    operators."""
    return clip_in_graph(x.exp()).sum()
