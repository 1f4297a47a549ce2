"""A quantized tensor is used in the compiled function. Dynamo makes a fake of
every tensor it meets, a shape without data, and can't do so for this kind."""
import torch

WEIGHT = torch.quantize_per_tensor(torch.ones(4, 4), 0.1, 0, torch.qint8)
STORED, SCALE = WEIGHT.int_repr(), WEIGHT.q_scale()


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    return x @ WEIGHT.dequantize()


def fixed(x):
    """Use this when you can read the integers and the scale before you
    compile. Keep the integers in an ordinary int8 tensor, and scale them
    yourself (after subtracting the zero point, which is 0 here)."""
    return x @ (STORED * SCALE)
