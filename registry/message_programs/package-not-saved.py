"""The compiled code is to be saved, and it uses an object whose class is written
inside a function. Another process could not find that class again."""

import torch

X = torch.ones(4)


class Settings:
    scale = 3


def save(settings):
    def multiply(x):
        return x * settings.scale

    compiled = torch.compile(multiply, backend="eager", fullgraph=True)
    return compiled.aot_compile(((X,), {}))(X)


def message():
    class Inside:
        scale = 3

    save(Inside())


def fixed():
    """Use this when the class is yours: write it at the top of a module."""
    return save(Settings())


def eager():
    return X * 3
