"""A float from `random.uniform` arrives as garbage in Inductor's code on the CPU.

The product is wrong by many orders of magnitude. The generated code gets a float64
and reads its first four bytes as a float32. It should give what eager gives; the
backend "aot_eager" does.
"""
import random

import torch


def program(x):
    return x * random.uniform(1, 2)


def run(function):
    random.seed(0)
    return function(torch.ones(1))


eager = run(program)
compiled = run(torch.compile(program, backend="inductor", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
