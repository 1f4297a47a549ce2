"""`send` resumes a generator that was created outside the compiled function.
Its state lives in a suspended frame that Dynamo can't read."""
import torch


def running_scale():
    scale = 2.0
    while True:
        scale = yield scale


class RunningScale:
    scale = 2.0

    def send(self, scale):
        self.scale = scale
        return self.scale


EFFECTS = {"fixed": "The state is in an object of your own; no generator goes on."}
SCALES = running_scale()
next(SCALES)
SCALES_OBJECT = RunningScale()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES.send(3.0)


def fixed(x):
    """Use this when the state must last from call to call. Write a class
    instead of the generator: its state is in plain attributes, which Dynamo
    can trace and update."""
    return x * SCALES_OBJECT.send(3.0)
