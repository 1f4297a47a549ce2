"""A tensor is to be made on a GPU, and this torch was built for the CPU only."""

import torch


def message():
    torch.ones(4, device="cuda")


def fixed_choose():
    """Use this when the program has to run on machines with and without a GPU: ask, and take what is there."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.ones(4, device=device).cpu()


def eager():
    return torch.ones(4)
