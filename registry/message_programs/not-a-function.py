"""`torch.compile` gets an object that can't be called, here a pipeline that has
a model inside."""

import torch


class Pipeline:
    def __init__(self):
        self.model = torch.nn.Linear(4, 2)
        torch.nn.init.ones_(self.model.weight)
        torch.nn.init.zeros_(self.model.bias)

    def run(self, x):
        return self.model(x).detach()


def message():
    return torch.compile(Pipeline(), backend="eager")


def fixed():
    """Use this when the object has a model inside: compile the model, and keep
    the object as it is."""
    pipeline = Pipeline()
    pipeline.model.compile(backend="eager")
    return pipeline.run(torch.ones(4))


def fixed_method():
    """Use this when one method does the work: compile the method."""
    pipeline = Pipeline()
    return torch.compile(pipeline.run, backend="eager")(torch.ones(4))


def eager():
    return Pipeline().run(torch.ones(4))
