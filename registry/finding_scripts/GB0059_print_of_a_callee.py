"""With `reorderable_logging_functions`, what a called function prints is lost.

The hint of GB0059 names this setting: Dynamo then prints after the graph has run. What
the compiled function itself prints comes out. A line of a function that it calls does not.
"""
import contextlib
import io

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch._dynamo.config.reorderable_logging_functions.add(print)


def layer(x):
    print("a line of layer")
    return x + 1


def program(x):
    print("a line of program")
    return layer(x) * 2


def run(function):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        function(torch.zeros(1, device=device))
    return printed.getvalue().splitlines()


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
