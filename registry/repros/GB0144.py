"""A custom `autograd.Function` defines `jvp`, the rule for forward-mode
derivatives. Dynamo traces `forward` and `backward` of such a class and refuses
one that has a `jvp` as well."""
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * grad


class DualCube(Cube):
    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * tangent


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return DualCube.apply(x) + 1


def fixed(x):
    """Use this when the compiled code needs only `backward`. Keep `jvp` in a
    subclass, for the code that takes forward-mode derivatives."""
    return Cube.apply(x) + 1


def fixed_plain(x):
    """Use this when your derivative rules are the usual ones. Write plain
    tensor operations; autograd then finds both rules for you."""
    return x ** 3 + 1
