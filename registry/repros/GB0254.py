"""The attribute's name contains the value of a tensor, so it is known only
when the graph has run. Dynamo needs it now."""
import torch


class Outputs:
    pass


def inputs():
    return (torch.randn(8),)


def broken(x):
    outputs = Outputs()
    layer = torch.tensor(3)
    setattr(outputs, f"layer{layer}", x.sin())
    return outputs.layer3


def fixed(x):
    """Use this when the number only counts things. It needs no tensor: use a
    Python integer."""
    outputs = Outputs()
    layer = 3
    setattr(outputs, f"layer{layer}", x.sin())
    return outputs.layer3
