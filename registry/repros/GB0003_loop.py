"""You didn't compile a generator, you loop over one of yours. Another break in
that loop made Dynamo give up the function, and Python runs it. Dynamo then meets
the generator alone, and can't compile it. The same happens to the generator
behind a `@contextmanager`."""
import torch

TITLE = "A loop over a generator"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def waves(x):
    for row in x:
        yield row.sin()


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    total = 0.0
    for wave in waves(x):
        total += wave.max().item()
    return x / total


def fixed(x):
    """Use this when you can remove the other break, here `.item()`. The generator
    stays as it is: Dynamo traces it as part of the loop. Like `.item()`,
    `.detach()` stops the gradient."""
    total = 0.0
    for wave in waves(x):
        total += wave.max().detach()
    return x / total


def fixed_flag(x):
    """Use this when you need Python numbers. With `capture_scalar_outputs` the
    other break is gone."""
    total = 0.0
    for wave in waves(x):
        total += wave.max().item()
    return x / total
