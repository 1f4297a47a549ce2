"""The program asks whether a tensor was made in inference mode. Dynamo traces
with stand-ins for the tensors, and those are never made in inference mode."""
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    data: torch.Tensor
    frozen: bool


def inputs():
    with torch.inference_mode(bool(torch.rand(()) < 0.5)):
        data = torch.randn(8)
    return (Batch(data, data.is_inference()),)


def broken(batch):
    x = batch.data
    if x.is_inference():
        x = x.clone()
    return x.cos()


def fixed(batch):
    """Use this when you know where the tensor is made. Ask there once, outside
    the compiled function, and pass the answer along. Each answer gets its own
    graph."""
    x = batch.data
    if batch.frozen:
        x = x.clone()
    return x.cos()
