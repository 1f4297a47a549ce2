"""torch.Tensor.sum(image) calls the override of a subclass with backend="eager".

In eager it calls the method of torch.Tensor, as it is written. With
torch.compile(backend="eager") it calls `Image.sum`. Inductor gives the right result.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Image(torch.Tensor):
    def sum(self):
        return torch.sum(self) * 2


def program(image):
    return torch.Tensor.sum(image)


def run(function):
    return function(torch.ones(1, device=device).as_subclass(Image))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
