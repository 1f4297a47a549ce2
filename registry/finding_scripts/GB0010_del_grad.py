"""After `del w.grad` compiled code still sees the old gradient.

In eager `w.grad` is None after it. In compiled code `w.grad is None` is False. With
aot_eager and Inductor the old gradient is also still there after the call.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, w):
    del w.grad
    return x * (1.0 if w.grad is None else 2.0)


def run(function):
    w = torch.ones(1, device=device, requires_grad=True)
    w.grad = torch.ones(1, device=device)
    return function(torch.ones(1, device=device), w)


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
