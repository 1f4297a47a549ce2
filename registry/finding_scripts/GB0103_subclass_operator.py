"""An operator that a tensor subclass overrides is not called in compiled code.

In eager `image + 1` calls `Image.__add__`. Compiled code adds without calling it.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Image(torch.Tensor):
    def __add__(self, other):
        return torch.add(self, other).clamp(0, 1)


def program(image):
    return image + 1


def run(function):
    return function(torch.ones(1, device=device).as_subclass(Image))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
