"""The class is a pydantic dataclass: pydantic's validator fills in its fields,
and Dynamo can't follow that. (Here, only pydantic's mark is on the class.)"""
import dataclasses

import torch

REACH = "private"


@dataclasses.dataclass
class Settings:
    scale: float


@dataclasses.dataclass
class ValidatedSettings(Settings):
    __is_pydantic_dataclass__ = True


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * ValidatedSettings(2.0).scale


def fixed(x):
    """Use this when you can validate the data where it comes in. Inside the
    compiled function, use a dataclass of the standard library."""
    return x * Settings(2.0).scale
