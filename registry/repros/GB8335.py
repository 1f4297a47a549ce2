"""A generator that appends to a list outlives the compiled function. Dynamo
can hand it on only by running it to its end, and that would append now."""
import torch

EFFECTS = {
    "fixed": "The model holds an object that makes the generator, not the"
    " generator."
}


def counted(seen, x):
    seen.append(len(x))
    yield x * 2
    yield x * 3


class Counted:
    def __init__(self, seen, x):
        self.seen, self.x = seen, x

    def __iter__(self):
        return counted(self.seen, self.x)


def inputs():
    return torch.nn.Module(), [], torch.randn(3)


def broken(model, seen, x):
    model.rows = counted(seen, x)
    return x.sum()


def fixed(model, seen, x):
    """Use this when the generator should start only when a loop asks for it.
    Hand on an object that makes the generator then. Dynamo can build an object
    with attributes."""
    model.rows = Counted(seen, x)
    return x.sum()
