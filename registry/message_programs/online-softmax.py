"""Few long rows: Inductor splits each row over several parts of the GPU, and its
faster softmax could not be split before release 2.13. It says so once."""

import torch

REQUIRES = {"device": "cuda"}


def inputs():
    return (torch.zeros(4, 2**20, device="cuda"),)


def probabilities(x):
    return torch.softmax(x, dim=-1)


def message():
    return torch.compile(probabilities)(*inputs())


def fixed():
    """Use this when the warning disturbs you: do not ask for the faster
    softmax. The kernels are those that ran with the warning."""
    compiled = torch.compile(probabilities, options={"online_softmax": False})
    return compiled(*inputs())


def eager():
    return probabilities(*inputs())
