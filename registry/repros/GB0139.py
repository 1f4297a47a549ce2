"""`backward` deletes an attribute of `ctx`, to free memory early. Dynamo lets
you set attributes of `ctx`, but not delete them."""
import torch


class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.mask = mask
        return x * mask

    @staticmethod
    def backward(ctx, grad):
        grad = grad * ctx.mask
        del ctx.mask
        return grad, None


class DropSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return grad * mask, None


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(8) > 0


def broken(x, mask):
    return Drop.apply(x, mask)


def fixed(x, mask):
    """Use this when `backward` needs tensors from `forward`. Pass them to
    `save_for_backward`: autograd frees them after the backward pass has used
    them."""
    return DropSaved.apply(x, mask)
