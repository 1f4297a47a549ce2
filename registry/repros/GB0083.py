"""The module has a full backward hook. Dynamo can trace such a hook only with
compiled autograd, which records the whole backward pass. It is off by
default."""
import torch


def halve(module, grad_input, grad_output):
    return (grad_input[0] / 2,)


class HalveGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad / 2


FLAGS = {"fixed_flag": {"compiled_autograd": True}}

linear = torch.nn.Linear(8, 8)
hooked = torch.nn.Linear(8, 8)
hooked.register_full_backward_hook(halve)


def inputs():
    return (torch.randn(2, 8, requires_grad=True),)


def broken(x):
    return hooked(x).relu()


def fixed(x):
    """Use this when the hook changes gradients. Write an `autograd.Function`
    that passes its input through, with the hook's code as `backward`. It does
    the same in the graph."""
    return linear(HalveGrad.apply(x)).relu()


def fixed_flag(x):
    """Use this when the hook has to stay. Turn `compiled_autograd` on, and
    call `backward` in the compiled function, too: outside, it fails. The
    backward pass is compiled when it first runs, and again when it changes."""
    return hooked(x).relu()
