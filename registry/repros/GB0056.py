"""`.data` of a tensor that was made inside the compiled function is replaced.
Dynamo traces this only for tensors that come from outside."""
import torch

GRADIENT = {
    "fixed_tracked": "Here the gradient is zero where `clamp` cut a value off."
    " After a change through `.data`, the gradient is that of `sin` alone."
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.sin()
    y.data = y.data.clamp(-0.5, 0.5)
    return y + 1


def fixed(x):
    """Use this when gradients must not see the change, as with `.data`. Write
    in place under `no_grad`."""
    y = x.sin()
    with torch.no_grad():
        y.clamp_(-0.5, 0.5)
    return y + 1


def fixed_tracked(x):
    """Use this when you don't train, or gradients should see the change. Go on
    with the new tensor."""
    y = x.sin()
    y = y.clamp(-0.5, 0.5)
    return y + 1
