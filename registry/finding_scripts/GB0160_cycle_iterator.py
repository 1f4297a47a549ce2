"""`itertools.cycle` of an iterator repeats only the last item in compiled code.

In eager it starts again with the first item: 1, 2, 1, 2. Compiled code gives 1, 2, 2, 2.
"""
import itertools

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    numbers = itertools.cycle(iter([1, 2]))
    return [x * next(numbers) for _ in range(4)]


def run(function):
    return [y.item() for y in function(torch.ones(1, device=device))]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
