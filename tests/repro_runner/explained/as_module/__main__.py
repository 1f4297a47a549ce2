"""Says how it was started, as `python -m` shows it."""

import pickle
import sys

import torch

from . import __doc__ as about


class Kept:
    """Can be pickled only while this module is `__main__`."""


@torch.compile(backend="eager")
def work(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + 1


def plain(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + 2


work(torch.ones(2))
plain(torch.ones(2))
assert isinstance(pickle.loads(pickle.dumps(Kept())), Kept)
print(about, __name__, __package__, sys.argv[1:])
sys.exit(3)
