"""An exported model takes an object of a class that export cannot take apart
into tensors and numbers."""

from dataclasses import dataclass

import torch


@dataclass
class Unknown:
    x: torch.Tensor


@dataclass
class Known:
    x: torch.Tensor


torch.export.register_dataclass(Known)


class Model(torch.nn.Module):
    def forward(self, pair):
        return pair.x * 2


class TensorModel(torch.nn.Module):
    def forward(self, x):
        return x * 2


def message():
    torch.export.export(Model(), (Unknown(torch.ones(4)),), strict=True)


def fixed_register():
    """Use this when the class is a dataclass of yours: register it."""
    program = torch.export.export(Model(), (Known(torch.ones(4)),), strict=True)
    return program.module()(Known(torch.ones(4)))


def fixed_tensors():
    """Use this when you can change the model: pass the tensors themselves."""
    program = torch.export.export(TensorModel(), (torch.ones(4),), strict=True)
    return program.module()(torch.ones(4))


def eager():
    return torch.ones(4) * 2
