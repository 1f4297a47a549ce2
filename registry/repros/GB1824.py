"""The branches of a `switch` return a length beside the tensor, and Dynamo
treats this length as dynamic: it stands for any number. A branch can only
return tensors, None and integers that are known while tracing."""
import torch

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}
COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(int(torch.randint(4, 9, ()))), torch.randint(2, ())


def broken(x, which):
    switch = torch._higher_order_ops.switch
    return switch(
        which,
        (lambda x: (x.sin(), len(x)), lambda x: (x.cos(), len(x))),
        (x,),
    )


def fixed(x, which):
    """Use this when the number is the same in each branch. Return only tensors
    from the branches, and add the number outside."""
    switch = torch._higher_order_ops.switch
    return switch(which, (torch.sin, torch.cos), (x,)), len(x)
