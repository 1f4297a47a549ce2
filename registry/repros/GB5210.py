"""With `compile_on_one_rank` one process compiles for all, each with a device
of its own. The code asks for properties of the current device, and they may
differ from process to process."""
import torch

REACH = "config"
REQUIRES = {"device": "cuda", "release": ">=2.15"}
torch.compiler.config.compile_on_one_rank = True
CORES = torch.cuda.get_device_properties(0).multi_processor_count


def inputs():
    return (torch.randn(8),)


def broken(x):
    properties = torch.cuda.get_device_properties(x.device)
    return x / properties.multi_processor_count


def fixed(x):
    """Use this when the value is the same for all devices. Ask once, outside
    the compiled function."""
    return x / CORES
