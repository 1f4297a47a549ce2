"""`torch.repeat_interleave` gets a tensor of counts, and the size of the
result is their sum. You meet this where durations or degrees stretch a
sequence."""
import torch

TITLE = "repeat_interleave"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    first = torch.randint(1, 8, ())
    return torch.randn(2), torch.stack([first, 8 - first]), torch.randn(8)


def broken(x, counts, frames):
    return torch.stack([x.repeat_interleave(counts), frames])


def fixed(x, counts, frames):
    """Use this when you know the sum of the counts, here from the number of
    frames. Pass it as `output_size`."""
    long = x.repeat_interleave(counts, output_size=len(frames))
    return torch.stack([long, frames])


def fixed_flag(x, counts, frames):
    """Use this when the sum of the counts differs from call to call. Set
    `capture_dynamic_output_shape_ops`."""
    return torch.stack([x.repeat_interleave(counts), frames])
