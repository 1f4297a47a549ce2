"""An f-string shows an object with its old attribute in compiled code.

The program sets `step` to 3 before. Eager shows 3, compiled code shows 0. After the call
`step` is 3 in both.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Training:
    step = 0

    def __str__(self):
        return f"step {self.step}"


def program(x, training):
    training.step = 3
    return x.sin(), f"{training}"


def run(function):
    return function(torch.ones(1, device=device), Training())[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
