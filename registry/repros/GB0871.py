"""`__hash__` returns the address of the tensor's memory. That is known only
when the graph runs, and Dynamo needs it now, to find the key."""
import torch


class ByMemory:
    def __init__(self, tensor):
        self.tensor = tensor

    def __hash__(self):
        return self.tensor.data_ptr()


class ByTensor(ByMemory):
    def __hash__(self):
        return id(self.tensor)


def inputs():
    return (torch.randn(8),)


def broken(x):
    key = ByMemory(x)
    cache = {key: x.sin()}
    return cache[key]


def fixed(x):
    """Use this when you mean the same tensor object, not the same memory.
    Return the `id` of the tensor."""
    key = ByTensor(x)
    cache = {key: x.sin()}
    return cache[key]
