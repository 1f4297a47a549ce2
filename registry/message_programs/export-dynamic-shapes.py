"""`dynamic_shapes` names an argument that the model does not have."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


BATCH = torch.export.Dim("batch")


def message():
    torch.export.export(Model(), (torch.ones(4),), dynamic_shapes={"y": {0: BATCH}})


def fixed_name():
    """Use this when you write a dict: its keys are the names of forward's arguments."""
    program = torch.export.export(Model(), (torch.ones(4),), dynamic_shapes={"x": {0: BATCH}})
    return program.module()(torch.ones(4))


def fixed_tuple():
    """Use this when names are in the way: write a tuple with one entry for each argument."""
    program = torch.export.export(Model(), (torch.ones(4),), dynamic_shapes=({0: BATCH},))
    return program.module()(torch.ones(4))


def eager():
    return torch.ones(4) * 2
