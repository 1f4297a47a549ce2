"""A method is decorated with a gradient mode, here
`torch.set_grad_enabled(False)`, and its object is made in the compiled
function. Dynamo then can't copy the mode that the decorator keeps."""
import torch

REQUIRES = {"release": ">=2.15"}


class Teacher:
    @torch.set_grad_enabled(False)
    def predict(self, x):
        return x.sin()


class TeacherNoGrad:
    @torch.no_grad()
    def predict(self, x):
        return x.sin()


class TeacherWith:
    def predict(self, x):
        with torch.set_grad_enabled(False):
            return x.sin()


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return x - Teacher().predict(x)


def fixed(x):
    """Use this when the mode is always the same. Decorate with `no_grad` or
    `enable_grad`: Dynamo can copy these two."""
    return x - TeacherNoGrad().predict(x)


def fixed_with(x):
    """Use this when the mode depends on a variable. Write a `with` block in
    the method."""
    return x - TeacherWith().predict(x)
