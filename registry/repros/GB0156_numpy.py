"""Noise comes from a NumPy generator. Dynamo traces many functions of NumPy,
but not the methods of a `Generator`: they are written in C."""
import numpy
import torch
from torch._dynamo.decorators import skip

TITLE = "A generator of numpy"
REQUIRES = {"module": "numpy"}
GENERATOR = numpy.random.default_rng(0)


def blur(x, noise):
    return (x + 0.1 * noise).tanh()


def inputs():
    seed = int(torch.randint(1000, ()))
    GENERATOR.bit_generator.state = numpy.random.PCG64(seed).state
    return (torch.randn(8),)


def broken(x):
    noise = torch.from_numpy(GENERATOR.normal(size=8)).to(x)
    return (x + 0.1 * noise).tanh()


@skip
def fixed(x):
    """Use this when you need the same numbers as before. Draw them in the
    caller, and pass them (`skip` stands for a caller that you don't compile).
    In new code, `torch.randn` draws inside the graph."""
    noise = torch.from_numpy(GENERATOR.normal(size=8)).to(x)
    return blur(x, noise)
