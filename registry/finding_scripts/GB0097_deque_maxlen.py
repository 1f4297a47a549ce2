"""The `maxlen` of a deque that is an input is ignored in compiled code.

In eager `append` on a full deque drops the oldest item, and the length stays 2. Inside
the compiled function the length is 3.
"""
from collections import deque

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, recent):
    recent.append(3)
    return x * len(recent)


def run(function):
    return function(torch.ones(1, device=device), deque([1, 2], maxlen=2))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
