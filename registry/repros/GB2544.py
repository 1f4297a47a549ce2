"""`super().steps` is a list, but Dynamo only notes where to find it. It has
no rule for extending it in place with `+=`."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0113"
EFFECTS = {
    "fixed_copy": "`Model.steps` stays as it is. In eager mode every call "
    "makes it longer, and here that is the mistake."
}


class Model:
    steps = [torch.sin]


class ExtendedModel(Model):
    extra = [torch.cos]

    def run(self, x):
        steps = super().steps
        steps += self.extra
        return self.apply(steps, x)

    def run_named(self, x):
        steps = Model.steps
        steps += self.extra
        return self.apply(steps, x)

    def run_copy(self, x):
        return self.apply([*Model.steps, *self.extra], x)

    def apply(self, steps, x):
        for step in steps:
            x = step(x)
        return x


MODEL = ExtendedModel()


def inputs():
    Model.steps = [torch.sin]
    return (torch.randn(8),)


def broken(x):
    return MODEL.run(x)


def fixed(x):
    """Use this when the list of the base class is meant to grow. Name the base
    class instead of `super()`."""
    return MODEL.run_named(x)


def fixed_copy(x):
    """Use this when you want the longer list only here. Changing the base
    class was then a mistake. Build a new list, and name the base class."""
    return MODEL.run_copy(x)
