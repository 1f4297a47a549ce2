"""The program changes a field of a dataclass, here to replace the name of a
type by the type. Dynamo doesn't follow changes of the objects that
`dataclasses.fields` returns."""
import dataclasses

import torch

REQUIRES = {"release": ">=2.15"}


@dataclasses.dataclass
class Settings:
    scale: "float" = 2.0


def inputs():
    return Settings(float(torch.rand(()))), torch.randn(8)


def broken(settings, x):
    for field in dataclasses.fields(settings):
        field.type = float
    return x.sin() * settings.scale


def fixed(settings, x):
    """Use this when you must change the fields here. Take them from
    `__dataclass_fields__`: Dynamo follows changes of those."""
    for field in Settings.__dataclass_fields__.values():
        field.type = float
    return x.sin() * settings.scale
