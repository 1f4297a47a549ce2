"""`isinstance(script_object, torch.ScriptObject)` is False in compiled code.

In eager it is True. (The object here is of a C++ class from the tests of torch.)
"""
from pathlib import Path

import torch
from torch.testing._internal.torchbind_impls import register_fake_classes

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.classes.load_library(Path(torch.__file__).parent / "lib/libtorchbind_test.so")
register_fake_classes()


def program(x, obj):
    return x * (1.0 if isinstance(obj, torch.ScriptObject) else 2.0)


def run(function):
    obj = torch.classes._TorchScriptTesting._ContainsTensor(torch.ones(1))
    return function(torch.ones(1, device=device), obj)


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
