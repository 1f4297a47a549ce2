"""The operator behind `while_loop` was called with its internal keyword
`mutated_arg_indices`. Dynamo accepts four positional arguments only."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    loop = torch.ops.higher_order.while_loop
    return loop(
        lambda x: x.sum() < 9, lambda x: (x + 1,), (x,), (),
        mutated_arg_indices="",
    )


def fixed(x):
    """Use this when you don't need the internal keyword. Call the documented
    function: it passes just what Dynamo accepts. `clone` gives the first value
    the strides that the next ones have."""
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: x.sum() < 9, lambda x: (x + 1,), (x.clone(),))
