"""Nothing flows back through a C++ object's method in compiled code, without a word.

In eager it does; with the backend "eager" an error says that this is not implemented. (The class is from the tests of torch.)
"""
from pathlib import Path

import torch
from torch.testing._internal.torchbind_impls import register_fake_classes

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.classes.load_library(Path(torch.__file__).parent / "lib/libtorchbind_test.so")
register_fake_classes()


def program(x, obj):
    return obj.add_tensor(x)


def run(function):
    obj = torch.classes._TorchScriptTesting._Foo(1, 2)
    x = torch.ones(3, device=device, requires_grad=True)
    function(x, obj).sum().backward()
    return x.grad


eager = run(program)
compiled = run(torch.compile(program, fullgraph=True))
print("gradient in eager:   ", eager)
print("gradient in compiled:", compiled)
assert compiled is not None and torch.equal(eager, compiled), "compiled code gives another result"
