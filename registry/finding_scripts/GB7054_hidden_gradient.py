"""`backward(inputs=[hidden])` sets no gradient on a tensor computed in compiled code.

In eager `hidden.grad` is a tensor after it. With AOTAutograd it is None: `hidden` and
the loss are both outputs of one graph, and the loss no longer depends on `hidden`.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    hidden = x.sin()
    hidden.square().backward(inputs=[hidden])
    return hidden.grad


def run(function):
    return function(torch.ones(1, device=device, requires_grad=True))


eager = run(program)
compiled = run(torch.compile(program, backend="aot_eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
