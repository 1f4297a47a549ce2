"""`torch.repeat_interleave` gets a tensor of counts, and the size of the
result is their sum. You meet this where durations or degrees stretch a
sequence."""
import torch

TITLE = "repeat_interleave"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    first = torch.randint(1, 8, ())
    return torch.randn(2), torch.stack([first, 8 - first])


def broken(x, counts):
    return x.repeat_interleave(counts).exp()


def fixed(x, counts):
    """Use this when you know the sum of the counts. Pass it as
    `output_size`."""
    return x.repeat_interleave(counts, output_size=8).exp()


def fixed_flag(x, counts):
    """Use this when the sum of the counts differs from call to call. Set
    `capture_dynamic_output_shape_ops`."""
    return x.repeat_interleave(counts).exp()
