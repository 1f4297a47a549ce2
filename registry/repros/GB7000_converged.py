"""A loop ends early, as soon as a tensor is small enough. You meet this in
solvers and in every other loop that repeats a step until it converges."""
import torch
from torch._dynamo.decorators import skip

TITLE = "break when converged"


def step(x, root):
    change = (root - x / root) / 2
    return root - change, change.abs().max() < 1e-3


def inputs():
    return (torch.rand(4) * 4 + 0.5,)


def broken(x):
    root = (x + 1) / 2
    for _ in range(20):
        change = (root - x / root) / 2
        if change.abs().max() < 1e-3:
            break
        root = root - change
    return root


def fixed(x):
    """Use this when the steps are cheap. Do all of them, and change nothing
    after the loop has converged. Negate the condition with `~`: with `>=`, a
    NaN would end the loop."""
    root, running = (x + 1) / 2, True
    for _ in range(20):
        change = (root - x / root) / 2
        running = ~(change.abs().max() < 1e-3) & running
        root = torch.where(running, root - change, root)
    return root


@skip
def fixed_body(x):
    """Use this when the steps are dear, so that ending early pays. Compile one
    step, and let Python run the loop (`skip` stands for a loop that you don't
    compile)."""
    root = (x + 1) / 2
    for _ in range(20):
        better, done = step(x, root)
        if done:
            break
        root = better
    return root
