"""The condition of a `while_loop` looks at a Python list that the body
empties. Dynamo records the condition once, and what it records is always
true."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    todo = [1, 2, 3]
    (x,) = torch.ops.higher_order.while_loop(
        lambda x: len(todo) > 0, lambda x: (x + todo.pop(),), (x,), ()
    )
    return x


def fixed(x):
    """Use this when Python knows the number of steps. Write a Python loop:
    Dynamo unrolls it."""
    todo = [1, 2, 3]
    while todo:
        x = x + todo.pop()
    return x


def fixed_carry(x):
    """Use this when the loop is long and must stay a loop. Carry the counter
    through it as a tensor. `clone` gives the first value the strides that the
    next ones have."""
    todo = torch.tensor([1, 2, 3])
    _, x = torch._higher_order_ops.while_loop(
        lambda n, x: (n > 0).all(),
        lambda n, x: (n - 1, x + todo.index_select(0, n - 1)),
        (torch.tensor([3]), x.clone()),
    )
    return x
