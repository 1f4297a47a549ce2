"""The compiled function contains `yield`, so it is a generator: it stops and
goes on many times. Dynamo compiles only functions that run once, from start to
end, and leaves this one to Python."""
import torch

TITLE = "A compiled generator"
ORDER = ["GB0003_loop", "GB0003"]
COVERAGE = "a call of a generator function runs none of its lines yet"
NO_FIX = (
    "A generator can't be compiled by itself, and needn't change. Compile "
    "the function that loops over it: Dynamo traces the generator as part "
    "of that. Or compile the functions that the generator calls."
)


def inputs():
    return (torch.randn(3, 8),)


def broken(rows):
    for row in rows:
        yield row.sin()
