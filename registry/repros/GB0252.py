"""The metaclass has a property `scale`, and objects of the class store an
attribute of that name. Dynamo confuses them, and can't find the name on the
class."""
import abc
import collections

import torch

REACH = "contrived"
NEIGHBOUR = "GB2404"


class WithDefault(abc.ABCMeta):
    @property
    def scale(cls):
        return 1.0

    @scale.setter
    def scale(cls, value):
        raise AttributeError("set it on an object instead")


class RenamedDefault(abc.ABCMeta):
    default_scale = WithDefault.scale


class Settings(collections.UserDict, metaclass=WithDefault):
    pass


class RenamedSettings(collections.UserDict, metaclass=RenamedDefault):
    pass


SETTINGS = Settings()
RENAMED_SETTINGS = RenamedSettings()


def inputs():
    return (torch.randn(8),)


def broken(x):
    SETTINGS.scale = 2.0
    return x * SETTINGS.scale


def fixed(x):
    """Use this when you own the metaclass. Give its property another name."""
    RENAMED_SETTINGS.scale = 2.0
    return x * RENAMED_SETTINGS.scale
