"""NumPy draws random numbers while `use_numpy_random_stream` is on. The flag
says that they must be NumPy's own numbers, and a graph has only PyTorch's
generator."""
import numpy as np
import torch

OPAQUE = {
    "fixed": "Only the drawing is in the operator: a graph can't use NumPy's "
    "generator.",
}

REACH = "config"
REQUIRES = {"module": "numpy", "device": "cpu"}
CONFIG = {"use_numpy_random_stream": True}


def inputs():
    np.random.seed(torch.randint(0, 1000, ()).item())
    return (torch.randn(8),)


def broken(x):
    return x + torch.from_numpy(np.random.uniform(size=8))


@torch.library.custom_op("gb0298::fill_uniform", mutates_args=("out",))
def fill_uniform(out: torch.Tensor) -> None:
    out.copy_(torch.from_numpy(np.random.uniform(size=out.shape)))


def fixed(x):
    """Use this when you need exactly NumPy's numbers. Draw them in a custom
    operator that fills a tensor. Don't let it return a new tensor: operators
    count as free of side effects, so two equal calls might become one."""
    noise = torch.empty(8, dtype=torch.float64)
    fill_uniform(noise)
    return x + noise
