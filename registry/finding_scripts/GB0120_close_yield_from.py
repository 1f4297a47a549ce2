"""`close()` does not reach the generator behind `yield from` in compiled code.

In eager it closes the inner generator too, so the `finally` there runs. In compiled
code this `finally` never runs.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def inner(x, log):
    try:
        yield x.sin()
    finally:
        log.append("closed")


def outer(x, log):
    yield from inner(x, log)


def program(x):
    log = []
    generator = outer(x, log)
    next(generator)
    generator.close()
    return x * len(log)


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
