"""A `while` loop runs until a tensor has a certain value. The number of steps
depends on the data, so Dynamo can't unroll the loop."""
import torch

TITLE = "while on a tensor"
LIMITS = {
    "fixed": {
        "large": "Ten steps are enough up to a norm of 1024. Beyond that, it "
        "raises an error.",
        "inf": "The original never ends. Here it raises an error.",
    }
}


def inputs():
    return (torch.randn(8) * 20,)


def broken(x):
    while x.norm() > 1:
        x = x / 2
    return x.cos()


def fixed(x):
    """Use this when you know an upper limit for the steps, and need gradients.
    Do all the steps; those that come too late change nothing. Check that they
    were enough."""
    for _ in range(10):
        x = torch.where(x.norm() > 1, x / 2, x)
    torch._assert_async(~(x.norm() > 1), "it needs more steps")
    return x.cos()


def fixed_while_loop(x):
    """Use this when you don't know a limit for the steps. `torch.while_loop`
    records the loop itself. `clone` gives the first value the strides that the
    next ones have. If the loop does not run at all, torch 2.13 computes a
    wrong gradient for it, so take `x` itself then."""

    def large(x):
        return x.norm() > 1

    (y,) = torch.while_loop(large, lambda x: (x / 2,), (x.clone(),))
    return torch.where(large(x), y, x).cos()
