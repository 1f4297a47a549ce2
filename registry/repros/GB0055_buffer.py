"""`torch.frombuffer` or `torch.tensor` makes a tensor from a Python buffer: a
`bytearray`, an `array.array`, a `memoryview`. You meet this where data come
from a file or from the network."""
import torch

TITLE = "torch.frombuffer"
REQUIRES = {"device": "cpu"}

BYTES = bytearray(range(8))
TABLE = torch.frombuffer(BYTES, dtype=torch.uint8)


def inputs():
    return (torch.randn(8),)


def broken(x):
    table = torch.frombuffer(BYTES, dtype=torch.uint8)
    return x * table


def fixed(x):
    """Use this when the buffer exists before the compiled function runs. Make
    the tensor outside, once, or pass it in. It shares the memory, so it also
    shows what is written into the buffer later."""
    return x * TABLE
