"""`next` resumes a generator that was created outside the compiled function.
Its state lives in a suspended frame that Dynamo can't read."""
import torch

EFFECTS = {
    "fixed": "The state is in an attribute that the call changes. In the "
    "program above it is inside the generator, where nobody can read it."
}


def halving(scale):
    while True:
        scale /= 2
        yield scale


class Halving:
    def __init__(self, scale):
        self.scale = scale

    def __next__(self):
        self.scale /= 2
        return self.scale


SCALES = halving(8.0)
SCALES_OBJECT = Halving(8.0)


def inputs():
    global SCALES, SCALES_OBJECT
    SCALES, SCALES_OBJECT = halving(8.0), Halving(8.0)
    return (torch.randn(8),)


def broken(x):
    return x * next(SCALES)


def fixed(x):
    """Use this when the iterator must keep its state between calls. Write it
    as a class with `__next__`. Its state is then in plain attributes, which
    Dynamo can trace."""
    return x * next(SCALES_OBJECT)
