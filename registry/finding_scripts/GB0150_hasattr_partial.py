"""Compiled `hasattr` of a functools.partial does not see an attribute that was set on it.

A partial object may have attributes of its own. In eager `hasattr` is True for one that
was set before the call. In compiled code it is False, and the other branch is taken.
"""
import functools

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
add_one = functools.partial(torch.add, 1)
add_one.note = "kept"


def program(x):
    return x + 1 if hasattr(add_one, "note") else x


def run(function):
    return function(torch.zeros(1, device=device)).item()


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
